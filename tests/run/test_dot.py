"""Products of matrices. Small integers, every partial sum of which is exact, so that any order of adding gives the same
bits: those of NumPy's int64. Real numbers against float64, within the bounds of docs/reference/numerics.md."""
import math

import numpy as np

from case import U, ULP, case, close, example, must_fail, same_bits
from fsc import Jit, decode, encode
from matrix import Matrix
from test_math import erf
from test_shape import offsets

# operands' types, and the result's
TYPES = [("fp16", "fp16", "fp32"), ("bf16", "bf16", "fp32"), ("fp32", "fp32", "fp32"), ("fp64", "fp64", "fp64"),
         ("i8", "i8", "i32"), ("u8", "u8", "i32"), ("i8", "u8", "i32"), ("u8", "i8", "i32"),
         ("fp8e4nv", "fp8e4nv", "fp32"), ("fp8e5", "fp8e5", "fp32"), ("fp8e4nv", "fp8e5", "fp32")]
SHAPES = [(16, 16, 16), (32, 16, 64), (16, 128, 32), (64, 64, 64), (128, 32, 16), (128, 128, 32), (32, 32, 128)]
SMALL = [(1, 1, 1), (1, 16, 4), (16, 1, 8), (8, 8, 1), (2, 2, 2), (4, 64, 2), (1, 1, 64), (64, 1, 1), (1, 64, 32)]

SOURCE = """
@kernel(grid=(1,))
def f(r: *R, x: *A, y: *B, c: *R, n: i32, A: dtype = fp32, B: dtype = fp32, R: dtype = fp32):
    a = load(x + {a})
    b = load(y + {b})
    c = load(c + {r})
{body}
    store(r + {r}, d)
"""


def cut(bench, dtype):
    """What the bounds of sums grow by where matrix instructions of a card make them: it does not round to nearest."""
    return 4 if bench.device.name == "cuda" and dtype in ("fp16", "bf16") else 1


def integers(rng, shape, dtype):
    low, high = (0, 9) if dtype == "u8" else (-4, 5) if dtype == "fp8e5" else (-8, 9)
    return rng.integers(low, high, shape)


def operands(shape, types, batch, seed=0):
    m, n, k = shape
    rng = np.random.default_rng(seed + m + 3 * n + 7 * k)
    lead = (batch,) if batch else ()
    return (integers(rng, lead + (m, k), types[0]), integers(rng, lead + (k, n), types[1]),
            rng.integers(-100, 100, lead + (m, n)))


def run(bench, body, shape, types, x, y, c, n=0, **options):
    source = SOURCE.format(a=offsets(x.shape), b=offsets(y.shape), r=offsets(c.shape),
                           body="".join(f"    {line}\n" for line in body.split("\n")))
    rb = bench.buffer(types[2], c.size)
    xb, yb, cb = (bench.buffer(t, v.size, v.ravel()) for t, v in ((types[0], x), (types[1], y), (types[2], c)))
    bench.run(source, rb, xb, yb, cb, n, types=dict(zip("ABR", types)), **options)
    return decode(rb.raw(), types[2]).reshape(c.shape)


def judge(bench, body, shape, types, want, batch=0, n=0, **options):
    """`want` of the operands as int64; the kernel has them as a, b and c and makes d."""
    x, y, c = operands(shape, types, batch)
    got = run(bench, body, shape, types, x, y, c, n, **options)
    same_bits(got, decode(encode(want(x, y, c), types[2]), types[2]), f"{body} {shape} {types}")


@case(types=TYPES, shape=SHAPES)
def product(bench, types, shape):
    judge(bench, "d = dot(a, b, c)", shape, types, lambda x, y, c: x @ y + c)


@case(types=TYPES, shape=SMALL)
def product_small(bench, types, shape):
    judge(bench, "d = dot(a, b, c)", shape, types, lambda x, y, c: x @ y + c)


@case(types=TYPES[:5], shape=[(64, 32, 32), (16, 16, 16), (128, 64, 16)], warps=[1, 2, 4, 8])
def product_warps(bench, types, shape, warps):
    judge(bench, "d = a.dot(b, acc=c)", shape, types, lambda x, y, c: x @ y + c, num_warps=warps)


