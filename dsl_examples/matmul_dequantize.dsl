# A product with weights of 8 or 4 bits, which become T on their way: c = x w^T, x [M, K] in T, w [N, K].
#
# 8 bits, W: what quantize_int8.dsl or quantize_fp8.dsl makes of rows. A row has one scale, which does not depend on k,
# so it is multiplied once, behind the sum. Every such number is exact in fp16 and bf16.
# 4 bits, GROUP > 0: w is u8 [N, K / 2], the weight of the lower k in the lower bits; w[j, k] = (q - zero) * scale. Both
# are of row j and of a group of GROUP along k, and become T. Without zero (-D zero=None) that is 8. Rows have no zero.
#
# The product is made transposed, w x^T: its first operand is what matrix instructions take from registers, where
# weights become T.
# Few rows of x make few tiles. With scratch PARTS programs share one, each along its part of K, and leave their sums
# there. Who comes last adds them, in their order: the same bits every time. scratch has room for numbers of 4 bytes:
# M N a part, up to 8, and at its end one a tile (N + M + M N / 1024 are enough). It is 0 at the beginning, and its end
# is 0 behind a launch. Launches of several M may share it if the sums of none reach the tiles of another.
# A tile has as many rows of x as there are, up to 64. ROOMY: 16 bits, and shared memory for four stages of 256 x 128.
# Then it has 256 if at least 75 % of the waves of 256 x 128 are busy, else 128.
#
#   fsc run matmul_dequantize.dsl x=x.npy w=w.npy scale=scale.npy c=c.npy -D zero=None -D scratch=None room=0
@kernel(grid=(cdiv(M, BM) * cdiv(N, BN), PARTS),
        ROOMY=T.primitive_bitwidth == 16 and max_shared() >= 192 * 1024,
        BM=max(16, min(next_power_of_2(M), 64 if not ROOMY or M <= 64 else
                       256 if M > 128 and cdiv(M, 256) * cdiv(N, 128) * 4 >
                       cdiv(cdiv(M, 256) * cdiv(N, 128), num_sms()) * num_sms() * 3 else 128)),
        BN=128 if BM == 256 or (BM == 128 and (room > 2 * M * N or cdiv(M, 128) * cdiv(N, 128) >= num_sms())) else 64,
        BK=min(128 if ROOMY and (BM <= 64 or (BM == 128 and BN == 128)) else 64, GROUP if GROUP > 0 else 128),
        PARTS=max(1, min(min(8, cdiv(K, 2 * BK)),
                         min(num_sms() * (4 if BM <= 32 else 2 if BM == 64 else 1) // max(1, cdiv(M, BM) * cdiv(N, BN)),
                             (room - cdiv(M, BM) * cdiv(N, BN)) // max(1, M * N)))),
        num_warps=8 if BN == 128 else 4, num_stages=4 if ROOMY else 0,
        require=(bytes == (K // 2 if GROUP > 0 else K), GROUP == 0 or W == u8,
                 GROUP == 0 or (K % GROUP == 0 and GROUP % BK == 0),
                 PARTS == 1 or room >= PARTS * M * N + cdiv(M, BM) * cdiv(N, BN)))
def matmul_dequantize(c: *T[M, N], x: *const T[M, K], w: *const W[N, bytes],
                      scale: *const S[N * (K // GROUP if GROUP > 0 else 1)],
                      zero: *const S[N * (K // GROUP if GROUP > 0 else 1)], scratch: *fp32[room], M: i32, N: i32,
                      K: i32, bytes: i32, room: i32, GROUP: constexpr = 0, PARTS: constexpr = 1, BM: constexpr = 64,
                      BN: constexpr = 64, BK: constexpr = 64, ROOMY: constexpr = False, W: dtype = i8,
                      S: dtype = fp32, T: dtype = fp16):
    static_assert(GROUP == 0 or (GROUP >= 16 and GROUP == next_power_of_2(GROUP)), "GROUP is 16, 32, 64 …, or 0")
    static_assert(PARTS == 1 or scratch is not None, "parts of K want scratch: without it give room=0")
    tile, part = program_id(0), program_id(1)
    tiles_m, tiles_n = cdiv(M, BM), cdiv(N, BN)
    tile_m, tile_n = swizzle2d(tile // tiles_n, tile % tiles_n, tiles_m, tiles_n, 8)
    m = tile_m * BM + arange(0, BM)
    n = tile_n * BN + arange(0, BN)
    seen = (m < M)[:, None] & (n < N)[None, :]
    at = m[:, None] * N + n[None, :]
    step = cdiv(cdiv(K, BK), PARTS) * BK
    acc = zeros((BN, BM), fp32)
    for start in range(part * step, min(K, (part + 1) * step) if PARTS > 1 else K, BK):
        k = start + arange(0, BK)
        a = load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :])
        if GROUP > 0:
            h = start // 2 + arange(0, BK // 2)
            b = load(w + n[:, None] * bytes + h[None, :], mask=(n < N)[:, None] & (h < bytes)[None, :])
            group = n * (K // GROUP) + start // GROUP
            z = full((BN,), 8, T) if zero is None else load(zero + group, mask=n < N).to(T)
            s = load(scale + group, mask=n < N).to(T)
            q = (interleave(b & 15, b >> 4).to(T) - z[:, None]) * s[:, None]
        else:
            q = load(w + n[:, None] * bytes + k[None, :], mask=(n < N)[:, None] & (k < bytes)[None, :]).to(T)
        acc = dot(q, a.T, acc, input_precision="ieee")
    if GROUP == 0:
        acc *= load(scale + n, mask=n < N)[:, None]
    sums = acc.T
    if PARTS > 1:
        count = (scratch + (room - 1 - tile)).to(pointer_type(i32), bitcast=True)
        store(scratch + part * M * N + at, sums, mask=seen)
        if atomic_add(count, 1) == PARTS - 1:
            sums = zeros((BM, BN), fp32)
            for i in static_range(PARTS):
                sums += load(scratch + i * M * N + at, mask=seen, cache_modifier=".cg")
            store(c + at, sums.to(T), mask=seen)
            store(count, 0)
    else:
        store(c + at, sums.to(T), mask=seen)

# test: x=random:0:fp16[20,40] w=random:1:i8[33,40] scale=random:2:fp32[33] -D zero=None -D scratch=None room=0
# expect c: x @ w.T * scale
# test parts: x=random:0:fp16[20,400] w=random:1:i8[33,400] scale=random:2:fp32[33] scratch=zeros:fp32[3000] \
#             -D zero=None PARTS=4
# expect c: x @ w.T * scale
# test fp8: x=random:0:fp16[20,40] w=random:1:fp8e4nv[33,40] scale=random:2:fp32[33] -D zero=None -D scratch=None room=0
# expect c: x @ w.T * scale
