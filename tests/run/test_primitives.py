"""test_primitives.py - a kernel for every device primitive: it provably calls it,
and what comes out is judged by NumPy.

In: the rows of compiler/codegen/prims.def. This is what compares the emulator with a card: both run the same inputs,
both must give the exact answer, or for an approximation one within the bound that its row states.
Method: a case names the primitives (with the shape of the access) that it is for, compiles the kernel as the launch
does and looks for their calls in the per-thread module. The last case fails for a row or a shape that no case is for.
"""

import numpy as np

import fsc
from case import Output, case, close, must_fail, same_bits

from primitives import SHAPES, SINGLE, TESTED, UNREACHABLE, calls, rows, run, tests

# ---- Where am I ------------------------------------------------------------------------------------------------------


@tests("tid")(warps=[1, 2, 4, 8, 16, 32])
def thread_index(bench, warps):
    """As many elements as threads: each writes what it alone computes, beyond a warp and up to 1024 threads."""
    source = """
@kernel(grid=(2,))
def f(y: *i32, N: constexpr = 32):
    i = arange(0, N)
    store(y + program_id(0) * N + (N - 1 - i), i * i + 7)
"""
    n = 32 * warps
    y = bench.buffer("i32", 2 * n)
    run(bench, ["tid"], source, y, defines={"N": n}, num_warps=warps)
    same_bits(y.raw(), np.tile((np.arange(n) ** 2 + 7)[::-1], 2).astype(np.int32), "thread index")


@tests("ntid", "ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z")(
    grid=[(3, 4, 5), (1, 1, 1), (7, 1, 2), (1, 33, 1), (2, 1, 9), (257, 1, 1)], warps=[1, 2])
def block_index(bench, grid, warps):
    """Programs of one warp share blocks: their index comes from the block's size, and the grid's from a parameter."""
    source = f"""
@kernel(grid=(1, 1, 1), num_warps={warps})
def f(y: *i32):
    x, k, z = program_id(0), program_id(1), program_id(2)
    at = (z * num_programs(1) + k) * num_programs(0) + x
    store(y + at * 6, x)
    store(y + at * 6 + 1, k)
    store(y + at * 6 + 2, z)
    store(y + at * 6 + 3, num_programs(0))
    store(y + at * 6 + 4, num_programs(1))
    store(y + at * 6 + 5, num_programs(2))
"""
    n = int(np.prod(grid))
    y = bench.buffer("i32", 6 * n)
    names = ([a + b for a in ("ctaid.", "nctaid.") for b in "xyz" if (a, b, warps) != ("nctaid.", "x", 1)] +
             ["ntid"] * (warps == 1))
    for arch in ("sm_80", "emu"):
        assert set(names) <= calls(source, [y], ["y"], arch), "program_id and num_programs without their primitives"
    bench.jit(source).launch(y, grid=grid)
    z, k, x = np.meshgrid(*(np.arange(e) for e in reversed(grid)), indexing="ij")
    want = np.stack([x.ravel(), k.ravel(), z.ravel()] + [np.full(n, e) for e in grid], axis=1)
    same_bits(y.raw(), want.ravel().astype(np.int32), f"grid {grid}")


# ---- Global memory ---------------------------------------------------------------------------------------------------

ROWS_OF = """
@kernel(grid=(1,))
def f(y: *T, x: *T, m: *i8, N: constexpr = 4, ROWS: constexpr = 32, MASKED: constexpr = False, T: dtype = i32):
    r = arange(0, ROWS)[:, None]
    i = r * (2 * N) + arange(0, N)[None, :]
    if MASKED:
        on = load(m + r * N + arange(0, N)[None, :]) != 0
        store(y + i, load(x + i, mask=on, other=3), mask=load(m + ROWS * N + r) != 0)
    else:
        store(y + i, load(x + i))
"""
VECTORS = {  # shape of the access: (type, elements that lie together)
    "v1.b8": [("i8", 1), ("i1", 1)], "v1.b16": [("i8", 2), ("i16", 1), ("fp16", 1), ("bf16", 1)],
    "v1.b32": [("u8", 4), ("u16", 2), ("i32", 1), ("fp32", 1)], "v2.b32": [("i8", 8), ("fp16", 4), ("u32", 2)],
    "v4.b32": [("i8", 16), ("bf16", 8), ("fp32", 4)], "v1.b64": [("i64", 1), ("fp64", 1)],
    "v2.b64": [("u64", 2), ("fp64", 2)],
}


