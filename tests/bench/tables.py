# Raw samples to tables: medians, the interval of a paired ratio, the bounds and who misses them, plots.
# No device is asked.
# RUN: rm -rf %t && mkdir %t && %python %s %bench %t
import json
import os
import sys

sys.path.insert(0, sys.argv[1])
import report  # noqa: E402
import svg  # noqa: E402
from points import SETS, bounds_of  # noqa: E402
from stats import geomean, speed_ratio  # noqa: E402

base = os.path.join(sys.argv[2], "made")


def point(name, rows, n, dtype, mode="flush", **samples):
    total = 2 * rows * n * (4 if dtype == "fp32" else 2)
    return {"set": name, "kernel": "softmax", "rows": rows, "n": n, "dtype": dtype, "mode": mode, "bytes": total,
            "samples": samples, "wrong": {}, "skipped": {"liger": "not there"},
            "own": {"threads": 128, "registers": 40, "blocks_per_sm": 12, "limit": "registers",
                                                                    "spill_bytes": 24 if n == 8193 else 0}}


def near(a, b):
    return abs(a - b) < 1e-9


# Statistics: the interval holds the ratio; noise that both share cancels, noise of one does not.
shared = [1 + 0.3 * (i % 7) for i in range(30)]
value, low, high = speed_ratio([t / 2 for t in shared], shared)
assert near(value, 2) and near(low, 2) and near(high, 2)
value, low, high = speed_ratio(shared, [1.9 for _ in shared])
assert low < value < high and high - low > 0.1
assert near(geomean([1, 4]), 2)

steady = lambda ms: [ms * (1 + 0.001 * (i % 3 - 1)) for i in range(30)]  # noqa: E731
points = [
    point("tutorial", 4096, 512, "fp32", copy=steady(1), fsc=steady(1 / 0.96), torch=steady(2)),        # all is well
    point("tutorial", 4096, 384, "fp32", copy=steady(1), fsc=steady(1 / 0.94), torch=steady(2)),        # 0.93 below 512
    point("tutorial", 4096, 640, "fp32", copy=steady(1), fsc=steady(1 / 0.94), torch=steady(2)),        # 0.95 from 512
    point("tutorial", 4096, 768, "fp32", "graph", copy=steady(1), fsc=steady(1), triton=steady(0.9)),   # a faster peer
    # within the interval
    point("tutorial", 4096, 896, "fp32", copy=steady(1), fsc=shared, cuda=[1.89] * 30),
    point("cliffs", 4096, 8193, "fp16", copy=steady(1), fsc=steady(1), cuda=steady(1.1)),               # 1.2 there
    point("cliffs", 4096, 4097, "fp32", copy=steady(1), fsc=steady(1), cuda=steady(1.1)),               # 1.03 there
    # small, and no peer
    point("cliffs", 1823, 781, "fp16", copy=steady(1), fsc=steady(2), copy_kernel=steady(1)),
    point("quick", 4096, 256, "fp32", copy=steady(1), fsc=steady(9), torch=steady(1)),                  # no bound
    # naive is no peer
    point("batch", 64, 4096, "fp16", copy=steady(1), fsc=steady(1), fsc_naive=steady(0.1)),
]
lost = {"set": "few", "kernel": "softmax", "rows": 8, "n": 512, "dtype": "fp32"}
points.append({**point("few", 1, 32, "fp32"), "wrong": {"fsc": "y: off by 2"}})  # nobody was right
with open(base + ".jsonl", "w") as f:
    for line in [{"machine": {"name": "Made <Up>"}}, *points, {**lost, "failed": "no memory"}]:
        f.write(json.dumps(line) + "\n")
brief = report.write(base)
assert "### tutorial, flush: GB/s" not in brief and "## Points below their bounds: 4 of 9" in brief, brief
with open(base + ".json") as f:
    written = json.load(f)
below = [(b["point"], b["against"], b["least"]) for b in written["below"]]
assert sorted(below) == [("4096 × 640 fp32", "copy", 0.95), ("4096 × 768 fp32", "best", 1.0),
                         ("4096 × 8193 fp16", "best", 1.2), ("4096 × 896 fp32", "copy", 0.95)], below
assert [p["best"] for p in written["points"]] == ["torch", "torch", "torch", "triton", "cuda", "cuda", "cuda", None,
                                                  "torch", None, None]
assert near(written["points"][0]["gbps"]["copy"], 2 * 4096 * 512 * 4 * 1e-6)

with open(base + ".md") as f:
    text = f.read()
for wanted in ("## Points below their bounds: 4 of 9 measurements",
               "| tutorial | softmax | 4096 × 768 fp32 | graph | triton | 1.00",
               "### tutorial, flush: GB/s", "LESS than wanted (0.99)",
               "| softmax fp16 | 2 | 0.707 | 0.500 | 1823 × 781 | 1.100 | 1.100 | 4096 × 8193 |",
               "| softmax fp32, cuda | 1 | 0.909 | 0.909 | 4096 × 4097 |", "liger left out at 11 points",
               "- failed: softmax 8 × 512 fp32: no memory", "- WRONG: softmax 1 × 32 fp32: fsc: y: off by 2",
               "| 4096 × 8193 fp16 | 134 | — | 134 | 122 | 1.000 | 1.100 (1.100 … 1.100) | cuda | "
               "128 threads, 40 registers, 12 blocks by registers, 24 bytes spilled |",
               "Registers spilled by fsc: softmax 4096 × 8193 fp16 (24 bytes).",
               "| 0.940 … 0.940 | 128 threads, 40 registers, 12 blocks by registers |"):
    assert wanted in text, (wanted, text)
with open(base + ".csv") as f:
    lines = f.read().splitlines()
assert len(lines) == 1 + sum(len(p["samples"]) for p in points)
assert "tutorial,softmax,4096,512,fp32,flush,fsc,30,1.04167,16.106" in lines[2], lines[2]

# Plots: a curve a peer, text that is not markup, a logarithm where the sizes span much, labels inside.
with open(base + "-tutorial-fp32.svg") as f:
    picture = f.read()
assert picture.count("<polyline") == 4 and "Made &lt;Up&gt;" in picture and picture.count("</svg>") == 1
svg.write(base + "-log.svg", "t", "x", "y", {"fsc": [(1024, 3.0), (1, 1.0), (262144, 2.0)], "one": [(1, 0.5)]})
with open(base + "-log.svg") as f:
    picture = f.read()
assert ">262144<" in picture and 'points="80.0,310.0 441.1,40.0 730.0,175.0"' in picture, picture

# The sets: sizes the project promises to measure, each point once, and a bound for all that have aims.
count = {name: len(s.points) for name, s in SETS.items()}
assert count["tutorial"] == 98 and count["half"] == 196 and count["cliffs"] == 39 and count["few"] == 12, count
for name, s in SETS.items():
    assert len(set(s.points)) == len(s.points), name
for name in ("tutorial", "half", "cliffs", "few", "kernels"):
    for p in SETS[name].points:
        assert "best" in [b.against for b in bounds_of({**p._asdict(), "set": name, "bytes": 0})], (name, p)
