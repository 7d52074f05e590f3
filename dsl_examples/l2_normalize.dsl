# Rows of length 1: y[i, j] = x[i, j] / max(norm[i], eps), norm[i] = sqrt(sum_j x[i, j]^2).
#
# eps keeps a row of zeros as it is. One division a row: the elements are multiplied by what it gives.
#
#   fsc run l2_normalize.dsl x=in.npy y=out.npy norm=norm.npy eps=1e-12
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def l2_normalize(y: *T[n_rows:y_stride, n_cols], norm: *fp32[n_rows], x: *T[n_rows:x_stride, n_cols],
                 y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, eps: fp32 = 1e-12,
                 BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask).to(fp32)
    length = sqrt(sum(v * v, axis=0))
    store(norm + row, length)
    store(y + row * y_stride + cols, v * (1 / maximum(length, eps, propagate_nan=True)), mask=mask)

# test: x=random:0:fp32[5,300]
# expect norm: sqrt(sum(x * x, axis=1))
# expect y: x / sqrt(sum(x * x, axis=1))
# test rows of zeros: x=zeros:fp32[3,40]
# expect y: 0