@case(axes=[(2, 2), (4, 1), (2, 2, 2)])
def product_axes(bench, axes):
    """More axes that count matrices than one."""
    lead = ", ".join(map(str, axes))
    body = (f"d = dot(a.reshape({lead}, 16, 32), b.reshape({lead}, 32, 16), c.reshape({lead}, 16, 16))"
            f".reshape({math.prod(axes)}, 16, 16)")
    judge(bench, body, (16, 16, 32), ("fp16", "fp16", "fp32"), lambda x, y, c: x @ y + c, math.prod(axes))


@case(types=TYPES, shape=[(16, 16, 16), (8, 32, 4), (32, 1, 16)], batch=[1, 2, 8])
def product_batch(bench, types, shape, batch):
    judge(bench, "d = dot(a, b, c)", shape, types, lambda x, y, c: x @ y + c, batch)


@case(types=[TYPES[0], TYPES[2], TYPES[4]], shape=[(32, 64, 16), (64, 16, 32)])
def product_forms(bench, types, shape):
    """Sums before and behind, a transposed operand, an operand that is computed,
    a product in a branch and in loops of no and some rounds."""
    big = ".to(i32)" if types[2] == "i32" else ".to(fp32)"
    for body, want in (("d = dot(a, b) + c", lambda x, y, c: x @ y + c),
                       ("d = c + dot(a, b)", lambda x, y, c: x @ y + c),
                       ("d = c\nd += dot(a, b)", lambda x, y, c: x @ y + c),
                       ("d = c - dot(a, b)", lambda x, y, c: c - x @ y),
                       ("d = dot(a, b)", lambda x, y, c: x @ y), ("d = dot(b.T, a.T).T", lambda x, y, c: x @ y),
                       (f"d = (trans(dot(trans(b), trans(a))){big} + c) * 2", lambda x, y, c: (x @ y + c) * 2),
                       ("d = dot(a + a, where(b > 0, b, 0).to(B), c)", lambda x, y, c: 2 * x @ np.maximum(y, 0) + c),
                       ("d = c\nif n > 2:\n    d = dot(a, b, d)", lambda x, y, c: x @ y + c),
                       ("d = c\nif n > 5:\n    d = dot(a, b, d)", lambda x, y, c: c),
                       ("d = c\nfor i in range(n):\n    d = dot(a, b, d)", lambda x, y, c: 3 * (x @ y) + c),
                       ("d = c\nfor i in range(3, n):\n    d = dot(a, b, d)", lambda x, y, c: c),
                       ("d = c\ne = c\nfor i in range(n):\n    d = dot(a, b, d)\n    e += d\nd = e",
                        lambda x, y, c: 6 * (x @ y) + 4 * c),
                       ("d = c\ne = c\nfor i in range(n):\n    e += d\n    d = dot(a, b, d)\nd = e",
                        lambda x, y, c: 3 * (x @ y) + 4 * c),
                       ("d = c\ne = c\nfor i in range(n):\n    d, e = dot(a, b, e), d",
                        lambda x, y, c: 2 * (x @ y) + c),
                       ("d = c\ni = 0\nwhile i < n:\n    d = dot(a, b, d)\n    i += 1",
                        lambda x, y, c: 3 * (x @ y) + c),
                       ("d = c\nfor i in range(n):\n    d = dot(a, b, d) + d.sum(1)[:, None] * 0",
                        lambda x, y, c: 3 * (x @ y) + c)):
        judge(bench, body, shape, types, want, n=3)


@case(stored=["i8", "fp8e5"], to=["fp16", "bf16", "fp32"], shape=SHAPES + [(16, 16, 128), (128, 16, 128)])
def product_widened(bench, stored, to, shape):
    """Operands of 8 bits in memory: what a thread loads at once is more of them than a fragment has side by side."""
    for types, body in (((stored, to), f"dot(a.to({to}), b, c)"), ((to, stored), f"dot(a, b.to({to}), c)"),
                        ((stored, to), f"dot(a.to({to}), (b.T * 2).T, c)"),
                        ((to, stored), f"dot((a.T * 2).T, b.to({to}), c)")):
        times = 2 if ".T * 2" in body else 1
        judge(bench, "d = " + body, shape, (*types, "fp32"), lambda x, y, c: times * (x @ y) + c)


