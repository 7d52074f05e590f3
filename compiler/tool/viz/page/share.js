// share.js - of the step that is shown: what it costs, a link to it, a picture of its tile.
//
// In: the frame, its exchanges with an address per thread. Out: a sentence, the page's address, an SVG file.

const SECTOR = 32; // bytes
const BANKS = 32;

// ---- What it costs --------------------------------------------------------------------------------------------------

// The addresses of each warp's lanes that take part.
function requestsOf(where) {
    const warps = [];
    for (let first = 0; first < where.length; first += warpSize) {
        const at = Array.from(where.slice(first, first + warpSize));
        if (at.some((a) => a >= 0)) warps.push(at);
    }
    return warps;
}

function sectorsOf(lanes, bytes) {
    const found = new Set();
    for (const a of lanes.filter((at) => at >= 0)) {
        found.add(Math.floor(a / SECTOR));
        found.add(Math.floor((a + bytes - 1) / SECTOR));
    }
    return found.size;
}

// What banks of shared memory do at once for some lanes: in 32 banks a word of 4 bytes each. [most words of one bank,
// words of each bank]
function banksOf(lanes, bytes) {
    const words = new Set(), banks = new Array(BANKS).fill(0);
    for (const a of lanes)
        for (let b = 0; a >= 0 && b < bytes; b += 4) words.add(Math.floor((a + b) / 4));
    for (const w of words) banks[w % BANKS]++;
    return {most: Math.max(...banks), banks};
}

// The groups of lanes that go together (as count.c of the emulator has it): all, for 8 bytes halves, for 16 quarters.
// Of loads two groups go together where neighbours, or lanes two apart, want the same.
function groupsOf(lanes, bytes, isLoad) {
    const size = warpSize >> (bytes > 8 ? 2 : bytes > 4 ? 1 : 0), groups = [];
    const alike = (both, bit) => both.every((a, i) => a < 0 || (both[i ^ bit] ?? -1) < 0 || a === both[i ^ bit]);
    for (let first = 0, n = 0; first < warpSize; first += n) {
        const mayJoin = isLoad && size < warpSize && first % (2 * size) === 0,
              both = lanes.slice(first, first + 2 * size);
        n = mayJoin && (alike(both, 1) || alike(both, 2)) ? 2 * size : size;
        const group = lanes.slice(first, first + n);
        if (group.some((a) => a >= 0)) groups.push(group);
    }
    return groups;
}

// Of shared memory: a wavefront is what the banks do at once; more of them than groups are conflicts. `banks`: the
// words that the worst group wants of each bank.
function sharedCostOf(program, step) {
    const cost = {requests: 0, wavefronts: 0, conflicts: 0, most: 0, banks: new Array(BANKS).fill(0)};
    for (const e of step.e) {
        if (!/^shared (load|store)$/.test(e.k)) continue;
        for (const lanes of requestsOf(program.addresses(e))) {
            cost.requests++;
            for (const group of groupsOf(lanes, e.b, e.k === "shared load")) {
                const {most, banks} = banksOf(group, e.b);
                cost.wavefronts += most;
                cost.conflicts += most - 1;
                if (most > cost.most) Object.assign(cost, {most, banks});
            }
        }
    }
    return cost;
}

// Instructions of PTX that the step's op is, and the issue slots that they take, one for each warp. isMost: some stand
// in branches that a warp may leave out.
function issueOf(program, step) {
    const op = program.code.byOp.get(step.o), lines = program.code.ptxLines, all = instructionsOf(program.code, op);
    const first = lines.indexOf(all[0]), last = lines.indexOf(all[all.length - 1]);
    const isMost = lines.slice(first, last + 1).some((l) => /^(\$L|@?.*\bbra\b)/.test(l.text.trim()));
    const instructions = op.kind === "for" || op.kind === "while" || op.kind === "if" ? 0 : all.length;
    return {instructions, slots: instructions * Math.ceil(program.threads / warpSize), isMost};
}

// Of the accesses of global memory: an access instruction of a warp is a request, and moves whole sectors.
function costOf(program, step) {
    const cost = {requests: 0, asked: 0, sectors: 0};
    for (const e of step.e) {
        if (!/^(load|store|atomic)$/.test(e.k)) continue;
        for (const lanes of requestsOf(program.addresses(e))) {
            cost.requests++;
            cost.asked += e.b * lanes.filter((a) => a >= 0).length;
            cost.sectors += sectorsOf(lanes, e.b);
        }
    }
    return cost;
}

