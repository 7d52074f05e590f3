"""dot_scaled: products of floats of 4, 8 and 16 bits with scales along k, against float64, within the bounds of dot
(docs/reference/numerics.md): what is multiplied is exact, and NaN is where a scale or an element says so."""
import numpy as np

from case import U, case, close, must_fail
from fsc import decode, encode, fp8_values

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
FORMATS = {"e2m1": "u8", "e4m3": "u8", "e5m2": "u8", "fp16": "u16", "bf16": "u16"}
DIRECT = {"e4m3": "fp8e4nv", "e5m2": "fp8e5", "fp16": "fp16", "bf16": "bf16"}
PAIRS = [("e2m1", "e2m1"), ("e4m3", "e4m3"), ("e5m2", "e5m2"), ("e4m3", "e2m1"), ("e2m1", "e5m2"), ("fp16", "e2m1"),
         ("bf16", "e4m3"), ("e5m2", "fp16"), ("bf16", "bf16")]

SOURCE = """
@kernel(grid=(1,))
def f(r: *fp32, x: *A, xs: *S, y: *B, ys: *S, c: *fp32, M: constexpr = 16, N: constexpr = 16, K: constexpr = 64,
      A: dtype = u8, B: dtype = u8, S: dtype = u8, PA: constexpr = 1, PB: constexpr = 1, ROWS: constexpr = 0,
      COLS: constexpr = 0, G: constexpr = 32):
    MA: constexpr = M // 2 if ROWS else M
    NB: constexpr = N // 2 if COLS else N
    KA: constexpr = K // PA
    KB: constexpr = K // PB
    a = load(x + arange(0, MA)[:, None] * KA + arange(0, KA)[None, :])
    b = load(y + arange(0, KB)[:, None] * NB + arange(0, NB)[None, :])
    sa = load(xs + arange(0, M)[:, None] * (K // G) + arange(0, K // G)[None, :])
    sb = load(ys + arange(0, N)[:, None] * (K // G) + arange(0, K // G)[None, :])
    at = arange(0, M)[:, None] * N + arange(0, N)[None, :]
    acc = load(c + at)
{body}
    store(r + at, d)
"""


def elements(rng, format, shape):
    """Bits of finite numbers, and the numbers."""
    if format == "e2m1":
        bits = rng.integers(0, 16, shape)
        return bits, np.where(bits & 8, -1, 1) * E2M1[bits & 7]
    if FORMATS[format] == "u8":
        table = fp8_values(DIRECT[format])
        good = np.flatnonzero(np.isfinite(table))
        bits = good[rng.integers(0, len(good), shape)]
        return bits, table[bits]
    stored = encode(rng.standard_normal(shape), format)
    return stored.view(np.uint16).astype(np.int64), decode(stored, format).astype(np.float64)


def packed(bits, axis):
    low, high = (np.take(bits, range(i, bits.shape[axis], 2), axis) for i in (0, 1))
    return low | high << 4


def factors(bits, dtype):
    if dtype == "fp8e4nv":
        return fp8_values(dtype)[bits]
    return np.where(bits == 255, np.nan, 2.0 ** (bits.astype(float) - 127))


