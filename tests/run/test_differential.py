"""test_differential.py - every builtin over warps, block sizes, alignments, strides,
lengths and types.

Expected values are NumPy's or float64 formulas. What is exact (elementwise arithmetic, choice, max, sums of integers)
is compared bit for bit in every configuration, so that all configurations, devices and targets agree to the bit; the
rest keeps its bound. Memory that a launch has no business with must keep its bytes. The last cases fail when a builtin
has no case, and when a planted mistake passes.
"""
import functools
import inspect
import os
import re
from fractions import Fraction

import numpy as np

from case import EXAMPLES, ULP, case, close, same_bits
from fsc import DTYPES, decode, encode
from sweep import FLOATS, INTS, OFFSETS, PADS, WARPS, seen, sweep, sweep_wide
import test_blocks
import test_dot
import test_inline
import test_scaled
from test_areas import AREAS
from test_bits import BITS, exact_pair
from test_debug import ASSERT, SHOW
from test_math import PAIRS, cospi, erf, erfc, exponent, sinpi
from test_ops import operands
from test_scan import SCANS
from test_sort import SOURCE as SORTS

BUILTINS = os.path.join(EXAMPLES, "..", "compiler", "check", "builtin", "builtin.def")
SMALLEST = {"fp16": 2.0 ** -24, "bf16": 2.0 ** -126, "fp32": 2.0 ** -126, "fp64": 2.0 ** -1022}

# ---- Elementwise -----------------------------------------------------------------------------------------------------

ELEMENTWISE = """
{before}
@kernel(grid=(cdiv(n, BLOCK),), BLOCK=256)
def f(r: *T, a: *T, b: *T, n: i32, S: constexpr, BLOCK: constexpr = 256, T: dtype = fp32, I: dtype = i32):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    m = i < n
    x = load(a + i, mask=m, other=1)
    y = load(b + i, mask=m, other=1)
{body}
"""
BLOCKS = [128, 32, 1024, 256, 64, 512, 1, 2048, 16]
LENGTHS = [257, 389, 128, 33, 300, 1, 256, 1000, 31]


def areas_of(names, x):
    return [AREAS[name][0](x.astype(np.longdouble)).astype(np.float64) for name in names]


class Elementwise:
    """Outputs as expressions of x and y; `want` gives their values, as float64 for floats; ulps: the bounds,
    None: exact."""

    def __init__(self, dtypes, outputs, want, ulps=None, body="", before="", small=False):
        self.dtypes, self.outputs, self.want = dtypes, outputs, want
        self.ulps, self.body, self.small = ulps, body, small
        stores = "\n".join(f"    store(r + {k} * S + i, {e}, mask=m)" for k, e in enumerate(outputs))
        lines = "".join(f"    {line}\n" for line in body.strip("\n").split("\n") if line)
        self.source = ELEMENTWISE.format(before=before, body=lines + stores)

    def data(self, dtype, n):
        rng = np.random.default_rng(n)
        if self.small:
            a, b = (rng.integers(0, 30, n) * (0.25 if dtype in FLOATS else 1) for _ in "ab")
            return seen(a, dtype), seen(b, dtype)
        a, b = operands(dtype, 100)
        order = rng.permutation(len(a))
        return np.resize(a[order], n), np.resize(b[order], n)


def either_zero(x, y, plain, zero):
    """fmax or fmin with -0 below +0."""
    want = plain(x, y)
    if want.dtype.kind == "f":
        both = (x == 0) & (y == 0)
        want[both] = np.where(np.signbit(x[both]) != np.signbit(y[both]), zero, x[both])
    return want


def largest(x, y):
    return either_zero(x, y, np.fmax, 0.0)


def least(x, y):
    return either_zero(x, y, np.fmin, -0.0)


def fused(x, y):
    return np.array([float(Fraction(p) * Fraction(q) + Fraction(p)) for p, q in zip(x.tolist(), y.tolist())])


