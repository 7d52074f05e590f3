// threads.js - one warp's lanes: what each holds, what it shuffles; shared memory and barriers.
//
// In: a recorded program, a frame, the warp. Out: the cards of 32 lanes with the pairs of a shuffle, the words of
// shared
// memory as they stand at the frame.

const warpSize = 32;

// The element type that a reduction, store or load moves.
function typeOf(program, op) {
    const id = op.args.length && op.kind !== "shared_load" ? op.args[0] : op.results[0];
    return (program.code.values[id] || {type: "i32"}).type;
}

// What every thread has at this phase of a reduction, as numbers by thread; null where it is not known.
function partials(program, frame) {
    const s = program.steps[frame.step], op = program.op(frame.step), type = typeOf(program, op);
    const wide = /64$/.test(type), shuffles = s.e.filter((e) => e.k.startsWith("shuffle"));
    const sent = (i) => program.words(shuffles[i], type, wide ? shuffles[i + 1] : null);
    if (frame.phase === "registers" || frame.phase === "operand")
        return shuffles.length ? sent(0) : byThread(program, op.results[0], frame.step);
    if (frame.phase === "shuffle") return sent(frame.first);
    return byThread(program, op.results[0], frame.step);
}

// A value's first register in each thread.
function byThread(program, id, step) {
    const value = program.value(id, step);
    if (!value) return null;
    return Array.from({length: program.threads}, (_, t) => registersOf(value, t)[0]);
}

// All registers of the value in a thread.
function registersOf(value, t) {
    if (!value.layout || !value.shape.length) return [value.data[0]];
    const bits = value.layout.bases.map((b) => b.length), registers = [];
    const lane = t & ((1 << bits[LANE]) - 1), warp = t >> bits[LANE] & ((1 << bits[WARP]) - 1),
          cta = t >> (bits[LANE] + bits[WARP]);
    for (let r = 0; r < 1 << bits[REGISTER]; r++)
        registers.push(value.data[flatIndex(value.layout, [r, lane, warp, cta])]);
    return registers;
}

// A lane's numbers, those of its registers above a line where the card shows what they were combined to.
function laneCard(t, lines, most, type, off, registers) {
    const cells = (list) => list.map((x) => make("div", {}, short(x, type)));
    const above = registers ? [...cells(registers), make("hr")] : [];
    const card = make("div", {class: "lane" + (off ? " off" : ""), "data-thread": t},
                      make("b", {}, String(t % warpSize)), ...above, ...cells(lines));
    paint(card, lines.length ? lines[0] : 0, most, type);
    return card;
}

// Threads that take part in none of the accesses of the step, as their predicates are false.
function idleThreads(program, frame) {
    const accesses = program.steps[frame.step].e.filter((e) => e.a);
    if (!accesses.length) return () => false;
    return (t) => accesses.every((e) => program.addresses(e)[t] < 0);
}

// Lines from lane to lane over the cards, once they have their places.
function drawPairs(box, mask, count) {
    const ns = "http://www.w3.org/2000/svg", svg = document.createElementNS(ns, "svg"),
          cards = box.querySelectorAll(".lane");
    for (let i = 0; i < count; i++) {
        const a = cards[i], b = cards[i ^ mask];
        if (!b || (i ^ mask) < i) continue;
        const x1 = a.offsetLeft + a.offsetWidth / 2, x2 = b.offsetLeft + b.offsetWidth / 2,
              y1 = a.offsetTop + a.offsetHeight, y2 = b.offsetTop;
        const path = document.createElementNS(ns, "path");
        const d = a.offsetTop === b.offsetTop ? `M${x1} ${y1} C${x1} ${y1 + 15} ${x2} ${y1 + 15} ${x2} ${y1}`
                                              : `M${x1} ${y1} L${x2} ${y2}`;
        path.setAttribute("d", d);
        svg.append(path);
    }
    box.append(svg);
}

