# Gathered rows: y[i, :] = x[index[i], :], as an embedding looks rows up; a negative index counts from the last row.
#
# One program copies ROWS rows, so that short rows fill its threads, too. An index that names no row of x gives a row of
# zeros. STEP takes every STEP-th element of a row: x[index[i], ::STEP].
#
#   fsc run gather_rows.dsl x=table.npy index=rows.npy y=out.npy n_out=100 STEP=1
@kernel(grid=(cdiv(n_rows, ROWS),), BLOCK=min(1024, next_power_of_2(n_out)))
def gather_rows(y: *T[n_rows:y_stride, n_out], x: *T[n_table:x_stride, n_cols], index: *i32[n_rows], y_stride: i32,
                x_stride: i32, n_rows: i32, n_table: i32, n_out: i32, n_cols: i32, BLOCK: constexpr = 1024,
                ROWS: constexpr = 4, STEP: constexpr = 1, T: dtype = fp32):
    rows = program_id(0) * ROWS + arange(0, ROWS)
    is_row = rows < n_rows
    k = load(index + rows, mask=is_row)
    k = where(k < 0, k + n_table, k)
    found = is_row & (k >= 0) & (k < n_table)
    for start in range(0, n_out, BLOCK):
        cols = start + arange(0, BLOCK)
        is_col = (cols < n_out) & (cols * STEP < n_cols)
        v = load(x + k[:, None] * x_stride + (cols * STEP)[None, :], mask=found[:, None] & is_col[None, :])
        store(y + rows[:, None] * y_stride + cols[None, :], v, mask=is_row[:, None] & (cols < n_out)[None, :])

# test: x=random:0:fp32[101,40] index=random:1:i32[20] n_out=40
# expect y: take(x, index)
# test the first of each row: x=random:0:fp16[101,40] index=random:1:i32[20] n_out=7
# expect y: take(x, index)[:, :7]