def high_product(x, y):
    width = 8 * x.dtype.itemsize
    products = [(int(p) % 2 ** width) * (int(q) % 2 ** width) >> width for p, q in zip(x, y)]
    return np.array(products, np.uint64).astype(f"u{width // 8}").view(x.dtype)


def truncated(x, y):
    """Quotient and remainder as in C; by 0 they are 0 and x, as the divisor -1 of the least number gives -x and 0."""
    q = [0 if not q else abs(p) // abs(q) * (1 if (p < 0) == (q < 0) else -1) for p, q in zip(x.tolist(), y.tolist())]
    r = [p - q * k for p, q, k in zip(x.tolist(), y.tolist(), q)]
    wrap = [np.array([v % (1 << 64) for v in w], np.uint64).astype(x.dtype) for w in (q, r)]
    return wrap


COMPILE_TIME = """
static_assert(isinstance(BLOCK, constexpr) and isinstance(x, tl.tensor))
static_assert(isinstance(2.0, float) and isinstance(3, int))
static_assert(len(x.shape) == 1 and len((1, 2, 3)) == 3 and str(12) == "12")
static_assert(isinstance(True, bool) and isinstance("a", str))
static_assert(hasattr(tl, "gather") and hasattr(x, "dtype") and not hasattr(x, "nothing"))
static_assert(int(3.9) == 3 and float("2.5") == 2.5 and bool(BLOCK) and next_power_of_2(100) == 128, "constants")
static_print("block", BLOCK, x)
K: constexpr = constexpr(int(2.0)) + len((1,))
p = r.to(pointer_type(I)).to(pointer_type(T))
t = zeros_like(x)
for k in range(0, K):
    t += x
for k in static_range(0, 2):
    t += getattr(y, "to")(T) * to_tensor(1)
"""
CALLED = """
@jit
def twice(v):
    return v + v

@jit
def larger(a, b):
    return a if a > b else b
"""
FIELDS = """
Both = namedtuple("Both", ("sum", "times"), (3,))
"""
LIMITS = """
both = Both(x + y)
n_rounds = 8
limits = zeros_like(x)
while condition(n_rounds > 0, disable_licm=True):
    n_rounds -= 1
    limits += iinfo(i8).max // 16 + int(finfo(fp16).eps * 10240)
"""
HINTS = """
assume(n >= 0)
base = multiple_of(program_id(0) * BLOCK, BLOCK)
j = max_contiguous(base + arange(0, BLOCK), BLOCK)
k = max_constancy(full((BLOCK,), 1, T), BLOCK)
store(r + S + j, x + k, mask=j < n)
gdc_wait()
gdc_launch_dependents()
debug_barrier()
u = load(r + S + j, mask=j < n)
"""
PERSISTENT = """
for s in range(program_id(0) * BLOCK, n, num_programs(0) * BLOCK):
    c = s + arange(0, BLOCK)
    store(r + c, load(a + c, mask=c < n) + load(b + c, mask=c < n), mask=c < n)
"""
ATOMICS = """
store(r + i, x, mask=m)
o1 = atomic_add(r + i, y, mask=m)
o2 = atomic_max(r + i, x, mask=m)
o3 = atomic_min(r + i, y, mask=m, sem="relaxed")
o4 = atomic_and(r + i, x, mask=m)
o5 = atomic_or(r + i, y, mask=m, scope="sys")
o6 = atomic_xor(r + i, x, mask=m)
o7 = atomic_xchg(r + i, y, mask=m)
o8 = atomic_cas(r + i, y, x, mask=m)
o9 = load(r + i, mask=m)
"""


def chained(x, y):
    """What each atomic of ATOMICS finds: what the one before it left."""
    steps = [x, x + y]
    steps.append(np.maximum(steps[-1], x))
    steps.append(np.minimum(steps[-1], y))
    steps.append(steps[-1] & x)
    steps.append(steps[-1] | y)
    steps.append(steps[-1] ^ x)
    return steps + [y, x]


def bits_of(x, y):
    """What the rows of BITS and exact_pair give."""
    bits = x.dtype.itemsize * 8
    wants = [[f(int(v) % 2 ** bits, bits) for v in x] for f in BITS.values()]
    pairs = [(int(p), int(q)) for p, q in zip(x, y)]
    wants += [[exact_pair(name, p, q, bits) for p, q in pairs] for name in ("mulhi", "hadd", "rhadd", "sad")]
    return [np.array([v % 2 ** bits for v in want], f"u{bits // 8}").view(x.dtype) for want in wants]


def permuted(x, y):
    """Bytes 7, 5, 3, 1 of y above x, from the lowest."""
    a, b = x.view(np.uint32), y.view(np.uint32)
    return (b >> 24 | (b >> 8 & 255) << 8 | (a >> 24) << 16 | (a >> 8 & 255) << 24).view(x.dtype)


NARROW = ["i32", "u8", "i8", "u32", "i16", "u16"]
KERNELS = {
    "copy": Elementwise(FLOATS + INTS, ["x", "y"], lambda x, y: [x, y]),
    "float arithmetic": Elementwise(FLOATS, ["x + y", "x - y", "x * y", "-x", "abs(x)"],
                                    lambda x, y: [x + y, x - y, x * y, -x, np.abs(x)]),
    "fma": Elementwise(FLOATS, ["fma(x, y, x)"], lambda x, y: [fused(x, y)], small=True),
    "int arithmetic": Elementwise(INTS, ["x + y", "x - y", "x * y", "x & y", "x | y", "x ^ y", "~x"],
                                  lambda x, y: [x + y, x - y, x * y, x & y, x | y, x ^ y, ~x]),
    "int division": Elementwise(INTS, ["x // y", "x % y", "x << (y & 7)", "x >> (y & 7)"],
                                lambda x, y: [*truncated(x, y), x << (y & 7), x >> (y & 7)]),
    "cdiv": Elementwise(INTS, ["cdiv(x, y + 1)"], lambda x, y: [(x + y) // (y + 1)], small=True),
    "atomics": Elementwise(["i32", "u32", "i64", "u64"], [f"o{k}" for k in range(1, 10)], chained, body=ATOMICS),
    "choice": Elementwise(FLOATS + INTS, ["where(x > y, x, y)", "maximum(x, y)", "minimum(x, y)", "clamp(x, 1, 5)"],
                          lambda x, y: [np.where(x > y, x, y), largest(x, y), least(x, y),
                                        least(largest(x, np.full_like(x, 1)), np.full_like(x, 5))]),
    "cast": Elementwise(FLOATS + NARROW, ["cast(x, fp64).to(T)", "x.to(I, bitcast=True).to(T, bitcast=True)"],
                        lambda x, y: [x, x]),
    "creation": Elementwise(FLOATS + INTS, ["x + full((BLOCK,), 3, T)", "x + zeros((BLOCK,), T)", "zeros_like(x) - x"],
                            lambda x, y: [x + x.dtype.type(3), x + x.dtype.type(0), x.dtype.type(0) - x]),
    "math": Elementwise(FLOATS, ["exp(x)", "exp2(x)", "log(x)", "log2(x)", "rsqrt(x)", "x / y", "fdiv(x, y)"],
                        lambda x, y: [f(x.astype(np.longdouble)).astype(np.float64) for f in
                                      (np.exp, np.exp2, np.log, np.log2, lambda v: 1 / np.sqrt(v))] + [x / y, x / y],
                        ulps={"fp32": 2, "fp64": 2, "fp16": 1, "bf16": 1}),
    "sqrt": Elementwise(FLOATS, ["sqrt(x)"], lambda x, y: [np.sqrt(x)],
                        ulps={"fp32": 0, "fp64": 0, "fp16": 1, "bf16": 1}),
    "sigmoid": Elementwise(FLOATS, ["sigmoid(x)"],
                           lambda x, y: [(1 / (1 + np.exp(-x.astype(np.longdouble)))).astype(np.float64)],
                           ulps={"fp32": 5, "fp64": 5, "fp16": 1, "bf16": 1}),
    "library": Elementwise(FLOATS, ["sin(x)", "cos(x)", "tanh(x)", "erf(x)", "expm1(x)", "log1p(x)", "pow(x, y)"],
                           lambda x, y: [f(x.astype(np.longdouble)).astype(np.float64) for f in
                                         (np.sin, np.cos, np.tanh, erf, np.expm1, np.log1p, lambda v: np.power(v, y))],
                           ulps={"fp32": 2, "fp64": 2, "fp16": 1, "bf16": 1}),
    "inverses": Elementwise(FLOATS,
                            ["asin(x)", "acos(x)", "atan(x)", "atan2(x, y)", "asinh(x)", "acosh(x)", "atanh(x)"],
                            lambda x, y: [f(x.astype(np.longdouble)).astype(np.float64) for f in
                                          (np.arcsin, np.arccos, np.arctan, lambda v: np.arctan2(v, y), np.arcsinh,
                                           np.arccosh, np.arctanh)],
                            ulps={"fp32": 2, "fp64": 2, "fp16": 1, "bf16": 1}),
    "more library": Elementwise(FLOATS, ["tan(x)", "sinh(x)", "cosh(x)", "cbrt(x)", "hypot(x, y)", "exp10(x)",
                                         "log10(x)", "erfc(x)", "rcbrt(x)", "sinpi(x)", "cospi(x)"],
                                lambda x, y: [f(x.astype(np.longdouble)).astype(np.float64) for f in
                                              (np.tan, np.sinh, np.cosh, np.cbrt, lambda v: np.hypot(v, y),
                                               lambda v: np.power(np.longdouble(10), v), np.log10, erfc,
                                               lambda v: 1 / np.cbrt(v), sinpi, cospi)],
                                ulps={"fp32": 2, "fp64": 2, "fp16": 1, "bf16": 1}),
    "pairs": Elementwise(FLOATS,
                         ["fmod(x, y)", "remainder(x, y)", "fdim(x, y)", "copysign(x, y)", "fmin(x, y)", "fmax(x, y)",
                                  "nextafter(nextafter(x, y), x) + 0", "ldexp(x, -1)", "scalbn(x, 2)", "logb(x)"],
                         lambda x, y: [np.fmod(x, y), PAIRS["remainder(x, y)"][0](x, y).astype(x.dtype),
                                       np.where(x <= y, x.dtype.type(0), x - y), np.copysign(x, y), least(x, y),
                                       largest(x, y), np.where(np.isnan(y), y, x + x.dtype.type(0)),
                                       x / x.dtype.type(2), x * x.dtype.type(4), exponent(x).astype(x.dtype)]),
    "rounding": Elementwise(FLOATS, ["floor(x)", "ceil(x)", "trunc(x)", "round(x)", "rint(x)", "nearbyint(x)"],
                            lambda x, y: [np.floor(x), np.ceil(x), np.trunc(x), np.rint(x), np.rint(x), np.rint(x)]),
    "rounded once": Elementwise(FLOATS, ["sqrt_rn(x)", "div_rn(x, y)"], lambda x, y: [np.sqrt(x), x / y]),
    "named arithmetic": Elementwise(FLOATS + INTS, ["add(x, y)", "sub(x, y, sanitize_overflow=True)", "x.mul(y)"],
                                    lambda x, y: [x + y, x - y, x * y]),
    "high product": Elementwise(["i32", "u32", "i64", "u64"], ["umulhi(x, y)"], lambda x, y: [high_product(x, y)]),
    "inverses of areas": Elementwise(FLOATS, list(AREAS)[:3], lambda x, y: areas_of(list(AREAS)[:3], x),
                                     ulps={"fp32": 3, "fp64": 3, "fp16": 1, "bf16": 1}),
    "areas": Elementwise(FLOATS, [*list(AREAS)[3:], "rhypot(x, y)"],
                         lambda x, y: areas_of(list(AREAS)[3:], x) + [1 / np.hypot(x, y, dtype=np.longdouble)],
                         ulps={"fp32": 3, "fp64": 3, "fp16": 1, "bf16": 1}),
    "bits": Elementwise(["i32", "u32", "i64", "u64"],
                        [*BITS, "mulhi(x, y)", "hadd(x, y)", "rhadd(x, y)", "sad(x, y, x)"],
                        lambda x, y: bits_of(x, y)),
    "bytes": Elementwise(["i32", "u32"], ["byte_perm(x, y, 0x1357).to(T)"], lambda x, y: [permuted(x, y)]),
    "compile time": Elementwise(["i32", "fp32"], ["t", "load(p + i, mask=m) * 0 + 2"],
                                lambda x, y: [x * 3 + y * 2, x * 0 + 2], body=COMPILE_TIME, small=True),
    "fields and limits": Elementwise(["i32", "fp32"], ["both.sum", "both.times * x", "limits"],
                                     lambda x, y: [x + y, x * 3, x * 0 + 136], before=FIELDS, body=LIMITS, small=True),
    "hints": Elementwise(FLOATS + INTS, ["u + k", "u"], lambda x, y: [x + 2, x + 1], body=HINTS, small=True),
    "persistent": Elementwise(["i32", "fp32", "i8", "fp16"], [], lambda x, y: [x + y], body=PERSISTENT),
    "called": Elementwise(["i32", "fp32"], ["twice(x) + tl.maximum(x, y)", "map_elementwise(larger, x, y)"],
                          lambda x, y: [2 * x + np.maximum(x, y), np.maximum(x, y)], before=CALLED, small=True),
}


def launch_elementwise(bench, kernel, config, data, source=None):
    """The images of the outputs; what lies between them and beyond them must stay."""
    n, dtype = config.n, config.dtype
    s = (max(n, *LENGTHS) + 127) // 64 * 64  # one kernel for all lengths
    count = max(1, len(kernel.outputs))
    a, b = (bench.buffer(dtype, n, v, offset=config.offsets[0]) for v in data)
    r = bench.buffer(dtype, count * s, offset=config.offsets[1])
    before = r.raw().reshape(count, s)
    source = source or kernel.source
    defines, types = {"BLOCK": config.block, "S": s}, {"T": dtype, "I": f"i{DTYPES[dtype][1]().itemsize * 8}"}
    present = [{k: v for k, v in d.items() if f"{k}: " in source} for d in (defines, types)]
    bench.run(source, r, a, b, n, num_warps=config.warps, defines=present[0], types=present[1])
    after = r.raw().reshape(count, s)
    assert after[:, n:].tobytes() == before[:, n:].tobytes(), f"{config}: elements beyond the mask were written"
    return [np.ascontiguousarray(row[:n]) for row in after]


@functools.cache
def data_and_want(kernel, dtype, n):
    data = kernel.data(dtype, n)
    with np.errstate(all="ignore"):
        return data, kernel.want(*data)


def judge_elementwise(bench, kernel, config, source=None):
    data, wants = data_and_want(kernel, config.dtype, config.n)
    images = launch_elementwise(bench, kernel, config, data, source)
    for k, (image, want) in enumerate(zip(images, wants)):
        what = f"{(kernel.outputs or ['the sum'])[k]} in {config}"
        got, want = decode(image, config.dtype), seen(want, config.dtype)
        if kernel.ulps is None:
            same_bits(got, want, what)
            continue
        ulps = kernel.ulps[config.dtype]
        normal = np.ones(want.shape, bool)
        if config.dtype in ("fp32", "bf16") and ("/" in what or "fdiv" in what):
            with np.errstate(all="ignore"):  # as in test_ops: a result near the subnormals has no bound yet
                normal = (np.abs(want) > 2.0 ** -100) | (want == 0) | ~np.isfinite(want)
        close(got[normal], want[normal], ulps * ULP[config.dtype], ulps * SMALLEST[config.dtype], what)
    return images


@case(kernel=list(KERNELS))
def elementwise(bench, kernel):
    k = KERNELS[kernel]
    for config in sweep(k.dtypes, BLOCKS, LENGTHS):
        judge_elementwise(bench, k, config)


@case(slow=True, kernel=list(KERNELS))
def elementwise_wide(bench, kernel):
    k = KERNELS[kernel]
    for config in sweep_wide(k.dtypes, BLOCKS, LENGTHS):
        judge_elementwise(bench, k, config)


# ---- Reductions and shapes -------------------------------------------------------------------------------------------

TILE = """
@kernel(grid=(2,))
def f(r: *T, s: *T, c: *T, x: *T, ld: i32, A: constexpr, B: constexpr, T: dtype = fp32):
    x_ = x + program_id(0) * A * ld
    i = expand_dims(arange(0, A), 1)
    j = arange(0, B).reshape(1, B)
    v = load(x_ + i * ld + j)
    top = broadcast_to(max(v, axis=1, keep_dims=True), (A, B))
    low, _ = broadcast(min(v, axis=0).view(1, B), v)
    store(r + program_id(0) * A * ld + i * ld + j, (v - top) + low)
    store(s + program_id(0) * A + arange(0, A), sum(v, axis=1))
    store(c + program_id(0) * B + arange(0, B), sum(v, 0))
"""
TILES = [(16, 32), (1, 128), (64, 2), (8, 8), (128, 1), (2, 256), (32, 16), (4, 4), (1, 1)]


def judge_tile(bench, config, source=TILE):
    rows_, columns = config.block
    d, ld = config.dtype, columns + config.pad
    x = np.random.default_rng(columns).integers(0 if d[0] == "u" else -3, 4, (2, rows_, ld))
    x[:, :, columns:] = 100
    xb = bench.buffer(d, x.size, x.ravel(), offset=config.offsets[0])
    rb, sb, cb = (bench.buffer(d, k, offset=config.offsets[1]) for k in (x.size, 2 * rows_, 2 * columns))
    before = rb.raw().reshape(x.shape)
    bench.run(source, rb, sb, cb, xb, ld, defines={"A": rows_, "B": columns}, types={"T": d}, num_warps=config.warps)
    v = x[:, :, :columns]
    values = [v - v.max(axis=2, keepdims=True) + v.min(axis=1, keepdims=True), v.sum(axis=2), v.sum(axis=1)]
    after = rb.raw().reshape(x.shape)
    assert after[:, :, columns:].tobytes() == before[:, :, columns:].tobytes(), f"{config}: written between the rows"
    images = [np.ascontiguousarray(after[:, :, :columns]), sb.raw(), cb.raw()]
    for image, want, what in zip(images, values, ("tile", "sums of rows", "sums of columns")):
        want = encode(want + 0.0, d) if d in FLOATS else want.astype(DTYPES[d][1])
        same_bits(decode(image.ravel(), d), decode(want.ravel(), d), f"{what} in {config}")


@case()
def tiles(bench):
    for config in sweep(FLOATS + INTS, TILES, [0]):
        judge_tile(bench, config)


@case(slow=True)
def tiles_wide(bench):
    for config in sweep_wide(FLOATS + INTS, TILES, [0]):
        judge_tile(bench, config)


MOVES = """
@kernel(grid=(2,))
def moves(r: *T, x: *T, ld: i32, A: constexpr = 8, B: constexpr = 16, T: dtype = fp32):
    i = arange(0, A)[:, None] * ld + arange(0, B)[None, :]
    v = load(x + program_id(0) * A * ld + i)
    p, q = split(interleave(ravel(v), ravel(trans(v))).reshape(A * B, 2))
    both = join(squeeze(unsqueeze(reshape(p, (A, B)), 1), 1), q.reshape(A, B))
    both = cat(both, both, dim=2).reshape(A, B, 2, 2).permute(0, 1, 3, 2)
    low, high = split(sum(permute(both, 3, 0, 1, 2), axis=0).to(T))
    low = gather(flip(low, 0), broadcast_to((A - 1 - arange(0, A))[:, None], (A, B)), 0)
    store(r + program_id(0) * A * ld + i, high + low - v - v)
"""


def judge_moves(bench, config, source=MOVES):
    rows_, columns = config.block
    d, ld = config.dtype, columns + config.pad
    x = np.random.default_rng(columns).integers(0 if d[0] == "u" else -3, 4, (2, rows_, ld))
    xb, rb = (bench.buffer(d, x.size, data, offset=o) for data, o in zip((x.ravel(), None), config.offsets))
    bench.run(source, rb, xb, ld, defines={"A": rows_, "B": columns}, types={"T": d}, num_warps=config.warps)
    want = 2 * x[:, :, :columns].swapaxes(1, 2).reshape(2, rows_, columns)
    got = np.ascontiguousarray(rb.raw().reshape(x.shape)[:, :, :columns]).ravel()
    want = encode(want.ravel() + 0.0, d) if d in FLOATS else want.ravel().astype(DTYPES[d][1])
    same_bits(decode(got, d), decode(want, d), f"moved elements in {config}")


@case()
def moved_tiles(bench):
    for config in sweep(FLOATS + INTS, TILES, [0]):
        judge_moves(bench, config)


# ---- The tests of the tests ------------------------------------------------------------------------------------------


def uncalled(names):
    """Names that no kernel calls; `tensor` and `tensor_descriptor` are only ever types to ask about."""
    others = [inspect.getsource(module) for module in (test_dot, test_inline, test_scaled)]
    sources = "\n".join([k.source for k in KERNELS.values()] + [TILE, MOVES, SCANS, SORTS, SHOW, ASSERT] + others)
    sources += re.sub(r"\bd\.(atomic_\w+|gather)\(", r"\1_tensor_descriptor(", inspect.getsource(test_blocks))
    return sorted(n for n in names if not re.search(
        rf"isinstance\(\w+, tl\.{n}\)" if n in ("tensor", "tensor_descriptor") else rf"\b{n}\(", sources))


@case()
def every_builtin_has_a_case(_):
    with open(BUILTINS, encoding="utf-8") as f:
        names = set(re.findall(r'^BUILTIN\("(\w+)"', f.read(), re.M))
    assert len(names) > 40, "builtin.def has no rows in the form that is read here"
    assert not uncalled(names), f"builtins that no kernel of test_differential.py calls: {uncalled(names)}"
    assert uncalled(names | {"softplus"}) == ["softplus"], "a builtin without a case is not seen"


@case()
def axes_are_covered(_):
    """Every value of every axis occurs with every kernel, warps from 1 to 32, all alignments 0 to 15."""
    assert sorted(WARPS) == [1, 2, 4, 8, 16, 32] and {o for pair in OFFSETS for o in pair} == set(range(16))
    for dtypes, blocks, lengths in ([k.dtypes, BLOCKS, LENGTHS] for k in KERNELS.values()):
        found = sweep(dtypes, blocks, lengths)
        for name, values in (("dtype", dtypes), ("warps", WARPS), ("offsets", OFFSETS), ("pad", PADS),
                             ("block", blocks), ("n", lengths)):
            assert {getattr(c, name) for c in found} == set(values), f"{name} is not swept over {values}"
