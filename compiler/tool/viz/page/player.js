// player.js - time and choice: which run, program, warp and frame is shown; buttons, slider, keys.

const now = {
    run: runs[0],
    number: 0,
    program: null,
    warp: -1,
    frames: [],
    index: 0,
    view: null,
    timer: 0
};

// ---- Which frames ---------------------------------------------------------------------------------------------------

// Scalar arithmetic is left out unless it is asked for.
function isShown(program, frame) {
    const op = program.op(frame.step), s = program.steps[frame.step];
    if (op.kind === "return" || op.kind === "if") return false;
    if ($("scalars").checked || s.e.length || /^reduce/.test(op.kind)) return true;
    if (op.kind === "for" || op.kind === "while") return s.v.length > 0;
    return op.results.some((id) => (program.code.values[id].shape || []).length);
}

function chooseFrames() {
    const at = now.frames[now.index];
    now.frames = now.program ? now.program.frames.filter((f) => isShown(now.program, f)) : [];
    const same = at ? now.frames.findIndex((f) => f.step >= at.step) : 0;
    now.index = Math.max(0, same);
    $("time").max = Math.max(0, now.frames.length - 1);
}

// ---- The frame ------------------------------------------------------------------------------------------------------

// The values that the frame is about: [{label, id}], the first is shown.
function viewsOf(op, frame) {
    const code = now.run.code, name = (id) => "%" + (code.names.get(id) || id);
    const tiles = (ids) => ids.filter((id) => code.values[id] || code.params.some((p) => p.value === id));
    const results = tiles(op.kind === "for" ? (op.enters || []).concat(op.results) : op.results)
                        .map((id) => ({label: name(id), id}));
    let args = tiles(op.args).map((id) => ({label: name(id), id}));
    if (op.kind === "store" && args.length > 1) args = [args[1], args[0], ...args.slice(2)];
    if (frame.phase && frame.phase !== "result") return [...args, ...results];
    return results.length ? [...results, ...args] : args;
}

function paddingOf(id, frame, op) {
    const own = now.program.padding(id, frame.step);
    if (op.kind !== "store" || op.args.length < 3 || id !== op.args[1]) return own;
    const mask = now.program.value(op.args[2], frame.step);
    return mask && mask.data && mask.data.length > 1 ? Array.from(mask.data, (m) => m ? 0 : 1) : own;
}

// Which elements of an access lie beyond their buffer, though no mask leaves them out.
function outsideOf(op, frame, shown) {
    if (!/^(load|store|atomic)/.test(op.kind)) return null;
    const pointers = now.program.value(op.args[0], frame.step),
          p = pointers && pointers.data && now.run.params[pointers.param];
    if (!p || pointers.data.length !== shown.data.length) return null;
    const mask = now.program.value(op.args[op.kind === "load" ? 1 : 2], frame.step), size = p.bytes / product(p.shape);
    const out =
        Array.from(pointers.data, (at, i) => (at < 0 || at + size > p.bytes) &&
                                                     (!mask || !mask.data || mask.data[mask.data.length > 1 ? i : 0])
                                                 ? 1
                                                 : 0);
    return out.some((x) => x) ? out : null;
}

function showViews(views, chosen) {
    const button = (v) => {
        const view = () => {
            now.view = v.id;
            render();
        };
        return make("button", {"aria-pressed": String(v.id === chosen), "data-value": v.id, onclick: view}, v.label);
    };
    $("views").replaceChildren(...views.map(button));
}

