# A Triton file with its host code around the kernels. RUN: fsc %s --signature "*fp32:16, *fp32, i32, 128, True"
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

@triton.autotune(configs=[triton.Config({"B": b}, num_warps=w) for b in [64, 128] for w in (2, 4)], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["B"] == 0})
@triton.jit
def k(y_ptr, x_ptr, n, B: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if EVEN:
        x = tl.load(x_ptr + i)
    else:
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    m = tl.max(x, axis=0, keep_dims=True)
    z = libdevice.tanh(x.to(tl.float32)) - tl.math.rsqrt(m * m + 1)
    tl.store(y_ptr + i, tl.where(i == 3, z, tl.fdiv(x, m)), mask=i < n)

def host(x):
    y = torch.empty_like(x)
    k[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](y, x, x.numel())
    return y
