"""test_rounded.py - quotients and integers of which few bits are left (passes/scalar/rounded.c): the bits that an exact
division, a rint and a conversion would have made.

Judged are divisors and numerators of every kind, at both ends of the range, and numerators whose quotients lie where
the rounding turns. Which quotients are such: tests/passes/rounded.dsl. Last, the instructions' own conversions.
"""
import numpy as np

from case import case, same_bits
from fsc import decode, encode
from primitives import run, tests
from test_math import apply, every_or_spread

ROWS = """
@kernel(grid=(m,))
def f(y: *R, d: *fp32, x: *fp32, m: i32, n: i32, N: constexpr = 1024, R: dtype = i8):
    i = arange(0, N)
    row = program_id(0)
    q = div_rn(load(x + row * n + i, mask=i < n), load(d + row))
    store(y + row * n + i, {expression}, mask=i < n)
"""
# Several rows a program, whose divisors are a tile.
BLOCKS = """
@kernel(grid=(cdiv(m, 4),))
def f(y: *R, d: *fp32, x: *fp32, m: i32, n: i32, N: constexpr = 1024, R: dtype = i8):
    i = arange(0, N)[None, :]
    row = program_id(0) * 4 + arange(0, 4)[:, None]
    q = div_rn(load(x + row * n + i, mask=(i < n) & (row < m)), load(d + row, mask=row < m))
    store(y + row * n + i, {expression}, mask=(i < n) & (row < m))
"""
# expression: type of the result
FORMS = {"clamp(round(q), -127.0, 127.0).to(i8)": "i8", "round(q).to(i16)": "i16", "q.to(i32)": "i32",
         "round(q).to(i32)": "i32", "q.to(u32)": "u32", "q.to(fp8e4nv)": "fp8e4nv", "q.to(fp8e5)": "fp8e5",
         "q.to(fp16)": "fp16", "clamp(q, -100.0, 100.0).to(fp8e4nv)": "fp8e4nv"}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 3.0, -3.0, 2.0**-149, -(2.0**-149), 2.0**-126, 1.7e-39,
           2.0**-61, 2.0**61, -(2.0**-60), 3.4e38, -3.4e38, 2.0**127, 1e-30, 7e30, 0.1, -127.0, 448.0]


def to_integer(q, bits, signed):
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    wide = np.where(np.isnan(q), 0, np.clip(q.astype(np.float64), low, high))
    return np.trunc(wide).astype(np.int64).astype(f"{'i' if signed else 'u'}{bits // 8}")


def expected(expression, q):
    if "clamp(round" in expression:
        return to_integer(np.fmin(np.fmax(np.rint(q), -127), 127), 8, True)
    dtype = FORMS[expression]
    if dtype[0] in "iu":
        return to_integer(np.rint(q) if "round" in expression else q, int(dtype[1:]), dtype[0] == "i")
    if "clamp" in expression:
        q = np.fmin(np.fmax(q, np.float32(-100)), np.float32(100))
    return decode(encode(q, dtype), dtype)


def rows_of(seed):
    """Divisors, and for each numerators: special ones, any bits, and what lies beside a turn of the rounding."""
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        powers = rng.uniform(1, 2, 36) * 2.0 ** rng.integers(-140, 126, 36) * rng.choice([-1, 1], 36)
        d = np.concatenate([SPECIAL, powers, rng.uniform(0.5, 4, 40)]).astype(np.float32)
        anything = rng.integers(0, 2**32, (len(d), 200), dtype=np.uint32).view(np.float32)
        turns = np.concatenate([rng.integers(-1200, 1200, 300) + 0.5, rng.integers(-255, 256, 100),
                                rng.integers(0, 512, 100) * 2.0**-10])
        beside = (turns[None, :] * d[:, None].astype(np.float64)).astype(np.float32)
        beside = (beside.view(np.uint32) + rng.integers(-1, 2, beside.shape).astype(np.uint32)).view(np.float32)
    special = np.tile(np.float32(SPECIAL), (len(d), 1))
    return d, np.concatenate([special, anything, beside], axis=1)


@case(expression=list(FORMS), source=["rows", "blocks"])
def rounded_quotients(bench, expression, source):
    d, x = rows_of(len(expression))
    m, n = x.shape
    dtype = FORMS[expression]
    with np.errstate(all="ignore"):
        want = expected(expression, x / d[:, None])
    db, xb, y = bench.buffer("fp32", m, d), bench.buffer("fp32", m * n, x.ravel()), bench.buffer(dtype, m * n)
    source = ROWS if source == "rows" else BLOCKS
    bench.run(source.format(expression=expression), y, db, xb, m, n, types={"R": dtype})
    got = y.raw() if dtype[0] in "iu" else y.read()
    same_bits(got.reshape(m, n).view(want.dtype), want, expression)


