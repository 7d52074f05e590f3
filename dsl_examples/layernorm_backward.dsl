# What flows back through layernorm.dsl: dx, and what each program adds to the gradients of weight and bias (sums: a row
# for each program, those of weight before those of bias).
#
# Through add_layernorm.dsl likewise, whose h is x here: dh, the gradient that this h has besides, is added to dx, which
# is then the gradient of both summands. Without dh: -D dh=None.
#
#   h = (x - mean) * rstd,   g = dy * weight
#   dx[i, j] = (g[i, j] - sum_k g[i, k] / n_cols - h[i, j] * sum_k g[i, k] h[i, k] / n_cols) * rstd[i] + dh[i, j]
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
# Of rows that begin anywhere, beyond 2800 columns (of 16 bits 1280), a program takes rows that begin alike, every
# ALIKE-th one; likewise beyond 4096 where rows begin beside a line of 128 bytes. All of them begin `before` elements
# behind a line. The tile begins on the line, so that all but the weights and the sums moves by whole vectors. What a
# row has before itself is read, and is zero. Where a line more would want the next tile, rows up to 12288 go the old
# way. REACH is the part of the tile that is used, known when the kernel is compiled. The last n_parts % ALIKE programs
# have no rows.
#
# Where dx is x, dy or dh (IN_PLACE), nothing before a row is read, which another program may be writing.
#
#   fsc run layernorm_backward.dsl dx=dx.npy sums=sums.npy:fp32[132,1562] dy=dy.npy x=x.npy weight=w.npy mean=mean.npy \
#           rstd=rstd.npy -D dh=None
#   fsc run column_sum.dsl x=sums.npy y=dweight_dbias.npy
@kernel(grid=(n_parts,), IN_PLACE=dx == x or dx == dy or dx == dh,
        LINE=1024 // T.primitive_bitwidth, WIDE=T.primitive_bitwidth > 16,
        ALIKE=1 if IN_PLACE or n_cols <= (2800 if WIDE else 1280) or (n_cols <= 4096 and x_stride * 8 % LINE == 0) or
        n_cols + LINE > 1 + (
            next_power_of_2(n_cols) if n_cols <= 4096 else 12288 if n_cols <= 12288 else n_cols + LINE) or
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
def layernorm_backward(dx: *T[n_rows:dx_stride, n_cols], sums: *fp32[n_parts, 2 * n_cols],
                       dy: *T[n_rows:dy_stride, n_cols], x: *T[n_rows:x_stride, n_cols], weight: *const T[n_cols],
                       mean: *const fp32[n_rows], rstd: *const fp32[n_rows], dh: *T[n_rows:dx_stride, n_cols],
                       dx_stride: i32, dy_stride: i32, x_stride: i32, n_rows: i32, n_parts: i32, n_cols: i32,
                       BLOCK: constexpr = 1024, WIDE: constexpr = True, CROOKED: constexpr = False,
                       LINE: constexpr = 32, ALIKE: constexpr = 1, REACH: constexpr = 1000000000,
                       BLOCKS: constexpr = 1, ROWS: constexpr = 1, STAGES: constexpr = 1, IN_PLACE: constexpr = False,
                       T: dtype = fp32):
    part = program_id(0)
    busy = n_parts // ALIKE * ALIKE
    first = (part % ALIKE + part // ALIKE * (ALIKE * ROWS)).to(i64)
    before = (first * x_stride & (ALIKE - 1)).to(i32)
    places = arange(0, BLOCK)[None, :]
    is_begun = places >= before
    is_within = places < min(before + n_cols, REACH)
    w = load(weight - before + places, mask=is_begun & is_within).to(fp32)
    dw = zeros((ROWS if BLOCKS == 1 else 1, BLOCK), fp32)
    db = zeros((ROWS if BLOCKS == 1 else 1, BLOCK), fp32)
    x += first * x_stride // ALIKE * ALIKE
    dx += first * dx_stride // ALIKE * ALIKE
    dy += first * dy_stride // ALIKE * ALIKE
    if dh is not None:
        dh += first * dx_stride // ALIKE * ALIKE
    for beyond in range(0, (n_rows if part < busy else 0) - first, busy * ROWS, num_stages=STAGES):
        rows = beyond + arange(0, ROWS)[:, None] * ALIKE
        is_row = rows < n_rows - first
        r = load(rstd + first + rows, mask=is_row)
        v = load(x + rows * x_stride + places, mask=is_row & is_within).to(fp32)
        d = where(is_begun, load(dy + rows * dy_stride + places, mask=is_row & is_within).to(fp32), 0.0)
        db += sum(d, axis=0, keep_dims=True) if BLOCKS > 1 else d
        v = where(is_begun, v, 0.0)
        shift = -r * load(mean + first + rows, mask=is_row)
        h = fma(v, r, where(is_begun & is_within, shift, 0.0))
        g = d * w
        off = sum(h, axis=1, keep_dims=True) / n_cols
        level = sum(g, axis=1, keep_dims=True) / n_cols
        along = sum(g * h, axis=1, keep_dims=True) / n_cols - off * level
        back = g * r - (h * (along * r) + (level - off * along) * r)
        if dh is not None:
            back += load(dh + rows * dx_stride + places, mask=is_row & is_within).to(fp32)
        store(dx + rows * dx_stride + places, back, mask=is_row & is_within & is_begun)
        own = d * (h - off)
        dw += sum(own, axis=0, keep_dims=True) if BLOCKS > 1 else own
    gdc_launch_dependents()
    to = sums + 2 * part * n_cols - before + places
    store(to, sum(dw, axis=0, keep_dims=True), mask=is_begun & is_within)
    store(to + n_cols, sum(db, axis=0, keep_dims=True), mask=is_begun & is_within)
