# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# fp64 > fp32 > fp16 and bf16; fp16 with bf16 gives fp32.
@kernel(grid=(1,))
def k(h: *fp16, b: *bf16, f: *fp32, d: *fp64):
    i = arange(0, 16)
    # CHECK: %hb = fadd %{{.*}} : tile<16xfp32>
    hb = load(h + i) + load(b + i)
    # CHECK: %hf = fadd %{{.*}} : tile<16xfp32>
    hf = load(h + i) + load(f + i)
    # CHECK: %fd = fadd %{{.*}} : tile<16xfp64>
    fd = load(f + i) + load(d + i)
    # CHECK: %bb = fadd %{{.*}} : tile<16xbf16>
    bb = load(b + i) + load(b + i)
    store(d + i, hb + hf + fd + bb)
