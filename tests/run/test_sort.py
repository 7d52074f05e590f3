"""sort and topk against NumPy's lexsort: NaN above all numbers, +0 above -0; every type, axis,
size and number of warps."""
import numpy as np

from case import case, same_bits
from fsc import DTYPES, decode, encode

TYPES = ["i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp8e4nv", "fp8e5", "fp16", "bf16", "fp32", "fp64"]

SOURCE = """
@kernel(grid=(2,))
def f(y: *T, x: *T, A: constexpr, B: constexpr, C: constexpr, K: constexpr, DIM: constexpr, DOWN: constexpr,
      TOP: constexpr, T: dtype):
    x += program_id(0) * (A * B * C)
    y += program_id(0) * (A * K * C)
    i = arange(0, A)[:, None, None] * (B * C) + arange(0, B)[None, :, None] * C + arange(0, C)[None, None, :]
    o = arange(0, A)[:, None, None] * (K * C) + arange(0, K)[None, :, None] * C + arange(0, C)[None, None, :]
    v = load(x + i)
    if TOP:
        r = topk(v, K, DIM, descending=DOWN)
    else:
        r = sort(v, DIM, descending=DOWN)
    store(y + o, r)
"""


def is_float(dtype):
    return dtype.startswith("fp") or dtype == "bf16"


def image(dtype, n, seed=1):
    """Bit patterns: all kinds of floats, or ints of the whole range with some that repeat."""
    rng = np.random.default_rng(seed)
    if dtype == "i1":
        return rng.integers(0, 2, n).astype(np.uint8)
    if not is_float(dtype):
        info = np.iinfo(DTYPES[dtype][1])
        x = rng.integers(info.min, info.max, n, DTYPES[dtype][1], endpoint=True)
        x[rng.random(n) < 0.2] = info.max
        return x
    x = rng.standard_normal(n)
    special = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 1e-7, -1e-39], n)
    with np.errstate(over="ignore"):
        x = encode(np.where(rng.random(n) < 0.3, special, x), dtype)
    if dtype in ("fp16", "fp32", "fp64"):  # NaNs of either sign
        x[rng.random(n) < 0.05] = -np.float64(np.nan)
    return x


def ordered(x, dtype, axis, down):
    """The images of x, sorted: by value, then -0 before +0, NaN last."""
    v = decode(x, dtype)
    nan = np.isnan(v) if is_float(dtype) else np.zeros(v.shape, bool)
    v = np.where(nan, np.zeros_like(v), v)
    keys = (~np.signbit(v), v, nan) if is_float(dtype) else (v,)
    order = np.lexsort(keys, axis=axis)
    return np.take_along_axis(x, np.flip(order, axis) if down else order, axis)


def judge(bench, dtype, shape, dim=1, down=None, k=None, warps=0):
    a, b, c = shape
    n, down = a * b * c, k is not None if down is None else down
    x = image(dtype, 2 * n, n + dim)
    want = ordered(x.reshape(2, a, b, c), dtype, 1 + dim % 3, down)
    want = want[:, :, :k] if k else want
    xb, yb = bench.buffer(dtype, 2 * n), bench.buffer(dtype, want.size)
    xb.write(x)
    defines = {"A": a, "B": b, "C": c, "K": k or b, "DIM": dim, "DOWN": down, "TOP": k is not None}
    bench.run(SOURCE, yb, xb, defines=defines, types={"T": dtype}, num_warps=warps)
    what = f"{'topk' if k else 'sort'} of {shape} {dtype} along {dim}"
    same_bits(decode(yb.raw(), dtype), decode(np.ascontiguousarray(want).ravel(), dtype), what)


@case(dtype=TYPES, down=[False, True])
def sorted_types(bench, dtype, down):
    judge(bench, dtype, (1, 128, 1), 1, down)


@case(dtype=TYPES, down=[False, True])
def top_types(bench, dtype, down):
    judge(bench, dtype, (2, 64, 1), 1, down, k=4)


@case(n=[1, 2, 4, 32, 64, 256, 1024], warps=[1, 4, 8])
def sorted_sizes(bench, n, warps):
    judge(bench, "fp32", (1, n, 1), 1, False, warps=warps)


@case(n=[1, 32, 256], k=[1, 2, 16, 256], warps=[1, 4, 8])
def top_sizes(bench, n, k, warps):
    if k <= n:
        judge(bench, "fp32", (1, n, 1), 1, k=k, warps=warps)


