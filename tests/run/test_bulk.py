"""test_bulk.py - operands of products that come by bulk copies of boxes (sm_90a), one thread's for all.

In: descriptors of a batch, which begin below 0 and end anywhere; rows along k and across it; rings of several stages.
Small integers, every partial sum of which is exact: the bits are NumPy's. On emu whoever reads what has not come, or
writes what is read, is a finding. Another card than sm_90 runs its own copies.
"""
import numpy as np

from case import case, must_fail, same_bits
from fsc import decode
from primitives import fsc_threads, tests

BLOCKS = """
@kernel(grid=(cdiv(M, BM), batch))
def f(r: *R, x: *const T, y: *const T, batch: i32, M: i32, K: i32, shift: i32, BM: constexpr = 64, BN: constexpr = 64,
      BK: constexpr = 32, ROWS: constexpr = True, R: dtype = fp32, T: dtype = fp16):
    assume(K % 16 == 0)
    i, m = program_id(1), program_id(0) * BM
    a = make_tensor_descriptor(multiple_of(x, 16) + i * M * K, (M, K), (K, 1), (BM, BK))
    b = make_tensor_descriptor(multiple_of(y, 16), (BN, K) if ROWS else (K, BN), (K if ROWS else BN, 1),
                               (BN, BK) if ROWS else (BK, BN))
    sums = zeros((BM, BN), R)
    for k in range(0, K, BK):
        c = b.load((0, k)).T if ROWS else b.load((k, 0))
        sums = dot(a.load((m - shift, k)), c, sums, max_num_imprecise_acc=BK)
    at = (m + arange(0, BM))[:, None] * BN + arange(0, BN)[None, :]
    store(r + i * M * BN + at, sums, mask=(m + arange(0, BM) < M)[:, None])
"""
# Pointers with masks; a condition that leaves out whole rounds; two loops, each with its own ring.
MASKS = """
@kernel(grid=(cdiv(M, 64),))
def f(r: *fp32, x: *const T, y: *const T, M: i32, K: i32, x_stride: i32, odd: i32, T: dtype = fp16):
    assume(x_stride % 16 == 0)
    assume(K % 16 == 0)
    x, y = multiple_of(x, 16), multiple_of(y, 16)
    m, n, j = program_id(0) * 64 + arange(0, 64), arange(0, 32), arange(0, 64)
    s, t = zeros((64, 32), fp32), zeros((64, 32), fp32)
    for start in range(0, K, 64):
        k = start + j
        a = load(x + m[:, None] * x_stride + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :] & (start != odd))
        b = load(y + n[:, None] * K + k[None, :], mask=(k < K)[None, :])
        s = dot(a, b.T, s)
    for start in range(0, K, 64):
        k = start + j
        a = load(x + m[:, None] * x_stride + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :])
        b = load(y + n[:, None] * K + k[None, :], mask=(k < K)[None, :])
        t = dot(a, b.T, t)
    at = m[:, None] * 32 + n[None, :]
    store(r + at, s, mask=(m < M)[:, None])
    store(r + M * 32 + at, t, mask=(m < M)[:, None])
"""
# A ring within a loop over tiles, which goes on with the stages where the tile before left them: loops of several
# rounds, of one, and of none at all.
TILES = """
@kernel(grid=(2,))
def f(r: *fp32, x: *const T, y: *const T, ends: *const i32, M: i32, K: i32, T: dtype = fp16):
    assume(K % 16 == 0)
    x, y = multiple_of(x, 16), multiple_of(y, 16)
    n, j = arange(0, 32), arange(0, 64)
    for tile in range(program_id(0), cdiv(M, 64), 2):
        m = tile * 64 + arange(0, 64)
        sums = zeros((64, 32), fp32)
        for start in range(0, load(ends + tile), 64):
            k = start + j
            a = load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :])
            b = load(y + n[:, None] * K + k[None, :], mask=(k < K)[None, :])
            sums = dot(a, b.T, sums)
        store(r + m[:, None] * 32 + n[None, :], sums, mask=(m < M)[:, None])
"""
# Programs that stay: the first copies of the next tile go ahead of what this one stores, which goes to memory by bulk
# stores. Rounds from FROM on; what is loaded depends on the tile in both dimensions, where it is stored on a number
# that the loop carries; a tile is made TWICE, the second time with other numbers.
STAYS = """
@kernel(grid=(programs,))
def f(r: *R, x: *const T, y: *const T, programs: i32, M: i32, N: i32, K: i32, stride: i32, BM: constexpr = 64,
      BN: constexpr = 64, BK: constexpr = 64, FROM: constexpr = 0, TURNED: constexpr = False, RELU: constexpr = False,
      TWICE: constexpr = 1, R: dtype = fp32, T: dtype = fp16):
    assume(K % 16 == 0)
    assume(stride % 8 == 0)
    r = multiple_of(r, 16)
    tiles_m, tiles_n = cdiv(M, BM), cdiv(N, BN)
    a = make_tensor_descriptor(multiple_of(x, 16), (M, K), (K, 1), (BM, BK))
    b = make_tensor_descriptor(multiple_of(y, 16), (N, K), (K, 1), (BN, BK))
    stored = program_id(0) - num_programs(0)
    for tile in range(program_id(0), tiles_m * tiles_n * TWICE, num_programs(0)):
        m, n = tile // TWICE // tiles_n * BM, tile // TWICE % tiles_n * BN
        stored += num_programs(0)
        sums = zeros((BM, BN), fp32)
        for k in range(FROM, K, BK):
            sums = dot(a.load((m, k)), b.load((n, k)).T, sums)
        if RELU:
            sums = maximum(sums, 0.0)
        if TWICE > 1:
            sums += tile % TWICE - TWICE + 1
        m, n = stored // TWICE // tiles_n * BM, stored // TWICE % tiles_n * BN
        if TURNED:
            c = make_tensor_descriptor(r, (N, M), (stride, 1), (BN, BM))
            c.store((n, m), sums.T.to(R))
        else:
            c = make_tensor_descriptor(r, (M, N), (stride, 1), (BM, BN))
            c.store((m, n), sums.to(R))
"""
# Bounds that are no parameter, and rows whose number wraps: none of a map's, or not of this one.
BOUNDS = """
@kernel(grid=(2,), num_warps=4)
def f(r: *fp16, x: *const fp16, y: *const fp16, M: i32, K: i32, CUT: constexpr, NARROW: constexpr):
    assume(K % 16 == 0)
    r, x, y = multiple_of(r, 16), multiple_of(x, 16), multiple_of(y, 16)
    n, j = arange(0, 128), arange(0, 64)
    for tile in range(program_id(0), cdiv(M, 64), num_programs(0)):
        assume(tile >= 0)
        m = tile * 64 + arange(0, 64)
        rows = m.to(u8).to(i32) if NARROW else m
        sums = zeros((64, 128), fp32)
        for start in range(0, K, 64):
            k = start + j
            a = load(x + rows[:, None] * K + k[None, :], mask=(m < min(M, CUT))[:, None] & (k < K)[None, :])
            b = load(y + n[:, None] * K + k[None, :], mask=(k < K)[None, :])
            sums = dot(a, b.T, sums)
        store(r + m[:, None] * 128 + n[None, :], sums.to(fp16), mask=(m < min(M, CUT))[:, None])
"""
# Two stores side by side, the second of which the next round's first one overwrites.
TURNS = """
@kernel(grid=(1,), num_warps=4)
def f(r: *fp16, x: *const fp16, M: i32, N: i32):
    assume(N % 16 == 0)
    r, x = multiple_of(r, 16), multiple_of(x, 16)
    a = make_tensor_descriptor(x, (64, 128), (128, 1), (64, 64))
    b = make_tensor_descriptor(x, (128, 128), (128, 1), (128, 64))
    c = make_tensor_descriptor(r, (64, N), (N, 1), (64, 128))
    for tile in range(0, M):
        sums = zeros((64, 128), fp32)
        for k in range(0, 128, 64):
            sums = dot(a.load((0, k)), b.load((0, k)).T, sums)
        c.store((0, tile * 128), (sums + tile).to(fp16))
        c.store((0, tile * 128 + 128), (sums - tile).to(fp16))
"""


