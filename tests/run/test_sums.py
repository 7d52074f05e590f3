"""Sums of broadcast products, which become products of matrices: the same bits as NumPy's where all is exact, whatever
the order of the axes; real numbers within the bounds of a sum."""
import itertools

import numpy as np

from case import ULP, case, close, same_bits
from fsc import decode

SOURCE = """
@kernel(grid=(1,))
def f(r: *T, x: *T, y: *T, n: i32, T: dtype):
    v = load(x + {x})
    w = load(y + {y})
    s = load(r + {r})
    for i in range(n):
        s += sum(v{vx} * w{wx}, {axis})
    store(r + {r}, s)
"""


def offsets(rows, cols):
    return f"arange(0, {rows})[:, None] * {cols} + arange(0, {cols})[None, :]"


def judge(bench, dtype, sizes, order, values, tolerance=None, rounds=1):
    """order: which of i, k, j each axis of the product of three is."""
    i, k, j = sizes
    x, y, r = values((i, k)), values((k, j)), values((i, j))
    size = dict(zip("ikj", sizes))

    def index(names):
        return "[" + ", ".join(":" if axis in names else "None" for axis in order) + "]"

    def stored(names, m):
        """As the product has its axes."""
        kept = [axis for axis in order if axis in names]
        return (m if kept == list(names) else m.T), [size[axis] for axis in kept]

    (x0, xs), (y0, ys), (r0, rs) = stored("ik", x), stored("kj", y), stored("ij", r)
    source = SOURCE.format(x=offsets(*xs), y=offsets(*ys), r=offsets(*rs), vx=index("ik"), wx=index("kj"),
                           axis=order.index("k"))
    out, a, b = (bench.buffer(dtype, m.size, m.ravel()) for m in (r0, x0, y0))
    bench.run(source, out, a, b, rounds, types={"T": dtype})
    got = decode(out.raw(), dtype).reshape(r0.shape)
    want = stored("ij", r + rounds * (x @ y))[0]
    if tolerance is None:
        same_bits(got, want, order)
    else:
        close(got, want, *tolerance)


@case(dtype=["fp32", "fp64", "i32"], order=["".join(o) for o in itertools.permutations("ikj")],
      sizes=[(16, 32, 64), (1, 8, 16), (4, 1, 4), (128, 32, 32)])
def sums_exact(bench, dtype, order, sizes):
    if dtype == "i32" and sizes[0] == 128:
        return  # sums of integers stay sums, and the tile of three axes is more than a block holds
    rng = np.random.default_rng(5)
    kind = {"fp32": np.float32, "fp64": np.float64, "i32": np.int32}[dtype]
    judge(bench, dtype, sizes, order, lambda shape: rng.integers(-8, 9, shape).astype(kind), rounds=3)


@case(order=["ikj", "jki", "kij"])
def sums_real(bench, order):
    rng = np.random.default_rng(6)
    judge(bench, "fp32", (32, 64, 32), order, lambda shape: rng.random(shape).astype(np.float32).astype(np.float64),
          (64 * ULP["fp32"], 0))
