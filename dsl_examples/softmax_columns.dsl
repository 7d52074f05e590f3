# Softmax down the columns: y[i, j] = exp(x[i, j] - m) / sum_i exp(x[i, j] - m), m = max_i x[i, j].
#
# A program that took one column would use a few bytes of every line of memory it touches. It takes COLS neighbours, and
# where their strip of ROWS x COLS fits into the registers of a program (WHOLE), it is read once, as one tile. 2^18
# elements are up to 16 blocks of a cluster, 2^15 are one block, for GPUs without large clusters (not LARGE). In 16 bits
# and of many rows (PACKED) they are 2^19, 128 elements a thread, so that pieces are no shorter than a sector. Strips
# are as wide as fits, up to a line of 128 bytes and beyond it where columns are short: memory is slower by narrower
# pieces.
# A block takes EACH elements; 0: as many as the compiler chooses.
#
# Of rows that begin anywhere (CROOKED) a strip has parts of sectors at both ends, and memory is slow to write these. So
# a strip overlaps the next one by SHEAR columns, a sector. In each row it stores whole sectors, from that on in which
# the overlap ends: other columns in other rows, and every element by one program. Where y is x there is no overlap, as
# another program may have stored what lies in it.
#
# A longer strip is read twice, STEP rows at a time, for the sums and for the quotients, by 16 blocks where strips are
# few, or of 16 bits (SPREAD). Each of the STEP x COLS places keeps the maximum and the sum of what it has met; then
# those of a column meet. The shift is 0 where all was -inf.
#
#   fsc run softmax_columns.dsl x=in.npy y=out.npy
@kernel(grid=(cdiv(n_cols + SHEAR, COLS - SHEAR),), ROWS=next_power_of_2(n_rows),
        LARGE=max_shared() > 200000, WIDE=T.primitive_bitwidth > 16,
        CROOKED=x_stride * T.primitive_bitwidth % (256 if WIDE else 128) > 0,
        PACKED=LARGE and T.primitive_bitwidth == 16 and not CROOKED and 8192 < n_rows <= 32768,
        SPREAD=LARGE and n_rows > 32768 and (n_cols <= 2048 or not WIDE),
        COLS=max(8, min(32, next_power_of_2(cdiv(n_cols, 32)))) if SPREAD else 524288 // ROWS if PACKED else
        8 if n_rows > 16384 else
        max(2048 // ROWS, 32 if ROWS <= 4096 and not WIDE and not CROOKED else 16) if not LARGE else
        max(2048 // ROWS, 64 if (ROWS <= 128 if WIDE else 512 < ROWS <= 4096 if CROOKED else ROWS <= 512) else
            32 if ROWS <= 8192 else 16),
        SHEAR=256 // T.primitive_bitwidth if LARGE and CROOKED and (128 if WIDE else 512) < ROWS <= 16384 and
        T.primitive_bitwidth > 8 and COLS * T.primitive_bitwidth > 256 and y != x else 0,
        WHOLE=ROWS * COLS <= (524288 if PACKED else 262144 if max_shared() > 200000 else 32768),
        EACH=0 if ROWS * COLS > 16384 and (not LARGE or not WIDE and ROWS <= 512 and not CROOKED) else
        min(ROWS * COLS, 32768 if PACKED else 8192 if LARGE and CROOKED and ROWS <= (2048 if WIDE else 512) else
            16384),
        num_warps=8 if not WHOLE or PACKED or LARGE and (WIDE or CROOKED) and ROWS > (2048 if WIDE else 512) else
        4 if LARGE and not WIDE and ROWS > 512 else min(16, EACH // 1024),
        num_ctas=(16 if SPREAD else 0) if not WHOLE else ROWS * COLS // EACH if EACH > 0 else 0,
        require=(SHEAR == 0 or y != x,))
def softmax_columns(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols], y_stride: i32, x_stride: i32,
                    n_rows: i32, n_cols: i32, ROWS: constexpr = 32, CROOKED: constexpr = False, SHEAR: constexpr = 0,
                    COLS: constexpr = 16, LARGE: constexpr = False, WIDE: constexpr = True, WHOLE: constexpr = False,
                    PACKED: constexpr = False, SPREAD: constexpr = False, EACH: constexpr = 512, T: dtype = fp32):
    places = arange(0, COLS)[None, :]
    cols = program_id(0) * (COLS - SHEAR) - SHEAR + places
    is_col = (cols >= 0) & (cols < n_cols) if SHEAR else cols < n_cols
    if WHOLE:
        rows = arange(0, ROWS)[:, None]
        is_row = rows < n_rows
        mask = is_row & is_col
        v = load(x + cols + rows * x_stride, mask=mask, other=-inf).to(fp32)
        e = exp(v - max(v, axis=0, keep_dims=True))
        at = places + (rows * y_stride & max(SHEAR - 1, 0))
        store(y + cols + rows * y_stride, e / sum(e, axis=0, keep_dims=True),
              mask=is_row & (at >= SHEAR) & (at < COLS) & is_col)
    else:
        STEP = (32768 if SPREAD else 2048) // COLS
        m = full((STEP, COLS), -inf, fp32)
        s = zeros((STEP, COLS), fp32)
        for start in range(0, n_rows, STEP):
            rows = start + arange(0, STEP)[:, None]
            v = load(x + cols + rows * x_stride, mask=(rows < n_rows) & is_col, other=-inf).to(fp32)
            m_new = maximum(m, v, propagate_nan=True)
            shift = where(m_new == -inf, 0.0, m_new)
            s = s * exp(m - shift) + exp(v - shift)
            m = m_new

        m_all = max(m, axis=0, keep_dims=True, propagate_nan=True)
        s_all = sum(s * exp(m - m_all), axis=0, keep_dims=True)
        for start in range(0, n_rows, STEP):
            rows = start + arange(0, STEP)[:, None]
            at = places + (rows * y_stride & max(SHEAR - 1, 0))
            mask = (rows < n_rows) & is_col & (at >= SHEAR) & (at < COLS)
            v = load(x + cols + rows * x_stride, mask=mask).to(fp32)
            store(y + cols + rows * y_stride, exp(v - m_all) / s_all, mask=mask)

# test: x=random:0:fp32[300,7] --rtol=1e-5 --atol=0
# expect y: exp(x - max(x, axis=0)) / sum(exp(x - max(x, axis=0)), axis=0)
