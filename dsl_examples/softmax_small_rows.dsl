# Row softmax for short rows: one program takes ROWS rows as a tile of two dimensions.
#
# A row of 10 numbers keeps no program busy. The tile has about 1024 places whatever the width of a row; max and sum go
# along axis 1 and give one number for each row, which keep_dims lays beside the rows they came from.
#
#   fsc run softmax_small_rows.dsl x=in.npy y=out.npy
@kernel(grid=(cdiv(n_rows, ROWS),), BLOCK=next_power_of_2(n_cols), ROWS=max(1, 1024 // next_power_of_2(n_cols)),
        require=(BLOCK >= n_cols,))
def softmax_small_rows(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols], y_stride: i32, x_stride: i32,
                       n_rows: i32, n_cols: i32, BLOCK: constexpr = 16, ROWS: constexpr = 64, T: dtype = fp32):
    rows = program_id(0) * ROWS + arange(0, ROWS)[:, None]
    cols = arange(0, BLOCK)[None, :]
    mask = (rows < n_rows) & (cols < n_cols)
    v = load(x + rows * x_stride + cols, mask=mask, other=-inf).to(fp32)
    e = exp(v - max(v, axis=1, keep_dims=True))
    store(y + rows * y_stride + cols, e / sum(e, axis=1, keep_dims=True), mask=mask)

# test: x=random:0:fp32[5,20] --rtol=1e-5 --atol=0
# expect y: exp(x - max(x, axis=1)) / sum(exp(x - max(x, axis=1)), axis=1)
# test halves: x=random:1:fp16[5,20]
# expect y: softmax.dsl