def called(source, what="load", **options):
    assert f"@fsc.bulk.{what}" in fsc_threads(source, "sm_90a", {}, **options), f"nothing comes by a bulk {what}"


@tests("bulk.load", "turn.init", "turn")(dtype=["fp16", "bf16", "i8", "fp8e4nv"],
                                         tile=[(64, 64, 64), (128, 32, 32), (64, 256, 128)],
                                         rows=[True, False], k=[0, 16, 176], stages=[2, 4])
def bulk_blocks(bench, dtype, tile, rows, k, stages):
    """Rows of 128, 64 and 32 bytes, more than one of them across a tile; no round at all, one, several; what lies below
    row 0 or behind the last one of a matrix is 0."""
    bm, bn, bk = tile
    rows |= dtype in ("i8", "fp8e4nv")  # of bytes rows lie along k
    batch, m, shift, result = 3, bm + 24, 8, "i32" if dtype == "i8" else "fp32"
    rng = np.random.default_rng(m + k)
    x, y = (rng.integers(-4, 5, s) for s in ((batch, m, k), (k, bn)))
    defines = dict(BM=bm, BN=bn, BK=bk, ROWS=rows)
    options = dict(defines=defines, types={"T": dtype, "R": result}, num_warps=4 if bm * bn < 16384 else 8,
                   num_stages=stages)
    called(BLOCKS, **options)
    values = x if k else np.zeros((batch, m, 16))
    xb = bench.buffer(dtype, values.size, values.ravel())
    values = (y.T if rows else y) if k else np.zeros((16, bn))
    yb, rb = bench.buffer(dtype, values.size, values.ravel()), bench.buffer(result, batch * m * bn)
    bench.run(BLOCKS, rb, xb, yb, batch, m, k, shift, arch=b"sm_90a", **options)
    moved = np.concatenate([np.zeros((batch, shift, k), int), x], axis=1)[:, :m]
    same_bits(decode(rb.raw(), result).reshape(batch, m, bn), (moved @ y).astype(np.float64), f"{dtype} {tile} {k}")


