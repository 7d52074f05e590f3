# A product of matrices with few tiles and a long K: parts[p] = a[:, K_p] b[K_p, :], whose sum over p is the product.
#
# A tile is a program's work, and a product of few tiles leaves most of a GPU idle. Here n_parts programs share a tile,
# each along its part of K. Each writes its sums in fp32, and column_sum.dsl adds them: the same bits every time, which
# atomic additions would not give.
# Tiles are chosen as in matmul.dsl.
#
#   fsc run split_k.dsl a=a.npy b=b.npy parts=parts.npy:fp32[8,64,100]
#   fsc run column_sum.dsl x=parts.npy y=c.npy                            # x as [8, 6400]
@kernel(grid=(cdiv(M, BM) * cdiv(N, BN), n_parts),
        BM=max(16, min(next_power_of_2(M), 128 if cdiv(M, 128) * cdiv(N, 128) * n_parts * 2 > num_sms() * 3 else
                       64 if cdiv(M, 64) * cdiv(N, 64) * n_parts > num_sms() else 16)),
        BN=max(16, min(next_power_of_2(N),
                       128 if BM >= 64 and cdiv(M, BM) * cdiv(N, 128) * n_parts * 2 > num_sms() * 3 else
                       64 if cdiv(M, BM) * cdiv(N, 64) * n_parts > num_sms() else 32)),
        BK=max(16, min(next_power_of_2(K), 8192 // max(BN, 32))), num_stages=0 if BN == 128 else 3 if BM == 64 else 4)
def split_k(parts: *fp32[n_parts, M, N], a: *const T[M, K], b: *const T[K, N], n_parts: i32, M: i32, N: i32, K: i32,
            BM: constexpr = 64, BN: constexpr = 64, BK: constexpr = 32, T: dtype = fp16):
    part = program_id(1)
    m = program_id(0) // cdiv(N, BN) * BM + arange(0, BM)
    n = program_id(0) % cdiv(N, BN) * BN + arange(0, BN)
    step = cdiv(cdiv(K, BK), n_parts) * BK
    acc = zeros((BM, BN), fp32)
    for start in range(part * step, min(K, (part + 1) * step), BK):
        k = start + arange(0, BK)
        x = load(a + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :])
        y = load(b + k[:, None] * N + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :])
        acc = dot(x, y, acc, input_precision="ieee")
    gdc_launch_dependents()
    store(parts + (part * M + m)[:, None] * N + n[None, :], acc, mask=(m < M)[:, None] & (n < N)[None, :])

# test one part: a=random:0:fp16[20,200] b=random:1:fp16[200,33] n_parts=1 --atol=5e-5
# expect parts: a @ b
