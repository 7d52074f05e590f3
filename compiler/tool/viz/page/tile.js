// tile.js - the elements of a tile: their numbers, colours, masks, and who holds each of them.
//
// In: a value of the frame, which elements are padding, the warp that is looked at. Out: a grid of cells that is
// used again
// from frame to frame; the owner of the chosen one.

const MOST_CELLS = 4096;
const hues = (i) => Math.round(i * 137.508) % 360;

// How strongly a cell is coloured: by size among the finite elements that are not masked, sign by colour.
function scaleOf(value, padding) {
    let most = 0;
    value.data.forEach((x, i) => {
        if (!(padding && padding[i]) && Number.isFinite(x) && Math.abs(x) > most) most = Math.abs(x);
    });
    return most;
}

function paint(cell, x, most, type) {
    const t = Number.isFinite(x) && most > 0      ? 0.06 + 0.62 * Math.abs(x) / most
              : x === Infinity || x === -Infinity ? 0.68
                                                  : 0;
    cell.classList.toggle("plus", type !== "i1" && x > 0);
    cell.classList.toggle("minus", type !== "i1" && x < 0);
    cell.classList.toggle("yes", type === "i1" && x === 1);
    cell.style.setProperty("--t", t.toFixed(3));
}

// A row of the tile is a row of the grid, which scrolls; elements along one axis alone fill rows of a power of two.
function columnsOf(shape, width) {
    const axes = shape.filter((size) => size > 1), last = axes.length ? axes[axes.length - 1] : 1;
    const room = Math.max(4, Math.floor(width / (width < 520 ? 40 : 44)));
    if (axes.length > 1) return Math.min(last, 256);
    let columns = 1;
    while (columns * 2 <= room && columns < last) columns *= 2;
    return columns;
}

const tile = {
    cells: [],
    shown: null,
    id: null, // of the value shown
    chosen: 0,
    at: 0 // under the pointer, else the chosen one
};

function cellAt(i) {
    if (!tile.cells[i]) { tile.cells[i] = make("div", {class: "cell", role: "option", "data-i": i, tabindex: -1}); }
    return tile.cells[i];
}

// What the cell says: a pointer's element in its buffer, or the number.
function textOf(run, value, i) {
    const x = value.data[i];
    if (!isPointer(value.type)) return short(x, value.type);
    const p = run.params[value.param], size = p ? p.bytes / product(p.shape) : 1;
    return p ? short(x / size, "i64") : "…";
}

function showTile(now, value, padding, id) {
    tile.shown = value;
    tile.id = id;
    const grid = $("tile"), n = value ? Math.min(value.data.length, MOST_CELLS) : 0;
    if (!value || value.data.length !== tile.count) tile.chosen = Math.min(tile.chosen, Math.max(0, n - 1));
    tile.count = value ? value.data.length : 0;
    tile.columns = value ? columnsOf(value.shape, grid.clientWidth || 600) : 1;
    grid.style.gridTemplateColumns = `repeat(${tile.columns}, minmax(${
        tile.columns > 8 && value.shape.length > 1 ? "46px" : "0"}, ${tile.columns < 8 ? "110px" : "1fr"}))`;
    grid.style.setProperty("--rows", Math.ceil(n / tile.columns));
    const colour = value && value.layout && value.shape.length ? $("colour").value : "value";
    const most = value ? (isPointer(value.type) ? 0 : scaleOf(value, padding)) : 0;
    const owners = value && value.layout ? ownersOf(value.layout, value.data.length) : null;
    const by = {lane: LANE, warp: WARP, register: REGISTER}[colour];
    for (let i = 0; i < n; i++) {
        const cell = cellAt(i), text = textOf(now.run, value, i);
        if (cell.textContent !== text) cell.textContent = text;
        const masked = Boolean(padding && padding[i]);
        cell.classList.toggle("masked", masked);
        cell.classList.toggle("outside", Boolean(tile.outside && tile.outside[i]));
        cell.classList.toggle("owned", by !== undefined);
        cell.classList.toggle("dim", now.warp >= 0 && owners !== null && !owners[i].some((o) => o[WARP] === now.warp));
        if (by !== undefined) cell.style.setProperty("--hue", hues(owners[i][0][by]));
        paint(cell, masked || by !== undefined ? 0 : value.data[i], most, value.type);
    }
    if (grid.children.length !== n) grid.replaceChildren(...tile.cells.slice(0, n));
    showLegend(value, padding, colour, most, owners);
    choose(now, tile.chosen, false);
}