// The lanes that hold the element, and their register where the card has it.
function markLanes(value, i) {
    const owners = value.layout && value.shape.length ? ownersOf(value.layout, value.data.length)[i] : [];
    const lanes = value.layout ? value.layout.bases[LANE].length : 0,
          warps = value.layout ? value.layout.bases[WARP].length : 0;
    const held = new Map(owners.map(([r, l, w, c]) => [l + (w << lanes) + (c << (lanes + warps)), r]));
    for (const card of $("threads").querySelectorAll(".lane")) {
        const register = held.get(Number(card.dataset.thread));
        card.classList.toggle("mine", register !== undefined);
        [...card.querySelectorAll("div")].forEach((div, r) => div.classList.toggle("mine", r === register));
    }
}

function title(text, small) { return make("h3", {}, text + " ", make("small", {}, small || "")); }

function showThreads(now, frame, op) {
    const box = $("threads"), program = now.program, warp = now.warp >= 0 ? now.warp : tile.warp || 0;
    if (box.shown && box.shown.every((x, i) => x === [frame, tile.shown, warp][i])) return undefined;
    box.shown = [frame, tile.shown, warp];
    const first = warp * warpSize, count = Math.min(warpSize, program.threads - first);
    box.replaceChildren();
    if (frame.phase) return showReduction(box, program, frame, op, warp, first, count);
    if (op.kind === "barrier") return showBarrier(box, program, program.steps[frame.step].e[0]);
    const value = tile.shown;
    if (!value || !value.layout || !value.shape.length || isPointer(value.type)) return undefined;
    const registers = 1 << value.layout.bases[REGISTER].length,
          most = isPointer(value.type) ? 0 : scaleOf(value, tile.padding);
    const shown = Math.min(registers, 4);
    const lanes = make("div", {class: "lanes"}), isIdle = idleThreads(program, frame);
    for (let i = 0; i < count; i++)
        lanes.append(
            laneCard(first + i, registersOf(value, first + i).slice(0, shown), most, value.type, isIdle(first + i)));
    box.append(title(`Warp ${warp}: what its ${count} lanes hold`, registers > shown
                                                                       ? `${shown} of ${registers} registers each`
                                                                   : registers > 1 ? `${registers} registers each`
                                                                                   : "one register each"),
               lanes);
    return undefined;
}

function showReduction(box, program, frame, op, warp, first, count) {
    const type = typeOf(program, op), all = partials(program, frame);
    const phases = make("div", {class: "phases"}), at = frame.at,
          from = Math.max(0, Math.min(at - 5, frame.phases.length - 12));
    frame.phases.slice(from, from + 12)
        .forEach((p, i) => phases.append(make("span", {class: from + i === at ? "now"
                                                              : from + i < at ? "done"
                                                                              : ""},
                                              p.label)));
    if (frame.phases.length > 12) phases.append(make("span", {}, `${at + 1} of ${frame.phases.length}`));
    const small = {
        registers: "after each thread has combined its registers",
        operand: "before the first exchange",
        shuffle: `lane ⊕ ${frame.mask}: lines join the lanes that exchange what they show`,
        result: "every lane has it"
    }[frame.phase];
    const results = frame.phase === "shuffle" ? (frame.last - frame.first + 1) / (/64$/.test(type) ? 2 : 1) : 1;
    const lanes = make("div", {class: "lanes"});
    const mine = all ? all.slice(first, first + count) : [],
          most = Math.max(0, ...mine.filter(Number.isFinite).map(Math.abs));
    const operand = frame.phase === "registers" ? registersOfReduction(program, frame, op) : null;
    mine.forEach((x, i) => lanes.append(
                     laneCard(first + i, [x], most, type, false, operand && registersOf(operand, first + i))));
    box.append(title(`Warp ${warp}: ${combinationOf(op)}, lane by lane`,
                     small + (results > 1 ? `; the first of ${results} values of each lane` : "")),
               phases, lanes);
    if (frame.phase === "shuffle") drawPairs(lanes, frame.mask, count);
}

// The operand, where each thread combines a few registers of it to one.
function registersOfReduction(program, frame, op) {
    const value = program.value(op.args[0], frame.step), result = program.code.values[op.results[0]];
    const registers = value && value.layout ? 1 << value.layout.bases[REGISTER].length : 1;
    const isOne = !result.shape || program.code.layouts[result.layout].bases[REGISTER].length === 0;
    return value && value.data && isOne && registers <= 8 ? value : null;
}

