"""test_atomics.py - atomic operations: every operation and type against NumPy, masks, results of tiles and scalars,
elements that several threads hold, locks and counters between programs, and what the checks say of those that lack an
order.
"""
import numpy as np

import fsc
from case import ULP, case, close, example, same_bits
from test_checks import found

NP = {"i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "fp32": np.float32, "fp64": np.float64}
INTS = ["i32", "u32", "i64", "u64"]

ONTO = """
@kernel(grid=(G,), GRID: constexpr = 3)
def f(x: *T, v: *T, n: i32, N: constexpr, G: constexpr, T: dtype):
    i = program_id(0) * N + arange(0, N)
    a = load(v + i, mask=i < n)
    atomic_{op}(x + i % 16, a, mask=i < n{more})
"""

FOLD = {"add": np.add, "max": np.maximum, "min": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or,
        "xor": np.bitwise_xor}


def values(dtype, n, seed=0):
    rng = np.random.default_rng(seed)
    if dtype in INTS:
        bits = 32 if "32" in dtype else 64
        return rng.integers(0, 2 ** bits, n,
                            dtype=np.uint64).astype(NP[dtype]) >> rng.integers(0, 8, n).astype(NP[dtype])
    return (rng.standard_normal(n) * np.exp2(rng.integers(-20, 20, n))).astype(NP[dtype])


def folded(op, start, v):
    out = start.copy()
    with np.errstate(over="ignore"):
        for k in range(16):
            out[k] = FOLD[op].reduce(np.concatenate([start[k:k + 1], v[k::16]]), dtype=start.dtype)
    return out


def onto(bench, op, dtype, warps, n, more=""):
    size = 256
    grid = (n + size - 1) // size
    start, v = values(dtype, 16, 1), values(dtype, n, 2)
    x, vb = bench.buffer(dtype, 16, start), bench.buffer(dtype, n, v)
    source = ONTO.replace("{op}", op).replace("{more}", more).replace(", GRID: constexpr = 3", "")
    bench.run(source, x, vb, n, defines={"N": size, "G": grid}, types={"T": dtype}, num_warps=warps)
    return x, start, v


@case(op=list(FOLD), dtype=INTS, warps=[1, 4])
def integers(bench, op, dtype, warps):
    x, start, v = onto(bench, op, dtype, warps, 781)
    same_bits(x.raw().view(NP[dtype]), folded(op, start, v), f"{op} {dtype}")


@case(op=["max", "min"], dtype=["fp32", "fp64"], warps=[1, 8])
def float_order(bench, op, dtype, warps):
    """By the order of bits: also of zeros, infinities and subnormals."""
    x, start, v = onto(bench, op, dtype, warps, 1023)
    same_bits(x.read(), folded(op, start, v), op)
    tiny = np.array([0.0, -0.0, 1e-40, -1e-40, np.inf, -np.inf, 2.0, -3.0], NP[dtype])
    for a in tiny:
        xb, vb = bench.buffer(dtype, 16, np.full(16, a)), bench.buffer(dtype, 8, tiny)
        source = ONTO.replace("{op}", op).replace("{more}", "").replace(", GRID: constexpr = 3", "")
        bench.run(source, xb, vb, 8, defines={"N": 16, "G": 1}, types={"T": dtype}, num_warps=1)
        order = np.maximum if op == "max" else np.minimum
        want = [order(a, b) if a != b else (a if np.signbit(a) == (op == "min") else b) for b in tiny]
        same_bits(xb.read()[:8], np.array(want, NP[dtype]), f"{op} of {a}")


@case(dtype=["fp32", "fp64"], warps=[1, 4, 8], n=[1, 33, 1025])
def float_sums(bench, dtype, warps, n):
    x, start, v = onto(bench, "add", dtype, warps, n)
    for k in range(16):
        all_of = np.concatenate([start[k:k + 1], v[k::16]]).astype(np.float64)
        bound = len(all_of) * ULP[dtype] * np.abs(all_of).sum()
        close(x.read()[k:k + 1], all_of.sum()[None], rtol=0, atol=bound, what=f"sum {k}")


@case(dtype=["fp16", "bf16"], warps=[1, 4], n=[5, 100])
def small_floats(bench, dtype, warps, n):
    """Whole numbers that are exact in the type, whatever the order."""
    v = np.random.default_rng(n).integers(-3, 4, n).astype(np.float64)
    x, vb = bench.buffer(dtype, 16, np.arange(16.0)), bench.buffer(dtype, n, v)
    source = ONTO.replace("{op}", "add").replace("{more}", ', sem="relaxed"').replace(", GRID: constexpr = 3", "")
    bench.run(source, x, vb, n, defines={"N": 64, "G": (n + 63) // 64}, types={"T": dtype}, num_warps=warps)
    want = np.arange(16.0)
    np.add.at(want, np.arange(n) % 16, v)
    same_bits(x.read().astype(np.float64), want, "sums")


@case(sem=["relaxed", "acquire", "release", "acq_rel"], scope=["cta", "gpu", "sys"])
def orders_and_scopes(bench, sem, scope):
    source = f"""
@kernel(grid=(1,))
def f(x: *i32, y: *i32):
    i = arange(0, 128)
    old = atomic_add(x + i, i, sem="{sem}", scope="{scope}")
    store(y + i, old)
    atomic_xor(x, 5, None, "{sem}", "{scope}")
"""
    x, y = bench.buffer("i32", 128, np.full(128, 7)), bench.buffer("i32", 128)
    bench.run(source, x, y, num_warps=4)
    same_bits(y.raw().view(np.int32), np.full(128, 7, np.int32), "before")
    want = np.arange(7, 135, dtype=np.int32)
    want[0] ^= 5
    same_bits(x.raw().view(np.int32), want, "after")


@case(warps=[1, 4, 8], n=[1, 2, 16, 64, 1024], op=["add", "xchg"])
def results_of_tiles(bench, warps, n, op):
    """A tile of fewer elements than threads: each is done once, and all threads that hold it see its result."""
    source = f"""
@kernel(grid=(2,))
def f(x: *i32, y: *i32, s: *i32, N: constexpr):
    i = program_id(0) * N + arange(0, N)
    old = atomic_{op}(x + i, i * 2 + 1, mask=i % 3 != 1)
    store(y + i, old)
    store(s + program_id(0), sum(old, axis=0))
"""
    size = 2 * n
    i = np.arange(size, dtype=np.int32)
    x, y, s = bench.buffer("i32", size, i + 10), bench.buffer("i32", size), bench.buffer("i32", 2)
    bench.run(source, x, y, s, defines={"N": n}, num_warps=warps)
    on = i % 3 != 1
    after = i * 2 + 1 + (i + 10 if op == "add" else 0)
    before = np.where(on, i + 10, 0).astype(np.int32)
    same_bits(x.raw().view(np.int32), np.where(on, after, i + 10).astype(np.int32), "after")
    same_bits(y.raw().view(np.int32), before, "before")
    same_bits(s.raw().view(np.int32), before.reshape(2, n).sum(1).astype(np.int32), "sums")


@case(warps=[1, 4, 8])
def results_of_scalars(bench, warps):
    """A slot for each program out of one counter: every thread knows it."""
    source = """
@kernel(grid=(7,))
def f(next: *i32, y: *i32):
    slot = atomic_add(next, 1)
    i = arange(0, 64)
    store(y + slot * 64 + i, program_id(0) * 64 + i)
    if slot == 6:
        store(next + 1, slot + 10)
"""
    next_, y = bench.buffer("i32", 2, [0, 0]), bench.buffer("i32", 7 * 64)
    bench.run(source, next_, y, num_warps=warps)
    got = y.raw().view(np.int32).reshape(7, 64)
    same_bits(np.sort(got[:, 0]), np.arange(0, 7 * 64, 64, dtype=np.int32), "a slot each")
    same_bits(got - got[:, :1], np.tile(np.arange(64, dtype=np.int32), (7, 1)), "rows")
    same_bits(next_.raw().view(np.int32), np.array([7, 16], np.int32), "counter")


@case(warps=[1, 4], rank=[2, 3])
def broadcast_tiles(bench, warps, rank):
    """Pointers of a small tile broadcast over another dimension: every element counts."""
    index = "i[:, None]" if rank == 2 else "i[:, None, None]"
    other = "arange(0, 16)[None, :]" if rank == 2 else "arange(0, 4)[None, :, None] + arange(0, 4)[None, None, :] * 0"
    source = f"""
@kernel(grid=(2,))
def f(x: *i32):
    i = arange(0, 8)
    atomic_add(x + {index} + ({other}) * 0, 1, sem="relaxed")
"""
    x = bench.buffer("i32", 8, np.zeros(8))
    bench.run(source, x, num_warps=warps)
    same_bits(x.raw().view(np.int32), np.full(8, 32, np.int32), "counts")


@case(dtype=["i32", "u32", "i64", "u64", "fp32", "fp64", "fp16", "bf16", "i16"], warps=[1, 4])
def compare_and_swap(bench, dtype, warps):
    source = """
@kernel(grid=(1,))
def f(x: *T, y: *T, T: dtype):
    i = arange(0, 64)
    old = atomic_cas(x + i, (i % 4).to(T), (i + 100).to(T))
    store(y + i, old)
"""
    i = np.arange(64)
    x, y = bench.buffer(dtype, 64, i % 8), bench.buffer(dtype, 64)
    bench.run(source, x, y, types={"T": dtype}, num_warps=warps)
    same_bits(np.asarray(y.read(), np.float64), (i % 8).astype(np.float64), "before")
    same_bits(np.asarray(x.read(), np.float64), np.where(i % 8 == i % 4, i + 100, i % 8).astype(np.float64), "after")


HISTOGRAM = """
@kernel(grid=(G,))
def f(h: *i32, x: *i32, n: i32, N: constexpr, G: constexpr):
    i = program_id(0) * N + arange(0, N)
    atomic_add(h + load(x + i, mask=i < n), 1, mask=i < n, sem="relaxed")
"""


@case(warps=[1, 4, 8], n=[1, 781, 5000])
def histogram(bench, warps, n):
    x = np.random.default_rng(n).integers(0, 20, n)
    h, xb = bench.buffer("i32", 20, np.zeros(20)), bench.buffer("i32", n, x)
    bench.run(HISTOGRAM, h, xb, n, defines={"N": 512, "G": (n + 511) // 512}, num_warps=warps)
    same_bits(h.raw().view(np.int32), np.bincount(x, minlength=20).astype(np.int32), "counts")


@case(dtype=["i32", "i64", "i16", "i8"], n=[1, 781, 1025, 5000], warps=[1, 4, 8], block=[64, 1024])
def histogram_example(bench, dtype, n, warps, block):
    """Values beyond the bins are left out; what is there already stays."""
    x = np.random.default_rng(n).integers(-5, 70, n)
    h, xb = bench.buffer("i32", 63, np.arange(63)), bench.buffer(dtype, n, x, offset=1)
    bench.run(example("histogram.dsl"), h, xb, n, 63, defines={"BLOCK": block}, types={"T": dtype}, num_warps=warps,
              grid=((n + block - 1) // block,))
    inside = x[(x >= 0) & (x < 63)]
    same_bits(h.raw().view(np.int32), (np.arange(63) + np.bincount(inside, minlength=63)).astype(np.int32), "counts")


LOCKED = """
@kernel(grid=(G,))
def f(lock: *i32, data: *fp32, count: *i32, G: constexpr):
    i = arange(0, 128)
    while atomic_cas(lock, 0, 1, sem="{take}") == 1:
        pass
    v = load(data + i)
    store(data + 127 - i, v * 1 + 0)  # here
    store(data + i, v + program_id(0) + 1)
    store(count, load(count) + 1)
    atomic_xchg(lock, 0, sem="{give}")
"""


def locked(bench, take, give, warps, grid):
    source = LOCKED.replace("{take}", take).replace("{give}", give)
    buffers = [bench.buffer("i32", 1, [0]), bench.buffer("fp32", 128, np.zeros(128)), bench.buffer("i32", 1, [0])]
    return source, buffers


@case(warps=[1, 4, 8], orders=[("acquire", "release"), ("acq_rel", "acq_rel")], grid=[1, 2, 24])
def lock(bench, warps, orders, grid):
    """Plain data that only the holder of a lock touches, from program to program."""
    source, b = locked(bench, *orders, warps, grid)
    bench.run(source, *b, defines={"G": grid}, num_warps=warps)
    same_bits(b[1].read(), np.full(128, grid * (grid + 1) / 2, np.float32), "sums")
    same_bits(b[2].raw().view(np.int32), np.array([grid], np.int32), "count")


@case(orders=[("relaxed", "release"), ("acquire", "relaxed"), ("relaxed", "relaxed")], only="emu")
def lock_without_order(bench, orders):
    source, b = locked(bench, *orders, 1, 4)
    found(bench, source, "race", "data", *b, defines={"G": 4}, num_warps=1, mark=None)


@case(only="emu")
def no_lock(bench):
    source = """
@kernel(grid=(4,))
def f(count: *i32):
    store(count, load(count) + 1)
"""
    found(bench, source, "race", "count", bench.buffer("i32", 1, [0]), mark=None)


@case(only="emu")
def atomic_and_plain(bench):
    source = """
@kernel(grid=(4,))
def f(count: *i32):
    if program_id(0) == 0:
        store(count, 5)
    else:
        atomic_add(count, 1)
"""
    found(bench, source, "race", "count", bench.buffer("i32", 1, [0]), mark=None)


@case(only="emu")
def atomic_for_a_block_only(bench):
    source = """
@kernel(grid=(4,))
def f(count: *i32):
    atomic_add(count, 1, scope="cta")  # here
"""
    found(bench, source, "race", "count", bench.buffer("i32", 1, [0]))


@case(only=("cpu.check", "emu"))
def beyond(bench):
    source = """
@kernel(grid=(1,))
def f(x: *i32):
    i = arange(0, 64)
    atomic_add(x + i, 1)  # here
"""
    x = bench.buffer("i32", 60, np.zeros(60))
    found(bench, source, "out-of-bounds", "x", x)
    same_bits(x.raw().view(np.int32), np.ones(60, np.int32), "the others")


CHAIN = """
@kernel(grid=(G,))
def f(turn: *i32, data: *i32, G: constexpr):
    p = program_id(0)
    i = arange(0, 64)
    while atomic_add(turn, 0, sem="acquire") != {wanted}:
        pass
    store(data + 63 - i, load(data + i) + 1)
    atomic_add(turn, 1, sem="release")
"""


@case(warps=[1, 4], grid=[2, 9])
def turns(bench, warps, grid):
    """Each program waits for the one before it: what all earlier ones did is known, not only the last one's."""
    turn, data = bench.buffer("i32", 1, [0]), bench.buffer("i32", 64, np.arange(64))
    bench.run(CHAIN.replace("{wanted}", "p"), turn, data, defines={"G": grid}, num_warps=warps)
    want = np.arange(64) if grid % 2 == 0 else np.arange(64)[::-1]
    same_bits(data.raw().view(np.int32), (want + grid).astype(np.int32), "data")


@case(warps=[1, 4], only=("emu", "cuda"))
def turns_backward(bench, warps):
    """Each waits for the one after it: those that wait stand aside until it has begun."""
    turn, data = bench.buffer("i32", 1, [0]), bench.buffer("i32", 64, np.arange(64))
    bench.run(CHAIN.replace("{wanted}", "G - 1 - p"), turn, data, defines={"G": 6}, num_warps=warps)
    same_bits(data.raw().view(np.int32), np.arange(6, 70, dtype=np.int32), "data")


@case(warps=[1, 4])
def seen_by_volatile_loads(bench, warps):
    """A program that looks by plain volatile loads at what another counts up by releasing atomics."""
    source = """
@kernel(grid=(3,))
def f(flag: *i32, data: *i32, y: *i32):
    p = program_id(0)
    i = arange(0, 64)
    if p < 2:
        store(data + p * 64 + i, i + p)
        atomic_add(flag, 1, sem="release")
    else:
        while load(flag, volatile=True) < 2:
            pass
        store(y + i, load(data + i) + load(data + 64 + 63 - i))
"""
    flag, data, y = bench.buffer("i32", 1, [0]), bench.buffer("i32", 128), bench.buffer("i32", 64)
    bench.run(source, flag, data, y, num_warps=warps)
    same_bits(y.raw().view(np.int32), np.full(64, 64, np.int32), "sums")


@case(warps=[1, 4])
def last_one_sums(bench, warps):
    """Partial sums by everybody, the whole by whoever comes last: no program waits."""
    source = """
@kernel(grid=(12,))
def f(y: *i32, part: *i32, done: *i32, x: *i32):
    i = arange(0, 64)
    store(part + program_id(0), sum(load(x + program_id(0) * 64 + i), axis=0))
    if atomic_add(done, 1) == 11:
        k = arange(0, 16)
        store(y, sum(load(part + k, mask=k < 12), axis=0))
"""
    x = np.random.default_rng(3).integers(-100, 100, 12 * 64)
    y, part, done = bench.buffer("i32", 1), bench.buffer("i32", 12), bench.buffer("i32", 1, [0])
    bench.run(source, y, part, done, bench.buffer("i32", x.size, x), num_warps=warps)
    same_bits(y.raw().view(np.int32), np.array([x.sum()], np.int32), "sum")


@case(only="emu", slow=True)
def lock_never_given_back(bench):
    source = """
@kernel(grid=(1,))
def f(lock: *i32):
    while atomic_cas(lock, 0, 1) == 1:  # here
        pass
"""
    found(bench, source, "divergent", "", bench.buffer("i32", 1, [1]))
