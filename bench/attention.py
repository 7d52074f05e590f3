"""attention.py - attention beside FlashAttention-2 and cuDNN, as torch has them: forward, sequences of different
lengths, backward passes of both, decoding out of pages. products.py --what attention lengths varlen backward
varlen_backward decode runs it.

Each result is compared with float64 before it is timed. TFLOP/s count 4 N² D a head, 10 N² D for the backward pass,
half for causal. Decoding counts the bytes of keys and values, beside a copy of as many.
"""
import itertools
import math
import random

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from turns import ALL, both, ours, sample, say, tried, without_passes


BACKWARD = ((128, 64, 64, 8), (128, 64, 128, 8), (64, 64, 64, 4), (64, 64, 128, 4), (128, 128, 128, 8),
            (64, 128, 128, 4))  # BLOCK, STEP, KEYS, warps


def race(makers, check, kept, where, gflop):
    """Times what is right, also without passes; kept: results that peers allocated, of no use then."""
    launches = tried(makers + without_passes(makers), check, where)
    kept.clear()
    say(launches, sample(launches), where, gflop, shown=ALL)


def attention(heads, length, dim, causal):
    q, k, v = (torch.randn((1, heads, length, dim), device="cuda").bfloat16() for _ in range(3))
    out = torch.empty_like(q)
    scale = dim**-0.5
    rows = torch.randint(0, length, (256,), device="cuda")
    score = q[0, :2, rows].double() @ k[0, :2].double().mT * scale
    if causal:
        score.masked_fill_(torch.arange(length, device="cuda")[None, None] > rows[None, :, None], -math.inf)
    want = score.softmax(-1) @ v[0, :2].double()
    kept = {}

    def check(name):
        got = kept.pop("out", out)[0, :2, rows].double()
        out.fill_(float("nan"))
        worst = float((got - want).abs().max())
        return None if worst <= 2 * 2.0**-9 * float(v.abs().max()) else f"off by {worst:.3g}"

    def sdpa(backend):
        def launch():
            with sdpa_kernel(backend):
                kept["out"] = F.scaled_dot_product_attention(q, k, v, is_causal=causal)

        return launch

    values = [out, q, k, v, heads, heads, length, length, dim, scale]
    makers = [("fa2", lambda: sdpa(SDPBackend.FLASH_ATTENTION)), ("cudnn", lambda: sdpa(SDPBackend.CUDNN_ATTENTION)),
              ("fsc-default", lambda: ours("attention.dsl", values, {"lse": "None", "CAUSAL": causal}))]
    for rows_, keys, warps, stages in ((128, 64, 4, 2), (128, 64, 4, 3), (128, 64, 8, 2), (128, 64, 8, 3),
                                       (128, 128, 8, 2), (128, 32, 4, 3), (128, 32, 4, 4), (64, 64, 4, 2),
                                       (64, 64, 4, 3), (256, 64, 8, 2), (64, 128, 4, 2), (64, 128, 4, 3),
                                       (128, 64, 8, 4), (128, 128, 8, 3), (256, 64, 16, 2), (64, 64, 4, 4)):
        makers.append((f"fsc {rows_}x{keys}w{warps}s{stages}", lambda r=rows_, k=keys, w=warps, s=stages: ours(
            "attention.dsl", values, {"lse": "None", "CAUSAL": causal, "QUERIES": r, "KEYS": k}, num_warps=w,
            num_stages=s)))
    where = f"attention h{heads} {length} d{dim}{' causal' * causal} bf16"
    race(makers, check, kept, where, 4e-9 * heads * length**2 * dim / (2 if causal else 1))


def want_backward(q, k, v, do, scale, causal):
    """In float64, of one head: dq, dk, dv."""
    q, k, v, do = (x.double() for x in (q, k, v, do))
    score = q @ k.mT * scale
    if causal:
        score.masked_fill_(torch.ones_like(score, dtype=torch.bool).triu_(1), -math.inf)
    p = score.softmax(-1)
    g = p * (do @ v.mT - (p @ v * do).sum(-1, keepdim=True)) * scale
    return g @ k, g.mT @ q, p.mT @ do


