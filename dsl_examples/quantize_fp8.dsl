# Rows as 8-bit floats (e4m3) with one scale each: the row's largest size becomes 448, the type's largest number.
#
#   scale[i] = max_j |x[i, j]| / 448,   q[i, j] = x[i, j] / scale[i], rounded to nearest even by the store
#
# A row of zeros has scale 0, and any divisor will do for it. A NaN or an infinity shows in the scale.
#
#   fsc run quantize_fp8.dsl x=in.npy q=q.npy:fp8e4nv[1823,781] scale=scale.npy
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def quantize_fp8(q: *fp8e4nv[n_rows:q_stride, n_cols], scale: *fp32[n_rows], x: *T[n_rows:x_stride, n_cols],
                 q_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask).to(fp32)
    s = div_rn(max(abs(v), axis=0, propagate_nan=True), 448.0)
    store(q + row * q_stride + cols, div_rn(v, 1.0 if s == 0 else s), mask=mask)
    store(scale + row, s)

# test: x=random:0:fp32[5,300]
# expect scale: max(abs(x), axis=1) / 448
# expect q: fp8e4nv(x / fp32(max(abs(x), axis=1) / 448))
