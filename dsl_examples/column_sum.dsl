# Sums down the columns: y[j] = sum_i x[i, j], in fp32. It ends a backward pass whose programs each wrote a row of sums.
#
# One program takes COLS columns and walks down them, ROWS rows at a time, all of 256 at once. The ROWS sums of a column
# meet at the end. The launch begins while the one that writes x still runs, and waits for its end.
#
#   fsc run column_sum.dsl x=parts.npy y=sums.npy
@kernel(grid=(cdiv(n_cols, COLS),), ROWS=max(32, min(256, next_power_of_2(n_rows))), num_warps=4)
def column_sum(y: *fp32[n_cols], x: *T[n_rows:x_stride, n_cols], x_stride: i32, n_rows: i32, n_cols: i32,
               ROWS: constexpr = 32, COLS: constexpr = 32, T: dtype = fp32):
    gdc_wait()
    cols = program_id(0) * COLS + arange(0, COLS)[None, :]
    s = zeros((ROWS, COLS), fp32)
    for start in range(0, n_rows, ROWS):
        rows = start + arange(0, ROWS)[:, None]
        s += load(x + rows * x_stride + cols, mask=(rows < n_rows) & (cols < n_cols)).to(fp32)
    store(y + cols, sum(s, axis=0, keep_dims=True), mask=cols < n_cols)

# test: x=random:0:fp32[300,37] --atol=5e-5
# expect y: sum(x, axis=0)
