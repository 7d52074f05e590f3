# Residual sum and root-mean-square norm in one: h = x + residual for the next layer, and its normalised rows.
#
#   h[i, j] = x[i, j] + residual[i, j]
#   y[i, j] = h[i, j] / sqrt(sum_k h[i, k]^2 / n_cols + eps) * weight[j]
#
# In place is fine: h may be x or residual, as the program reads its row of both before it writes.
#
#   fsc run add_rmsnorm.dsl x=in.npy residual=res.npy weight=w.npy h=h.npy y=out.npy eps=1e-5
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def add_rmsnorm(y: *T[n_rows:y_stride, n_cols], h: *T[n_rows:h_stride, n_cols], x: *T[n_rows:x_stride, n_cols],
                residual: *T[n_rows:residual_stride, n_cols], weight: *const T[n_cols],
                y_stride: i32, h_stride: i32, x_stride: i32, residual_stride: i32, n_rows: i32, n_cols: i32,
                eps: fp32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    s = load(x + row * x_stride + cols, mask=mask) + load(residual + row * residual_stride + cols, mask=mask)
    store(h + row * h_stride + cols, s, mask=mask)
    v = s.to(fp32)
    r = rsqrt(sum(v * v, axis=0) / n_cols + eps)
    w = load(weight + cols, mask=mask).to(fp32)
    store(y + row * y_stride + cols, v * r * w, mask=mask)

# test: x=random:0:fp32[5,300] residual=random:1:fp32[5,300] weight=random:2:fp32[300] eps=1e-5
# expect h: fp32(x + residual)
# expect y: (x + residual) * rsqrt(mean((x + residual) ** 2, axis=1) + eps) * weight
