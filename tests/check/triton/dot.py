# RUN: fsc --emit=tile --passes= %s --signature "*fp32, *bf16, 32" -o - | FileCheck %s
# What Triton ignores of a product's options is ignored in its files:
# the result of bf16 and fp32 is fp32 whatever out_dtype says.
import triton
import triton.language as tl


@triton.jit
def kernel(p, q, B: tl.constexpr):
    i = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    x, y = tl.load(p + i), tl.load(q + i)
    # CHECK: dot {{.*}} {precision = tf32} : tile<32x32xfp32>
    acc = tl.dot(x, tl.trans(x), out_dtype=tl.float16)
    # CHECK: dot {{.*}} : tile<32x32xfp32>
    acc += tl.dot(y, y, out_dtype=tl.float16, allow_tf32=None)
    tl.store(p + i, acc)
