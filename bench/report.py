#!/usr/bin/env python3
"""report.py - from raw samples to CSV, JSON, Markdown and plots: report.py BASE reads BASE.jsonl and writes BASE.csv,
BASE.json, BASE.md and BASE-SET.svg.

In: the lines that bench.py wrote. Out: GB/s of every peer; how fsc stands to the copy and to the best peer, with the
95 % interval of the paired bootstrap; the points that miss the bounds of points.py. No GPU is needed.
"""
import csv
import json
import sys
from collections import namedtuple

import svg
from points import BOUNDS, LEAST_GEOMEANS, SETS, bounds_of
from stats import geomean, median, speed_ratio

OWN = "fsc"
Ratio = namedtuple("Ratio", "value low high")


def rate(total, ms):
    return total / ms * 1e-6


def is_peer(name):
    return not name.startswith(("copy", "fsc"))


def read(path):
    """What the machine is, the points, the points that failed."""
    with open(path) as f:
        lines = [json.loads(line) for line in f]
    points = [line for line in lines if "samples" in line]
    return lines[0]["machine"], [judge(p) for p in points], [line for line in lines if "failed" in line]


def judge(p):
    """The point with its medians, and where fsc was measured its ratios."""
    samples = {name: times for name, times in p["samples"].items() if times}
    p["ms"] = {name: median(times) for name, times in samples.items()}
    p["gbps"] = {name: rate(p["bytes"], ms) for name, ms in p["ms"].items()}
    others = [name for name in p["ms"] if is_peer(name)]
    p["best"] = min(others, key=p["ms"].get) if others else None
    p["against"] = {}
    for against, name in (("copy", "copy"), ("best", p["best"])):
        if OWN in samples and name in samples:
            p["against"][against] = Ratio(*speed_ratio(samples[OWN], samples[name]))
    return p


def point_name(p):
    return f"{p['rows']} × {p['n']} {p['dtype']}"


def peers_of(points):
    """The copies, fsc, then the others as they come."""
    names = dict.fromkeys(name for p in points for name in p["gbps"])
    return sorted(names, key=lambda name: ("copy" not in name, not name.startswith(OWN)))


def groups(points):
    """(set, mode) → its points, in order of kernel, type and size."""
    found = {}
    for p in sorted(points,
                    key=lambda p: (list(SETS).index(p["set"]), p["mode"], p["kernel"], p["dtype"], p["n"], p["rows"])):
        found.setdefault((p["set"], p["mode"]), []).append(p)
    return found


# ---- Bounds ----------------------------------------------------------------------------------------------------------


def misses(points):
    """(point, bound, ratio) of those below a bound; against the best peer only where the whole interval is below."""
    found = []
    for p in points:
        for b in bounds_of(p):
            ratio = p["against"].get(b.against)
            if ratio and (ratio.value if b.against == "copy" else ratio.high) < b.least:
                found.append((p, b, ratio))
    return found