@case(dtype=["fp16", "bf16"], k=[16, 64, 208], odd=[-1, 0, 64], pad=[0, 16])
def bulk_masks(bench, dtype, k, odd, pad):
    called(MASKS, types={"T": dtype})
    m = 100
    rng = np.random.default_rng(k + odd + pad)
    wide, y = rng.integers(-8, 9, (m, k + pad)), rng.integers(-8, 9, (32, k))
    xb, yb, rb = (bench.buffer(dtype, v.size, v.ravel()) if v is not None else bench.buffer("fp32", 2 * m * 32)
                  for v in (wide, y, None))
    bench.run(MASKS, rb, xb, yb, m, k, k + pad, odd, types={"T": dtype}, arch=b"sm_90a")
    x = wide[:, :k]
    kept = x * (np.arange(k) // 64 * 64 != odd)
    want = np.stack([kept @ y.T, x @ y.T]).astype(np.float64)
    same_bits(decode(rb.raw(), "fp32").reshape(2, m, 32), want, f"{dtype} {k} {odd}")


@case(dtype=["fp16", "bf16"], stages=[2, 3, 4])
def bulk_tiles(bench, dtype, stages):
    called(TILES, types={"T": dtype}, num_warps=4, num_stages=stages)
    m, k = 64 * 9 - 5, 352
    rng = np.random.default_rng(stages)
    x, y = rng.integers(-8, 9, (m, k)), rng.integers(-8, 9, (32, k))
    ends = np.array([k, 64, 0, 128, 0, k, 192, 0, 17], dtype=np.int32)
    xb, yb = (bench.buffer(dtype, v.size, v.ravel()) for v in (x, y))
    rb, eb = bench.buffer("fp32", m * 32), bench.buffer("i32", ends.size, ends)
    bench.run(TILES, rb, xb, yb, eb, m, k, types={"T": dtype}, num_warps=4, num_stages=stages, arch=b"sm_90a")
    seen = np.arange(k)[None, :] < np.minimum(k, -(-ends // 64) * 64)[np.arange(m) // 64, None]
    same_bits(decode(rb.raw(), "fp32").reshape(m, 32), (x * seen @ y.T).astype(np.float64), f"{dtype} {stages}")


# Rows of which some begin anywhere; rounds that lie beyond the end of a row, which may be no multiple of 16 bytes.
PLACES = """
@kernel(grid=(cdiv(M, 64),))
def f(r: *fp32, x: *const T, y: *const T, M: i32, K: i32, stride: i32, first: i32, EVEN: constexpr = False,
      T: dtype = fp16):
    assume(stride % 16 == 0)
    x, y = multiple_of(x, 16), multiple_of(y, 16)
    m, n, j = program_id(0) * 64 + arange(0, 64), arange(0, 32), arange(0, 64)
    sums, first = zeros((64, 32), fp32), max(first, 0) * (8 if EVEN else 1)
    for start in range(0, K + 128, 64):
        k = start + j
        a = load(x + m[:, None] * stride + (first + k)[None, :], mask=(m < M)[:, None] & (first + k < K)[None, :])
        b = load(y + n[:, None] * stride + k[None, :], mask=(k < K)[None, :])
        sums = dot(a, b.T, sums)
    store(r + m[:, None] * 32 + n[None, :], sums, mask=(m < M)[:, None])
"""


@case(k=[64, 100, 203], first=[0, 1, 5, 27], even=[True, False])
def bulk_places(bench, k, first, even):
    m, stride = 100, 208
    rng = np.random.default_rng(k + first)
    x, y = rng.integers(-8, 9, (m, stride)), rng.integers(-8, 9, (32, stride))
    xb, yb, rb = bench.buffer("fp16", x.size, x.ravel()), bench.buffer("fp16", y.size, y.ravel()), \
        bench.buffer("fp32", m * 32)
    bench.run(PLACES, rb, xb, yb, m, k, stride, first, num_warps=4, defines={"EVEN": even}, arch=b"sm_90a")
    first *= 8 if even else 1
    n = max(k - first, 0)
    want = (x[:, first:first + n] @ y[:, :n].T).astype(np.float64)
    same_bits(decode(rb.raw(), "fp32").reshape(m, 32), want, f"{k} {first}")


@case()
def bulk_places_are_units(bench):
    """Both operands come by bulk copies where it is known that all rows begin at multiples of 16 bytes."""
    none, both = (fsc_threads(PLACES, "sm_90a", {}, {"EVEN": str(even)}, num_warps=4).count("@fsc.bulk.load")
                  for even in (False, True))
    assert 0 < none < both, (none, both)


# Vectors along the columns of a product, and along its rows: by bulk copies, or, from FIRST = 1 on, by each warp.
VECTORS = """
@kernel(grid=(1,))
def f(r: *fp32, x: *const T, v: *const V, u: *const V, n: i32, FIRST: constexpr = 0, EARLY: constexpr = True,
      SIZE: constexpr = 64, ROWS: constexpr = 64, T: dtype = fp16, V: dtype = fp32):
    x, v, u = multiple_of(x, 16), multiple_of(v, 16), multiple_of(u, 16)
    i, j, m = arange(0, 64), arange(0, SIZE), arange(0, ROWS)
    ones, sums = full((ROWS, 64), 1.0, T), zeros((ROWS, SIZE), fp32)
    for start in range(0, n, SIZE):
        at = start + FIRST + j
        level = load(v + at, mask=at < n)[None, :] if EARLY else load(v + at, mask=at < n)
        b = load(x + (start + i)[:, None] * SIZE + j[None, :], mask=(start + i < n)[:, None])
        row = load(u + start + m, mask=start + m < n) * 2
        d = dot(ones, b)
        sums += d * (level if EARLY else level[None, :]) - row[:, None]
    store(r + m[:, None] * SIZE + j[None, :], sums)
"""


@case(size=[32, 64, 128], first=[0, 1], early=[True, False], dtype=["fp32", "i32", "fp16"], warps=[4, 8])
def bulk_vectors(bench, size, first, early, dtype, warps):
    n, rows = 3 * size - 7, 16 * warps
    rng = np.random.default_rng(size + first)
    x, v, u = rng.integers(-3, 4, (n, size)), rng.integers(-3, 4, n), rng.integers(-3, 4, n)
    xb, vb, ub = bench.buffer("fp16", x.size, x.ravel()), bench.buffer(dtype, n, v), bench.buffer(dtype, n, u)
    rb = bench.buffer("fp32", rows * size)
    bench.run(VECTORS, rb, xb, vb, ub, n, types={"T": "fp16", "V": dtype}, num_warps=warps, num_stages=2,
              defines={"FIRST": first, "EARLY": early, "SIZE": size, "ROWS": rows}, arch=b"sm_90a")
    want = np.zeros((rows, size))
    for start in range(0, n, size):
        level, row = np.zeros(size), np.zeros(rows)
        part = v[start + first:min(n, start + first + size)]
        level[:len(part)] = part
        part = u[start:min(n, start + rows)]
        row[:len(part)] = part
        want += x[start:start + 64].sum(axis=0) * level - 2 * row[:, None]
    same_bits(decode(rb.raw(), "fp32").reshape(rows, size), want, f"{size} {first} {early}")


@case()
def bulk_can_fail(bench):
    """What no map can say is copied as ever; and a kernel without boxes is seen."""
    any_stride = MASKS.replace("assume(x_stride % 16 == 0)", "").replace("assume(K % 16 == 0)", "")
    must_fail(lambda: called(any_stride), "boxes")


def stays(bench, dtype, result, sizes, programs, what, defines, stages=3):
    """Sums of small integers, exact in 16 bits, too; rows of the result are padded to 16 bytes."""
    m, n, k = sizes
    rng = np.random.default_rng(m + n + k)
    x, y = rng.integers(-2, 3, (m, k)), rng.integers(-2, 3, (n, k))
    begin, turned = defines.get("FROM", 0), defines.get("TURNED", False)
    want = (x[:, begin:] @ y[:, begin:].T).astype(np.float64)
    want = np.maximum(want, 0) if defines.get("RELU") else want
    rows = want.T if turned else want
    stride = rows.shape[1] + -rows.shape[1] % 8
    options = dict(defines=defines, types={"T": dtype, "R": result}, num_warps=4, num_stages=stages)
    called(STAYS, what, **options)
    xb, yb = (bench.buffer(dtype, v.size, v.ravel()) for v in (x, y))
    rb = bench.buffer(result, rows.shape[0] * stride)
    bench.run(STAYS, rb, xb, yb, programs, m, n, k, stride, arch=b"sm_90a", **options)
    got = decode(rb.raw(), result).reshape(rows.shape[0], -1)
    same_bits(got[:, :rows.shape[1]], rows.astype(got.dtype), f"{dtype} {sizes} {defines}")


@case(dtype=["bf16"], k=[16, 64, 128, 208, 320], programs=[1, 3, 100], stages=[2, 4])
def bulk_across(bench, dtype, k, programs, stages):
    """No round more than the copies are ahead, and many more; programs of one tile, of several, of none."""
    stays(bench, dtype, dtype, (200, 300, k), programs, "store", dict(BM=64, BN=128), stages)


@tests("bulk.store", "bulk.commit", "bulk.wait")(
    result=["fp16", "bf16", "fp32"], n=[250, 77], turned=[False, True], relu=[False, True], twice=[1, 2])
def bulk_stores(bench, result, n, turned, relu, twice):
    """Whole tiles and what ends within one; rows of c, and of its transpose; in parts; one place twice."""
    stays(bench, "fp16", result, (150, n, 144), 3 - twice, "store",
          dict(BM=64, BN=128, TURNED=turned, RELU=relu, TWICE=twice, FROM=16))


@case(m=[200, 320], cut=[64, 100, 1000], narrow=[False, True])
def bulk_bounds(bench, m, cut, narrow):
    k = 144
    rng = np.random.default_rng(m + cut)
    x, y = rng.integers(-2, 3, (m, k)), rng.integers(-2, 3, (128, k))
    xb, yb = (bench.buffer("fp16", v.size, v.ravel()) for v in (x, y))
    rb = bench.buffer("fp16", m * 128, np.full(m * 128, 999))
    bench.run(BOUNDS, rb, xb, yb, m, k, defines=dict(CUT=cut, NARROW=narrow), arch=b"sm_90a")
    want = np.full((m, 128), 999.0)
    want[:cut] = ((x[np.arange(m) % 256] if narrow else x) @ y.T)[:cut]
    same_bits(decode(rb.raw(), "fp16").reshape(m, 128), want.astype(np.float16), f"{m} {cut} {narrow}")


@case(m=[1, 2, 9])
def bulk_turns(bench, m):
    called(TURNS, "store")
    x = np.random.default_rng(m).integers(-2, 3, (128, 128))
    xb = bench.buffer("fp16", x.size, x.ravel())
    rb = bench.buffer("fp16", 64 * 1280, np.zeros(64 * 1280))
    bench.run(TURNS, rb, xb, m, 1280, arch=b"sm_90a")
    want, sums = np.zeros((64, 1280)), x[:64] @ x.T
    for tile in range(m):
        want[:, tile * 128:tile * 128 + 256] = np.concatenate([sums + tile, sums - tile], axis=1)
    same_bits(decode(rb.raw(), "fp16").reshape(64, 1280), want.astype(np.float16), f"{m}")
