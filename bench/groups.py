"""groups.py - many products in one launch, of a batch or of groups of rows as experts have: fsc beside cuBLAS, and
torch's kernel for groups. products.py --what batched grouped runs it.

Each result is compared with float64 before it is timed. TFLOP/s count 2 M N K.
"""
import random

import torch

from turns import ALL, ours, sample, say, tried

TILES = ((128, 256, 64, 8, 4), (128, 128, 64, 4, 4), (64, 128, 64, 4, 4), (64, 64, 64, 4, 4), (16, 128, 64, 4, 4),
         (128, 128, 64, 4, 2), (128, 128, 64, 4, 3), (128, 256, 64, 8, 2), (64, 128, 64, 4, 2), (64, 256, 64, 4, 2),
         (64, 256, 64, 4, 3))  # BM, BN, BK, warps, stages


def fsc_makers(file, values):
    def make(tile=()):
        defines, options = dict(zip(("BM", "BN", "BK"), tile)), dict(zip(("num_warps", "num_stages"), tile[3:]))
        return ours(file, values, defines, **options)

    return [("fsc-default", make)] + [("fsc " + "x".join(map(str, t)), lambda t=t: make(t)) for t in TILES]


def race(makers, out, kept, parts, where, gflop):
    """parts: (rows of out, x, w) of which the product must be out's rows."""
    def check(_):
        got = kept.pop("out", out)
        bad = 0
        for rows, x, w in parts:
            want, size = x.double() @ w.double(), x.double().abs() @ w.double().abs()
            slack = want.abs() * 2.0**-8 + size * (x.shape[1] * 4 * 2.0**-24) + 1e-6
            bad += int((~((got[rows].double() - want).abs() <= slack)).sum())
        out.fill_(float("nan"))
        return f"{bad} wrong" if bad else None

    launches = tried(makers, check, where)
    kept.clear()
    say(launches, sample(launches), where, gflop, shown=ALL)


def batched(batch, m, n, k):
    a, b = (torch.randn(s, device="cuda").bfloat16() for s in ((batch, m, k), (batch, k, n)))
    out = torch.empty((batch, m, n), device="cuda", dtype=torch.bfloat16)
    parts = [(i, a[i], b[i]) for i in {0, batch // 2, batch - 1}]
    makers = [("cublas", lambda: lambda: torch.bmm(a, b, out=out))]
    makers += fsc_makers("batched_matmul.dsl", [out, a, b, batch, batch, m, n, k])
    race(makers, out, {}, parts, f"batched {batch} of {m}x{n}x{k} bf16", 2e-9 * batch * m * n * k)


def grouped(what, counts, n, k):
    """counts: rows of each group. torch's kernel takes the weights in rows along k, cuBLAS a call a group."""
    m, groups = sum(counts), len(counts)
    x, w = torch.randn((m, k), device="cuda").bfloat16(), torch.randn((groups, k, n), device="cuda").bfloat16()
    turned, out, kept = w.mT.contiguous().mT, torch.empty((m, n), device="cuda", dtype=torch.bfloat16), {}
    ends = torch.tensor(counts, device="cuda").cumsum(0).int()
    first = ends - torch.tensor(counts, device="cuda", dtype=torch.int32)
    at = [slice(int(f), int(e)) for f, e in zip(first.tolist(), ends.tolist())]
    parts = [(at[i], x[at[i]], w[i]) for i in {0, groups // 2, groups - 1}]

    def torch_grouped():
        kept["out"] = torch._grouped_mm(x, turned, offs=ends)

    def each():
        for i, rows in enumerate(at):
            torch.mm(x[rows], w[i], out=out[rows])

    makers = [("torch", lambda: torch_grouped), ("cublas", lambda: each)]
    makers += fsc_makers("grouped_matmul.dsl", [out, x, w, first, groups, m, n, k])
    race(makers, out, kept, parts, f"grouped {what} {m}x{n}x{k} bf16", 2e-9 * m * n * k)


def work(what):
    """What there is to do, by the names of --what."""
    experts = random.Random(0)
    uneven = [experts.choice((0, 17, 100, 300, 700, 1500)) for _ in range(32)]
    todo = []
    if "batched" in what:
        todo += [lambda s=s: batched(*s) for s in ((64, 512, 512, 512), (16, 2048, 2048, 128), (256, 128, 128, 1024),
                                                   (8, 2048, 2048, 2048), (24, 1000, 1000, 776))]
    if "grouped" in what:
        groups = (("8 of 1024", [1024] * 8), ("8 of 4096", [4096] * 8), ("64 of 128", [128] * 64),
                  ("64 of 16", [16] * 64), ("32 uneven", uneven))
        todo += [lambda w=w, c=c, n=n, k=k: grouped(w, c, n, k) for w, c in groups
                 for n, k in ((4096, 2048), (2048, 7168))]
    return todo
