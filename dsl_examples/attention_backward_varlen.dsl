# What flows back through attention_varlen.dsl: dq, dk and dv of sequences of any lengths, packed one behind another.
#
#   p = exp(scale * q k^T - lse),   g = p * (do v^T - delta)
#   dv = p^T do,   dk = scale * g^T q,   dq = scale * g k
#
# Sequences, heads, CAUSAL and WINDOW are those of attention_varlen.dsl, whose lse is taken; delta is of
# attention_delta.dsl.
# As in attention_backward.dsl a program has BLOCK keys, for which it walks over the queries, STEP at a time; then BLOCK
# queries, for which it walks over the keys, KEYS at a time. So results are the same bits every time.
#
# Steps are whole, as the blocks of keys of attention_varlen.dsl are: where fewer rows are left over, the last step
# begins earlier, with rows that the step before it had, and these are hidden. Only a sequence of fewer rows than a step
# has one with a mask.
#
#   fsc run attention_delta.dsl do=do.npy o=o.npy delta=delta.npy -D PACKED=True
#   fsc run attention_backward_varlen.dsl q=q.npy k=k.npy v=v.npy do=do.npy lse=lse.npy delta=delta.npy \
#           q_first=first.npy k_first=first.npy scale=0.125 dq=dq.npy dk=dk.npy dv=dv.npy -D CAUSAL=True
@jit
def sequence_of(program, row_first, n_sequences, BLOCK: constexpr):
    """The last one that begins with this program or before."""
    low, high = 0, n_sequences
    while high - low > 1:
        middle = (low + high) // 2
        is_before = load(row_first + middle) // BLOCK + middle <= program
        low, high = (middle if is_before else low), (high if is_before else middle)
    return low

@jit
def rows_of(x, rows, inside, width, DIM: constexpr):
    """Rows of one head each; 0 in those that are not `inside`."""
    d = arange(0, DIM)
    mask = (d < width)[None, :]
    if inside is not None:
        mask = mask & inside[:, None]
    return load(x + rows[:, None] * width + d[None, :], mask=mask)

@jit
def put_rows(x, value, rows, inside, width, DIM: constexpr):
    d = arange(0, DIM)
    store(x + rows[:, None] * width + d[None, :], value, mask=inside[:, None] & (d < width)[None, :])

@jit
def weights(score, i, j, walked, begin, end, shift, edge, CAUSAL: constexpr, WINDOW: constexpr):
    """exp2(score); at an edge 0 where query i does not see key j <= i + shift, or `walked` is not in [begin, end)."""
    p = exp2(score)
    if edge:
        most = max(min(shift, 1 << 30), -(1 << 30))
        seen = (walked >= begin) & (walked < end)
        if CAUSAL:
            seen = seen & (j <= i + most)
        if WINDOW > 0:
            seen = seen & (j > i + (most - WINDOW))
        p = where(seen, p, 0.0)
    return p

@jit
def walk_queries(sum_k, sum_v, k_block, v_block, q, do, lse, delta, at, stat_at, inside, width, units, begin, end,
                 shift, edge, DIM: constexpr, CAUSAL: constexpr, WINDOW: constexpr):
    """(sum_k, sum_v) with a step of queries, transposed: keys are rows."""
    a = rows_of(q, at, inside, width, DIM)
    e = rows_of(do, at, inside, width, DIM)
    logs = load(lse + stat_at, mask=inside) * 1.44269504
    means = load(delta + stat_at, mask=inside)
    i = arange(0, at.shape[0])[None, :]
    j = arange(0, k_block.shape[0])[:, None]
    score = dot(k_block, a.T, input_precision="ieee")
    back = dot(v_block, e.T, input_precision="ieee")
    p = weights(score * units - logs[None, :], i, j, i, begin, end, shift, edge, CAUSAL, WINDOW)
    g = p * (back - means[None, :])
    sum_v = dot(p.to(a.dtype), e, sum_v, input_precision="ieee")
    sum_k = dot(g.to(a.dtype), a, sum_k, input_precision="ieee")
    return sum_k, sum_v

