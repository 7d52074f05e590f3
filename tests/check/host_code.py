# RUN: fsc --emit=tile --passes= --signature "*fp16:16, *fp16:16, i32, 256" %s -o - | FileCheck %s
# A Python file as it is: the host code around the kernel is skipped.
import os
import sys

import torch
import triton
import triton.language as tl
from triton.runtime import driver

DEVICE = driver.active.get_active_torch_device()
SCALE: tl.constexpr = 0.5


def reference(x):
    return {k: v for k, v in zip(range(3), x)} if x is not None else [f"{y}" for y in x]


# CHECK: func @halve(%out: *fp16 {divisible = 16}, %x: *fp16 {divisible = 16}, %n: i32)
# CHECK: add %{{.*}} : tile<256xi64>
# CHECK: const 0.5 : fp16
# CHECK: store
@triton.jit
def halve(out, x, n, BLOCK: tl.constexpr):
    """Half of every element."""
    i = tl.program_id(0).to(tl.int32) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * SCALE, mask=i < n)


@torch.no_grad()
def halved(x):
    out = torch.empty_like(x)
    halve[(triton.cdiv(x.numel(), 256), )](out, x, x.numel(), BLOCK=256)
    return out


if __name__ == "__main__":
    print(halved(torch.ones(3, device=DEVICE)), file=sys.stderr)
    os._exit(0)