def pattern(dtype, n, seed=0):
    """Random bytes as elements of the type; for floats no NaN, whose payload a kernel may change."""
    rng = np.random.default_rng(seed)
    np_type = np.dtype(fsc.DTYPES[dtype][1])
    if dtype == "i1":
        return rng.integers(0, 2, n).astype(np_type)
    image = rng.integers(0, 256, n * np_type.itemsize).astype(np.uint8).view(np_type)
    if dtype in ("fp16", "bf16", "fp32", "fp64"):
        with np.errstate(invalid="ignore"):
            image[~np.isfinite(fsc.decode(image, dtype))] = 0
    return image


@tests(*(f"{p}.global.{s}" for p in ("load", "store") for s in SHAPES))(shape=SHAPES, masked=[False, True])
def global_access(bench, shape, masked):
    """Each width of an access; with a mask, whole vectors, none, and cut ones, over lanes that hold `other`."""
    rows_ = 32
    for dtype, n in VECTORS[shape]:
        size = rows_ * 2 * n
        x, y = bench.buffer(dtype, size), bench.buffer(dtype, size)
        x.write(pattern(dtype, size, n))
        rng = np.random.default_rng(n)
        loads, stores = rng.integers(0, 2, (rows_, n)), rng.integers(0, 2, rows_)
        loads[:4], loads[4:8] = 0, 1
        m = bench.buffer("i8", rows_ * n + rows_, np.concatenate([loads.ravel(), stores]))
        before = y.raw().reshape(rows_, 2 * n)
        data = x.raw().reshape(rows_, 2 * n)
        run(bench, [f"load.global.{shape}", f"store.global.{shape}"], ROWS_OF, y, x, m,
            defines=dict(N=n, MASKED=masked), types={"T": dtype}, num_warps=1)
        want = before.copy()
        want[:, :n] = data[:, :n]
        if masked:
            other = fsc.encode(np.array([1 if dtype == "i1" else 3]), dtype)[0]
            want[:, :n] = np.where(stores[:, None] != 0, np.where(loads != 0, data[:, :n], other), before[:, :n])
        got = y.raw().reshape(rows_, 2 * n)
        assert got.tobytes() == want.tobytes(), f"{dtype} by {n}: {got.tolist()}, not {want.tolist()}"


EXCHANGED = """
@kernel(grid=(3,))
def f(y: *T, x: *T, c: *T, T: dtype = i32):
    i = arange(0, 128)
    p = program_id(0) * 128 + i
    store(y + p, {expression}, mask=i % 5 != 2)
"""


@tests("atomic.rmw.v1.b32", "atomic.rmw.v1.b64", "atomic.cas.v1.b16", "atomic.cas.v1.b32", "atomic.cas.v1.b64")(
    dtype=["i16", "fp16", "bf16", "i32", "fp32", "u64", "fp64"], how=["cas", "xchg"], warps=[1, 4])
