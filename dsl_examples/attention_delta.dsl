# What each query's mean weighs in the backward pass of attention: delta[h, i] = sum_d do[h, i, d] o[h, i, d].
#
# do is what flows back to o, the means that attention.dsl made. attention_backward.dsl takes delta for each query,
# which it meets once for every block of keys; so it is made once, before.
# PACKED: do and o are [n_queries, n_heads, dim], as attention_varlen.dsl has them. delta is [n_heads, n_queries] still.
#
#   fsc run attention_delta.dsl do=do.npy o=o.npy delta=delta.npy
@kernel(grid=(cdiv(n_outer * n_inner, ROWS),), DIM=next_power_of_2(dim), ROWS=max(1, 2048 // DIM),
        require=DIM >= dim)
def attention_delta(delta: *fp32[n_inner if PACKED else n_outer, n_outer if PACKED else n_inner],
                    do: *const T[n_outer, n_inner, dim], o: *const T[n_outer, n_inner, dim], n_outer: i32,
                    n_inner: i32, dim: i32, PACKED: constexpr = False, ROWS: constexpr = 16, DIM: constexpr = 64,
                    T: dtype = fp16):
    rows = program_id(0) * ROWS + arange(0, ROWS)
    d = arange(0, DIM)
    at = rows[:, None] * dim + d[None, :]
    inside = rows < n_outer * n_inner
    mask = inside[:, None] & (d < dim)[None, :]
    x = load(do + at, mask=mask).to(fp32) * load(o + at, mask=mask).to(fp32)
    to = rows % n_inner * n_outer + rows // n_inner if PACKED else rows
    store(delta + to, sum(x, axis=1), mask=inside)

# test: do=random:0:fp16[2,35,40] o=random:1:fp16[2,35,40]
# expect delta: sum(do * o, axis=2)
