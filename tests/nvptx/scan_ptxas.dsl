# ptxas takes scans and reductions by a function for every arch, without spills.
# RUN: fsc %s --emit=ptx --arch=sm_75 -o %t.sm_75.ptx && %ptxas -arch=sm_75 -v %t.sm_75.ptx -o %t.cubin 2>&1 \
# RUN:   | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_90 -o %t.sm_90.ptx && %ptxas -arch=sm_90 -v %t.sm_90.ptx -o %t.cubin 2>&1 \
# RUN:   | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_120 -o %t.sm_120.ptx && %ptxas -arch=sm_120 -v %t.sm_120.ptx -o %t.cubin 2>&1 \
# RUN:   | FileCheck %s
# REQUIRES: ptxas
# CHECK: 0 bytes spill stores, 0 bytes spill loads
# CHECK: used 1 barriers
@kernel(grid=(1,))
def k(y: *fp32, r: *i32, h: *fp64, x: *fp32):
    i = arange(0, 1024)
    v = load(x + i)
    store(y + i, cumsum(v, 0))
    store(r, argmax(v, 0))
    store(h + i, cumsum(v.to(bf16).to(fp64), 0, reverse=True))
