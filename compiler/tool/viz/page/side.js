// side.js - beside the step: what is known so far, the grid of programs, the buffers in global memory.

// ---- What it knows so far -------------------------------------------------------------------------------------------

// The words of the source for a reduction: max(v, axis=0); else the variable that its line gives a value.
function nameOf(program, op, id) {
    const text = facts.source.split("\n")[op.line - 1] || "", name = program.code.names.get(id) || "";
    if (name && !/^\d+$/.test(name)) return name;
    const words = {maximum: "max", minimum: "min", sum: "sum"}[combines[op.combine]];
    const call = words && new RegExp(`\\b${words}\\((?:[^()]|\\((?:[^()]|\\([^()]*\\))*\\))*\\)`).exec(text);
    return call ? call[0] : combines[op.combine] || "%" + name;
}

function isWatched(program, op, id) {
    const fact = program.code.values[id];
    if (!fact || fact.type === "ptr" || fact.type === "i1") return false;
    if (/^reduce/.test(op.kind)) {
        const from = program.code.values[op.args[0]];
        return (fact.shape || []).length < (from.shape || []).length;
    }
    if (op.kind === "for" || op.kind === "while") return isFloat(fact.type);
    return !fact.shape && isFloat(fact.type) && !/^\d+$/.test(program.code.names.get(id) || "0");
}

// Everything told up to the frame that is worth watching: [{name, line, value, type, history, step}].
function watched(program, frame) {
    const found = new Map();
    for (let i = 0; i <= frame.step; i++) {
        const op = program.op(i);
        if (i === frame.step && frame.phase && frame.phase !== "result") break;
        for (const [id] of program.steps[i].v) {
            if (!isWatched(program, op, id)) continue;
            const value = program.value(id, i),
                  name = nameOf(program, op, id).replace(/_\d+$/, ""); // s_1, s_2: one variable of the source
            if (!found.has(name)) found.set(name, {name, kind: combines[op.combine] || "", history: []});
            const row = Object.assign(found.get(name), {value, type: value.type, step: i, line: op.line});
            if (row.history[row.history.length - 1] !== value.data[0]) row.history.push(value.data[0]);
        }
    }
    return [...found.values()].concat(storedSums(program, frame));
}

// What a program has stored through each buffer: how many elements, and their sum.
function storedSums(program, frame) {
    const out = [];
    for (let i = 0; i <= frame.step; i++) {
        const op = program.op(i);
        if (op.kind !== "store" || op.args.length < 2) continue;
        const value = program.value(op.args[1], i),
              mask = op.args[2] === undefined ? null : program.value(op.args[2], i);
        const e = program.steps[i].e.find((x) => x.w >= 0);
        if (!value || !value.data || value.data.length < 2 || !isFloat(value.type) || !e) continue;
        const name = program.run.params[e.w].name, before = out.find((x) => x.stored === name);
        let sum = before ? before.sum : 0, count = before ? before.count : 0;
        value.data.forEach((x, k) => {
            if (!mask || mask.data[mask.data.length > 1 ? k : 0]) {
                sum += x;
                count++;
            }
        });
        const row = {
            stored: name,
            name: `sum of ${count} elements stored to ${name}`,
            kind: "",
            line: op.line,
            sum,
            count,
            step: i,
            type: "fp32",
            value: {data: [sum], shape: []},
            history: []
        };
        if (before)
            Object.assign(before, row);
        else
            out.push(row);
    }
    return out;
}

function showWatch(now, frame) {
    const rows = watched(now.program, frame).map((w) => {
        const n = w.value.data.length,
              text = n === 1 ? long(w.value.data[0], w.type)
                             : Array.from(w.value.data.slice(0, 3), (x) => short(x, w.type)).join(", ") +
                                   (n > 3 ? ` … ${n} in all` : "");
        const most = Math.max(...w.history.filter(Number.isFinite).map(Math.abs), 1e-30);
        const history =
            w.history.length > 1 && n === 1
                ? make("span", {class: "history", title: w.history.map((x) => short(x, w.type)).join(", ")},
                       ...w.history.slice(-24).map(
                           (x) => make("i", {
                               style: `height: ${Number.isFinite(x) ? Math.round(2 + 22 * Math.abs(x) / most) : 2}px`
                           })))
                : null;
        const small = w.kind && !w.name.startsWith(w.kind.slice(0, 3)) ? ` (${w.kind})` : "";
        return make("div", {class: w.step === frame.step ? "new" : "", "data-name": w.name},
                    make("dt", {}, `${w.name}${small}, line ${w.line}`),
                    make("dd", {}, make("span", {}, text), history));
    });
    $("watch").querySelector("dl").replaceChildren(...(rows.length ? rows : [
        make("dt", {}, "Nothing yet: maxima, sums and what loops carry appear here as they are known.")
    ]));
}

