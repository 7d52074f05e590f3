# DEFINE: %{given} = --kernel k -T p=*fp32 -T q=*i32 -T n=i32 -D s=None
# RUN: fsc --emit=tile --passes= %{given} -D ACT=relu -D TYPE=fp16 %s -o - | FileCheck %s
# RUN: not fsc %{given} -D ACT=relu -D TYP=fp16 %s -o - 2>&1 | FileCheck --check-prefix=NAME %s
# RUN: not fsc %{given} -D ACT=gelu -D TYPE=fp16 %s -o - 2>&1 | FileCheck --check-prefix=FUNCTION %s
# Annotations that are no types, None for what has one, functions and constants of the file by -D, hasattr, integers of
# seven dimensions, and dot as it was once.
import torch
import triton
import triton.language as tl
from typing import Optional
from somewhere import ask

HAS = hasattr(tl, "gather")
HAS_NOT = hasattr(tl, "no_such_name")
TYPE = ask()


@triton.jit
def relu(x):
    return tl.maximum(x, 0.0)


# NAME: error: -D TYP: 'k' has no parameter 'TYP'
# FUNCTION: error: -D ACT=gelu
# CHECK: func @k(%p: *fp32 {divisible = 4}, %q: *i32 {divisible = 4}, %n: i32)
@triton.jit
def k(p: torch.Tensor, q, n: Optional[int], s: tl.int64 = None, ACT: tl.constexpr = None, B: tl.constexpr = 32):
    tl.static_assert(HAS and not HAS_NOT and s is None)
    i = tl.arange(0, B)
    # CHECK: fptrunc {{.*}} : tile<32xfp16>
    # CHECK: fmax {{.*}} : tile<32xfp16>
    x = ACT(tl.load(p + i).to(TYPE))
    # CHECK: const -5 : i32
    # CHECK: add
    step = -5
    tl.store(q + i, tl.load(q + i).to(tl.uint32) + step)
    # CHECK: reshape {{.*}} : tile<2x2x2x1x2x2x1xfp16>
    # CHECK: trans {{.*}} {perm = [6, 5, 4, 3, 2, 1, 0]}
    tl.static_assert(x.type.get_block_shapes() == (B,))
    t = x.reshape(2, 2, 2, 1, 2, 2, 1).permute(6, 5, 4, 3, 2, 1, 0).reshape(4, 8)
    # CHECK: trans {{.*}} : tile<8x4xfp16>
    # CHECK: dot {{.*}} : tile<4x4xfp32>
    y = tl.dot(t, t, trans_b=True)
    tl.store(p + tl.arange(0, 16), tl.ravel(y) + n)
