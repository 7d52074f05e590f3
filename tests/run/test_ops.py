"""Elementwise arithmetic, conversions and memory: bit for bit where IEEE says so, in every type."""
import numpy as np

from case import ULP, case, close, same_bits
from fsc import DTYPES, decode, encode

FLOATS = ["fp16", "bf16", "fp32", "fp64"]
INTS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -2.5, 1e-3, 65504.0, 1e-7, 6e-8, np.inf, -np.inf, np.nan, 7.0, -1e4]

BINARY = """
@kernel(grid=(cdiv(n, BLOCK),), BLOCK=256)
def binary(r: *R, a: *T, b: *T, n: i32, BLOCK: constexpr = 256, T: dtype = fp32, R: dtype = fp32):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    m = i < n
    x = load(a + i, mask=m)
    y = load(b + i, mask=m)
    store(r + i, {expression}, mask=m)
"""


def rounded(x, dtype):
    """float64 → the nearest value of the type, as float64."""
    return decode(encode(x, dtype), dtype)


def operands(dtype, n=1000, seed=3):
    rng = np.random.default_rng(seed)
    if dtype.startswith("fp") or dtype == "bf16":
        a, b = rng.standard_normal(n) * 4, rng.standard_normal(n) * 4
        grid = [(p, q) for p in SPECIAL for q in SPECIAL]
        a, b = np.concatenate([a, [p for p, _ in grid]]), np.concatenate([b, [q for _, q in grid]])
        with np.errstate(over="ignore", invalid="ignore"):
            return rounded(a, dtype), rounded(b, dtype)
    info = np.iinfo(DTYPES[dtype][1])
    a = rng.integers(info.min, info.max, n, dtype=DTYPES[dtype][1], endpoint=True)
    b = rng.integers(info.min, info.max, n, dtype=DTYPES[dtype][1], endpoint=True)
    edge = np.array([info.min, info.max, 0, 1, info.max - 1, 2], DTYPES[dtype][1])
    return np.concatenate([a, np.repeat(edge, 6)]), np.concatenate([b, np.tile(edge, 6)])


def launch(bench, expression, dtype, a, b, result=None):
    result = result or dtype
    ab, bb, rb = bench.buffer(dtype, len(a), a), bench.buffer(dtype, len(b), b), bench.buffer(result, len(a))
    bench.run(BINARY.format(expression=expression), rb, ab, bb, len(a), types={"T": dtype, "R": result})
    return rb