@case(shape=[(4, 16, 1), (1, 8, 32), (2, 32, 4), (8, 2, 2)], dim=[0, 1, 2, -1], warps=[1, 4])
def sorted_axes(bench, shape, dim, warps):
    judge(bench, "i32", shape, dim, dim == 1, warps=warps)


@case(dtype=["fp16", "i64"], warps=[1, 4, 8])
def top_axes(bench, dtype, warps):
    judge(bench, dtype, (2, 32, 4), 1, k=8, warps=warps)


@case(dtype=["fp32", "i8"], n=[2048, 4096])
def sorted_long(bench, dtype, n):
    judge(bench, dtype, (1, n, 1), 1, dtype == "i8")


@case(slow=True, dtype=["bf16", "u64"], n=[4096], warps=[4, 8])
def sorted_long_types(bench, dtype, n, warps):
    judge(bench, dtype, (1, n, 1), 1, warps=warps)


@case()
def sorted_sums(bench):
    """Of i32 sums that wrap: what is sorted is the stored value, not the exact one."""
    source = """
@kernel(grid=(1,))
def f(y: *i32, x: *i32, B: constexpr):
    v = load(x + arange(0, B))
    store(y + arange(0, B), (v + v).sort())
    store(y + B + arange(0, B), tl.topk(v * 3, B, dim=0))
"""
    x = image("i32", 64)
    xb, yb = bench.buffer("i32", 64, x), bench.buffer("i32", 128)
    bench.run(source, yb, xb, defines={"B": 64})
    with np.errstate(over="ignore"):
        want = np.concatenate([np.sort(x + x), np.sort(x * np.int32(3))[::-1]])
    same_bits(yb.raw(), want, "sums")


@case(n=[2, 64, 512], warps=[1, 4])
def padded(bench, n, warps):
    """A row that is no power of two, filled up with infinity; the median picked by a mask."""
    source = """
@kernel(grid=(1,))
def f(y: *fp32, x: *fp32, n: i32, B: constexpr):
    i = arange(0, B)
    v = sort(load(x + i, mask=i < n, other=inf))
    store(y + i, v, mask=i < n)
    store(y + n, sum(where(i == n // 2, v, 0.0)))
"""
    x = np.random.default_rng(n).standard_normal(n - 1).astype(np.float32)
    xb, yb = bench.buffer("fp32", n - 1, x), bench.buffer("fp32", n)
    bench.run(source.replace("y + n", f"y + {n - 1}"), yb, xb, n - 1, defines={"B": n}, num_warps=warps)
    want = np.append(np.sort(x), np.sort(x)[(n - 1) // 2])
    same_bits(yb.raw(), want, "padded")


TIES = """
@kernel(grid=(1,))
def f(y: *i32, x: *T, A: constexpr, B: constexpr, NAN: constexpr, T: dtype):
    v = load(x + arange(0, A)[:, None] * B + arange(0, B)[None, :])
    i = arange(0, A)
    store(y + i, argmax(v, 1, tie_break_left=False, propagate_nan=NAN))
    store(y + A + i, argmin(v, 1, tie_break_left=False, propagate_nan=NAN))
    store(y + 2 * A + i, max(v, 1, return_indices=True, return_indices_tie_break_left=False, propagate_nan=NAN)[1])
    store(y + 3 * A + i, argmax(v, 1, propagate_nan=NAN))
"""


@case(dtype=["i8", "u32", "fp16", "fp32", "fp64"], nan=[False, True], warps=[1, 4])
def ties(bench, dtype, nan, warps):
    """The last of equal ones; a NaN loses, or wins, and among NaN it is the last, too."""
    a, b = 8, 64
    rng = np.random.default_rng(2)
    x = rng.integers(0, 3, (a, b)).astype(np.float64)
    if is_float(dtype):
        x[rng.random((a, b)) < 0.2] = np.nan
        x[0] = np.nan

    def extreme(sign, last):
        v = sign * x
        v = np.where(np.isnan(v), np.inf if nan else -np.inf, v)
        return b - 1 - np.argmax(v[:, ::-1], 1) if last else np.argmax(v, 1)

    xb, yb = bench.buffer(dtype, a * b, np.nan_to_num(x) if not is_float(dtype) else x), bench.buffer("i32", 4 * a)
    bench.run(TIES, yb, xb, defines={"A": a, "B": b, "NAN": nan}, types={"T": dtype}, num_warps=warps)
    want = np.concatenate([extreme(1, True), extreme(-1, True), extreme(1, True), extreme(1, False)])
    same_bits(yb.raw(), want.astype(np.int32), f"ties of {dtype}")
