# What flows back through rmsnorm.dsl: dx, and what each program adds to the gradient of weight.
#
# Through add_rmsnorm.dsl likewise, whose h is x here: dh, the gradient that this h has besides, is added to dx, which
# is then the gradient of both summands. Without dh: -D dh=None.
#
#   h = x * rstd,   g = dy * weight
#   dx[i, j] = (g[i, j] - h[i, j] * sum_k g[i, k] h[i, k] / n_cols) * rstd[i] + dh[i, j]
#   dweight[j] = sum_i dy[i, j] * h[i, j]
#
# As in layernorm_backward.dsl each program adds up its rows and writes n_cols sums, which column_sum.dsl adds. Tiles,
# warps, blocks, which rows a program takes (those that begin alike from 257 columns on), and IN_PLACE are as there.
#
#   fsc run rmsnorm_backward.dsl dx=dx.npy dweight=dw.npy:fp32[132,781] dy=dy.npy x=x.npy weight=w.npy rstd=rstd.npy \
#           -D dh=None
#   fsc run column_sum.dsl x=dw.npy y=dweight.npy
@kernel(grid=(n_parts,), IN_PLACE=dx == x or dx == dy or dx == dh,
        LINE=1024 // T.primitive_bitwidth, WIDE=T.primitive_bitwidth > 16,
        ALIKE=1 if IN_PLACE or n_cols <= 256 or (n_cols <= 4096 and x_stride * 8 % LINE == 0) or
        n_cols + LINE > 1 + (
            next_power_of_2(n_cols) if n_cols <= (4096 if WIDE else 2048) else
            12288 if n_cols <= 12288 else n_cols + LINE) or
        x_stride % LINE == 0 or x_stride != dx_stride or x_stride != dy_stride else
        LINE if n_parts % LINE * 8 < n_parts else
        LINE // 8 if x_stride * 8 % LINE > 0 and n_parts * 4 > LINE else 1,
        CROOKED=x_stride * 8 % LINE > 0 and ALIKE == 1, BLOCK=next_power_of_2(n_cols + ALIKE - 1),
        REACH=cdiv(16 * (n_cols + ALIKE - 1), BLOCK) * BLOCK // 16 if ALIKE > 1 else BLOCK,
        BLOCKS=max(1, min(BLOCK // 8192, 16)) if n_cols > 12288 and max_shared() > 200000 else 1,
        ROWS=max(1, min(2 if BLOCKS > 1 and not WIDE and not CROOKED and ALIKE == 1 else
                        min(32, (4096 if WIDE and CROOKED else 8192) // BLOCK),
                        next_power_of_2(cdiv(n_rows, n_parts)))),
        STAGES=(1 if not WIDE or BLOCK >= 8192 else 3) if CROOKED else 2 if WIDE else 3,
        num_warps=max(1, min(16 if (CROOKED if BLOCK > 8192 and BLOCKS == 1 else WIDE) else 8, ROWS * BLOCK // 512)),
        num_ctas=BLOCKS, require=(min(BLOCK, REACH) >= n_cols + ALIKE - 1,))
def rmsnorm_backward(dx: *T[n_rows:dx_stride, n_cols], dweight: *fp32[n_parts, n_cols],
                     dy: *T[n_rows:dy_stride, n_cols], x: *T[n_rows:x_stride, n_cols], weight: *const T[n_cols],
                     rstd: *const fp32[n_rows], dh: *T[n_rows:dx_stride, n_cols], dx_stride: i32, dy_stride: i32,
                     x_stride: i32, n_rows: i32, n_parts: i32, n_cols: i32, BLOCK: constexpr = 1024,
                     WIDE: constexpr = True, CROOKED: constexpr = False, LINE: constexpr = 32, ALIKE: constexpr = 1,
                     REACH: constexpr = 1000000000, BLOCKS: constexpr = 1, ROWS: constexpr = 1, STAGES: constexpr = 1,
                     IN_PLACE: constexpr = False, T: dtype = fp32):
    part = program_id(0)
    busy = n_parts // ALIKE * ALIKE
    first = (part % ALIKE + part // ALIKE * (ALIKE * ROWS)).to(i64)
    before = (first * x_stride & (ALIKE - 1)).to(i32)
    places = arange(0, BLOCK)[None, :]
    is_begun = places >= before
    is_within = places < min(before + n_cols, REACH)
    w = load(weight - before + places, mask=is_begun & is_within).to(fp32)
    dw = zeros((ROWS if BLOCKS == 1 else 1, BLOCK), fp32)
    x += first * x_stride // ALIKE * ALIKE
    dx += first * dx_stride // ALIKE * ALIKE
    dy += first * dy_stride // ALIKE * ALIKE
    if dh is not None:
        dh += first * dx_stride // ALIKE * ALIKE
    for beyond in range(0, (n_rows if part < busy else 0) - first, busy * ROWS, num_stages=STAGES):
        rows = beyond + arange(0, ROWS)[:, None] * ALIKE
        is_row = rows < n_rows - first
        r = load(rstd + first + rows, mask=is_row)
        h = where(is_begun, load(x + rows * x_stride + places, mask=is_row & is_within).to(fp32), 0.0) * r
        d = where(is_begun, load(dy + rows * dy_stride + places, mask=is_row & is_within).to(fp32), 0.0)
        g = d * w
        along = sum(g * h, axis=1, keep_dims=True) / n_cols
        back = (g - h * along) * r
        if dh is not None:
            back += load(dh + rows * dx_stride + places, mask=is_row & is_within).to(fp32)
        store(dx + rows * dx_stride + places, back, mask=is_row & is_within & is_begun)
        dw += sum(d * h, axis=0, keep_dims=True) if BLOCKS > 1 else d * h
    gdc_launch_dependents()
    store(dweight + part * n_cols - before + places, sum(dw, axis=0, keep_dims=True), mask=is_begun & is_within)

# test: dy=random:0:fp32[6,300] x=random:1:fp32[6,300] weight=random:2:fp32[300] rstd=random:3:fp32[6] n_parts=1 \
#           -D dh=None --atol=1e-4
# expect dweight: sum(dy * x * rstd[:, None], axis=0)
# expect dx: (dy * weight - x * rstd[:, None] * mean(dy * weight * x * rstd[:, None], axis=1)) * rstd[:, None]
# test: dy=random:0:fp32[6,300] x=random:1:fp32[6,300] weight=random:2:fp32[300] rstd=random:3:fp32[6] n_parts=1 \
#           dh=random:4:fp32[6,300] --atol=1e-4
# expect dx: (dy * weight - x * rstd[:, None] * mean(dy * weight * x * rstd[:, None], axis=1)) * rstd[:, None] + dh
