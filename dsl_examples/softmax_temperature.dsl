# Row softmax with a temperature: above 1 it evens the row out, below 1 it sharpens it.
#
#   y[i, j] = exp(x[i, j] / t) / sum_j exp(x[i, j] / t),   t = temperature > 0
#
# The division comes after the subtraction of the maximum: (x - max) / t is never above 0, however small t.
#
#   fsc run softmax_temperature.dsl x=in.npy y=out.npy temperature=0.7
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols, temperature > 0))
def softmax_temperature(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols], y_stride: i32, x_stride: i32,
                        n_rows: i32, n_cols: i32, temperature: fp32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask, other=-inf).to(fp32)
    e = exp((v - max(v, axis=0)) / temperature)
    store(y + row * y_stride + cols, e / sum(e, axis=0), mask=mask)

# test: x=random:0:fp32[5,300] temperature=0.75
# expect y: exp(x / temperature) / sum(exp(x / temperature), axis=1)
# test a temperature of 1: x=random:0:fp32[5,300] temperature=1
# expect y: softmax.dsl