// ---- Programs -------------------------------------------------------------------------------------------------------

function describe(run, number) {
    const parts = {load: [], store: []};
    run.params.forEach((p, i) => {
        const o = p.kind === "pointer" ? run.outline(number, i) : null;
        for (const side of ["load", "store"]) {
            if (!o || !o[side]) continue;
            const first = placeOf(run, i, o[side].first),
                  last = placeOf(run, i, o[side].end - p.bytes / product(p.shape));
            parts[side].push(first === last ? first : `${first} … ${last}`);
        }
    });
    const words = [["loads", parts.load], ["stores", parts.store]]
                      .filter(([, list]) => list.length)
                      .map(([word, list]) => `${word} ${list.join(", ")}`);
    return words.length            ? words.join("; ")
           : number < run.outlined ? "no access of global memory"
                                   : "beyond the outlines";
}

function showPrograms(now, pick) {
    const run = now.run, n = product(run.grid), list = $("programs").querySelector(".grid");
    const shown = Math.min(n, 1024), isFlat = run.grid[1] * run.grid[2] === 1,
          columns = isFlat ? Math.min(8, n) : Math.min(16, run.grid[0]);
    list.style.gridTemplateColumns = `repeat(${columns}, minmax(0, ${columns < 4 ? "90px" : "1fr"}))`;
    if (list.dataset.run !== String(run.index)) {
        list.dataset.run = run.index;
        list.replaceChildren(
            ...Array.from({length: shown}, (_, i) => make("button", {
                                               class: run.raw.some((p) => run.number(p.at) === i) ? "recorded" : "",
                                               "data-number": i,
                                               onclick: () => pick(i),
                                               "aria-label": `program ${i}`
                                           },
                                                          run.grid[1] * run.grid[2] > 1
                                                              ? run.at(i).slice(0, run.grid[2] > 1 ? 3 : 2).join(",")
                                                              : String(i))));
    }
    for (const button of list.children)
        button.setAttribute("aria-pressed", Number(button.dataset.number) === now.number);
    const recorded = now.program ? "" : "An outline only: it was not recorded step by step. ";
    const more = n > shown ? ` The grid has ${n.toLocaleString("en")} programs; ${shown} are shown.` : "";
    $("programs").querySelector("p").textContent = `Program ${
        run.at(now.number)
            .slice(0, run.grid[2] > 1   ? 3
                      : run.grid[1] > 1 ? 2
                                        : 1)
            .join(", ")}: ${recorded}${describe(run, now.number)}.${more}`;
}

// ---- Global memory --------------------------------------------------------------------------------------------------

// The buffers as pictures, an element a pixel or more; what the program loads and stores in a frame, what this
// step touches bright.
function showMemory(now, frame) {
    const run = now.run, box = $("memory").querySelector("div"),
          touched = frame && now.program ? touchedBy(now.program, frame) : new Map();
    box.replaceChildren(
        ...run.params.map((p, i) => p.kind === "pointer" && p.shape ? buffer(now, p, i, touched.get(i), frame) : null)
            .filter(Boolean));
}

function touchedBy(program, frame) {
    const found = new Map();
    for (const e of program.steps[frame.step].e) {
        if (!/^(load|store|atomic)$/.test(e.k) || e.w < 0) continue;
        if (!found.has(e.w)) found.set(e.w, {kind: e.k, elements: new Set()});
        const size = program.run.params[e.w].bytes / product(program.run.params[e.w].shape);
        program.addresses(e).forEach((a) => {
            for (let b = 0; a >= 0 && b < e.b; b += size) found.get(e.w).elements.add((a + b) / size);
        });
    }
    return found;
}

