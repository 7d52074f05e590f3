# Attention: for each head, every query's weighted mean of the values, and the logarithm of the sum of its weights.
#
#   o[h, i, :] = sum_j p[j] v[g, j, :],   p = softmax over j of scale * sum_d q[h, i, d] k[g, j, d]
#   lse[h, i] = log sum_j exp(scale * sum_d q[h, i, d] k[g, j, d])
#
# n_heads / n_kv_heads heads of queries share one head g of keys and values. A batch is more heads of both.
# CAUSAL: a query sees the keys up to its own place; the last query's is that of the last key. WINDOW > 0: of these the
# last WINDOW. A query that sees no key has the mean 0 and the logarithm -inf. -D lse=None leaves the logarithms out.
#
# One program takes QUERIES queries and walks over the keys, KEYS at a time. No row of scores is ever whole: m is the
# largest product so far, s the sum of exp(scale * (product - m)), and s and the sum of values shrink by
# exp(scale * (m_old - m_new)) when m grows. Exponents are in units of log 2, as 2 ** x is one instruction: each is one
# multiply-add of a product. Only blocks of keys that some query does not see whole are masked: those at an edge of what
# is seen. scale is above 0. With CAUSAL the programs of the last queries, which see most, begin first. WHOLE: rows are
# as long as tiles are wide, so that all addresses of a thread are one and a constant. EVEN: no key is beyond the last.
# ROOMY: 16 bits, and as much shared memory as cards with products by four warps have. Each four warps take 64 queries,
# and others' products run beside their exponentials: those of the same program, or of another on the multiprocessor.
#
#   fsc run attention.dsl q=q.npy k=k.npy v=v.npy o=out.npy lse=lse.npy scale=0.125 -D CAUSAL=True
@kernel(grid=(cdiv(n_queries, QUERIES), n_heads), DIM=next_power_of_2(dim),
        ROOMY=T.primitive_bitwidth == 16 and max_shared() >= 224 * 1024,
        QUERIES=max(16, min(128 if T.primitive_bitwidth == 16 and n_queries * n_heads >= (96 if ROOMY else 256) *
                            num_sms() and (DIM > 64 or not CAUSAL or not ROOMY) else 64, next_power_of_2(n_queries))),
        KEYS=(128 if n_keys > 64 and (DIM <= 64 or QUERIES == 128 and DIM == 128) else 64) if ROOMY else
        128 if QUERIES == 128 and DIM == 128 and max_shared() >= 160 * 1024 else 64 if DIM <= 128 else 32,
        num_warps=QUERIES // 16 if ROOMY and QUERIES >= 64 else 8 if KEYS == 128 else 0,
        num_stages=(3 if QUERIES == 128 and DIM == 128 else 2) if ROOMY else 2 if KEYS == 128 else 0, WHOLE=dim == DIM,
        EVEN=n_keys % KEYS == 0, require=(DIM >= dim, n_heads % n_kv_heads == 0, scale > 0))
def attention(o: *T[n_heads, n_queries, dim], lse: *fp32[n_heads, n_queries], q: *const T[n_heads, n_queries, dim],
              k: *const T[n_kv_heads, n_keys, dim], v: *const T[n_kv_heads, n_keys, dim], n_heads: i32,
              n_kv_heads: i32, n_queries: i32, n_keys: i32, dim: i32, scale: fp32, CAUSAL: constexpr = False,
              WINDOW: constexpr = 0, QUERIES: constexpr = 64, KEYS: constexpr = 64, DIM: constexpr = 64,
              WHOLE: constexpr = False, EVEN: constexpr = False, ROOMY: constexpr = False, T: dtype = fp16):
    static_assert(CAUSAL or WINDOW == 0, "a window ends at a query's own place: it is for CAUSAL")
    width = DIM if WHOLE else dim
    head = program_id(1)
    kv_head = head // (n_heads // n_kv_heads)
    block = num_programs(0) - 1 - program_id(0) if CAUSAL else program_id(0)
    first = block * QUERIES
    rows = first + arange(0, QUERIES)
    shift = n_keys - n_queries
    units = scale * 1.44269504
    d = arange(0, DIM)
    at = (head * n_queries + rows)[:, None] * width + d[None, :]
    mask = (rows < n_queries)[:, None] & (d < width)[None, :]
    a = load(q + at, mask=mask)

    begin, end, inside = 0, n_keys, 0
    if CAUSAL:
        end = min(n_keys, first + QUERIES + shift)
    if WINDOW > 0:
        begin = max(0, first + shift - WINDOW + 1) // KEYS * KEYS
        inside = first + QUERIES + shift - WINDOW
    j = arange(0, KEYS)
    ends = minimum(n_keys, rows + shift + 1)
    m = full((QUERIES,), -inf, fp32)
    s = zeros((QUERIES,), fp32)
    sums = zeros((QUERIES, DIM), fp32)
    for start in range(begin, end, KEYS):
        keys = start + j
        kv_at = (kv_head * n_keys + keys)[:, None] * width + d[None, :]
        kv_mask = (d < width)[None, :]
        if not EVEN:
            kv_mask = kv_mask & (keys < n_keys)[:, None]
        b = load(k + kv_at, mask=kv_mask)
        c = load(v + kv_at, mask=kv_mask)
        score = dot(a, b.T, input_precision="ieee")
        last = min(n_keys, first + shift + 1) if CAUSAL else n_keys
        if (CAUSAL or not EVEN) and (start < inside or start + KEYS > last):
            seen = (keys < n_keys)[None, :]
            if CAUSAL:
                seen = j[None, :] < (ends - start).to(i32)[:, None]
            if WINDOW > 0:
                seen = seen & (j[None, :] > (rows + (shift - WINDOW) - start).to(i32)[:, None])
            score = where(seen, score, -inf)
        m_new = maximum(m, max(score, axis=1))
        level = where(m_new == -inf, 0.0, m_new)
        shrink = exp2((m - level) * units)
        p = exp2(score * units - (level * units)[:, None])
        s = s * shrink + sum(p, axis=1)
        sums = dot(p.to(T), c, sums * shrink[:, None], input_precision="ieee")
        m = m_new
    store(o + at, sums / where(s == 0.0, 1.0, s)[:, None], mask=mask)
    if lse is not None:
        store(lse + head * n_queries + rows, (m * units + log2(s)) * 0.69314718, mask=rows < n_queries)

# test: q=random:0:fp16[3,20,64] k=random:1:fp16[3,70,64] v=random:2:fp16[3,70,64] scale=0.125 --atol=2e-4
# expect o: exp(scale * (q @ k.mT)) / sum(exp(scale * (q @ k.mT)), axis=2) @ v
# expect lse: log(sum(exp(scale * (q @ k.mT)), axis=2))
