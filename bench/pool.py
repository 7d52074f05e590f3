#!/usr/bin/env python3
"""pool.py - one ratio a point from several processes that measured the same: pool.py FILE.jsonl…

In: the samples that `bench.py --uncached --turn N` or `--beside FOLDER --turn N` wrote, a file a process. Out: for each
point the default's time, and the speed of the other fsc and of fsc once more (chance alone) to the default: geometric
mean of the processes' ratios of medians, with its 95 % interval by Student's t; exit status 1 where the other differs
by more than LIMIT and the interval does not reach so near.
"""
import math
import statistics
import sys

from report import point_name, read

LIMIT = 0.01
OTHERS = {"fsc_uncached": "cache off", "fsc_beside": "the other build"}
STUDENT = {2: 12.71, 3: 4.30, 4: 3.18, 5: 2.78, 6: 2.57, 7: 2.45, 8: 2.36, 9: 2.31}  # 97.5 %, by number of processes


def pooled(ratios):
    """(mean, low, high)"""
    logs = [math.log(r) for r in ratios]
    mean = statistics.fmean(logs)
    half = STUDENT.get(len(logs), 2.31) * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf
    return tuple(math.exp(x) for x in (mean, mean - half, mean + half))


def differs(ratio):
    _, low, high = ratio
    return low > 1 + LIMIT or high < 1 - LIMIT


def pool(runs, other="fsc_uncached"):
    """Point → (ms, name → pooled ratio); a run is the points of a process."""
    found = {}
    for run in runs:
        for p in run:
            found.setdefault((p["kernel"], point_name(p), p["mode"]), []).append(p["ms"])
    return {key: (statistics.median(ms["fsc"] for ms in all_ms),
                  {name: pooled([ms["fsc"] / ms[name] for ms in all_ms]) for name in (other, "fsc_again")})
            for key, all_ms in found.items() if all({"fsc", other, "fsc_again"} <= set(ms) for ms in all_ms)}


def main(paths):
    runs = [read(path)[1] for path in paths]
    other = next((name for name in OTHERS if any(name in p["ms"] for run in runs for p in run)), "fsc_uncached")
    points = pool(runs, other)
    wrong = 0
    print(f"| point | us | {OTHERS[other]} | once more |\n| --- | --- | --- | --- |")
    for (kernel, name, mode), (ms, ratios) in points.items():
        cells = ["%.4f (%.4f … %.4f)" % ratios[peer] for peer in (other, "fsc_again")]
        wrong += differs(ratios[other])
        print(f"| {kernel} {name} {mode} | {ms * 1e3:.1f} | {' | '.join(cells)} |")
    print(f"{len(points)} points of {len(paths)} processes, {wrong} beyond {LIMIT:.0%}")
    return 1 if wrong or not points else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