// What the step costs, each in a few words: [text, is it dear?].
function costsSaid(program, step) {
    const c = costOf(program, step), said = [], shuffles = step.e.filter((e) => e.k.startsWith("shuffle")).length;
    const s = sharedCostOf(program, step), issue = issueOf(program, step),
          warps = Math.ceil(program.threads / warpSize);
    if (c.requests) {
        const share = Math.round(100 * c.asked / (SECTOR * c.sectors));
        said.push(
            [`${plural(c.requests, "request")} of a warp move ${plural(c.sectors, "sector")} of 32 bytes`, false]);
        said.push([`${plural(c.asked, "byte")} asked for: ${share} % of what moves`, share < 50]);
    }
    if (s.requests) {
        const are = `${plural(s.requests, "request")} of a warp to shared memory: ${plural(s.wavefronts, "wavefront")}`;
        said.push([are, false]);
        said.push([
            s.conflicts ? `${plural(s.conflicts, "bank conflict")}: lanes want up to ${s.most} words of one bank`
                        : "no bank conflicts",
            s.conflicts > 0
        ]);
    }
    if (shuffles) said.push([`${plural(shuffles, "shuffle")} of each warp, one behind the other`, false]);
    if (step.e.some((e) => e.k === "barrier")) said.push(["all warps wait at a barrier", false]);
    if (issue.slots)
        said.push([
            `${issue.isMost ? "at most " : ""}${plural(issue.slots, "issue slot")}: ${
                plural(issue.instructions, "instruction")} × ${plural(warps, "warp")}`,
            false
        ]);
    return said;
}

// ---- A link ---------------------------------------------------------------------------------------------------------

// #run=0&program=2&step=7&part=1: part counts the frames of the step.
function linkOf(now) {
    const frame = now.frames[now.index], link = new URLSearchParams({run: now.run.index, program: now.number});
    if (frame) {
        link.set("step", frame.step);
        link.set("part", now.index - now.frames.findIndex((f) => f.step === frame.step));
    }
    return "#" + link;
}

// {run, program, step, part}, or null: the page's address names no step.
function linked() {
    const link = new URLSearchParams(location.hash.slice(1));
    if (!link.has("run") || !runs[Number(link.get("run"))]) return null;
    return Object.fromEntries(["run", "program", "step", "part"].map((k) => [k, Number(link.get(k) || 0)]));
}

function copyLink(now) {
    history.replaceState(null, "", linkOf(now));
    const said = () => {
        $("link").textContent = "Copied";
        setTimeout(() => $("link").textContent = "Link", 1200);
    };
    if (navigator.clipboard) navigator.clipboard.writeText(location.href).then(said, () => {});
}

// ---- A picture ------------------------------------------------------------------------------------------------------

const svg = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

// The tile as it stands there, with its sentence: vector graphics of one file.
function pictureOf() {
    const style = (e) => getComputedStyle(e), box = $("tile").getBoundingClientRect(), head = 44;
    const cells = [...$("tile").children].map((cell) => {
        const r = cell.getBoundingClientRect(), s = style(cell), x = r.left - box.left + $("tile").scrollLeft,
              y = r.top - box.top + $("tile").scrollTop + head;
        const tint = /^linear-gradient\((rgba?\([^)]*\))/.exec(s.backgroundImage), // by size and sign
            dash = cell.classList.contains("masked") ? ` stroke="${s.color}" stroke-dasharray="3 2"` : "";
        const rect = (fill) => `<rect x="${x}" y="${y}" width="${r.width}" height="${r.height}" rx="4" fill="${fill}"` +
                               `${dash} opacity="${s.opacity}"/>`;
        return rect(s.backgroundColor) + (tint ? rect(tint[1]) : "") +
               `<text x="${x + r.width / 2}" y="${y + r.height / 2 + 4}" text-anchor="middle" fill="${s.color}" ` +
               `font-size="${s.fontSize}">${svg(cell.textContent)}</text>`;
    });
    const body = style(document.body), width = Math.ceil(Math.max(box.width, $("tile").scrollWidth)),
          height = Math.ceil($("tile").scrollHeight) + head;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif">` +
           `<rect width="100%" height="100%" fill="${body.backgroundColor}"/>` +
           `<text x="4" y="17" font-size="15" fill="${body.color}">${svg($("sentence").textContent)}</text>` +
           `<text x="4" y="35" font-size="12" fill="${body.color}">${svg($("detail").textContent)}</text>` +
           `${cells.join("")}</svg>\n`;
}

function savePicture(now) {
    const url = URL.createObjectURL(new Blob([pictureOf()], {type: "image/svg+xml"}));
    make("a", {href: url, download: `${now.run.code.kernel}-${now.number}-${now.index + 1}.svg`}).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}