@jit
def walk_keys(sum_q, q_block, do_block, logs, means, k, v, at, inside, width, units, begin, end, shift, edge,
              DIM: constexpr, CAUSAL: constexpr, WINDOW: constexpr):
    """sum_q with a step of keys."""
    b = rows_of(k, at, inside, width, DIM)
    c = rows_of(v, at, inside, width, DIM)
    i = arange(0, q_block.shape[0])[:, None]
    j = arange(0, at.shape[0])[None, :]
    score = dot(q_block, b.T, input_precision="ieee")
    back = dot(do_block, c.T, input_precision="ieee")
    p = weights(score * units - logs[:, None], i, j, j, begin, end, shift, edge, CAUSAL, WINDOW)
    g = p * (back - means[:, None])
    return dot(g.to(b.dtype), b, sum_q, input_precision="ieee")

@kernel(grid=(max(n_keys, n_queries) // BLOCK + n_first - 1, n_kv_heads), DIM=next_power_of_2(dim),
        ROOMY=T.primitive_bitwidth == 16 and DIM <= 128 and max_shared() >= 224 * 1024,
        BLOCK=32 if T.primitive_bitwidth > 16 or DIM > 128 or max(n_queries, n_keys) <= 32 * (n_first - 1) else
        128 if ROOMY and DIM == 128 and max(n_queries, n_keys) >= 512 * (n_first - 1) else 64,
        STEP=min(64, BLOCK), KEYS=128 if ROOMY and DIM >= 64 and BLOCK == DIM else min(64, BLOCK),
        num_warps=0 if BLOCK < 64 else BLOCK // 16 if ROOMY else 8, num_stages=2 if ROOMY else 0,
        WHOLE=dim == DIM,
        require=(DIM >= dim, n_heads % n_kv_heads == 0, n_first > (1 if n_queries + n_keys > 0 else 0)))
def attention_backward_varlen(dq: *T[n_queries, n_heads, dim], dk: *T[n_keys, n_kv_heads, dim],
                              dv: *T[n_keys, n_kv_heads, dim], q: *const T[n_queries, n_heads, dim],
                              k: *const T[n_keys, n_kv_heads, dim], v: *const T[n_keys, n_kv_heads, dim],
                              do: *const T[n_queries, n_heads, dim], lse: *const fp32[n_heads, n_queries],
                              delta: *const fp32[n_heads, n_queries], q_first: *const i32[n_first],
                              k_first: *const i32[n_first], n_first: i32, n_queries: i32, n_keys: i32, n_heads: i32,
                              n_kv_heads: i32, dim: i32, scale: fp32, CAUSAL: constexpr = False,
                              WINDOW: constexpr = 0, BLOCK: constexpr = 32, STEP: constexpr = 32,
                              KEYS: constexpr = 32, DIM: constexpr = 64, WHOLE: constexpr = False,
                              ROOMY: constexpr = False, T: dtype = fp16):
    static_assert(CAUSAL or WINDOW == 0, "a window ends at a query's own place: it is for CAUSAL")
    width = DIM if WHOLE else dim
    kv_head = program_id(1)
    shared = n_heads // n_kv_heads
    head_from, head_to = kv_head * shared, min(65536, (kv_head + 1) * shared)
    units = scale * 1.44269504
    step, keys_step = arange(0, STEP), arange(0, KEYS)

    sequence = sequence_of(program_id(0), k_first, n_first - 1, BLOCK)
    q_begin, k_begin = load(q_first + sequence), load(k_first + sequence)
    queries, keys = load(q_first + sequence + 1) - q_begin, load(k_first + sequence + 1) - k_begin
    shift = keys - queries
    first = (program_id(0) - sequence - k_begin // BLOCK) * BLOCK
    rows = first + arange(0, BLOCK)
    kv_at = (k_begin + rows) * n_kv_heads + kv_head
    k_block = rows_of(k, kv_at, rows < keys, width, DIM)
    v_block = rows_of(v, kv_at, rows < keys, width, DIM)
    sum_k = zeros((BLOCK, DIM), fp32)
    sum_v = zeros((BLOCK, DIM), fp32)
    begin = max(0, first - shift) // STEP * STEP if CAUSAL else 0
    end = queries if first < keys else 0
    if WINDOW > 0:
        end = min(end, first + BLOCK - 1 - shift + WINDOW)
    for head in range(head_from, head_to):
        for start in range(begin, end if queries >= STEP else 0, STEP):
            place = min(start, queries - STEP)
            # max says to the compiler what q_first does not: no row is below 0, so the step is a box of q.
            row = max(q_begin + place, 0) + step
            edge = place < start or (CAUSAL and first + BLOCK - 1 > place + shift)
            if WINDOW > 0:
                edge = edge or first <= place + STEP - 1 + shift - WINDOW
            sum_k, sum_v = walk_queries(sum_k, sum_v, k_block, v_block, q, do, lse, delta, row * n_heads + head,
                                        head * n_queries + row, None, width, units, start - place, STEP,
                                        place + shift - first, edge, DIM, CAUSAL, WINDOW)
        if queries < STEP and end > 0:
            row = q_begin + step
            sum_k, sum_v = walk_queries(sum_k, sum_v, k_block, v_block, q, do, lse, delta, row * n_heads + head,
                                        head * n_queries + row, step < queries, width, units, 0, queries,
                                        shift - first, True, DIM, CAUSAL, WINDOW)
    put_rows(dv, sum_v, kv_at, rows < keys, width, DIM)
    put_rows(dk, sum_k * scale, kv_at, rows < keys, width, DIM)

    sequence = sequence_of(program_id(0), q_first, n_first - 1, BLOCK)
    q_begin, k_begin = load(q_first + sequence), load(k_first + sequence)
    queries, keys = load(q_first + sequence + 1) - q_begin, load(k_first + sequence + 1) - k_begin
    shift = keys - queries
    first = (program_id(0) - sequence - q_begin // BLOCK) * BLOCK
    rows = first + arange(0, BLOCK)
    begin = max(0, first + shift - WINDOW + 1) // KEYS * KEYS if WINDOW > 0 else 0
    end = keys if first < queries else 0
    if CAUSAL:
        end = min(end, first + BLOCK + shift)
    for head in range(head_from, head_to):
        at = (q_begin + rows) * n_heads + head
        q_block = rows_of(q, at, rows < queries, width, DIM)
        do_block = rows_of(do, at, rows < queries, width, DIM)
        stat_at = head * n_queries + q_begin + rows
        logs = load(lse + stat_at, mask=rows < queries) * 1.44269504
        means = load(delta + stat_at, mask=rows < queries)
        sum_q = zeros((BLOCK, DIM), fp32)
        for start in range(begin, end if keys >= KEYS else 0, KEYS):
            place = min(start, keys - KEYS)
            edge = start + KEYS > (min(keys, first + shift + 1) if CAUSAL else keys)
            if WINDOW > 0:
                edge = edge or place <= first + BLOCK - 1 + shift - WINDOW
            row = max(k_begin + place, 0) + keys_step
            sum_q = walk_keys(sum_q, q_block, do_block, logs, means, k, v, row * n_kv_heads + kv_head, None, width,
                              units, start - place, KEYS, first + shift - place, edge, DIM, CAUSAL, WINDOW)
        if keys < KEYS and end > 0:
            sum_q = walk_keys(sum_q, q_block, do_block, logs, means, k, v, (k_begin + keys_step) * n_kv_heads + kv_head,
                              keys_step < keys, width, units, 0, keys, first + shift, True, DIM, CAUSAL, WINDOW)
        put_rows(dq, sum_q * scale, at, rows < queries, width, DIM)
