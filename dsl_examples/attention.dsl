# Attention without matrix instructions: for each head, every query's weighted mean of the values.
#
#   o[h, i, :] = sum_j p[j] v[h, j, :],   p = softmax over j of scale * sum_d q[h, i, d] k[h, j, d]
#
# One program takes QUERIES queries and walks over the keys, KEYS at a time. No row of scores is ever whole: m is the
# largest score so far, s the sum of exp(score - m), and both s and the sum of values o shrink by exp(m_old - m_new)
# when m grows. Products are broadcast to [QUERIES, KEYS, DIM] and summed along one axis: right for a few queries, as in
# decoding. CAUSAL: a query sees keys up to its own place. If it saw none yet, m is -inf, and the shift is 0, not NaN.
#
#   fsc run attention.dsl q=q.npy k=k.npy v=v.npy o=out.npy scale=0.125
@kernel(grid=(cdiv(n_queries, QUERIES), n_heads), DIM=next_power_of_2(dim), KEYS=max(1, min(32, 2048 // DIM)),
        QUERIES=min(4, next_power_of_2(n_queries)), require=(DIM >= dim,))
def attention(o: *T[n_heads, n_queries, dim], q: *T[n_heads, n_queries, dim], k: *T[n_heads, n_keys, dim],
              v: *T[n_heads, n_keys, dim], n_heads: i32, n_queries: i32, n_keys: i32, dim: i32, scale: fp32,
              CAUSAL: constexpr = False, QUERIES: constexpr = 4, KEYS: constexpr = 32, DIM: constexpr = 64,
              T: dtype = fp32):
    head = program_id(1)
    rows = program_id(0) * QUERIES + arange(0, QUERIES)
    d = arange(0, DIM)
    is_d = (d < dim)[None, :]
    q_at = (head * n_queries + rows)[:, None] * dim + d[None, :]
    q_mask = (rows < n_queries)[:, None] & is_d
    a = load(q + q_at, mask=q_mask).to(fp32) * scale

    m = full((QUERIES,), -inf, fp32)
    s = zeros((QUERIES,), fp32)
    sums = zeros((QUERIES, DIM), fp32)
    for start in range(0, n_keys, KEYS):
        keys = start + arange(0, KEYS)
        kv_at = (head * n_keys + keys)[:, None] * dim + d[None, :]
        kv_mask = (keys < n_keys)[:, None] & is_d
        b = load(k + kv_at, mask=kv_mask).to(fp32)
        c = load(v + kv_at, mask=kv_mask).to(fp32)
        seen = (keys < n_keys)[None, :]
        if CAUSAL:
            seen = seen & (keys[None, :] <= rows[:, None] + (n_keys - n_queries))
        score = where(seen, sum(a[:, None, :] * b[None, :, :], axis=2), -inf)
        m_new = maximum(m, max(score, axis=1))
        shift = where(m_new == -inf, 0.0, m_new)
        shrink = exp(m - shift)
        p = exp(score - shift[:, None])
        s = s * shrink + sum(p, axis=1)
        sums = sums * shrink[:, None] + sum(p[:, :, None] * c[None, :, :], axis=1)
        m = m_new
    store(o + q_at, sums / s[:, None], mask=q_mask)
