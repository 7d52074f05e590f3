# What flows back through attention.dsl: dq, dk and dv from do, with lse of the way forward, and delta of
# attention_delta.dsl.
#
#   p = exp(scale * q k^T - lse),   g = p * (do v^T - delta)
#   dv = p^T do,   dk = scale * g^T q,   dq = scale * g k
#
# The scores are made anew, as they were never stored. A program has BLOCK keys, for which it walks over the queries
# of all heads that share them, STEP at a time; then BLOCK queries, for which it walks over the keys, KEYS at a time. So
# each result has one author, who adds in a fixed order: no atomics, and the same bits every time. For keys p and g are
# made transposed: as they come out of one product, they are the first operand of the next one. Only blocks that see one
# another are visited, and only those at an edge of what is seen are masked (CAUSAL, WINDOW, WHOLE, EVEN, ROOMY:
# attention.dsl).
#
#   fsc run attention_delta.dsl do=do.npy o=o.npy delta=delta.npy
#   fsc run attention_backward.dsl q=q.npy k=k.npy v=v.npy do=do.npy lse=lse.npy delta=delta.npy scale=0.125 \
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
def weights(score, i, j, shift, n_keys, edge, CAUSAL: constexpr, WINDOW: constexpr, EVEN: constexpr):
    """exp2(score); at an edge 0 where a query does not see a key. Query i of the block sees the keys j <= i + shift."""
    p = exp2(score)
    if CAUSAL or not EVEN:
        if edge:
            most = max(min(shift if CAUSAL else n_keys - 1, 1 << 30), -(1 << 30)).to(i32)
            seen = j <= (i + most if CAUSAL else most)
            if WINDOW > 0:
                seen = seen & (j > i + (most - WINDOW))
            p = where(seen, p, 0.0)
    return p

@kernel(grid=(max(cdiv(n_keys, BLOCK), cdiv(n_queries, BLOCK)), n_kv_heads), DIM=next_power_of_2(dim),
        ROOMY=T.primitive_bitwidth == 16 and DIM <= 128 and max_shared() >= 224 * 1024,
        BLOCK=32 if T.primitive_bitwidth > 16 or DIM > 128 or max(n_queries, n_keys) <= 32 else
        128 if ROOMY and DIM == 128 and max(n_queries, n_keys) > 64 else 64,
        STEP=128 if ROOMY and DIM == 64 and max(n_queries, n_keys) > 64 else min(64, BLOCK),
        KEYS=128 if ROOMY and DIM >= 64 and max(n_queries, n_keys) > 64 else min(64, BLOCK),
        num_warps=0 if BLOCK < 64 else BLOCK // 16 if ROOMY else 8, num_stages=2 if ROOMY else 0,
        WHOLE=dim == DIM, EVEN=n_keys % KEYS == 0, require=(DIM >= dim, n_heads % n_kv_heads == 0))
