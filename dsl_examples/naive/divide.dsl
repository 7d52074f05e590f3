# Step 5 of 5 of a softmax that is not fused: y[i, j] = e[i, j] / s[i]. Reads the matrix and writes it.
#
#   fsc run divide.dsl e=exp.npy s=sum.npy y=out.npy
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def divide(y: *T[n_rows:y_stride, n_cols], e: *T[n_rows:e_stride, n_cols], s: *T[n_rows],
           y_stride: i32, e_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(e + row * e_stride + cols, mask=mask)
    store(y + row * y_stride + cols, v / load(s + row), mask=mask)

# test: e=random:0:fp32[5,300] s=random:1:fp32[5] --rtol=1e-6 --atol=0
# expect y: e / s[:, None]
