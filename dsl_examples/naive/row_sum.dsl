# Step 4 of 5 of a softmax that is not fused: s[i] = sum_j e[i, j]. Reads the matrix once.
#
#   fsc run row_sum.dsl e=exp.npy s=sum.npy
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def row_sum(s: *T[n_rows], e: *T[n_rows:e_stride, n_cols], e_stride: i32, n_rows: i32, n_cols: i32,
            BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    v = load(e + row * e_stride + cols, mask=cols < n_cols)
    store(s + row, sum(v, axis=0))

# test: e=random:0:fp32[5,300] --atol=5e-5
# expect s: sum(e, axis=1)
