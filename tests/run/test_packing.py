"""test_packing.py - programs of one warp that share a block: every program runs once, with its own index and the whole
grid's size, whatever the grid; neighbours in a block may end early, loop longer and branch differently.
"""
import numpy as np

from case import case, same_bits
from sweep import OFFSETS, ROWS, Config
from test_differential import KERNELS, judge_elementwise
from test_examples import judge_rows


@case(grid=[(1, 1, 1), (3, 1, 1), (7, 5, 1), (1, 3, 6), (129, 1, 1), (1001, 1, 1), (33, 4, 3)])
def every_program_once(bench, grid):
    source = """
@kernel(grid=(a, b, c), num_warps=1)
def f(y: *i32, a: i32, b: i32, c: i32):
    p = program_id(0) + num_programs(0) * (program_id(1) + num_programs(1) * program_id(2))
    i = arange(0, 32)
    old = load(y + p * 32 + i)
    store(y + p * 32 + i, old + p * 100 + i)
    store(y + num_programs(0) * num_programs(1) * num_programs(2) * 32 + p, num_programs(0))
"""
    n = grid[0] * grid[1] * grid[2]
    y = bench.buffer("i32", 33 * n, np.full(33 * n, 5))
    bench.run(source, y, *grid)
    want = 5 + np.arange(n)[:, None] * 100 + np.arange(32)
    same_bits(y.raw(), np.concatenate([want.ravel(), np.full(n, grid[0])]).astype(np.int32), "programs")


@case(n=[5, 130, 1023])
def neighbours_differ(bench, n):
    source = """
@kernel(grid=(n,), num_warps=1)
def f(y: *i32, n: i32):
    p = program_id(0)
    if p % 3 == 1:
        return
    i = arange(0, 64)
    s = i
    for k in range(0, p % 7):
        s = s + max(s, axis=0)
    if p % 2 == 0:
        s = -s
    store(y + p * 64 + i, s)
"""
    y = bench.buffer("i32", 64 * n, np.full(64 * n, 9))
    bench.run(source, y, n)
    want = np.full((n, 64), 9, np.int32)
    for p in range(n):
        if p % 3 != 1:
            s = np.arange(64, dtype=np.int32)
            for _ in range(p % 7):
                s = s + s.max()
            want[p] = -s if p % 2 == 0 else s
    same_bits(y.raw(), want.ravel(), "neighbours")


@case(n=[64, 300], dtype=["fp32", "fp16"])
def tiny_rows(bench, n, dtype):
    """Rows of 33 elements, more than a multiprocessor holds at once."""
    source = """
@kernel(grid=(n,), num_warps=1)
def f(y: *T, x: *T, n: i32, T: dtype):
    i = arange(0, 64)
    mask = i < 33
    v = load(x + program_id(0) * 33 + i, mask=mask, other=-inf)
    store(y + program_id(0) * 33 + i, v - max(v, axis=0), mask=mask)
"""
    x = np.random.default_rng(n).integers(-100, 100, (n, 33)).astype(np.float64)
    xb, y = bench.buffer(dtype, x.size, x.ravel()), bench.buffer(dtype, x.size)
    bench.run(source, y, xb, n)
    same_bits(y.read(), (x - x.max(axis=1, keepdims=True)).ravel(), "rows less their maximum")


# ---- Every builtin and every example, one, two and four programs to a block ------------------------------------------


def programs_for(bench, packed):
    """So many that launch_shape of runtime/launch/launch.c puts `packed` into a block; the last block is not full."""
    return 4 * packed * bench.device.sms() + (3 if packed > 1 else -1)


def packed_config(bench, k, packed, dtypes, block=32):
    return Config(dtypes[k % len(dtypes)], 1, OFFSETS[k % len(OFFSETS)], 0, block,
                  block * programs_for(bench, packed) - k % block)


@case(kernel=list(KERNELS), packed=[1, 2, 4])
def builtins_packed(bench, kernel, packed):
    k = KERNELS[kernel]
    judge_elementwise(bench, k, packed_config(bench, len(kernel) + packed, packed, k.dtypes))


@case(slow=True, kernel=list(KERNELS), packed=[2, 4])
def builtins_packed_wide(bench, kernel, packed):
    k = KERNELS[kernel]
    for i in range(len(k.dtypes)):
        judge_elementwise(bench, k, packed_config(bench, i, packed, k.dtypes, 64))


@case(file=list(ROWS), packed=[2, 4])
def examples_packed(bench, file, packed):
    rows = ROWS[file]
    for i, n in enumerate([33, 64, 5]):
        config = Config(rows.dtypes[(i + packed) % len(rows.dtypes)], 1, OFFSETS[i], i, 64, n)
        judge_rows(bench, file, config, m=programs_for(bench, packed))
