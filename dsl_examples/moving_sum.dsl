# Moving sums: y[i, j] = x[i, j - window + 1] + … + x[i, j], with zeros before the row's begin.
#
# The sum of a window is the difference of two prefix sums. A program reads BLOCK neighbours, scans them once and gives
# the sums of all windows that lie within: BLOCK - window + 1 of them, so that the next program reads window - 1
# elements again. Prefix sums grow and their difference does not, so they are in fp64; -T SUM=fp32 loses digits.
#
#   fsc run moving_sum.dsl x=in.npy y=out.npy window=30
@kernel(grid=(n_rows, cdiv(n_cols, BLOCK - window + 1)), BLOCK=max(1024, 2 * next_power_of_2(window)),
        require=(window >= 1, window <= BLOCK))
def moving_sum(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols], y_stride: i32, x_stride: i32,
               n_rows: i32, n_cols: i32, window: i32, BLOCK: constexpr = 1024, T: dtype = fp32, SUM: dtype = fp64):
    row = program_id(0)
    i = arange(0, BLOCK)
    cols = program_id(1) * (BLOCK - window + 1) - (window - 1) + i
    v = load(x + row * x_stride + cols, mask=(cols >= 0) & (cols < n_cols)).to(SUM)
    s = cumsum(v, 0)
    before = where(i >= window, gather(s, i - window, 0), 0)
    store(y + row * y_stride + cols, s - before, mask=(i >= window - 1) & (cols < n_cols))

# test: x=random:0:fp32[5,300] window=30
# expect y: cumsum(x, axis=1) - where(arange(n_cols) < window, 0, (cumsum(x, axis=1) @ \
#           (arange(n_cols)[:, None] == arange(n_cols) - window)))
