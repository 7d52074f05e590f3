// model.js - the facts of a page as values: arrays from base64, who owns which element, frames in the order of time.
//
// In: the JSON that `fsc viz` wrote (docs/how-to/viz.md, "The facts"). Out: Run and Recorded, which know of no
// element of the page.

const facts = JSON.parse(document.getElementById("facts").textContent);

function bytesOf(text) {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
}

// How elements of a type are packed: i1 a byte each, 64 bits and pointers as doubles, narrow floats as fp32, the
// rest as i32.
function arrayOf(type, text) {
    const bytes = bytesOf(text).buffer;
    if (type === "i1") return new Uint8Array(bytes);
    if (type === "ptr" || type === "i64" || type === "u64" || type === "fp64" || type === "pointer")
        return new Float64Array(bytes);
    return /^(fp|bf)/.test(type) ? new Float32Array(bytes) : new Int32Array(bytes);
}

// So many offsets: 32 bits each, or doubles where one of them is wider.
function offsetsOf(text, count) {
    const bytes = bytesOf(text);
    return bytes.length === 8 * count ? new Float64Array(bytes.buffer) : new Int32Array(bytes.buffer);
}

const isPointer = (type) => type === "ptr" || type === "pointer";
const isFloat = (type) => /^(fp|bf)/.test(type);
const product = (shape) => shape.reduce((n, x) => n * x, 1);

// ---- Layouts: which element a register of a lane of a warp of a block holds -----------------------------------------

const REGISTER = 0, LANE = 1, WARP = 2, CTA = 3;

function flatIndex(layout, owner) {
    let flat = 0;
    layout.bases.forEach((bases, d) => bases.forEach((basis, bit) => {
        if (owner[d] >> bit & 1) flat ^= basis;
    }));
    return flat;
}

// By element: its owners as [register, lane, warp, cta], the canonical one first.
function ownersOf(layout, elements) {
    if (layout.owners) return layout.owners;
    const counts = layout.bases.map((bases) => 1 << bases.length);
    layout.owners = Array.from({length: elements}, () => []);
    for (let c = 0; c < counts[CTA]; c++)
        for (let w = 0; w < counts[WARP]; w++)
            for (let l = 0; l < counts[LANE]; l++)
                for (let r = 0; r < counts[REGISTER]; r++)
                    layout.owners[flatIndex(layout, [r, l, w, c])].push([r, l, w, c]);
    return layout.owners;
}

// ---- Code -----------------------------------------------------------------------------------------------------------

for (const code of facts.codes) {
    code.byOp = new Map();
    code.defines = new Map(); // value → its op
    code.names = new Map();
    for (const p of code.params) code.names.set(p.value, p.name);
    for (const op of code.ir) {
        if (op.op < 0) continue;
        code.byOp.set(op.op, op);
        const head = op.text.split(" = ")[0];
        op.results.forEach((v, i) => {
            code.defines.set(v, op);
            code.names.set(v, head.split(", ")[i].replace("%", ""));
        });
        const carry = /carry \((.*?)\)/.exec(op.text), iv = /for (%\S+) =/.exec(op.text);
        const entered = (iv ? [iv[1]] : []).concat(carry ? carry[1].split(", ").map((s) => s.split(" = ")[0]) : []);
        (op.enters || []).forEach((v, i) => code.names.set(v, (entered[i] || "").replace("%", "")));
    }
    code.ptxLines = ptxLines(code);
}

// ---- One recorded program -------------------------------------------------------------------------------------------

class Recorded {
    constructor(run, raw) {
        this.run = run;
        this.code = run.code;
        this.at = raw.at;
        this.threads = raw.threads;
        this.steps = raw.steps.filter((s) => this.code.byOp.has(s.o));
        this.told = new Map(); // value → [{step, entry}], in order
        this.steps.forEach((s, i) => {
            for (const entry of s.v) {
                if (!this.told.has(entry[0])) this.told.set(entry[0], []);
                this.told.get(entry[0]).push({step: i, entry});
            }
        });
        this.frames = this.makeFrames();
    }

    op(step) { return this.code.byOp.get(this.steps[step].o); }

