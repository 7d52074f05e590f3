# Residual sum and layer normalisation in one: h = x + residual is written for the next layer, and its normalised rows.
#
#   h[i, j] = x[i, j] + residual[i, j]
#   y[i, j] = (h[i, j] - mean(h[i, :])) / sqrt(var(h[i, :]) + eps) * weight[j] + bias[j]
#
# Two kernels would write h, then read it again; here it stays on chip between. The statistics are those of h as it is
# stored, rounded to T, so that a backward pass which reads h sees the same rows.
# layernorm.dsl tells why the mean goes in two steps.
#
#   fsc run add_layernorm.dsl x=in.npy residual=res.npy weight=w.npy bias=b.npy h=h.npy y=out.npy eps=1e-5
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def add_layernorm(y: *T[n_rows:y_stride, n_cols], h: *T[n_rows:h_stride, n_cols], x: *T[n_rows:x_stride, n_cols],
                  residual: *T[n_rows:residual_stride, n_cols], weight: *const T[n_cols], bias: *const T[n_cols],
                  y_stride: i32, h_stride: i32, x_stride: i32, residual_stride: i32, n_rows: i32, n_cols: i32,
                  eps: fp32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    s = load(x + row * x_stride + cols, mask=mask) + load(residual + row * residual_stride + cols, mask=mask)
    store(h + row * h_stride + cols, s, mask=mask)
    v = s.to(fp32)
    first = sum(v, axis=0) / n_cols
    d = where(mask, v - first, 0.0)
    rest = sum(d, axis=0) / n_cols
    r = rsqrt(sum(d * d, axis=0) / n_cols - rest * rest + eps)
    w = load(weight + cols, mask=mask).to(fp32)
    b = load(bias + cols, mask=mask).to(fp32)
    store(y + row * y_stride + cols, (d - rest) * r * w + b, mask=mask)

# test: x=random:0:fp32[5,300] residual=random:1:fp32[5,300] weight=random:2:fp32[300] \
#           bias=random:3:fp32[300] eps=1e-5
# expect h: fp32(x + residual)
# expect y: ((x + residual) - mean(x + residual, axis=1)) \
#           * rsqrt(mean((x + residual - mean(x + residual, axis=1)) ** 2, axis=1) + eps) * weight + bias
