"""test_relax_exp.py - exponentials of which 16 bits are left (passes/scalar/relax_exp.c): within an ulp of the type,
and the same positions of NaN and infinity; and those that are terms of a sum of which e^0 is one.

Judged are every value of the 16-bit types, sums as small as fp32 has them, and sums whose weight lies where a term errs
most. Which exponentials are such: tests/passes/relax_exp.dsl.
"""
import numpy as np

from case import ULP, case, close, must_fail, same_bits
from test_math import apply, every_or_spread, ulp_errors

TOWARD_ZERO = "exp2(x.to(fp32)).to(R, fp_downcast_rounding=\"rtz\")"
FORMS = [("exp(x.to(fp32)).to(R)", np.exp), ("exp2(x.to(fp32)).to(R)", np.exp2),
         ("(3.0 / (2.0 * exp(x.to(fp32)))).to(R)", lambda x: 1.5 / np.exp(x)),
         ("where(x > 1.0, exp(x.to(fp32)) * 0.5, 2.0).to(R)", lambda x: np.where(x > 1, np.exp(x) / 2, 2)),
         ("(1.0 - exp2(minimum(x.to(fp32), -1.0))).to(R)", lambda x: 1 - np.exp2(np.fmin(x, -1)))]

# Nothing is taken off here, so that sums can be subnormal.
UNSTABLE = """
@kernel(grid=(m,))
def f(y: *R, x: *fp32, m: i32, n: i32, N: constexpr = 256, R: dtype = fp16):
    i = arange(0, N)
    e = exp(load(x + program_id(0) * n + i, mask=i < n, other=-inf))
    store(y + program_id(0) * n + i, e / sum(e, axis=0), mask=i < n)
"""


@case(dtype=["fp16", "bf16"], form=range(len(FORMS)))
def relaxed_every_value(bench, dtype, form):
    x = every_or_spread(dtype)
    expression, formula = FORMS[form]
    if form > 1:
        x = x[~(np.abs(x) > 87)]  # what fp32 itself holds on the way
    got = apply(bench, expression, dtype, x).read()
    with np.errstate(all="ignore"):
        want = formula(x.astype(np.longdouble))
    assert ulp_errors(got, want, dtype).max() <= 0.6, f"{expression} in {dtype}"


@case(dtype=["fp16", "bf16"])
def relaxed_toward_zero(bench, dtype):
    """Rounding down makes a whole ulp of any error below a number of the type:
    powers of two must come out as they are."""
    x = np.arange(-14, 15, dtype=np.float64)
    same_bits(apply(bench, TOWARD_ZERO, dtype, x).read(), np.exp2(x), f"powers of two, {dtype}")


@case(dtype=["fp16", "bf16"], top=[0.0, -60.0, -92.0, 80.0])
def relaxed_of_small_sums(bench, dtype, top):
    """Terms far below 1, even subnormal: none may be flushed to 0, or 0 / 0 would be NaN."""
    m, n = 3, 201
    rng = np.random.default_rng(int(-top) + 100)
    x = np.float64(np.float32(top - np.abs(rng.standard_normal((m, n)))))
    xb, y = bench.buffer("fp32", m * n, x), bench.buffer(dtype, m * n)
    bench.run(UNSTABLE, y, xb, m, n, types={"R": dtype})
    e = np.exp(x)
    slack = 1e-3 if top < -88 else 0  # of fp32's subnormals few bits are left
    close(y.read().reshape(m, n), e / e.sum(axis=1, keepdims=True), ULP[dtype] + slack, 2.0 ** -24 if dtype == "fp16"
          else 2.0 ** -126, f"{dtype} {top}")


# Sum and logarithm apart, so that the sum's own error is seen. The second sum has the same additions of exact terms.
SUMS = """
@kernel(grid=(m,))
def f(s: *fp32, x: *T, m: i32, n: i32, FACTOR: constexpr = 1.0, N: constexpr = 256, T: dtype = fp32):
    i = arange(0, N)
    v = load(x + program_id(0) * n + i, mask=i < n, other=-inf).to(fp32)
    m_row = max(v, axis=0)
    store(s + program_id(0), sum(exp((v - (0.0 if m_row == -inf else m_row)) * FACTOR), axis=0))
"""
ADDED = 2.0 ** -24  # what an addition of fp32 errs by, of its result


@case(dtype=["fp32", "fp16", "bf16"], n=[1, 201, 4096, 8193], factor=[1.0, 0.7])
def relaxed_terms(bench, dtype, n, factor):
    """A maximum and n - 1 terms d below it: a sum errs by its ex2 (2 ulp), d ulp / 2 and its additions, 32 in a row and
    a tree; on the CPU an eighth of the row."""
    depths = np.array([0.0, 0.25, 1.0, 3.0, 6.0, 9.0, 12.0, 30.0, 88.0, 104.0])
    x = np.repeat(-depths[:, None], n, axis=1)
    x[:, n // 2] = 0
    x += np.float64(2.0) * np.arange(len(depths))[:, None]  # of all three types, and so are the differences below 64
    types, known = {"T": dtype}, {"N": 1 << max(4, (n - 1).bit_length()), "FACTOR": factor}
    xb, s = bench.buffer(dtype, x.size, x.ravel()), bench.buffer("fp32", len(depths))
    bench.run(SUMS, s, xb, len(depths), n, defines=known, types=types)
    x = xb.read().reshape(x.shape)
    d = (x - x.max(axis=1, keepdims=True)) * factor
    e = np.exp(d)
    want = e.sum(axis=1)
    additions = n // 8 if bench.device.name == "cpu" else 32
    allowed = 2 * 2 * ADDED + 2 * ADDED * (e * -d).sum(axis=1) / want + (additions + 16) * ADDED
    assert (np.abs(s.read() - want) <= allowed * want).all(), (s.read() / want - 1) / allowed


@case(dtype=["fp32", "bf16"])
def relaxed_terms_of_special_rows(bench, dtype):
    """NaN and infinities: where they are in the row they are in the sum."""
    inf, nan = np.inf, np.nan
    x = np.array([[-inf] * 8, [inf] + [0.0] * 7, [nan] * 8, [-inf] * 7 + [3.0], [inf, -inf] * 4,
                  [-3e38] * 4 + [3e38] * 4])
    xb, s = bench.buffer(dtype, x.size, x.ravel()), bench.buffer("fp32", len(x))
    bench.run(SUMS, s, xb, len(x), 8, defines={"N": 16}, types={"T": dtype})
    with np.errstate(all="ignore"):
        same_bits(s.read(), np.array([0.0, nan, nan, 1.0, nan, 4.0]), dtype)


@case()
def relaxed_checks_can_fail(bench):
    x = np.linspace(-9, 9, 64)
    must_fail(lambda: close(np.exp(x) * (1 + 2.0 ** -9), np.exp(x), ULP["fp16"], 0, "exp"), "exp")
