# Products of groups of rows with a matrix for each group, as experts have: c[i] = x[i] w[g] for rows i of group g.
#
# x [M, K] has its rows sorted by group. first[g] is where group g begins, the last one ends with M; groups are of any
# size, also empty. Tiles are numbered through all groups. Only the device knows how many there are: each program walks
# over the groups and makes every num_programs-th tile.
# Tiles are chosen as in matmul.dsl.
#
#   fsc run grouped_matmul.dsl x=x.npy w=w.npy first=first.npy c=c.npy
@kernel(grid=(num_sms() * occupancy(),),
        BM=max(16, min(next_power_of_2(cdiv(M, n_groups)), 128 if cdiv(M, 128) * cdiv(N, 128) * 2 > num_sms() * 3 else
                       64 if cdiv(M, 64) * cdiv(N, 64) > num_sms() else 16)),
        BN=max(16, min(next_power_of_2(N),
                       128 if BM >= 64 and cdiv(M, BM) * cdiv(N, 128) * 2 > num_sms() * 3 else
                       64 if cdiv(M, BM) * cdiv(N, 64) > num_sms() else 32)),
        BK=max(16, min(next_power_of_2(K), 8192 // max(BN, 32))), num_stages=0 if BN == 128 else 3 if BM == 64 else 4)
def grouped_matmul(c: *T[M, N], x: *const T[M, K], w: *const T[n_groups, K, N], first: *const i32[n_groups],
                   n_groups: i32, M: i32, N: i32, K: i32, BM: constexpr = 64, BN: constexpr = 64,
                   BK: constexpr = 32, T: dtype = fp16):
    tiles_n = cdiv(N, BN)
    tile, done = program_id(0), 0
    for g in range(n_groups):
        begin, end = load(first + g), load(first + g + 1, mask=g + 1 < n_groups, other=M)
        tiles = cdiv(end - begin, BM) * tiles_n
        while tile < done + tiles:
            m = begin + (tile - done) // tiles_n * BM + arange(0, BM)
            n = (tile - done) % tiles_n * BN + arange(0, BN)
            acc = zeros((BM, BN), fp32)
            for start in range(0, K, BK):
                k = start + arange(0, BK)
                a = load(x + m[:, None] * K + k[None, :], mask=(m < end)[:, None] & (k < K)[None, :])
                b = load(w + (g * K + k)[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :])
                acc = dot(a, b, acc, input_precision="ieee")
            store(c + m[:, None] * N + n[None, :], acc.to(T), mask=(m < end)[:, None] & (n < N)[None, :])
            tile += num_programs(0)
        done += tiles

# test one group: x=random:0:fp16[20,40] w=random:1:fp16[1,40,33] first=zeros:i32[1]
# expect c: x @ w[0]
