# The cosine of the angle between row i of a and row i of b: three sums from one read of both.
#
#   y[i] = sum_j a[i, j] b[i, j] / max(sqrt(sum_j a[i, j]^2) * sqrt(sum_j b[i, j]^2), eps)
#
#   fsc run cosine_similarity.dsl a=a.npy b=b.npy y=out.npy eps=1e-8
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def cosine_similarity(y: *fp32[n_rows], a: *T[n_rows:a_stride, n_cols], b: *T[n_rows:b_stride, n_cols],
                      a_stride: i32, b_stride: i32, n_rows: i32, n_cols: i32, eps: fp32 = 1e-8,
                      BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    u = load(a + row * a_stride + cols, mask=mask).to(fp32)
    v = load(b + row * b_stride + cols, mask=mask).to(fp32)
    lengths = sqrt(sum(u * u, axis=0)) * sqrt(sum(v * v, axis=0))
    store(y + row, sum(u * v, axis=0) / maximum(lengths, eps, propagate_nan=True))

# test: a=random:0:fp32[5,300] b=random:1:fp32[5,300]
# expect y: sum(a * b, axis=1) / maximum(sqrt(sum(a * a, axis=1)) * sqrt(sum(b * b, axis=1)), eps)
# test rows of zeros: a=zeros:fp32[3,40] b=random:1:fp32[3,40]
# expect y: 0
