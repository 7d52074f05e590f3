#!/usr/bin/env python3
"""page.py - the tables of a result page, from the CSV of a run: page.py CSV PAGE writes them anew, page.py --check CSV
PAGE fails where the page does not hold what the CSV says.

In: the CSV that report.py wrote; a page with lines `<!-- table: NAME -->` and `<!-- end -->`. Out: the page, with the
table NAME between them. Points and peers that the run left out are left out here. The CSV has medians, no samples, so a
point misses an aim against its best peer where it is below by more than SLACK, which stands for report.py's interval.
"""
import csv
import os
import re
import sys

from points import BOUNDS, CLIFFS, LEAST_GEOMEANS, SETS, bounds_of
from report import OWN, Ratio, is_peer, misses, point_name
from stats import geomean

SLACK = 0.01
# The driver's copy of some sizes is slow: where our copy kernel is so many times as fast, that one is the copy.
SLOW_COPY = 1.25
MODES = ("flush", "graph")
SWEEP = (256, 512, 1024, 2048, 4096, 6144, 8192, 8320, 10240, 12288, 12672)  # the lengths of 98 that the page shows
TITLES = {"copy": "copy", OWN: OWN, "cuda": "CUDA", "triton_row": "Triton row", "triton": "tutorial",
          "liger": "Liger", "quack": "QuACK", "torch": "torch", "torch_compile": "torch.compile",
          "torch_jit": "torch.jit", "torch_naive": "torch naive", "fsc_naive": "fsc naive"}
BY_LENGTH = ("whole", "anywhere", "backward", "mixed", "columns")  # whose points all stand in a table
NONE = "—"


def read(path):
    """{(set, point): {mode: point as report.judge makes it}}, in the order of points.py."""
    found = {}
    with open(path, newline="") as f:
        for row in csv.DictReader(f):
            key = (row["set"], row["kernel"], int(row["rows"]), int(row["n"]), row["dtype"])
            bare = {"set": key[0], "kernel": key[1], "rows": key[2], "n": key[3], "dtype": key[4], "ms": {}, "gbps": {}}
            p = found.setdefault(key, {}).setdefault(row["mode"], bare)
            p["ms"][row["peer"]], p["gbps"][row["peer"]] = float(row["ms"]), float(row["gbps"])
    for modes in found.values():
        for p in modes.values():
            judge(p)
    order = [(name, *point[:4]) for name, s in SETS.items() for point in s.points]
    return {key: found[key] for key in order if key in found}


def judge(p):
    """Adds bytes, the copy and the best peer that count, and the ratios of fsc to them."""
    ms = p["ms"]
    p["bytes"] = max(p["gbps"][name] * ms[name] * 1e6 for name in ms)
    p["copy"] = "copy_kernel" if ms.get("copy", 0) > SLOW_COPY * ms.get("copy_kernel", float("inf")) else "copy"
    p["best"] = min(filter(is_peer, ms), key=ms.get, default=None)
    p["against"] = {}
    for against in ("copy", "best"):
        if OWN in ms and p[against] in ms:
            value = ms[p[against]] / ms[OWN]
            p["against"][against] = Ratio(value, value * (1 - SLACK), value * (1 + SLACK))


def title(peer):
    return TITLES.get(peer, peer)


def table(head, rows):
    return [f"| {' | '.join(map(str, row))} |" for row in (head, ["---"] * len(head), *rows)]


def rate(p, peer):
    return f"{p['gbps'][peer]:.0f}" if p and peer in p["gbps"] else NONE


def ratio(p, against, digits=2):
    return f"{p['against'][against].value:.{digits}f}" if p and against in p["against"] else NONE


def both(modes, against, digits=2):
    """The ratios of a point, after a flush and in graphs."""
    return ", ".join(ratio(modes.get(mode), against, digits) for mode in MODES)


def cells(modes):
    """Copy, fsc and best peer in GB/s after a flush; of copy, of the best peer."""
    p = modes.get("flush") or modes.get("graph")
    if not p:
        return [NONE] * 5
    best = f"{rate(p, p['best'])} {title(p['best'])}" if p["best"] else NONE
    return [rate(p, p["copy"]), rate(p, OWN), best, both(modes, "copy"), both(modes, "best")]


def of_set(points, name):
    return [modes for key, modes in points.items() if key[0] == name]