function showLegend(value, padding, colour, most, owners) {
    const parts = [];
    if (value && value.data.length > MOST_CELLS)
        parts.push(make("span", {}, `the first ${MOST_CELLS} of ${value.data.length} elements`));
    if (value && colour === "value" && most > 0 && value.type !== "i1") {
        const sample = (name, text) =>
            make("span", {}, make("i", {style: `background: rgb(var(--${name}) / .68)`}), text);
        parts.push(sample("positive", "up to " + short(most, value.type)));
        if (value.data.some((x) => x < 0)) parts.push(sample("negative", "down to −" + short(most, value.type)));
    }
    if (owners && colour !== "value") {
        const d = {lane: LANE, warp: WARP, register: REGISTER}[colour], all = new Set(owners.map((o) => o[0][d]));
        for (const k of [...all].sort((a, b) => a - b).slice(0, 8))
            parts.push(make("span", {}, make("i", {style: `background: hsl(${hues(k)} 62% 78%)`}), `${colour} ${k}`));
        if (all.size > 8) parts.push(make("span", {}, `… ${colour} ${Math.max(...all)}`));
    }
    if (padding)
        parts.push(make(
            "span", {},
            make("i", {style: "background: repeating-linear-gradient(135deg, transparent 0 4px, var(--line) 4px 6px)"}),
            "masked"));
    if (tile.outside)
        parts.push(make("span", {},
                        make("i", {style: "background: var(--fault-paper); outline: 1px solid var(--fault)"}),
                        "beyond the buffer"));
    $("legend").replaceChildren(...parts);
}

// ---- The chosen element ---------------------------------------------------------------------------------------------

function choose(now, i, focus) {
    const old = tile.cells[tile.chosen];
    if (old) {
        old.setAttribute("aria-selected", "false");
        old.tabIndex = -1;
    }
    tile.chosen = i;
    const cell = tile.cells[i], value = tile.shown;
    if (!value || !cell || i >= value.data.length) {
        $("owner").textContent = "";
        showMine(now.run.code, null, []);
        return;
    }
    cell.setAttribute("aria-selected", "true");
    cell.tabIndex = 0;
    if (focus) cell.focus();
    point(now, i);
}

// The element under the pointer or chosen, and all that belongs to it: its lane and register, the op that made it, the
// instructions that make it or, where the step uses it, do so.
function point(now, i) {
    const value = tile.shown, frame = now.frames[now.index];
    if (!value || !tile.cells[i] || i >= value.data.length) return;
    if (tile.cells[tile.at]) tile.cells[tile.at].classList.remove("at");
    tile.at = i;
    tile.cells[i].classList.add("at");
    const owner = value.layout && value.shape.length ? ownersOf(value.layout, value.data.length)[i][0] : null;
    const code = now.run.code, made = code.defines.get(tile.id), step = now.program.op(frame.step);
    const isUsed = made !== step && step.args.includes(tile.id) && usesRegister(code, step, value);
    const op = isUsed || !made ? step : made, all = instructionsOf(code, op, owner ? owner[REGISTER] : undefined),
          lines = op === step ? instructionsAt(all, frame) : all;
    tile.warp = owner ? owner[WARP] + (owner[CTA] << value.layout.bases[WARP].length) : 0;
    showThreads(now, frame, step);
    markLanes(value, i);
    showMine(code, made, lines);
    $("owner").replaceChildren(...ownerText(now, value, i), ...instructionText(lines, op));
}

