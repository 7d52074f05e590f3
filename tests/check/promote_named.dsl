# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# A constant under a name keeps its value, but promotes as i32 or fp32; annotated constexpr it adapts like a literal.
@kernel(grid=(1,))
def k(h: *fp16):
    i = arange(0, 16)
    one = 1.0
    two: constexpr = 2.0
    # CHECK: %a = fadd %{{.*}} : tile<16xfp32>
    a = load(h + i) + one
    # CHECK: %b = fmul %{{.*}} : tile<16xfp16>
    b = load(h + i) * two
    # CHECK: fptrunc %a : tile<16xfp16>
    store(h + i, a)
    store(h + i, b)
