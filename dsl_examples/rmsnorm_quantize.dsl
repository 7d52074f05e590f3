# Root-mean-square norm of rows whose result goes into a product of 8-bit numbers: each row as integers (Q = i8) or as
# 8-bit floats (Q = fp8e4nv) with one scale, in one read. The row's largest size becomes 127 or 448.
#
#   y[i, j] = x[i, j] * rstd[i] * weight[j],   rstd[i] = 1 / sqrt(sum_j x[i, j]^2 / n_cols + eps)
#   scale[i] = max_j |y[i, j]| / most,         q[i, j] = y[i, j] / scale[i], rounded
#
# rstd cancels out of q. So the sum and the maximum do not wait for each other, and nothing is divided but once a row.
# A row of zeros has scale 0 and zeros. A NaN or an infinity shows in the scale.
#
#   fsc run rmsnorm_quantize.dsl x=in.npy weight=w.npy q=q.npy scale=scale.npy eps=1e-5
#   fsc run rmsnorm_quantize.dsl x=in.npy weight=w.npy q=q.npy:fp8e4nv[1823,781] scale=scale.npy eps=1e-5 -D Q=fp8e4nv
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def rmsnorm_quantize(q: *Q[n_rows:q_stride, n_cols], scale: *fp32[n_rows], x: *T[n_rows:x_stride, n_cols],
                     weight: *const T[n_cols], q_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, eps: fp32,
                     BLOCK: constexpr = 1024, Q: dtype = i8, T: dtype = fp32):
    most = 127.0 if Q == i8 else 448.0
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask).to(fp32)
    h = v * load(weight + cols, mask=mask).to(fp32)
    r = rsqrt(sum(v * v, axis=0) / n_cols + eps)
    top = max(abs(h), axis=0, propagate_nan=True)
    store(scale + row, top * r / most)
    h = h * (0.0 if top == 0 else most / top)
    store(q + row * q_stride + cols, clamp(round(h), -127.0, 127.0).to(i8) if Q == i8 else h, mask=mask)

# test: x=random:0:fp32[5,300] weight=random:1:fp32[300] eps=1e-5
# expect scale: max(abs(x * weight), axis=1) * rsqrt(mean(x * x, axis=1) + eps) / 127
# expect q: rint(x * weight / max(abs(x * weight), axis=1) * 127)
