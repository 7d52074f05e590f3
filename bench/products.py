#!/usr/bin/env python3
"""products.py - products of matrices and attention: fsc beside cuBLAS, Triton, FA2 and cuDNN, in one process.

products.py [--what square shapes bytes attention lengths backward decode cpu] [--seconds S] [--out FILE.jsonl]; cpu:
the host's own code beside torch (oneDNN) and NumPy (OpenBLAS) on the same cores, which wants no GPU. --device cpu:1
leaves NumPy out, gives the others one thread and takes its time on the core, which other programs hardly change.

Each result is compared with float64 before it is timed. Time: the median of event pairs, the peers in turn, as
rounds of BURST launches on the same memory, no L2 flush: products read theirs many times. TFLOP/s count 2 M N K, and
4 N² D a head for attention, 10 N² D for its backward pass, half for causal. Decoding counts the bytes of keys and
values, beside a copy of as many.
"""
import argparse
import ctypes
import functools
import itertools
import json
import math
import os
import random
import re
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "tests", "run")]

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import fsc  # noqa: E402

EXAMPLES = os.path.join(HERE, "..", "dsl_examples")
BURST, ROUNDS, CPU_ROUNDS, ALL = 6, 3, 7, 1000
DTYPES = {torch.bfloat16: "bf16", torch.float16: "fp16", torch.float32: "fp32", torch.int32: "i32",
          torch.float8_e4m3fn: "fp8e4nv", torch.int8: "i8"}
