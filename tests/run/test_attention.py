"""test_attention.py - the examples of attention: forward, backward, decoding out of pages. Expected values are float64
formulas over what the kernels saw; bounds are of their roundings: of products and sums in fp32, and of weights that
are rounded to the type of the values.
"""
import numpy as np

from case import U, ULP, case, example, must_fail
from fsc import decode
from matrix import Matrix, depth
from test_dot import cut
from test_transforms import judge

TINY = {"fp32": 0, "fp16": 2.0 ** -25, "bf16": 2.0 ** -134}  # half of the smallest number


def unseen(queries, keys, causal, window):
    """Which keys a query does not see."""
    place, key = np.arange(queries)[:, None] + keys - queries, np.arange(keys)
    hidden = (key > place) if causal else np.zeros((queries, keys), bool)
    return hidden | (key <= place - window) if window else hidden


def softmax(q, k, scale, hidden):
    """(scores, weights, logarithm of their sum, relative error of a weight) of heads, in float64."""
    score, size = (scale * np.einsum("hid,hjd->hij", x, y) for x, y in ((q, k), (np.abs(q), np.abs(k))))
    score = np.where(hidden, -np.inf, score)
    top = score.max(axis=2, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    w = np.exp(score - top)
    total = w.sum(axis=2, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (top + np.log(total))[:, :, 0]
    near = np.where(w > 0, np.abs(np.where(w > 0, score, 0)) + np.abs(top), 0)
    error = (q.shape[2] + 4) * U * size.max(axis=2, keepdims=True, initial=0)
    error = error + (12 + 4 * near + depth(k.shape[1], 1)) * U
    return score, w / np.where(total == 0, 1, total), lse, error


def many(x, heads):
    """A head of keys or values for each head of queries."""
    return np.repeat(x, heads // len(x), axis=0)


def judge_mean(bench, dtype, got, p, error, v, what):
    """got = p v, of weights with a relative error, rounded to dtype."""
    k = v.shape[1]
    half = 0 if dtype == "fp32" else ULP[dtype] / 2
    wrong = p * (2 * error + 3 * k / 16 * U + k * cut(bench, dtype) * U + half)
    judge(got, np.einsum("hij,hjd->hid", p, v), np.einsum("hij,hjd->hid", wrong + TINY[dtype], np.abs(v)), dtype, what)


def judge_lse(got, want, p, error, what):
    seen = np.isfinite(want)
    judge(got, want, np.where(seen, (p * error).sum(axis=2) + 8 * U * np.abs(np.where(seen, want, 0)), 0), "fp32", what)


def heads_of(bench, rng, dtype, heads, rows, dim, filled=True):
    return Matrix(bench, dtype, (heads * rows, dim), rng.standard_normal((heads * rows, dim)) if filled else None)


def run_attention(bench, dtype, heads, kv_heads, queries, keys, dim, causal=False, window=0, source=None, warps=0,
                  has_lse=True, **defines):
    rng = np.random.default_rng(dim + keys)
    scale = float(np.float32(dim ** -0.5))
    sizes = ((heads, queries), (kv_heads, keys), (kv_heads, keys))
    q, k, v = (heads_of(bench, rng, dtype, *s, dim) for s in sizes)
    o, lse = heads_of(bench, rng, dtype, heads, queries, dim, False), bench.buffer("fp32", heads * queries)
    if not has_lse:
        defines["lse"] = "None"
    bench.run(source or example("attention.dsl"), o.buffer, *[lse] * has_lse, q.buffer, k.buffer, v.buffer, heads,
              kv_heads, queries, keys, dim, scale, types={"T": dtype}, num_warps=warps,
              defines={"CAUSAL": causal, "WINDOW": window, **defines})
    a, b, c = (m.seen.reshape(*s, dim) for m, s in zip((q, k, v), sizes))
    b, c = many(b, heads), many(c, heads)
    _, p, want, error = softmax(a, b, scale, unseen(queries, keys, causal, window))
    what = f"attention of {queries} queries over {keys} keys in {dtype}"
    if has_lse:
        judge_lse(lse.read().reshape(heads, queries), want, p, error, "lse of " + what)
    judge_mean(bench, dtype, o.read().reshape(heads, queries, dim), p, error, c, what)


# type, heads of queries, of keys, queries, keys, elements of a head
ATTENTION = [("fp32", 1, 1, 1, 1, 1), ("fp16", 2, 2, 5, 31, 33), ("bf16", 2, 1, 70, 33, 16), ("fp32", 4, 2, 4, 127, 8),
             ("fp16", 3, 1, 65, 129, 64), ("bf16", 2, 2, 1, 100, 40), ("fp16", 1, 1, 64, 64, 128),
             ("fp32", 2, 1, 17, 70, 20), ("bf16", 1, 1, 130, 65, 32)]


@case(sizes=ATTENTION, causal=[False, True])
def attention(bench, sizes, causal):
    run_attention(bench, *sizes, causal)


@case(sizes=[("fp16", 2, 1, 70, 150, 16), ("bf16", 1, 1, 33, 33, 64), ("fp32", 2, 2, 3, 200, 8)], window=[1, 16, 65])
def attention_window(bench, sizes, window):
    run_attention(bench, *sizes, True, window)


@case(blocks=[(16, 16), (32, 64), (64, 32), (128, 16)], warps=[0, 1, 8])
def attention_blocks(bench, blocks, warps):
    """Other blocks of queries and keys, other warps, give the same."""
    for causal, window in ((False, 0), (True, 0), (True, 20)):
        run_attention(bench, "fp16", 1, 1, 75, 90, 20, causal, window, warps=warps, QUERIES=blocks[0], KEYS=blocks[1])


@case(dim=[64, 128], causal=[False, True])
def attention_whole(bench, dim, causal):
    """Nothing is masked but for the order: what long rows take."""
    run_attention(bench, "bf16", 2, 1, 128, 192, dim, causal, has_lse=False, QUERIES=128, KEYS=64)


@case(form=[(128, 128, 8), (128, 64, 4), (64, 64, 4)], keys=[0, 1, 129, 300], dim=[100, 128])
def attention_late(bench, form, keys, dim):
    """Heads so long that a round's second product is made in the next round."""
    for causal, window in ((False, 0), (True, 0), (True, 50)):
        run_attention(bench, "bf16", 2, 1, 150, keys, dim, causal, window, warps=form[2], QUERIES=form[0],
                      KEYS=form[1])


@case(dim=[65, 80, 96, 136, 192], dtype=["bf16", "fp32"])
def attention_parts(bench, dim, dtype):
    """Heads of two parts."""
    for causal, window in ((False, 0), (True, 0), (True, 20)):
        run_attention(bench, dtype, 2, 1, 35, 70, dim, causal, window)


@case(form=[(128, 128, 8, 160), (64, 128, 4, 96), (64, 128, 4, 192)])
def attention_parts_blocks(bench, form):
    """What long rows take."""
    queries, keys, warps, dim = form
    for causal, n in ((False, 256), (True, 300)):
        run_attention(bench, "bf16", 1, 1, 150, n, dim, causal, warps=warps, QUERIES=queries, KEYS=keys)


@case(dtype=["fp16", "fp32"])
def attention_without_lse(bench, dtype):
    run_attention(bench, dtype, 2, 1, 20, 70, 16, True, has_lse=False)


@case()
def attention_nothing_seen(bench):
    """More queries than keys: the first ones see none. No keys at all."""
    run_attention(bench, "fp16", 1, 1, 100, 20, 16, True)
    run_attention(bench, "fp32", 1, 1, 3, 0, 16)


# ---- Sequences of different lengths ----------------------------------------------------------------------------------


def run_varlen(bench, dtype, lengths, heads, kv_heads, dim, causal=False, window=0, source=None, warps=0, poison=False,
               **defines):
    """lengths: (queries, keys) of each sequence. poison: NaN where each second sequence's keys and values lie."""
    rng = np.random.default_rng(dim + len(lengths))
    scale = float(np.float32(dim ** -0.5))
    ends = np.cumsum([(0, 0), *lengths], axis=0)
    n_queries, n_keys = ends[-1]
    q, k, v = (heads_of(bench, rng, dtype, n, h, dim) for n, h in
               ((n_queries, heads), (n_keys, kv_heads), (n_keys, kv_heads)))
    if poison:
        text = np.array([m.seen for m in (k, v)]).reshape(2, n_keys, kv_heads * dim)
        for i in range(1, len(lengths), 2):
            text[:, ends[i, 1]:ends[i + 1, 1]] = np.nan
        k, v = (Matrix(bench, dtype, (n_keys * kv_heads, dim), x.reshape(-1, dim)) for x in text)
    o = heads_of(bench, rng, dtype, n_queries, heads, dim, False)
    lse = bench.buffer("fp32", heads * n_queries)
    q_first, k_first = (bench.buffer("i32", len(ends), ends[:, i]) for i in (0, 1))
    bench.run(source or example("attention_varlen.dsl"), o.buffer, lse, q.buffer, k.buffer, v.buffer, q_first, k_first,
              len(ends), n_queries, n_keys, heads, kv_heads, dim, scale, types={"T": dtype}, num_warps=warps,
              defines={"CAUSAL": causal, "WINDOW": window, **defines})
    got, logs = o.read().reshape(n_queries, heads, dim), lse.read().reshape(heads, n_queries)
    for i, (queries, keys) in enumerate(lengths):
        rows, at = slice(ends[i, 0], ends[i + 1, 0]), slice(ends[i, 1], ends[i + 1, 1])
        if poison and i % 2 and keys:
            assert np.isnan(got[rows]).any() or not queries, f"sequence {i} is of NaN"
            continue
        a, b, c = (m.seen.reshape(-1, h, dim)[s].swapaxes(0, 1)
                   for m, h, s in ((q, heads, rows), (k, kv_heads, at), (v, kv_heads, at)))
        b, c = many(b, heads), many(c, heads)
        _, p, want, error = softmax(a, b, scale, unseen(queries, keys, causal, window))
        what = f"sequence {i}, {queries} queries over {keys} keys in {dtype}"
        judge_lse(logs[:, rows], want, p, error, "lse of " + what)
        judge_mean(bench, dtype, got[rows].swapaxes(0, 1), p, error, c, what)


# queries and keys of each sequence
LENGTHS = [[(1, 1)], [(20, 70), (0, 5), (33, 0), (1, 64), (65, 65)], [(5, 9), (130, 128), (2, 300)]]


@case(dtype=["fp32", "fp16", "bf16"], lengths=LENGTHS, causal=[False, True])
def attention_varlen(bench, dtype, lengths, causal):
    run_varlen(bench, dtype, lengths, 4, 2, 24, causal)


@case(lengths=LENGTHS[1:], window=[1, 65], dim=[16, 64])
def attention_varlen_window(bench, lengths, window, dim):
    run_varlen(bench, "fp16", lengths, 2, 1, dim, True, window)


@case(form=[(128, 128, 8), (64, 64, 4), (16, 16, 1)], dim=[96, 128])
def attention_varlen_blocks(bench, form, dim):
    """What long rows take."""
    for causal, window in ((False, 0), (True, 0), (True, 50)):
        run_varlen(bench, "bf16", [(150, 300), (0, 0), (40, 127), (7, 129)], 2, 1, dim, causal, window, warps=form[2],
                   QUERIES=form[0], KEYS=form[1])


@case(dim=[65, 80, 136, 192], window=[None, 0, 20])
def attention_varlen_parts(bench, dim, window):
    """Heads of two parts."""
    run_varlen(bench, "bf16", [(20, 30), (70, 130), (5, 64)], 2, 1, dim, window is not None, window or 0)


@case(causal=[False, True])
def attention_varlen_many(bench, causal):
    """Sequences by the hundred, many of them empty."""
    lengths = np.random.default_rng(7).integers(-20, 40, (100, 2)).clip(0)
    run_varlen(bench, "fp32", [(int(q), int(k)) for q, k in lengths], 1, 1, 16, causal, QUERIES=16, KEYS=16)


@case(dtype=["fp16", "fp32"], causal=[False, True])
def attention_varlen_alone(bench, dtype, causal):
    """What is before and behind a sequence does not reach it."""
    run_varlen(bench, dtype, [(20, 30), (9, 40), (40, 100), (3, 64), (70, 67)], 2, 2, 32, causal, poison=True)


# ---- Backward --------------------------------------------------------------------------------------------------------


def backward_wants(q, k, v, do, scale, hidden, dtype, more):
    """{name: (what it must be, how far off it may be)}; heads of keys and values are those of the queries."""
    score, p, lse, error = softmax(q, k, scale, hidden)
    half = 0 if dtype == "fp32" else ULP[dtype] / 2
    dim, n = q.shape[2], max(score.shape[1:])
    o = np.einsum("hij,hjd->hid", p, v)
    dp, size = (np.einsum("hid,hjd->hij", x, y) for x, y in ((do, v), (np.abs(do), np.abs(v))))
    delta, length = (do * o).sum(axis=2)[:, :, None], np.abs(do * o).sum(axis=2)[:, :, None]
    g = p * (dp - delta)
    far = error + 4 * U * np.abs(np.where(np.isfinite(lse), lse, 0))[:, :, None]
    p_off = p * far + half * p + np.where(p > 0, TINY[dtype], 0)
    g_off = (p * far * np.abs(dp - delta) + p * ((dim + 2) * more * U * (size + length) + half * length)
             + half * np.abs(g) + np.where(p > 0, TINY[dtype], 0))
    add = n * 4 * more * U
    return {"dq": (scale * np.einsum("hij,hjd->hid", g, k),
                   scale * np.einsum("hij,hjd->hid", g_off + add * np.abs(g), np.abs(k))),
            "dk": (scale * np.einsum("hij,hid->hjd", g, q),
                   scale * np.einsum("hij,hid->hjd", g_off + add * np.abs(g), np.abs(q))),
            "dv": (np.einsum("hij,hid->hjd", p, do), np.einsum("hij,hid->hjd", p_off + add * p, np.abs(do)))}, o, lse


def run_backward(bench, dtype, heads, kv_heads, queries, keys, dim, causal=False, window=0, source=None, **defines):
    rng = np.random.default_rng(dim + keys)
    scale = float(np.float32(dim ** -0.5))
    q, k, v, do = (heads_of(bench, rng, dtype, h, n, dim)
                   for h, n in ((heads, queries), (kv_heads, keys), (kv_heads, keys), (heads, queries)))
    a, b, c, e = (m.seen.reshape(-1, n, dim) for m, n in ((q, queries), (k, keys), (v, keys), (do, queries)))
    hidden = unseen(queries, keys, causal, window)
    wants, out, lse = backward_wants(a, many(b, heads), many(c, heads), e, scale, hidden, dtype, cut(bench, dtype))
    o = Matrix(bench, dtype, (heads * queries, dim), out.reshape(-1, dim))
    sums, delta = bench.buffer("fp32", lse.size, lse.ravel()), bench.buffer("fp32", lse.size)
    bench.run(example("attention_delta.dsl"), delta, do.buffer, o.buffer, heads, queries, dim, types={"T": dtype})
    results = [heads_of(bench, rng, dtype, h, n, dim, False)
               for h, n in ((heads, queries), (kv_heads, keys), (kv_heads, keys))]
    bench.run(source or example("attention_backward.dsl"), *(r.buffer for r in results), q.buffer, k.buffer, v.buffer,
              do.buffer, sums, delta, heads, kv_heads, queries, keys, dim, scale, types={"T": dtype},
              defines={"CAUSAL": causal, "WINDOW": window, **defines})
    for (name, (want, bound)), result in zip(wants.items(), results):
        if name != "dq":
            want, bound = (x.reshape(kv_heads, -1, keys, dim).sum(axis=1) for x in (want, bound))
        judge(result.read().reshape(want.shape), want, bound, dtype, f"{name} of {queries} x {keys} in {dtype}")


BACKWARD = [("fp32", 1, 1, 1, 1, 1), ("fp16", 2, 2, 40, 33, 16), ("bf16", 2, 1, 33, 65, 24), ("fp32", 2, 1, 20, 40, 8),
            ("fp16", 1, 1, 70, 70, 64), ("fp32", 1, 1, 65, 31, 16)]


@case(sizes=BACKWARD, causal=[False, True])
def attention_backward(bench, sizes, causal):
    run_backward(bench, *sizes, causal)


@case(dim=[64, 100, 128], causal=[False, True], queries=[150, 256], keys=[64, 128])
def attention_backward_blocks(bench, dim, causal, queries, keys):
    """What long rows take."""
    run_backward(bench, "bf16", 2, 1, queries, 200, dim, causal, BLOCK=dim // 64 * 64, STEP=128 if dim == 64 else 64,
                 KEYS=keys)


@case(window=[1, 16, 50], blocks=[(32, 32), (16, 64), (64, 16)])
def attention_backward_window(bench, window, blocks):
    run_backward(bench, "fp16", 2, 1, 66, 70, 16, True, window, BLOCK=blocks[0], STEP=blocks[1], KEYS=blocks[0])


def run_backward_varlen(bench, dtype, lengths, heads, kv_heads, dim, causal=False, window=0, source=None, warps=0,
                        poison=False, far=0, **defines):
    """lengths: (queries, keys) of each sequence. poison: NaN in each second sequence. far: scores are about
    -far^2 dim^.5."""
    rng = np.random.default_rng(dim + len(lengths))
    scale = float(np.float32(dim ** -0.5))
    ends = np.cumsum([(0, 0), *lengths], axis=0)
    n_queries, n_keys = ends[-1]
    sizes = {"q": (0, heads), "k": (1, kv_heads), "v": (1, kv_heads), "do": (0, heads)}

    def rows_of(name, i):
        return slice(ends[i, sizes[name][0]], ends[i + 1, sizes[name][0]])

    at = {}
    for name, (of, n) in sizes.items():
        text = rng.standard_normal((ends[-1, of], n * dim)) + {"q": far, "k": -far}.get(name, 0)
        for i in range(1, len(lengths) if poison else 0, 2):
            text[rows_of(name, i)] = np.nan
        at[name] = Matrix(bench, dtype, (text.size // dim, dim), text.reshape(-1, dim))
    means, logs, wants = np.zeros((n_queries, heads, dim)), np.zeros((heads, n_queries)), []
    for i, (queries, keys) in enumerate(lengths):
        q, k, v, do = (at[x].seen.reshape(-1, sizes[x][1], dim)[rows_of(x, i)].swapaxes(0, 1) for x in sizes)
        with np.errstate(invalid="ignore"):
            want, o, lse = backward_wants(q, many(k, heads), many(v, heads), do, scale,
                                          unseen(queries, keys, causal, window), dtype, cut(bench, dtype))
        wants.append(want)
        means[rows_of("q", i)], logs[:, rows_of("q", i)] = o.swapaxes(0, 1), lse
    o = Matrix(bench, dtype, (n_queries * heads, dim), means.reshape(-1, dim))
    sums, delta = bench.buffer("fp32", logs.size, logs.ravel()), bench.buffer("fp32", logs.size)
    bench.run(example("attention_delta.dsl"), delta, at["do"].buffer, o.buffer, n_queries, heads, dim,
              types={"T": dtype}, defines={"PACKED": True})
    results = [heads_of(bench, rng, dtype, m.seen.shape[0], 1, dim, False) for m in (at["q"], at["k"], at["v"])]
    firsts = [bench.buffer("i32", len(ends), ends[:, i]) for i in (0, 1)]
    bench.run(source or example("attention_backward_varlen.dsl"), *(r.buffer for r in results),
              *(m.buffer for m in at.values()), sums, delta, *firsts, len(ends), n_queries, n_keys, heads, kv_heads,
              dim, scale, types={"T": dtype}, num_warps=warps, defines={"CAUSAL": causal, "WINDOW": window, **defines})
    for name, result in zip(("dq", "dk", "dv"), results):
        of, n = sizes[name[1]]
        got = result.read().reshape(-1, n, dim)
        for i in range(0, len(lengths), 1 + poison):
            want, bound = (x.reshape(n, len(x) // n, -1, dim).sum(axis=1) if x.size else x[:n]
                           for x in wants[i][name])
            judge(got[rows_of(name[1], i)].swapaxes(0, 1), want, bound, dtype, f"{name} of sequence {i} in {dtype}")


@case(dtype=["fp32", "fp16", "bf16"], lengths=LENGTHS, causal=[False, True])
def attention_backward_varlen(bench, dtype, lengths, causal):
    run_backward_varlen(bench, dtype, lengths, 4, 2, 24, causal)


@case(lengths=LENGTHS[1:], window=[1, 65], dim=[16, 64])
def attention_backward_varlen_window(bench, lengths, window, dim):
    run_backward_varlen(bench, "fp16", lengths, 2, 1, dim, True, window)


@case(form=[(128, 64, 8, 128), (64, 64, 4, 64), (64, 128, 4, 64), (16, 16, 1, 16), (64, 64, 4, 96)], last=[10, 7])
def attention_backward_varlen_blocks(bench, form, last):
    """What long rows take; all numbers of queries are multiples of 4, or not."""
    block, step, warps, dim = form
    for causal, window in ((False, 0), (True, 0), (True, 50)):
        run_backward_varlen(bench, "bf16", [(150, 300), (0, 0), (40, 127), (last, 129)], 2, 1, dim, causal,
                            window, warps=warps, BLOCK=block, STEP=64 if dim > 64 else step, KEYS=step)


@case(causal=[False, True])
def attention_backward_varlen_many(bench, causal):
    """Sequences by the hundred, many of them empty."""
    lengths = np.random.default_rng(7).integers(-20, 40, (100, 2)).clip(0)
    lengths = [(int(q), int(k)) for q, k in lengths]
    run_backward_varlen(bench, "fp32", lengths, 1, 1, 16, causal, BLOCK=16, STEP=16, KEYS=16)


@case(dtype=["fp16", "fp32"], causal=[False, True])
def attention_backward_varlen_alone(bench, dtype, causal):
    """What is before and behind a sequence does not reach it."""
    run_backward_varlen(bench, dtype, [(20, 30), (9, 40), (40, 100), (3, 64), (70, 67)], 2, 2, 32, causal, poison=True)


# ---- Decoding --------------------------------------------------------------------------------------------------------


def run_decode(bench, dtype, lengths, heads, kv_heads, dim, page, parts, window=0, source=None, merge=None):
    rng = np.random.default_rng(dim + page)
    scale = float(np.float32(dim ** -0.5))
    seqs, most = len(lengths), max(1, -(-max(lengths) // page))
    pages = seqs * most + 3
    table = rng.permutation(pages)[:seqs * most].reshape(seqs, most)
    q = heads_of(bench, rng, dtype, seqs, heads, dim)
    k, v = (heads_of(bench, rng, dtype, pages * page, kv_heads, dim) for _ in range(2))
    o, lse = bench.buffer("fp32", parts * seqs * heads * dim), bench.buffer("fp32", parts * seqs * heads)
    where, ends = bench.buffer("i32", table.size, table.ravel()), bench.buffer("i32", seqs, lengths)
    bench.run(source or example("attention_decode.dsl"), o, lse, q.buffer, k.buffer, v.buffer, where, ends, parts, seqs,
              heads, kv_heads, dim, pages, page, most, scale, types={"T": dtype}, defines={"WINDOW": window})
    out = Matrix(bench, dtype, (seqs * heads, dim))
    bench.run(merge or example("attention_merge.dsl"), out.buffer, o, lse, parts, seqs * heads, dim, types={"T": dtype})
    got, parted = out.read().reshape(seqs, heads, 1, dim), decode(lse.raw(), "fp32").reshape(parts, seqs, heads)
    for i, n in enumerate(lengths):
        at = table[i, np.arange(n) // page] * page + np.arange(n) % page if n else np.arange(0)
        b, c = (many(m.seen.reshape(-1, kv_heads, dim)[at].swapaxes(0, 1), heads) for m in (k, v))
        _, p, want, error = softmax(q.seen.reshape(seqs, heads, 1, dim)[i], b, scale, unseen(1, n, False, window))
        what = f"decoding over {n} keys in {parts} parts"
        error = error + (8 + 4 * np.abs(np.where(np.isfinite(want), want, 0)).max()) * U
        judge_mean(bench, dtype, got[i], p, error, c, what)
        with np.errstate(all="ignore"):
            judge_lse(np.logaddexp.reduce(parted[:, i], axis=0)[:, None], want, p, error, "lse of " + what)


@case(dtype=["fp16", "bf16", "fp32"], lengths=[[1, 70, 33], [200, 0, 64], [257]], parts=[1, 4])
def attention_decode(bench, dtype, lengths, parts):
    run_decode(bench, dtype, lengths, 6, 2, 24, 16, parts)


@case(heads=[(1, 1), (8, 1), (20, 1), (4, 4)], page=[1, 7, 64], window=[0, 50])
def attention_pages(bench, heads, page, window):
    run_decode(bench, "fp16", [90, 33], *heads, 16, page, 3, window)


# ---- Planted mistakes ------------------------------------------------------------------------------------------------


@case()
def attention_checks_can_fail(bench):
    """Kernels with one mistake each."""

    def planted(file, run, *mistakes):
        text = example(file).decode()
        for right, wrong in mistakes:
            assert right in text, right
            must_fail(lambda: run(text.replace(right, wrong)), wrong)

    planted("attention.dsl", lambda s: run_attention(bench, "fp32", 4, 2, 20, 90, 16, True, 40, source=s, KEYS=16),
            ("sums * shrink[:, None]", "sums"), ("s = s * shrink", "s = s"), ("rows + shift + 1)", "rows + shift)"),
            ("j[None, :] > ", "j[None, :] >= "), ("= scale *", "= scale * 1.0001 *"), ("head // (", "0 * ("),
            ("// KEYS * KEYS", "// KEYS * KEYS + KEYS"), ("first + QUERIES + shift)", "first + shift)"))
    planted("attention.dsl", lambda s: run_attention(bench, "fp32", 1, 1, 20, 40, 96, source=s, KEYS=16),
            ("sums_rest * shrink[:, None]", "sums_rest"), ("b_rest.T, score,", "b_rest.T,"),
            ("b_rest = part_of(k,", "b_rest = part_of(v,"))
    planted("attention_varlen.dsl", lambda s: run_varlen(bench, "fp32", [(9, 30), (20, 90), (5, 7)], 4, 2, 16, True, 40,
                                                         source=s, KEYS=16),
            ("start - place,", "0,"), ("shift - place)", "shift - place - 1)"), ("j[None, :] > ", "j[None, :] >= "),
            ("head // (", "0 * ("), ("rows + shift,", "rows + shift - 1,"),
            ("// KEYS * KEYS", "// KEYS * KEYS + KEYS"), ("QUERIES + shift - WINDOW", "shift - WINDOW"))
    planted("attention_varlen.dsl", lambda s: run_varlen(bench, "fp32", [(9, 40), (3, 7)], 1, 1, 96, source=s, KEYS=16),
            ("sums_rest * shrink[:, None]", "sums_rest"),
            ("width, DIM, REST).T, score", "width, DIM, REST).T, 0 * score"))
    planted("attention_varlen.dsl", lambda s: run_varlen(bench, "fp32", [(9, 7), (20, 30), (5, 40), (3, 32)], 2, 1, 16,
                                                         source=s, KEYS=16, poison=True),
            ("= min(start, keys - KEYS)", "= start"), ("j < keys, width", "None, width"),
            ("(j < end)", "(j < 16)"))
    planted("attention_backward.dsl", lambda s: run_backward(bench, "fp32", 2, 1, 40, 50, 16, True, 40, source=s),
            ("sum_k * scale", "sum_k"), ("- means[:, None]", ""), ("- means[None, :]", ""),
            ("p.to(T), e, sum_v,", "p.to(T), e,"), ("first + BLOCK + shift)", "first + shift)"),
            ("a, sum_k, input", "a, input"), ("j <= (i + most", "j < (i + most"))
    planted("attention_backward_varlen.dsl", lambda s: run_backward_varlen(
        bench, "fp32", [(40, 50), (20, 70), (37, 33)], 2, 1, 16, True, 40, source=s, STEP=32, KEYS=32),
            ("sum_k * scale", "sum_k"), ("walked >= begin", "walked >= 0"), ("j <= i + most", "j < i + most"),
            ("- means[None, :]", ""), ("first + shift - place", "first + shift - start"))
    planted("attention_backward_varlen.dsl", lambda s: run_backward_varlen(
        bench, "fp32", [(40, 50), (70, 33)], 1, 1, 16, source=s, STEP=32, KEYS=32), ("place < start or ", ""))
    planted("attention_backward_varlen.dsl", lambda s: run_backward_varlen(
        bench, "fp32", [(9, 7), (20, 30), (5, 40), (40, 35)], 2, 1, 16, source=s, poison=True, STEP=32, KEYS=32),
            ("step < queries, width", "None, width"), ("keys_step < keys, width", "None, width"))
    planted("attention_backward_varlen.dsl", lambda s: run_backward_varlen(
        bench, "fp32", [(9, 7), (20, 30)], 1, 1, 16, source=s, far=8, STEP=32, KEYS=32),
            ("(walked < end)", "(walked < 32)"))
    planted("attention_decode.dsl", lambda s: run_decode(bench, "fp32", [70, 33], 4, 2, 16, 8, 2, source=s),
            ("keys % page", "0"), ("keys // page", "keys // page * 0"), ("(scale *", "(scale * 1.001 *"),
            ("cdiv(cdiv(end - begin, KEYS), n_parts)", "(cdiv(end - begin, KEYS) // n_parts)"))
    planted("attention_merge.dsl", lambda s: run_decode(bench, "fp32", [170, 33], 4, 2, 16, 8, 2, merge=s),
            ("w[:, None] * part", "part"), ("/ (1.0 if s == 0.0 else s)", ""))
