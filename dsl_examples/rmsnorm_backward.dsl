# What flows back through rmsnorm.dsl: dx, and what each program adds to the gradient of weight.
#
#   h = x * rstd,   g = dy * weight
#   dx[i, j] = (g[i, j] - h[i, j] * sum_k g[i, k] h[i, k] / n_cols) * rstd[i]
#   dweight[j] = sum_i dy[i, j] * h[i, j]
#
# As in layernorm_backward.dsl each program adds up its rows and writes n_cols sums, which column_sum.dsl adds; tiles,
# warps and blocks are those from there.
#
#   fsc run rmsnorm_backward.dsl dx=dx.npy dweight=dw.npy:fp32[132,781] dy=dy.npy x=x.npy weight=w.npy rstd=rstd.npy
#   fsc run column_sum.dsl x=dw.npy y=dweight.npy
@kernel(grid=(n_parts,), BLOCK=next_power_of_2(n_cols), WIDE=T.primitive_bitwidth > 16,
        CROOKED=x_stride * T.primitive_bitwidth % 128 > 0,
        BLOCKS=max(1, min(BLOCK // 8192, 16)) if n_cols > 12288 and max_shared() > 200000 else 1,
        ROWS=max(1, min(2 if BLOCKS > 1 and not WIDE and not CROOKED else
                        min(32, (4096 if WIDE and CROOKED else 8192) // BLOCK),
                        next_power_of_2(cdiv(n_rows, n_parts)))),
        STAGES=(1 if not WIDE or BLOCK >= 8192 else 3) if CROOKED else 2 if WIDE else 3,
        num_warps=max(1, min(16 if (CROOKED if BLOCK > 8192 and BLOCKS == 1 else WIDE) else 8, ROWS * BLOCK // 512)),
        num_ctas=BLOCKS, require=(BLOCK >= n_cols,))
def rmsnorm_backward(dx: *T[n_rows:dx_stride, n_cols], dweight: *fp32[n_parts, n_cols],
                     dy: *T[n_rows:dy_stride, n_cols], x: *T[n_rows:x_stride, n_cols], weight: *const T[n_cols],
                     rstd: *const fp32[n_rows], dx_stride: i32, dy_stride: i32, x_stride: i32,
                     n_rows: i32, n_parts: i32, n_cols: i32, BLOCK: constexpr = 1024,
                     WIDE: constexpr = True, CROOKED: constexpr = False, BLOCKS: constexpr = 1, ROWS: constexpr = 1,
                     STAGES: constexpr = 1, T: dtype = fp32):
    part = program_id(0)
    cols = arange(0, BLOCK)[None, :]
    w = load(weight + cols, mask=cols < n_cols).to(fp32)
    dw = zeros((ROWS if BLOCKS == 1 else 1, BLOCK), fp32)
    for first in range(part * ROWS, n_rows, n_parts * ROWS, num_stages=STAGES):
        rows = first + arange(0, ROWS)[:, None]
        mask = (rows < n_rows) & (cols < n_cols)
        r = load(rstd + rows, mask=rows < n_rows)
        h = load(x + rows * x_stride + cols, mask=mask).to(fp32) * r
        d = load(dy + rows * dy_stride + cols, mask=mask).to(fp32)
        g = d * w
        along = sum(g * h, axis=1, keep_dims=True) / n_cols
        store(dx + rows * dx_stride + cols, (g - h * along) * r, mask=mask)
        dw += sum(d * h, axis=0, keep_dims=True) if BLOCKS > 1 else d * h
    store(dweight + part * n_cols + cols, sum(dw, axis=0, keep_dims=True), mask=cols < n_cols)

# test: dy=random:0:fp32[6,300] x=random:1:fp32[6,300] weight=random:2:fp32[300] rstd=random:3:fp32[6] n_parts=1 \
#           --atol=1e-4
# expect dweight: sum(dy * x * rstd[:, None], axis=0)
# expect dx: (dy * weight - x * rstd[:, None] * mean(dy * weight * x * rstd[:, None], axis=1)) * rstd[:, None]
