"""test_ends.py - rows that end before their tile does: what lies past a mask's end counts as the mask leaves it.

On the CPU a loop over a row stops behind the first chunk that its mask leaves out, where what follows would change
nothing (codegen/host/ends.c). Half of these kernels are such; in the others what lies past the end does matter: it is
summed, turned into the row, carried through a loop, or multiplied by an infinity.
"""
import numpy as np

from case import case, close, must_fail

ROWS = """
@kernel(grid=(m,))
def f(y: *fp32, s: *fp32, x: *T, w: *const fp32, n: i32, big: fp32, m: i32, N: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    i = arange(0, N)
    mask = i < n
    v = load(x + row * N + i, mask=mask, other=OTHER).to(fp32)
    BODY
    store(y + row * N + i, t, mask=mask)
    store(s + row, r)
"""
N, INF = 1024, np.inf


def softmax(v):
    with np.errstate(invalid="ignore"):
        e = np.exp(v - v.max())
    return e / e.sum(), e.sum()


def carried(v):
    for _ in range(3):
        v = v + 1 / (1 + (v * v).sum())
    return v, v.sum()


def backwards(v):
    return np.cumsum(v[::-1])[::-1], v.sum()


# name: other, the kernel's lines, and what they mean for a whole row: (t, r). w is 1 but at the end, where it is
# infinite; so is `big`.
BODIES = {
    "softmax": ("-inf", "e = exp(v - max(v, axis=0)); r = sum(e, axis=0); t = e / r", softmax),
    "squares": ("0.0", "r = sum(v * v, axis=0); t = v - r", lambda v: (v - (v * v).sum(), (v * v).sum())),
    "variance": ("0.0", "d = where(mask, v - 0.5, 0.0); r = sum(d * d, axis=0); t = d * rsqrt(r + 1.0)",
                 None),
    "least": ("5.0", "r = min(v, axis=0); t = v * 2.0", lambda v: (v * 2, v.min())),
    "ones": ("1.0", "r = sum(v, axis=0); t = v", lambda v: (v, v.sum())),
    "exponentials of zeros": ("0.0", "e = exp(v); r = sum(e, axis=0); t = e / r",
                              lambda v: (np.exp(v) / np.exp(v).sum(), np.exp(v).sum())),
    "places": ("0.0", "r = sum(v + i, axis=0); t = v", lambda v: (v, (v + V).sum())),
    "largest place": ("-inf", "r = max(maximum(v, i.to(fp32)), axis=0); t = v", lambda v: (v, N - 1.0)),
    "turned": ("7.0", "t = flip(v, 0); r = max(v, axis=0)", lambda v: (v[::-1], v.max())),
    "turned exponentials": ("0.0", "e = exp(v); t = flip(e, 0) + e; r = max(e, axis=0)",
                            lambda v: (np.exp(v[::-1]) + np.exp(v), np.exp(v).max())),
    "gathered": ("3.0", "t = gather(v, 1023 - i, 0); r = max(v, axis=0)", lambda v: (v[::-1], v.max())),
    "summed from behind": ("0.5", "t = cumsum(v, axis=0, reverse=True); r = sum(v, axis=0)", backwards),
    "carried": ("0.0", "for k in range(3):\n        v += 1.0 / (1.0 + sum(v * v, axis=0))\n"
                       "    t = v; r = sum(v, axis=0)", carried),
    "infinite weights": ("0.0", "r = sum(v * load(w + i), axis=0); t = v", lambda v: (v, (v * W).sum())),
    "infinite factor": ("0.0", "r = sum(v * big, axis=0); t = v", lambda v: (v, (v * INF).sum())),
    "left out": ("0.0", "r = sum((i >= n).to(fp32), axis=0); t = v", None),
    "two ends": ("0.0", "u = load(x + row * N + i, mask=mask & (i < 100), other=0.0).to(fp32)\n"
                        "    r = sum(u, axis=0) + sum(v, axis=0); t = v - u",
                 lambda v: (np.where(V < 100, 0, v), v.sum() + v[:100].sum())),
}
V = np.arange(N)
W = np.where(V < N - 1, 1.0, INF)
LENGTHS = [0, 1, 31, 32, 33, 500, 781, 992, 993, 1023, 1024]


def want_of(name, v, n):
    with np.errstate(all="ignore"):
        if name == "left out":
            return v, float(N - n)
        if name == "variance":
            d = np.where(V < n, v - 0.5, 0.0)
            return d / np.sqrt((d * d).sum() + 1), (d * d).sum()
        return BODIES[name][2](v)


