# What flows back through layernorm.dsl: dx, and what each program adds to the gradients of weight and bias (sums: a row
# for each program, those of weight before those of bias).
#
#   h = (x - mean) * rstd,   g = dy * weight
#   dx[i, j] = (g[i, j] - sum_k g[i, k] / n_cols - h[i, j] * sum_k g[i, k] h[i, k] / n_cols) * rstd[i]
#   dweight[j] = sum_i dy[i, j] * h[i, j],   dbias[j] = sum_i dy[i, j]
#
# The sums over i go across all rows. Each program walks every n_parts-th tile of ROWS rows and adds up what it meets,
# in fp32 and on chip; it writes one row of sums at its end, and column_sum.dsl adds those rows: the same bits every
# time. The stored mean, and its product with rstd, are rounded: all of h is off by as much, which `off` says, as the
# mean of h is 0.
#
# A tile has 8192 elements, or 4096 where rows begin anywhere, and the next ones are on their way (STAGES). Rows beyond
# 12288 take a cluster of BLOCKS blocks, of 16 bits two at a time; a thread adds up both in one place. n_parts is best
# what runs at a time: on an H100 132, of such rows 66, beyond 16384 30, beyond 32768 15.
#
#   fsc run layernorm_backward.dsl dx=dx.npy sums=sums.npy:fp32[132,1562] dy=dy.npy x=x.npy weight=w.npy mean=mean.npy \
#           rstd=rstd.npy
#   fsc run column_sum.dsl x=sums.npy y=dweight_dbias.npy
@kernel(grid=(n_parts,), BLOCK=next_power_of_2(n_cols), WIDE=T.primitive_bitwidth > 16,
        CROOKED=x_stride * T.primitive_bitwidth % 128 > 0,
        BLOCKS=max(1, min(BLOCK // 8192, 16)) if n_cols > 12288 and max_shared() > 200000 else 1,
        ROWS=max(1, min(2 if BLOCKS > 1 and not WIDE and not CROOKED else
                        min(32, (4096 if WIDE and CROOKED else 8192) // BLOCK),
                        next_power_of_2(cdiv(n_rows, n_parts)))),
        STAGES=(1 if not WIDE or BLOCK >= 8192 else 3) if CROOKED else 2 if WIDE else 3,
        num_warps=max(1, min(16 if (CROOKED if BLOCK > 8192 and BLOCKS == 1 else WIDE) else 8, ROWS * BLOCK // 512)),
        num_ctas=BLOCKS, require=(BLOCK >= n_cols,))
def layernorm_backward(dx: *T[n_rows:dx_stride, n_cols], sums: *fp32[n_parts, 2 * n_cols],
                       dy: *T[n_rows:dy_stride, n_cols], x: *T[n_rows:x_stride, n_cols], weight: *const T[n_cols],
                       mean: *const fp32[n_rows], rstd: *const fp32[n_rows], dx_stride: i32, dy_stride: i32,
                       x_stride: i32, n_rows: i32, n_parts: i32, n_cols: i32, BLOCK: constexpr = 1024,
                       WIDE: constexpr = True, CROOKED: constexpr = False, BLOCKS: constexpr = 1, ROWS: constexpr = 1,
                       STAGES: constexpr = 1, T: dtype = fp32):
    part = program_id(0)
    cols = arange(0, BLOCK)[None, :]
    w = load(weight + cols, mask=cols < n_cols).to(fp32)
    dw = zeros((ROWS if BLOCKS == 1 else 1, BLOCK), fp32)
    db = zeros((ROWS if BLOCKS == 1 else 1, BLOCK), fp32)
    for first in range(part * ROWS, n_rows, n_parts * ROWS, num_stages=STAGES):
        rows = first + arange(0, ROWS)[:, None]
        mask = (rows < n_rows) & (cols < n_cols)
        r = load(rstd + rows, mask=rows < n_rows)
        v = load(x + rows * x_stride + cols, mask=mask).to(fp32)
        d = load(dy + rows * dy_stride + cols, mask=mask).to(fp32)
        db += sum(d, axis=0, keep_dims=True) if BLOCKS > 1 else d
        h = fma(v, r, where(mask, -r * load(mean + rows, mask=rows < n_rows), 0.0))
        g = d * w
        off = sum(h, axis=1, keep_dims=True) / n_cols
        level = sum(g, axis=1, keep_dims=True) / n_cols
        along = sum(g * h, axis=1, keep_dims=True) / n_cols - off * level
        store(dx + rows * dx_stride + cols, g * r - (h * (along * r) + (level - off * along) * r), mask=mask)
        own = d * (h - off)
        dw += sum(own, axis=0, keep_dims=True) if BLOCKS > 1 else own
    to = sums + 2 * part * n_cols + cols
    store(to, sum(dw, axis=0, keep_dims=True), mask=cols < n_cols)
    store(to + n_cols, sum(db, axis=0, keep_dims=True), mask=cols < n_cols)
