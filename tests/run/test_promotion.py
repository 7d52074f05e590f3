"""test_promotion.py - which type an operation has, and its value: every pair of types, every cast,
literals on both sides.

The rules are written down here once more, from the language's page: `common` and the functions after it, and what a
Triton file (`triton`) has otherwise. Each kernel asserts the type of each result at compile time and stores it as it
is; values are computed in float64 or in integers and rounded once.
"""
import numpy as np

import fsc
from case import case, close, same_bits

INTS = ["i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["fp16", "bf16", "fp32", "fp64"]
TYPES = INTS + FLOATS
EIGHT = ["fp8e4nv", "fp8e5"]
N = 64
FORMATS = {"fp16": (10, -14, 65504.0), "bf16": (7, -126, 3.3895313892515355e38),
           "fp32": (23, -126, 3.4028234663852886e38)}


def bits_of(t):
    return int(t[2:]) if t.startswith("fp") or t == "bf16" else int(t[1:])


def is_unsigned(t):
    return t[0] == "u"


# ---- the rules -------------------------------------------------------------------------------------------------------


def common(x, y):
    floats = [t for t in (x, y) if t in FLOATS]
    if floats:
        if len(floats) == 2 and set(floats) == {"fp16", "bf16"}:
            return "fp32"
        return max(floats, key=bits_of)
    if bits_of(x) != bits_of(y):
        return max(x, y, key=bits_of)
    return x if is_unsigned(x) else y


def arithmetic(x, y, triton):
    t = common(x, y)
    return "i32" if t == "i1" and not triton else t


def at_least_fp32(t):
    return "fp64" if t == "fp64" else "fp32"


def divided(x, y):
    return at_least_fp32(common(x, y))


def bitwise(x, y, triton):
    return common(x, y)


def mixes_signs(x, y):
    return x not in FLOATS and y not in FLOATS and "i1" not in (x, y) and is_unsigned(x) != is_unsigned(y)


# ---- values ----------------------------------------------------------------------------------------------------------


def rounded(x, t):
    """Exact float64 values to the nearest of type t, as float64."""
    if t == "fp64":
        return x
    mantissa, least, top = FORMATS[t]
    exponent = np.maximum(np.frexp(x)[1] - 1, least)
    step = np.ldexp(1.0, exponent - mantissa)
    with np.errstate(invalid="ignore", over="ignore"):
        r = np.where(np.isfinite(x), np.rint(x / step) * step, x)
    return np.where(np.abs(r) > top, np.copysign(np.inf, r), r)


def convert(v, to):
    """Values of any type as those of type `to`; floats are kept in float64."""
    if to in FLOATS:
        return rounded(v.astype(np.float64), to)
    if to == "i1":
        return (v != 0).astype(np.uint8)
    if v.dtype.kind == "f":
        v = np.trunc(v).astype(np.int64)
    return v.astype(fsc.DTYPES[to][1])


def sample(t, seed, wide):
    r = np.random.default_rng(seed)
    if t in FLOATS or t in EIGHT:
        v = np.concatenate([r.standard_normal(N - 8) * 8, [1.0, -1.0, 0.5, 3.0, -2.5, 100.0, 7.0, -0.125]])
        return fsc.decode(fsc.encode(v, t), t)
    if t == "i1":
        return r.integers(0, 2, N).astype(np.uint8)
    most = min(bits_of(t), 64 if wide else 31)
    low, high = (0, 2**most) if is_unsigned(t) else (-2 ** (most - 1), 2 ** (most - 1))
    v = r.integers(low, high, N, dtype=np.uint64 if high == 2**64 else np.int64).astype(fsc.DTYPES[t][1])
    v[: N // 2] = (r.integers(0, 100, N // 2) - (0 if is_unsigned(t) else 50)).astype(v.dtype)
    return v


def nonzero(v):
    return np.where(v == 0, 1, v).astype(v.dtype)


OPS = {
    "+": (lambda a, b: a + b, arithmetic),
    "-": (lambda a, b: a - b, arithmetic),
    "*": (lambda a, b: a * b, arithmetic),
    "&": (lambda a, b: a & b, bitwise),
    "|": (lambda a, b: a | b, bitwise),
    "^": (lambda a, b: a ^ b, bitwise),
    "<": (lambda a, b: a < b, None),
    "<=": (lambda a, b: a <= b, None),
    "==": (lambda a, b: a == b, None),
    "!=": (lambda a, b: a != b, None),
    ">": (lambda a, b: a > b, None),
    ">=": (lambda a, b: a >= b, None),
}


def expected(op, x, y, a, b, triton):
    """(type, values) of a op b; None: the language refuses it."""
    f, rule = OPS.get(op, (None, None))
    both_int = x not in FLOATS and y not in FLOATS
    if op in "&|^" and not both_int:
        return None
    if f and rule:
        t = rule(x, y, triton)
        if t == "i1":  # wraps at 2
            return t, f(a, b) & 1
        with np.errstate(over="ignore", invalid="ignore"):
            return t, convert(f(convert(a, t), convert(b, t)), t)
    if f:
        if both_int and not triton:  # true of the numbers themselves
            return "i1", f(a.astype(object), b.astype(object)).astype(np.uint8)
        t = common(x, y)
        return "i1", f(convert(a, t), convert(b, t)).astype(np.uint8)
    if mixes_signs(x, y) or (op == "//" and not both_int):
        return None
    if op == "/":
        t = divided(x, y)
        return t, rounded(convert(a, t) / convert(b, t), t)
    t = arithmetic(x, y, triton) if both_int else at_least_fp32(common(x, y))
    p, q = convert(a, t), convert(b, t)
    if not both_int:
        return t, rounded(np.fmod(p, q), t)
    wide = np.uint64 if t == "u64" else np.int64
    p, q = p.astype(wide), q.astype(wide)
    quotient = p // q
    if wide is np.int64:  # truncates
        quotient = np.where((p % q != 0) & ((p < 0) != (q < 0)), quotient + 1, quotient)
    return t, convert(quotient if op == "//" else p - quotient * q, t)


def extreme(name, x, y, a, b, triton):
    """(type, values) of maximum and minimum."""
    t = common(x, y)
    pick = np.maximum if name == "maximum" else np.minimum
    if triton or not mixes_signs(x, y) or not is_unsigned(t):
        return t, pick(convert(a, t), convert(b, t))
    t = t if name == "maximum" else t.replace("u", "i")
    return t, pick(a.astype(object), b.astype(object)).astype(fsc.DTYPES[t][1])


def judge(got, t, want, what, division=False):
    if t not in FLOATS:
        same_bits(got, want.astype(got.dtype), what)
    elif division:
        close(got, want, 2.5 * 2.0 ** (-52 if t == "fp64" else -23), 0, what)
    else:
        same_bits(got, want, what)


def run(bench, lines, inputs, outputs, warps=4, file="test.dsl"):
    """Each line: (expression, type, values). One kernel for all of them."""
    params = [f"{n}: *{t}" for n, t, _ in inputs] + [f"o{k}: *{t}" for k, (_, t, _) in enumerate(lines)]
    body = [f"    {n.upper()} = load({n} + i)" for n, _, _ in inputs]
    for k, (text, t, _) in enumerate(lines):
        body += [f"    r{k} = {text}", f"    static_assert(r{k}.dtype == {t}, '{text}')", f"    store(o{k} + i, r{k})"]
    source = (f"@jit\ndef plus(p, q):\n    return p + q\n\n@kernel(grid=(1,))\ndef k({', '.join(params)}):\n    i = "
              f"arange(0, {N})\n" + "\n".join(body) + "\n")
    given = [bench.buffer(t, N) for _, t, _ in inputs]
    for b, (_, t, v) in zip(given, inputs):
        b.write(fsc.encode(v, t))
    made = [bench.buffer(t, N) for _, t, _ in lines]
    bench.run(source, *given, *made, num_warps=warps, file=file)
    for b, (text, t, want) in zip(made, lines):
        outputs(b.read(), t, want, text)


@case(x=TYPES)
def pairs(bench, x):
    every_pair(bench, x, TYPES, False)


@case(x=INTS)
def pairs_in_triton(bench, x):
    every_pair(bench, x, INTS, True)


def every_pair(bench, x, others, triton):
    for k, y in enumerate(others):
        wide = x in INTS and y in INTS
        a, b = sample(x, 2 * k, wide), nonzero(sample(y, 2 * k + 1, wide))
        lines = []
        for op in list(OPS) + ["/", "//", "%"]:
            e = expected(op, x, y, a, b, triton)
            if e:
                lines.append((f"A {op} B", *e))
        lines += [(f"{name}(A, B)", *extreme(name, x, y, a, b, triton)) for name in ("maximum", "minimum")]
        t = common(x, y)
        lines.append(("where(A > B, A, B)", t, None))
        more = expected(">", x, y, a, b, triton)[1]
        lines[-1] = (*lines[-1][:2], np.where(more != 0, convert(a, t), convert(b, t)))

        def check(got, t, want, text):
            judge(got, t, want, f"{text} of {x}, {y}", " / " in text)

        run(bench, lines, [("a", x, a), ("b", y, b)], check, (1, 4, 8)[k % 3], "test.py" if triton else "test.dsl")


@case(x=INTS)
def literals_beyond(bench, x):
    """What no value of the type is, compared with it: exact, as all comparisons of integers."""
    a = sample(x, 3, True)
    lines = []
    for n in (-1, -(2**31) - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, -(2**63), -(2**63) - 1, -(2**64) + 1):
        for op, turned in (("<", ">"), ("<=", ">="), ("==", "=="), ("!=", "!="), (">", "<"), (">=", "<=")):
            want = OPS[op][0](a.astype(object), n).astype(np.uint8)
            lines += [(f"A {op} {n}", "i1", want), (f"{n} {turned} A", "i1", want)]
    for part in range(0, len(lines), 18):
        run(bench, lines[part : part + 18], [("a", x, a)],
            lambda got, t, want, text: judge(got, t, want, f"{text} of {x}"))


@case(triton=[False, True])
def truth_values(bench, triton):
    """Sums of them, what is a mask, and one of the combine functions."""
    a, b = sample("i1", 1, False), sample("i1", 2, False)
    total = "u32" if triton else "i32"
    lines = [("sum(A) + 0 * B", total, np.full(N, a.sum())), ("cumsum(A)", total, np.cumsum(a)),
             ("max(A) + 0 * B", "i32", np.full(N, 1)), ("A ** 2", "i32", a),
             ("sum(A, dtype=i1) | (A & ~A)", "i1", np.full(N, a.sum() % 2 if triton else 1)), ("A * 2", "i32", 2 * a),
             ("-A", "i1", a) if triton else ("-A", "i32", -a.astype(np.int64))]
    if triton:
        lines += [("A << B", "i1", a & ~b), ("A >> B", "i1", a & ~b),
                  ("where(A * B, 5, 7)", "i32", np.where(a & b, 5, 7)),
                  ("load(a + i, mask=A * B == A + B, other=True)", "i1", np.where((a & b) == (a ^ b), a, 1)),
                  ("associative_scan(A, 0, plus)", "i1", np.cumsum(a) % 2),
                  ("reduce(A, 0, plus) ^ (A & ~A)", "i1", np.full(N, a.sum() % 2))]

    def check(got, t, want, text):
        judge(got, t, want, text)

    run(bench, lines, [("a", "i1", a), ("b", "i1", b)], check, 4, "test.py" if triton else "test.dsl")


@case(x=TYPES)
def literals(bench, x):
    """A literal takes the tile's type if its kind is no higher; else it is i32 or fp32."""
    a = sample(x, 5, False)
    of_int = {"i1": "i32"}.get(x, x)
    of_float = x if x in FLOATS else "fp32"
    lines = []
    for text, f in (("A + 3", lambda v: v + 3), ("3 + A", lambda v: 3 + v), ("3 - A", lambda v: 3 - v),
                    ("A * 3", lambda v: v * 3)):
        lines.append((text, of_int, convert(f(convert(a, of_int)), of_int)))
    for text, f in (("A + 1.5", lambda v: v + 1.5), ("1.5 - A", lambda v: 1.5 - v), ("A * -0.5", lambda v: v * -0.5)):
        lines.append((text, of_float, convert(f(convert(a, of_float)), of_float)))
    lines.append(("A + True", of_int, convert(convert(a, of_int) + 1, of_int)))
    lines.append(("A > 3", "i1", (a.astype(np.float64) > 3).astype(np.uint8)))
    lines.append(("0.5 >= A", "i1", (0.5 >= convert(a, of_float)).astype(np.uint8)))
    lines.append(("where(A > 0, A, 2)", of_int,
                  np.where(a.astype(np.float64) > 0, convert(a, of_int), convert(np.array([2]), of_int))))
    run(bench, lines, [("a", x, a)], lambda got, t, want, text: judge(got, t, want, f"{text} of {x}"))


@case(x=TYPES + EIGHT)
def casts(bench, x):
    """Every type to every other; float to int only where the value fits."""
    a = sample(x, 9, True)
    lines = []
    if x in FLOATS + EIGHT:
        a = np.clip(a, -100, 100)
        positive = np.abs(a)
    for to in TYPES:
        if x in FLOATS + EIGHT and is_unsigned(to):
            lines.append((f"abs(A.to(fp32)).to({to})" if x in EIGHT else f"abs(A).to({to})", to, convert(positive, to)))
        elif x in ("i64", "u64") and to in FLOATS:  # exact in float64 only below 2^53
            lines.append((f"(A >> 20).to({to})", to, convert(a >> 20, to)))
        else:
            lines.append((f"A.to({to})", to, convert(a, to)))
    run(bench, lines, [("a", x, a)], lambda got, t, want, text: judge(got, t, want, f"{text} of {x}"))


# ---- 8-bit floats: every pattern -------------------------------------------------------------------------------------

SOURCE = """
@kernel(grid=(cdiv(n, 256),))
def k(y: *U, x: *T, n: i32, T: dtype = fp32, U: dtype = fp32):
    i = program_id(0) * 256 + arange(0, 256)
    store(y + i, load(x + i).to(U))
"""


@case(f=EIGHT, to=["fp16", "bf16", "fp32", "fp64"])
def widen_all(bench, f, to):
    x, y = bench.buffer(f, 256), bench.buffer(to, 256)
    x.write(np.arange(256, dtype=np.uint8))
    bench.run(SOURCE, y, x, 256)
    same_bits(y.read(), rounded(fsc.fp8_values(f), to), f"{f} to {to}")


@case(f=EIGHT)
def narrow_all_fp16(bench, f):
    image = np.arange(65536, dtype=np.uint16).view(np.float16)
    x, y = bench.buffer("fp16", 65536), bench.buffer(f, 65536)
    x.write(image)
    bench.run(SOURCE, y, x, 65536)
    want = fsc.to_fp8(image.astype(np.float64), f)
    got, nan = y.raw(), np.isnan(image)
    same_bits(got[~nan], want[~nan], f"fp16 to {f}")
    assert np.isnan(y.read()[nan]).all()


@case(f=EIGHT, source=["fp32", "bf16", "fp64"])
def narrow_edges(bench, f, source):
    """Every boundary between two neighbours, and the values beside it; overflow, infinity, NaN, zeros, subnormals."""
    table = fsc.fp8_values(f)
    table = np.unique(table[np.isfinite(table)])
    middles = (table[1:] + table[:-1]) / 2
    v = np.concatenate([table, middles, middles * (1 + 2.0**-20), middles * (1 - 2.0**-20),
                        [1e30, -1e30, np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-30, 465.0, 464.0, 61440.0, 61439.0]])
    v = np.resize(v, (v.size + 255) // 256 * 256)
    x, y = bench.buffer(source, v.size), bench.buffer(f, v.size)
    x.write(fsc.encode(v, source))
    bench.run(SOURCE, y, x, v.size)
    v = fsc.decode(fsc.encode(v, source), source)
    nan = np.isnan(v)
    same_bits(y.raw()[~nan], fsc.to_fp8(v, f)[~nan], f"{source} to {f}")
    assert np.isnan(y.read()[nan]).all()


@case(f=EIGHT)
def store_converts(bench, f):
    """A store of fp32 into 8-bit memory rounds once; masked loads give 0."""
    source = f"""
@kernel(grid=(1,))
def k(y: *{f}, x: *{f}, n: i32):
    i = arange(0, 128)
    v = load(x + i, mask=i < n).to(fp32)
    store(y + i, v * 1.7 + 0.1)
"""
    bits = np.random.default_rng(3).integers(0, 120, 128).astype(np.uint8)
    x, y = bench.buffer(f, 128), bench.buffer(f, 128)
    x.write(bits)
    bench.run(source, y, x, 77)
    a = np.where(np.arange(128) < 77, fsc.fp8_values(f)[bits], 0).astype(np.float32)
    exact = a.astype(np.float64) * np.float64(np.float32(1.7)) + np.float64(np.float32(0.1))
    # with and without fma: the same to 8 bits, or nearly
    one, two = np.float32(exact), a * np.float32(1.7) + np.float32(0.1)
    got = y.raw()
    ok = (got == fsc.to_fp8(one, f)) | (got == fsc.to_fp8(two, f))
    assert ok.all(), f"{f}: {got[~ok][:4]}"
