# Fused row softmax. One program normalises one row; the row stays on chip between its one read and its one write.
#
#   y[i, j] = exp(x[i, j] - max_j x[i, j]) / sum_j exp(x[i, j] - max_j x[i, j])
#
# Subtracting the row's maximum first keeps exp from overflowing and changes nothing else. A row has BLOCK places on
# chip, a power of two. The mask keeps out those beyond n_cols: they are read as -inf, and exp(-inf) = 0 adds nothing.
#
#   fsc softmax.dsl                                     writes softmax.ptx
#   fsc run softmax.dsl x=in.npy y=out.npy              runs it: the contracts below bind every other argument
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def softmax(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols],
            y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask, other=-inf).to(fp32)
    e = exp(v - max(v, axis=0))
    store(y + row * y_stride + cols, e / sum(e, axis=0), mask=mask)

# test: x=random:0:fp32[5,300] --rtol=1e-5 --atol=0
# expect y: exp(x - max(x, axis=1)) / sum(exp(x - max(x, axis=1)), axis=1)
# test halves: x=random:1:fp16[3,1000]
# expect y: exp(x - max(x, axis=1)) / sum(exp(x - max(x, axis=1)), axis=1)
# test rows of one: x=random:2:fp32[4,1]
# expect y: 1