def atomic_access(bench, dtype, how, warps):
    """By the bits of any value; every third is what the comparison wants."""
    bits = 8 * np.dtype(fsc.DTYPES[dtype][1]).itemsize
    if how == "xchg" and bits == 16:
        return
    n, on = 384, np.arange(384) % 128 % 5 != 2
    x, c, y = bench.buffer(dtype, n), bench.buffer(dtype, n), bench.buffer(dtype, n)
    x.write(pattern(dtype, n, 1))
    wanted = pattern(dtype, n, 2)
    wanted[::3] = x.raw()[::3]
    c.write(wanted)
    old, poison = x.raw(), y.raw()
    mask = "mask=i % 5 != 2"
    call = (f"atomic_cas(x + p, load(c + p), load(c + (p + 1) % 384), {mask})" if how == "cas"
            else f"atomic_xchg(x + p, load(c + p), {mask})")
    run(bench, [f"atomic.{'cas' if how == 'cas' else 'rmw'}.v1.b{bits}"], EXCHANGED.format(expression=call), y, x, c,
        types={"T": dtype}, num_warps=warps)
    image = old.view(f"u{bits // 8}")
    new = np.roll(wanted, -1) if how == "cas" else wanted
    hit = on & ((image == wanted.view(image.dtype)) if how == "cas" else True)
    assert x.raw().tobytes() == np.where(hit, new, old).tobytes(), f"{dtype}: memory"
    assert y.raw().tobytes() == np.where(on, old, poison).tobytes(), f"{dtype}: what was there"


# ---- Shared memory ---------------------------------------------------------------------------------------------------

TURNED = """
@kernel(grid=(2,))
def f(y: *T, x: *T, C: constexpr = 4, S: constexpr = 8, T: dtype = i32):
    p = program_id(0) * (256 * S)
    i = arange(0, 256)[:, None]
    j = arange(0, C)[None, :]
    store(y + p + {to}, load(x + p + {source}))
"""
BY_ROW, BY_COLUMN = "i * S + j", "j * 256 + i"
# Columns of a tile that is read by rows and written by columns, and warps.
# To other blocks elements go in row-major order.
STORED = {"v1.b8": ("i8", 1, 4), "v1.b16": ("i16", 1, 4), "v1.b32": ("fp32", 1, 4), "v2.b32": ("i32", 4, 4),
          "v4.b32": ("i32", 4, 2), "v1.b64": ("i64", 1, 4), "v2.b64": ("fp64", 2, 4)}
STORED_THERE = {"v1.b8": ("i8", 1), "v1.b16": ("i8", 2), "v1.b32": ("i8", 4), "v2.b32": ("i8", 8),
                "v4.b32": ("i16", 8), "v1.b64": ("i64", 1), "v2.b64": ("fp64", 2)}
COUNTED = {"v1.b32": ("fp32", 1), "v2.b32": ("i32", 2), "v4.b32": ("fp32", 4), "v1.b64": ("i64", 1),
           "v2.b64": ("fp64", 2)}
LOADED = {"v1.b8": ("i8", 8, False), "v1.b16": ("i8", 16, False), "v1.b32": ("fp16", 8, False),
          "v2.b32": ("fp32", 4, False), "v4.b32": ("i8", 4, False),
          "v1.b64": ("i64", 1, True), "v2.b64": ("i64", 2, True)}  # True: the other way round


def turn(bench, prims, dtype, columns, backwards, **options):
    size = 2 * 256 * 2 * columns
    x, y = bench.buffer(dtype, size), bench.buffer(dtype, size)
    x.write(pattern(dtype, size))
    source, to = (BY_COLUMN, BY_ROW) if backwards else (BY_ROW, BY_COLUMN)
    i, j = np.arange(256)[:, None], np.arange(columns)[None, :]
    place = {BY_ROW: i * 2 * columns + j, BY_COLUMN: j * 256 + i}
    want = y.raw().reshape(2, -1)
    want[:, place[to]] = x.raw().reshape(2, -1)[:, place[source]]
    run(bench, prims, TURNED.format(source=source, to=to), y, x, defines=dict(C=columns, S=2 * columns),
        types={"T": dtype}, **options)
    assert y.raw().tobytes() == want.tobytes(), f"{prims} with {dtype} by {columns}"


@tests(*(f"store.shared.{s}" for s in SHAPES))(shape=SHAPES)
def shared_store(bench, shape):
    dtype, columns, warps = STORED[shape]
    turn(bench, [f"store.shared.{shape}", "barrier.block"], dtype, columns, False, num_warps=warps)


