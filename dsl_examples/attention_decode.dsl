# Attention of one new token of each sequence, over keys and values that lie in pages: what decoding does.
#
# length[i] keys of sequence i are seen, the newest last; with WINDOW > 0 the last WINDOW of them. Key j stands in page
# table[i, j // page], at j % page. n_heads / n_kv_heads heads of queries share one head of keys and values; they are
# the rows of the products, so each key is read once for all of them.
#
# Programs walk over 1 of n_parts parts of the keys: as many as fill the GPU where sequences are few, some eight
# programs a multiprocessor. Each writes the mean of its part's values and the logarithm of its sum of weights, in fp32,
# and attention_merge.dsl makes one of them.
# A part without keys has the mean 0 and the logarithm -inf. The loop is that of attention.dsl.
#
#   fsc run attention_decode.dsl q=q.npy k=k.npy v=v.npy table=table.npy length=length.npy scale=0.125 \
#           o=o.npy:fp32[8,4,32,128] lse=lse.npy                          # 8 parts, 4 sequences
#   fsc run attention_merge.dsl parts=o.npy lse=lse.npy o=out.npy         # parts as [8, 128, 128], lse as [8, 128]
@kernel(grid=(n_parts, n_kv_heads, n_seqs), DIM=next_power_of_2(dim), require=(DIM >= dim, n_heads % n_kv_heads == 0,
        ROWS >= n_heads // n_kv_heads), ROWS=max(16, next_power_of_2(n_heads // n_kv_heads)))
def attention_decode(o: *fp32[n_parts, n_seqs, n_heads, dim], lse: *fp32[n_parts, n_seqs, n_heads],
                     q: *const T[n_seqs, n_heads, dim], k: *const T[n_pages, page, n_kv_heads, dim],
                     v: *const T[n_pages, page, n_kv_heads, dim], table: *const i32[n_seqs, most_pages],
                     length: *const i32[n_seqs], n_parts: i32, n_seqs: i32, n_heads: i32, n_kv_heads: i32, dim: i32,
                     n_pages: i32, page: i32, most_pages: i32, scale: fp32, WINDOW: constexpr = 0,
                     ROWS: constexpr = 16, KEYS: constexpr = 64, DIM: constexpr = 64, T: dtype = fp16):
    part, kv_head, seq = program_id(0), program_id(1), program_id(2)
    heads = n_heads // n_kv_heads
    rows = arange(0, ROWS)
    d = arange(0, DIM)
    is_d = (d < dim)[None, :]
    mask = (rows < heads)[:, None] & is_d
    row = kv_head * heads + rows
    a = load(q + (seq * n_heads + row)[:, None] * dim + d[None, :], mask=mask)

    end = load(length + seq)
    begin = maximum(0, end - WINDOW) if WINDOW > 0 else 0
    step = cdiv(cdiv(end - begin, KEYS), n_parts) * KEYS
    begin += part * step
    end = minimum(end, begin + step)
    m = full((ROWS,), -inf, fp32)
    s = zeros((ROWS,), fp32)
    sums = zeros((ROWS, DIM), fp32)
    for start in range(begin, end, KEYS):
        keys = start + arange(0, KEYS)
        pages = load(table + seq * most_pages + keys // page, mask=keys < end)
        at = ((pages.to(i64) * page + keys % page) * n_kv_heads + kv_head)[:, None] * dim + d[None, :]
        b = load(k + at, mask=(keys < end)[:, None] & is_d)
        c = load(v + at, mask=(keys < end)[:, None] & is_d)
        score = dot(a, b.T, input_precision="ieee") * (scale * 1.44269504)
        score = where((keys < end)[None, :], score, -inf)
        m_new = maximum(m, max(score, axis=1))
        shrink = exp2(m - m_new)
        p = exp2(score - m_new[:, None])
        s = s * shrink + sum(p, axis=1)
        sums = dot(p.to(T), c, sums * shrink[:, None], input_precision="ieee")
        m = m_new
    gdc_launch_dependents()
    to = (part * n_seqs + seq) * n_heads + row
    store(o + to[:, None] * dim + d[None, :], sums / where(s == 0.0, 1.0, s)[:, None], mask=mask)
    store(lse + to, (m + log2(s)) * 0.69314718, mask=rows < heads)
