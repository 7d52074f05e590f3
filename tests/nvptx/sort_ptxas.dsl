# RUN: fsc %s -T T=fp16 --arch=sm_75 -o %t.ptx && %ptxas -arch=sm_75 %t.ptx -o %t.cubin
# RUN: fsc %s -T T=i1 --arch=sm_75 -o %t.ptx && %ptxas -arch=sm_75 %t.ptx -o %t.cubin
# RUN: fsc %s -T T=u64 --arch=sm_90 -o %t.ptx && %ptxas -arch=sm_90 %t.ptx -o %t.cubin
# RUN: fsc %s -T T=fp8e5 --arch=sm_90 -o %t.ptx && %ptxas -arch=sm_90 %t.ptx -o %t.cubin
# RUN: fsc %s -T T=bf16 --arch=sm_120 -o %t.ptx && %ptxas -arch=sm_120 %t.ptx -o %t.cubin
# RUN: bounded 2 400 fsc %s -D N=4096 --arch=sm_120 -o %t.ptx && %ptxas -arch=sm_120 %t.ptx -o %t.cubin
# REQUIRES: ptxas
# Networks of each kind of key are taken by the assembler; the largest one compiles soon.
@kernel(grid=(1,))
def k(y: *T, x: *T, N: constexpr = 256, T: dtype = fp32):
    i = arange(0, N)
    v = load(x + i)
    store(y + i, sort(v, descending=True))
    store(y + N + arange(0, 16), topk(v, 16))