@tests(*(f"load.shared.{s}" for s in SHAPES))(shape=SHAPES)
def shared_load(bench, shape):
    turn(bench, [f"load.shared.{shape}", "barrier.block"], *LOADED[shape], num_warps=4)


@tests("cluster.rank", "cluster.begin", "cluster.begun", "barrier.cluster",
       *(f"store.cluster.{s}" for s in SHAPES))(shape=SHAPES, blocks=[2, 4])
def cluster_store(bench, shape, blocks):
    """The tile of a program lies over the blocks of a cluster, and each block wants rows of all the others."""
    prims = [f"store.cluster.{shape}", "cluster.rank", "cluster.begin", "cluster.begun", "barrier.cluster"]
    turn(bench, prims, *STORED_THERE[shape], False, num_warps=2, num_ctas=blocks, passes=b"-counted")


@tests("mbarrier.init", "mbarrier.expect", "mbarrier.wait", *(f"store.async.{s}" for s in COUNTED))(
    shape=COUNTED, blocks=[2, 4])
def cluster_counted(bench, shape, blocks):
    """Likewise, and each block counts what comes."""
    prims = [f"store.async.{shape}", "mbarrier.init", "mbarrier.expect", "mbarrier.wait", "cluster.begun"]
    turn(bench, prims, *COUNTED[shape], False, num_warps=2, num_ctas=blocks)


# ---- Between threads -------------------------------------------------------------------------------------------------


@tests("shfl.bfly")(dtype=["i8", "u8", "i16", "i32", "u32", "i64", "fp16", "bf16", "fp32", "fp64"], n=[2, 8, 32, 128])
def shuffle_butterfly(bench, dtype, n):
    """The greatest of a warp, wherever it lies, by one value of 8, 16, 32 or 64 bits a lane."""
    source = """
@kernel(grid=(N,))
def f(y: *T, x: *T, N: constexpr = 32, T: dtype = i32):
    p = program_id(0)
    store(y + p, max(load(x + p * N + arange(0, N)), axis=0))
"""
    x = np.random.default_rng(n).integers(0, 100, (n, n))
    x[np.arange(n), np.arange(n)] = 101 + np.arange(n) % 20  # program p finds it at p
    xb, yb = bench.buffer(dtype, n * n, x.ravel()), bench.buffer(dtype, n)
    run(bench, ["shfl.bfly"], source, yb, xb, defines={"N": n}, types={"T": dtype}, num_warps=1)
    same_bits(yb.read().astype(np.int64), x.max(axis=1), f"{dtype} of {n}")


def turn_square(bench, dtype, n, primitives):
    """A square turned within one warp, and in place, so that every lane must have read before one writes."""
    source = """
@kernel(grid=(2,))
def f(y: *T, x: *T, N: constexpr = 8, T: dtype = i32):
    p = program_id(0) * N * N
    i, j = arange(0, N)[:, None], arange(0, N)[None, :]
    store(y + p + j * N + i, load(x + p + i * N + j))
"""
    x = bench.buffer(dtype, 2 * n * n)
    x.write(pattern(dtype, 2 * n * n))
    want = x.raw().reshape(2, n, n).transpose(0, 2, 1)
    run(bench, primitives, source, x, x, defines={"N": n}, types={"T": dtype}, num_warps=1)
    assert x.raw().tobytes() == want.tobytes(), f"{dtype} {n}x{n}"


@tests("shfl.idx", "barrier.warp")(dtype=["i1", "i8", "fp16", "i32", "fp64"], n=[8])
def shuffle_from_lane(bench, dtype, n):
    """Every register of a small square has few places to come from."""
    turn_square(bench, dtype, n, ["shfl.idx", "barrier.warp"])


@tests("barrier.warp")(dtype=["i1", "i8", "fp16", "i32", "fp64"], n=[16, 32])
def shared_in_a_warp(bench, dtype, n):
    """A larger square: each register may come from too many for shuffles."""
    turn_square(bench, dtype, n, ["barrier.warp"])


