# RUN: fsc --emit=tile --passes= --signature "*fp32:16, *fp16, i32:16, i32:1, 128, 0.5" %s -o - | FileCheck %s
# A bare Triton kernel takes its types and values from --signature, by position.
# CHECK: func @k(%x: *fp32 {divisible = 16}, %y: *fp16 {divisible = 2}, %n: i32 {divisible = 16}, %one: i32)
@triton.jit
def k(x, y, n, one, B: tl.constexpr, scale: tl.constexpr, extra: tl.constexpr = 3):
    # A parameter that is 1 is a constant to the passes.
    # CHECK: const 1 : i32
    # CHECK: arange 0, 128
    i = tl.arange(0, B)
    # CHECK: const 0.5 : fp16
    # CHECK: const 3 : tile<128xi32>
    tl.store(x + i * one, tl.load(y + i) * scale, mask=i < tl.full((B,), extra, tl.int32))
