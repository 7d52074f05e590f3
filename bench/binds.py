#!/usr/bin/env python3
"""binds.py --fsc bin/fsc [--ncu ncu] [--out FILE.csv] KERNEL:ROWSxN:DTYPE …

Which resource binds: each point is one launch of an example under Nsight Compute (its arguments: counters.txt), and the
table shows how busy memory, the caches, the instructions' issue and the special-function units were, the warps that a
multiprocessor had, and what these waited for the most. A few waves of rows tell as much as all of them. Needs ncu and
permission to read the counters; clocks are left as they are.
"""
import argparse
import csv
import os
import sys
import tempfile

import counters

PEAKS = {"memory": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
         "L2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
         "L1": "l1tex__throughput.avg.pct_of_peak_sustained_active",
         "issue": "smsp__issue_active.avg.pct_of_peak_sustained_active",
         "special": "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
         "warps": "sm__warps_active.avg.pct_of_peak_sustained_active"}
STALLS = ("long_scoreboard", "barrier", "membar", "lg_throttle", "mio_throttle", "short_scoreboard",
          "math_pipe_throttle", "wait", "not_selected", "drain", "imc_miss", "no_instruction", "sleeping",
          "branch_resolve", "dispatch_stall")
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"


def point_of(text):
    kernel, shape, dtype = text.split(":")
    rows, n = (int(x) for x in shape.split("x"))
    return kernel, rows, n, dtype


def words_of(kernel, rows, n, dtype):
    words = [w.format(R=rows, N=n, RN=rows * n, T=dtype) for w in counters.cases()[kernel]]
    return ["smoothing=0" if w.startswith("smoothing=") else w for w in words]


def measure(o, point, folder):
    kernel, rows, n, dtype = point
    metrics = [(name, metric, None) for name, metric in PEAKS.items()] + [(s, STALL.format(s), None) for s in STALLS]
    values = counters.measure(o, metrics, folder, f"{o.examples}/{kernel}.dsl", words_of(*point), kernel,
                              ("--clock-control", "none"))
    row = {"kernel": kernel, "rows": rows, "n": n, "dtype": dtype}
    row.update({name: round(values.get(metric, float("nan")), 1) for name, metric in PEAKS.items()})
    waits = sorted(((values.get(STALL.format(s), 0), s) for s in STALLS), reverse=True)
    row["waits"] = ", ".join(f"{s} {x:.1f}" for x, s in waits[:3])
    return row


def main(argv):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--fsc", default="bin/fsc")
    p.add_argument("--ncu", default="ncu")
    p.add_argument("--examples", default="dsl_examples")
    p.add_argument("--out")
    p.add_argument("points", nargs="+", type=point_of, metavar="KERNEL:ROWSxN:DTYPE")
    o = p.parse_args(argv)
    o.fsc, o.examples = os.path.abspath(o.fsc), os.path.abspath(o.examples)
    with tempfile.TemporaryDirectory() as folder:
        found = []
        for point in o.points:
            found.append(measure(o, point, folder))
            print("  ".join(f"{k} {v}" for k, v in found[-1].items()), flush=True)
    if o.out:
        with open(o.out, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, found[0].keys())
            writer.writeheader()
            writer.writerows(found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
