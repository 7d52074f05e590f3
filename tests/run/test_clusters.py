"""test_clusters.py - programs that span the blocks of a cluster: what reductions, scans,
sorts and atomics carry across them.

In: num_ctas from 2 to 16, and tiles so large that the compiler takes a cluster by itself.
The CPU runs the same programs.
"""
import numpy as np

from case import case, example, same_bits
from primitives import run
from test_primitives import reduce_in_rounds
from test_softmax import judge, launch

BLOCKS = [2, 4, 8, 16]


@case(blocks=BLOCKS, warps=[1, 4], n=[1, 31, 513, 2047, 4096], dtype=["fp32", "fp16"])
def cluster_softmax(bench, blocks, warps, n, dtype):
    """Two reductions; a row may end in the first block, or begin anywhere."""
    x = np.random.default_rng(n).normal(0, 4, (3, n))
    got, seen = launch(bench, example("softmax.dsl"), x, dtype, x_stride=n + 1, num_warps=warps, num_ctas=blocks)
    judge(got, seen, dtype, f"{blocks} blocks of {warps} warps, {n} columns")


@case(blocks=BLOCKS, warps=[1, 2])
def cluster_in_a_loop(bench, blocks, warps):
    """What a block stores for the next round must not overtake what the others still read; in the largest program
    blocks hold the same elements, of which only one stores."""
    counted = ["mbarrier.wait", "store.async.v1.b32"]
    met = ["barrier.cluster", "store.cluster.v1.b32"]
    reduce_in_rounds(bench, counted if blocks * warps < 32 else met, 7, blocks, num_warps=warps, num_ctas=blocks)
    reduce_in_rounds(bench, met, 7, blocks, num_warps=warps, num_ctas=blocks, passes=b"-counted")


@case(blocks=BLOCKS, one=[False, True])
def cluster_overwritten(bench, blocks, one):
    """What the first thread stores and then all of them, in one buffer or two: the later store stays."""
    source = """
@kernel(grid=(3,))
def f(z: *i32, y: *i32, x: *i32, N: constexpr = 2048):
    p = program_id(0) * N
    v = load(x + p + arange(0, N))
    s = sum(v, axis=0)
    store(z + p + 1500, s)
    store(y + p + arange(0, N), v ^ s)
"""
    v = np.random.default_rng(blocks).integers(-10 ** 5, 10 ** 5, (3, 2048)).astype(np.int32)
    x, y, z = bench.buffer("i32", v.size, v.ravel()), bench.buffer("i32", v.size), bench.buffer("i32", v.size)
    run(bench, ["mbarrier.wait", "barrier.cluster"], source, y if one else z, y, x, num_warps=1, num_ctas=blocks)
    sums = v.sum(axis=1, keepdims=True, dtype=np.int32)
    same_bits(y.raw(), (v ^ sums).ravel(), "what all stored")
    if not one:
        same_bits(z.raw()[1500::2048], sums.ravel(), "what the first thread stored")


def judge_moves(bench, prims, **options):
    """Whatever moves elements: scans, sorts, turns, gathers, and a store that comes back in another order."""
    source = """
@kernel(grid=(2,))
def f(y: *i32, x: *i32, N: constexpr = 1024):
    p = program_id(0)
    i = arange(0, N)
    v = load(x + p * N + i)
    store(y + (5 * p + 0) * N + i, cumsum(v, axis=0))
    store(y + (5 * p + 1) * N + i, sort(v))
    store(y + (5 * p + 2) * N + i, flip(v))
    store(y + (5 * p + 3) * N + i, gather(v, (i * 37 + 11) % N, 0))
    store(y + (5 * p + 4) * N + i, v)
    store(y + (5 * p + 4) * N + i, load(y + (5 * p + 4) * N + (N - 1 - i)) + 1)
"""
    v = np.random.default_rng(options["num_ctas"]).integers(-10 ** 6, 10 ** 6, (2, 1024)).astype(np.int32)
    x, y = bench.buffer("i32", v.size, v.ravel()), bench.buffer("i32", 5 * v.size)
    run(bench, prims, source, y, x, **options)
    index = (np.arange(1024) * 37 + 11) % 1024
    want = np.stack([v.cumsum(axis=1), np.sort(v, axis=1), v[:, ::-1], v[:, index], v[:, ::-1] + 1], axis=1)
    same_bits(y.raw(), want.astype(np.int32).ravel(), "moves over blocks")


@case(blocks=BLOCKS)
def cluster_moves(bench, blocks):
    judge_moves(bench, ["barrier.cluster"], num_warps=2, num_ctas=blocks)


def judge_once(bench, **options):
    """Scalars are stored, counted and handed out once for each program, however many blocks it has."""
    source = """
@kernel(grid=(5,))
def f(y: *i32, count: *i32, N: constexpr = 256):
    p = program_id(0)
    ticket = atomic_add(count, 1)
    tickets = atomic_add(count + 1 + arange(0, N), 1)
    store(y + p * (N + 2) + arange(0, N), ticket * 0 + num_programs(0) + tickets * 0)
    store(y + p * (N + 2) + N, ticket - ticket + p)
    store(y + p * (N + 2) + N + 1, sum(tickets - tickets + 1, axis=0))
"""
    count, y = bench.buffer("i32", 257, np.zeros(257)), bench.buffer("i32", 5 * 258)
    bench.run(source, y, count, **options)
    same_bits(count.raw(), np.full(257, 5, np.int32), "how often each was counted")
    want = np.concatenate([np.full((5, 256), 5), np.arange(5)[:, None], np.full((5, 1), 256)], axis=1)
    same_bits(y.raw(), want.astype(np.int32).ravel(), "what the programs wrote")


@case(blocks=BLOCKS)
def cluster_once(bench, blocks):
    judge_once(bench, num_warps=1, num_ctas=blocks)


@case(slow=True, dtype=["fp32", "bf16"], n=[32769, 65536, 131071, 262145])
def cluster_chosen(bench, dtype, n):
    """Rows beyond the registers of a block, the distribution left to the compiler."""
    x = np.random.default_rng(n).normal(0, 4, (2, n))
    got, seen = launch(bench, example("softmax.dsl"), x, dtype)
    judge(got, seen, dtype, f"{n} columns")


@case(n=[8193, 20011, 40000], dtype=["fp32", "fp16"])
def few_rows(bench, n, dtype):
    """One program on a whole GPU takes a cluster by itself; with many more the same kernel takes a block."""
    for rows in (1, {"emu": 1, "cpu": 30}.get(bench.device.name, 300)):
        x = np.random.default_rng(n).normal(0, 4, (rows, n))
        got, seen = launch(bench, example("softmax.dsl"), x, dtype)
        judge(got, seen, dtype, f"{rows} rows of {n}")