def reduce_in_rounds(bench, prims, rounds, seed, **options):
    """Two reductions in each round of a loop, the second needing the first, the next round needing both."""
    source = """
@kernel(grid=(3,))
def f(y: *i32, x: *i32, n: i32, N: constexpr = 2048):
    p = program_id(0) * N
    v = load(x + p + arange(0, N))
    for k in range(0, n):
        v = (v ^ sum(v, axis=0)) + max(v, axis=0)
    store(y + p + arange(0, N), v)
"""
    v = np.random.default_rng(seed).integers(-2 ** 31, 2 ** 31, (3, 2048)).astype(np.int32)
    x, y = bench.buffer("i32", v.size, v.ravel()), bench.buffer("i32", v.size)
    run(bench, prims, source, y, x, rounds, **options)
    with np.errstate(over="ignore"):
        for _ in range(rounds):
            v = (v ^ v.sum(axis=1, keepdims=True, dtype=np.int32)) + v.max(axis=1, keepdims=True)
    same_bits(y.raw(), v.ravel(), "reductions in a loop")


@tests("barrier.block")(warps=[2, 8, 32])
def block_barrier(bench, warps):
    """Over all warps of a block."""
    reduce_in_rounds(bench, ["barrier.block", "shfl.bfly", "load.shared.v1.b32", "store.shared.v1.b32"], 5, warps,
                     num_warps=warps)


# ---- Approximations --------------------------------------------------------------------------------------------------

UNARY = """
@kernel(grid=(cdiv(n, 256),))
def f(y: *fp32, x: *fp32, z: *fp32, n: i32):
    i = program_id(0) * 256 + arange(0, 256)
    m = i < n
    v = load(x + i, mask=m, other=1.0)
    w = load(z + i, mask=m, other=1.0)
    store(y + i, {expression}, mask=m)
"""
TINY = 2.0 ** -126
ULP2 = 2 * 2.0 ** -23
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 2.0, 0.5, 1 + 2.0 ** -23, 1 - 2.0 ** -24, TINY, -TINY,
           2.0 ** 126, 3.4e38]
SUBNORMAL = [1e-40, -1e-40, 2.0 ** -149, 2.0 ** -127, -2.0 ** -130]


def judge_lg2(x, want):
    return np.where((x > 0.5) & (x < 2), 0, ULP2), np.where((x > 0.5) & (x < 2), 2.0 ** -22, 0)


# primitive: (expression, fast_math, formula, (rtol, atol) of x and the exact result; subnormals flushed)
APPROXIMATE = {
    "ex2": ("exp2(v)", True, lambda x, z: np.exp2(x), lambda x, want: (ULP2, 0), True),
    "lg2": ("log2(v)", True, lambda x, z: np.log2(x), judge_lg2, False),
    "rcp": ("1.0 / v", True, lambda x, z: 1 / x, lambda x, want: (2.0 ** -23, 0), True),
    "rsqrt": ("rsqrt(v)", True, lambda x, z: 1 / np.sqrt(x), lambda x, want: (2.0 ** -22.4, 0), False),
    "sqrt": ("sqrt(v)", True, lambda x, z: np.sqrt(x), lambda x, want: (2.0 ** -23, 2.0 ** -149), False),
    "div": ("v / w", False, lambda x, z: x / z, lambda x, want: (ULP2, 2 * 2.0 ** -149), False),
}


def numbers(prim):
    rng = np.random.default_rng(len(prim))
    spread = np.concatenate([np.exp2(rng.uniform(-126, 126, 4000)) * rng.choice([-1, 1], 4000, p=[0.2, 0.8]),
                             rng.uniform(-140, 130, 3000), 1 + rng.standard_normal(1000) * 1e-3, SPECIAL, SUBNORMAL])
    x = spread.astype(np.float32).astype(np.float64)
    z = np.resize(np.concatenate([SPECIAL, np.exp2(rng.uniform(-60, 60, 84))]),
                  x.size).astype(np.float32).astype(np.float64)
    return x, z


