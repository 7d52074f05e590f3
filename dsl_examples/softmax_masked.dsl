# Row softmax over the elements that a mask keeps (not 0). The others are 0 in y; a row without any is 0 as well.
#
#   y[i, j] = keep[i, j] * exp(x[i, j]) / sum_k keep[i, k] * exp(x[i, k])
#
# Scores that nobody keeps are not read. One row of keep for all rows of x: give it the stride 0.
#
#   fsc run softmax_masked.dsl x=in.npy keep=keep.npy y=out.npy
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def softmax_masked(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols],
                   keep: *i8[n_rows:keep_stride, n_cols], y_stride: i32, x_stride: i32, keep_stride: i32, n_rows: i32,
                   n_cols: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    kept = load(keep + row * keep_stride + cols, mask=mask) != 0
    v = load(x + row * x_stride + cols, mask=mask & kept, other=-inf).to(fp32)
    e = where(kept, exp(v - max(v, axis=0)), 0.0)
    s = sum(e, axis=0)
    store(y + row * y_stride + cols, e / (1.0 if s == 0 else s), mask=mask)

# test: x=random:0:fp32[5,300] keep=random:1:i8[5,300]
# expect y: where(keep == 0, 0, exp(x)) / sum(where(keep == 0, 0, exp(x)), axis=1)
# test nothing kept: x=random:0:fp32[5,300] keep=zeros:i8[5,300]
# expect y: 0