@case(types=[TYPES[0], TYPES[1], TYPES[2]], shape=[(16, 16, 16), (32, 32, 64), (64, 64, 32)])
def product_chained(bench, types, shape):
    """The product of a product, rounded to the operands' type in between; sums of rows of it, as in attention."""
    def modulo(p):
        return p - np.floor(p / 4) * 4

    if shape[0] == shape[1]:
        judge(bench, "p = dot(a, b)\nd = dot((p - floor(p * 0.25) * 4).to(A), (c - floor(c * 0.25) * 4).to(A), c)",
              shape, types, lambda x, y, c: modulo(x @ y) @ modulo(c) + c)
    judge(bench, "p = dot(a, b)\np -= p.max(1)[:, None]\nd = p + p.sum(1)[:, None] + dot(a, b).sum(0)[None, :]", shape,
          types, lambda x, y, c: (p := x @ y - (x @ y).max(1)[:, None]) + p.sum(1)[:, None] + (x @ y).sum(0)[None, :])


@case(types=[("fp16", "fp16", "fp16"), ("fp8e5", "fp8e4nv", "fp16")], shape=[(16, 32, 16), (64, 16, 32)])
def product_half(bench, types, shape):
    judge(bench, "d = dot(a, b, c, out_dtype=fp16)", shape, types, lambda x, y, c: x @ y + c)


@case(types=TYPES[8:], most=[32, 64, 256])
def product_imprecise(bench, types, most):
    judge(bench, f"d = dot(a, b, c, max_num_imprecise_acc={most})", (16, 32, 128), types, lambda x, y, c: x @ y + c)


@case(precision=["tf32", "ieee", "tf32x3", "bf16x3", "bf16x6"], shape=[(32, 32, 32), (16, 64, 128)])
def product_precision(bench, precision, shape):
    judge(bench, f"d = dot(a, b, c, input_precision='{precision}')", shape, TYPES[2], lambda x, y, c: x @ y + c)


@case(ctas=[2, 4], shape=[(64, 64, 32), (16, 16, 16)])
def product_ctas(bench, ctas, shape):
    if bench.device.name != "cpu" and bench.device.max_ctas() >= ctas:
        judge(bench, "d = dot(a, b, c)", shape, TYPES[0], lambda x, y, c: x @ y + c, num_ctas=ctas)


@case(types=[TYPES[0], TYPES[1], TYPES[2], TYPES[3]], shape=[(64, 64, 64), (16, 32, 256), (32, 64, 16)], spread=[0, 8])
def product_real(bench, types, shape, spread):
    """|error| <= K u (|a| |b| + |c|) for fp32 sums, of operands as they are stored."""
    m, n, k = shape
    rng = np.random.default_rng(m + n + k)
    x, y, c = (decode(encode(rng.standard_normal(s) * 2.0 ** rng.integers(-spread, spread + 1, s), t), t)
               for s, t in (((m, k), types[0]), ((k, n), types[1]), ((m, n), types[2])))
    got = run(bench, "d = dot(a, b, c, input_precision='ieee')", shape, types, x, y, c)
    u = U if types[2] == "fp32" else ULP["fp64"] / 2
    u *= cut(bench, types[0])
    want, bound = x @ y + c, (k + 1) * u * (np.abs(x) @ np.abs(y) + np.abs(c)) * (1 if types[2] == "fp32" else 2)
    close(got, want, 0, bound, f"{types} {shape}")
    must_fail(lambda: close(got + 2 * bound, want, 0, bound), "twice the bound")


TINY = 2.0 ** -126  # below it a CPU's instruction for bf16 takes 0


