# Transpose: y[j, i] = x[i, j]. One program moves one tile; both matrices are read and written along their rows.
#
# Rows of x are neighbours in memory, and so are rows of y, which are columns of x: each thread reads along one and
# writes along the other, and the tile changes hands between, through shared memory. Without `trans` (storing v
# at y + j * stride + i) the result is the same, but every thread of a warp writes to another row.
#
#   fsc run transpose.dsl x=in.npy y=out.npy
@kernel(grid=(cdiv(n_rows, BLOCK), cdiv(n_cols, BLOCK)))
def transpose(y: *T[n_cols:y_stride, n_rows], x: *T[n_rows:x_stride, n_cols],
              y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 32, T: dtype = fp32):
    rows = program_id(0) * BLOCK + arange(0, BLOCK)
    cols = program_id(1) * BLOCK + arange(0, BLOCK)
    v = load(x + rows[:, None] * x_stride + cols[None, :], mask=(rows < n_rows)[:, None] & (cols < n_cols)[None, :])
    store(y + cols[:, None] * y_stride + rows[None, :], trans(v),
          mask=(cols < n_cols)[:, None] & (rows < n_rows)[None, :])

# test: x=random:0:fp32[70,33] --rtol=0 --atol=0
# expect y: x.T