// What the program has stored through this parameter up to the frame: number by element, where the op's own tiles say
// it.
function storedTo(program, frame, index) {
    const p = program.run.params[index], size = p.bytes / product(p.shape);
    return upTo(program, "stored " + index, frame.step, (found, i) => {
        const op = program.op(i),
              mine = program.steps[i].e.filter((e) => /^(store|atomic)$/.test(e.k) && e.w === index);
        if (!mine.length) return;
        const at = program.value(op.args[0], i), value = op.kind === "store" ? program.value(op.args[1], i) : null;
        const now = new Set();
        for (const e of mine)
            program.addresses(e).forEach((a) => {
                for (let b = 0; a >= 0 && b < e.b; b += size) now.add((a + b) / size);
            });
        for (const k of now) found.set(k, undefined);
        if (at && at.data && value && value.data)
            at.data.forEach((a, k) => {
                if (now.has(a / size)) found.set(a / size, value.data[value.data.length > 1 ? k : 0]);
            });
    });
}

function buffer(now, p, index, touched, frame) {
    const columns = p.shape.length ? p.shape[p.shape.length - 1] : 1, rows = Math.max(1, product(p.shape) / columns),
          outline = now.run.outline(now.number, index);
    const scaleX = Math.max(1, Math.floor(640 / columns)), scaleY = Math.max(1, Math.min(14, Math.floor(150 / rows)));
    const canvas = make("canvas", {
        width: columns * scaleX,
        height: rows * scaleY,
        role: "img",
        "aria-label": `${p.name}, ${p.shape.join(" x ")} elements`
    });
    const stored = p.writes && frame && now.program ? storedTo(now.program, frame, index) : null;
    if (columns * rows <= 1 << 20) drawBuffer(canvas, p, columns, rows, scaleX, scaleY, touched, outline, stored);
    const what = touched ? `${
                               touched.kind === "store"  ? "stores"
                               : touched.kind === "load" ? "loads"
                                                         : "changes"} ${touched.elements.size} now`
                 : stored && stored.size ? `${stored.size} stored`
                 : stored   ? "nothing stored yet"
                 : p.writes ? "written"
                            : "read";
    return make("div", {class: "buffer", "data-name": p.name},
                make("div", {}, `${p.name}: ${p.dtype} ${p.shape.join("×")}`, make("small", {}, what)), canvas);
}

// An extent is a rectangle of the buffer where its bytes fit one, else all from the first to the last.
function isInside(e, i, columns, size) {
    const first = e.first / size, last = e.end / size - 1;
    if (i < first || i > last) return false;
    const left = first % columns, right = last % columns,
          rows = Math.floor(last / columns) - Math.floor(first / columns) + 1;
    const isBox = left <= right && e.bytes / size <= rows * (right - left + 1);
    return !isBox || (i % columns >= left && i % columns <= right);
}

// `stored`: what the program has stored so far; null: nothing is known of that, and all is as the launch left it. What
// it will store stands there as the launch found it, or empty.
function drawBuffer(canvas, p, columns, rows, sx, sy, touched, outline, stored) {
    const g = canvas.getContext("2d"), style = getComputedStyle(document.documentElement),
          size = p.bytes / product(p.shape);
    const rgb = (name, a) => `rgb(${style.getPropertyValue("--" + name)} / ${a})`;
    const data = p.data ? (p.array = p.array || arrayOf(p.pack, p.data)) : null,
          most = data ? Math.max(1e-30, ...data.filter(Number.isFinite).map(Math.abs)) : 1;
    const before = p.before ? (p.found = p.found || arrayOf(p.pack, p.before)) : null;
    const inside = (e, i) => e && isInside(e, i, columns, size);
    const now = (i) => {
        if (!stored || !outline || !inside(outline.store, i)) return data[i];
        return stored.has(i) ? stored.get(i) ?? data[i] : before ? before[i] : null;
    };
    for (let i = 0; i < columns * rows; i++) {
        const mine = outline && (inside(outline.load, i) || inside(outline.store, i)), x = i % columns * sx,
              y = Math.floor(i / columns) * sy;
        const number = data ? now(i) : 0;
        if (number === null) continue; // nothing is stored there yet
        const t = !data ? 0.2 : Number.isFinite(number) ? Math.abs(number) / most : Number.isNaN(number) ? 0 : 1;
        g.fillStyle = rgb(number < 0 ? "negative" : "positive", (0.08 + 0.72 * t) * (mine ? 1 : 0.32));
        g.fillRect(x, y, sx, sy);
        if (touched && touched.elements.has(i)) {
            g.fillStyle = rgb("yes", sy < 8 ? 0.4 : 0.75);
            g.fillRect(x, sy < 8 ? y : y + sy - 3, sx, sy < 8 ? sy : 3);
        }
    }
}
