#!/usr/bin/env python3
"""python_overhead.py - what a call from Python costs the host: fsc's, Triton's, torch's own.

Out: a table on standard output, µs a call. On the CPU: softmax(y, x) over an empty grid beside the C call alone; what
is more is Python. On a GPU (torch; Triton where it is there): launches of a small softmax back to back without waiting,
and torch's add_.
Method: the median of REPEATS runs of CALLS calls each; on a GPU the stream is emptied between runs,
so that its queue never fills.
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

SOFTMAX = os.path.join(HERE, "..", "dsl_examples", "softmax.dsl")


def measure(call, calls, repeats, wait=lambda: None):
    """µs a call."""
    for _ in range(20):
        call()
    times = []
    for _ in range(repeats):
        wait()
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls * 1e6)
    wait()
    return statistics.median(times)


def on_cpu(o, row):
    """An empty grid: nothing runs, all else does."""
    try:
        import numpy as np
    except ImportError:
        print("NumPy is not there: the CPU's rows are left out")
        return
    from fsc import _arrays, _kernel

    softmax = fsc.load(SOFTMAX).softmax
    y, x = np.empty((0, 781), np.float32), np.empty((0, 781), np.float32)
    softmax(y, x)
    call, jit = _kernel._Call(6), softmax._jits[_arrays.HOST]
    for i, value in enumerate([y, x] + [_arrays.MISSING] * 4):
        _arrays.reader(value)(value, call, i * _arrays.VALUE)
    arguments = (jit.handle, None, call.address, 6, None)
    alone = measure(lambda: _kernel._launch(*arguments), o.calls, o.repeats)
    whole = measure(lambda: softmax(y, x), o.calls, o.repeats)
    given = measure(lambda: softmax(y, x, 781, 781, 0, 781), o.calls, o.repeats)
    row("cpu, empty grid: the C call through ctypes", alone)
    row("cpu, empty grid: softmax(y, x) of NumPy's arrays", whole)
    row("  of which Python", whole - alone)
    row("cpu, empty grid: all six arguments given", given)


def triton_softmax(torch):
    """The tutorial's kernel with its arguments, as a function without arguments; None: no Triton."""
    global tl  # where Triton looks for what a kernel names
    try:
        import triton
        import triton.language as tl
    except ImportError:
        return None

    @triton.jit
    def softmax(y, x, y_stride, x_stride, n_rows, n_cols, BLOCK: tl.constexpr):
        row = tl.program_id(0)
        cols = tl.arange(0, BLOCK)
        v = tl.load(x + row * x_stride + cols, mask=cols < n_cols, other=-float("inf"))
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(y + row * y_stride + cols, e / tl.sum(e, axis=0), mask=cols < n_cols)

    return softmax


def on_gpu(o, row):
    try:
        import torch
    except ImportError:
        print("torch is not there: the GPU's rows are left out")
        return
    if not torch.cuda.is_available():
        print("torch sees no GPU: its rows are left out")
        return
    calls, wait = min(o.calls, 500), torch.cuda.synchronize  # fewer than a stream takes before the host has to wait
    x = torch.randn(4, 781, device="cuda")
    y = torch.empty_like(x)
    softmax, triton = fsc.load(SOFTMAX).softmax, triton_softmax(torch)
    want = torch.softmax(x, 1)

    def right(call, name):
        y.zero_()
        call()
        torch.testing.assert_close(y, want, msg=f"{name} is wrong")
        return call

    row("gpu: fsc, softmax(y, x)", measure(right(lambda: softmax(y, x), "fsc"), calls, o.repeats, wait))
    row("gpu: fsc, all six arguments given",
        measure(right(lambda: softmax(y, x, 781, 781, 4, 781), "fsc"), calls, o.repeats, wait))
    stream = torch.cuda.current_stream()
    row("gpu: fsc, on a stream that is given", measure(lambda: softmax(y, x, stream=stream), calls, o.repeats, wait))
    if triton:
        launch = lambda: triton[(4,)](y, x, 781, 781, 4, 781, BLOCK=1024)  # noqa: E731
        row("gpu: Triton, the same kernel", measure(right(launch, "Triton"), calls, o.repeats, wait))
    else:
        print("Triton is not there: its row is left out")
    row("gpu: torch.softmax(x, 1, out=y)",
        measure(right(lambda: torch.softmax(x, 1, out=y), "torch"), calls, o.repeats, wait))
    row("gpu: y.add_(x)", measure(lambda: y.add_(x), calls, o.repeats, wait))
    op = fsc.torch_op(softmax, name="fscbench::softmax")
    row("gpu: fsc as an operator of torch.library, op(y, x)",
        measure(right(lambda: op(y, x), "the operator"), calls, o.repeats, wait))


def main():
    words = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    words.add_argument("--calls", type=int, default=4000)
    words.add_argument("--repeats", type=int, default=25)
    o = words.parse_args()
    print(f"{fsc.version}, Python {sys.version.split()[0]}")
    print("| | µs |\n| --- | --- |")
    on_cpu(o, lambda name, us: print(f"| {name} | {us:.2f} |", flush=True))
    on_gpu(o, lambda name, us: print(f"| {name} | {us:.2f} |", flush=True))


if __name__ == "__main__":
    main()