@case(types=[*TYPES[:3], TYPES[8]], shape=[(16, 16, 64), (8, 4, 2), (4, 32, 16)])
def product_subnormal(bench, types, shape):
    """Subnormal operands, products, sums and accumulators count, but where bf16 has an instruction that takes 0."""
    m, n, k = shape
    rng = np.random.default_rng(m + n + k)
    far, near = {"fp16": (10, 24), "fp8e4nv": (6, 9)}.get(types[0], (90, 133))
    x = rng.standard_normal((m, k)) * 2.0 ** -rng.integers(near - 12, near, (m, k))
    y = rng.standard_normal((k, n)) * 2.0 ** rng.integers(-far, far, (k, n))
    x, y = (decode(encode(v, t), t).astype(np.float64) for v, t in ((x, types[0]), (y, types[1])))
    c = decode(encode(rng.standard_normal((m, n)) * TINY, "fp32"), "fp32").astype(np.float64)
    got = run(bench, "d = dot(a, b, c, input_precision='ieee')", shape, types, x, y, c)
    bound = (k + 1) * U * cut(bench, types[0]) * (np.abs(x) @ np.abs(y) + np.abs(c)) + (k + 1) * 2.0 ** -149
    lost = np.where(np.abs(x) < {"fp16": 2.0 ** -14, "fp8e4nv": 2.0 ** -6}.get(types[0], TINY), 0, x) @ y + c
    must_fail(lambda: close(lost, x @ y + c, 0, bound), "no subnormal operands")
    if bench.device.name == "cpu" and types[0] in ("bf16", "fp8e4nv"):
        bound += TINY * (np.abs(x).sum(1)[:, None] + np.abs(y).sum(0) + k + 1)
    close(got, x @ y + c, 0, bound, f"{types} {shape}")


@case(types=[*TYPES[:2], *TYPES[8:]], shape=[(16, 16, 16), (32, 64, 32), (8, 8, 2), (4, 4, 1), (16, 2, 8)])
def product_order(bench, types, shape):
    """Multiply-adds go along k from the accumulator on: the bits are those of sums rounded one after the other."""
    m, n, k = shape
    rng = np.random.default_rng(m + 3 * n + 7 * k)
    x, y, c = (np.clip(np.round(rng.standard_normal(s) * 2.0 ** 8), -(2 ** 10), 2 ** 10) / 2.0 ** 8 for s in
               ((m, k), (k, n), (m, n)))
    x, y = (decode(encode(v, t), t).astype(np.float64) for v, t in ((x, types[0]), (y, types[1])))
    c, orders = (c / 3).astype(np.float32), []
    for order in (range(k), [min(i ^ 1, k - 1) for i in range(k)]):
        sums = c
        for i in order:
            sums = (sums.astype(np.float64) + x[:, i, None] * y[i]).astype(np.float32)  # one rounding: fp64 has room
        orders.append(sums)
    passes = {} if bench.device.name == "cpu" else {"passes": "-matrix"}
    got = run(bench, "d = dot(a, b, c)", shape, types, x, y, c, **passes)
    same_bits(got.astype(np.float32), orders[0], f"{types} {shape}")
    assert k < 8 or (orders[0] != orders[1]).any(), "another order has the same bits"


@case(types=[TYPES[0], TYPES[1], TYPES[2], TYPES[3], TYPES[10]], shape=[(16, 16, 16), (8, 32, 4), (64, 16, 32)])
def product_special(bench, types, shape):
    """NaN and infinity are where float64 has them."""
    x, y, c = (v.astype(np.float64) for v in operands(shape, types, 0))
    x[0, 0], x[1, 1], x[2, 2], x[3, 3], y[:, 0], y[3, 0] = 1, np.inf, -np.inf, np.nan, np.abs(y[:, 0]) + 1, 0
    y[0, 1], c[4, 2], c[5, 3] = np.nan, np.inf, -np.inf
    if types[0] == "fp8e4nv":  # which has no infinity
        x[np.isinf(x)] = 3
    with np.errstate(invalid="ignore"):
        want = x @ y + c
    got = run(bench, "d = dot(a, b, c, input_precision='ieee')", shape, types, x, y, c)
    same_bits(np.isnan(got), np.isnan(want), "NaN")
    same_bits(got[~np.isnan(want)], want[~np.isnan(want)], "the others")


# How many products, and what of |a| |b| the parts of operands leave out.
PARTS = {"tf32x3": (3, 3 * 2.0 ** -22), "bf16x3": (3, 3 * 2.0 ** -16), "bf16x6": (6, 2.0 ** -22)}