def attention_backward(dq: *T[n_heads, n_queries, dim], dk: *T[n_kv_heads, n_keys, dim],
                       dv: *T[n_kv_heads, n_keys, dim], q: *const T[n_heads, n_queries, dim],
                       k: *const T[n_kv_heads, n_keys, dim], v: *const T[n_kv_heads, n_keys, dim],
                       do: *const T[n_heads, n_queries, dim], lse: *const fp32[n_heads, n_queries],
                       delta: *const fp32[n_heads, n_queries], n_heads: i32, n_kv_heads: i32, n_queries: i32,
                       n_keys: i32, dim: i32, scale: fp32, CAUSAL: constexpr = False, WINDOW: constexpr = 0,
                       BLOCK: constexpr = 32, STEP: constexpr = 32, KEYS: constexpr = 32, DIM: constexpr = 64,
                       WHOLE: constexpr = False, EVEN: constexpr = False, ROOMY: constexpr = False, T: dtype = fp16):
    width = DIM if WHOLE else dim
    kv_head = program_id(1)
    shared = n_heads // n_kv_heads
    shift = n_keys - n_queries
    units = scale * 1.44269504
    first = program_id(0) * BLOCK
    block = first + arange(0, BLOCK)

    k_block = rows_of(k, kv_head * n_keys, first, n_keys, width, BLOCK, DIM)
    v_block = rows_of(v, kv_head * n_keys, first, n_keys, width, BLOCK, DIM)
    sum_k = zeros((BLOCK, DIM), fp32)
    sum_v = zeros((BLOCK, DIM), fp32)
    begin = max(0, first - shift) // STEP * STEP if CAUSAL else 0
    end = min(n_queries, first + BLOCK - 1 - shift + WINDOW) if WINDOW > 0 else n_queries
    for head in range(kv_head * shared, min(n_heads, (kv_head + 1) * shared)):
        for start in range(begin, end, STEP):
            rows = start + arange(0, STEP)
            a = rows_of(q, head * n_queries, start, n_queries, width, STEP, DIM)
            e = rows_of(do, head * n_queries, start, n_queries, width, STEP, DIM)
            logs = load(lse + head * n_queries + rows, mask=rows < n_queries) * 1.44269504
            means = load(delta + head * n_queries + rows, mask=rows < n_queries)
            edge = first + BLOCK - 1 > start + shift
            if WINDOW > 0:
                edge = edge or first <= start + STEP - 1 + shift - WINDOW
            score = dot(k_block, a.T, input_precision="ieee")
            back = dot(v_block, e.T, input_precision="ieee")
            p = weights(score * units - logs[None, :], arange(0, STEP)[None, :], arange(0, BLOCK)[:, None],
                        start + shift - first, n_keys - first, edge, CAUSAL, WINDOW, True)
            g = p * (back - means[None, :])
            sum_v = dot(p.to(T), e, sum_v, input_precision="ieee")
            sum_k = dot(g.to(T), a, sum_k, input_precision="ieee")
    put_rows(dv, sum_v, kv_head * n_keys, first, n_keys, width, BLOCK, DIM)
    put_rows(dk, sum_k * scale, kv_head * n_keys, first, n_keys, width, BLOCK, DIM)

    begin = max(0, first + shift - WINDOW + 1) // KEYS * KEYS if WINDOW > 0 else 0
    end = min(n_keys, first + BLOCK + shift) if CAUSAL else n_keys
    for head in range(kv_head * shared, min(n_heads, (kv_head + 1) * shared)):
        q_block = rows_of(q, head * n_queries, first, n_queries, width, BLOCK, DIM)
        do_block = rows_of(do, head * n_queries, first, n_queries, width, BLOCK, DIM)
        logs = load(lse + head * n_queries + block, mask=block < n_queries) * 1.44269504
        means = load(delta + head * n_queries + block, mask=block < n_queries)
        sum_q = zeros((BLOCK, DIM), fp32)
        for start in range(begin, end, KEYS):
            b = rows_of(k, kv_head * n_keys, start, n_keys, width, KEYS, DIM)
            c = rows_of(v, kv_head * n_keys, start, n_keys, width, KEYS, DIM)
            edge = start + KEYS > (min(n_keys, first + shift + 1) if CAUSAL else n_keys)
            if WINDOW > 0:
                edge = edge or start <= first + BLOCK - 1 + shift - WINDOW
            score = dot(q_block, b.T, input_precision="ieee")
            back = dot(do_block, c.T, input_precision="ieee")
            p = weights(score * units - logs[:, None], arange(0, BLOCK)[:, None], arange(0, KEYS)[None, :],
                        first + shift - start, n_keys - start, edge, CAUSAL, WINDOW, EVEN)
            g = p * (back - means[:, None])
            sum_q = dot(g.to(T), b, sum_q, input_precision="ieee")
        put_rows(dq, sum_q * scale, head * n_queries, first, n_queries, width, BLOCK, DIM)