def float_result(x, dtype):
    """A float64 result of + − × on values of a narrower type, rounded once (exact in float64 but for fp64 itself)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return encode(x, dtype)


@case(dtype=FLOATS, op=["+", "-", "*"])
def arithmetic_float(bench, dtype, op):
    a, b = operands(dtype)
    with np.errstate(all="ignore"):
        want = {"+": a + b, "-": a - b, "*": a * b}[op]
    got = launch(bench, f"x {op} y", dtype, a, b)
    same_bits(decode(got.raw(), dtype), decode(float_result(want, dtype), dtype), f"{dtype} {op}")


@case(dtype=FLOATS)
def divide_float(bench, dtype):
    a, b = operands(dtype)
    with np.errstate(all="ignore"):
        want = rounded(a / b, dtype)
    normal = (np.abs(want) > 2.0 ** -100) | (want == 0) | ~np.isfinite(want)
    got = launch(bench, "x / y", dtype, a, b).read()
    ulps = {"fp64": 0, "fp32": 2}.get(dtype, 1)
    close(got[normal], want[normal], ulps * ULP[dtype], 0, f"{dtype} /")


@case(dtype=INTS, op=["+", "-", "*", "&", "|", "^"])
def arithmetic_int(bench, dtype, op):
    a, b = operands(dtype)
    with np.errstate(over="ignore"):
        want = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}[op]
    same_bits(launch(bench, f"x {op} y", dtype, a, b).raw(), want, f"{dtype} {op}")


@case(dtype=INTS, op=["//", "%"])
def divide_int(bench, dtype, op):
    """Truncating, as in C."""
    a, b = operands(dtype)
    keep = (b != 0) & ~((a == np.iinfo(a.dtype).min) & (b.astype(object) == -1))
    a, b = a[keep], b[keep]
    q = np.array([abs(int(x)) // abs(int(y)) * (1 if (int(x) < 0) == (int(y) < 0) else -1) for x, y in zip(a, b)],
                 object)
    want = q if op == "//" else np.array([int(x) - int(y) * int(k) for x, y, k in zip(a, b, q)], object)
    same_bits(launch(bench, f"x {op} y", dtype, a, b).raw(), want.astype(a.dtype), f"{dtype} {op}")


@case(dtype=["i32", "u32", "i64", "u64", "i8"])
def shifts(bench, dtype):
    a, b = operands(dtype)
    bits = a.dtype.itemsize * 8
    b = (b % np.array(bits, b.dtype)).astype(a.dtype)
    same_bits(launch(bench, "x << y", dtype, a, b).raw(), a << b, "<<")
    same_bits(launch(bench, "x >> y", dtype, a, b).raw(), a >> b, ">>")


@case(dtype=FLOATS + ["i32", "u32", "i64", "u8"])
def comparisons(bench, dtype):
    a, b = operands(dtype)
    b[::3] = a[::3]
    for op in ("<", "<=", ">", ">=", "==", "!="):
        with np.errstate(invalid="ignore"):
            want = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}[op]
        same_bits(launch(bench, f"x {op} y", dtype, a, b, "i1").raw(), want.astype(np.uint8), f"{dtype} {op}")


@case(dtype=FLOATS)
def extremes(bench, dtype):
    a, b = operands(dtype)
    for name, plain in (("maximum", np.fmax), ("minimum", np.fmin)):
        got = launch(bench, f"{name}(x, y)", dtype, a, b).read()
        want = plain(a, b)
        zero = (a == 0) & (b == 0)
        want[zero] = np.where(np.signbit(a[zero]) != np.signbit(b[zero]), 0.0 if name == "maximum" else -0.0, a[zero])
        same_bits(got, want, f"{dtype} {name}")
        got = launch(bench, f"{name}(x, y, propagate_nan=PropagateNan.ALL)" if False
                     else f"{name}(x, y, propagate_nan=True)", dtype, a, b).read()
        want = np.where(np.isnan(a) | np.isnan(b), np.nan, want)
        same_bits(got, want, f"{dtype} {name} with NaN")


@case(dtype=["fp32", "fp64"])
def fused_multiply_add(bench, dtype):
    a, b = operands(dtype, 500)
    if dtype == "fp32":
        with np.errstate(all="ignore"):
            want = encode((a.astype(np.longdouble) * b + 1.25).astype(np.float64), dtype)
        got = launch(bench, "fma(x, y, 1.25)", dtype, a, b)
        close(decode(got.raw(), dtype), decode(want, dtype), 0, 0, "fma")
    else:
        got = launch(bench, "fma(x, x, -(x * x))", dtype, a, b).read()
        finite = np.isfinite(a) & (np.abs(a) < 1e100) & (np.abs(a) > 1e-100)
        exact = [float(_fraction(v) ** 2 - _fraction(v * v)) for v in a[finite]]
        same_bits(got[finite], np.array(exact), "the rounding error of a square, exact through fma")


def _fraction(x):
    from fractions import Fraction
    return Fraction(float(x))


FUNCTIONS = {"exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sqrt": np.sqrt, "abs": np.abs,
             "rsqrt": lambda x: 1 / np.sqrt(x)}


@case(name=list(FUNCTIONS), dtype=FLOATS)
def functions(bench, name, dtype):
    """2 ulp in fp32 and fp64, 1 ulp of the type in fp16 and bf16; abs and sqrt are exact."""
    rng = np.random.default_rng(11)
    spread = np.concatenate([rng.standard_normal(4000) * 30, rng.uniform(-1, 1, 2000),
                             1 + rng.standard_normal(2000) * 1e-3, np.exp(rng.uniform(-80, 80, 2000)),
                             -np.exp(rng.uniform(-80, 80, 500)), SPECIAL])
    with np.errstate(all="ignore"):
        x = rounded(spread, dtype)
        wide = np.float64 if name == "sqrt" else np.longdouble  # sqrt is rounded once: not through a wider type
        want = FUNCTIONS[name](x.astype(wide)).astype(np.float64)
        want = rounded(want, dtype)
    got = launch(bench, f"{name}(x)", dtype, x, x).read()
    ulps = (0 if name == "abs" or (name == "sqrt" and dtype in ("fp32", "fp64")) else 2 if dtype in ("fp32", "fp64")
            else 1)
    smallest = {"fp16": 2.0 ** -24, "bf16": 2.0 ** -126, "fp32": 2.0 ** -126, "fp64": 2.0 ** -1022}[dtype]
    close(got, want, ulps * ULP[dtype], ulps * smallest, f"{name} {dtype}")


@case(source=FLOATS + INTS, to=FLOATS + ["i8", "i32", "i64", "u8", "u32"])
def casts(bench, source, to):
    a, _ = operands(source, 300)
    is_float = source in FLOATS
    if to not in FLOATS and is_float:  # out of range is not compared here
        limit = np.iinfo(DTYPES[to][1])
        a = a[np.isfinite(a)]
        a = a[(a > float(limit.min) * 0.99 - 0.5) & (a < float(limit.max) * 0.99)]
        a = a[a > -1] if to.startswith("u") else a
        want = np.trunc(a).astype(DTYPES[to][1])
    elif to in FLOATS:
        with np.errstate(all="ignore"):
            exact = a if is_float else a.astype(np.float64)
            if not is_float and a.dtype.itemsize == 8:  # do not round twice
                a = (a >> np.array(12, a.dtype)).astype(a.dtype)
                exact = a.astype(np.float64)
            want = encode(exact, to)
    else:
        want = a.astype(DTYPES[to][1])
    rb = bench.buffer(to, len(a))
    ab = bench.buffer(source, len(a), a)
    bench.run(BINARY.format(expression="x.to(R)"), rb, ab, ab, len(a), types={"T": source, "R": to})
    same_bits(decode(rb.raw(), to), decode(want, to), f"{source} to {to}")


@case(dtype=["i8", "fp16", "fp32", "fp64"], n=[1, 2, 31, 32, 33, 255, 256, 257, 1000, 4099], offset=[0, 1, 3])
def copies(bench, dtype, n, offset):
    """Every alignment and every tail: only what the mask allows is touched."""
    rng = np.random.default_rng(n)
    data = rng.integers(-100, 100, n)
    a, r = bench.buffer(dtype, n, data, offset), bench.buffer(dtype, n, offset=offset)
    bench.run(BINARY.format(expression="x"), r, a, a, n, types={"T": dtype, "R": dtype})
    same_bits(r.raw(), a.raw(), f"copy of {n}")


@case()
def masked_other(bench):
    source = """