def size(modes):
    p = next(iter(modes.values()))
    return p["n"], p["rows"], p["dtype"], p["kernel"]


def name_of(modes):
    p = next(iter(modes.values()))
    return ("" if p["kernel"] == "softmax" else p["kernel"] + " ") + point_name(p)


# ---- The tables, each with the name of its function ------------------------------------------------------------------


def run(points):
    """How much was measured, and what was not."""
    sets = dict.fromkeys(key[0] for key in points)
    wanted = sum(len(SETS[name].points) for name in sets)
    own = [p for modes in points.values() for p in modes.values() if OWN in p["ms"]]
    least = {name: len(SETS[name].points) - len(of_set(points, name)) for name in sets}
    left = ", ".join(f"{count} of `{name}`" for name, count in least.items() if count)
    others = max((len(p["ms"]) for p in own), default=1) - 1
    return [f"{len(points)} of {wanted} points; {len(own)} measurements of fsc, each beside up to {others} others.",
            f"Points that were not measured: {left or 'none'}."]


def shares(group, mode, against):
    """The ratios of points, where they have one."""
    found = [modes[mode]["against"] for modes in group if mode in modes]
    return [ratios[against].value for ratios in found if against in ratios]


def standing(points):
    """How fsc stands, a line for each set, kernel and type: geometric mean and least."""
    groups = {}
    for key in sorted(points, key=lambda key: (list(SETS).index(key[0]), ("fp32", "fp16", "bf16").index(key[4]))):
        groups.setdefault((key[0], f"{key[1]} {key[4]}"), []).append(points[key])
    rows = []
    for names, group in groups.items():
        ratios = [shares(group, mode, against) for against in ("copy", "best") for mode in MODES]
        rows.append([*names, len(group), *(f"{geomean(own):.3f}, {min(own):.3f}" if own else NONE for own in ratios)])
    return table(["set", "kernel", "points", "of copy, flush", "graph", "of the best peer, flush", "graph"], rows)


def sweep(points):
    """GB/s of all peers at some lengths of the sweep, after a flush."""
    chosen = [m["flush"] for m in of_set(points, "tutorial") if "flush" in m and m["flush"]["n"] in SWEEP]
    chosen.sort(key=lambda p: p["n"])
    peers = [name for name in TITLES if any(name in p["gbps"] for p in chosen)]
    rows = [[p["n"], *(rate(p, name) for name in peers), ratio(p, "copy", 3), ratio(p, "best", 3)] for p in chosen]
    return table(["N", *map(title, peers), "of copy", "of best"], rows)


def cliffs(points):
    """A line for each length where peers fall off, with its neighbours, after a flush; and in graphs."""
    by_name = {name_of(modes): modes for modes in of_set(points, "cliffs")}
    rows = {mode: [] for mode in MODES}
    for _, height, n, dtype, _ in SETS["cliffs"].points[: len(CLIFFS)]:
        near = [by_name.get(f"{height} × {n + by} {dtype}", {}) for by in (-1, 0, 1)]
        for mode in MODES if any(near) else ():
            ratios = [[ratio(modes.get(mode), whom) for modes in near] for whom in ("copy", "best")]
            rates = cells(near[1])[:3] if mode == "flush" else []
            rows[mode].append([f"{height} × {n} {dtype}", *rates, *map(", ".join, ratios)])
    head = ["of copy at N − 1, N, N + 1", "of the best peer at N − 1, N, N + 1"]
    return [*table(["rows × N", "copy", "fsc", "the best peer", *head], rows["flush"]), "",
            *table(["rows × N, graph", *head], rows["graph"])]


def few(points):
    """A line for each size of few rows."""
    head = ["rows × N", "copy", "fsc", "the best peer", "of copy: flush, graph", "of the best: flush, graph"]
    return table(head, [[name_of(modes), *cells(modes)] for modes in sorted(of_set(points, "few"), key=size)])


def lengths(points):
    """Of each set of lengths: a line for each kernel and type, of copy and of QuACK after a flush, by length."""
    lines = []
    for name in ("whole", "anywhere", "backward"):
        group = of_set(points, name)
        columns = sorted({size(modes)[0] for modes in group})
        for whom, of in (("of copy", lambda p: ratio(p, "copy")), ("of QuACK", of_quack)):
            rows = {}
            for modes in group:
                n, _, dtype, kernel = size(modes)
                rows.setdefault(f"{kernel} {dtype}", {})[n] = of(modes.get("flush"))
            rows = [[label, *(by.get(n, NONE) for n in columns)] for label, by in rows.items()
                    if any(cell != NONE for cell in by.values())]
            if rows:
                lines += ([""] if lines else []) + table([f"{name}, {whom}", *columns], rows)
    return lines


