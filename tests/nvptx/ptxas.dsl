# ptxas takes the flagship for every arch, without spills.
# RUN: fsc %s --emit=ptx --arch=sm_75 --signature "*fp32:16, *fp32:16, i32:16, i32:16, i32, i32" -o %t.sm_75.ptx \
# RUN:   && %ptxas -arch=sm_75 -v %t.sm_75.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_80 --signature "*fp32:16, *fp32:16, i32:16, i32:16, i32, i32" -o %t.sm_80.ptx \
# RUN:   && %ptxas -arch=sm_80 -v %t.sm_80.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_86 --signature "*fp32:16, *fp32:16, i32:16, i32:16, i32, i32" -o %t.sm_86.ptx \
# RUN:   && %ptxas -arch=sm_86 -v %t.sm_86.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_89 --signature "*fp32:16, *fp32:16, i32:16, i32:16, i32, i32" -o %t.sm_89.ptx \
# RUN:   && %ptxas -arch=sm_89 -v %t.sm_89.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_90 --signature "*fp32:16, *fp32:16, i32:16, i32:16, i32, i32" -o %t.sm_90.ptx \
# RUN:   && %ptxas -arch=sm_90 -v %t.sm_90.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_100 --signature "*fp32:16, *fp32:16, i32:16, i32:16, i32, i32" -o %t.sm_100.ptx \
# RUN:   && %ptxas -arch=sm_100 -v %t.sm_100.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_120 --signature "*fp32:16, *fp32:16, i32:16, i32:16, i32, i32" -o %t.sm_120.ptx \
# RUN:   && %ptxas -arch=sm_120 -v %t.sm_120.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_121 --signature "*fp32:16, *fp32:16, i32:16, i32:16, i32, i32" -o %t.sm_121.ptx \
# RUN:   && %ptxas -arch=sm_121 -v %t.sm_121.ptx -o %t.cubin 2>&1 | FileCheck %s
# REQUIRES: ptxas
# CHECK: 0 bytes spill stores, 0 bytes spill loads
# CHECK: used 1 barriers
@kernel(grid=(n_rows,))
def softmax(y: *fp32, x: *fp32, y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 4096):
    row = program_id(0)
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + row * x_stride + cols, mask=mask, other=-inf)
    e = exp(v - max(v, axis=0))
    store(y + row * y_stride + cols, e / sum(e, axis=0), mask=mask)
