# Logarithm of the sum of exponentials of each row: y[i] = m + log(sum_j exp(x[i, j] - m)), m = max_j x[i, j].
#
# m may be infinite: -inf for a row of nothing but -inf, whose result is -inf; +inf, whose result is +inf. Then nothing
# is subtracted, as inf - inf would be NaN.
#
#   fsc run logsumexp.dsl x=in.npy y=out.npy
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def logsumexp(y: *fp32[n_rows], x: *T[n_rows:x_stride, n_cols], x_stride: i32, n_rows: i32, n_cols: i32,
              BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    v = load(x + row * x_stride + cols, mask=cols < n_cols, other=-inf).to(fp32)
    m = max(v, axis=0)
    m = m if abs(m) < inf else 0.0
    store(y + row, m + log(sum(exp(v - m), axis=0)))

# test: x=random:0:fp32[5,300]
# expect y: log(sum(exp(x), axis=1))
