"""triton_rows.py - the kernels in Triton: softmax in the tutorial's persistent form,
and each kernel with a row a program.

In: a case. Out: launch(i). Method: `triton` is compiled by warmup and launched by its handle, as many programs as its
registers and shared memory let be resident; `triton_row` is the fastest of the num_warps that fit, measured where it is
made.
"""
import statistics

import triton
import triton.language as tl

from cases import EPS
from machine import NotFor, Skip
from timing import sample_flushed

MAX_BLOCK = 1 << 17  # beyond this compiling takes minutes
PER_THREAD = 256  # elements; more: likewise
TRIALS = 7
ONLINE_BLOCK = 4096


@triton.jit
def softmax_persistent(y, x, x_stride, y_stride, n_rows, n_cols, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    inside = cols < n_cols
    for row in tl.range(tl.program_id(0), n_rows, tl.num_programs(0), num_stages=STAGES):
        v = tl.load(x + row * x_stride + cols, mask=inside, other=-float("inf")).to(tl.float32)
        e = tl.exp(v - tl.max(v, axis=0))
        tl.store(y + row * y_stride + cols, e / tl.sum(e, axis=0), mask=inside)


@triton.jit
def softmax_row(y, x, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row + cols, mask=cols < n, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row + cols, e / tl.sum(e, axis=0), mask=cols < n)


@triton.jit
def log_softmax_row(y, x, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row + cols, mask=cols < n, other=-float("inf")).to(tl.float32)
    v -= tl.max(v, axis=0)
    tl.store(y + row + cols, v - tl.log(tl.sum(tl.exp(v), axis=0)), mask=cols < n)


@triton.jit
def layernorm_row(y, mean, rstd, x, weight, bias, n, eps, BLOCK: tl.constexpr):
    at = tl.program_id(0)
    row = at.to(tl.int64) * n
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row + cols, mask=cols < n, other=0).to(tl.float32)
    m = tl.sum(v, axis=0) / n
    d = tl.where(cols < n, v - m, 0)
    r = 1 / tl.sqrt(tl.sum(d * d, axis=0) / n + eps)
    tl.store(mean + at, m)
    tl.store(rstd + at, r)
    w = tl.load(weight + cols, mask=cols < n).to(tl.float32)
    b = tl.load(bias + cols, mask=cols < n).to(tl.float32)
    tl.store(y + row + cols, d * r * w + b, mask=cols < n)


@triton.jit
def rmsnorm_row(y, rstd, x, weight, n, eps, BLOCK: tl.constexpr):
    at = tl.program_id(0)
    row = at.to(tl.int64) * n
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row + cols, mask=cols < n, other=0).to(tl.float32)
    r = 1 / tl.sqrt(tl.sum(v * v, axis=0) / n + eps)
    tl.store(rstd + at, r)
    w = tl.load(weight + cols, mask=cols < n).to(tl.float32)
    tl.store(y + row + cols, v * r * w, mask=cols < n)


