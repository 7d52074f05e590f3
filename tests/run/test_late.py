"""test_late.py - weights that are loaded where they are stored from (pass defer): every alignment,
every width, every end.

Programs are such that their rows are rotated (2048 places and more) and their weights begin elsewhere than they do: a
vector of these lies across aligned words, or begins with one, or goes over an end of the row. Guards around each
buffer see what is touched beyond it.
"""
import numpy as np

from case import ULP, U, case, close, must_fail
from sweep import seen
from test_norms import NORMS, inputs, judge, run

ROWS = """
@kernel(grid=(n_rows,), num_warps=WARPS)
def f(y: *T, z: *fp32, x: *T, w: *const T, b: *const fp32, n_rows: i32, n: i32, N: constexpr = 4096, T: dtype = fp16):
    row = program_id(0)
    i = arange(0, N)
    mask = MASK
    v = load(x + row * n + i, mask=mask, other=0.0).to(fp32)
    v = v - sum(v, axis=0) / n
    r = v * load(w + i, mask=mask, other=1.0).to(fp32) + load(b + i, mask=mask, other=2.0)
    store(y + row * n + i, r, mask=mask)
    store(z + row * n + i, where(i % 3 == 0, r + 1.0, r), mask=mask)
"""
# the first elements of y, z, x, w, b
STARTS = [(0, 0, 0, 0, 0), (1, 2, 1, 3, 1), (2, 1, 5, 6, 2), (7, 3, 0, 1, 0)]


def run_rows(bench, dtype, n, starts, size=4096, warps=2, mask="i < n", change=lambda source: source):
    rng, rows = np.random.default_rng(n), 8
    x, w, b = rng.standard_normal((rows, n)), rng.standard_normal(n), rng.standard_normal(n)
    types = (dtype, "fp32", dtype, dtype, "fp32")
    counts = (rows * n, rows * n, rows * n, n, n)
    data = (None, None, x, w, b)
    y, z, xb, wb, bb = (bench.buffer(t, c, *([] if d is None else [d]), offset=o)
                        for t, c, d, o in zip(types, counts, data, starts))
    source = change(ROWS.replace("WARPS", str(warps)).replace("MASK", mask))
    bench.run(source, y, z, xb, wb, bb, rows, n, defines={"N": size}, types={"T": dtype})
    x, w, b = seen(x, dtype), seen(w, dtype), np.float32(b).astype(np.float64)
    want = (x - x.mean(axis=1, keepdims=True)) * w + b
    narrow = ULP[dtype] if dtype != "fp32" else 0
    what = f"{dtype} of {n}, from {starts}"
    close(y.read().reshape(rows, n), want, 4 * U + narrow, 1e-5, f"y, {what}")
    close(z.read().reshape(rows, n), np.where(np.arange(n) % 3 == 0, want + 1, want), 4 * U, 1e-5, f"z, {what}")


@case(dtype=["fp32", "fp16", "bf16"], n=[2049, 4081, 4096])
def late_rows(bench, dtype, n):
    for starts in STARTS:
        run_rows(bench, dtype, n, starts)


MASKS = {"i < n": lambda i, n: i < n, "(i < n) & (i != 77)": lambda i, n: (i < n) & (i != 77),
         "i % 5 != 1": lambda i, n: i % 5 != 1, "i >= 0": lambda i, n: i >= 0}


@case(mask=list(MASKS), n=[3001, 4096])
def late_masks(bench, mask, n):
    """A run that a bound cuts, no run at all, all of the tile: what the mask leaves out keeps what it held."""
    if "n" not in mask and n < 4096:
        return
    rng = np.random.default_rng(n)
    x, w, b = rng.standard_normal((8, n)), rng.standard_normal(n), rng.standard_normal(n)
    x[:] = np.float32(x)
    keep = MASKS[mask](np.arange(n), n)
    y, z = (bench.buffer("fp32", 8 * n, np.full((8, n), 9.0), offset=1) for _ in range(2))
    buffers = [bench.buffer("fp32", v.size, v, offset=o) for v, o in ((x, 1), (w, 2), (b, 3))]
    bench.run(ROWS.replace("WARPS", "4").replace("MASK", mask), y, z, *buffers, 8, n, types={"T": "fp32"})
    w, b = np.float32(w).astype(np.float64), np.float32(b).astype(np.float64)
    want = (x - (x * keep).sum(axis=1, keepdims=True) / n) * w + b
    close(y.read().reshape(8, n), np.where(keep, want, 9.0), 4 * U, 1e-5, mask)


@case(file=[f for f in NORMS if "backward" not in f], dtype=["fp32", "bf16"])
def late_norms(bench, file, dtype):
    for n, pad, offset in ((2049, 0, 0), (4081, 2, 3), (8193, 0, 1)):
        got, a = run(bench, file, inputs(file, 5, n, np.random.default_rng(n)), dtype, pad, offset)
        judge(file, got, a, dtype, f"{dtype} of {n}, {pad} between, from {offset}")


@case()
def late_can_fail(bench):
    def planted():
        run_rows(bench, "fp32", 2049, STARTS[1],
                 change=lambda source: source.replace("load(b + i,", "load(b + i * (1 - i // 2048),"))

    must_fail(planted, "the last weights from elsewhere")