function showBarrier(box, program, event) {
    const scope =
        ["the warp", "the block", program.run.together ? "all its blocks" : "the cluster"][event ? event.w : 1];
    const warps = Math.ceil(program.threads / warpSize), list = make("div", {class: "arrivals"});
    for (let w = 0; w < warps; w++) list.append(make("span", {}, `warp ${w} is here`));
    box.append(title("Barrier", `all ${program.threads} threads of ${
                                    scope} have come here; what was stored before is seen by all behind it`),
               list);
}

// ---- Shared memory --------------------------------------------------------------------------------------------------

const MOST_WORDS = 96, MOST_BANKED = 2048;

// Words of four bytes as they stand behind the frame: {word: {bits, type, step, by}}.
function sharedAt(program, frame) {
    return upTo(program, "shared", frame.step, (words, i) => {
        for (const e of program.steps[i].e) {
            if (!/^(shared store|shared copy|cluster store)$/.test(e.k)) continue;
            const source = e.k === "shared copy" && program.run.params[e.w],
                  type = source ? source.dtype : typeOf(program, program.op(i)), where = program.addresses(e),
                  raw = new Uint32Array(bytesOf(e.d).buffer), per = raw.length / program.threads;
            for (let t = 0; t < program.threads; t++)
                for (let k = 0; k < per && where[t] >= 0; k++)
                    words.set((where[t] >> 2) + k, {bits: raw[t * per + k], type, step: i, by: t});
        }
    });
}

// A word in words: one number, two halves, or what its bits are.
function wordText(x, wide) {
    if (/^(fp16|bf16|i16|u16)$/.test(x.type)) {
        const type = x.type === "u16" ? "i16" : x.type;
        return [x.bits & 0xffff, x.bits >>> 16].map((h) => short(numberOf(type, h, 0), type)).join(wide ? ", " : " ");
    }
    if (/64$|8/.test(x.type)) return x.bits.toString(16).padStart(8, "0");
    return short(numberOf(x.type, x.bits, 0), x.type);
}

function wordNumber(x) { return /^(fp32|i32|u32|fp16|bf16)$/.test(x.type) ? numberOf(x.type, x.bits, 0) : 0; }

// The words that the step touches, and by how many lanes.
function touchedWords(program, frame) {
    const touched = new Map();
    for (const e of program.steps[frame.step].e) {
        if (!e.k.startsWith("shared")) continue;
        program.addresses(e).forEach((a) => {
            for (let k = 0; a >= 0 && k < Math.ceil(e.b / 4); k++)
                touched.set((a >> 2) + k, (touched.get((a >> 2) + k) || 0) + 1);
        });
    }
    return touched;
}

function sayWord(program, w, x, lanes) {
    const by = x ? `${wordText(x, true)}, stored by warp ${x.by >> 5}, lane ${x.by & 31} at “${
                       program.op(x.step).text.split(" {")[0].split(" : ")[0]}”`
                 : "nothing stored yet";
    return `byte ${4 * w}, bank ${w % BANKS}: ${by}${lanes ? `; ${plural(lanes, "lane")} of this step` : ""}`;
}

