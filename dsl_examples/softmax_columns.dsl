# Softmax down the columns: y[i, j] = exp(x[i, j] - m) / sum_i exp(x[i, j] - m), m = max_i x[i, j].
#
# A program that took one column would use a few bytes of every line of memory it touches. It takes COLS neighbours, and
# where their strip of ROWS x COLS fits into the registers of a program (WHOLE), it is read once, as one tile. 2^18
# elements are 8 blocks of a cluster in fp32, 2^15 are one block, for GPUs without large clusters. Beyond 16384 rows
# strips are half as wide. Short ones are wider, and so are those of 16 bits up to 4096 rows. A block takes EACH
# elements, 32 a thread, where they are few or rows begin anywhere (CROOKED); else (0) the compiler chooses.
#
# A longer strip is read twice, STEP rows at a time, for the sums and for the quotients. Each of the STEP x COLS places
# keeps the maximum and the sum of what it has met; then those of a column meet. The shift is 0 where all was -inf.
#
#   fsc run softmax_columns.dsl x=in.npy y=out.npy
@kernel(grid=(cdiv(n_cols, COLS),), ROWS=next_power_of_2(n_rows), CROOKED=x_stride * T.primitive_bitwidth % 128 > 0,
        COLS=8 if n_rows > 16384 else max(32 if n_rows <= 4096 and T.primitive_bitwidth <= 16 and not CROOKED else 16,
                                          2048 // ROWS),
        WHOLE=ROWS * COLS <= (262144 if max_shared() > 200000 else 32768),
        EACH=min(16384, ROWS * COLS) if ROWS * COLS <= 16384 else
        0 if not CROOKED or max_shared() <= 200000 else
        16384 if T.primitive_bitwidth > 16 else max(8192, ROWS * COLS // 16),
        num_warps=min(16, EACH // 1024) if WHOLE else 8,
        num_ctas=ROWS * COLS // max(1, EACH) if WHOLE and EACH > 0 else 0)
def softmax_columns(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols], y_stride: i32, x_stride: i32,
                    n_rows: i32, n_cols: i32, ROWS: constexpr = 32, CROOKED: constexpr = False, COLS: constexpr = 16,
                    WHOLE: constexpr = False, EACH: constexpr = 512, T: dtype = fp32):
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