@triton.jit
def add_rmsnorm_row(y, h, x, residual, weight, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    cols = tl.arange(0, BLOCK)
    s = tl.load(x + row + cols, mask=cols < n, other=0) + tl.load(residual + row + cols, mask=cols < n, other=0)
    tl.store(h + row + cols, s, mask=cols < n)
    v = s.to(tl.float32)
    r = 1 / tl.sqrt(tl.sum(v * v, axis=0) / n + eps)
    w = tl.load(weight + cols, mask=cols < n).to(tl.float32)
    tl.store(y + row + cols, v * r * w, mask=cols < n)


@triton.jit
def softmax_backward_row(dx, dy, p, n, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    cols = tl.arange(0, BLOCK)
    q = tl.load(p + row + cols, mask=cols < n, other=0).to(tl.float32)
    d = tl.load(dy + row + cols, mask=cols < n, other=0).to(tl.float32)
    tl.store(dx + row + cols, q * (d - tl.sum(q * d, axis=0)), mask=cols < n)


@triton.jit
def gelu_block(y, x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(y + i, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)), mask=i < n)


@triton.jit
def cross_entropy_row(loss, lse, x, target, n, BLOCK: tl.constexpr):
    at = tl.program_id(0)
    row = x + at.to(tl.int64) * n
    m = -float("inf")
    s = 0.0
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        v = tl.load(row + cols, mask=cols < n, other=-float("inf")).to(tl.float32)
        top = tl.maximum(m, tl.max(v, axis=0))
        s = s * tl.exp(m - top) + tl.sum(tl.exp(v - top), axis=0)
        m = top
    total = m + tl.log(s)
    tl.store(lse + at, total)
    tl.store(loss + at, total - tl.load(row + tl.load(target + at)).to(tl.float32))


# Kernel → the function, and its arguments but BLOCK by the set's tensors.
ROWS = {
    "softmax": (softmax_row, lambda b, n: (b["y"], b["x"], n)),
    "log_softmax": (log_softmax_row, lambda b, n: (b["y"], b["x"], n)),
    "layernorm": (layernorm_row, lambda b, n: (b["y"], b["mean"], b["rstd"], b["x"], b["weight"], b["bias"], n, EPS)),
    "rmsnorm": (rmsnorm_row, lambda b, n: (b["y"], b["rstd"], b["x"], b["weight"], n, EPS)),
    "add_rmsnorm": (add_rmsnorm_row, lambda b, n: (b["y"], b["h"], b["x"], b["residual"], b["weight"], n, EPS)),
    "softmax_backward": (softmax_backward_row, lambda b, n: (b["dx"], b["dy"], b["p"], n)),
    "gelu": (gelu_block, lambda b, n: (b["y"], b["x"], b["x"].numel())),
    "cross_entropy": (cross_entropy_row, lambda b, n: (b["loss"], b["lse"], b["x"], b["target"], n)),
}


def size_of_block(case):
    if case.kernel.name == "gelu":
        return 1024, triton.cdiv(case.rows * case.n, 1024)
    block = triton.next_power_of_2(case.n)
    if case.kernel.name == "cross_entropy":
        return min(block, ONLINE_BLOCK), case.rows
    if block > MAX_BLOCK:
        raise Skip("the block is too large for Triton")
    return block, case.rows


def row(case):
    if case.kernel.name not in ROWS:
        raise Skip("not written in Triton here")
    kernel, make_args = ROWS[case.kernel.name]
    block, programs = size_of_block(case)

    def launcher(warps):
        def launch(i):
            kernel[(programs,)](*make_args(case.tensors(i), case.n), BLOCK=block, num_warps=warps)

        return launch

    launches = {warps: launcher(warps) for warps in (1, 2, 4, 8, 16, 32) if 32 * warps <= max(block, 32) and
                block <= 32 * warps * PER_THREAD}
    for launch in launches.values():
        launch(0)
    times = sample_flushed(case.machine, case, launches, TRIALS)
    return launches[min(times, key=lambda warps: statistics.median(times[warps]))]


def persistent(case):
    if case.kernel.name != "softmax":
        raise NotFor("the tutorial is about softmax")
    block, _ = size_of_block(case)
    card = triton.runtime.driver.active.utils.get_device_properties(0)
    warps, stages = 8, 4 if card["max_shared_mem"] > 200000 else 2
    b, m, n = case.tensors(), case.rows, case.n
    kernel = softmax_persistent.warmup(b["y"], b["x"], n, n, m, n, BLOCK=block, STAGES=stages, num_warps=warps,
                                       grid=(1,))
    kernel._init_handles()
    resident = card["max_num_regs"] // (kernel.n_regs * card["warpSize"] * warps)
    if kernel.metadata.shared:
        resident = min(resident, card["max_shared_mem"] // kernel.metadata.shared)
    if not resident:
        raise Skip("not one block fits a multiprocessor")
    run = kernel[(min(card["multiprocessor_count"] * resident, m), 1, 1)]

    def launch(i):
        tensors = case.tensors(i)
        run(tensors["y"], tensors["x"], n, n, m, n, block, stages)

    return launch


PEERS = {"triton": persistent, "triton_row": row}
