# A matrix times a vector, for each matrix of a batch: y[b, i] = sum_j a[b, i, j] x[b, j].
#
# One program takes ROWS rows of one matrix and walks along them, COLS elements at a time. x is read once for all of its
# rows: laid along them by broadcasting. The sums meet across the threads once, after the walk.
#
#   fsc run batched_matvec.dsl a=a.npy x=x.npy y=y.npy
@kernel(grid=(cdiv(n_rows, ROWS), n_batch), COLS=min(256, next_power_of_2(n_cols)))
def batched_matvec(y: *T[n_batch, n_rows], a: *T[n_batch:a_batch, n_rows:a_stride, n_cols],
                   x: *T[n_batch:x_stride, n_cols], a_batch: i64, a_stride: i32, x_stride: i32, n_batch: i32,
                   n_rows: i32, n_cols: i32, ROWS: constexpr = 8, COLS: constexpr = 256, T: dtype = fp32):
    batch = program_id(1)
    rows = program_id(0) * ROWS + arange(0, ROWS)
    s = zeros((ROWS, COLS), fp32)
    for start in range(0, n_cols, COLS):
        cols = start + arange(0, COLS)
        is_col = cols < n_cols
        v = load(x + batch * x_stride + cols, mask=is_col).to(fp32)
        w = load(a + batch * a_batch + rows[:, None] * a_stride + cols[None, :],
                 mask=(rows < n_rows)[:, None] & is_col[None, :])
        s += w.to(fp32) * v[None, :]
    store(y + batch * n_rows + rows, sum(s, axis=1), mask=rows < n_rows)

# test: a=random:0:fp32[3,20,300] x=random:1:fp32[3,300] --atol=5e-5
# expect y: (a @ x[:, :, None])[:, :, 0]
