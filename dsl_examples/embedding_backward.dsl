# What flows back through gather_rows.dsl to its table: dx[index[i], :] += dy[i, :]. Clear dx first.
#
# Several rows of dy may go to one row of dx, so the additions are atomic. Their order is not fixed and neither is the
# last bit of a sum; dx is fp32, so that many small gradients still add up. An index that names no row of dx, as one for
# padding, adds nothing; a negative one counts from the last row.
#
#   fsc run embedding_backward.dsl dx=zeros.npy dy=grad.npy index=rows.npy
@kernel(grid=(cdiv(n_rows, ROWS),), BLOCK=min(1024, next_power_of_2(n_cols)))
def embedding_backward(dx: *fp32[n_table:dx_stride, n_cols], dy: *T[n_rows:dy_stride, n_cols], index: *i32[n_rows],
                       dx_stride: i32, dy_stride: i32, n_rows: i32, n_table: i32, n_cols: i32, BLOCK: constexpr = 1024,
                       ROWS: constexpr = 4, T: dtype = fp32):
    rows = program_id(0) * ROWS + arange(0, ROWS)
    k = load(index + rows, mask=rows < n_rows, other=n_table)
    k = where(k < 0, k + n_table, k)
    found = (k >= 0) & (k < n_table)
    for start in range(0, n_cols, BLOCK):
        cols = start + arange(0, BLOCK)
        mask = found[:, None] & (cols < n_cols)[None, :]
        d = load(dy + rows[:, None] * dy_stride + cols[None, :], mask=mask).to(fp32)
        atomic_add(dx + k[:, None] * dx_stride + cols[None, :], d, mask=mask, sem="relaxed")

# test: dx=random:0:fp32[101,40] dy=random:1:fp32[60,40] index=random:2:i32[60]
# expect dx: dx + (arange(n_table)[:, None] == where(index < 0, index + n_table, index)) @ dy