    // What the value was at a step: {type, shape, data, param, step}; null where nothing was told of it yet.
    value(id, step) {
        const fact = this.code.values[id];
        const parameter = this.code.params.find((p) => p.value === id);
        if (parameter) {
            const p = this.run.params.find((q) => q.name === parameter.name);
            return {
                type: p.kind === "pointer" ? "pointer" : "scalar",
                text: p.kind === "pointer" ? p.name : p.value,
                shape: []
            };
        }
        if (!fact) return null;
        const shape = fact.shape || [], n = product(shape);
        if (fact.constant !== undefined)
            return {
                type: fact.type,
                shape,
                layout: this.code.layouts[fact.layout],
                data: new Array(n).fill(Number(fact.constant.replace("inf", "Infinity")))
            };
        const told = (this.told.get(id) || []).filter((t) => t.step <= step).pop();
        if (!told) return null;
        if (!told.made) {
            let data = arrayOf(fact.type, told.entry[1]);
            if (data.length === 1 && n > 1) data = data.constructor.from({length: n}, () => data[0]);
            told.made = {
                type: fact.type,
                pointee: fact.pointee,
                shape,
                layout: this.code.layouts[fact.layout],
                data,
                param: told.entry[2],
                step: told.step
            };
        }
        return told.made;
    }

    // Which elements only fill the tile up: those that a load's mask left out, and what was computed from them
    // one by one.
    padding(id, step) {
        const op = this.code.defines.get(id), fact = this.code.values[id];
        const told = (this.told.get(id) || []).filter((t) => t.step <= step).pop();
        if (!op || !fact || !fact.shape || !told) return null;
        if (told.padding !== undefined) return told.padding;
        const n = product(fact.shape);
        let padding = null;
        if (op.kind === "load" || op.kind === "atomic_rmw") {
            const mask =
                op.args.length > 1 && this.value(op.args[op.kind === "load" ? 1 : op.args.length - 1], told.step);
            if (mask && mask.type === "i1" && mask.data.length === n) padding = Array.from(mask.data, (m) => m ? 0 : 1);
        } else if (this.isElementwise(op, n)) {
            for (const arg of op.args) {
                const p = this.padding(arg, told.step);
                if (p && p.length === n) padding = padding ? padding.map((x, i) => x | p[i]) : p;
            }
        }
        told.padding = padding && padding.some((x) => x) ? padding : null;
        return told.padding;
    }

    isElementwise(op, n) {
        const same = (v) => {
            const f = this.code.values[v];
            return f && product(f.shape || []) === n;
        };
        return !/^(trans|flip|scan|gather|shared|join|split|for|while|if)/.test(op.kind) && op.args.some(same);
    }

    // A frame is a step, or one phase of a reduction: {step, phase, events: how many exchanges of the step
    // have happened}.
    makeFrames() {
        const frames = [];
        this.steps.forEach((s, step) => {
            const op = this.op(step), shuffles = s.e.filter((e) => e.k.startsWith("shuffle"));
            const phases = /^reduce/.test(op.kind) || (/^scan/.test(op.kind) && shuffles.length)
                               ? this.phasesOf(op, s, shuffles)
                               : null;
            if (phases)
                phases.forEach((phase, at) => frames.push({step, ...phase, phases, at}));
            else
                frames.push({step, phase: null, events: s.e.length});
        });
        return frames;
    }

    // What is combined in any order has its registers first, then a round of shuffles. In order, by a function
    // of the source, lanes are next to
    // each other: there is a round for each register.
    phasesOf(op, s, shuffles) {
        const fact = this.code.values[op.args[0]], phases = [], isOrdered = /fn|^scan/.test(op.kind);
        const registers =
            fact && fact.layout !== undefined ? 1 << this.code.layouts[fact.layout].bases[REGISTER].length : 1;
        if (registers > 1 && !isOrdered)
            phases.push({phase: "registers", label: `${registers} registers a thread`, events: 0});
        else
            phases.push({phase: "operand", label: "each thread's own", events: 0});
        let round = 0;
        shuffles.forEach((e, i) => {
            const last = phases[phases.length - 1],
                  begins = shuffles[0].w === e.w && last.phase === "shuffle" && last.mask !== e.w;
            if (begins) round++;
            if (last.phase === "shuffle" && last.mask === e.w)
                last.last = i, last.events = i + 1;
            else
                phases.push({phase: "shuffle", mask: e.w, round, first: i, last: i, events: i + 1});
        });
        phases.push({phase: "result", label: "result", events: s.e.length});
        for (const p of phases)
            if (p.phase === "shuffle") p.label = (round ? `round ${p.round + 1}: ` : "") + `lane ⊕ ${p.mask}`;
        return phases;
    }