function showFrame() {
    const frame = now.frames[now.index], op = now.program.op(frame.step), views = viewsOf(op, frame);
    const seen = views.filter((v) => {
        const x = now.program.value(v.id, frame.step);
        return x && (x.data || x.text);
    });
    const chosen = seen.some((v) => v.id === now.view) ? now.view : seen.length ? seen[0].id : null;
    const value = chosen === null ? null : now.program.value(chosen, frame.step),
          shown = value && value.data ? value : null;
    const padding = shown ? paddingOf(chosen, frame, op) : null;
    tile.padding = padding;
    tile.outside = shown ? outsideOf(op, frame, shown) : null;
    showViews(seen, chosen);
    const masked = padding ? padding.reduce((a, b) => a + b, 0) : 0, n = shown ? shown.data.length : 1;
    const result = now.run.code.values[op.results[0]];
    $("sentence").textContent =
        sentenceOf(op, frame, {n, masked, partial: result && result.shape && result.shape.length});
    $("detail").textContent =
        `${op.text.split(" {")[0].split(" : ")[0]}${op.line ? ` · line ${op.line}` : ""} · ${
            exchangesOf(now.program.steps[frame.step]) || (sentences[op.kind] ? meaningOf(op) : "")}`
            .replace(/ · $/, "");
    $("cost").replaceChildren(...costsSaid(now.program, now.program.steps[frame.step])
                                  .map(([text, isDear]) => make("span", {class: isDear ? "dear" : ""}, text)));
    $("why").textContent = whyOf(op, frame);
    showTour(now);
    panes.lit = op.line;
    showLine(op);
    $("threads").shown = null;
    showTile(now, shown, padding, chosen);
    showThreads(now, frame, op);
    if (value && value.text) $("owner").textContent = `${value.text} · a parameter, the same in every thread`;
    showShared(now, frame);
    showWords(now, frame);
    showWatch(now, frame);
    showMemory(now, frame);
}

function showOutline() {
    $("sentence").textContent = `Program ${now.number} was not recorded step by step`;
    const which = now.run.raw.map((p) => now.run.number(p.at)).join(" and ");
    $("detail").textContent = `This page has ${which} in full; fsc viz --program=${
        now.run.at(now.number)
            .slice(0, now.run.grid[2] > 1   ? 3
                      : now.run.grid[1] > 1 ? 2
                                            : 1)
            .join(",")} records this one.`;
    for (const id of ["cost", "why", "views", "legend", "threads", "shared", "words", "owner"]) $(id).replaceChildren();
    showTile(now, null, null);
    $("watch").querySelector("dl").replaceChildren();
    light("linked", 0);
    light("now", 0);
    showMemory(now, null);
}

function render() {
    fillPanes(now.run);
    showPrograms(now, pickProgram);
    $("time").value = now.index;
    $("count").textContent = now.frames.length ? `${now.index + 1} / ${now.frames.length}` : "–";
    for (const id of ["first", "back"]) $(id).disabled = now.index === 0;
    $("next").disabled = now.index >= now.frames.length - 1;
    $("play").disabled = now.frames.length === 0;
    if (now.frames.length)
        showFrame();
    else
        showOutline();
}

// ---- Time -----------------------------------------------------------------------------------------------------------

function go(index) {
    now.index = Math.max(0, Math.min(now.frames.length - 1, index));
    now.view = null;
    render();
}

function pause() {
    clearInterval(now.timer);
    now.timer = 0;
    $("what").setAttribute("aria-live", "polite");
    $("play").textContent = "▶";
    $("play").setAttribute("aria-label", "Play");
}

function play() {
    if (now.timer) return pause();
    if (now.index >= now.frames.length - 1) go(0);
    $("what").setAttribute("aria-live", "off"); // a voice would not keep up
    $("play").textContent = "❚❚";
    $("play").setAttribute("aria-label", "Pause");
    now.timer = setInterval(() => {
        if (now.index >= now.frames.length - 1)
            pause();
        else
            go(now.index + 1);
    }, Number($("speed").value));
    return undefined;
}

// The next frame of a line behind this one, else the first.
function goToLine(line, op) {
    const fits = (f) =>
        op !== undefined ? String(now.program.op(f.step).op) === op : now.program.op(f.step).line === line;
    const all = now.frames.map((f, i) => fits(f) ? i : -1).filter((i) => i >= 0);
    if (!all.length) return;
    pause();
    go(all.find((i) => i > now.index) ?? all[0]);
}

