"""test_grid.py - programs whose blocks are no cluster but meet through global memory: what reductions, scans,
sorts and atomics carry.

In: num_ctas=grid:N, as options. The CPU runs the same programs;
on a GPU all blocks of a launch must be on the device at once.
"""
import numpy as np

from case import case, example, same_bits
from fsc import Error
from test_clusters import judge_moves, judge_once
from primitives import tests
from test_primitives import reduce_in_rounds
from test_softmax import judge, launch

BLOCKS = [2, 8, 32]


@case(blocks=BLOCKS, warps=[1, 4], n=[1, 513, 4096], dtype=["fp32", "fp16"])
def grid_softmax(bench, blocks, warps, n, dtype):
    """A row may end in the first block, or begin anywhere; launches one after the other use the same words."""
    for rows in (3, 1):
        x = np.random.default_rng(n).normal(0, 4, (rows, n))
        got, seen = launch(bench, example("softmax.dsl"), x, dtype, x_stride=n + 1, num_warps=warps, num_ctas=blocks,
                           split=True)
        judge(got, seen, dtype, f"{blocks} blocks of {warps} warps, {n} columns")


@tests("grid.begin", "grid.begun", "grid.store", "grid.wait", "grid.leave")(blocks=[2, 16], warps=[1, 2])
def grid_in_a_loop(bench, blocks, warps):
    """What a block hands on for the next round must not overtake what the others still read."""
    reduce_in_rounds(bench, ["grid.begin", "grid.begun", "grid.store", "grid.wait", "grid.leave"], 7, blocks,
                     num_warps=warps, num_ctas=blocks, split=True)


@tests("grid.fence", "barrier.grid")(blocks=[4, 16])
def grid_moves(bench, blocks):
    judge_moves(bench, ["grid.fence", "barrier.grid"], num_warps=2, num_ctas=blocks, split=True)


@case(blocks=[4, 16])
def grid_once(bench, blocks):
    judge_once(bench, num_warps=1, num_ctas=blocks, split=True)


@case(blocks=[8, 32])
def grid_few_elements(bench, blocks):
    """Rounds of which not every block has an element, one after the other:
    scans and sums of tiles shorter than the blocks are many."""
    source = """
@kernel(grid=(2,))
def f(y: *i32, x: *i32, n: i32, N: constexpr = 16):
    i = program_id(0) * N + arange(0, N)
    v = load(x + i)
    for k in range(0, n):
        v = cumsum(v ^ k, axis=0)
        v = flip(cumsum(v + k, axis=0)) + atomic_add(y + 2 * N + program_id(0), 1) * 0
    store(y + i, v)
"""
    v = np.random.default_rng(blocks).integers(-2 ** 31, 2 ** 31, (2, 16)).astype(np.int32)
    x, y = bench.buffer("i32", v.size, v.ravel()), bench.buffer("i32", v.size + 2, np.zeros(v.size + 2))
    bench.run(source, y, x, 5, num_warps=2, num_ctas=blocks, split=True)
    with np.errstate(over="ignore"):
        for k in range(5):
            v = (v ^ k).cumsum(axis=1, dtype=np.int32)
            v = (v + k).cumsum(axis=1, dtype=np.int32)[:, ::-1]
    same_bits(y.raw(), np.concatenate([v.ravel(), [5, 5]]).astype(np.int32), "scans of few elements")


@case(dtype=["fp32", "bf16"], n=[40000, 65535])
def grid_chunks(bench, dtype, n):
    """A row beyond the registers of its blocks."""
    x = np.random.default_rng(n).normal(0, 4, (2, n))
    got, seen = launch(bench, example("softmax.dsl"), x, dtype, num_warps=1, num_ctas=4, split=True)
    judge(got, seen, dtype, f"{n} columns in chunks")


@case(only=["emu", "cuda"])
def grid_too_large(bench):
    """More programs than there are words for are refused, with a sentence."""
    try:
        launch(bench, example("softmax.dsl"), np.zeros((65, 64)), "fp32", num_warps=1, num_ctas=2, split=True)
    except Error as e:
        assert "up to 64 programs along x alone" in str(e), e
        return
    assert False, "65 programs were launched"


@case(only=["emu", "cuda"], n=[1 << 18], grid=[(3,), (1, 2), (1,)])
def grid_by_hand(bench, n, grid):
    """A grid beyond the few programs that the argument says: each program of it runs, through one handle,
    by turns with the launch rule's."""
    source = """
@kernel(grid=(m,), B=next_power_of_2(n))
def share(y: *fp32, x: *fp32, m: i32, n: i32, B: constexpr = 64):
    row = program_id(0) + program_id(1)
    i = arange(0, B)
    a = load(x + row * n + i, mask=i < n, other=0.0)
    store(y + row * n + i, a / sum(a, axis=0), mask=i < n)
"""
    rows = max(grid)
    x = np.random.default_rng(n).uniform(1, 2, (rows, n)).astype(np.float32)
    jit = bench.jit(source)
    for by_hand in (grid, None, grid):
        xs, ys = bench.buffer("fp32", x.size, x.ravel()), bench.buffer("fp32", x.size, np.zeros(x.size))
        jit.launch(ys, xs, 1, n, grid=by_hand)
        want = x.astype(np.float64) / x.sum(axis=1, dtype=np.float64, keepdims=True)
        if by_hand is None:
            want[1:] = 0
        np.testing.assert_allclose(ys.read().reshape(rows, n), want, rtol=2e-5)


OPTIONAL = """
@kernel(grid=(n,), WIDE=2 if FAST and n > 4 else 1)
def f(y: *i32, n: i32, FAST: constexpr = False, WIDE: constexpr = 3):
    store(y + program_id(0), WIDE)
"""


@case(fast=["True", "False", "1", "0"])
def rules_of_options(bench, fast):
    """A rule asks an option that is a truth value: each launch has the variant that the rule gives for its sizes."""
    jit = bench.jit(OPTIONAL, defines={"FAST": fast})
    for n in (8, 2, 6, 3):
        y = bench.buffer("i32", n)
        jit.launch(y, n)
        same_bits(y.read(), np.full(n, 2 if fast in ("True", "1") and n > 4 else 1, np.int32), f"{fast} {n}")


LEFT_OUT = """
@kernel(grid=(n,), WIDE=2 if y == x or SIZE > n else 1)
def f(y: *i32, x: *i32, n: i32, SIZE: constexpr = None, WIDE: constexpr = 3):
    store(y + program_id(0), WIDE)
"""


@case(size=["None", "5"])
def rules_of_what_is_left_out(bench, size):
    """A rule asks for an array that is left out, and for an option whose default is None."""
    jit = bench.jit(LEFT_OUT, defines={"x": "None", "SIZE": size})
    for n in (8, 2, 6, 3):
        y = bench.buffer("i32", n)
        jit.launch(y, n)
        same_bits(y.read(), np.full(n, 2 if size == "5" and n < 5 else 1, np.int32), f"SIZE = {size}, {n}")
