# Draws one token for each row of scores: of the top_k largest those that hold the share top_p of the probability (the
# nucleus), each as likely as its share.
#
#   w[j] = exp((x[i, j] - max_k x[i, k]) / temperature)
#   kept: the top_k largest w; of them as few as add up to top_p of their sum, the largest first
#
# Nothing is sorted. "The elements of at least c" is a set that only shrinks as c grows; the largest c whose set still
# has top_k elements, or the wanted sum, is found by halving an interval. The bits of a float that is not negative, read
# as an integer, are in the order of the floats: 30 halvings of 0 to 1.0 end at neighbours, so nothing is approximate,
# and elements equal to the last one kept are kept as well. Then one random number for the row, and the first kept token
# whose prefix sum goes beyond its share of the kept sum. The number depends on seed and row alone. top_k = n_cols and
# top_p = 1 switch a rule off. NaN counts as -inf; a row with +inf, or with nothing above -inf, gives -1. A row of up to
# 16384 scores stays in the registers.
#
#   fsc run sample_top_p.dsl x=logits.npy token=token.npy temperature=0.8 top_k=50 top_p=0.95 seed=42
@jit
def at_least(w, bits):
    return w >= bits.to(fp32, bitcast=True)


@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), num_warps=max(1, min(16, BLOCK // 512)),
        require=(BLOCK >= n_cols, temperature > 0, top_k >= 1, top_p > 0, top_p <= 1))
def sample_top_p(token: *i32[n_rows], x: *T[n_rows:x_stride, n_cols], x_stride: i32, n_rows: i32, n_cols: i32,
                 temperature: fp32, top_k: i32, top_p: fp32, seed: i64, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    v = load(x + row * x_stride + cols, mask=cols < n_cols, other=-inf).to(fp32)
    w = exp((v - max(v, axis=0)) / temperature)

    k = minimum(top_k, n_cols)
    low = 0
    high = 0x3f800001  # the float after 1.0, the largest w: below it nothing is lost, from it on nothing is kept
    while high - low > 1:
        middle = (low + high) // 2
        if sum(at_least(w, middle).to(i32), axis=0) >= k:
            low = middle
        else:
            high = middle
    w = where(at_least(w, low), w, 0.0)

    wanted = top_p * sum(w, axis=0)
    high = 0x3f800001
    while high - low > 1:
        middle = (low + high) // 2
        if sum(where(at_least(w, middle), w, 0.0), axis=0) >= wanted:
            low = middle
        else:
            high = middle
    w = where(at_least(w, low), w, 0.0)

    prefix = cumsum(w, 0)
    total = sum(w, axis=0)
    is_past = (w > 0) & (prefix > rand(seed, row) * total)
    first = min(where(is_past, cols, n_cols), axis=0)
    last = max(where(w > 0, cols, -1), axis=0)
    store(token + row, minimum(first, last) if total > 0 else -1)

# test the largest alone: x=random:0:fp32[9,300] temperature=0.75 top_k=1 top_p=1 seed=42
# expect token: argmax(x, axis=1)
