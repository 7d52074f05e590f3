# A product of matrices in 8-bit floats with a scale for each block:
#
#   c[i, j] = sum_g x_scale[g, i] * w_scale[j // 128, g] * sum_{k in group g} x[i, k] w[j, k]
#
# A group is 128 elements along k. x has a scale for each row and group, by groups, so that a program reads neighbours;
# the weights w have one for each block of 128 x 128. On compute capability 9.0 the sum of a group has some 14 bits
# (docs/reference/numerics.md); groups are added in fp32. T is the type of c.
#
# A program has BN columns, or HALVES times as many: their sums stay, and of one half's group at a time there is a sum
# beside them. So 128 x 256 fit in the registers of 8 warps. Smaller tiles are for few rows, and for other GPUs.
#
#   fsc run matmul_fp8_blocks.dsl x=x.npy w=w.npy x_scale=xs.npy w_scale=ws.npy c=c.npy -T T=bf16
@jit
def add_group(acc, a, scale, w, w_scale, first, group, N, K, BN: constexpr):
    """acc and what one group of k adds to the BN columns from `first` on."""
    n = first + arange(0, BN)
    k = group * 128 + arange(0, 128)
    b = load(w + n[:, None] * K + k[None, :], mask=(n < N)[:, None] & (k < K)[None, :])
    both = scale * load(w_scale + first // 128 * cdiv(K, 128) + group, mask=first < N)
    return acc + dot(a, b.T, max_num_imprecise_acc=128) * both[:, None]

@jit
def put(c, acc, m, first, M, N, BN: constexpr):
    n = first + arange(0, BN)
    store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])

@kernel(grid=(cdiv(N, BN * HALVES), cdiv(M, BM)), ROOMY=max_shared() >= 192 * 1024,
        HALVES=2 if ROOMY and cdiv(M, 128) * cdiv(N, 256) * 3 > num_sms() * 2 else 1,
        BM=max(16, min(next_power_of_2(M), 32 if not ROOMY else
                       128 if cdiv(M, 128) * cdiv(N, 128) * 3 > num_sms() * 2 else 64)),
        BN=128 if BM == 128 else 64, WARPS=4 if ROOMY and BM < 128 else 8, num_warps=WARPS,
        num_stages=3 if HALVES == 2 else 4, require=(BN <= 128,))
def matmul_fp8_blocks(c: *T[M, N], x: *const A[M, K], w: *const B[N, K], x_scale: *const fp32[cdiv(K, 128), M],
                      w_scale: *const fp32[cdiv(N, 128), cdiv(K, 128)], M: i32, N: i32, K: i32,
                      ROOMY: constexpr = False, HALVES: constexpr = 1, BM: constexpr = 32, BN: constexpr = 64,
                      WARPS: constexpr = 8, A: dtype = fp8e4nv, B: dtype = fp8e4nv, T: dtype = bf16):
    m = program_id(1) * BM + arange(0, BM)
    first = program_id(0) * (BN * HALVES)
    acc = zeros((BM, BN), fp32)
    rest = zeros((BM, BN), fp32)
    for group in range(0, cdiv(K, 128)):
        k = group * 128 + arange(0, 128)
        a = load(x + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :])
        scale = load(x_scale + group * M + m, mask=m < M)
        acc = add_group(acc, a, scale, w, w_scale, first, group, N, K, BN)
        if HALVES == 2:
            rest = add_group(rest, a, scale, w, w_scale, first + BN, group, N, K, BN)
    put(c, acc, m, first, M, N, BN)
    if HALVES == 2:
        put(c, rest, m, first + BN, M, N, BN)

# test: x=random:0:fp8e4nv[20,100] w=random:1:fp8e4nv[33,100] x_scale=random:2:fp32[1,20] w_scale=random:3:fp32[1,1]
# expect c: x @ w.T * x_scale.T * w_scale
