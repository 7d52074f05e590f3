# Layer normalisation of rows. A program takes a row: one read, one write, both statistics kept for the backward pass.
#
#   y[i, j] = (x[i, j] - mean[i]) * rstd[i] * weight[j] + bias[j]
#   mean[i] = sum_j x[i, j] / n_cols,   rstd[i] = 1 / sqrt(sum_j (x[i, j] - mean[i])^2 / n_cols + eps)
#
# A mean far above the spread has rounding errors as large as the spread. So the row is moved by the first mean, which
# costs nothing there, and by the mean of what remains: a row around 10000 comes out as well as one around 0.
#
#   fsc run layernorm.dsl x=in.npy weight=w.npy bias=b.npy y=out.npy mean=mean.npy rstd=rstd.npy eps=1e-5
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def layernorm(y: *T[n_rows:y_stride, n_cols], mean: *fp32[n_rows], rstd: *fp32[n_rows], x: *T[n_rows:x_stride, n_cols],
              weight: *const T[n_cols], bias: *const T[n_cols], y_stride: i32, x_stride: i32, n_rows: i32,
              n_cols: i32, eps: fp32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask).to(fp32)

    first = sum(v, axis=0) / n_cols
    d = where(mask, v - first, 0.0)
    rest = sum(d, axis=0) / n_cols
    r = rsqrt(sum(d * d, axis=0) / n_cols - rest * rest + eps)
    store(mean + row, first + rest)
    store(rstd + row, r)

    w = load(weight + cols, mask=mask).to(fp32)
    b = load(bias + cols, mask=mask).to(fp32)
    store(y + row * y_stride + cols, (d - rest) * r * w + b, mask=mask)

# test: x=random:0:fp32[5,300] weight=random:1:fp32[300] bias=random:2:fp32[300] eps=1e-5
# expect mean: mean(x, axis=1)
# expect rstd: rsqrt(mean((x - mean(x, axis=1)) ** 2, axis=1) + eps)
# expect y: (x - mean(x, axis=1)) * rsqrt(mean((x - mean(x, axis=1)) ** 2, axis=1) + eps) * weight + bias
