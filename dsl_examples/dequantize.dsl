# Rows of 8-bit numbers back to floats: y[i, j] = q[i, j] * scale[i]. Q is i8 or fp8e4nv, as quantize_int8.dsl or
# quantize_fp8.dsl wrote it.
#
#   fsc run dequantize.dsl q=q.npy scale=scale.npy y=out.npy
@kernel(grid=(n_rows, cdiv(n_cols, BLOCK)), BLOCK=min(1024, next_power_of_2(n_cols)))
def dequantize(y: *T[n_rows:y_stride, n_cols], q: *Q[n_rows:q_stride, n_cols], scale: *const fp32[n_rows],
               y_stride: i32, q_stride: i32, n_rows: i32, n_cols: i32,
               BLOCK: constexpr = 1024, T: dtype = fp32, Q: dtype = i8):
    row = program_id(0)
    cols = program_id(1) * BLOCK + arange(0, BLOCK)
    mask = cols < n_cols
    v = load(q + row * q_stride + cols, mask=mask).to(fp32)
    store(y + row * y_stride + cols, v * load(scale + row), mask=mask)

# test: q=random:0:i8[5,300] scale=random:1:fp32[5]
# expect y: fp32(q * scale[:, None])
# test 8-bit floats: q=random:0:fp8e4nv[5,300] scale=random:1:fp32[5]
# expect y: fp32(q * scale[:, None])
