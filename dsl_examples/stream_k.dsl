# A product of matrices whose tiles are shared out evenly, whatever their number: c = a b, a [M, K], b [K, N].
#
# Tiles seldom fill a GPU: the last wave leaves most of it idle. Here PROGRAMS programs run, as many as there is room
# for. Each takes whole tiles while more are left than two waves. The steps along K of all tiles that are left, one tile
# behind the other, are cut into equal parts, one for each program. A part begins within a tile and ends within another
# one, or both in the same.
# A tile's parts are of programs side by side. The one that has its end adds the sums of those before it, which leave
# them in scratch in fp32, and say so by a flag: always in the same order, so the same bits every time. It waits for
# programs of lower number alone, which have begun before it; and each leaves first what others wait for. About eight
# programs share a tile at most: for fewer tiles and a longer K there is split_k.dsl.
# scratch begins with FLAGS flags, 0 at the beginning, and again behind a launch. Behind them is room for a tile a
# program. Launches of any sizes may share it, one after the other.
# ROOMY and the sizes of tiles: as in matmul.dsl, but that tiles need not fill waves.
#
#   fsc run stream_k.dsl a=a.npy b=b.npy c=c.npy scratch=zeros:fp32[8700000]
@jit
def program_of(unit, each, more):
    """Who has this step, if each program has `each` of them, and the first `more` programs one more."""
    bound = more * (each + 1)
    return unit // (each + 1) if unit < bound else more + (unit - bound) // max(each, 1)

@kernel(grid=(PROGRAMS,), ROOMY=T.primitive_bitwidth == 16 and max_shared() >= 192 * 1024,
        BM=max(16, min(next_power_of_2(M), 128)),
        BN=max(16, min(next_power_of_2(N), 256 if ROOMY and BM == 128 else 128)),
        BK=max(16, min(next_power_of_2(K), 64 if ROOMY else 8192 // max(BN, 32))),
        PROGRAMS=max(1, min(min(min(num_sms(), FLAGS), (room - FLAGS) // (BM * BN)),
                            cdiv(M, BM) * cdiv(N, BN) * min(8, cdiv(K, BK)))),
        num_warps=8 if ROOMY and BM * BN > 16384 else 4 if ROOMY and BM * BN == 16384 else 0,
        num_stages=4 if ROOMY else 0, require=(room >= FLAGS + PROGRAMS * BM * BN, K > 0))
def stream_k(c: *T[M, N], a: *const T[M, K], b: *const T[K, N], scratch: *fp32[room], M: i32, N: i32, K: i32,
             room: i32, BM: constexpr = 64, BN: constexpr = 64, BK: constexpr = 32, PROGRAMS: constexpr = 4,
             FLAGS: constexpr = 1024, ROOMY: constexpr = False, T: dtype = fp16):
    tiles_m, tiles_n = cdiv(M, BM), cdiv(N, BN)
    tiles, steps = tiles_m * tiles_n, cdiv(K, BK)
    program = program_id(0)
    whole = tiles // PROGRAMS if tiles % PROGRAMS == 0 else max(tiles // PROGRAMS - 1, 0)
    left = tiles - whole * PROGRAMS
    each, more = left * steps // PROGRAMS, left * steps % PROGRAMS
    begin = program * each + min(program, more)
    end = begin + each + (1 if program < more else 0)
    first_tile = begin // steps
    parts = (end - 1) // steps - first_tile + 1 if end > begin else 0
    at = arange(0, BM)[:, None] * BN + arange(0, BN)[None, :]
    for i in range(0, whole + parts):
        # The part's last tile goes first: others wait for its beginning.
        tile = left + i * PROGRAMS + program if i < whole else first_tile + whole + parts - 1 - i
        k_begin = 0 if i < whole else max(begin - tile * steps, 0)
        k_end = steps if i < whole else min(end - tile * steps, steps)
        tile_m, tile_n = swizzle2d(tile // tiles_n, tile % tiles_n, tiles_m, tiles_n, 8)
        m = max(tile_m * BM, 0) + arange(0, BM)
        n = max(tile_n * BN, 0) + arange(0, BN)
        acc = zeros((BM, BN), fp32)
        for start in range(max(k_begin * BK, 0), min(k_end * BK, K), BK):
            k = start + arange(0, BK)
            x = load(a + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :])
            y = load(b + k[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :])
            acc = dot(x, y, acc, input_precision="ieee")
        flags, sums = scratch.to(pointer_type(i32), bitcast=True), scratch + FLAGS
        to = c + m[:, None] * N + n[None, :]
        inside = (m < M)[:, None] & (n < N)[None, :]
        if k_end < steps:
            store(sums + program * (BM * BN) + at, acc)
            atomic_xchg(flags + program, 1)
        elif k_begin > 0:
            for other in range(program_of(tile * steps, each, more), program):
                while atomic_cas(flags + other, 1, 0) != 1:
                    pass
                acc += load(sums + other * (BM * BN) + at, cache_modifier=".cg")
            store(to, acc.to(T), mask=inside)
        else:
            store(to, acc.to(T), mask=inside)

# test: a=random:0:fp16[20,400] b=random:1:fp16[400,33] scratch=zeros:fp32[9300] --atol=5e-5
# expect c: a @ b
