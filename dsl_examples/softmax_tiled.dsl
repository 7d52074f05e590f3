# Row softmax in chunks, for rows of any length: two passes over the row, never more than BLOCK elements on chip.
#
# The first pass keeps the maximum m and the sum s of exp(x - m) of what it has seen. A chunk with a larger maximum
# shrinks the old sum by exp(m_old - m_new), so one pass is enough for both. The second pass reads the row again and
# writes. A row that begins with nothing but -inf has m = -inf, where m_old - m_new is NaN: the shift is taken as 0
# until the first finite element, so that only a row of nothing but -inf becomes NaN, as it must. With STAGES of 2 and
# more the next chunks are on their way while one is worked on.
#
#   fsc run softmax_tiled.dsl x=in.npy y=out.npy
@kernel(grid=(n_rows,), BLOCK=min(1024, next_power_of_2(n_cols)))
def softmax_tiled(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols],
                  y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024,
                  STAGES: constexpr = 1, T: dtype = fp32):
    row = program_id(0)
    x_row = x + row * x_stride
    y_row = y + row * y_stride

    m = -inf
    s = 0.0
    for start in range(0, n_cols, BLOCK, num_stages=STAGES):
        cols = start + arange(0, BLOCK)
        v = load(x_row + cols, mask=cols < n_cols, other=-inf).to(fp32)
        m_new = maximum(m, max(v, axis=0), propagate_nan=True)
        shift = 0.0 if m_new == -inf else m_new
        s = s * exp(m - shift) + sum(exp(v - shift), axis=0)
        m = m_new

    for start in range(0, n_cols, BLOCK, num_stages=STAGES):
        cols = start + arange(0, BLOCK)
        mask = cols < n_cols
        v = load(x_row + cols, mask=mask, other=-inf).to(fp32)
        store(y_row + cols, exp(v - m) / s, mask=mask)

# test: x=random:0:fp32[5,3000] --rtol=1e-5 --atol=0
# expect y: exp(x - max(x, axis=1)) / sum(exp(x - max(x, axis=1)), axis=1)
# test halves: x=random:1:fp16[5,3000]
# expect y: softmax.dsl
