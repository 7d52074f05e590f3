# Prefix sums of rows of any length. A program walks a row, a block at a time, and carries the sum so far.
#
#   y[i, j] = x[i, 0] + x[i, 1] + … + x[i, j]
#
# cumsum adds within the block; `before` is what all earlier blocks add. Both stay in fp32 (i32 for integers), so that a
# row of fp16 is rounded once for each element it writes.
#
#   fsc run prefix_sum.dsl x=in.npy y=out.npy
@kernel(grid=(n_rows,), BLOCK=min(next_power_of_2(n_cols), 2048))
def prefix_sum(y: *T[n_rows, n_cols], x: *T[n_rows, n_cols], n_rows: i32, n_cols: i32,
               BLOCK: constexpr = 1024, T: dtype = fp32, SUM: dtype = fp32):
    row = program_id(0)
    before = zeros((), SUM)
    for start in range(0, n_cols, BLOCK):
        cols = start + arange(0, BLOCK)
        mask = cols < n_cols
        v = load(x + row * n_cols + cols, mask=mask, other=0).to(SUM)
        store(y + row * n_cols + cols, before + cumsum(v, 0), mask=mask)
        before += sum(v, axis=0)

# test: x=random:0:fp32[5,300] --atol=5e-5
# expect y: cumsum(x, axis=1)
# test integers: x=random:0:i32[3,5000] -T SUM=i32
# expect y: cumsum(x, axis=1)
