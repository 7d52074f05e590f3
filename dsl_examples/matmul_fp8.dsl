# A product of matrices in 8-bit floats: c[i, j] = x_scale[i] w_scale[j] sum_k x[i, k] w[j, k].
#
# x [M, K] and the weights w [N, K] are what quantize_fp8.dsl makes of rows: a number is its 8 bits times its row's
# scale. The scales do not depend on k, so they are multiplied once, behind the sum. Products of 8-bit floats are exact
# in fp32, and sums are fp32. Where a GPU has no instruction for such operands they become fp16, exactly; where it has,
# from sm_89 on, it may cut sums to fewer bits than fp32 has. FAST allows it the fewest: on compute capability 9.0 that
# is 4 times as fast, with sums of some 14 bits (docs/reference/numerics.md). T is the type of c.
# Tiles are chosen as in matmul.dsl.
#
#   fsc run matmul_fp8.dsl x=x.npy w=w.npy x_scale=xs.npy w_scale=ws.npy c=c.npy -T T=bf16
@kernel(grid=(min(cdiv(M, BM) * cdiv(N, BN), num_sms()) if STAYS else cdiv(M, BM) * cdiv(N, BN),),
        ROOMY=FAST and max_shared() >= 192 * 1024 and cdiv(M, 128) * cdiv(N, 128) * 2 > num_sms(),
        BM=max(16, min(next_power_of_2(M), 128 if ROOMY or cdiv(M, 128) * cdiv(N, 128) * 2 > num_sms() * 3 else
                       64 if cdiv(M, 64) * cdiv(N, 64) > num_sms() else 16)),
        BN=max(16, min(next_power_of_2(N),
                       256 if ROOMY and cdiv(M, 128) * cdiv(N, 256) * 5 >
                       cdiv(cdiv(M, 128) * cdiv(N, 256), num_sms()) * num_sms() * 3 else
                       128 if ROOMY or BM >= 64 and cdiv(M, BM) * cdiv(N, 128) * 2 > num_sms() * 3 else
                       64 if cdiv(M, BM) * cdiv(N, 64) > num_sms() else 32)),
        BK=max(32, min(next_power_of_2(K), 128 if ROOMY else 16384 // max(BN, 32))),
        STAYS=ROOMY and K % 16 == 0 and BM * BN > 16384 and cdiv(M, BM) * cdiv(N, BN) > 2 * num_sms(),
        num_warps=8 if ROOMY and BM * BN >= 16384 else 0,
        num_stages=4 if ROOMY else 0 if BN == 128 else 3 if BM == 64 else 4)
def matmul_fp8(c: *T[M, N], x: *const A[M, K], w: *const B[N, K], x_scale: *const fp32[M], w_scale: *const fp32[N],
               M: i32, N: i32, K: i32, FAST: constexpr = False, BM: constexpr = 64, BN: constexpr = 64,
               BK: constexpr = 32, ROOMY: constexpr = False, STAYS: constexpr = False, A: dtype = fp8e4nv,
               B: dtype = fp8e4nv, T: dtype = bf16):
    tiles_m, tiles_n = cdiv(M, BM), cdiv(N, BN)
    x_blocks = make_tensor_descriptor(x, (M, K), (K, 1), (BM, BK))
    w_blocks = make_tensor_descriptor(w, (N, K), (K, 1), (BN, BK))
    c_blocks = make_tensor_descriptor(c, (M, N), (N, 1), (BM, BN))
    for tile in range(program_id(0), tiles_m * tiles_n if STAYS else program_id(0) + 1, num_programs(0)):
        tile_m, tile_n = swizzle2d(tile // tiles_n, tile % tiles_n, tiles_m, tiles_n, 8)
        m, n = tile_m * BM, tile_n * BN
        acc = zeros((BM, BN), fp32)
        for k in range(0, K, BK):
            acc = dot(x_blocks.load((m, k)), w_blocks.load((n, k)).T, acc,
                      max_num_imprecise_acc=2 ** 30 if FAST else None)
        rows, columns = m + arange(0, BM), n + arange(0, BN)
        acc *= load(x_scale + rows, mask=rows < M)[:, None]
        acc *= load(w_scale + columns, mask=columns < N)[None, :]
        c_blocks.store((m, n), acc.to(T))

# test: x=random:0:fp8e4nv[20,40] w=random:1:fp8e4nv[33,40] x_scale=random:2:fp32[20] w_scale=random:3:fp32[33]
# expect c: x @ w.T * x_scale[:, None] * w_scale
