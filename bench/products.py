#!/usr/bin/env python3
"""products.py - products of matrices and attention: fsc beside cuBLAS, Triton, FA2 and cuDNN, in one process.

products.py [--what square shapes bytes blocks mixed batched grouped attention lengths varlen backward varlen_backward
decode cpu] [--seconds S] [--out FILE.jsonl]; cpu: the host's own code beside torch (oneDNN) and NumPy (OpenBLAS) on
the same cores, which wants no GPU. --device cpu:1 leaves NumPy out, gives the others one thread and takes its time on
the core, which other programs hardly change.

Each result is compared with float64 before it is timed (turns.py says how). Products read their memory many times, so
no L2 is flushed. TFLOP/s count 2 M N K. Attention is attention.py's.
"""
import argparse
import ctypes
import random
import statistics
import time

import numpy as np
import torch

import attention
import mixed
import turns
from turns import ALL, DTYPES, ROUNDS, is_cpu, ours, sample, say, tried, without_passes

CPU_ROUNDS = 7
BIG = [(128, 128, 32, 4, 4), (128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (128, 128, 64, 4, 3),
       (128, 256, 128, 8, 2), (256, 128, 64, 8, 3), (256, 128, 64, 8, 4), (64, 256, 32, 4, 4),
       (64, 256, 64, 4, 4), (128, 128, 64, 4, 4), (128, 128, 64, 8, 4)]
SMALL = [(16, 64, 128, 4, 4), (16, 128, 128, 4, 4), (16, 64, 256, 4, 3), (16, 32, 256, 4, 4), (32, 64, 128, 4, 4),
         (64, 64, 64, 4, 4), (64, 128, 64, 4, 4), (64, 128, 64, 4, 3), (64, 64, 128, 4, 3),
         (64, 64, 128, 4, 4), (64, 128, 128, 4, 4)]
MANY_TILES = ((128, 256, 64, 8, 4), (128, 128, 64, 4, 4), (64, 128, 64, 4, 4), (64, 64, 64, 4, 4), (16, 128, 64, 4, 4),
              (128, 128, 64, 4, 2), (128, 256, 64, 8, 2), (64, 256, 64, 4, 3))
MORE = {}  # name → maker(a, b, out) of other programs' products
WEIGHTS = ((4096, 4096), (11008, 4096), (4096, 11008), (14336, 4096), (4096, 14336))  # N, K of 7B models


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


def judge(out, rows, want, slack, kept=None):
    """What says which elements of these rows are farther from `want` than `slack`, and spoils `out` for the next. Who
    makes a matrix of their own leaves it in kept["out"]."""
    kept = {} if kept is None else kept

    def check(_):
        got = kept.pop("out", out)[rows].double()
        out.fill_(float("nan"))
        bad = ~((got - want).abs() <= slack)
        return f"{int(bad.sum())} of {bad.numel()} wrong" if bad.any() else None

    return check


def product(m, n, k, dtype, tiles, every=False):
    a, b = (torch.randn(s, device="cuda", dtype=torch.float32).to(dtype) for s in ((m, k), (k, n)))
    out = torch.empty((m, n), device="cuda", dtype=dtype)
    rows = torch.arange(0, m, max(1, m // 512), device="cuda")
    want = a[rows].double() @ b.double()
    slack = a[rows].double().abs() @ b.double().abs() * (k * 4 * 2.0**-24) + 1e-6
    slack += want.abs() * (2.0**-8 if dtype == torch.bfloat16 else 2.0**-11)
    check = judge(out, rows, want, slack)

    values = [out, a, b, n, k, n, 0, m, n, k]
    left_out = {"bias": "None", "residual": "None"}
    room = torch.cuda.get_device_properties(0).multi_processor_count * 128 * 256 + 1024
    scratch = torch.zeros(room, device="cuda")
    makers = [("cublas", lambda: lambda: torch.matmul(a, b, out=out)),
              ("fsc-default", lambda: ours("matmul.dsl", values, left_out)),
              ("fsc-stream", lambda: ours("stream_k.dsl", [out, a, b, scratch, m, n, k, room])),
              ("fsc-stream 128", lambda: ours("stream_k.dsl", [out, a, b, scratch, m, n, k, room], {"BN": 128}))]

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
    check = judge(out, rows, want, slack, kept)

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


def product_blocks(m, n, k):
    """Of 8-bit floats with a scale for each block, w in rows along k; cuBLAS by torch's private function."""
    x, w = (torch.randn(s, device="cuda").to(torch.float8_e4m3fn) for s in ((m, k), (n, k)))
    out, kept = torch.empty((m, n), device="cuda", dtype=torch.bfloat16), {}
    x_scale, w_scale = (torch.rand(s, device="cuda") + 0.5 for s in ((k // 128, m), (n // 128, k // 128)))
    rows = torch.arange(0, m, max(1, m // 256), device="cuda")
    x64 = (x[rows].double().view(-1, k // 128, 128) * x_scale.T[rows].double()[:, :, None]).view(-1, k)
    w64 = w.double() * w_scale.double().repeat_interleave(128, 0).repeat_interleave(128, 1)
    want = x64 @ w64.T
    slack = want.abs() * 2.0**-8 + x64.abs() @ w64.abs().T * 2.0**-11 + 1e-6
    check = judge(out, rows, want, slack, kept)

    def vendor():
        kept["out"] = torch._scaled_mm(x, w.T, scale_a=x_scale.T, scale_b=w_scale.T, out_dtype=torch.bfloat16)

    makers = [("cublas", lambda: vendor)]
    for tile in ((), (128, 128, 2), (128, 128, 1), (64, 128, 1), (64, 64, 1), (64, 64, 2)):
        name = "x".join(map(str, tile)) or "default"
        makers.append((f"fsc-{name}", lambda t=tile: ours(
            "matmul_fp8_blocks.dsl", [out, x, w, x_scale, w_scale, m, n, k], dict(zip(("BM", "BN", "HALVES"), t)))))
    if triton_products:
        makers += [(f"triton {t}", lambda t=t: triton_products.product_blocks(out, x, w, x_scale, w_scale, t))
                   for t in ((128, 128, 8, 4), (64, 128, 4, 4), (64, 64, 4, 4))]
    where = f"{m}x{n}x{k} fp8 blocks"
    launches = tried(makers, check, where)
    kept.clear()
    say(launches, sample(launches), where, 2e-9 * m * n * k, shown=ALL)




def many_makers(file, values):
    def make(tile=()):
        defines, options = dict(zip(("BM", "BN", "BK"), tile)), dict(zip(("num_warps", "num_stages"), tile[3:]))
        return ours(file, values, defines, **options)

    return [("fsc-default", make)] + [("fsc " + "x".join(map(str, t)), lambda t=t: make(t)) for t in MANY_TILES]


def race_many(makers, out, kept, parts, where, gflop):
    """parts: (rows of out, x, w) of which the product must be out's rows."""
    def check(_):
        got, bad = kept.pop("out", out), 0
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
    makers += many_makers("batched_matmul.dsl", [out, a, b, batch, batch, m, n, k])
    race_many(makers, out, {}, parts, f"batched {batch} of {m}x{n}x{k} bf16", 2e-9 * batch * m * n * k)


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
    makers += many_makers("grouped_matmul.dsl", [out, x, w, first, groups, m, n, k])
    race_many(makers, out, kept, parts, f"grouped {what} {m}x{n}x{k} bf16", 2e-9 * m * n * k)


def many_work(what):
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


def cpu_product(n, dtype):
    """All in one process: which threads there are is each library's own matter."""
    a, b = (torch.randn((n, n)).to(dtype) for _ in range(2))
    out = torch.empty((n, n), dtype=dtype)
    want, slack = a.double() @ b.double(), a.double().abs() @ b.double().abs() * (n * 2.0**-23)
    slack += want.abs() * (2.0**-8 if dtype == torch.bfloat16 else 0)
    check = judge(out, slice(None), want, slack)

    def launched(**defines):
        launch = ours("matmul.dsl", [out, a, b, n, n, n, 0, n, n, n], {"bias": "None", "residual": "None", **defines})

        def both():
            launch()
            turns.wait()

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


def main():
    global o, triton_products
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
    turns.begin(o)
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
    if "blocks" in o.what:
        work += [lambda m=m, n=n, k=k: product_blocks(m, n, k)
                 for m, n, k in ((8192, 8192, 8192), (4096, 7168, 2048), (4096, 4096, 7168), (64, 7168, 2048))]
    work += many_work(o.what)
    work += attention.work(o.what)
    work += mixed.work(o.what, triton_products)
    if "shapes" in o.what:
        work += [lambda m=m, n=n, k=k: product(m, n, k, torch.bfloat16, SMALL if m <= 64 else BIG + SMALL[-6:])
                 for m in (1, 16, 64, 512, 4096) for n, k in WEIGHTS]
    for one in work:
        if not turns.left():
            print("out of time")
            break
        one()
        if not is_cpu():
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