NAN = np.nan
# What is converted: the least and the largest that it may be.
BOUNDED = {"x": (NAN, NAN), "round(x)": (NAN, NAN), "clamp(round(x), 3.0, 100.0)": (3, 100),
           "clamp(x, -2.5, 99.5)": (-2.5, 99.5), "clamp(round(x), -2.5, 99.5)": (-2.5, 99.5),
           "clamp(round(x), -200.0, 60000.0)": (-200, 60000), "minimum(round(x), 300.0)": (NAN, 300),
           "maximum(round(x), -5.0)": (-5, NAN)}


@case(to=["i8", "i16", "i32", "u8", "u16", "u32"], dtype=["fp16", "bf16", "fp32", "fp64"], form=list(BOUNDED))
def rounded_to_integers(bench, to, dtype, form):
    x = every_or_spread(dtype)
    x = np.concatenate([x, np.arange(-70000, 70000) / 2]) if dtype != "fp16" else x
    with np.errstate(all="ignore"):
        x = decode(encode(x, dtype), dtype)
        v = np.rint(x) if "round" in form else x
        low, high = decode(encode(BOUNDED[form], dtype), dtype)
    v = np.fmin(np.fmax(v, low), high)
    got = apply(bench, f"({form}).to({to})", dtype, x, to).raw()
    want = to_integer(v, int(to[1:]), to[0] == "i")
    same_bits(got.view(want.dtype), want, f"{form} of {dtype} to {to}")


@case(dtype=["fp16", "bf16", "fp32"], count=[1, 4])
def rounded_to_e4m3(bench, dtype, count):
    """Where an instruction makes two, of odd numbers of elements, too: `count` threads' worth is not a multiple."""
    steps = np.sort(np.abs(decode(np.arange(128, dtype=np.uint8), "fp8e4nv")[:-1]))
    middles = np.float32((steps[1:] + steps[:-1]) / 2)
    beside = [middles, np.nextafter(middles, np.float32(0)), np.nextafter(middles, np.float32(1e9)), steps]
    x = np.concatenate([every_or_spread(dtype), *beside, -np.concatenate(beside), [464, 479.9, 480, 481, 512, 1e6]])
    with np.errstate(all="ignore"):
        x = decode(encode(x, dtype), dtype)
    x = x[: len(x) // 1024 * 1024 - 1024 + count]
    same_bits(apply(bench, "x.to(fp8e4nv)", dtype, x, "fp8e4nv").read(),
              decode(encode(x, "fp8e4nv"), "fp8e4nv"), dtype)


@case(to=["fp16", "bf16", "fp32"])
def widened_e4m3(bench, to):
    x = np.arange(256, dtype=np.uint8)
    values = decode(x, "fp8e4nv")
    same_bits(apply(bench, f"x.to({to})", "fp8e4nv", values, to).read(), values, to)


# primitive: (expression, type of v, type of the result)
CONVERSIONS = {"to.s32": ("v.to(i32)", "fp32", "i32"), "nearest.s32": ("round(v).to(i32)", "fp32", "i32"),
               "to.u32": ("v.to(u32)", "fp32", "u32"), "to.e4m3": ("v.to(fp8e4nv)", "fp32", "fp8e4nv"),
               "from.e4m3": ("v.to(fp32)", "fp8e4nv", "fp32")}
CONVERT = """
@kernel(grid=(cdiv(n, 256),))
def f(y: *R, x: *T, n: i32, R: dtype = i32, T: dtype = fp32):
    i = program_id(0) * 256 + arange(0, 256)
    v = load(x + i, mask=i < n)
    store(y + i, {expression}, mask=i < n)
"""


@tests(*CONVERSIONS)(prim=list(CONVERSIONS))
def conversion(bench, prim):
    """Every bit, of NaN the place: what is too large saturates, halves go to the even neighbour."""
    expression, given, made = CONVERSIONS[prim]
    steps = decode(np.arange(256, dtype=np.uint8), "fp8e4nv")
    x = np.concatenate([every_or_spread("fp32"), np.arange(-2000, 2000) / 4, (steps[1:] + steps[:-1]) / 2, steps,
                        2.0 ** 31 + np.array([-128.0, 0, 256]), 2.0 ** 32 + np.array([-256.0, 0, 512])])
    x = steps if given == "fp8e4nv" else x.astype(np.float32).astype(np.float64)
    xb, yb = bench.buffer(given, x.size, x), bench.buffer(made, x.size)
    run(bench, [prim], CONVERT.format(expression=expression), yb, xb, x.size, types={"R": made, "T": given})
    if made[0] not in "iu":
        return same_bits(yb.read(), decode(encode(x, made), made), prim)
    low, high = (-(2 ** 31), 2 ** 31 - 1) if made == "i32" else (0, 2 ** 32 - 1)
    with np.errstate(invalid="ignore"):
        whole = np.where(np.isnan(x), 0, np.clip(np.rint(x) if "nearest" in prim else np.trunc(x), low, high))
    same_bits(yb.raw(), whole.astype(np.int64).astype(yb.raw().dtype), prim)