// ---- Runs, programs, warps ------------------------------------------------------------------------------------------

function pickProgram(number) {
    now.number = number;
    now.program = now.run.program(number);
    if (!now.program) pause();
    chooseFrames();
    const warps = now.program ? Math.ceil(now.program.threads / warpSize) : 1;
    if (now.warp >= warps) now.warp = -1;
    $("warp").replaceChildren(make("option", {value: -1}, "all"),
                              ...Array.from({length: warps}, (_, w) => make("option", {value: w}, String(w))));
    $("warp").value = now.warp;
    render();
}

function pickRun(run) {
    const was = now.index;
    now.run = run;
    $("kernel").textContent = run.code.kernel;
    $("file").textContent = `${facts.file} · ${variantOf(run)}`;
    document.title = `${run.code.kernel}, played`;
    showFaults(run);
    fillControls(run);
    now.frames = [];
    const n = product(run.grid), faulty = run.faults.map((f) => run.number(f.program)).find((k) => run.program(k));
    const first = run.number(run.raw[0] ? run.raw[0].at : [0, 0, 0]);
    pickProgram(faulty ?? (now.number < n && run.program(now.number) ? now.number : first));
    if (now.frames.length) go(Math.min(was, now.frames.length - 1));
}

// What tells the variant from the kernel's others: constexpr values, warps, blocks, target.
function variantOf(run) {
    const code = run.code, warps = run.raw.length ? run.raw[0].threads / warpSize / run.blocks : 0;
    return [
        ...run.params.filter((p) => p.kind === "constexpr").map((p) => `${p.name}=${p.value}`),
        warps >= 1 ? plural(warps, "warp") : null, run.blocks > 1 ? plural(run.blocks, "block") : null, code.arch
    ].filter(Boolean)
        .join(", ");
}

// FILE:LINE:COLUMN: KIND: text, of which the text.
function behindKind(f) {
    const mark = `: ${f.kind}: `, at = f.text.indexOf(mark);
    return at < 0 ? f.text : f.text.slice(at + mark.length);
}

function showFaults(run) {
    $("faults").hidden = run.faults.length === 0;
    $("faults").replaceChildren(...run.faults.map(
        (f) => make("p", {}, make("b", {}, `${f.kind}: `), behindKind(f), ` — ${f.advice}. `,
                    f.line ? make("button", {onclick: () => goToLine(f.line)}, `line ${f.line}`) : null)));
}

// What differs between runs: sizes, constexpr values, seeds; one list for each, the run is the one that fits.
function attributesOf(run) {
    const all = new Map();
    for (const p of run.params) {
        if (p.kind !== "pointer" && p.value !== undefined && !/stride/.test(p.name)) all.set(p.name, p.value);
        const seed = /^random:(\d+)/.exec(p.word || "");
        if (seed) all.set("seed of " + p.name, seed[1]);
    }
    return all;
}

const friendly = {
    n_rows: "rows",
    n_cols: "columns",
    BLOCK: "block"
};

function varying() {
    const all = runs.map(attributesOf), found = [];
    for (const name of all[0].keys()) {
        const values = [...new Set(all.map((a) => a.get(name)))],
              key = all.map((a) => values.indexOf(a.get(name))).join();
        if (values.length > 1 && !found.some((f) => f.key === key))
            found.push({name, key, values: values.sort((a, b) => a - b)});
    }
    return {all, found};
}

// The run with this value of one attribute that is nearest to the current one in the others.
function nearest(name, value) {
    const {all, found} = varying(), mine = all[now.run.index];
    const likeness = (a) => found.filter((f) => f.name !== name && a.get(f.name) === mine.get(f.name)).length;
    return runs.filter((_, i) => all[i].get(name) === value)
        .sort((x, y) => likeness(all[y.index]) - likeness(all[x.index]))[0];
}

