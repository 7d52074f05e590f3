# A product of matrices with its epilogue: c = act(a b + bias) + residual; a [M, K], b [K, N], bias [N].
#
# A program makes a BM x BN tile of c and goes along K in steps of BK. Sums are fp32 whatever T is, and are rounded
# once, behind the epilogue. Descriptors make every M, N, K right: beyond K both operands are 0, which adds nothing.
# STAYS: there is a program for each multiprocessor, which makes one tile behind the other. On Hopper the next tile's
# first operands come while this one is stored. Else a program makes one tile.
# WHOLE: rows begin at multiples of 16 bytes, as copies of whole blocks ask.
# GROUP rows of tiles are taken column by column, so that programs that run at the same time share rows of a and columns
# of b in the cache.
# ROOMY: 16 bits, and shared memory for four stages of 128 x 256 x 64. Then tiles are that large if at least 70 % of
# their waves are busy, else 128 x 128 by four warps if they fill half of the multiprocessors.
# LEAN: there, for 33 rows and more that are too few for these: 64 rows, and as many columns as leave half of the
# multiprocessors a tile. Rounds are long, as what is loaded binds.
# Other tiles are as large as leaves each multiprocessor one and a half of them, or one where they are small. The
# largest are for 16 bits, where at most a fifth of their last wave is idle. In a round a program takes at most 8192
# elements of b, 16384 of the widest.
# ACTIVATION is "none", "relu", "silu" or "gelu". -D bias=None and -D residual=None leave these out. residual is not c.
#
#   fsc run matmul.dsl a=a.npy b=b.npy bias=bias.npy residual=r.npy c=c.npy -D 'ACTIVATION="relu"'
#   fsc run matmul.dsl a=a.npy b=b.npy c=c.npy -D bias=None -D residual=None
@kernel(grid=(min(cdiv(M, BM) * cdiv(N, BN), num_sms()) if STAYS else cdiv(M, BM) * cdiv(N, BN),),
        ROOMY=T.primitive_bitwidth == 16 and max_shared() >= 192 * 1024 and
        cdiv(M, 128) * cdiv(N, 128) * 2 > num_sms() and (M <= 32 or M > 64 or cdiv(N, 128) > num_sms()),
        WHOLE=a_stride % 8 == 0 and b_stride % 8 == 0,
        LEAN=T.primitive_bitwidth == 16 and max_shared() >= 192 * 1024 and M > 32 and not ROOMY and WHOLE,
        BM=max(16, min(next_power_of_2(M), 128 if ROOMY else 64 if LEAN else
                       256 if T.primitive_bitwidth == 16 and cdiv(M, 256) * cdiv(N, 128) * 5 >
                       cdiv(cdiv(M, 256) * cdiv(N, 128), num_sms()) * num_sms() * 4 else
                       128 if cdiv(M, 128) * cdiv(N, 128) * 2 > num_sms() * 3 else
                       64 if cdiv(M, 64) * cdiv(N, 64) > num_sms() else 16)),
        BN=max(16, min(next_power_of_2(N),
                       256 if ROOMY and cdiv(M, 128) * cdiv(N, 256) * 10 >
                       cdiv(cdiv(M, 128) * cdiv(N, 256), num_sms()) * num_sms() * 7 else
                       128 if ROOMY or LEAN and cdiv(M, 64) * cdiv(N, 128) * 2 > num_sms() else
                       (64 if cdiv(M, 64) * cdiv(N, 64) * 2 > num_sms() else 32) if LEAN else
                       128 if BM == 256 or BM >= 64 and cdiv(M, BM) * cdiv(N, 128) * 2 > num_sms() * 3 else
                       64 if cdiv(M, BM) * cdiv(N, 64) > num_sms() else 32)),
        BK=max(16, min(next_power_of_2(K), 64 if ROOMY else 128 if LEAN and BN == 128 else 256 if LEAN else
                       8192 // max(BN, 32))),
        STAYS=ROOMY and WHOLE and BM * BN > 16384 and cdiv(M, BM) * cdiv(N, BN) > 2 * num_sms(),
        num_warps=8 if ROOMY and BM * BN > 16384 else 4 if ROOMY and BM * BN == 16384 else 0,
        num_stages=(4 if BN > 128 or cdiv(M, BM) * cdiv(N, BN) <= num_sms() else
                    2 if 2 * num_sms() < cdiv(M, BM) * cdiv(N, BN) <= 3 * num_sms() else 3) if ROOMY else
        (3 if BN == 64 else 4) if LEAN else 0 if BN == 128 else 3 if BM == 64 else 4)
def matmul(c: *T[M:c_stride, N], a: *const T[M:a_stride, K], b: *const T[K:b_stride, N], bias: *const T[N],
           residual: *const T[M:residual_stride, N], c_stride: i32, a_stride: i32, b_stride: i32, residual_stride: i32,
           M: i32, N: i32, K: i32, ACTIVATION: constexpr = "none", BM: constexpr = 64, BN: constexpr = 64,
           BK: constexpr = 32, GROUP: constexpr = 8, ROOMY: constexpr = False, LEAN: constexpr = False,
           WHOLE: constexpr = False, STAYS: constexpr = False, T: dtype = fp16):
    tiles_m, tiles_n = cdiv(M, BM), cdiv(N, BN)
    a_blocks = make_tensor_descriptor(a, (M, K), (a_stride, 1), (BM, BK))
    b_blocks = make_tensor_descriptor(b, (K, N), (b_stride, 1), (BK, BN))
    c_blocks = make_tensor_descriptor(c, (M, N), (c_stride, 1), (BM, BN))
    for tile in range(program_id(0), tiles_m * tiles_n if STAYS else program_id(0) + 1, num_programs(0)):
        tile_m, tile_n = swizzle2d(tile // tiles_n, tile % tiles_n, tiles_m, tiles_n, GROUP)
        m, n = tile_m * BM, tile_n * BN
        acc = zeros((BM, BN), fp32)
        for k in range(0, K, BK):
            acc = dot(a_blocks.load((m, k)), b_blocks.load((k, n)), acc, input_precision="ieee")
        if bias is not None:
            columns = n + arange(0, BN)
            acc += load(bias + columns, mask=columns < N).to(fp32)[None, :]
        if ACTIVATION == "relu":
            acc = maximum(acc, 0.0)
        elif ACTIVATION == "silu":
            acc *= sigmoid(acc)
        elif ACTIVATION == "gelu":
            acc *= 0.5 + 0.5 * erf(acc * 0.70710678)
        else:
            static_assert(ACTIVATION == "none", "ACTIVATION is none, relu, silu or gelu")
        if residual is not None:
            acc += make_tensor_descriptor(residual, (M, N), (residual_stride, 1), (BM, BN)).load((m, n)).to(fp32)
        c_blocks.store((m, n), acc.to(T))

# test: a=random:0:fp32[20,40] b=random:1:fp32[40,33] -D bias=None -D residual=None --atol=2e-5
# expect c: a @ b
# test the epilogue: a=random:0:fp16[20,40] b=random:1:fp16[40,33] bias=random:2:fp16[33] \
#           residual=random:3:fp16[20,33] -D 'ACTIVATION="relu"'
# expect c: maximum(a @ b + bias, 0) + residual
