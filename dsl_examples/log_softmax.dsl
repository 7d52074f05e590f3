# Logarithm of the row softmax, without its detour through numbers that underflow.
#
#   y[i, j] = (x[i, j] - m) - log(sum_j exp(x[i, j] - m)),   m = max_j x[i, j]
#
#   fsc run log_softmax.dsl x=in.npy y=out.npy
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def log_softmax(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols],
                y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask, other=-inf).to(fp32)
    v -= max(v, axis=0)
    store(y + row * y_stride + cols, v - log(sum(exp(v), axis=0)), mask=mask)

# test: x=random:0:fp32[5,300]
# expect y: x - log(sum(exp(x), axis=1))