function fillControls(run) {
    if (runs.length < 2) return;
    const {all, found} = varying(), mine = all[run.index], seeds = found.filter((f) => f.name.startsWith("seed"));
    const controls =
        found.filter((f) => !seeds.includes(f))
            .map((f) => make(
                     "label", {}, friendly[f.name] || f.name,
                     make("select", {"data-name": f.name, onchange: (e) => pickRun(nearest(f.name, e.target.value))},
                          ...f.values.map((v) => make("option", {value: v, selected: v === mine.get(f.name)}, v)))));
    const others = runs.filter(
        (r) => r !== run && found.every((f) => seeds.includes(f) || all[r.index].get(f.name) === mine.get(f.name)));
    const next = others.find((r) => r.index > run.index) || others[0];
    controls.push(
        make("button",
             {id: "random", disabled: !next, title: "Other numbers of the same sizes", onclick: () => pickRun(next)},
             "Random"));
    controls.push(make("button", {
        id: "reset",
        disabled: run.index === 0,
        onclick: () => {
            pause();
            pickRun(runs[0]);
            go(0);
        }
    },
                       "Reset"));
    $("data").replaceChildren(...controls);
}

// ---- Keys -----------------------------------------------------------------------------------------------------------

const keys = {
    " ": play,
    ArrowRight: () => {
        pause();
        go(now.index + 1);
    },
    ArrowLeft: () => {
        pause();
        go(now.index - 1);
    },
    Home: () => {
        pause();
        go(0);
    },
    End: () => {
        pause();
        go(now.frames.length - 1);
    },
    "]": () => pickProgram(Math.min(product(now.run.grid) - 1, now.number + 1)),
    "[": () => pickProgram(Math.max(0, now.number - 1)),
    t: () => {
        pause();
        go(nextStop(now));
    },
    w: () => {
        $("warp").selectedIndex = ($("warp").selectedIndex + 1) % $("warp").options.length;
        pickWarp();
    },
};

function pickWarp() {
    now.warp = Number($("warp").value);
    render();
}

// To the step that the page's address names.
function follow() {
    const to = linked();
    if (!to) return;
    pause();
    pickRun(runs[to.run]);
    pickProgram(Math.min(to.program, product(now.run.grid) - 1));
    const first = now.frames.findIndex((f) => f.step >= to.step);
    if (first >= 0) go(first + to.part);
}

function start() {
    listenToCode(goToLine);
    listenToTile(now);
    listenToShared();
    $("play").addEventListener("click", play);
    $("next").addEventListener("click", keys.ArrowRight);
    $("back").addEventListener("click", keys.ArrowLeft);
    $("first").addEventListener("click", keys.Home);
    $("time").addEventListener("input", () => {
        pause();
        go(Number($("time").value));
    });
    $("warp").addEventListener("change", pickWarp);
    $("colour").addEventListener("change", render);
    $("speed").addEventListener("change", () => {
        if (now.timer) {
            pause();
            play();
        }
    });
    $("scalars").addEventListener("change", () => {
        chooseFrames();
        render();
    });
    document.addEventListener("keydown", (e) => {
        const busy = /^(SELECT|INPUT)$/.test(e.target.tagName) || (e.target.tagName === "BUTTON" && e.key === " ");
        if (busy || e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
        e.preventDefault();
        keys[e.key]();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);
    addEventListener("resize", () => requestAnimationFrame(render));
    $("tour").addEventListener("click", keys.t);
    $("link").addEventListener("click", () => copyLink(now));
    $("picture").addEventListener("click", () => savePicture(now));
    addEventListener("hashchange", follow);
    pickRun(runs[0]);
    go(0);
    follow();
    listenToServer(facts.live, () => history.replaceState(null, "", linkOf(now)));
}

start();
