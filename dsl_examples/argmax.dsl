# Where the largest element of each row stands; of equal ones, the first. NaN loses against every number.
#
#   y[i] = the least j with x[i, j] = max_j x[i, j]
#
#   fsc run argmax.dsl x=in.npy y=out.npy               y of i32
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def argmax_rows(y: *i32[n_rows], x: *T[n_rows, n_cols], n_rows: i32, n_cols: i32,
                BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    v = load(x + row * n_cols + cols, mask=cols < n_cols, other=float('nan'))
    store(y + row, argmax(v, axis=0))

# test: x=random:0:fp32[7,300]
# expect y: argmax(x, axis=1)
# test of equal ones the first: x=zeros:fp16[3,40]
# expect y: argmax(x, axis=1)
