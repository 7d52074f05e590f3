# Step 3 of 5 of a softmax that is not fused: e[i, j] = exp(z[i, j]). Reads the matrix and writes it.
#
#   fsc run exp.dsl z=shifted.npy e=exp.npy
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def exponential(e: *T[n_rows:e_stride, n_cols], z: *T[n_rows:z_stride, n_cols],
                e_stride: i32, z_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    store(e + row * e_stride + cols, exp(load(z + row * z_stride + cols, mask=mask)), mask=mask)

# test: z=random:0:fp32[5,300] --rtol=1e-6 --atol=0
# expect e: exp(z)
