# Softmax down the columns: y[i, j] = exp(x[i, j] - m) / sum_i exp(x[i, j] - m), m = max_i x[i, j].
#
# A program that took one column would use a few bytes of every line of memory it touches. It takes COLS neighbours, and
# where their strip of ROWS x COLS fits into the registers of a program (WHOLE), it is read once, as one tile. 2^18
# elements are up to 16 blocks of a cluster, 2^15 are one block, for GPUs without large clusters (not LARGE). Strips are
# as wide as fits, up to a line of 128 bytes and beyond it where columns are short: memory is slower by narrower pieces,
# and rows that begin anywhere (CROOKED) share a sector with each neighbour. A block takes EACH elements; 0: as many as
# the compiler chooses.
#
# A longer strip is read twice, STEP rows at a time, for the sums and for the quotients. Each of the STEP x COLS places
# keeps the maximum and the sum of what it has met; then those of a column meet. The shift is 0 where all was -inf.
#
#   fsc run softmax_columns.dsl x=in.npy y=out.npy
@kernel(grid=(cdiv(n_cols, COLS),), ROWS=next_power_of_2(n_rows), CROOKED=x_stride * T.primitive_bitwidth % 128 > 0,
        LARGE=max_shared() > 200000, WIDE=T.primitive_bitwidth > 16,
        COLS=8 if n_rows > 16384 else
        max(2048 // ROWS,
            (32 if ROWS <= 4096 and not WIDE and not CROOKED else 16) if not LARGE else
            (64 if ROWS <= 2048 and not CROOKED else 32 if ROWS <= 4096 else 16) if not WIDE else
            64 if ROWS <= (1024 if CROOKED else 128) else 32 if ROWS <= (8192 if CROOKED else 4096) else 16),
        WHOLE=ROWS * COLS <= (262144 if max_shared() > 200000 else 32768),
        EACH=0 if ROWS * COLS > 16384 and (not LARGE or not WIDE and not CROOKED) else
        min(ROWS * COLS, max(8192, ROWS * COLS // 16) if LARGE and CROOKED and (not WIDE or ROWS <= 1024) else 16384),
        num_warps=min(16, EACH // 1024) if WHOLE else 8,
        num_ctas=ROWS * COLS // max(1, EACH) if WHOLE and EACH > 0 else 0)
def softmax_columns(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols], y_stride: i32, x_stride: i32,
                    n_rows: i32, n_cols: i32, ROWS: constexpr = 32, CROOKED: constexpr = False, COLS: constexpr = 16,
                    LARGE: constexpr = False, WIDE: constexpr = True, WHOLE: constexpr = False,
                    EACH: constexpr = 512, T: dtype = fp32):
    cols = program_id(0) * COLS + arange(0, COLS)[None, :]
    if WHOLE:
        rows = arange(0, ROWS)[:, None]
        mask = (rows < n_rows) & (cols < n_cols)
        v = load(x + cols + rows * x_stride, mask=mask, other=-inf).to(fp32)
        e = exp(v - max(v, axis=0, keep_dims=True))
        store(y + cols + rows * y_stride, e / sum(e, axis=0, keep_dims=True), mask=mask)
    else:
        STEP = 2048 // COLS
        m = full((STEP, COLS), -inf, fp32)
        s = zeros((STEP, COLS), fp32)
        for start in range(0, n_rows, STEP):
            rows = start + arange(0, STEP)[:, None]
            v = load(x + cols + rows * x_stride, mask=(rows < n_rows) & (cols < n_cols), other=-inf).to(fp32)
            m_new = maximum(m, v, propagate_nan=True)
            shift = where(m_new == -inf, 0.0, m_new)
            s = s * exp(m - shift) + exp(v - shift)
            m = m_new

        m_all = max(m, axis=0, keep_dims=True, propagate_nan=True)
        s_all = sum(s * exp(m - m_all), axis=0, keep_dims=True)
        for start in range(0, n_rows, STEP):
            rows = start + arange(0, STEP)[:, None]
            mask = (rows < n_rows) & (cols < n_cols)
            v = load(x + cols + rows * x_stride, mask=mask).to(fp32)
            store(y + cols + rows * y_stride, exp(v - m_all) / s_all, mask=mask)

# test: x=random:0:fp32[300,7] --rtol=1e-5 --atol=0
# expect y: exp(x - max(x, axis=0)) / sum(exp(x - max(x, axis=0)), axis=0)