def attention_backward(heads, length, dim, causal):
    """Gradients of q, k and v; the forward pass is made before, by each on its own."""
    q, k, v = (torch.randn((1, heads, length, dim), device="cuda").bfloat16().requires_grad_() for _ in range(3))
    do, scale = torch.randn((1, heads, length, dim), device="cuda").bfloat16(), dim**-0.5
    wants = want_backward(*(x.detach()[0, 0] for x in (q, k, v, do)), scale, causal)
    own = [torch.empty_like(q) for _ in range(4)]  # o, dq, dk, dv
    (lse, delta), kept = (torch.empty((heads, length), device="cuda") for _ in range(2)), {}
    sizes = [heads, heads, length, length, dim, scale]

    def check(_):
        worst = float(torch.stack([(got[0, 0].double() - want).abs().max() / want.abs().max()
                                   for got, want in zip(kept.pop("grads", own[1:]), wants)]).max())
        for x in own[1:]:
            x.fill_(float("nan"))
        return None if worst <= 0.02 else f"off by {worst:.3g} of the largest"

    def sdpa(backend):
        with sdpa_kernel(backend):
            out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)

        def launch():
            kept["grads"] = torch.autograd.grad(out, (q, k, v), do, retain_graph=True)

        return launch

    def fsc_backward(tile=None, **options):
        q_, k_, v_ = (x.detach() for x in (q, k, v))
        ours("attention.dsl", [own[0], lse, q_, k_, v_, *sizes], {"CAUSAL": causal})()
        first = ours("attention_delta.dsl", [delta, do, own[0], heads, length, dim])
        second = ours("attention_backward.dsl", [*own[1:], q_, k_, v_, do, lse, delta, *sizes],
                      {"CAUSAL": causal, **(tile or {})}, **options)
        return both(first, second, second.facts)

    makers = [("fa2", lambda: sdpa(SDPBackend.FLASH_ATTENTION)), ("cudnn", lambda: sdpa(SDPBackend.CUDNN_ATTENTION)),
              ("fsc-default", fsc_backward)]
    makers += [(f"fsc {r}x{q_}x{k_}w{w}", lambda r=r, q_=q_, k_=k_, w=w: fsc_backward(
        {"BLOCK": r, "STEP": q_, "KEYS": k_}, num_warps=w, num_stages=2)) for r, q_, k_, w in BACKWARD]
    where = f"attention backward h{heads} {length} d{dim}{' causal' * causal} bf16"
    race(makers, check, kept, where, 10e-9 * heads * length**2 * dim / (2 if causal else 1))


