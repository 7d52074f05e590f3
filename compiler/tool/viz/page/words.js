// words.js - numbers and steps in words.

// A number for a cell of some six places.
function short(x, type) {
    if (x === undefined || x === null) return "";
    if (type === "i1") return x ? "✓" : "·";
    if (Number.isNaN(x)) return "NaN";
    if (x === Infinity) return "∞";
    if (x === -Infinity) return "−∞";
    const minus = x < 0 ? "−" : "", size = Math.abs(x);
    if (Number.isInteger(x) && !isFloat(type))
        return minus + (size < 1e6 ? size : size.toExponential(1).replace("e+", "e"));
    if (size === 0) return "0";
    if (size >= 1e5 || size < 1e-3) return minus + size.toExponential(1).replace("e+", "e").replace("e-", "e−");
    return minus + (size >= 1000  ? size.toFixed(0)
                    : size >= 100 ? size.toFixed(1)
                    : size >= 10  ? size.toFixed(2)
                                  : size.toFixed(3));
}

// A number with all the digits that tell it from its neighbours.
function long(x, type) {
    if (type === "i1") return x ? "true" : "false";
    if (!Number.isFinite(x)) return short(x, type);
    if (!isFloat(type)) return String(x).replace("-", "−");
    return String(Number(x.toPrecision(type === "fp64" ? 17 : type === "fp32" ? 8 : 5))).replace("-", "−");
}

function coordinates(flat, shape) {
    const at = [];
    for (let d = shape.length - 1; d >= 0; d--) {
        at.unshift(flat % shape[d]);
        flat = Math.floor(flat / shape[d]);
    }
    return "[" + at.join(", ") + "]";
}

// The element of a buffer that lies so many bytes from its beginning: x[2, 17].
function placeOf(run, param, bytes, size) {
    const p = run.params[param];
    if (!p || !p.shape) return `${bytes} bytes`;
    const index = bytes / (size || p.bytes / product(p.shape));
    if (index < 0 || index >= product(p.shape)) return `${p.name} ${index < 0 ? "−" : "+"} ${Math.abs(index)} elements`;
    return p.name + coordinates(index, p.shape);
}

const combines = {
    fmax: "maximum",
    fmax_nan: "maximum",
    smax: "maximum",
    umax: "maximum",
    fmin: "minimum",
    fmin_nan: "minimum",
    smin: "minimum",
    umin: "minimum",
    fadd: "sum",
    add: "sum",
    fmul: "product",
    mul: "product",
    and: "and",
    or: "or",
    xor: "exclusive or"
};

const combinationOf = (op) => /^scan/.test(op.kind)  ? "the scan"
                              : combines[op.combine] ? "the " + combines[op.combine]
                                                     : "the reduction by a function";

const plural = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

const digits = {
    relaxed: ", to the digits that a narrower type keeps",
    term: ", to the digits that the sum keeps"
};

const sentences = {
    arange: (op, v) => `Number ${plural(v.n, "place")}`,
    splat: (op, v) => `Give one value to all ${v.n} places`,
    load: (op, v) => `Load ${v.n - v.masked} of ${plural(v.n, "element")}${
        v.masked ? `; ${v.masked} are masked and take the other value` : ""}`,
    store: (op, v) =>
        `Store ${v.n - v.masked} of ${plural(v.n, "element")}${v.masked ? `; ${v.masked} are masked` : ""}`,
    exp: (op, v) => `e to the power of each of ${plural(v.n, "element")}${digits[op.accuracy] || ""}`,
    exp2: (op, v) => `2 to the power of each of ${plural(v.n, "element")}${digits[op.accuracy] || ""}`,
    log: (op, v) => `The logarithm of each element`,
    rsqrt: () => "One over the square root",
    sqrt: () => "The square root",
    fadd: () => "Add",
    fsub: () => "Subtract",
    fmul: () => "Multiply",
    fdiv: () => "Divide",
    fma: () => "Multiply and add, rounded once",
    add: () => "Add",
    sub: () => "Subtract",
    mul: () => "Multiply",
    icmp: () => "Compare: which places are inside?",
    fcmp: () => "Compare",
    select: () => "Choose one of two, by a mask",
    and: () => "Both must hold",
    addptr: (op, v) => v.n > 1 ? `An address for each of ${plural(v.n, "element")}` : "An address",
    program_id: () => "Which program is this?",
    num_programs: () => "How many programs are there?",
    shared_store: (op, v) => `${plural(v.n, "element")} to shared memory, for other warps`,
    shared_load: () => "Read what the warps have put into shared memory",
    barrier: () => "Wait for all threads of the block",
    for: () => "A turn of the loop",
    if: () => "A branch",
    while: () => "A turn of the loop",
    return: () => "The program ends",
    convert_layout: () => "The same tile, held by other threads",
    broadcast: () => "Repeat along an axis",
    expand_dims: () => "A new axis of size 1",
    reshape: () => "The same elements in another shape",
    fpext: () => "Widen each element, exactly",
    fptrunc: () => "Round each element to a narrower type",
    sext: () => "Widen the integer",
    mma: (op, v) => `Multiply fragments of matrices, and add: ${plural(v.n, "sum")}`,
    dot: (op, v) => `Multiply rows with columns, and add: ${plural(v.n, "sum")}`,
    shared_gather: (op, v) => `${plural(v.n, "element")} from the places in shared memory that indices name`,
    shared_slice: (op, v) => `${plural(v.n, "element")} of a tile in shared memory`,
    copy_async: () => "Begin to copy to shared memory, past the registers",
    copy_commit: () => "These copies are a group",
    copy_wait: () => "Wait until all but the newest groups have arrived",
    copy_read: (op, v) => `${plural(v.n, "element")} that this thread's copies brought`,
    trans: () => "The same registers under other coordinates",
    broadcast_warp: () => "Each warp's value back to its elements",
};

// The exchanges of a step in a few words: 4 loads of 16 bytes a lane, 5 shuffles.
function exchangesOf(step) {
    const found = new Map();
    for (const e of step.e) {
        const kind = e.k.startsWith("shuffle") ? "shuffle" : e.k, what = e.b ? ` of ${plural(e.b, "byte")} a lane` : "";
        if (kind !== "barrier") found.set(kind + what, {kind, what, n: (found.get(kind + what) || {n: 0}).n + 1});
    }
    return [...found.values()].map((f) => plural(f.n, f.kind) + f.what).join(", ");
}

// What the op does, without the particulars.
const meaningOf = (op) => op.means.split(/[;:]/)[0].replaceAll("`", "");

// What the frame does, for the line above the tile.
function sentenceOf(op, frame, view) {
    if (frame.phase) {
        const all = /warp/.test(op.kind) && view.partial ? " within each warp" : "", name = combinationOf(op),
              what = name.charAt(0).toUpperCase() + name.slice(1) + all;
        if (frame.phase === "registers") return `${what}: each thread combines its own registers`;
        if (frame.phase === "operand") return `${what}: each thread begins with its own element`;
        if (frame.phase === "shuffle") return `${what}: each lane combines with lane ⊕ ${frame.mask}`;
        return `${what} is known`;
    }
    const make = sentences[op.kind];
    return make ? make(op, view) : meaningOf(op).charAt(0).toUpperCase() + meaningOf(op).slice(1);
}