@case(precision=list(PARTS), shape=[(16, 16, 16), (64, 32, 128)])
def product_parts(bench, precision, shape):
    """Sums of products of shorter parts, where a GPU has instructions for them; NaN and infinity where they belong."""
    m, n, k = shape
    rng = np.random.default_rng(k)
    x, y, c = (rng.standard_normal(s).astype(np.float32).astype(np.float64) * 2.0 ** rng.integers(-8, 9, s)
               for s in ((m, k), (k, n), (m, n)))
    line = "d = dot(a, b, c, input_precision='{}')"
    got = run(bench, line.format(precision), shape, TYPES[2], x, y, c)
    size = np.abs(x) @ np.abs(y)
    count, left_out = PARTS[precision]
    bound = left_out * size + (count * k + 2) * U * cut(bench, "fp16") * (size + np.abs(c))
    close(got, x @ y + c, 0, bound, f"{precision} {shape}")
    if bench.device.name == "emu" and Jit.defaults.get("num_ctas", 1) == 1:  # several blocks: no instruction
        got = run(bench, line.format("tf32"), shape, TYPES[2], x, y, c)
        must_fail(lambda: close(got, x @ y + c, 0, bound), "one product of tf32")
    x[0, 0], x[1, 1], x[2, 2], y[:, 0], y[3, 0] = np.nan, np.inf, -np.inf, np.abs(y[:, 0]) + 1, 0
    got = run(bench, line.format(precision), shape, TYPES[2], x, y, c)
    with np.errstate(invalid="ignore"):
        want = x @ y + c
    same_bits(np.isnan(got), np.isnan(want), "NaN")
    same_bits(got[np.isinf(want)], want[np.isinf(want)], "infinity")


@case(types=TYPES[:5], form=["matrix", "split_dot"])
def product_without_pass(bench, types, form):
    """Threads make products on their own where no pass chooses instructions."""
    judge(bench, "d = dot(a, b, c)", (32, 16, 64), types, lambda x, y, c: x @ y + c, passes=f"-{form}")
    judge(bench, "d = dot(a, b, c, input_precision='bf16x3')", (16, 16, 16), types, lambda x, y, c: x @ y + c, 2,
          passes=f"-{form}")


@case(shape=[(16, 16, 16), (64, 32, 128)])
def product_tf32(bench, shape):
    """fp32 that may be tf32 is rounded to it by a GPU: to the nearest of 11 bits, halves away from zero; NaN stays.
    So a product with the identity shows the rounded numbers, and real ones are within the bound."""
    m, n, k = shape
    rng = np.random.default_rng(k)
    x, y = rng.integers(-5000, 5000, (m, k)).astype(np.float32), np.eye(k, n, dtype=np.float32)
    step = np.where(np.abs(x) < 2048, 1, np.where(np.abs(x) < 4096, 2, 4))
    near = np.sign(x) * np.floor(np.abs(x) / step + 0.5) * step
    got = run(bench, "d = dot(a, b, c)", shape, TYPES[2], x, y, np.zeros((m, n), np.float32))
    rounds = bench.device.name != "cpu" and Jit.defaults.get("num_ctas", 1) == 1  # several blocks: no instruction
    same_bits(got, ((near if rounds else x) @ y).astype(np.float64), "the identity")
    x.view(np.uint32)[0, 0], x[1, 1] = 0x7fffffff, np.inf
    got = run(bench, "d = dot(a, b, c)", shape, TYPES[2], x, np.abs(y) + 1, np.zeros((m, n), np.float32))
    has_kept = np.isnan(got[0]).all() and np.isposinf(got[1]).all()
    assert has_kept and np.isfinite(got[2:]).all(), "NaN or infinity was lost"
    x, y, c = (rng.standard_normal(s).astype(np.float32).astype(np.float64) for s in ((m, k), (k, n), (m, n)))
    got = run(bench, "d = dot(a, b, c)", shape, TYPES[2], x, y, c)
    size = np.abs(x) @ np.abs(y)
    bound = (2.0 ** -10 + 2.0 ** -22) * size + (k + 1) * 4 * U * (size + np.abs(c))
    close(got, x @ y + c, 0, bound, f"{shape}")


# ---- The example -----------------------------------------------------------------------------------------------------

ACTIVATIONS = {"none": lambda x: x, "relu": lambda x: np.maximum(x, 0), "silu": lambda x: x / (1 + np.exp(-x)),
               "gelu": lambda x: x * 0.5 * (1 + erf(x.ravel() / np.sqrt(2)).reshape(x.shape).astype(float))}


