// tour.js - why each kind of step is there, and a tour of those that a reader meets for the first time.
//
// In: the frames. Out: a sentence below each step; the next stop: the first frame of each kind that has a sentence.

const whys = {
    program_id: "Each program of the grid runs the same code; its number says which part of the data is its own.",
    arange: "A tile of indices: all threads of the program hold their elements of it at once, without a loop.",
    icmp: "A tile has a power of two of elements, and data any number: the mask keeps what is beyond out.",
    splat: "One number meets a tile as a tile of copies; each thread has it in a register anyway, so it costs nothing.",
    addptr: "Addresses are a tile, too: neighbours in it that lie side by side in memory become one wide access.",
    load: "Memory is some 500 clocks away. A warp asks for whole sectors of 32 bytes; others run while it waits.",
    store: "Results go straight to memory; nobody waits for a store.",
    reduce: "All elements become one in a tree: first in each thread's registers, then over lanes, then over warps.",
    reduce_warp: "32 lanes combine in five exchanges from register to register, without memory.",
    shared_store: "Warps cannot see each other's registers: what they must exchange goes through shared memory.",
    shared_load: "Each warp reads what the others left there. Lanes that want one word share the access.",
    barrier: "A warp must not read before the others have written, nor write while they still read: all meet here.",
    exp: "Exponentials run in a unit of their own, 16 a clock, as 2^x: a factor of log2(e) comes before it.",
    exp2: "Exponentials run in a unit of their own, 16 a clock.",
    fdiv: "A quotient is a reciprocal and a product, unless it must be rounded correctly.",
    fsub: "Subtracting the maximum first keeps the exponential from overflowing, and changes nothing else.",
    mma: "A warp multiplies whole fragments by one instruction, which does the work of 32 or 64 multiply-adds.",
    for: "What the loop carries stays in registers from round to round.",
    shared_gather: "Any lane can read any word there, but lanes that want different words of one bank take turns.",
    copy_async: "The copies go on while the program computes: a load would have to wait in registers.",
    copy_wait: "What was begun some rounds ago is needed now; newer copies stay under way.",
    convert_layout: "The next op wants the elements on other threads: they move there.",
};

function whyOf(op, frame) {
    return frame.phase === "registers" ? whys.reduce : whys[op.kind] || "";
}

// Frame indices: where a kind comes for the first time.
function stopsOf(now) {
    const met = new Set(), stops = [];
    now.frames.forEach((f, i) => {
        const why = whyOf(now.program.op(f.step), f);
        if (why && !met.has(why)) stops.push(i);
        met.add(why);
    });
    return stops;
}

function nextStop(now) {
    const stops = stopsOf(now);
    return stops.find((i) => i > now.index) ?? stops[0] ?? 0;
}

function showTour(now) {
    const stops = stopsOf(now), at = stops.indexOf(now.index);
    $("tour").textContent = at >= 0 ? `Tour ${at + 1}/${stops.length}` : "Tour";
}