def subnormal(x):
    return (np.abs(x) < TINY) & (x != 0)


def judge(device, prim, got, x, z):
    """NaN and infinity exactly at their places; where the row says that subnormals count as zero, they do on GPU and
    emulator, and may on a processor."""
    _, _, formula, bound, flushes = APPROXIMATE[prim]
    with np.errstate(all="ignore"):
        zero = np.where(subnormal(x), np.copysign(0, x), x) if flushes else x
        want = formula(zero if device != "cpu" else x, z)
        rtol, atol = bound(x, want)
        want = np.where(np.abs(want) >= 2.0 ** 128, np.copysign(np.inf, want), want)
        near = np.abs(np.abs(want) / TINY - 1) < 1e-6  # may be rounded to either side of the least normal number
        edge = np.abs(np.abs(want) / 2.0 ** 128 - 1) < 1e-6
    judged = ~near & ~edge
    if flushes:
        small = subnormal(want)
        judged &= ~small & ~(subnormal(x) & (device == "cpu"))
        kept = (np.abs(np.where(small, got, 0) - np.where(small, want, 0)) <= 2.0 ** -140) & (device == "cpu")
        lost = small & (got != 0) & ~kept & ~near
        assert not lost.any(), f"{prim}: {x[lost][:3]} gives {got[lost][:3]}, and a subnormal result counts as zero"
    rtol, atol = (np.broadcast_to(b, want.shape)[judged] for b in (rtol, atol))
    close(got[judged], want[judged], rtol, atol, f"{prim}({x[judged][:1]} …)")


@tests(*APPROXIMATE)(prim=list(APPROXIMATE))
def approximation(bench, prim):
    """Within the bound of the row over the whole range, with special values."""
    x, z = numbers(prim)
    expression, fast = APPROXIMATE[prim][:2]
    xb, zb, yb = bench.buffer("fp32", x.size, x), bench.buffer("fp32", x.size, z), bench.buffer("fp32", x.size)
    run(bench, [prim], UNARY.format(expression=expression), yb, xb, zb, x.size, fast_math=fast)
    judge(bench.device.name, prim, yb.read(), x, z)


# ---- Copies that go on meanwhile -------------------------------------------------------------------------------------


@tests("copy.async", "copy.commit", "copy.wait")(dtype=["i8", "i16", "i32", "i64"], aligned=[True, False], n=[512, 301])
def copied_ahead(bench, dtype, aligned, n):
    """Rows of a loop through a ring of three buffers, by 4, 8 and 16 bytes; the bytes behind a row's end come as zeros,
    and those of rows behind the last not at all."""
    source = """
@kernel(grid=(2,), num_warps=4)
def f(y: *T, x: *T, rows: i32, n: i32, T: dtype = i32):
    i = arange(0, 512)
    for row in range(program_id(0), rows, 2, num_stages=4):
        store(y + row * 512 + i, load(x + row * 512 + i, mask=i < n))
"""
    rows, at = 9, 0 if aligned else 1
    x = np.random.default_rng(n).integers(-100, 100, (rows, 512))
    y, xb = bench.buffer(dtype, rows * 512), bench.buffer(dtype, x.size, x.ravel(), offset=at)
    used = ["copy.async", "copy.commit", "copy.wait"] if aligned or dtype in ("i32", "i64") else []
    run(bench, used, source, y, xb, rows, n, types={"T": dtype})
    same_bits(y.raw(), np.where(np.arange(512) < n, x, 0).ravel().astype(y.raw().dtype), dtype)


# ---- What is seen ----------------------------------------------------------------------------------------------------


