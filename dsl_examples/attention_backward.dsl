# What flows back through attention.dsl: dq, dk and dv from do, with o and lse of the way forward.
#
#   p = exp(scale * q k^T - lse),   g = p * (do v^T - sum_d do o)
#   dv = p^T do,   dk = scale * g^T q,   dq = scale * g k
#
# The scores are made anew, as they were never stored. A program has one block of keys, for which it walks over the
# queries of all heads that share them, then one block of queries, for which it walks over the keys. So each result has
# one author, who adds in a fixed order: no atomics, and the same bits every time. Only blocks that see one another are
# visited (CAUSAL, WINDOW, WHOLE: attention.dsl). ROOMY: as there, and blocks of 64 x 64, which four warps multiply by
# Hopper's own instructions.
#
#   fsc run attention_backward.dsl q=q.npy k=k.npy v=v.npy o=o.npy lse=lse.npy do=do.npy scale=0.125 \
#           dq=dq.npy dk=dk.npy dv=dv.npy
@jit
def rows_of(x, first, start, n_rows, dim, SIZE: constexpr, DIM: constexpr):
    """SIZE rows from `start` on, of a head whose n_rows rows begin with row `first`; 0 beyond them."""
    row = start + arange(0, SIZE)
    d = arange(0, DIM)
    return load(x + (first + row)[:, None] * dim + d[None, :], mask=(row < n_rows)[:, None] & (d < dim)[None, :])

@jit
def put_rows(x, value, first, start, n_rows, dim, SIZE: constexpr, DIM: constexpr):
    row = start + arange(0, SIZE)
    d = arange(0, DIM)
    store(x + (first + row)[:, None] * dim + d[None, :], value, mask=(row < n_rows)[:, None] & (d < dim)[None, :])

@jit
def weights(a, b, c, e, mean, sums, rows, keys, n_queries, n_keys, scale, CAUSAL: constexpr, WINDOW: constexpr):
    """p and g of a block of queries a, with the gradients e of their means, and a block of keys b with values c."""
    seen = (rows < n_queries)[:, None] & (keys < n_keys)[None, :]
    if CAUSAL:
        seen = seen & (keys[None, :] <= rows[:, None] + (n_keys - n_queries))
    if WINDOW > 0:
        seen = seen & (keys[None, :] > rows[:, None] + (n_keys - n_queries - WINDOW))
    score = dot(a, b.T, input_precision="ieee") * (scale * 1.44269504)
    p = where(seen, exp2(score - sums[:, None] * 1.44269504), 0.0)
    delta = sum(e.to(fp32) * mean.to(fp32), axis=1)
    return p, p * (dot(e, c.T, input_precision="ieee") - delta[:, None])

@kernel(grid=(max(cdiv(n_keys, KEYS), cdiv(n_queries, QUERIES)), n_kv_heads), DIM=next_power_of_2(dim),
        KEYS=64 if T.primitive_bitwidth == 16 and DIM <= 128 and n_keys > 32 else 32,
        QUERIES=64 if T.primitive_bitwidth == 16 and DIM <= 128 and n_queries > 32 else 32,
        ROOMY=max_shared() >= 192 * 1024 and QUERIES == 64 and KEYS == 64,
        num_warps=4 if ROOMY else 8 if QUERIES == 64 and KEYS == 64 else 0,
        num_stages=0 if not ROOMY else 1 if DIM == 128 else 2, WHOLE=dim == DIM,
        require=(DIM >= dim, n_heads % n_kv_heads == 0))
def attention_backward(dq: *T[n_heads, n_queries, dim], dk: *T[n_kv_heads, n_keys, dim],
                       dv: *T[n_kv_heads, n_keys, dim], q: *const T[n_heads, n_queries, dim],
                       k: *const T[n_kv_heads, n_keys, dim], v: *const T[n_kv_heads, n_keys, dim],
                       o: *const T[n_heads, n_queries, dim], lse: *const fp32[n_heads, n_queries],
                       do: *const T[n_heads, n_queries, dim], n_heads: i32, n_kv_heads: i32, n_queries: i32,
                       n_keys: i32, dim: i32, scale: fp32, CAUSAL: constexpr = False, WINDOW: constexpr = 0,
                       QUERIES: constexpr = 32, KEYS: constexpr = 32, DIM: constexpr = 64, WHOLE: constexpr = False,
                       ROOMY: constexpr = False, T: dtype = fp16):
    width = DIM if WHOLE else dim
    kv_head = program_id(1)
    shared = n_heads // n_kv_heads
    shift = n_keys - n_queries

    first_key = program_id(0) * KEYS
    keys = first_key + arange(0, KEYS)
    b = rows_of(k, kv_head * n_keys, first_key, n_keys, width, KEYS, DIM)
    c = rows_of(v, kv_head * n_keys, first_key, n_keys, width, KEYS, DIM)
    sum_k = zeros((KEYS, DIM), fp32)
    sum_v = zeros((KEYS, DIM), fp32)
    begin = max(0, first_key - shift) // QUERIES * QUERIES if CAUSAL else 0
    end = min(n_queries, first_key + KEYS - 1 - shift + WINDOW) if WINDOW > 0 else n_queries
    for head in range(kv_head * shared, (kv_head + 1) * shared):
        for start in range(begin, end, QUERIES):
            rows = start + arange(0, QUERIES)
            a = rows_of(q, head * n_queries, start, n_queries, width, QUERIES, DIM)
            e = rows_of(do, head * n_queries, start, n_queries, width, QUERIES, DIM)
            mean = rows_of(o, head * n_queries, start, n_queries, width, QUERIES, DIM)
            sums = load(lse + head * n_queries + rows, mask=rows < n_queries)
            p, g = weights(a, b, c, e, mean, sums, rows, keys, n_queries, n_keys, scale, CAUSAL, WINDOW)
            sum_v = dot(p.to(T).T, e, sum_v, input_precision="ieee")
            sum_k = dot(g.to(T).T, a, sum_k, input_precision="ieee")
    put_rows(dv, sum_v, kv_head * n_keys, first_key, n_keys, width, KEYS, DIM)
    put_rows(dk, sum_k * scale, kv_head * n_keys, first_key, n_keys, width, KEYS, DIM)

    first = program_id(0) * QUERIES
    rows = first + arange(0, QUERIES)
    begin = max(0, first + shift - WINDOW + 1) // KEYS * KEYS if WINDOW > 0 else 0
    end = min(n_keys, first + QUERIES + shift) if CAUSAL else n_keys
    for head in range(kv_head * shared, (kv_head + 1) * shared):
        a = rows_of(q, head * n_queries, first, n_queries, width, QUERIES, DIM)
        e = rows_of(do, head * n_queries, first, n_queries, width, QUERIES, DIM)
        mean = rows_of(o, head * n_queries, first, n_queries, width, QUERIES, DIM)
        sums = load(lse + head * n_queries + rows, mask=rows < n_queries)
        sum_q = zeros((QUERIES, DIM), fp32)
        for start in range(begin, end, KEYS):
            keys = start + arange(0, KEYS)
            b = rows_of(k, kv_head * n_keys, start, n_keys, width, KEYS, DIM)
            c = rows_of(v, kv_head * n_keys, start, n_keys, width, KEYS, DIM)
            p, g = weights(a, b, c, e, mean, sums, rows, keys, n_queries, n_keys, scale, CAUSAL, WINDOW)
            sum_q = dot(g.to(T), b, sum_q, input_precision="ieee")
        put_rows(dq, sum_q * scale, head * n_queries, first, n_queries, width, QUERIES, DIM)
