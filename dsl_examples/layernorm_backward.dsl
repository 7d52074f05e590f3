# What flows back through layernorm.dsl: dx, and what each program adds to the gradients of weight and bias.
#
#   h = (x - mean) * rstd,   g = dy * weight
#   dx[i, j] = (g[i, j] - sum_k g[i, k] / n_cols - h[i, j] * sum_k g[i, k] h[i, k] / n_cols) * rstd[i]
#   dweight[j] = sum_i dy[i, j] * h[i, j],   dbias[j] = sum_i dy[i, j]
#
# The sums over i go across all rows. Each program walks every n_parts-th row and adds up what it meets, in fp32 and on
# chip; it writes one row of sums at its end, and column_sum.dsl adds those rows: the same bits every time. Some 256
# parts are enough. The stored mean was rounded: all of h is off by as much. As the mean of h is 0, `off` is known.
#
#   fsc run layernorm_backward.dsl dx=dx.npy dweight=dw.npy:fp32[256,781] dbias=db.npy dy=dy.npy x=x.npy weight=w.npy \
#           mean=mean.npy rstd=rstd.npy
#   fsc run column_sum.dsl x=dw.npy y=dweight.npy
@kernel(grid=(n_parts,), BLOCK=next_power_of_2(n_cols), num_warps=max(1, min(16, BLOCK // 512)),
        require=(BLOCK >= n_cols,))
def layernorm_backward(dx: *T[n_rows:dx_stride, n_cols], dweight: *fp32[n_parts, n_cols], dbias: *fp32[n_parts, n_cols],
                       dy: *T[n_rows:dy_stride, n_cols], x: *T[n_rows:x_stride, n_cols], weight: *const T[n_cols],
                       mean: *const fp32[n_rows], rstd: *const fp32[n_rows], dx_stride: i32, dy_stride: i32,
                       x_stride: i32, n_rows: i32, n_parts: i32, n_cols: i32,
                       BLOCK: constexpr = 1024, T: dtype = fp32):
    part = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    w = load(weight + cols, mask=mask).to(fp32)
    dw = zeros((BLOCK,), fp32)
    db = zeros((BLOCK,), fp32)
    for row in range(part, n_rows, n_parts):
        r = load(rstd + row)
        v = load(x + row * x_stride + cols, mask=mask).to(fp32)
        d = load(dy + row * dy_stride + cols, mask=mask).to(fp32)
        h = where(mask, (v - load(mean + row)) * r, 0.0)
        g = d * w
        off = sum(h, axis=0) / n_cols
        level = sum(g, axis=0) / n_cols
        along = sum(g * h, axis=0) / n_cols - off * level
        h -= off
        store(dx + row * dx_stride + cols, (g - level - h * along) * r, mask=mask)
        dw += d * h
        db += d
    store(dweight + part * n_cols + cols, dw, mask=mask)
    store(dbias + part * n_cols + cols, db, mask=mask)
