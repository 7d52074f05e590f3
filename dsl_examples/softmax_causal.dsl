# Softmax of attention scores: a query sees keys up to its own place; y[b, i, j] = 0 for j > i + n_cols - n_queries.
#
# The last query sees every key; a row that sees k keys reads k scores. Rows of all matrices follow each other, so that
# row % n_queries is the query.
#
#   fsc run softmax_causal.dsl x=scores.npy y=out.npy n_queries=128
@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols), require=(BLOCK >= n_cols, n_queries > 0, n_queries <= n_cols))
def softmax_causal(y: *T[n_rows:y_stride, n_cols], x: *T[n_rows:x_stride, n_cols], y_stride: i32, x_stride: i32,
                   n_rows: i32, n_cols: i32, n_queries: i32, BLOCK: constexpr = 1024, T: dtype = fp32):
    row = program_id(0)
    cols = arange(0, BLOCK)
    seen = cols <= row % n_queries + n_cols - n_queries
    v = load(x + row * x_stride + cols, mask=seen, other=-inf).to(fp32)
    e = exp(v - max(v, axis=0))
    store(y + row * y_stride + cols, e / sum(e, axis=0), mask=cols < n_cols)

# test: x=random:0:fp32[12,9] n_queries=6
# expect y: where(arange(9) <= (arange(12) % n_queries + 9 - n_queries)[:, None], exp(x), 0) \
#           / sum(where(arange(9) <= (arange(12) % n_queries + 9 - n_queries)[:, None], exp(x), 0), axis=1)
