# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# fp8 has no arithmetic of its own: it is computed in fp32 and rounded once.
@kernel(grid=(1,))
def k(a: *fp8e5, b: *fp8e4nv, o: *fp16):
    i = arange(0, 16)
    # CHECK: [[S:%.*]] = fadd %{{.*}} : tile<16xfp32>
    # CHECK: %s = fptrunc [[S]] : tile<16xfp8e5>
    s = load(a + i) + load(a + i)
    # CHECK: %m = fmul %{{.*}} : tile<16xfp16>
    m = load(a + i) * load(b + i)
    store(a + i, s)
    store(o + i, m)
