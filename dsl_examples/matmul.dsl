# A product of matrices with its epilogue: c = act(a b + bias) + residual; a [M, K], b [K, N], bias [N].
#
# One program makes a BM x BN tile of c and goes along K in steps of BK. Sums are fp32 whatever T is, and are rounded
# once, behind the epilogue. Masks make every M, N, K right: beyond K both operands are 0, which adds nothing.
# GROUP rows of tiles are taken column by column, so that programs that run at the same time share rows of a and columns
# of b in the cache.
# ROOMY: 16 bits, and shared memory for four stages of 128 x 256 x 64. Then tiles are that large if at least 75 % of
# their waves are busy, else 128 x 128 by four warps if they fill half of the multiprocessors.
# Other tiles are as large as leaves each multiprocessor one and a half of them, or one where they are small. The
# largest are for 16 bits, where at most a fifth of their last wave is idle. In a round a program takes at most 8192
# elements of b, 16384 of the widest.
# ACTIVATION is "none", "relu", "silu" or "gelu". -D bias=None and -D residual=None leave these out.
#
#   fsc run matmul.dsl a=a.npy b=b.npy bias=bias.npy residual=r.npy c=c.npy -D 'ACTIVATION="relu"'
#   fsc run matmul.dsl a=a.npy b=b.npy c=c.npy -D bias=None -D residual=None
@kernel(grid=(cdiv(M, BM) * cdiv(N, BN),),
        ROOMY=T.primitive_bitwidth == 16 and max_shared() >= 192 * 1024 and cdiv(M, 128) * cdiv(N, 128) * 2 > num_sms(),
        BM=max(16, min(next_power_of_2(M), 128 if ROOMY else
                       256 if T.primitive_bitwidth == 16 and cdiv(M, 256) * cdiv(N, 128) * 5 >
                       cdiv(cdiv(M, 256) * cdiv(N, 128), num_sms()) * num_sms() * 4 else
                       128 if cdiv(M, 128) * cdiv(N, 128) * 2 > num_sms() * 3 else
                       64 if cdiv(M, 64) * cdiv(N, 64) > num_sms() else 16)),
        BN=max(16, min(next_power_of_2(N),
                       256 if ROOMY and cdiv(M, 128) * cdiv(N, 256) * 4 >
                       cdiv(cdiv(M, 128) * cdiv(N, 256), num_sms()) * num_sms() * 3 else
                       128 if ROOMY or BM == 256 or BM >= 64 and cdiv(M, BM) * cdiv(N, 128) * 2 > num_sms() * 3 else
                       64 if cdiv(M, BM) * cdiv(N, 64) > num_sms() else 32)),
        BK=max(16, min(next_power_of_2(K), 64 if ROOMY else 8192 // max(BN, 32))),
        num_warps=8 if ROOMY and BM * BN > 16384 else 4 if ROOMY and BM * BN == 16384 else 0,
        num_stages=4 if ROOMY else 0 if BN == 128 else 3 if BM == 64 else 4)
def matmul(c: *T[M:c_stride, N], a: *const T[M:a_stride, K], b: *const T[K:b_stride, N], bias: *const T[N],
           residual: *T[M:residual_stride, N], c_stride: i32, a_stride: i32, b_stride: i32, residual_stride: i32,
           M: i32, N: i32, K: i32, ACTIVATION: constexpr = "none", BM: constexpr = 64, BN: constexpr = 64,
           BK: constexpr = 32, GROUP: constexpr = 8, ROOMY: constexpr = False, T: dtype = fp16):
    tiles_m, tiles_n = cdiv(M, BM), cdiv(N, BN)
    tile = program_id(0)
    tile_m, tile_n = swizzle2d(tile // tiles_n, tile % tiles_n, tiles_m, tiles_n, GROUP)
    m = tile_m * BM + arange(0, BM)
    n = tile_n * BN + arange(0, BN)
    acc = zeros((BM, BN), fp32)
    for start in range(0, K, BK):
        k = start + arange(0, BK)
        x = load(a + m[:, None] * a_stride + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :])
        y = load(b + k[:, None] * b_stride + n[None, :], mask=(k < K)[:, None] & (n < N)[None, :])
        acc = dot(x, y, acc, input_precision="ieee")
    if bias is not None:
        acc += load(bias + n, mask=n < N).to(fp32)[None, :]
    if ACTIVATION == "relu":
        acc = maximum(acc, 0.0)
    elif ACTIVATION == "silu":
        acc *= sigmoid(acc)
    elif ACTIVATION == "gelu":
        acc *= 0.5 + 0.5 * erf(acc * 0.70710678)
    else:
        static_assert(ACTIVATION == "none", "ACTIVATION is none, relu, silu or gelu")
    mask = (m < M)[:, None] & (n < N)[None, :]
    if residual is not None:
        acc += load(residual + m[:, None] * residual_stride + n[None, :], mask=mask).to(fp32)
    store(c + m[:, None] * c_stride + n[None, :], acc.to(T), mask=mask)

# test: a=random:0:fp32[20,40] b=random:1:fp32[40,33] -D bias=None -D residual=None --atol=2e-5
# expect c: a @ b
# test the epilogue: a=random:0:fp16[20,40] b=random:1:fp16[40,33] bias=random:2:fp16[33] \
#           residual=random:3:fp16[20,33] -D 'ACTIVATION="relu"'
# expect c: maximum(a @ b + bias, 0) + residual
