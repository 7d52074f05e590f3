# Root-mean-square normalisation of rows: layer normalisation without a mean and without a bias.
#
#   y[i, j] = x[i, j] * rstd[i] * weight[j]
#   rstd[i] = 1 / sqrt(sum_j x[i, j]^2 / n_cols + eps)
#
#   fsc run rmsnorm.dsl x=in.npy weight=w.npy y=out.npy rstd=rstd.npy eps=1e-5
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def rmsnorm(y: *T[n_rows:y_stride, n_cols], rstd: *fp32[n_rows], x: *T[n_rows:x_stride, n_cols],
            weight: *const T[n_cols], y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, eps: fp32,
            BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask).to(fp32)
    r = rsqrt(sum(v * v, axis=0) / n_cols + eps)
    store(rstd + row, r)
    w = load(weight + cols, mask=mask).to(fp32)
    store(y + row * y_stride + cols, v * r * w, mask=mask)

# test: x=random:0:fp32[5,300] weight=random:1:fp32[300] eps=1e-5
# expect rstd: rsqrt(mean(x * x, axis=1) + eps)
# expect y: x * rsqrt(mean(x * x, axis=1) + eps) * weight
