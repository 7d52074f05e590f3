# What flows back through log_softmax.dsl, from its output y and the gradient dy.
#
#   dx[i, j] = dy[i, j] - exp(y[i, j]) * sum_k dy[i, k]
#
#   fsc run log_softmax_backward.dsl dx=dx.npy dy=dy.npy y=y.npy
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def log_softmax_backward(dx: *T[n_rows:dx_stride, n_cols], dy: *T[n_rows:dy_stride, n_cols],
                         y: *T[n_rows:y_stride, n_cols], dx_stride: i32, dy_stride: i32, y_stride: i32,
                         n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    d = load(dy + row * dy_stride + cols, mask=mask).to(fp32)
    p = exp(load(y + row * y_stride + cols, mask=mask).to(fp32))
    store(dx + row * dx_stride + cols, d - p * sum(d, axis=0), mask=mask)

# test: dy=random:0:fp32[5,300] y=random:1:fp32[5,300] --atol=1e-4
# expect dx: dy - exp(y) * sum(dy, axis=1)
