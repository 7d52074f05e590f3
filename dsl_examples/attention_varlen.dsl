# Attention of sequences of any lengths, packed one behind another: attention.dsl, as libraries take a batch of texts.
#
#   o[i, h, :] = sum_j p[j] v[j, g, :],   p = softmax over j of scale * sum_d q[i, h, d] k[j, g, d]
#   lse[h, i] = log sum_j exp(scale * sum_d q[i, h, d] k[j, g, d])
#
# The tokens of sequence b are rows q_first[b] to q_first[b + 1] - 1 of q and o, and k_first[b] to k_first[b + 1] - 1 of
# k and v. j is over the keys of i's own sequence, which may have none. Both begin with 0 and have one number more than
# there are sequences. Heads and their parts, CAUSAL, WINDOW and ROOMY are those of attention.dsl. Most tiles are
# smaller where sequences have fewer than 512 queries or keys on average.
#
# A program takes QUERIES queries of one head of one sequence. Sequence b begins with program q_first[b] // QUERIES + b:
# so far apart that all its blocks fit before the next one's, whatever the lengths are. A program finds its sequence by
# halving. Its blocks of keys are whole: where keys are left over, the last block begins earlier, with keys that the
# block before it had, and these are hidden. So no row of another sequence is multiplied, not even by 0, and no load has
# a mask. Only a sequence of fewer than KEYS keys has one block with a mask.
#
#   fsc run attention_varlen.dsl q=q.npy k=k.npy v=v.npy q_first=first.npy k_first=first.npy o=o.npy lse=lse.npy \
#           scale=0.125 -D CAUSAL=True
@jit
def sequence_of(program, q_first, n_sequences, QUERIES: constexpr):
    """The last one that begins with this program or before."""
    low, high = 0, n_sequences
    while high - low > 1:
        middle = (low + high) // 2
        is_before = load(q_first + middle) // QUERIES + middle <= program
        low, high = (middle if is_before else low), (high if is_before else middle)
    return low

@jit
def part_of(x, rows, inside, width, FROM: constexpr, SIZE: constexpr):
    """SIZE elements, from FROM on, of rows of one head each; 0 beyond them, and in rows that are not `inside`."""
    d = FROM + arange(0, SIZE)
    mask = (d < width)[None, :]
    if inside is not None:
        mask = mask & inside[:, None]
    return load(x + rows[:, None] * width + d[None, :], mask=mask)

@jit
def put_part(x, value, rows, inside, width, FROM: constexpr, SIZE: constexpr):
    d = FROM + arange(0, SIZE)
    store(x + rows[:, None] * width + d[None, :], value, mask=inside[:, None] & (d < width)[None, :])

@jit
def block_of(a, a_rest, k, v, rows, inside, width, DIM: constexpr, REST: constexpr):
    """(scores of a block of keys, its values, what is left of them)."""
    c_rest = None
    c = part_of(v, rows, inside, width, 0, DIM)
    score = dot(a, part_of(k, rows, inside, width, 0, DIM).T, input_precision="ieee")
    if REST > 0:
        c_rest = part_of(v, rows, inside, width, DIM, REST)
        score = dot(a_rest, part_of(k, rows, inside, width, DIM, REST).T, score, input_precision="ieee")
    return score, c, c_rest

@jit
def add_block(score, c, c_rest, m, s, sums, sums_rest, units, REST: constexpr):
    """(m, s, sums, sums_rest) with one more block: attention.dsl."""
    m_new = maximum(m, max(score, axis=1))
    level = where(m_new == -inf, 0.0, m_new)
    shrink = exp2((m - level) * units)
    p = exp2(score * units - (level * units)[:, None])
    s = s * shrink + sum(p, axis=1)
    sums = dot(p.to(c.dtype), c, sums * shrink[:, None], input_precision="ieee")
    if REST > 0:
        sums_rest = dot(p.to(c.dtype), c_rest, sums_rest * shrink[:, None], input_precision="ieee")
    return m_new, s, sums, sums_rest

@jit
def hide(score, j, begin, end, last, CAUSAL: constexpr, WINDOW: constexpr):
    """score, -inf where key j is none of begin to end - 1, or is not seen by the row: its last is key `last`."""
    seen = ((j >= begin) & (j < end))[None, :]
    if CAUSAL:
        seen = seen & (j[None, :] <= last[:, None])
    if WINDOW > 0:
        seen = seen & (j[None, :] > (last - WINDOW)[:, None])
    return where(seen, score, -inf)

