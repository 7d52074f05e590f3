// code.js - source, tile IR and PTX side by side; a line of one lights up what it became in the others.
//
// In: the run's code, the line and op of the frame. Out: three lists, and a choice of a line by pointer or key.

const $ = (id) => document.getElementById(id);

function make(tag, attributes, ...children) {
    const e = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
        if (name === "class")
            e.className = value;
        else if (name.startsWith("on"))
            e.addEventListener(name.slice(2), value);
        else if (value !== null && value !== undefined && value !== false)
            e.setAttribute(name, value === true ? "" : value);
    }
    e.append(...children.filter((c) => c !== null && c !== undefined));
    return e;
}

// The words of the kernel language, comments and numbers in their colours.
const token =
    /(#.*$)|\b(def|for|in|if|elif|else|while|return|import|from|not|and|or|True|False|None|constexpr)\b|(?<![\w.])(\d[\d_]*\.?\d*(?:e[+-]?\d+)?)(?!\w)/gm;

function coloured(line) {
    const out = [];
    let from = 0;
    for (const m of line.matchAll(token)) {
        out.push(line.slice(from, m.index), make("span", {class: m[1] ? "comment" : m[2] ? "word" : "number"}, m[0]));
        from = m.index + m[0].length;
    }
    out.push(line.slice(from));
    return out;
}

// PTX line by line, instructions with the op that they belong to and its registers (0 of them: all).
function ptxLines(code) {
    const entries = code.ptx_ops.map(([from, op, register, registers]) => ({from, op, register, registers}));
    const lines = [];
    let now = null;
    code.ptx.replace(/\n+$/, "").split("\n").forEach((raw, i) => {
        while (entries.length && entries[0].from <= i) now = entries.shift();
        if (!raw.trim()) return;
        const before = lines[lines.length - 1];
        if (before && before.isCode && !/[;:{}]\s*$/.test(before.text)) {
            before.text += " " + raw.trim(); // an instruction over several lines
            return;
        }
        const isCode = /^\s+[a-z@]/.test(raw), op = isCode && now ? code.byOp.get(now.op) : null;
        lines.push({
            text: raw.replace(/\t/g, "  ").replace(/^ {2}/, ""),
            line: op ? op.line : 0,
            op: op ? op.op : -1,
            register: now ? now.register : 0,
            registers: now ? now.registers : 0,
            isCode
        });
    });
    return lines;
}

// The instructions of an op; with a register those that make or move it, else (there is none of its own) those of all.
function instructionsOf(code, op, register) {
    const all = code.ptxLines.filter((l) => l.op === op.op);
    const own = all.filter((l) => l.registers && register >= l.register && register < l.register + l.registers);
    return register === undefined || !own.length ? all : own;
}

const panes = {
    code: null,
    source: [],
    ir: [],
    ptx: []
};

function row(pane, number, line, content, quiet) {
    const item = make("li", {"data-line": line, class: quiet ? "quiet" : null}, make("b", {}, number),
                      make("span", {}, ...content));
    panes[pane].push(item);
    return item;
}

function fillPanes(run) {
    if (panes.run === run) return;
    panes.run = run;
    const code = run.code;
    for (const pane of ["source", "ir", "ptx"]) panes[pane] = [];
    const source = facts.source.replace(/\n$/, "").split("\n");
    const used = new Set(code.ir.map((op) => op.line));
    source.forEach((text, i) => row("source", i + 1, used.has(i + 1) ? i + 1 : 0, coloured(text), false));
    for (const op of code.ir)
        row("ir", op.line || "", op.line, ["  ".repeat(op.depth) + op.text], op.op < 0).dataset.op = op.op;
    for (const l of code.ptxLines)
        Object.assign(row("ptx", l.line || "", l.line, [l.text], !l.isCode).dataset, {op: l.op});
    for (const fault of run.faults) {
        const item = panes.source[fault.line - 1];
        if (!item) continue;
        item.classList.add("fault");
        item.dataset.fault = `${fault.kind}, ${fault.count} time${fault.count === 1 ? "" : "s"}`;
    }
    for (const pane of ["source", "ir", "ptx"]) $(pane).querySelector("ol").replaceChildren(...panes[pane]);
    $("arch").textContent = "for " + code.arch;
}

function light(name, line) {
    for (const pane of ["source", "ir", "ptx"])
        for (const item of panes[pane]) item.classList.toggle(name, line > 0 && Number(item.dataset.line) === line);
}

// Brings the item to the middle of its list, which alone scrolls.
function show(item) {
    if (!item) return;
    const list = item.parentElement, at = item.offsetTop - list.offsetTop;
    if (at < list.scrollTop + 20 || at > list.scrollTop + list.clientHeight - 40) {
        const to = at - list.clientHeight / 2 + 10;
        list.scrollTo({top: to, behavior: Math.abs(to - list.scrollTop) > 400 ? "instant" : "smooth"});
    }
}

// The step: its line in all three, its op and the instructions of that op more strongly.
function showLine(op) {
    light("linked", op.line);
    for (const pane of ["source", "ir", "ptx"])
        for (const item of panes[pane])
            item.classList.toggle("now", pane === "source" ? item === panes.source[op.line - 1]
                                                           : Number(item.dataset.op) === op.op);
    const first = (pane, has) => panes[pane].find((item) => item.classList.contains(has));
    for (const pane of ["source", "ir", "ptx"]) show(first(pane, "now") || (op.line ? first(pane, "linked") : null));
}

// An element: the op that made it, and the instructions of its register.
function showMine(code, made, lines) {
    const mine = new Set(lines);
    panes.ir.forEach((item) => item.classList.toggle("mine", Boolean(made) && Number(item.dataset.op) === made.op));
    panes.ptx.forEach((item, i) => item.classList.toggle("mine", mine.has(code.ptxLines[i])));
    const at = panes.ptx.findIndex((item) => item.classList.contains("mine"));
    if (at >= 0) show(panes.ptx[at]);
}

function listenToCode(choose) {
    for (const pane of ["source", "ir", "ptx"]) {
        const list = $(pane).querySelector("ol");
        const of = (e) => e.target.closest("li");
        list.addEventListener("click", (e) => {
            const item = of(e);
            if (item && Number(item.dataset.line)) choose(Number(item.dataset.line), item.dataset.op);
        });
        list.addEventListener("pointerover", (e) => {
            const item = of(e);
            if (!item || e.pointerType !== "mouse") return;
            light("linked", Number(item.dataset.line));
            showRegisters(pane === "ptx" ? panes.run.code.ptxLines[panes.ptx.indexOf(item)] : null);
        });
        list.addEventListener("pointerleave", () => {
            light("linked", panes.lit || 0);
            showRegisters(null);
        });
    }
    for (const tab of $("tabs").children) tab.addEventListener("click", () => showPane(tab.dataset.pane));
    showPane("source");
}

function showPane(name) {
    for (const tab of $("tabs").children) tab.setAttribute("aria-selected", tab.dataset.pane === name);
    for (const pane of ["source", "ir", "ptx"]) $(pane).classList.toggle("shown", pane === name);
}
