# Row softmax times a scale, in one kernel: y = softmax(x) * scale.
#
# The row's one factor scale / sum is divided once; a kernel for the scale alone would read and write the row again.
#
#   fsc run softmax_scale.dsl x=in.npy y=out.npy scale=2.5
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def softmax_scale(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols], y_stride: i32, x_stride: i32,
                  n_rows: i32, n_cols: i32, scale: fp32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask, other=-inf).to(fp32)
    e = exp(v - max(v, axis=0))
    store(y + row * y_stride + cols, e * (scale / sum(e, axis=0)), mask=mask)

# test: x=random:0:fp32[5,300] scale=2.5
# expect y: scale * exp(x - max(x, axis=1)) / sum(exp(x - max(x, axis=1)), axis=1)