def judge(bench, name, n, dtype, body=None):
    other, lines, _ = BODIES[name]
    m, rng = 3, np.random.default_rng(n)
    x = (rng.integers(-64, 64, (m, N)) / 32.0).astype(np.float64)
    x[2, : n // 2] = -INF if name == "softmax" else 0.0
    y, s = bench.buffer("fp32", m * N), bench.buffer("fp32", m)
    before = y.raw().copy()
    source = ROWS.replace("OTHER", other).replace("BODY", "; ".join([body or lines]).replace("; ", "\n    "))
    bench.run(source, y, s, bench.buffer(dtype, m * N, x), bench.buffer("fp32", N, W), n, INF, m, types={"T": dtype})
    got, sums = y.read().reshape(m, N), s.read()
    for row in range(m):
        t, r = want_of(name, np.where(V < n, x[row], float(other)), n)
        close(got[row, :n], t[:n], 3e-6, 1e-5, f"{name} of {n}, row {row}")
        close(sums[row], r, 3e-6, 2e-4, f"{name} of {n}, the number of row {row}")
    assert (y.raw().reshape(m, -1)[:, n:] == before.reshape(m, -1)[:, n:]).all(), "stored past the end"


@case(name=list(BODIES), dtype=["fp32", "fp16"])
def past_the_end(bench, name, dtype):
    for n in LENGTHS:
        judge(bench, name, n, dtype)


TILES = """
@kernel(grid=(1,))
def f(y: *fp32, s: *fp32, x: *fp32, m: i32, n: i32, R: constexpr = 8, N: constexpr = 256):
    i = arange(0, R)[:, None]
    k = arange(0, N)[None, :]
    mask = (i < m) & (k < n)
    v = load(x + i * N + k, mask=mask, other=-inf)
    e = exp(v - max(v, axis=1, keep_dims=True))
    total = sum(e, axis=1)
    store(y + i * N + k, e / total[:, None], mask=mask)
    store(s + arange(0, R), total)
"""


@case(m=[1, 5, 8], n=[1, 32, 33, 200, 256])
def tiles_past_the_end(bench, m, n):
    """Rows whose ends differ: those that no element belongs to give NaN, as -inf - -inf is."""
    x = np.random.default_rng(m).standard_normal((8, 256)).astype(np.float32)
    y, s = bench.buffer("fp32", 8 * 256), bench.buffer("fp32", 8)
    bench.run(TILES, y, s, bench.buffer("fp32", x.size, x), m, n)
    e = np.exp(x[:m, :n].astype(np.float64) - x[:m, :n].max(axis=1, keepdims=True))
    close(y.read().reshape(8, 256)[:m, :n], e / e.sum(axis=1, keepdims=True), 3e-6, 1e-7, "rows")
    close(s.read(), np.concatenate([e.sum(axis=1), np.full(8 - m, np.nan)]), 3e-6, 0, "sums")


LARGEST = """
@kernel(grid=(1,))
def f(y: *T, s: *T, x: *T, N: constexpr, T: dtype = fp32):
    i = arange(0, N)
    v = load(x + i)
    store(s, max(v, axis=0))
    store(s + 1, min(v, axis=0))
    store(y + i, maximum(v, load(x + (N - 1 - i))))
"""


@case(only=("cpu", "emu"), n=[1, 2, 4, 8, 16, 32, 64], dtype=["fp32", "fp64"])
def signalling_numbers_lose(bench, n, dtype):
    """In vectors of every width; where all are NaN the result is."""
    x, at = np.random.default_rng(n).standard_normal(n), np.arange(n) % 3 == 1
    xb, y, s = bench.buffer(dtype, n, x), bench.buffer(dtype, n), bench.buffer(dtype, 2)
    raw, x = xb.raw(), xb.read().astype(np.float64)
    bits = raw.view(np.uint32 if dtype == "fp32" else np.uint64)
    bits[at] = 0x7F800001 if dtype == "fp32" else 0x7FF0000000000001
    xb.write(raw)
    x[at] = np.nan
    bench.run(LARGEST, y, s, xb, defines={"N": n}, types={"T": dtype})
    close(s.read(), [np.nanmax(x), np.nanmin(x)], 0, 0, "the largest and the least")
    close(y.read(), np.fmax(x, x[::-1]), 0, 0, "element by element")


@case()
def ends_can_fail(bench):
    for name, body in (("ones", "r = sum(where(mask, v, 0.0), axis=0); t = v"), ("turned", "r = max(v, axis=0); t = v"),
                       ("infinite weights", "r = sum(v, axis=0); t = v")):
        must_fail(lambda: judge(bench, name, 781, "fp32", body), name)
