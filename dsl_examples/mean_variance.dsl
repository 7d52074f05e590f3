# Mean and variance of rows of any length from one read, after Welford and Chan: no sum of squares, so nothing cancels.
#
#   mean[i] = sum_j x[i, j] / n_cols,   variance[i] = sum_j (x[i, j] - mean[i])^2 / n_cols
#
# What is known of some numbers are three: how many (n), their mean, and m2, the sum of (x - mean)^2. Two such triples
# make the triple of all the numbers, whatever their sizes: `merge`. Each of the BLOCK places takes one number after
# another (the short form below: n is 1 for the new one); at the end `reduce` merges the triples of all places.
#
#   fsc run mean_variance.dsl x=in.npy mean=mean.npy variance=variance.npy
@jit
def merge(n_a, mean_a, m2_a, n_b, mean_b, m2_b):
    n = n_a + n_b
    part = n_b / maximum(n, 1.0)
    d = mean_b - mean_a
    return n, mean_a + d * part, m2_a + m2_b + d * d * n_a * part


@kernel(grid=(n_rows,), BLOCK=min(1024, next_power_of_2(n_cols)))
def mean_variance(mean: *fp32[n_rows], variance: *fp32[n_rows], x: *T[n_rows:x_stride, n_cols], x_stride: i32,
                  n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    n = zeros((BLOCK,), fp32)
    average = zeros((BLOCK,), fp32)
    m2 = zeros((BLOCK,), fp32)
    for start in range(0, n_cols, BLOCK):
        cols = start + arange(0, BLOCK)
        mask = cols < n_cols
        v = load(x + row * x_stride + cols, mask=mask).to(fp32)
        d = where(mask, v - average, 0.0)
        n += mask.to(fp32)
        average += d / maximum(n, 1.0)
        m2 += d * (v - average)
    n_row, mean_row, m2_row = reduce((n, average, m2), 0, merge)
    store(mean + row, mean_row)
    store(variance + row, m2_row / n_row)

# test: x=random:0:fp32[5,3000]
# expect mean: mean(x, axis=1)
# expect variance: mean((x - mean(x, axis=1)) ** 2, axis=1)