def run_matmul(bench, dtype, sizes, pad=0, activation="none", source=None, bias=True, residual=True, **defines):
    m, n, k = sizes
    rng = np.random.default_rng(m + 3 * n + 7 * k)
    a, b, added, last = (Matrix(bench, dtype, s, rng.standard_normal(s), p)
                         for s, p in (((m, k), pad), ((k, n), pad), ((1, n), 0), ((m, n), pad)))
    c = Matrix(bench, dtype, (m, n), pad=pad)
    for name, is_there in (("bias", bias), ("residual", residual)):
        if not is_there:
            defines[name] = "None"
    arrays = [c.buffer, a.buffer, b.buffer] + [added.buffer] * bias + [last.buffer] * residual
    bench.run(source or example("matmul.dsl"), *arrays, c.stride, a.stride, b.stride, last.stride, m, n, k,
              types={"T": dtype}, defines={"ACTIVATION": f'"{activation}"', **defines})
    x, y = added.seen * bias, last.seen * residual
    want = a.seen @ b.seen + x
    size = np.abs(a.seen) @ np.abs(b.seen) + np.abs(x)
    active = ACTIVATIONS[activation](want)
    bound = 1.2 * (k + 2) * U * cut(bench, dtype) * size + 12 * U * (np.abs(want) + np.abs(y))
    bound += ULP[dtype] * np.abs(active + y) if dtype != "fp32" else 0
    close(c.read(), active + y, 0, bound, f"matmul {sizes} in {dtype}, {activation}")


SIZES = [(1, 1, 1), (63, 65, 33), (64, 64, 64), (129, 100, 31), (5, 300, 257), (200, 7, 1)]


@case(dtype=["fp16", "bf16", "fp32"], sizes=SIZES + [(260, 270, 130)], pad=[0, 3])
def matmul_example(bench, dtype, sizes, pad):
    run_matmul(bench, dtype, sizes, pad)


WRAPS = """
@triton.jit
def wrapped(c, a, b, M, N, K, a_m, a_k, b_k, b_n, c_m, c_n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    across = tl.cdiv(N, BN)
    pid_m = pid // across
    pid_n = pid % across
    tl.assume(pid_m >= 0)
    tl.assume(pid_n >= 0)
    at_m = (pid_m * BM + tl.arange(0, BM)) % M
    at_n = (pid_n * BN + tl.arange(0, BN)) % N
    at_k = tl.arange(0, BK)
    x = a + (at_m[:, None] * a_m + at_k[None, :] * a_k)
    y = b + (at_k[:, None] * b_k + at_n[None, :] * b_n)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        p = tl.load(x, mask=at_k[None, :] < K - k * BK, other=0.0)
        q = tl.load(y, mask=at_k[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(p, q, acc, input_precision="ieee")
        x += BK * a_k
        y += BK * b_k
    m, n = pid_m * BM + tl.arange(0, BM), pid_n * BN + tl.arange(0, BN)
    tl.store(c + m[:, None] * c_m + n[None, :] * c_n, acc, mask=(m[:, None] < M) & (n[None, :] < N))
"""


