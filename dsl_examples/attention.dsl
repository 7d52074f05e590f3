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
# is seen. A head of 65 to 96 or 129 to 192 elements is two parts, DIM and REST, which spares what 128 or 256 would do
# in vain; who gives one of both gives the other, too. scale is above 0. With CAUSAL the programs of the last queries,
# which see most, begin first. WHOLE: rows are as long as tiles are wide, so that all addresses of a thread are one and
# a constant. EVEN: no key is beyond the last.
# ROOMY: 16 bits, and as much shared memory as cards with products by four warps have. Each four warps take 64 queries,
# and others' products run beside their exponentials: those of the same program, or of another on the multiprocessor.
#
#   fsc run attention.dsl q=q.npy k=k.npy v=v.npy o=out.npy lse=lse.npy scale=0.125 -D CAUSAL=True
@jit
def part_of(x, first, rows, n_rows, width, FROM: constexpr, SIZE: constexpr, EVEN: constexpr):
    """SIZE elements, from FROM on, of rows of a head that begins with row `first`; 0 beyond its rows and elements."""
    d = FROM + arange(0, SIZE)
    mask = (d < width)[None, :]
    if not EVEN:
        mask = mask & (rows < n_rows)[:, None]
    return load(x + (first + rows)[:, None] * width + d[None, :], mask=mask)

@jit
def put_part(x, value, first, rows, n_rows, width, FROM: constexpr, SIZE: constexpr):
    d = FROM + arange(0, SIZE)
    mask = (rows < n_rows)[:, None] & (d < width)[None, :]
    store(x + (first + rows)[:, None] * width + d[None, :], value, mask=mask)

@kernel(grid=(cdiv(n_queries, QUERIES), n_heads),
        REST=0 if dim <= 64 or dim > 192 or dim > 96 and dim <= 128 else
        max(16, next_power_of_2(dim - next_power_of_2(dim) // 2)),
        DIM=next_power_of_2(dim) if REST == 0 else next_power_of_2(dim) // 2,
        ROOMY=T.primitive_bitwidth == 16 and max_shared() >= 224 * 1024,
        QUERIES=max(16, min(128 if T.primitive_bitwidth == 16 and
                            n_queries * n_heads >= (96 if ROOMY else 256) * num_sms() and
                            (DIM > 64 and REST <= (32 if ROOMY and dim % 8 == 0 else 0) or
                             REST == 0 and not (CAUSAL and ROOMY)) else 64, next_power_of_2(n_queries))),
        KEYS=(128 if n_keys > 64 and (DIM <= 64 or DIM == 128 and (QUERIES == 128) != (REST == 64)) else 64)
        if ROOMY else 128 if QUERIES == 128 and DIM == 128 and REST == 0 and max_shared() >= 160 * 1024 else
        64 if DIM + REST <= 128 else 32,
        num_warps=QUERIES // 16 if ROOMY and QUERIES >= 64 else 8 if KEYS == 128 else 0,
        num_stages=(3 if QUERIES == 128 and DIM == 128 and REST == 0 else 2) if ROOMY else 2 if KEYS == 128 else 0,
        WHOLE=dim == DIM + REST, EVEN=n_keys % KEYS == 0,
        require=(DIM + REST >= dim, n_heads % n_kv_heads == 0, scale > 0))
def attention(o: *T[n_heads, n_queries, dim], lse: *fp32[n_heads, n_queries], q: *const T[n_heads, n_queries, dim],
              k: *const T[n_kv_heads, n_keys, dim], v: *const T[n_kv_heads, n_keys, dim], n_heads: i32,
              n_kv_heads: i32, n_queries: i32, n_keys: i32, dim: i32, scale: fp32, CAUSAL: constexpr = False,
              WINDOW: constexpr = 0, QUERIES: constexpr = 64, KEYS: constexpr = 64, DIM: constexpr = 64,
              REST: constexpr = 0, WHOLE: constexpr = False, EVEN: constexpr = False, ROOMY: constexpr = False,
              T: dtype = fp16):
    static_assert(CAUSAL or WINDOW == 0, "a window ends at a query's own place: it is for CAUSAL")
    width = DIM + REST if WHOLE else dim
    head = program_id(1)
    kv_head = head // (n_heads // n_kv_heads)
    block = num_programs(0) - 1 - program_id(0) if CAUSAL else program_id(0)
    first = block * QUERIES
    rows = first + arange(0, QUERIES)
    shift = n_keys - n_queries
    units = scale * 1.44269504
    a = part_of(q, head * n_queries, rows, n_queries, width, 0, DIM, False)
    if REST > 0:
        a_rest = part_of(q, head * n_queries, rows, n_queries, width, DIM, REST, False)
        sums_rest = zeros((QUERIES, REST), fp32)

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
        b = part_of(k, kv_head * n_keys, keys, n_keys, width, 0, DIM, EVEN)
        c = part_of(v, kv_head * n_keys, keys, n_keys, width, 0, DIM, EVEN)
        score = dot(a, b.T, input_precision="ieee")
        if REST > 0:
            b_rest = part_of(k, kv_head * n_keys, keys, n_keys, width, DIM, REST, EVEN)
            c_rest = part_of(v, kv_head * n_keys, keys, n_keys, width, DIM, REST, EVEN)
            score = dot(a_rest, b_rest.T, score, input_precision="ieee")
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
        if REST > 0:
            sums_rest = dot(p.to(T), c_rest, sums_rest * shrink[:, None], input_precision="ieee")
        m = m_new
    total = where(s == 0.0, 1.0, s)[:, None]
    put_part(o, sums / total, head * n_queries, rows, n_queries, width, 0, DIM)
    if REST > 0:
        put_part(o, sums_rest / total, head * n_queries, rows, n_queries, width, DIM, REST)
    if lse is not None:
        store(lse + head * n_queries + rows, (m * units + log2(s)) * 0.69314718, mask=rows < n_queries)

# test: q=random:0:fp16[3,20,64] k=random:1:fp16[3,70,64] v=random:2:fp16[3,70,64] scale=0.125 --atol=2e-4
# expect o: exp(scale * (q @ k.mT)) / sum(exp(scale * (q @ k.mT)), axis=2) @ v
# expect lse: log(sum(exp(scale * (q @ k.mT)), axis=2))