class Problem:
    """Operands as they lie in memory, and as numbers in float64."""

    def __init__(self, formats, shape, rows=False, cols=False, scale="u8", seed=0):
        self.formats, self.shape, self.rows, self.cols, self.scale = formats, shape, rows, cols, scale
        m, n, k = shape
        self.group = 16 if scale == "fp8e4nv" else 32
        rng = np.random.default_rng(seed + m + 3 * n + 7 * k)
        self.a, self.x = elements(rng, formats[0], (m, k))
        self.b, self.y = elements(rng, formats[1], (k, n))
        low, high = (0x20, 0x60) if scale == "fp8e4nv" else (122, 133)
        self.sa, self.sb = (rng.integers(low, high, (size, k // self.group)) for size in (m, n))
        self.c = rng.standard_normal((m, n)).astype(np.float32)

    def run(self, bench, body, **options):
        m, n, k = self.shape
        a, b = self.a, self.b
        packs = [2 if f == "e2m1" else 1 for f in self.formats]
        if packs[0] == 2:
            a = packed(a, 0 if self.rows else 1)
        if packs[1] == 2:
            b = packed(b, 1 if self.cols else 0)
        types = dict(zip("AB", (FORMATS[f] for f in self.formats)), S=self.scale)
        out = bench.buffer("fp32", m * n)
        data = [bench.buffer(types["A"], a.size, a.ravel()), bench.buffer(self.scale, self.sa.size),
                bench.buffer(types["B"], b.size, b.ravel()), bench.buffer(self.scale, self.sb.size),
                bench.buffer("fp32", m * n, self.c.ravel())]
        data[1].write(self.sa.astype(np.uint8))
        data[3].write(self.sb.astype(np.uint8))
        defines = dict(M=m, N=n, K=k, PA=1 if self.rows else packs[0], PB=1 if self.cols else packs[1],
                       ROWS=int(self.rows), COLS=int(self.cols), G=self.group)
        text = SOURCE.format(body="".join(f"    {line}\n" for line in body.split("\n")))
        bench.run(text, out, *data, types=types, defines=defines, **options)
        return out.read().reshape(m, n)

    def judge(self, got, has_a=True, has_b=True, has_c=True, cut=1, half=False, tiny=0):
        """`tiny`: scaled elements and sums below it may count as zero."""
        x, y = self.x, self.y
        if has_a:
            x = x * np.repeat(factors(self.sa, self.scale), self.group, 1)
        if has_b:
            y = y * np.repeat(factors(self.sb, self.scale), self.group, 1).T
        c = self.c.astype(np.float64) if has_c else 0
        want, size = x @ y + c, np.abs(x) @ np.abs(y) + np.abs(c)
        bound = (self.shape[2] + 1) * U * cut * size
        bound += 2.0 ** -11 * np.abs(want) if half else 0
        bound += tiny * (np.abs(x).sum(1)[:, None] + np.abs(y).sum(0) + self.shape[2] + 1)
        close(got, want, 0, bound, f"{self.formats} {self.shape}")
        finite = np.isfinite(want)
        must_fail(lambda: close(np.where(finite, got + 3 * bound, got), want, 0, bound), "three times the bound")


CALL = 'd = dot_scaled(a, sa, "{}", b, sb, "{}", acc)'


def cut(bench):
    return 4 if bench.device.name == "cuda" else 1


@case(formats=PAIRS, shape=[(16, 16, 64), (64, 32, 128), (32, 8, 32)])
def scaled_formats(bench, formats, shape):
    p = Problem(formats, shape)
    p.judge(p.run(bench, CALL.format(*formats)), cut=cut(bench))


@case(formats=[("e2m1", "e2m1"), ("e2m1", "e4m3")])
def scaled_by_fp8(bench, formats):
    """A scale of fp8e4nv for 16 elements each."""
    p = Problem(formats, (16, 32, 64), scale="fp8e4nv")
    p.judge(p.run(bench, CALL.format(*formats).replace("acc", "acc=acc")), cut=cut(bench))


@case(rows=[False, True], cols=[False, True])
def scaled_packed_otherwise(bench, rows, cols):
    """Two elements in a byte along m or n instead of along k."""
    p = Problem(("e2m1", "e2m1"), (32, 16, 64), rows, cols)
    body = f'd = dot_scaled(a, sa, "e2m1", b, sb, "e2m1", acc, lhs_k_pack={not rows}, rhs_k_pack={not cols})'
    p.judge(p.run(bench, body), cut=cut(bench))


@case(form=["no lhs", "no rhs", "neither", "no acc", "typed", "half", "fast"])
def scaled_forms(bench, form):
    calls = {"no lhs": 'dot_scaled(a, None, "e4m3", b, sb, "e5m2", acc)',
             "no rhs": 'dot_scaled(a, sa, "e4m3", b, None, "e5m2", acc)',
             "neither": 'a.dot_scaled(None, "e4m3", b, None, "e5m2", acc)',
             "no acc": 'dot_scaled(a, sa, "e4m3", b, sb, "e5m2")',
             "typed": 'x, y = a.to(fp8e4nv, bitcast=True), b.to(fp8e5, bitcast=True)\nd = '
                      'tl.dot_scaled(x, sa, "e4m3", y, sb, "e5m2", acc)',
             "half": 'dot_scaled(a, sa, "e4m3", b, None, "e5m2", out_dtype=fp16).to(fp32)',
             "fast": 'dot_scaled(a, sa, "e4m3", b, sb, "e5m2", acc=acc, fast_math=True, out_dtype=fp32)'}
    p = Problem(("e4m3", "e5m2"), (16, 16, 64))
    if form == "half":  # whose largest number is 65504
        p.sa[:] = 118
        p.b, p.y = p.b % 60, fp8_values("fp8e5")[p.b % 60]
    p.judge(p.run(bench, calls[form] if form == "typed" else "d = " + calls[form]), form not in ("no lhs", "neither"),
            form not in ("no rhs", "neither", "half"), form not in ("no acc", "half"), cut(bench), form == "half")


@case(formats=[("e2m1", "e2m1"), ("e4m3", "e5m2"), ("fp16", "e4m3")])
def scaled_ends(bench, formats):
    """Scales at the ends of the exponents, which meet, and NaN: of a row, of a column, and of an element."""
    p = Problem(formats, (16, 16, 64))
    p.sa[:, :], p.sb[:, :] = (0, 252) if formats[0] == "e2m1" else (10, 236)
    p.sa[3, 0] = p.sb[5, 1] = 255
    if formats[0] == "e4m3":
        p.a[7, 9], p.x[7, 9] = 0x7F, np.nan
    got = p.run(bench, CALL.format(*formats))
    assert np.isnan(got[3]).all() and np.isnan(got[:, 5]).all() and np.isfinite(got[0, :5]).all(), "NaN lies elsewhere"
    p.judge(got, cut=cut(bench), tiny=2.0 ** -126 if bench.device.name == "cpu" else 0)  # a CPU's bf16


@case()
def scaled_batch(bench):
    p = Problem(("e2m1", "e4m3"), (16, 32, 64))
    names = [("a3", "a"), ("b3", "b"), ("s3", "sa"), ("t3", "sb")]
    body = "".join(f"{two} = join({one}, {one}).permute(2, 0, 1)\n" for two, one in names)
    body += 'd = dot_scaled(a3, s3, "e2m1", b3, t3, "e4m3").sum(0) * 0.5 + acc'
    p.judge(p.run(bench, body), cut=2 * cut(bench))