@case(sizes=[(64, 64, 32), (48, 80, 40), (16, 16, 16), (33, 47, 17), (1, 130, 5), (100, 8, 64)], dtype=["fp16", "fp32"])
def matmul_that_wraps(bench, sizes, dtype):
    """Rows and columns beyond the edges are those from the beginning on, and go nowhere."""
    m, n, k = sizes
    rng = np.random.default_rng(m + n + k)
    x, y = rng.integers(-8, 9, (m, k)), rng.integers(-8, 9, (k, n))
    a, b, c = (bench.buffer(t, v.size, v.ravel()) for t, v in ((dtype, x), (dtype, y), ("fp32", np.zeros((m, n)))))
    bench.run(WRAPS, c, a, b, m, n, k, k, 1, n, 1, n, 1, grid=[-(-m // 64) * -(-n // 32)], file="wraps.py",
              defines={"BM": 64, "BN": 32, "BK": 32})
    same_bits(c.raw().reshape(m, n), (x @ y).astype(np.float32), f"{sizes}")


@case(activation=list(ACTIVATIONS), dtype=["fp16", "fp32"])
def matmul_epilogue(bench, activation, dtype):
    run_matmul(bench, dtype, (70, 90, 40), 1, activation)


@case(bias=[False, True], residual=[False, True], dtype=["fp16", "fp32"])
def matmul_left_out(bench, bias, residual, dtype):
    """-D bias=None: no array, no argument."""
    run_matmul(bench, dtype, (70, 90, 40), 1, "relu", None, bias, residual)


@case(tile=[(16, 16, 16), (128, 64, 32), (32, 128, 64), (128, 128, 16)], dtype=["fp16", "fp32"])
def matmul_tiles(bench, tile, dtype):
    run_matmul(bench, dtype, (130, 140, 70), 0, BM=tile[0], BN=tile[1], BK=tile[2])


STRIPS = """
@kernel(grid=(1,))
def f(r: *R, x: *const fp16, y: *const fp16, c: *R, M: i32, N: i32, K: i32, stride: i32, S: constexpr = 128,
      ATOMIC: constexpr = False, R: dtype = fp32):
    i, j, k = arange(0, S), arange(0, 128), arange(0, 16)
    d = zeros((S, 128), fp32)
    for start in range(0, K, 16):
        a = load(x + i[:, None] * K + (start + k)[None, :], mask=(i < M)[:, None])
        b = load(y + (start + k)[:, None] * N + j[None, :], mask=(j < N)[None, :])
        d = dot(a, b, d)
    mask = (i < M)[:, None] & (j < N)[None, :]
    d = maximum(d, 0.0) + load(c + i[:, None] * N + j[None, :], mask=mask, other=0).to(fp32)
    if ATOMIC:
        atomic_add(r + i[:, None] * stride + j[None, :], d.to(R), mask=mask)
    else:
        store(r + i[:, None] * stride + j[None, :], d.to(R), mask=mask)
"""


@case(dtype=["fp16", "fp32"], sizes=[(128, 128, 16), (256, 128, 32), (250, 120, 16), (100, 99, 32)],
      way=["apart", "strided", "in_place", "atomic"])
def product_in_strips(bench, dtype, sizes, way):
    """What is added to a large product comes strip by strip, and may lie where the result goes."""
    m, n, k = sizes
    rng = np.random.default_rng(m + n + k)
    x, y, c = rng.integers(-4, 5, (m, k)), rng.integers(-4, 5, (k, n)), rng.integers(-100, 101, (m, n))
    stride = n + 8 if way == "strided" else n
    xb, yb, cb = (bench.buffer(t, v.size, v.ravel()) for t, v in (("fp16", x), ("fp16", y), (dtype, c)))
    rb = cb if way == "in_place" else bench.buffer(dtype, m * stride, np.full(m * stride, 7))
    bench.run(STRIPS, rb, xb, yb, cb, m, n, k, stride, types={"R": dtype},
              defines={"S": 128 if m <= 128 else 256, "ATOMIC": way == "atomic"})
    want = np.full((m, stride), 7)
    want[:, :n] = np.maximum(x @ y, 0) + c + (7 if way == "atomic" else 0)
    same_bits(decode(rb.raw(), dtype).reshape(m, stride), want.astype(np.float64), f"{sizes} {way}")


@case()
def matmul_no_rounds(bench):
    """K = 0: the epilogue alone."""
    run_matmul(bench, "fp16", (20, 30, 0))


@case()
def products_can_fail(bench):
    """Kernels with one mistake each."""
    text = example("matmul.dsl").decode()
    for right, wrong in (("(b, (K, N)", "(b, (K, N - 1)"), ("range(0, K, BK)", "range(0, K - 1, BK)"),
                         ("b_blocks.load((k, n)), acc,", "b_blocks.load((k, n)),"),
                         ("load(bias + columns", "load(bias + columns // 2"),
                         ("load((m, n))", "load((m + 1, n))"), ("acc = maximum", "acc = minimum"),
                         ("a_blocks.load((m, k))", "a_blocks.load((m + 1, k))")):
        assert right in text, right
        must_fail(lambda: run_matmul(bench, "fp32", (65, 65, 257), 2, "relu", source=text.replace(right, wrong)), wrong)
