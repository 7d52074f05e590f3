# Products of groups of rows with a matrix for each group, as experts have: c[i] = x[i] w[g] for rows i of group g.
#
# x [M, K] has its rows sorted by group. first[g] is where group g begins, the last one ends with M; groups are of any
# size, also empty. A tile has rows of one group. Group g begins with tile first[g] // BM + g: so far apart that all its
# tiles fit before the next one's, whatever the sizes are. A program finds its group by halving; a few find no rows.
# A block of x may have rows of the next group behind its own: they are multiplied, and not stored.
# ROOMY and the sizes of tiles: as in matmul.dsl, by the rows that a group has on average.
#
#   fsc run grouped_matmul.dsl x=x.npy w=w.npy first=first.npy c=c.npy
@jit
def group_of(tile, first, n_groups, BM: constexpr):
    """The last one that begins with this tile or before."""
    low, high = 0, n_groups
    while high - low > 1:
        middle = (low + high) // 2
        is_before = load(first + middle) // BM + middle <= tile
        low, high = (middle if is_before else low), (high if is_before else middle)
    return low

@kernel(grid=((M // BM + n_groups) * cdiv(N, BN),),
        ROOMY=T.primitive_bitwidth == 16 and max_shared() >= 192 * 1024 and M > 64 * n_groups and
        (M // 128 + n_groups) * cdiv(N, 128) * 2 > num_sms(),
        BM=max(16, min(next_power_of_2(cdiv(M, max(n_groups, 1))), 128 if ROOMY or
                       (T.primitive_bitwidth > 16 or max_shared() < 192 * 1024) and
                       cdiv(M, 128) * cdiv(N, 128) * 2 > num_sms() * 3 else
                       64 if cdiv(M, 64) * cdiv(N, 64) > num_sms() else 16)),
        BN=max(16, min(next_power_of_2(N),
                       256 if ROOMY and BM == 128 and cdiv(M, 128) * cdiv(N, 256) * 4 >
                       cdiv(cdiv(M, 128) * cdiv(N, 256), num_sms()) * num_sms() * 3 else
                       128 if ROOMY or BM >= 64 and cdiv(M, BM) * cdiv(N, 128) * 2 > num_sms() * 3 else
                       64 if cdiv(M, BM) * cdiv(N, 64) > num_sms() else 32)),
        BK=max(16, min(next_power_of_2(K), 64 if ROOMY else 8192 // max(BN, 32))),
        num_warps=8 if ROOMY and BM * BN > 16384 else 4 if ROOMY and BM * BN == 16384 else 0,
        num_stages=4 if ROOMY else 0 if BN == 128 else 3 if BM == 64 else 4)
def grouped_matmul(c: *T[M, N], x: *const T[M, K], w: *const T[n_groups, K, N], first: *const i32[n_groups],
                   n_groups: i32, M: i32, N: i32, K: i32, BM: constexpr = 64, BN: constexpr = 64,
                   BK: constexpr = 32, ROOMY: constexpr = False, T: dtype = fp16):
    tiles_m, tiles_n = M // BM + n_groups, cdiv(N, BN)
    tile_m, tile_n = swizzle2d(program_id(0) // tiles_n, program_id(0) % tiles_n, tiles_m, tiles_n, 8)
    # max says to the compiler what it cannot see: no number is below 0, so tiles are boxes of x and w.
    g = max(group_of(tile_m, first, n_groups, BM), 0)
    begin, end = load(first + g), load(first + g + 1, mask=g + 1 < n_groups, other=M)
    row = max(begin + (tile_m - g - begin // BM) * BM, 0)
    m = row + arange(0, BM)
    n = tile_n * BN + arange(0, BN)
    acc = zeros((BM, BN), fp32)
    for start in range(0, K if row < end else 0, BK):
        k = start + arange(0, BK)
        a = load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :])
        b = load(w + (g * K + k)[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :])
        acc = dot(a, b, acc, input_precision="ieee")
    store(c + m[:, None] * N + n[None, :], acc.to(T), mask=(m < end)[:, None] & (n < N)[None, :])

# test one group: x=random:0:fp16[20,40] w=random:1:fp16[1,40,33] first=zeros:i32[1]
# expect c: x @ w[0]