// Do the step's registers hold the elements that this value's do?
function usesRegister(code, step, value) {
    const result = code.values[step.results[0]];
    return /^(store|shared_store|atomic|reduce|scan)/.test(step.kind) ||
           Boolean(result && code.layouts[result.layout] === value.layout);
}

// Of a reduction's: those of this phase. A round is its shuffle and what combines.
function instructionsAt(lines, frame) {
    const isShuffle = (l) => /\bshfl\./.test(l.text), first = lines.findIndex(isShuffle);
    if (frame.phase === "registers" && first > 0) return lines.slice(0, first);
    if (frame.phase !== "shuffle" || first < 0) return lines;
    const mine = (l) => isShuffle(l) && Number(l.text.split(",")[2]) === frame.mask;
    const round = lines.filter((l, i) => mine(l) || (i > 0 && mine(lines[i - 1]) && !isShuffle(l)));
    return round.length ? round : lines;
}

function instructionText(lines, op) {
    const code = lines.map((l) => l.text.trim().replace(/\s+/g, " "));
    if (!code.length) return [make("small", {}, ` · ${op.kind}: no instruction of its own`)];
    const access = code.find((c) => /^(@\S+ )?(ld|st|red|atom|cp|mma|shfl)/.test(c)) || code[code.length - 1];
    return [
        make("code", {title: code.join("\n")}, access),
        make("small", {}, code.length > 1 ? ` and ${code.length - 1} more of ${op.kind}` : "")
    ];
}

// Cells of the registers that an instruction makes or moves; null: of none.
function showRegisters(line) {
    const value = tile.shown, owners = value && value.layout ? ownersOf(value.layout, value.data.length) : null;
    const has = (i) => line && owners && line.registers &&
                       owners[i].some(([r]) => r >= line.register && r < line.register + line.registers) &&
                       (line.op === now.program.op(now.frames[now.index].step).op ||
                        (now.run.code.defines.get(tile.id) || {}).op === line.op);
    for (let i = 0; i < Math.min(tile.count || 0, MOST_CELLS); i++)
        tile.cells[i].classList.toggle("moved", Boolean(has(i)));
}

function ownerText(now, value, i) {
    const what = isPointer(value.type) ? placeOf(now.run, value.param, value.data[i]) : long(value.data[i], value.type);
    const where = value.shape.length ? `element ${coordinates(i, value.shape)}` : "a scalar";
    if (!value.layout || !value.shape.length) return [make("b", {}, what), ` · ${where}, the same in every thread`];
    const owners = ownersOf(value.layout, value.data.length)[i], [r, l, w, c] = owners[0];
    const block = value.layout.bases[CTA].length ? `block ${c}, ` : "";
    const others = owners.length - 1;
    const thread = l + (w << value.layout.bases[LANE].length);
    return [
        make("b", {}, what), ` · ${where} · held by ${block}warp ${w}, lane ${l} (thread ${thread}), register ${r}`,
        others ? ` and ${plural(others, "other owner")}` : "", tile.padding && tile.padding[i] ? " · masked" : ""
    ];
}

function listenToTile(now) {
    $("tile").addEventListener("click", (e) => {
        const cell = e.target.closest(".cell");
        if (cell) choose(now, Number(cell.dataset.i), true);
    });
    $("tile").addEventListener("pointermove", (e) => {
        const cell = e.target.closest(".cell"), at = `${e.clientX},${e.clientY}`;
        if (at === tile.pointer) return; // the tile moved, not the pointer
        tile.pointer = at;
        if (cell && e.pointerType === "mouse" && Number(cell.dataset.i) !== tile.at) point(now, Number(cell.dataset.i));
    });
    $("tile").addEventListener("pointerleave", () => point(now, tile.chosen));
    $("tile").addEventListener("keydown", (e) => {
        const by = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -tile.columns, ArrowDown: tile.columns}[e.key];
        const to = tile.chosen + (by || 0);
        if (!by || to < 0 || to >= Math.min(tile.count, MOST_CELLS)) return;
        e.preventDefault();
        e.stopPropagation();
        choose(now, to, true);
    });
}
