# Row softmax by its formula, without subtracting the maximum: for study, not for use.
#
#   y[i, j] = exp(x[i, j]) / sum_j exp(x[i, j])
#
# exp overflows fp32 above 88.7: a row of 1000, 1001, 1002 gives inf / inf = NaN here, and 0.09, 0.24, 0.67 with
# softmax.dsl. Rows of small numbers come out the same from both.
#
#   fsc run softmax_unstable.dsl x=in.npy y=out.npy
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def softmax_unstable(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols],
                     y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    e = exp(load(x + row * x_stride + cols, mask=mask, other=-inf).to(fp32))
    store(y + row * y_stride + cols, e / sum(e, axis=0), mask=mask)

# test: x=random:0:fp32[5,300] --rtol=1e-5 --atol=0
# expect y: exp(x - max(x, axis=1)) / sum(exp(x - max(x, axis=1)), axis=1)
# test halves: x=random:1:fp16[5,300]
# expect y: softmax.dsl
