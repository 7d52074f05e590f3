# Sums of rows of any length, added in fp64: y[i] = sum_j x[i, j], rounded once at the end.
#
# fp32 holds 24 bits: in a long row whose large numbers cancel, what remains is lost among their roundings. One program
# walks a row and adds into BLOCK places; these meet at the end. A place takes two registers, so 1024 of them are shared
# out among four warps.
#
#   fsc run row_sum_fp64.dsl x=in.npy y=out.npy
@kernel(grid=(n_rows,), BLOCK=min(1024, next_power_of_2(n_cols)), num_warps=4 if BLOCK == 1024 else 0)
def row_sum_fp64(y: *T[n_rows], x: *T[n_rows:x_stride, n_cols], x_stride: i32, n_rows: i32, n_cols: i32,
                 BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    s = zeros((BLOCK,), fp64)
    for start in range(0, n_cols, BLOCK):
        cols = start + arange(0, BLOCK)
        s += load(x + row * x_stride + cols, mask=cols < n_cols).to(fp64)
    store(y + row, sum(s, axis=0))

# test: x=random:0:fp32[5,3000] --rtol=6e-8 --atol=0
# expect y: sum(x, axis=1)