@kernel(grid=(1,))
def f(r: *fp32, a: *fp32, n: i32, BLOCK: constexpr = 128):
    i = arange(0, BLOCK)
    store(r + i, load(a + i, mask=(i < n) & (i % 3 != 0), other=i.to(fp32) * 2))
    store(r + BLOCK + i, load(a + i, mask=i < n))
"""
    n = 77
    data = np.arange(n) + 0.5
    a, r = bench.buffer("fp32", n, data), bench.buffer("fp32", 256)
    bench.run(source, r, a, n)
    i = np.arange(128)
    full = np.concatenate([data, np.zeros(51)])
    same_bits(r.read()[:128], np.where((i < n) & (i % 3 != 0), full, 2.0 * i), "other is a tile")
    same_bits(r.read()[128:], full, "other is 0 where none is given")


@case(stride=[1, 2, 7, -1])
def gathered(bench, stride):
    source = """
@kernel(grid=(1,))
def f(r: *i32, a: *i32, s: i32, o: i32):
    i = arange(0, 64)
    store(r + i, load(a + o + i * s))
"""
    a = bench.buffer("i32", 512, np.arange(512))
    r = bench.buffer("i32", 64)
    start = 63 if stride < 0 else 3
    bench.run(source, r, a, stride, start)
    same_bits(r.raw(), (start + np.arange(64) * stride).astype(np.int32), "gather")


@case()
def scalars(bench):
    source = """
