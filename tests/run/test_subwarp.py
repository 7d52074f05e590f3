"""test_subwarp.py - programs of less than a warp: several share its lanes, whatever the length of a row, the grid, and
what their neighbours hold; kernels whose programs part ways between reductions keep a warp each, and are right, too.
"""
import numpy as np

from case import case, close, example, same_bits
from test_softmax import judge, launch


def rows_of(kind, m, n):
    """Rows beside which others in the same warp must stay as they are."""
    x = np.random.default_rng(m * 131 + n).standard_normal((m, n))
    if kind == "special":
        for i, value in enumerate([np.nan, np.inf, -np.inf, 6e4]):
            x[i::5, (7 * i) % n] = value
        x[4::11] = -np.inf
    return x


@case(dtype=["fp32", "fp16", "bf16"],
      n=[1, 2, 3, 7, 8, 15, 17, 31, 33, 47, 63, 64, 65, 95, 97, 113, 127, 128, 129, 159, 161, 193, 255])
def subwarp_lengths(bench, dtype, n):
    """As many rows as a warp does not hold, contiguous and with strides that vectors like."""
    for m, pad in [(13, 0), (37, 32 - n % 16)]:
        got, seen = launch(bench, example("softmax.dsl"), rows_of("normal", m, n), dtype, y_stride=n + pad,
                           x_stride=n + pad)
        judge(got, seen, dtype, f"{m} rows of {n}, stride {n + pad}")


@case(m=[1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 33, 127, 1025], n=[16, 50, 100])
def subwarp_grids(bench, m, n):
    got, seen = launch(bench, example("softmax.dsl"), rows_of("special", m, n), "fp32", x_stride=n + 16 - n % 16)
    judge(got, seen, "fp32", f"{m} rows of {n}")


@case(dtype=["fp32", "fp16"], n=[5, 64, 100])
def subwarp_special(bench, dtype, n):
    """A row of NaN, infinities or nothing but -inf leaves the other rows of its warp the bits that they have alone."""
    x = rows_of("special", 33, n)
    got, seen = launch(bench, example("softmax.dsl"), x, dtype)
    judge(got, seen, dtype, f"special rows of {n}")
    plain = np.where(np.isfinite(x).all(axis=1, keepdims=True), x, 0.5)
    alone, _ = launch(bench, example("softmax.dsl"), plain, dtype)
    same = np.isfinite(x).all(axis=1)
    same_bits(got[same], alone[same], "rows beside special ones")


