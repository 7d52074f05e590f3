# Step 1 of 5 of a softmax that is not fused: m[i] = max_j x[i, j]. Reads the matrix once.
#
# The five steps (row_max, subtract, exp, row_sum, divide) move the matrix five times in and three times out, where the
# fused kernel moves it once in and once out: that is what fusing saves.
#
#   fsc run row_max.dsl x=in.npy m=max.npy
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def row_max(m: *T[n_rows], x: *T[n_rows:x_stride, n_cols], x_stride: i32, n_rows: i32, n_cols: i32,
            BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    v = load(x + row * x_stride + cols, mask=cols < n_cols, other=-inf)
    store(m + row, max(v, axis=0))

# test: x=random:0:fp32[5,300]
# expect m: max(x, axis=1)
