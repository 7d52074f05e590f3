"""points.py - what is measured: sets of (kernel, rows, N, dtype), and what each set must reach.

A set is a list of points, the most telling first: when its share of the time is spent, the rest is left out. BOUNDS are
the project's aims, one row each; report.py says which points miss them.
"""
from collections import namedtuple

MB = 1 << 20

# slow: also the peers that take seconds a point to compile.
Point = namedtuple("Point", "kernel rows n dtype slow", defaults=(False,))
# share of the time; axis of its plot: n or rows
Set = namedtuple("Set", "points share axis title", defaults=(None, ""))

CLIFFS = [(65536, 64, "fp32"), (65536, 128, "fp16"), (1823, 781, "fp32"), (1823, 781, "fp16"), (4096, 4097, "fp32"),
          (4096, 8193, "fp16"), (8192, 32000, "fp16"), (4096, 50257, "fp16"), (2048, 65536, "fp32"),
          (2048, 128256, "bf16"), (1024, 131072, "fp32"), (512, 262144, "fp32"), (256, 262144, "fp32")]

ROW_KERNELS = ("log_softmax", "gelu", "add_rmsnorm")
NORMS = ("softmax", "rmsnorm", "layernorm", "cross_entropy")
CPU_KERNELS = ("softmax", "layernorm", "gelu", "rmsnorm", "log_softmax", "cross_entropy")
BACKWARD = ("softmax_backward", "rmsnorm_backward", "layernorm_backward", "cross_entropy_backward")
ROW_SHAPES = ((8192, 4096), (4096, 12288), (4096, 8193), (32768, 1024))


def softmax(shapes, dtypes=("fp32",), slow=False):
    return [Point("softmax", rows, n, dtype, slow) for rows, n in shapes for dtype in dtypes]


def cliffs():
    centres = [Point("softmax", rows, n, dtype, True) for rows, n, dtype in CLIFFS]
    return centres + [Point("softmax", rows, n + by, dtype, True) for rows, n, dtype in CLIFFS for by in (-1, 1)]


def kernels():
    return [Point(k, rows, n, dtype, True) for rows, n in ROW_SHAPES for dtype in ("fp32", "bf16") for k in ROW_KERNELS]


# Of rows as the aims for rows have them: lengths of whole vectors, and lengths that begin anywhere; 2^26 elements each.
WHOLE = (4096, 32768, 1024, 65536, 8192, 131072, 256, 16384, 262144, 2048, 512, 524288)
ANYWHERE = (8193, 50257, 1023, 128257, 4097, 262145, 781, 65537, 31999, 100277, 151937)
ELEMENTS = 1 << 26