def write_misses(points, out):
    judged = [p for p in points if any(b.set == p["set"] for b in BOUNDS)]
    if not judged:
        return
    found = misses(judged)
    out.append(f"## Points below their bounds: {len(found)} of {len(judged)} measurements\n")
    if found:
        out.append("| set | kernel | point | mode | against | least | measured | interval | fsc's block |\n"
                   "| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for p, b, r in found:
        name = p["best"] if b.against == "best" else "copy"
        out.append(f"| {p['set']} | {p['kernel']} | {point_name(p)} | {p['mode']} | {name} | {b.least:.2f} ({b.where}) "
                   f"| {r.value:.3f} | "
                   f"{r.low:.3f} … {r.high:.3f} | {facts_text(p['own'])} |")
    out.append("")


def write_spills(points, out):
    spilled = {f"{p['kernel']} {point_name(p)}": p["own"]["spill_bytes"] for p in points if p["own"].get("spill_bytes")}
    if any(p["own"].get("registers") for p in points):
        out.append("Registers spilled by fsc: " +
                   (", ".join(f"{name} ({count} bytes)" for name, count in spilled.items()) or "none") + ".\n")


# ---- Tables ----------------------------------------------------------------------------------------------------------


def at_least(shares):
    """Geomean and least of [(ratio, point)], as cells."""
    if not shares:
        return "— | — | —"
    least, at = min(shares, key=lambda item: item[0])
    return f"{geomean([share for share, _ in shares]):.3f} | {least:.3f} | {at['rows']} × {at['n']}"


def by_kernel(points):
    """(kernel, dtype) → its points."""
    found = {}
    for p in points:
        found.setdefault((p["kernel"], p["dtype"]), []).append(p)
    return found


def write_standing(name, mode, points, out):
    """How fsc stands, a line for each kernel and type."""
    out.append(f"### {name}, {mode}: fsc\n\n| kernel | points | of copy, geomean | min | at | of the best peer, "
               "geomean | min | at |\n"
               "| --- | --- | --- | --- | --- | --- | --- | --- |")
    for (kernel, dtype), own in by_kernel(points).items():
        cells = [at_least([(p["against"][key].value, p) for p in own if key in p["against"]])
                 for key in ("copy", "best")]
        out.append(f"| {kernel} {dtype} | {len(own)} | {' | '.join(cells)} |")
    for (bound_set, dtype), least in LEAST_GEOMEANS.items():
        shares = [p["against"]["copy"].value for p in points if p["dtype"] == dtype and "copy" in p["against"]]
        if bound_set == name and shares:
            reached = geomean(shares)
            out.append(f"\nGeomean of fsc in {dtype}: {reached:.3f}, {'as' if reached >= least else 'LESS than'} "
                       f"wanted ({least}).")
    out.append("")


def write_peers(name, mode, points, out):
    """A line for each peer: how it stands to the copy over the points it was measured at."""
    out.append(f"### {name}, {mode}: share of the copy\n\n| peer | points | geomean | min | at |\n| --- | --- | --- | "
               "--- | --- |")
    for (kernel, dtype), own in by_kernel(points).items():
        for peer in peers_of(own):
            shares = [(p["gbps"][peer] / p["gbps"]["copy"], p) for p in own
                      if peer in p["gbps"] and "copy" in p["gbps"]]
            if peer != "copy" and shares:
                out.append(f"| {kernel} {dtype}, {peer} | {len(shares)} | {at_least(shares)} |")
    out.append("")


def ratio_text(r):
    return f"{r.value:.3f}" if r else "—"


def facts_text(own):
    """What fsc's variant takes: threads a block, registers, what limits the blocks a multiprocessor holds."""
    if not own.get("registers"):
        return "—"
    spills = f", {own['spill_bytes']} bytes spilled" if own["spill_bytes"] else ""
    return (f"{own['threads']} threads, {own['registers']} registers, {own['blocks_per_sm']} blocks by "
            f"{own['limit']}{spills}")


def write_table(name, mode, points, out):
    peers = peers_of(points)
    out.append(f"### {name}, {mode}: GB/s\n\n| point | {' | '.join(peers)} | fsc / copy | fsc / best | best | fsc's "
               "block |\n"
               f"| --- |{' --- |' * (len(peers) + 4)}")
    for p in points:
        kernel = "" if p["kernel"] == "softmax" else p["kernel"] + " "
        rates = " | ".join(f"{p['gbps'][n]:.0f}" if n in p["gbps"] else "—" for n in peers)
        copy, best = p["against"].get("copy"), p["against"].get("best")
        interval = f" ({best.low:.3f} … {best.high:.3f})" if best else ""
        out.append(f"| {kernel}{point_name(p)} | {rates} | {ratio_text(copy)} | {ratio_text(best)}{interval} | "
                   f"{p['best'] or '—'} | "
                   f"{facts_text(p['own'])} |")
    out.append("")


def write_trouble(points, failed, out):
    """Wrong results, and why peers are missing, each reason once."""
    lines = [f"- WRONG: {p['kernel']} {point_name(p)}: {peer}: {why}" for p in points
             for peer, why in p["wrong"].items()]
    lines += [f"- failed: {p['kernel']} {point_name(p)}: {p['failed']}" for p in failed]
    reasons = {}
    for p in points:
        for peer, why in p["skipped"].items():
            reasons.setdefault((peer, why), []).append(f"{p['kernel']} {point_name(p)}")
    lines += [f"- {peer} left out at {len(set(where))} points ({where[0]}, …): {why}"
              for (peer, why), where in reasons.items()]
    if lines:
        out.append("## Left out, failed, wrong\n\n" + "\n".join(dict.fromkeys(lines)) + "\n")


def markdown(machine, points, failed, is_brief=False):
    """All tables, or without those of every point."""
    out = ["# Measured on " + ", ".join(f"{key} {value}" for key, value in machine.items()) + "\n"]
    for (name, mode), own in groups(points).items():
        write_standing(name, mode, own, out)
    write_misses(points, out)
    write_spills(points, out)
    for (name, mode), own in {} if is_brief else groups(points).items():
        write_peers(name, mode, own, out)
        write_table(name, mode, own, out)
    write_trouble(points, failed, out)
    return "\n".join(out) + "\n"


# ---- Files -----------------------------------------------------------------------------------------------------------


def flat(points):
    """A row for each peer of each point."""
    for p in points:
        for name, ms in p["ms"].items():
            copy = p["ms"].get("copy")
            yield {"set": p["set"], "kernel": p["kernel"], "rows": p["rows"], "n": p["n"], "dtype": p["dtype"],
                   "mode": p["mode"], "peer": name, "samples": len(p["samples"][name]), "ms": f"{ms:.6g}",
                   "gbps": f"{p['gbps'][name]:.6g}", "of_copy": f"{copy / ms:.6g}" if copy else ""}


def write_csv(path, points):
    rows = list(flat(points))
    with open(path, "w", newline="") as f:
        writer = csv.DictWriter(f, fieldnames=list(rows[0]) if rows else ["set"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def write_json(path, machine, points, failed):
    def short(p):
        kept = {key: p[key] for key in ("set", "kernel", "rows", "n", "dtype", "mode", "bytes", "best", "gbps", "own",
                                        "wrong", "skipped")}
        return {**kept, "against": {key: r._asdict() for key, r in p["against"].items()}}

    below = [{"kernel": p["kernel"], "point": point_name(p), "mode": p["mode"], "against": b.against, "least": b.least,
              **r._asdict()}
             for p, b, r in misses(points)]
    with open(path, "w") as f:
        json.dump({"schema_version": 1, "machine": machine, "points": [short(p) for p in points], "below": below,
                   "failed": failed}, f, indent=1)
        f.write("\n")


def write_plots(base, machine, points):
    """A picture for each set with an axis, and dtype where it has several; of the flushed launches,
    and of graphs without these."""
    by_set = {}
    for p in points:
        if SETS[p["set"]].axis:
            by_set.setdefault((p["set"], p["kernel"], p["dtype"]), {}).setdefault(p["mode"], []).append(p)
    for (name, kernel, dtype), modes in by_set.items():
        own, axis = modes.get("flush") or modes["graph"], SETS[name].axis
        curves = {}
        for peer in peers_of(own):
            curves[peer] = [(p[axis], p["gbps"][peer]) for p in own if peer in p["gbps"]]
        suffix = f"-{name}-{dtype}" if kernel == "softmax" else f"-{name}-{kernel}-{dtype}"
        svg.write(base + suffix + ".svg", f"{SETS[name].title}, {kernel}, {dtype}, {machine['name']}",
                  {"n": "N (columns)", "rows": "rows"}[axis], "GB/s", curves)


def write(base):
    """The files; what a terminal should show."""
    machine, points, failed = read(base + ".jsonl")
    write_csv(base + ".csv", points)
    write_json(base + ".json", machine, points, failed)
    write_plots(base, machine, points)
    with open(base + ".md", "w") as f:
        f.write(markdown(machine, points, failed))
    return markdown(machine, points, failed, is_brief=True)


if __name__ == "__main__":
    print(write(sys.argv[1]))
