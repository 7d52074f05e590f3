# A product with weights in 8-bit integers, which become T on their way: c[i, j] = scale[j] sum_k x[i, k] w[j, k].
#
# x [M, K] is in T, the weights w [N, K] are what quantize_int8.dsl makes of rows. Memory is read at a byte a weight.
# Every 8-bit integer is exact in fp16, bf16 and fp32. The scale of a row does not depend on k, so it is multiplied
# once, behind the sum, and nothing is rounded on the way.
#
#   fsc run matmul_dequantize.dsl x=x.npy w=w.npy scale=scale.npy c=c.npy
@kernel(grid=(cdiv(N, BN), cdiv(M, BM)), BM=max(16, min(64, next_power_of_2(M))))
def matmul_dequantize(c: *T[M, N], x: *const T[M, K], w: *const i8[N, K], scale: *const fp32[N], M: i32, N: i32,
                      K: i32, BM: constexpr = 64, BN: constexpr = 64, BK: constexpr = 64, T: dtype = fp16):
    m = program_id(1) * BM + arange(0, BM)
    n = program_id(0) * BN + arange(0, BN)
    acc = zeros((BM, BN), fp32)
    for start in range(0, K, BK):
        k = start + arange(0, BK)
        a = load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :])
        b = load(w + n[:, None] * K + k[None, :], mask=(n < N)[:, None] & (k < K)[None, :])
        acc = dot(a, b.to(T).T, acc, input_precision="ieee")
    acc *= load(scale + n, mask=n < N)[None, :]
    store(c + m[:, None] * N + n[None, :], acc.to(T), mask=(m < M)[:, None] & (n < N)[None, :])

# test: x=random:0:fp16[20,40] w=random:1:i8[33,40] scale=random:2:fp32[33]
# expect c: x @ w.T * scale
