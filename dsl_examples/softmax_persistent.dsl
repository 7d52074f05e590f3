# Row softmax with persistent programs: as many as the device holds at a time, each walks over every so-many-th row.
#
# Starting a program costs something; a program that takes row after row pays it once. With STAGES of 2 and more the
# next rows are on their way while one is normalised: that wins with long rows of 16 bits, of which few fit beside one
# another, and loses with short ones (docs/lab/pipeline.md). For most sizes the one-row form in softmax.dsl is as fast;
# this one shows the rule num_sms() * occupancy(), the number of programs that run side by side.
#
#   fsc run softmax_persistent.dsl x=in.npy y=out.npy
@kernel(grid=(min(n_rows, num_sms() * occupancy()),), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols,))
def softmax_persistent(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols],
                       y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32,
                       BLOCK: constexpr = 1024, STAGES: constexpr = 1, T: dtype = fp32):
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    for row in range(program_id(0), n_rows, num_programs(0), num_stages=STAGES):
        v = load(x + row * x_stride + cols, mask=mask, other=-inf).to(fp32)
        e = exp(v - max(v, axis=0))
        store(y + row * y_stride + cols, e / sum(e, axis=0), mask=mask)

# test: x=random:0:fp32[5,300] --rtol=1e-5 --atol=0
# expect y: exp(x - max(x, axis=1)) / sum(exp(x - max(x, axis=1)), axis=1)
# test halves: x=random:1:fp16[5,300]
# expect y: softmax.dsl