@tests("debug.begin", "debug.print", "debug.assert")(warps=[1, 4])
def shown(bench, warps):
    """A line for each element, by one of the threads that hold it; an assertion that holds.
    test_debug.py has the rest."""
    source = """
@kernel(grid=(2,))
def f(x: *i32, N: constexpr):
    v = sum(load(x + arange(0, N)[:, None] * 4 + arange(0, 4)[None, :]), 1)
    print("v", v, sum(v))
    device_assert(v >= 0)
"""
    x = bench.buffer("i32", 64, np.arange(64))
    with Output() as out:
        run(bench, ["debug.begin", "debug.print", "debug.assert"], source, x, defines={"N": 16}, num_warps=warps,
            device_debug=True)
    sums = np.arange(64).reshape(16, 4).sum(1)
    want = [f"pid ({p}, 0, 0) idx ({i:2}) v: (operand 0) {v}" for p in (0, 1) for i, v in enumerate(sums)]
    want += [f"pid ({p}, 0, 0) idx () v: (operand 1) {sums.sum()}" for p in (0, 1)]
    assert sorted(out.lines) == sorted(want), out.lines


# ---- What keeps optimisers apart -------------------------------------------------------------------------------------


@tests("zero")(dtype=["fp16", "i8"])
def computed_again(bench, dtype):
    """64 elements a thread that wait for their sum: they are unpacked once more,
    from words that a zero was added to."""
    source = """
@kernel(grid=(1,), num_warps=8)
def f(y: *fp32, x: *T, N: constexpr = 16384, T: dtype = fp16):
    i = arange(0, N)
    v = load(x + i).to(fp32)
    store(y + i, v + sum(v, axis=0))
"""
    x = np.random.default_rng(1).integers(-99, 100, 16384)
    y = bench.buffer("fp32", 16384)
    run(bench, ["zero"], source, y, bench.buffer(dtype, 16384, x), types={"T": dtype})
    same_bits(y.read(), (x + x.sum()).astype(np.float32), dtype)


# ---- The tests of the tests ------------------------------------------------------------------------------------------


def untested(access, plain):
    """Rows and shapes of access without a case; cases without a row; rows that are in both lists."""
    wanted = set(plain) | {f"{name}.{s}" for name in access for s in (SINGLE if name.startswith("atomic") else SHAPES)}
    return sorted(wanted - TESTED - set(UNREACHABLE)), sorted((TESTED | set(UNREACHABLE)) -
                                                              wanted), sorted(TESTED & set(UNREACHABLE))


@case()
def every_primitive_has_a_case(_):
    access, plain = rows()
    without, unknown, both = untested(access, plain)
    assert not without, f"primitives without a case in test_primitives.py: {without}"
    assert not unknown, f"cases for primitives that prims.def does not have: {unknown}"
    assert not both, f"called unreachable, and yet there is a case: {both}"
    assert untested(access, plain + ["vote"])[0] == ["vote"], "a missing case is not seen"
    assert untested(access, plain[1:])[1] == plain[:1], "a missing case is not seen"


@case()
def primitive_checks_can_fail(bench):
    """Results that are a little wrong, and a kernel without the primitive that it should show."""
    x, z = numbers("ex2")
    for prim in APPROXIMATE:
        with np.errstate(all="ignore"):
            right = APPROXIMATE[prim][2](x, z).astype(np.float32).astype(np.float64)
        normal = np.flatnonzero((np.abs(right) > 1e-30) & (np.abs(right) < 1e30) & (np.abs(x) > 3))
        off = right.copy()
        off[normal[0]] *= 1 + 2.0 ** -20
        must_fail(lambda: judge("cuda", prim, off, x, z), prim)
        lost = right.copy()
        lost[np.flatnonzero(np.isnan(right))[0]] = 0
        must_fail(lambda: judge("cuda", prim, lost, x, z), f"{prim}: a lost NaN")
    y = bench.buffer("i32", 64)
    must_fail(lambda: run(bench, ["shfl.idx"], "@kernel(grid=(1,))\ndef f(y: *i32):\n    store(y + arange(0, 64), 1)\n",
                          y), "no shuffle")
