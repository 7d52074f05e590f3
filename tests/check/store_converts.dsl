# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# A store converts to the element type of the pointer and spreads scalars.
@kernel(grid=(1,))
def k(h: *fp16, n: *i32, b: *bf16, v: fp32):
    i = arange(0, 16)
    # CHECK: fptrunc %v : fp16
    # CHECK: splat
    # CHECK: store
    store(h + i, v)
    # CHECK: fptosi %v : i32
    store(n, v)
    # CHECK: const 3 : i32
    store(n, 3.7)
    # CHECK: const 1.0 : bf16
    store(b, True)