    // The words of an exchange as numbers of a type, the first of each thread.
    words(event, type, next) {
        if (event.made) return event.made;
        const raw = new Uint32Array(bytesOf(event.d).buffer), per = raw.length / this.threads;
        const high = next && next.d ? new Uint32Array(bytesOf(next.d).buffer) : null;
        event.made = Array.from({length: this.threads}, (_, t) => numberOf(type, raw[t * per],
                                                                           per > 1 ? raw[t * per + 1]
                                                                           : high  ? high[t]
                                                                                   : 0));
        return event.made;
    }

    addresses(event) {
        if (!event.where) event.where = offsetsOf(event.a, this.threads);
        return event.where;
    }
}

// What steps up to this one bring together in a map; going on in time goes on from what is there.
function upTo(program, name, step, add) {
    program.kept = program.kept || {};
    let kept = program.kept[name];
    if (!kept || kept.next > step + 1) kept = program.kept[name] = {next: 0, found: new Map()};
    while (kept.next <= step) add(kept.found, kept.next++);
    return kept.found;
}

const scratch = new DataView(new ArrayBuffer(8));

// A number of this type from its bits: 32 low and 32 high ones.
function numberOf(type, low, high) {
    scratch.setUint32(0, low, true);
    scratch.setUint32(4, high, true);
    switch (type) {
    case "fp32": return scratch.getFloat32(0, true);
    case "fp64": return scratch.getFloat64(0, true);
    case "bf16": scratch.setUint32(0, low << 16, true); return scratch.getFloat32(0, true);
    case "fp16": return half(low & 0xffff);
    case "i64": return Number(scratch.getBigInt64(0, true));
    case "i1": return low & 1;
    case "i8": return scratch.getInt8(0);
    case "i16": return scratch.getInt16(0, true);
    default: return scratch.getInt32(0, true);
    }
}

function half(bits) {
    const exponent = bits >> 10 & 31, fraction = bits & 1023, sign = bits >> 15 ? -1 : 1;
    if (exponent === 31) return fraction ? NaN : sign * Infinity;
    return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

// ---- One run --------------------------------------------------------------------------------------------------------

class Run {
    constructor(raw, index) {
        Object.assign(this, raw);
        this.index = index;
        this.code = facts.codes[raw.code];
        this.raw = raw.programs;
        this.made = new Map();
        this.extents = offsetsOf(raw.outlines, this.outlined * this.params.length * 6);
    }

    number(at) { return at[0] + this.grid[0] * (at[1] + this.grid[1] * at[2]); }
    at(number) {
        return [
            number % this.grid[0], Math.floor(number / this.grid[0]) % this.grid[1],
            Math.floor(number / this.grid[0] / this.grid[1])
        ];
    }

    // The recorded program of that number, or null.
    program(number) {
        const raw = this.raw.find((p) => this.number(p.at) === number);
        if (raw && !this.made.has(number)) this.made.set(number, new Recorded(this, raw));
        return raw ? this.made.get(number) : null;
    }

    // What program `number` loads and stores of parameter `param`: {load: {first, end, bytes}, store: …}, in bytes.
    outline(number, param) {
        if (number >= this.outlined) return null;
        const at = (number * this.params.length + param) * 6, x = this.extents;
        const part = (i) => x[i + 2] ? {first: x[i], end: x[i + 1], bytes: x[i + 2]} : null;
        return {load: part(at), store: part(at + 3)};
    }
}

const runs = facts.runs.map((raw, i) => new Run(raw, i));
