# Softmax down the columns: y[i, j] = exp(x[i, j] - m) / sum_i exp(x[i, j] - m), m = max_i x[i, j].
#
# A program that took one column would use a few bytes of every line of memory it touches. It takes COLS neighbours and walks
# down them twice, ROWS rows at a time: first for the sums, then for the quotients. Each of the ROWS x COLS places keeps the
# maximum and the sum of what it has met; only then do the ROWS places of a column meet. Until a place has met a number above
# -inf its shift is 0, as -inf - -inf would be NaN.
#
#   fsc run softmax_columns.dsl x=in.npy y=out.npy
@kernel(grid=(cdiv(n_cols, COLS),))
def softmax_columns(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols], y_stride: i32, x_stride: i32,
                    n_rows: i32, n_cols: i32, ROWS: constexpr = 32, COLS: constexpr = 32, T: dtype = fp32):
    cols = program_id(0) * COLS + arange(0, COLS)[None, :]

    m = full((ROWS, COLS), -inf, fp32)
    s = zeros((ROWS, COLS), fp32)
    for start in range(0, n_rows, ROWS):
        rows = start + arange(0, ROWS)[:, None]
        v = load(x + rows * x_stride + cols, mask=(rows < n_rows) & (cols < n_cols), other=-inf).to(fp32)
        m_new = maximum(m, v, propagate_nan=True)
        shift = where(m_new == -inf, 0.0, m_new)
        s = s * exp(m - shift) + exp(v - shift)
        m = m_new

    m_all = max(m, axis=0, keep_dims=True, propagate_nan=True)
    s_all = sum(s * exp(m - m_all), axis=0, keep_dims=True)
    for start in range(0, n_rows, ROWS):
        rows = start + arange(0, ROWS)[:, None]
        mask = (rows < n_rows) & (cols < n_cols)
        v = load(x + rows * x_stride + cols, mask=mask).to(fp32)
        store(y + rows * y_stride + cols, exp(v - m_all) / s_all, mask=mask)