@case(grid=[(1, 1, 1), (3, 1, 1), (7, 5, 1), (1, 3, 6), (129, 1, 1), (1001, 1, 1), (33, 4, 3)])
def subwarp_every_program_once(bench, grid):
    """Tiles, a scalar store and an atomic of each program: once, with its own index and the whole grid's size."""
    source = """
@kernel(grid=(a, b, c))
def f(y: *i32, s: *i32, t: *i32, a: i32, b: i32, c: i32):
    p = program_id(0) + num_programs(0) * (program_id(1) + num_programs(1) * program_id(2))
    i = arange(0, 32)
    old = load(y + p * 32 + i)
    store(y + p * 32 + i, old + p * 100 + i)
    store(s + p, num_programs(0) + sum(old * i, axis=0))
    atomic_add(t, p + 1)
    atomic_add(t + 1 + i, i)
"""
    n = grid[0] * grid[1] * grid[2]
    y, s, t = bench.buffer("i32", 32 * n,
                           np.full(32 * n, 5)), bench.buffer("i32", n), bench.buffer("i32", 33, np.zeros(33))
    bench.run(source, y, s, t, *grid)
    want = 5 + np.arange(n)[:, None] * 100 + np.arange(32)
    same_bits(y.raw(), want.ravel().astype(np.int32), "tiles")
    same_bits(s.raw(), np.full(n, grid[0] + 5 * 496, np.int32), "scalars")
    same_bits(t.raw(), np.concatenate([[n * (n + 1) // 2], n * np.arange(32)]).astype(np.int32), "atomics")


@case(dtype=["i8", "fp16", "i32", "fp32", "fp64", "i64"], n=[3, 8, 29, 64])
def subwarp_types(bench, dtype, n):
    source = """
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n))
def f(y: *T, s: *T, x: *T, n_rows: i32, n: i32, BLOCK: constexpr = 64, T: dtype = fp32):
    i = arange(0, BLOCK)
    p = program_id(0)
    mask = i < n
    v = load(x + p * n + i, mask=mask, other=0)
    top = max(v, axis=0)
    store(y + p * n + i, top - v, mask=mask)
    store(s + p, sum(v, axis=0))
"""
    m = 21
    x = np.random.default_rng(n).integers(0, 2 if dtype == "i8" else 50, (m, n)).astype(np.float64)
    xb, y, s = bench.buffer(dtype, x.size, x.ravel()), bench.buffer(dtype, x.size), bench.buffer(dtype, m)
    bench.run(source, y, s, xb, m, n)
    same_bits(y.read(), (x.max(axis=1, keepdims=True) - x).ravel(), "maximum less rows")
    same_bits(s.read(), x.sum(axis=1), "sums")


@case(m=[5, 130])
def subwarp_same_ways(bench, m):
    """Loops and branches that all programs of a warp take alike; along y they differ."""
    source = """
@kernel(grid=(n_rows, 3))
def f(y: *fp32, x: *fp32, n_rows: i32, turns: i32):
    i = arange(0, 32)
    p = program_id(0) + program_id(1) * n_rows
    v = load(x + p * 32 + i)
    for k in range(0, turns + program_id(1)):
        v = v - sum(v, axis=0) / 32 + k
    if program_id(1) == 1:
        v = v - max(v, axis=0)
    store(y + p * 32 + i, v)
"""
    x = np.random.default_rng(m).integers(-64, 64, (3, m, 32)).astype(np.float64) * 32
    xb, y = bench.buffer("fp32", x.size, x.ravel()), bench.buffer("fp32", x.size)
    bench.run(source, y, xb, m, 2)
    for z in range(3):
        for k in range(2 + z):
            x[z] = x[z] - x[z].sum(axis=1, keepdims=True) / 32 + k
    x[1] -= x[1].max(axis=1, keepdims=True)
    close(y.read(), x.ravel(), 1e-5, 1e-3, "rows")


@case(n=[5, 130, 1023])
def subwarp_own_ways(bench, n):
    """Early ends, loops of other lengths, branches, a loop until a sum says so:
    with reductions and accesses in them."""
    source = """
@kernel(grid=(n,))
def f(y: *i32, n: i32):
    p = program_id(0)
    if p % 3 == 1:
        return
    i = arange(0, 32)
    s = i
    for k in range(0, p % 7):
        s = s + max(s, axis=0)
    if p % 2 == 0:
        s = -s
        store(y + p * 32 + i, s)
        s = load(y + p * 32 + 31 - i)
    total = sum(s, axis=0)
    while total % 8 != 0:
        s = s + 1
        total = sum(where(i == 3, s, 0), axis=0)
    store(y + p * 32 + i, s)
"""
    y = bench.buffer("i32", 32 * n, np.full(32 * n, 9))
    bench.run(source, y, n)
    want = np.full((n, 32), 9, np.int64)
    for p in range(n):
        if p % 3 == 1:
            continue
        s = np.arange(32)
        for _ in range(p % 7):
            s = s + s.max()
        if p % 2 == 0:
            s = -s[::-1]
        total = s.sum()
        while total % 8 != 0:
            s = s + 1
            total = s[3]
        want[p] = s
    same_bits(y.raw(), want.ravel().astype(np.int32), "own ways")


@case(n=[3, 50])
def subwarp_loaded_ways(bench, n):
    """A bound that each program loads for itself; a branch without any meeting may differ all the same."""
    source = """
@kernel(grid=(n,))
def f(y: *fp32, x: *fp32, turns: *i32, n: i32):
    p = program_id(0)
    i = arange(0, 16)
    v = load(x + p * 16 + i)
    end = load(turns + p)
    for k in range(0, end):
        v = v * 2 + k
        v = v - max(v, axis=0)
    store(y + p * 16 + i, v + sum(v, axis=0))
"""
    rng = np.random.default_rng(n)
    for narrow, text in enumerate([source.replace("        v = v - max(v, axis=0)\n", ""), source]):
        x, turns = rng.integers(-9, 9, (n, 16)).astype(np.float64), rng.integers(0, 5, n)
        xb, y, tb = bench.buffer("fp32", x.size, x.ravel()), bench.buffer("fp32", x.size), bench.buffer("i32", n, turns)
        bench.run(text, y, xb, tb, n)
        for p in range(n):
            for k in range(turns[p]):
                x[p] = x[p] * 2 + k
                x[p] -= narrow * x[p].max()
        same_bits(y.read(), (x + x.sum(axis=1, keepdims=True)).ravel(), f"narrow {narrow}")


@case(m=[1, 3, 9, 33])
def subwarp_through_memory(bench, m):
    """What one lane stores another of its program loads; the last warp is not full."""
    source = """
@kernel(grid=(m,))
def f(y: *fp32, x: *fp32, m: i32):
    i = arange(0, 32)
    row = y + program_id(0) * 32
    store(row + i, load(x + program_id(0) * 32 + i))
    store(row + i, load(row + 31 - i) + 1)
"""
    x = np.arange(32.0 * m).reshape(m, 32)
    xb, y = bench.buffer("fp32", x.size, x.ravel()), bench.buffer("fp32", x.size)
    bench.run(source, y, xb, m)
    same_bits(y.read(), (x[:, ::-1] + 1).ravel(), "rows turned round")