def of_quack(p):
    return f"{p['ms']['quack'] / p['ms'][OWN]:.2f}" if p and {"quack", OWN} <= p["ms"].keys() else NONE


def others(points):
    """A line for each point of numbers of 8 bits, and of columns."""
    head = ("kernel, rows × N", "copy", "fsc", "the best peer", "of copy: flush, graph", "of the best: flush, graph")
    return table(head, [[name_of(modes), *cells(modes)] for name in ("mixed", "columns")
                        for modes in of_set(points, name)])


def kernels(points):
    """A line for each kernel and size, in fp32; and in bf16."""
    rows, order = {"fp32": [], "bf16": []}, [p.kernel for p in SETS["kernels"].points]
    for modes in sorted(of_set(points, "kernels"), key=lambda modes: (order.index(size(modes)[3]), size(modes))):
        n, height, dtype, kernel = size(modes)
        rows[dtype].append([f"{kernel} {height} × {n}", *cells(modes)])
    head = ("copy", "fsc", "the best peer", "of copy: flush, graph", "of the best: flush, graph")
    return [*table(["rows × N, fp32", *head], rows["fp32"]), "", *table(["rows × N, bf16", *head], rows["bf16"])]


def aims(points):
    """A row for each aim: how many points reach it in each way of timing; and one for each point below it."""
    missed = {(id(p), bound) for p, bound, _ in misses([p for modes in points.values() for p in modes.values()])}
    rows, short_of = [], []
    for (name, dtype), least in LEAST_GEOMEANS.items():
        own = [modes for modes in of_set(points, name) if size(modes)[2] == dtype]
        reached = [f"{geomean(r):.3f}" if r else NONE for r in (shares(own, mode, "copy") for mode in MODES)]
        if own:
            rows.append([name, f"{least:.2f} of copy, geometric mean", *reached])
    for bound in BOUNDS:
        own = [modes for modes in of_set(points, bound.set) if bound in bounds_of(next(iter(modes.values())))]
        own.sort(key=size)
        if not own:
            continue
        kept, below = [], {}
        for mode in MODES:
            judged = [modes for modes in own if mode in modes and bound.against in modes[mode]["against"]]
            short = [modes for modes in judged if (id(modes[mode]), bound) in missed]
            below.update((name_of(modes), modes) for modes in short)
            kept.append(f"{len(judged) - len(short)} of {len(judged)}")
        whom = {"copy": "copy", "best": "the best peer"}[bound.against]
        aim = [bound.set, f"{bound.least:.2f} of {whom}, {bound.where}"]
        rows.append([*aim, *kept])
        if bound.set not in BY_LENGTH:
            short_of += ([*aim, name, both(modes, bound.against, 3)] for name, modes in below.items())
    return [*table(["set", "aim", "reached, flush", "graph"], rows), "",
            *table(["set", "aim", "below it", "flush, graph"], short_of)]


TABLES = {make.__name__: make for make in (run, standing, sweep, lengths, others, cliffs, few, kernels, aims)}
MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->\n)", re.S)


def page(text, points):
    return MARKED.sub(lambda m: m[1] + "\n".join(TABLES[m[2]](points)) + "\n" + m[3], text)


def main(arguments):
    is_check = arguments[:1] == ["--check"]
    if len(arguments) != 2 + is_check:
        sys.exit("use: page.py [--check] CSV PAGE")
    source, path = arguments[-2:]
    with open(path, encoding="utf-8") as f:
        old = f.read()
    absent = TABLES.keys() - {m[2] for m in MARKED.finditer(old)}
    if absent:
        sys.exit(f"page: {path} has no table {', '.join(sorted(absent))}")
    new = page(old, read(source))
    if is_check and new != old:
        sys.exit(f"page: {path} is not what {os.path.basename(source)} says: run bench/page.py {source} {path}")
    if not is_check:
        with open(path, "w", encoding="utf-8") as f:
            f.write(new)


if __name__ == "__main__":
    main(sys.argv[1:])