@kernel(grid=(n_queries // QUERIES + n_first - 1, n_heads),
        REST=0 if dim <= 64 or dim > 192 or dim > 96 and dim <= 128 else
        max(16, next_power_of_2(dim - next_power_of_2(dim) // 2)),
        DIM=next_power_of_2(dim) if REST == 0 else next_power_of_2(dim) // 2, WHOLE=dim == DIM + REST,
        ROOMY=T.primitive_bitwidth == 16 and max_shared() >= 224 * 1024,
        QUERIES=max(16, min(128 if T.primitive_bitwidth == 16 and DIM > 64 and
                            n_queries * n_heads >= (96 if ROOMY else 256) * num_sms() and
                            (ROOMY and REST == 64 or n_queries >= 512 * (n_first - 1) and
                             REST <= (32 if ROOMY and dim % 8 == 0 else 0)) else 64,
                            next_power_of_2(n_queries // max(n_first - 1, 1)))),
        KEYS=128 if QUERIES == 128 and DIM == 128 and REST <= (32 if ROOMY else 0) and max_shared() >= 160 * 1024 or
        ROOMY and DIM <= 64 and not CAUSAL and n_keys >= 512 * (n_first - 1) else
        64 if DIM + REST <= 128 or ROOMY else 32,
        num_warps=QUERIES // 16 if ROOMY and QUERIES >= 64 else 8 if KEYS == 128 else 0,
        num_stages=2 if ROOMY or KEYS == 128 else 0,
        require=(DIM + REST >= dim, n_heads % n_kv_heads == 0, scale > 0, n_first > 1 or n_queries == 0))
def attention_varlen(o: *T[n_queries, n_heads, dim], lse: *fp32[n_heads, n_queries],
                     q: *const T[n_queries, n_heads, dim], k: *const T[n_keys, n_kv_heads, dim],
                     v: *const T[n_keys, n_kv_heads, dim], q_first: *const i32[n_first],
                     k_first: *const i32[n_first], n_first: i32, n_queries: i32, n_keys: i32, n_heads: i32,
                     n_kv_heads: i32, dim: i32, scale: fp32, CAUSAL: constexpr = False, WINDOW: constexpr = 0,
                     QUERIES: constexpr = 64, KEYS: constexpr = 64, DIM: constexpr = 64, REST: constexpr = 0,
                     WHOLE: constexpr = False, ROOMY: constexpr = False, T: dtype = fp16):
    static_assert(CAUSAL or WINDOW == 0, "a window ends at a query's own place: it is for CAUSAL")
    width = DIM + REST if WHOLE else dim
    head = program_id(1)
    kv_head = head // (n_heads // n_kv_heads)
    program = num_programs(0) - 1 - program_id(0) if CAUSAL else program_id(0)
    sequence = sequence_of(program, q_first, n_first - 1, QUERIES)
    q_begin, q_end = load(q_first + sequence), load(q_first + sequence + 1)
    k_begin, k_end = load(k_first + sequence), load(k_first + sequence + 1)
    queries, keys = q_end - q_begin, k_end - k_begin
    first = (program - sequence - q_begin // QUERIES) * QUERIES
    rows = first + arange(0, QUERIES)
    shift = keys - queries
    units = scale * 1.44269504
    inside = rows < queries
    at = (q_begin + rows) * n_heads + head
    a_rest, sums_rest = None, None
    a = part_of(q, at, inside, width, 0, DIM)
    if REST > 0:
        a_rest = part_of(q, at, inside, width, DIM, REST)
        sums_rest = zeros((QUERIES, REST), fp32)

    begin, end = 0, keys if first < queries else 0
    if CAUSAL:
        end = min(end, first + QUERIES + shift)
    if WINDOW > 0:
        begin = max(0, first + shift - WINDOW + 1) // KEYS * KEYS
    whole_from = first + QUERIES + shift - WINDOW if WINDOW > 0 else 0
    whole_to = min(keys, first + shift + 1) if CAUSAL else keys
    j = arange(0, KEYS)
    m = full((QUERIES,), -inf, fp32)
    s = zeros((QUERIES,), fp32)
    sums = zeros((QUERIES, DIM), fp32)
    for start in range(begin, end if keys >= KEYS else 0, KEYS):
        place = min(start, keys - KEYS)
        # max says to the compiler what q_first and k_first do not: no row is below 0, so the block is a box of k.
        kv_at = (max(k_begin + place, 0) + j) * n_kv_heads + kv_head
        score, c, c_rest = block_of(a, a_rest, k, v, kv_at, None, width, DIM, REST)
        if start < whole_from or start + KEYS > whole_to:
            score = hide(score, j, start - place, keys - place, rows + (shift - place), CAUSAL, WINDOW)
        m, s, sums, sums_rest = add_block(score, c, c_rest, m, s, sums, sums_rest, units, REST)
    if keys < KEYS and end > 0:
        kv_at = (k_begin + j) * n_kv_heads + kv_head
        score, c, c_rest = block_of(a, a_rest, k, v, kv_at, j < keys, width, DIM, REST)
        score = hide(score, j, 0, keys, rows + shift, CAUSAL, WINDOW)
        m, s, sums, sums_rest = add_block(score, c, c_rest, m, s, sums, sums_rest, units, REST)
    total = where(s == 0.0, 1.0, s)[:, None]
    put_part(o, sums / total, at, inside, width, 0, DIM)
    if REST > 0:
        put_part(o, sums_rest / total, at, inside, width, DIM, REST)
    if lse is not None:
        store(lse + head * n_queries + q_begin + rows, (m * units + log2(s)) * 0.69314718, mask=inside)
