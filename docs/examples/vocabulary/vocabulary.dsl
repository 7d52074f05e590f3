# Softmax and cross-entropy of rows whose columns, a vocabulary, are shared out to several devices in slices.
#
#   m, s, x_t of a slice:  max_j x[i, j],  sum_j exp(x[i, j] - m),  x[i, target[i]], or -inf if the target is elsewhere
#   of the whole row:      m = max_k m_k,  s = sum_k s_k exp(m_k - m),  loss[i] = log(s) + m - x_t
#
# Each device reads its slice once (slice_sums), all get three numbers a row of all others, each finds what they mean
# (whole_rows). Softmax reads the slice again (slice_softmax). A target that no slice has makes the loss infinite.
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def slice_sums(sums: *fp32[3, n_rows], x: *T[n_rows:x_stride, n_cols], target: *i32[n_rows], first: i32, x_stride: i32,
               n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    x_row = x + row * x_stride
    cols = arange(0, BLOCK)
    v = load(x_row + cols, mask=cols < n_cols, other=-inf).to(fp32)
    t = load(target + row) - first
    x_t = load(x_row + t, mask=(t >= 0) & (t < n_cols), other=-inf).to(fp32)
    m = max(v, axis=0)
    shift = 0.0 if m == -inf else m
    s = sum(exp(v - shift), axis=0)
    store(sums + row, m)
    store(sums + n_rows + row, s)
    store(sums + 2 * n_rows + row, x_t)

@kernel(grid=(cdiv(n_rows, BLOCK),))
def whole_rows(loss: *fp32[n_rows], whole: *fp32[2, n_rows], sums: *const fp32[n_slices, 3, n_rows], n_slices: i32,
               n_rows: i32, BLOCK: constexpr = 128):
    row = program_id(0) * BLOCK + arange(0, BLOCK)
    mask = row < n_rows
    m = full((BLOCK,), -inf, fp32)
    s = zeros((BLOCK,), fp32)
    x_t = full((BLOCK,), -inf, fp32)
    for k in range(n_slices):
        at = sums + 3 * k * n_rows + row
        m_k = load(at, mask=mask, other=-inf)
        s_k = load(at + n_rows, mask=mask, other=0.0)
        x_t = maximum(x_t, load(at + 2 * n_rows, mask=mask, other=-inf), propagate_nan=True)
        larger = maximum(m, m_k, propagate_nan=True)
        shift = where(larger == -inf, 0.0, larger)
        s = s * exp(m - shift) + s_k * exp(m_k - shift)
        m = larger
    store(loss + row, log(s) + (m - x_t), mask=mask)
    store(whole + row, where(m == -inf, 0.0, m), mask=mask)
    store(whole + n_rows + row, s, mask=mask)

@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def slice_softmax(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols], whole: *const fp32[2, n_rows],
                  y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask).to(fp32)
    m = load(whole + row)
    s = load(whole + n_rows + row)
    store(y + row * y_stride + cols, exp(v - m) / s, mask=mask)