def varlen(what, lengths, heads, kv_heads, dim, causal):
    """Sequences of these lengths, one behind another."""
    ends = [0, *itertools.accumulate(lengths)]
    total, most = ends[-1], max(lengths)
    q, k, v = (torch.randn((total, h, dim), device="cuda").bfloat16() for h in (heads, kv_heads, kv_heads))
    first = torch.tensor(ends, device="cuda", dtype=torch.int32)
    out, lse = torch.empty_like(q), torch.empty((heads, total), device="cuda")
    scale, kept, wants = dim**-0.5, {}, []
    for i in {0, 1, len(lengths) // 2, len(lengths) - 1}:
        n, at = lengths[i], slice(ends[i], ends[i + 1])
        rows = torch.randint(0, n, (64,), device="cuda")
        for head, kv_head in ((0, 0), (heads - 1, kv_heads - 1)):
            score = q[at, head][rows].double() @ k[at, kv_head].double().T * scale
            if causal:
                score.masked_fill_(torch.arange(n, device="cuda")[None] > rows[:, None], -math.inf)
            wants.append((rows + ends[i], head, score.softmax(-1) @ v[at, kv_head].double()))

    def check(_):
        got = kept.pop("out", out)
        worst = float(torch.stack([(got[rows, h].double() - want).abs().max() for rows, h, want in wants]).max())
        out.fill_(float("nan"))
        return None if worst <= 2 * 2.0**-9 * float(v.abs().max()) else f"off by {worst:.3g}"

    def fa2():
        kept["out"] = torch.ops.aten._flash_attention_forward(q, k, v, first, first, most, most, 0.0, causal, False,
                                                              scale=scale)[0]

    def cudnn():
        """Of equal lengths as a batch: what torch has for others is planned anew at each call."""
        batch = (x.view(len(lengths), most, -1, dim).transpose(1, 2) for x in (q, k, v))
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            mean = F.scaled_dot_product_attention(*batch, is_causal=causal, enable_gqa=True)
        kept["out"] = mean.transpose(1, 2).reshape(total, heads, dim)

    values = [out, lse, q, k, v, first, first, len(ends), total, total, heads, kv_heads, dim, scale]
    makers = [("fa2", lambda: fa2), ("fsc-default", lambda: ours("attention_varlen.dsl", values, {"CAUSAL": causal}))]
    makers += [("cudnn", lambda: cudnn)] * (len(set(lengths)) == 1)
    makers += [(f"fsc {r}x{b}w{w}s{n}", lambda r=r, b=b, w=w, n=n: ours(
        "attention_varlen.dsl", values, {"CAUSAL": causal, "QUERIES": r, "KEYS": b}, num_warps=w, num_stages=n))
        for r, b, w, n in ((128, 128, 8, 2), (128, 128, 8, 3), (128, 64, 4, 2), (64, 64, 4, 2), (64, 64, 4, 3),
                           (128, 64, 8, 2), (64, 128, 4, 2))]
    where = f"varlen {what} h{heads}/{kv_heads} d{dim}{' causal' * causal} bf16"
    race(makers, check, kept, where, 4e-9 * heads * sum(n * n for n in lengths) * dim / (2 if causal else 1))


def varlen_backward(what, lengths, heads, kv_heads, dim, causal):
    """Gradients of sequences of these lengths, one behind another."""
    ends = [0, *itertools.accumulate(lengths)]
    total, most, scale = ends[-1], max(lengths), dim**-0.5
    q, k, v = (torch.randn((total, h, dim), device="cuda").bfloat16() for h in (heads, kv_heads, kv_heads))
    do, first = torch.randn_like(q), torch.tensor(ends, device="cuda", dtype=torch.int32)
    grads, out = [torch.empty_like(x) for x in (q, k, v)], torch.empty_like(q)
    (lse, delta), kept, wants = (torch.empty((heads, total), device="cuda") for _ in range(2)), {}, []
    shared = heads // kv_heads
    for i in {0, len(lengths) // 2, len(lengths) - 1}:
        at = slice(ends[i], ends[i + 1])
        each = [want_backward(q[at, h], k[at, 0], v[at, 0], do[at, h], scale, causal) for h in range(shared)]
        wants.append((at, each[0][0], sum(x[1] for x in each), sum(x[2] for x in each)))

    def check(_):
        got = kept.pop("grads", grads)
        worst = max(float((x[at, 0].double() - want).abs().max() / want.abs().max())
                    for at, *all_ in wants for x, want in zip(got, all_))
        for x in grads:
            x.fill_(float("nan"))
        return None if worst <= 0.02 else f"off by {worst:.3g} of the largest"

    def fa2():
        o, logs, state, unused, _ = torch.ops.aten._flash_attention_forward(
            q, k, v, first, first, most, most, 0.0, causal, False, scale=scale)

        def launch():
            kept["grads"] = torch.ops.aten._flash_attention_backward(
                do, q, k, v, o, logs, first, first, most, most, 0.0, causal, state, unused, scale=scale)

        return launch

    def cudnn():
        """Of equal lengths as a batch."""
        batch = [x.view(len(lengths), most, -1, dim).transpose(1, 2).detach().requires_grad_() for x in (q, k, v)]
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            mean = F.scaled_dot_product_attention(*batch, is_causal=causal, enable_gqa=True)
        back = do.view(len(lengths), most, -1, dim).transpose(1, 2)

        def launch():
            made = torch.autograd.grad(mean, batch, back, retain_graph=True)
            kept["grads"] = [x.transpose(1, 2).reshape(total, -1, dim) for x in made]

        return launch

    sizes = [len(ends), total, total, heads, kv_heads, dim, scale]

    def fsc_backward(tile=None, **options):
        ours("attention_varlen.dsl", [out, lse, q, k, v, first, first, *sizes], {"CAUSAL": causal})()
        one = ours("attention_delta.dsl", [delta, do, out, total, heads, dim], {"PACKED": True})
        two = ours("attention_backward_varlen.dsl", [*grads, q, k, v, do, lse, delta, first, first, *sizes],
                   {"CAUSAL": causal, **(tile or {})}, **options)
        return both(one, two, two.facts)

    makers = [("fa2", fa2), ("fsc-default", fsc_backward)] + [("cudnn", cudnn)] * (len(set(lengths)) == 1)
    makers += [(f"fsc {r}x{q_}x{k_}w{w}", lambda r=r, q_=q_, k_=k_, w=w: fsc_backward(
        {"BLOCK": r, "STEP": q_, "KEYS": k_}, num_warps=w, num_stages=2)) for r, q_, k_, w in BACKWARD]
    where = f"varlen backward {what} h{heads}/{kv_heads} d{dim}{' causal' * causal} bf16"
    race(makers, check, kept, where, 10e-9 * heads * sum(n * n for n in lengths) * dim / (2 if causal else 1))


def decode(seqs, heads, kv_heads, length, dim, page=64):
    per = length // page
    q = torch.randn((seqs, heads, dim), device="cuda").bfloat16()
    k, v = (torch.randn((seqs * per, page, kv_heads, dim), device="cuda").bfloat16() for _ in range(2))
    table = torch.randperm(seqs * per, device="cuda").int().view(seqs, per)
    lengths = torch.full((seqs,), length, device="cuda", dtype=torch.int32)
    scale = dim**-0.5
    keys, values_ = (x[table[0].long()].reshape(length, kv_heads, dim).double() for x in (k, v))
    groups = heads // kv_heads
    score = torch.einsum("ghd,ngd->ghn", q[0].double().view(kv_heads, groups, dim), keys) * scale
    want = torch.einsum("ghn,ngd->ghd", score.softmax(-1), values_).reshape(heads, dim)
    del keys, values_, score
    out = torch.empty((seqs, heads, dim), device="cuda", dtype=torch.bfloat16)
    makers = []
    for parts, block, warps, stages in itertools.product((8, 16, 32, 64, 128), (32, 64, 128), (4,), (2, 3, 4)):
        if parts * seqs * kv_heads > 132 * 16 or parts * seqs * kv_heads < 132 or parts * block > length:
            continue
        o_parts = torch.empty((parts, seqs, heads, dim), device="cuda", dtype=torch.float32)
        lse = torch.empty((parts, seqs, heads), device="cuda", dtype=torch.float32)

        def make(o_parts=o_parts, lse=lse, parts=parts, block=block, warps=warps, stages=stages):
            first = ours("attention_decode.dsl", [o_parts, lse, q, k, v, table, lengths, parts, seqs, heads, kv_heads,
                                                  dim, seqs * per, page, per, scale], {"KEYS": block},
                         num_warps=warps, num_stages=stages)
            second = ours("attention_merge.dsl", [out, o_parts, lse, parts, seqs * heads, dim])
            return both(first, second, first.facts)

        makers.append((f"fsc p{parts}k{block}w{warps}s{stages}", make))
    to = torch.empty_like(k)
    makers.append(("copy", lambda: lambda: to.copy_(k)))  # reads and writes as many bytes as both are

    def check(name):
        if name == "copy":
            return None
        worst = float((out[0].double() - want).abs().max())
        out.fill_(float("nan"))
        return None if worst <= 4 * 2.0**-9 * float(v.abs().max()) else f"off by {worst:.3g}"

    where = f"decode b{seqs} h{heads}/{kv_heads} {length} d{dim} bf16"
    launches = tried(makers, check, where)
    say(launches, sample(launches), where, 2e-6 * k.numel() * 2, "GB/s", shown=6)


def work(what):
    """What there is to do, by the names of --what."""
    texts = random.Random(0)
    batches = {"8 of 2048": [2048] * 8, "2 of 8192": [8192] * 2,
               "16 of 100 to 4000": texts.sample(range(100, 4001), 16),
               "100 of 20 to 600": texts.sample(range(20, 601), 100), "7000 and 30 of 300": [7000] + [300] * 30}
    todo = []
    if "attention" in what:
        todo += [lambda d=d, c=c: attention(16 if d == 128 else 32, 16384, d, c)
                 for d, c in ((128, False), (128, True), (64, False), (64, True))]
    if "lengths" in what:
        todo += [lambda n=n, d=d, c=c: attention(32 * 2048 // n * 128 // d or 1, n, d, c)
                 for n, d in ((2048, 128), (4096, 128), (8192, 128), (8192, 80), (8192, 96), (8192, 160), (8192, 192),
                             (8192, 256))
                 for c in (False, True)]
    if "varlen" in what:
        todo += [lambda w=w, d=d, c=c: varlen(w, batches[w], 1024 // d * 2, 1024 // d, d, c)
                 for d in (128, 64, 96, 192) for w in batches for c in (False, True)]
    if "backward" in what:
        todo += [lambda n=n, d=d, c=c: attention_backward(16, n, d, c)
                 for n, d in ((16384, 128), (16384, 64), (4096, 128)) for c in (False, True)]
    if "varlen_backward" in what:
        todo += [lambda w=w, d=d, c=c: varlen_backward(w, batches[w], 1024 // d * 2, 1024 // d, d, c)
                 for d in (128, 64) for w in batches for c in (False, True)]
    if "decode" in what:
        todo += [lambda s=s, n=n: decode(s, 32, 8, n, 128) for s, n in ((16, 8192), (4, 32768), (1, 131072))]
    return todo
