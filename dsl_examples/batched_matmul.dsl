# A product of matrices for each of a batch: c[i] = a[i] b[i], a[i] [M, K], b[i] [K, N].
#
# Tiles are counted through all matrices. All of these may share one b: give b [1, K, N].
# Descriptors say where a matrix ends: what a block has beyond it is 0 when loaded, and is not stored.
# ROOMY, STAYS, the sizes of tiles and their order: as in matmul.dsl.
#
#   fsc run batched_matmul.dsl a=a.npy b=b.npy c=c.npy
@kernel(grid=(min(cdiv(M, BM) * cdiv(N, BN) * batch, num_sms()) if STAYS else cdiv(M, BM) * cdiv(N, BN) * batch,),
        require=(b_batch == 1 or b_batch == batch,),
        ROOMY=T.primitive_bitwidth == 16 and max_shared() >= 192 * 1024 and M > 64 and
        cdiv(M, 128) * cdiv(N, 128) * batch * 2 > num_sms(),
        BM=max(16, min(next_power_of_2(M), 128 if ROOMY or cdiv(M, 128) * cdiv(N, 128) * batch * 2 > num_sms() * 3 else
                       64 if cdiv(M, 64) * cdiv(N, 64) * batch > num_sms() else 16)),
        BN=max(16, min(next_power_of_2(N),
                       256 if ROOMY and cdiv(M, 128) * cdiv(N, 256) * batch * 4 >
                       cdiv(cdiv(M, 128) * cdiv(N, 256) * batch, num_sms()) * num_sms() * 3 else
                       128 if ROOMY or BM >= 64 and cdiv(M, BM) * cdiv(N, 128) * batch * 2 > num_sms() * 3 else
                       64 if cdiv(M, BM) * cdiv(N, 64) * batch > num_sms() else 32)),
        BK=max(16, min(next_power_of_2(K), 64 if ROOMY else 8192 // max(BN, 32))),
        STAYS=ROOMY and K % 8 == 0 and N % 8 == 0 and BM * BN > 16384 and
        cdiv(M, BM) * cdiv(N, BN) * batch > 2 * num_sms(),
        num_warps=8 if ROOMY and BM * BN > 16384 else 4 if ROOMY and BM * BN == 16384 else 0,
        num_stages=4 if ROOMY else 0 if BN == 128 else 3 if BM == 64 else 4)
def batched_matmul(c: *T[batch, M, N], a: *const T[batch, M, K], b: *const T[b_batch, K, N], batch: i32, b_batch: i32,
                   M: i32, N: i32, K: i32, BM: constexpr = 64, BN: constexpr = 64, BK: constexpr = 32,
                   ROOMY: constexpr = False, STAYS: constexpr = False, T: dtype = fp16):
    tiles_m, tiles_n = cdiv(M, BM), cdiv(N, BN)
    tiles = (tiles_m * tiles_n).to(i32)
    for tile in range(program_id(0), tiles * batch if STAYS else program_id(0) + 1, num_programs(0)):
        i, within = tile // tiles, tile % tiles
        assume(i >= 0)
        tile_m, tile_n = swizzle2d(within // tiles_n, within % tiles_n, tiles_m, tiles_n, 8)
        m, n = tile_m * BM, tile_n * BN
        a_i = make_tensor_descriptor(a + i * M * K, (M, K), (K, 1), (BM, BK))
        b_i = make_tensor_descriptor(b + (i if b_batch > 1 else 0) * K * N, (K, N), (N, 1), (BK, BN))
        c_i = make_tensor_descriptor(c + i * M * N, (M, N), (N, 1), (BM, BN))
        acc = zeros((BM, BN), fp32)
        for k in range(0, K, BK):
            acc = dot(a_i.load((m, k)), b_i.load((k, n)), acc, input_precision="ieee")
        c_i.store((m, n), acc.to(T))

# test: a=random:0:fp32[3,20,40] b=random:1:fp32[3,40,33] --atol=2e-5
# expect c: a @ b
# test one b for all: a=random:0:fp16[3,20,40] b=random:1:fp16[1,40,33]
# expect c: a @ b