BIG = [(128, 128, 32, 4, 4), (128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (128, 128, 64, 4, 3),
       (128, 256, 128, 8, 2), (256, 128, 64, 8, 3), (256, 128, 64, 8, 4), (64, 256, 32, 4, 4),
       (64, 256, 64, 4, 4), (128, 128, 64, 4, 4), (128, 128, 64, 8, 4)]
SMALL = [(16, 64, 128, 4, 4), (16, 128, 128, 4, 4), (16, 64, 256, 4, 3), (16, 32, 256, 4, 4), (32, 64, 128, 4, 4),
         (64, 64, 64, 4, 4), (64, 128, 64, 4, 4), (64, 128, 64, 4, 3), (64, 64, 128, 4, 3),
         (64, 64, 128, 4, 4), (64, 128, 128, 4, 4)]
MORE = {}  # name → maker(a, b, out) of other programs' products
MORE_OPTIONS = {}  # of the compile
WEIGHTS = ((4096, 4096), (11008, 4096), (4096, 11008), (14336, 4096), (4096, 14336))  # N, K of 7B models


def is_cpu():
    return o.device.startswith("cpu")


@functools.lru_cache(maxsize=None)
def jit(file, options):
    options = dict(options)
    with open(os.path.join(EXAMPLES, file), "rb") as f:
        return fsc.Jit(device, f.read(), file=file, defines=dict(options.pop("defines", ())), **options)


def without_passes(makers):
    """Of ours, those compiled with --passes."""
    def other(make):
        MORE_OPTIONS["passes"] = o.passes.encode()
        launch = make()
        MORE_OPTIONS.clear()
        return launch

    return [(name + " " + o.passes, lambda make=make: other(make)) for name, make in makers
            if o.passes and name.startswith("fsc")]


def ours(file, values, defines=None, **options):
    """launch() of an example on torch's tensors and numbers; .facts: its resources."""
    handle = jit(file, tuple({**options, **MORE_OPTIONS, "defines": tuple((defines or {}).items())}.items()))
    values = [(v.data_ptr(), DTYPES[v.dtype], v.numel() * v.element_size()) if isinstance(v, torch.Tensor) else v
              for v in values]
    kernel, (array, count) = handle.prepare(values), handle.args(values)
    stream = None if is_cpu() else torch.cuda.current_stream().cuda_stream

    def launch():
        fsc.check(fsc.lib.fsc_launch(kernel, None, array, count, stream))

    if is_cpu():
        return launch
    report = handle.report(values)
    launch.facts = f"{report.registers} regs" + f" {report.spill_bytes} spilled" * (report.spill_bytes > 0)
    return launch


def both(first, second, facts):
    def launch():
        first()
        second()

    launch.facts = facts
    return launch


def sample(launches, seconds=2.0):
    """name → median milliseconds; the launches take turns, in another order each round: what draws much power slows
    down who follows."""
    times, end = {name: [] for name in launches}, time.monotonic() + seconds * o.rounds / ROUNDS
    for round in range(o.rounds):
        for name in random.Random(round).sample(list(launches), len(launches)):
            pairs = []
            launches[name]()
            for _ in range(BURST):
                pair = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                pair[0].record()
                launches[name]()
                pair[1].record()
                pairs.append(pair)
            torch.cuda.synchronize()
            times[name] += [a.elapsed_time(b) for a, b in pairs]
        if time.monotonic() > end:
            break
    return {name: statistics.median(t) for name, t in times.items()}


def tried(makers, check, where):
    """name → launch of what can be made and is right."""
    launches = {}
    for name, make in makers:
        if name.startswith("fsc") and not re.search(o.only, name):
            continue
        try:
            launch = make()
            launch()
            device.wait()
        except Exception as why:
            print(f"   {where} {name}: {type(why).__name__} {str(why)[:200]}", flush=True)
            continue
        wrong = check(name)
        if wrong:
            print(f"   WRONG {where} {name}: {wrong}", flush=True)
        else:
            launches[name] = launch
    return launches


def write(**line):
    if o.out:
        with open(o.out, "a") as f:
            f.write(json.dumps(line) + "\n")


def say(launches, times, where, work, unit="TFLOP/s", shown=0):
    """The best of each peer, before it the `shown` fastest of all; writes the point."""
    best = {}
    facts = {name: launch.facts for name, launch in launches.items() if hasattr(launch, "facts")}
    for name in sorted(times, key=times.get):
        best.setdefault(name.split()[0], name)
    for name in sorted(times, key=times.get)[:shown]:
        print(f"        {name} {work / times[name]:.0f} {facts.get(name, '')}")
    print(f"{time.monotonic() - started:4.0f} s  {where}  " + "  ".join(
        f"{name} {work / times[name]:.0f}" + (f" ({facts[name]})" if name in facts else "") for name in best.values()),
        flush=True)
    write(where=where, unit=unit, values={name: round(work / ms, 1) for name, ms in times.items()}, facts=facts)


def cutlass_makers(a, b, out):
    """(name, maker) of each tile of bench/peers/cutlass_products.cu, built with these names."""
    if not o.cutlass or out.dtype != torch.bfloat16:
        return
    lib, (m, k), n = ctypes.CDLL(o.cutlass), a.shape, b.shape[1]
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    for tile in ("128x128x32s4", "128x128x64s3", "128x256x64s3", "128x256x64s4", "256x128x64s3"):
        call = getattr(lib, f"product_{tile}")

        def launch(call=call):
            status = call(m, n, k, *(ctypes.c_void_p(x.data_ptr()) for x in (a, b, out)), stream)
            if status:
                raise RuntimeError(f"CUTLASS gives status {status}")

        yield f"cutlass {tile}", lambda launch=launch: launch


def product(m, n, k, dtype, tiles, every=False):
    a, b = (torch.randn(s, device="cuda", dtype=torch.float32).to(dtype) for s in ((m, k), (k, n)))
    out = torch.empty((m, n), device="cuda", dtype=dtype)
    rows = torch.arange(0, m, max(1, m // 512), device="cuda")
    want = a[rows].double() @ b.double()
    bound = a[rows].double().abs() @ b.double().abs() * (k * 4 * 2.0**-24)

    def check(_):
        got = out[rows].double()
        slack = bound + want.abs() * (2.0**-8 if dtype == torch.bfloat16 else 2.0**-11) + 1e-6
        bad = ~((got - want).abs() <= slack)
        out.fill_(float("nan"))
        return f"{int(bad.sum())} of {bad.numel()} wrong" if bad.any() else None

    values = [out, a, b, n, k, n, 0, m, n, k]
    left_out = {"bias": "None", "residual": "None"}
    makers = [("cublas", lambda: lambda: torch.matmul(a, b, out=out)),
              ("fsc-default", lambda: ours("matmul.dsl", values, left_out))]

    def tiled(t, **asked):
        return ours("matmul.dsl", values, {**left_out, "BM": t[0], "BN": t[1], "BK": t[2]}, num_warps=t[3],
                    num_stages=t[4], **asked)

    for t in tiles:
        name = "x".join(map(str, t[:3])) + f"w{t[3]}s{t[4]}"
        makers.append((f"fsc {name}", lambda t=t: tiled(t)))
        if o.arch:
            makers.append((f"{o.arch} {name}", lambda t=t: tiled(t, arch=o.arch.encode())))
        if triton_products:
            makers.append((f"triton80 {name}", lambda t=t: triton_products.product(a, b, out, t, "sm80")))
    makers += cutlass_makers(a, b, out)
    makers += [(name, lambda make=make: make(a, b, out)) for name, make in MORE.items()]
    makers += without_passes(makers)
    where = f"{m}x{n}x{k} {DTYPES[dtype]}"
    launches = tried(makers, check, where)
    say(launches, sample(launches), where, 2e-9 * m * n * k, shown=ALL if every else 0)


def product8(m, n, k, dtype):
    """Of bytes, w in rows along k; cuBLAS by torch's private functions, whose result of integers is not scaled."""
    is_float = dtype == torch.float8_e4m3fn
    x, w = (torch.randn(s, device="cuda").to(dtype) if is_float else
            torch.randint(-127, 128, s, device="cuda", dtype=torch.int8) for s in ((m, k), (n, k)))
    out = torch.empty((m, n), device="cuda", dtype=torch.bfloat16)
    scales = [torch.ones(s, device="cuda") for s in (m, n)]
    one, kept = torch.ones((), device="cuda"), {}
    rows = torch.arange(0, m, max(1, m // 256), device="cuda")
    want = x[rows].double() @ w.double().T
    slack = want.abs() * 2.0**-8 + (x[rows].double().abs() @ w.double().abs().T * 2.0**-11 if is_float else 0) + 1e-6

    def check(name):
        got = kept.pop("out", out)[rows].double()
        out.fill_(float("nan"))
        bad = ~((got - want).abs() <= slack)
        return f"{int(bad.sum())} of {bad.numel()} wrong" if bad.any() else None

    def vendor():
        if is_float:
            kept["out"] = torch._scaled_mm(x, w.T, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
        else:
            kept["out"] = torch._int_mm(x, w.T)

    file = "matmul_fp8.dsl" if is_float else "matmul_int8.dsl"
    makers = [("cublas", lambda: vendor)]
    for arch in [None] + [o.arch] * bool(o.arch):
        asked = {"arch": arch.encode()} if arch else {}
        for fast in [False] + [True] * is_float:
            makers.append((f"{arch or 'fsc'}-{'fast' if fast else 'default'}", lambda asked=asked, fast=fast: ours(
                file, [out, x, w, *scales, m, n, k], {"FAST": "True"} if fast else {}, **asked)))
    makers += without_passes(makers)
    where = f"{m}x{n}x{k} {DTYPES[dtype]}"
    launches = tried(makers, check, where)
    kept.clear()
    say(launches, sample(launches), where, 2e-9 * m * n * k)


def cpu_product(n, dtype):
    """All in one process: which threads there are is each library's own matter."""
    a, b = (torch.randn((n, n)).to(dtype) for _ in range(2))
    out = torch.empty((n, n), dtype=dtype)
    want, bound = a.double() @ b.double(), a.double().abs() @ b.double().abs() * (n * 2.0**-23)

    def check(_):
        got = out.double()
        bad = ~((got - want).abs() <= bound + want.abs() * (2.0**-8 if dtype == torch.bfloat16 else 0))
        out.fill_(float("nan"))
        return f"{int(bad.sum())} of {bad.numel()} wrong" if bad.any() else None

    def launched(**defines):
        launch = ours("matmul.dsl", [out, a, b, n, n, n, 0, n, n, n], {"bias": "None", "residual": "None", **defines})

        def both():
            launch()
            device.wait()

        return both

    makers = [("torch", lambda: lambda: torch.matmul(a, b, out=out)), ("fsc-default", launched)]
    if dtype == torch.float32 and torch.get_num_threads() > 1:
        x, y, z = a.numpy(), b.numpy(), out.numpy()
        makers.append(("numpy", lambda: lambda: np.matmul(x, y, out=z)))
    makers += [("fsc " + "x".join(map(str, t)), lambda t=t: launched(BM=t[0], BN=t[1], BK=t[2]))
               for t in ((64, 64, 64), (64, 128, 64), (128, 128, 64), (128, 128, 128), (128, 256, 64), (256, 256, 64))]
    where = f"cpu {n}x{n}x{n} {DTYPES[dtype]}"
    launches = tried(makers, check, where)
    times = {name: [] for name in launches}
    clock = time.process_time if torch.get_num_threads() == 1 else time.perf_counter
    for _ in range(CPU_ROUNDS):
        for name, launch in launches.items():
            time.sleep(0.02)  # no peer's threads spin on
            start = clock()
            launch()
            times[name].append((clock() - start) * 1e3)
    times = {name: statistics.median(t) for name, t in times.items()}
    say(launches, times, where, 2e-6 * n**3, "GFLOP/s", shown=ALL)


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
        from torch.nn.attention import sdpa_kernel

        def launch():
            with sdpa_kernel(backend):
                kept["out"] = F.scaled_dot_product_attention(q, k, v, is_causal=causal)

        return launch

    from torch.nn.attention import SDPBackend
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
    makers += without_passes(makers)
    where = f"attention h{heads} {length} d{dim}{' causal' * causal} bf16"
    launches = tried(makers, check, where)
    kept.clear()
    say(launches, sample(launches), where, 4e-9 * heads * length**2 * dim / (2 if causal else 1), shown=ALL)


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
        worst = max(float((got[0, 0].double() - want).abs().max() / want.abs().max())
                    for got, want in zip(kept.pop("grads", own[1:]), wants))
        for x in own[1:]:
            x.fill_(float("nan"))
        return None if worst <= 0.02 else f"off by {worst:.3g} of the largest"

    def sdpa(backend):
        from torch.nn.attention import sdpa_kernel
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

    from torch.nn.attention import SDPBackend
    makers = [("fa2", lambda: sdpa(SDPBackend.FLASH_ATTENTION)), ("cudnn", lambda: sdpa(SDPBackend.CUDNN_ATTENTION)),
              ("fsc-default", fsc_backward)]
    makers += [(f"fsc {r}x{k}w{w}s{n}", lambda r=r, k=k, w=w, n=n: fsc_backward(
        {"BLOCK": r, "STEP": k}, num_warps=w, num_stages=n))
        for r, k, w, n in ((64, 64, 4, 1), (64, 64, 4, 2), (128, 64, 8, 2), (128, 64, 8, 3), (128, 32, 8, 3),
                           (128, 128, 8, 2), (64, 128, 4, 2), (256, 64, 16, 2))]
    makers += without_passes(makers)
    where = f"attention backward h{heads} {length} d{dim}{' causal' * causal} bf16"
    launches = tried(makers, check, where)
    kept.clear()
    say(launches, sample(launches), where, 10e-9 * heads * length**2 * dim / (2 if causal else 1), shown=ALL)


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


def main():
    global o, device, started, triton_products
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", nargs="+", default=["square", "shapes", "bytes", "attention", "decode"])
    parser.add_argument("--device", default="cuda:0", help="cuda:N; cpu or cpu:1 for --what cpu")
    parser.add_argument("--out", help="a line a point, as JSON")
    parser.add_argument("--arch", help="sm_90: products by the portable instructions beside the card's own")
    parser.add_argument("--passes", metavar="LIST", help="-bulk: each of fsc's also compiled without that pass")
    parser.add_argument("--only", metavar="PATTERN", default="", help="of fsc's forms those whose name has it")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--cutlass", metavar="LIBRARY", help="of peers/cutlass_products.cu")
    parser.add_argument("--without", nargs="*", default=[], help="triton")
    parser.add_argument("--seconds", type=float, default=1e9)
    o = parser.parse_args()
    device, started = fsc.Device(o.device), time.monotonic()
    torch.manual_seed(0)
    if o.device == "cpu:1":
        torch.set_num_threads(1)
    try:
        from peers import triton_products as loaded
        triton_products = loaded if "triton" not in o.without else None
    except ImportError as why:
        triton_products = print(f"triton: {why}")
    print("cpu" if is_cpu() else torch.cuda.get_device_name(), torch.__version__, torch.get_num_threads(),
          "threads", flush=True)
    work = []
    if "cpu" in o.what:
        work += [lambda n=n, t=t: cpu_product(n, t) for n in (512, 1024, 2048) for t in (torch.float32, torch.bfloat16)]
    if "square" in o.what:
        work += [lambda n=n: product(n, n, n, torch.bfloat16, BIG, True) for n in (8192, 4096, 2048)]
    if "bytes" in o.what:
        work += [lambda n=n, t=t: product8(n, n, n, t) for n in (8192, 4096, 2048)
                 for t in (torch.float8_e4m3fn, torch.int8)]
    if "attention" in o.what:
        work += [lambda d=d, c=c: attention(16 if d == 128 else 32, 16384, d, c)
                 for d, c in ((128, False), (128, True), (64, False), (64, True))]
    if "lengths" in o.what:
        work += [lambda n=n, d=d, c=c: attention(32 * 2048 // n * 128 // d or 1, n, d, c)
                 for n, d in ((2048, 128), (4096, 128), (8192, 128), (8192, 96), (8192, 192), (8192, 256))
                 for c in (False, True)]
    if "backward" in o.what:
        work += [lambda n=n, d=d, c=c: attention_backward(16, n, d, c)
                 for n, d in ((16384, 128), (16384, 64), (4096, 128)) for c in (False, True)]
    if "decode" in o.what:
        work += [lambda s=s, n=n: decode(s, 32, 8, n, 128) for s, n in ((16, 8192), (4, 32768), (1, 131072))]
    if "shapes" in o.what:
        work += [lambda m=m, n=n, k=k: product(m, n, k, torch.bfloat16, SMALL if m <= 64 else BIG + SMALL[-6:])
                 for m in (1, 16, 64, 512, 4096) for n, k in WEIGHTS]
    for one in work:
        if time.monotonic() - started > o.seconds:
            print("out of time")
            break
        one()
        if not is_cpu():
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