// Each buffer word by word, a column for each bank where there are many: empty until something is stored there.
function showShared(now, frame) {
    const box = $("shared"), program = now.program, code = now.run.code;
    const words = sharedAt(program, frame), touched = touchedWords(program, frame),
          cost = sharedCostOf(program, program.steps[frame.step]);
    const newest = Math.max(-1, ...new Set([...words.values()].map((x) => x.step))),
          key = [now.run.index, now.number, touched.size ? frame.step : -1, newest === frame.step, newest].join();
    $("stage").classList.toggle("shares", touched.size > 0);
    if (box.key === key && box.childElementCount) return;
    box.key = key;
    box.replaceChildren();
    if (!code.shared) return;
    const say = make("p", {class: "say"}), numbers = [...words.values()].map(wordNumber).filter(Number.isFinite);
    const most = Math.max(0, ...numbers.map(Math.abs));
    const cell = (w, isBanked) => {
        const x = words.get(w), text = x ? wordText(x) : "";
        const c = make("div", {
            class:
                "cell" + (touched.has(w) ? " touched" : "") + (x ? x.step === frame.step ? " stored" : "" : " empty"),
            tabindex: -1,
            "data-word": w
        },
                       isBanked ? null : make("b", {}, `byte ${w * 4}`), text);
        if (x) paint(c, wordNumber(x), most, x.type);
        return c;
    };
    box.append(title("Shared memory",
                     `${code.shared} bytes${words.size ? "" : ", nothing stored yet"}; bank = word modulo ${BANKS}`));
    code.buffers.forEach((b, i) => {
        const first = b.offset >> 2, all = Math.ceil(b.bytes * b.stages / 4), n = Math.min(all, MOST_BANKED),
              isBanked = n > BANKS;
        const list = make("div", {class: isBanked ? "banks" : "words", "data-buffer": i});
        if (isBanked && cost.requests && [...touched.keys()].some((w) => w >= first && w < first + all))
            cost.banks.forEach((k, bank) => list.append(make(
                                   "i", {class: k > 1 ? "conflict" : "", title: `bank ${bank}: ${plural(k, "word")}`},
                                   k ? String(k) : "")));
        for (let w = first; w < first + n; w++) list.append(cell(w, isBanked));
        box.append(make("p", {},
                        `b${i}: ${b.type}, ${plural(b.bytes, "byte")}${
                            b.stages > 1 ? ` in each of ${b.stages} stages`
                                         : ""} from byte ${b.offset}${n < all ? `; the first ${n} words` : ""}`),
                   list);
    });
    for (const list of box.querySelectorAll(".words, .banks")) list.querySelector(".cell").tabIndex = 0;
    box.append(say);
    box.tell = (e) => {
        const c = e.target.closest("[data-word]");
        if (c)
            say.textContent = sayWord(program, Number(c.dataset.word), words.get(Number(c.dataset.word)),
                                      touched.get(Number(c.dataset.word)));
    };
}

function listenToShared() {
    const box = $("shared");
    for (const event of ["pointerover", "focusin"]) box.addEventListener(event, (e) => box.tell && box.tell(e));
    box.addEventListener("keydown", (e) => {
        const by = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -BANKS, ArrowDown: BANKS}[e.key],
              next = by && box.querySelector(`[data-word="${Number(e.target.dataset.word) + by}"]`);
        if (!by) return;
        e.preventDefault();
        e.stopPropagation();
        if (next) next.focus();
    });
}

// ---- Words between the blocks of a program that are no cluster ------------------------------------------------------

// As they stand behind the frame: {word: {bits, round, by, type}}.
function wordsAt(program, frame) {
    return upTo(program, "words", frame.step, (words, i) => {
        for (const e of program.steps[i].e) {
            if (e.k !== "word store") continue;
            const where = program.addresses(e), raw = new Uint32Array(bytesOf(e.d).buffer),
                  type = typeOf(program, program.op(i));
            for (let t = 0; t < program.threads; t++)
                if (where[t] >= 0) words.set(where[t] >> 3, {bits: raw[2 * t], round: raw[2 * t + 1], by: t, type});
        }
    });
}

function showWords(now, frame) {
    const box = $("words"), program = now.program;
    box.replaceChildren();
    if (!now.run.together) return;
    const words = wordsAt(program, frame), touched = new Set(), perBlock = program.threads / now.run.blocks;
    for (const e of program.steps[frame.step].e)
        if (e.k.startsWith("word")) program.addresses(e).forEach((a) => a >= 0 && touched.add(a >> 3));
    const all = [...words.keys()].sort((a, b) => a - b), list = make("div", {class: "words"});
    for (const w of all.slice(0, MOST_WORDS)) {
        const x = words.get(w), text = wordText(x);
        list.append(make("div", {
            class: "cell" + (touched.has(w) ? " touched" : ""),
            title: `round ${x.round}, written by block ${Math.floor(x.by / perBlock)}`
        },
                         make("b", {}, `word ${w}`), text));
    }
    box.append(
        title("Words between blocks", `the program's ${now.run.blocks} blocks meet through global memory; ${
                                          all.length ? "a word is a value and its round" : "nothing written yet"}`),
        list);
}