@kernel(grid=(4,))
def f(r: *fp32, a: *fp32, k: fp32):
    p = program_id(0)
    store(r + p, load(a + p) * k, mask=p < 3)
"""
    a, r = bench.buffer("fp32", 4, [1, 2, 3, 4]), bench.buffer("fp32", 4)
    before = r.raw()
    bench.run(source, r, a, 2.5)
    same_bits(r.raw()[:3], np.array([2.5, 5, 7.5], np.float32))
    same_bits(r.raw()[3:].view(np.uint32), before[3:].view(np.uint32), "a masked scalar store")


@case(dtype=["i8", "i16", "i32"], wide=["i32", "i64"])
def abs_of_the_least(bench, dtype, wide):
    """|x| and -x of the least integer are itself, also where what follows widens or divides it."""
    source = f"""
@kernel(grid=(1,))
def f(y: *{wide}, z: *{dtype}, x: *{dtype}):
    i = arange(0, 64)
    v = abs(load(x + i))
    store(y + i, v.to({wide}))
    store(z + i, v // 62)
    w = -load(x + i)
    store(y + 64 + i, w.to({wide}))
    store(z + 64 + i, w // -3)
"""
    t = np.dtype(DTYPES[dtype][1])
    x = np.arange(-32, 32).astype(t)
    x[:3] = np.iinfo(t).min, np.iinfo(t).max, np.iinfo(t).min + 1
    y, z, xb = bench.buffer(wide, 128), bench.buffer(dtype, 128), bench.buffer(dtype, 64, x)
    bench.run(source, y, z, xb)
    want = np.abs(x)
    both = np.concatenate([want, -x])
    same_bits(y.raw(), both.astype(DTYPES[wide][1]), "widened")
    same_bits(z.raw(), np.trunc(both / np.repeat([62, -3], 64)).astype(t), "divided")


@case(dtype=["fp16", "bf16", "fp32", "fp64"])
def nan_loses(bench, dtype):
    """minimum and maximum of a NaN and what the compiler knows to be none: converted integers and constants,
    tiles and scalars."""
    source = """
@kernel(grid=(1,))
def f(y: *T, x: *T, n: i32, T: dtype):
    i = arange(0, 32)
    v = load(x + i)
    store(y + i, minimum(i.to(T), v))
    store(y + 32 + i, maximum(v, i.to(T)))
    s = load(x + 3)
    store(y + 64, minimum(n.to(T), s))
    store(y + 65, maximum(s, n.to(T)))
    store(y + 66, minimum(s, 2.5))
    store(y + 67 + arange(0, 1), maximum(full((1,), -1.5, T), full((1,), 0, T) * load(x + 3)))
"""
    x = np.ones(32)
    x[::3] = np.nan
    xb, y = bench.buffer(dtype, 32, x), bench.buffer(dtype, 72, np.zeros(72))
    bench.run(source, y, xb, 7)
    i = np.arange(32.0)
    want = np.concatenate([np.fmin(i, x), np.fmax(i, x), [7, 7, 2.5, -1.5]])
    same_bits(y.read()[:68], want, "the number")
