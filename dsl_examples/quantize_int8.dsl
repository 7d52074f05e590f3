# Rows as 8-bit integers with one scale each, symmetric around 0: what was the row's largest size becomes 127.
#
#   scale[i] = max_j |x[i, j]| / 127,   q[i, j] = round(x[i, j] / scale[i])
#
# Halves go to the even neighbour. A row of zeros has scale 0, and any divisor will do for it.
# A NaN or an infinity shows in the scale.
#
#   fsc run quantize_int8.dsl x=in.npy q=q.npy scale=scale.npy
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def quantize_int8(q: *i8[n_rows:q_stride, n_cols], scale: *fp32[n_rows], x: *T[n_rows:x_stride, n_cols],
                  q_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask).to(fp32)
    s = div_rn(max(abs(v), axis=0, propagate_nan=True), 127.0)
    v = div_rn(v, 1.0 if s == 0 else s)
    store(q + row * q_stride + cols, clamp(round(v), -127.0, 127.0).to(i8), mask=mask)
    store(scale + row, s)

# test: x=random:0:fp32[5,300]
# expect scale: max(abs(x), axis=1) / 127
# expect q: rint(x / max(abs(x), axis=1) * 127)