def every_length(kernels, lengths):
    return [Point(k, ELEMENTS // n, n, dtype, False) for n in lengths for k in kernels for dtype in ("bf16", "fp32")]


def coarse_first(shapes, step=4):
    """Each step-th one, then those between: where time runs out the curve is there."""
    return [s for first in range(step) for s in shapes[first::step]]


TUTORIAL = [(4096, 128 * i) for i in range(2, 100)]

SETS = {
    "tutorial": Set(softmax(coarse_first(TUTORIAL)), 8, "n", "softmax of 4096 rows"),
    "half": Set(softmax(coarse_first(TUTORIAL), ("fp16", "bf16")), 8, "n", "softmax of 4096 rows"),
    "cliffs": Set(cliffs(), 12),
    "few": Set(softmax([(rows, n) for rows in (1, 8, 64, 132) for n in (1 << 15, 1 << 17, 1 << 20)], slow=True), 3),
    "kernels": Set(kernels(), 12),
    "small-batch": Set(softmax([(16, 1 << i) for i in range(8, 19)], ("fp16",)), 1, "n", "softmax of 16 rows"),
    "batch": Set(softmax([(1 << i, 4096) for i in range(0, 16)], ("fp16",)), 1, "rows", "softmax of rows of 4096"),
    "vocabulary": Set(softmax([(2048, n) for n in (1024, 2048, 4096, 8192, 16384, 32000, 50257, 65536, 100277, 128256,
                                                   151936, 256000)],
                              ("bf16",)), 2, "n", "softmax of 2048 rows"),
    "whole": Set(every_length(NORMS, WHOLE), 10),
    "anywhere": Set(every_length(NORMS, ANYWHERE), 9),
    "mixed": Set([Point(k, ELEMENTS // n, n, dtype, True) for n in (1000, 1024, 4096, 5120)
                  for k, dtype in (("quantize_int8", "fp16"), ("quantize_fp8", "bf16"), ("rmsnorm_int8", "fp16"),
                                   ("rmsnorm_fp8", "bf16"))], 2),
    "columns": Set([Point("softmax_columns", rows, n, dtype, False) for rows, n in
                    ((4096, 8192), (16384, 2048), (4096, 8193), (1000, 8193), (8192, 4096), (1000, 8192))
                    for dtype in ("fp32", "bf16")], 1),
    "backward": Set(every_length(BACKWARD, (4096, 32768, 8193, 1024, 12288, 65536, 256, 16384, 1023, 50257)), 9),
    # the host's own code, with --device cpu
    "cpu": Set([Point(k, rows, n, "fp32") for rows, n in ((4096, 1024), (4096, 4096), (1823, 781), (1024, 32000))
                for k in CPU_KERNELS]
               + [Point(k, 8192, 4096, dtype) for k in CPU_KERNELS for dtype in ("fp16", "bf16")]
               + softmax([(1823, 781)], ("fp16", "bf16")), 6),
    # for one question each: see docs/lab/
    "quick": Set(softmax([(4096, n) for n in (256, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 8320, 12288,
                                              12672)]), 2,
                 "n", "softmax of 4096 rows"),
    "tune": Set(softmax([(4096, n) for n in (256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 4224, 6144, 8192, 8320,
                                             10240, 12672, 16384)]), 2, "n", "softmax of 4096 rows"),
    "small": Set(softmax([(65536, 64), (65536, 128), (65536, 256), (16384, 512), (4096, 256), (4096, 384), (4096, 512),
                          (4096, 768), (4096, 1024), (1823, 781), (132, 256)]), 2),
    "subwarp": Set(softmax([(65536, n) for n in (64, 128, 63, 65, 127, 129, 32, 256)]), 2),
    "long": Set(softmax([(2048, 65536), (2048, 128256), (1024, 131072), (256, 262144), (128, 524288)]), 2),
    "online": Set(softmax([(4096, n) for n in (1024, 2048, 4096, 4097, 8192, 8193, 8320, 12672, 16384, 32000, 32768)] +
                          [(2048, 65536), (1024, 131072)]), 2),
    "pipeline": Set([Point(k, 4096, n, "fp32") for n in (1024, 4096, 12672, 512)
                     for k in ("softmax_persistent", "softmax_tiled")], 2),
    "clusters": Set(softmax([(4096, 32768), (2048, 65536), (1024, 131072), (512, 262144), (256, 524288)]), 2),
    "edges": Set(softmax([(65536, 64), (1823, 781), (4096, 4097), (4096, 8193), (4096, 32768)]), 2),
    "claims": Set(softmax([(256, 1024), (1024, 1024), (4096, 1024), (16, 8192), (8192, 128), (2048, 2048),
                           (1823, 781)], slow=True)
                  + softmax([(8192, 32000)], ("fp16",), True), 2),
    "smoke": Set([Point(k, 7, n, dtype, True) for k in (*NORMS, *BACKWARD, *ROW_KERNELS, "softmax_columns")
                  for dtype in ("fp32", "bf16")
                  for n in (33, 130)], 1, "n", "smoke of 7 rows"),
}

# ---- What must be reached --------------------------------------------------------------------------------------------

Bound = namedtuple("Bound", "set against least where holds")  # against: copy, or the best peer of the point
BEYOND_64K = 65535  # and its neighbours


def is_big(p):
    return p["bytes"] >= 64 * MB


def is_8193(p):
    return p["dtype"] == "fp16" and abs(p["n"] - 8193) <= 1


BOUNDS = (
    Bound("tutorial", "copy", 0.95, "N >= 512", lambda p: p["n"] >= 512),
    Bound("tutorial", "copy", 0.93, "N < 512", lambda p: p["n"] < 512),
    Bound("tutorial", "best", 1.00, "every N", lambda p: True),
    Bound("half", "copy", 0.93, "N >= 1024", lambda p: p["n"] >= 1024),
    Bound("half", "best", 1.00, "every N", lambda p: True),
    Bound("cliffs", "copy", 0.90, "64 MB and more", is_big),
    Bound("cliffs", "best", 1.20, "beyond 64K, 8193 fp16", lambda p: p["n"] >= BEYOND_64K or is_8193(p)),
    Bound("cliffs", "best", 1.03, "781 and 4097", lambda p: p["n"] in (781, 4097)),
    # the first row that holds counts for each `against`
    Bound("cliffs", "best", 1.00, "everywhere else", lambda p: True),
    Bound("few", "best", 1.00, "everywhere", lambda p: True),
    Bound("whole", "copy", 0.94, "norms of 16 bits from 1024 to 262144 columns",
          lambda p: 1024 <= p["n"] <= 1 << 18 and p["dtype"] == "bf16" and "norm" in p["kernel"]),
    Bound("whole", "copy", 0.90, "524288 columns", lambda p: p["n"] > 1 << 18),
    Bound("whole", "copy", 0.95, "cross-entropy from 1024 columns",
          lambda p: p["n"] >= 1024 and p["kernel"] == "cross_entropy"),
    Bound("whole", "copy", 0.96, "from 1024 to 262144 columns", lambda p: p["n"] >= 1024),
    Bound("whole", "best", 1.00, "everywhere", lambda p: True),
    Bound("anywhere", "copy", 0.92, "everywhere", lambda p: True),
    Bound("anywhere", "best", 1.00, "everywhere", lambda p: True),
    Bound("backward", "copy", 0.95, "everywhere", lambda p: True),
    Bound("backward", "best", 1.00, "everywhere", lambda p: True),
    Bound("mixed", "copy", 0.92, "everywhere", lambda p: True),
    Bound("columns", "copy", 0.85, "everywhere", lambda p: True),
    Bound("columns", "best", 1.00, "everywhere", lambda p: True),
    Bound("kernels", "copy", 0.92, "64 MB and more", is_big),
    Bound("kernels", "best", 1.00, "everywhere", lambda p: True),
    Bound("cpu", "copy", 0.90, "64 MB and more, fp32", lambda p: is_big(p) and p["dtype"] == "fp32"),
    Bound("cpu", "copy", 0.80, "64 MB and more, 16 bits", is_big),
    Bound("cpu", "best", 0.95, "everywhere", lambda p: True),
)
LEAST_GEOMEANS = {("tutorial", "fp32"): 0.99}  # of copy


def bounds_of(p):
    """The bounds of a point, at most one against copy and one against the best peer."""
    found = {}
    for b in BOUNDS:
        if b.set == p["set"] and b.holds(p):
            found.setdefault(b.against, b)
    return list(found.values())
