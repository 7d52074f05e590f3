#!/usr/bin/env python3
"""launch_python.py - what one launch costs the host from Python: Triton's by its handle and by its wrapper,
torch's, fsc's.

Out: a table on standard output, nanoseconds, median of CALLS. Method: that of bench/launch.c, whose rows stand beside
these: the same two kernels, of 4 and of 20 arguments, over 1000 numbers; the ways take turns, each call is timed alone,
and every 64 rounds the stream is waited for. What a way computes is compared with y = 2 x + sum before it is timed.
"""
import argparse
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for place in ("../runtime/python", "../share/fsc/python"):
    if os.path.isdir(os.path.join(HERE, place)):
        sys.path.insert(0, os.path.join(HERE, place))

import fsc  # noqa: E402 - found above

N, BLOCK, ROUNDS_BETWEEN_WAITS = 1000, 128, 64
NAMES = "a b c d e g h k l m o p q r s t".split()
KERNEL = """@kernel(grid=(cdiv(n, 128),))
def {name}(y: *fp32, x: *fp32, f: fp32, n: i32{more}):
    i = program_id(0) * 128 + arange(0, 128)
    store(y + i, load(x + i, mask=i < n) * f{sum}, mask=i < n)
"""


def triton_kernels():
    """The two kernels by their numbers of arguments."""
    global tl  # where Triton looks for what a kernel names
    import triton
    import triton.language as tl

    @triton.jit
    def four(y, x, f, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + i, tl.load(x + i, mask=i < n) * f, mask=i < n)

    @triton.jit
    def twenty(y, x, f, n, a, b, c, d, e, g, h, k, l, m, o, p, q, r, s, t, BLOCK: tl.constexpr):  # noqa: E741
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        z = a + b + c + d + e + g + h + k + l + m + o + p + q + r + s + t
        tl.store(y + i, tl.load(x + i, mask=i < n) * f + z.to(tl.float32), mask=i < n)

    return {4: four, 20: twenty}


def triton_ways(count, values):
    kernel, grid = triton_kernels()[count], ((N + BLOCK - 1) // BLOCK, 1, 1)
    compiled = kernel[grid](*values, BLOCK=BLOCK, num_warps=4)
    run = compiled[grid]
    return {"Triton, by the compiled kernel's handle": lambda: run(*values, BLOCK),
            "Triton, by its JIT wrapper": lambda: kernel[grid](*values, BLOCK=BLOCK, num_warps=4)}


def fsc_ways(count, values):
    names = NAMES[: count - 4]
    text = KERNEL.format(name="scaled", more="".join(", %s: i32" % name for name in names),
                         sum=" + (%s).to(fp32)" % " + ".join(names) if names else "")
    kernel = fsc.loads(text, "scaled.dsl", num_warps=4).scaled
    return {"fsc from Python": lambda: kernel(*values)}


def torch_ways(torch, y, x):
    """Calls of about the same work, whatever the arguments' number."""
    return {"torch.mul(x, 2, out=y)": lambda: torch.mul(x, 2.0, out=y), "y.add_(x)": lambda: y.add_(x),
            "torch.softmax(row, 1, out=row_out)": softmax_of_one(torch, y, x)}


def softmax_of_one(torch, y, x):
    row, row_out = x.view(1, N), y.view(1, N)
    return lambda: torch.softmax(row, 1, out=row_out)


def measure(ways, calls, wait):
    """Nanoseconds of a call, by the way."""
    times = {name: [0] * calls for name in ways}
    for way in list(ways.values()) * 20:
        way()
    for i in range(calls):
        for name, way in ways.items():
            start = time.perf_counter_ns()
            way()
            times[name][i] = time.perf_counter_ns() - start
        if i % ROUNDS_BETWEEN_WAITS == 0:
            wait()
    wait()
    return {name: statistics.median(times[name]) for name in ways}


def gather(makers):
    """All ways that can be had; of the others why not."""
    ways = {}
    for name, make in makers.items():
        try:
            ways.update(make())
        except Exception as why:  # noqa: BLE001 - Triton and torch fail in many ways; the other rows still count
            print("%s is left out: %s: %s" % (name, type(why).__name__, str(why).split("\n")[0]))
    return ways


def check(ways, y, want):
    for name, way in ways.items():
        y.zero_()
        way()
        if not bool((y == want).all()):
            sys.exit("%s is wrong: %s instead of %s" % (name, y[:4].tolist(), want[:4].tolist()))


def of_kernel(torch, count, o):
    x = torch.arange(N, dtype=torch.float32, device=o.device)
    y = torch.empty_like(x)
    scalars = list(range(4, count))
    values = [y, x, 2.0, N] + scalars
    ways = gather({"fsc": lambda: fsc_ways(count, values), "Triton": lambda: triton_ways(count, values)})
    check(ways, y, x * 2 + sum(scalars))
    if count == 4:
        ways.update(torch_ways(torch, y, x))
    return measure(ways, o.calls, torch.cuda.synchronize if o.device == "cuda" else lambda: None)


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--calls", type=int, default=20000)
    words.add_argument("--device", choices=["cuda", "cpu"], default="cuda",
                       help="cpu tries the program; its times mean nothing")
    o = words.parse_args()
    try:
        import torch
    except ImportError:
        print("torch is not there: nothing is measured")
        return
    if o.device == "cuda" and not torch.cuda.is_available():
        print("torch sees no GPU: nothing is measured")
        return
    print("%s, Python %s, torch %s" % (fsc.version, sys.version.split()[0], torch.__version__))
    for count in (4, 20):
        print("\n| %d arguments | ns |\n| --- | --- |" % count)
        for name, ns in of_kernel(torch, count, o).items():
            print("| %s | %.0f |" % (name, ns), flush=True)


if __name__ == "__main__":
    main()
