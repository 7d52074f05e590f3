# Layer normalisation of rows. A program takes a row: one read, one write, both statistics kept for the backward pass.
#
#   y[i, j] = (x[i, j] - mean[i]) * rstd[i] * weight[j] + bias[j]
#   mean[i] = sum_j x[i, j] / n_cols,   rstd[i] = 1 / sqrt(sum_j (x[i, j] - mean[i])^2 / n_cols + eps)
#
# A mean far above the spread has rounding errors as large as the spread. So the row is moved by the first mean, which
# costs nothing there, and by the mean of what remains: a row around 10000 comes out as well as one around 0.
#
# In 16 bits a vector of weights takes long where rows begin anywhere, as each row begins elsewhere in it. Of such rows
# every 64th begins as far behind a line of 128 bytes as the first. So where ALIKE is 64, a program takes every PARTS-th
# row, by whole vectors that are copied ahead, and loads the weights once. What the first vector has before the row is
# zero. REACH is the part of the tile that is used. Where y is x, another program may be writing what lies before a row,
# and where a line more would want the next tile, it is slower. Code that is compiled ahead of time says -D ALIKE=0, or
# has both by --variants=ALIKE=0,64.
#
#   fsc run layernorm.dsl x=in.npy weight=w.npy bias=b.npy y=out.npy mean=mean.npy rstd=rstd.npy eps=1e-5
@jit
def statistics(v, mask, n_cols, eps):
    first = sum(v) / n_cols
    d = where(mask, v - first, 0.0)
    rest = sum(d) / n_cols
    return d, first, rest, rsqrt(sum(d * d) / n_cols - rest * rest + eps)

@kernel(grid=(PARTS if ALIKE else n_rows,),
        ALIKE=64 if T.primitive_bitwidth == 16 and x_stride % 8 > 0 and x_stride == y_stride and y != x and
        512 < n_cols <= 20416 and n_cols + 63 <= next_power_of_2(n_cols) and
        n_rows >= (4096 if n_cols <= 1024 else 512) and max_shared() > 200000 else 0,
        BLOCK=next_power_of_2(n_cols + max(ALIKE - 1, 0)),
        REACH=cdiv(16 * (n_cols + ALIKE), BLOCK) * BLOCK // 16 if ALIKE else 0,
        PARTS=0 if ALIKE == 0 else 2304 if n_cols <= 704 else 1792 if n_cols <= 1024 else 1024 if n_cols <= 2048 else
        512 if n_cols <= 4096 else 256 if n_cols <= 8704 else 128,
        STAGES=0 if ALIKE == 0 else 2 if n_cols <= 1024 or 1472 < n_cols <= 2048 else
        3 if 2560 < n_cols <= 8704 or n_cols > 16384 else 4,
        WARPS=0 if ALIKE == 0 else 2 if n_cols <= 2560 else 4 if n_cols <= 8704 else 8 if n_cols <= 16384 else 16,
        num_warps=WARPS,
        require=(BLOCK >= n_cols + max(ALIKE - 1, 0), ALIKE == 0 or REACH >= n_cols + ALIKE - 1,
                 ALIKE == 0 or x_stride == y_stride, ALIKE == 0 or y != x))
def layernorm(y: *T[n_rows:y_stride, n_cols], mean: *fp32[n_rows], rstd: *fp32[n_rows], x: *T[n_rows:x_stride, n_cols],
              weight: *const T[n_cols], bias: *const T[n_cols], y_stride: i32, x_stride: i32, n_rows: i32,
              n_cols: i32, eps: fp32, ALIKE: constexpr = 0, BLOCK: constexpr = 1024, REACH: constexpr = 0,
              PARTS: constexpr = 0, STAGES: constexpr = 0, WARPS: constexpr = 0, T: dtype = fp32):
    row = program_id(0)
    if ALIKE:
        before = (row.to(i64) * x_stride & (ALIKE - 1)).to(i32)
        places = arange(0, BLOCK)[None, :]
        is_begun = places >= before
        is_within = places < min(before + n_cols, REACH)
        w = load(weight - before + places, mask=is_begun & is_within)
        b = load(bias - before + places, mask=is_begun & is_within)
        x += row.to(i64) * x_stride // ALIKE * ALIKE
        y += row.to(i64) * y_stride // ALIKE * ALIKE
        for beyond in range(0, n_rows - row, PARTS, num_stages=STAGES):
            v = where(is_begun, load(x + beyond * x_stride + places, mask=is_within).to(fp32), 0.0)
            d, first, rest, r = statistics(v, is_begun & is_within, n_cols, eps)
            store(mean + row + beyond, first + rest)
            store(rstd + row + beyond, r)
            scaled = (d * r - rest * r) * w.to(fp32) + b.to(fp32)
            store(y + beyond * y_stride + places, scaled, mask=is_begun & is_within)
    else:
        cols = arange(0, BLOCK)
        mask = cols < n_cols
        v = load(x + row * x_stride + cols, mask=mask).to(fp32)
        d, first, rest, r = statistics(v, mask, n_cols, eps)
        store(mean + row, first + rest)
        store(rstd + row, r)
        w = load(weight + cols, mask=mask).to(fp32)
        b = load(bias + cols, mask=mask).to(fp32)
        store(y + row * y_stride + cols, (d * r - rest * r) * w + b, mask=mask)

# test: x=random:0:fp32[5,300] weight=random:1:fp32[300] bias=random:2:fp32[300] eps=1e-5
# expect mean: mean(x, axis=1)
# expect rstd: rsqrt(mean((x - mean(x, axis=1)) ** 2, axis=1) + eps)
# expect y: (x - mean(x, axis=1)) * rsqrt(mean((x - mean(x, axis=1)) ** 2, axis=1) + eps) * weight + bias
