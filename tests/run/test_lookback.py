"""Programs that wait for each other: sums of all before by looking back, as one pass over memory makes them. A status
word says a program's own sum, later the sum of all up to it; who reads it sees the one or the other."""
import numpy as np

from case import case, same_bits

SOURCE = """
@kernel(grid=(cdiv(n, BLOCK),))
def lookback(y: *i32[n], x: *i32[n], status: *u32, n: i32, BLOCK: constexpr = 256, ROUNDS: constexpr = 4):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    x = load(x + i, mask=i < n)
    for r in range(ROUNDS):
        own = sum(x).to(u32)
        word = status + r * num_programs(0)
        store(word + program_id(0), own | 1 << 30, cache_modifier=".cg")
        before = zeros((), u32)
        k = program_id(0) - 1
        while k >= 0:
            seen = load(word + k, volatile=True)
            while seen == 0:
                seen = load(word + k, volatile=True)
            before += seen & ((1 << 30) - 1)
            k = k - 1 if (seen & 1 << 30) != 0 else -1
        store(word + program_id(0), (before + own) | 1 << 31, cache_modifier=".cg")
        x = (before.to(i32) + cumsum(x)) & 1023
    store(y + i, x, mask=i < n)
"""


@case(n=[100, 5000, 200_000], warps=[1, 2, 8])
def lookback(bench, n, warps):
    x = np.random.default_rng(n).integers(0, 8, n).astype(np.int32)
    rounds, programs = 4, -(-n // 256)
    want, padded = x, np.zeros(programs * 256, np.int64)
    for _ in range(rounds):
        padded[:n] = want
        # what lies beyond n is summed up, too, from the second round on
        padded = np.cumsum(padded) & 1023
        want = padded[:n]
    xb, yb, status = bench.buffer("i32", n, x), bench.buffer("i32", n), bench.buffer("u32", rounds * programs)
    status.write(np.zeros(rounds * programs, np.uint32))
    bench.run(SOURCE, yb, xb, status, n, num_warps=warps)
    same_bits(yb.raw().view(np.int32), want.astype(np.int32), "sums")
