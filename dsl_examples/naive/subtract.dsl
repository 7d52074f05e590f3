# Step 2 of 5 of a softmax that is not fused: z[i, j] = x[i, j] - m[i]. Reads the matrix and writes it.
#
#   fsc run subtract.dsl x=in.npy m=max.npy z=shifted.npy
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def subtract(z: *T[n_rows:z_stride, n_cols], x: *T[n_rows:x_stride, n_cols], m: *T[n_rows],
             z_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask)
    store(z + row * z_stride + cols, v - load(m + row), mask=mask)

# test: x=random:0:fp32[5,300] m=random:1:fp32[5]
# expect z: fp32(x - m[:, None])
