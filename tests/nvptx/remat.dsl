# 64 elements a thread of 16 bits in less than 64 registers: what was loaded stays packed,
# and most of what exp gives waits in shared memory.
# RUN: fsc %s -T T=fp16 --arch=sm_90 --emit=ptx --signature "*fp16:16, *fp16:16, i32:16, i32:16, i32, i32:16" \
# RUN:   -D "n_cols>=15361" -o %t.ptx
# RUN: FileCheck %s < %t.ptx && grep -c ex2.approx %t.ptx | FileCheck %s --check-prefix=COUNT
# RUN: %ptxas -arch=sm_90 -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
# RUN: fsc %s -T T=bf16 --arch=sm_90 --emit=ptx --signature "*bf16:16, *bf16:16, i32:16, i32:16, i32, i32:16" \
# RUN:   -D "n_cols>=15361" -o %t.b.ptx
# RUN: %ptxas -arch=sm_90 -v %t.b.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
# REQUIRES: ptxas
# CHECK: ld.global.v4.b32
# CHECK: max.f16x2
# CHECK: mov.u32 [[S:%r[0-9]+]], %smid; shr.u32 [[S]], [[S]], 31;
# CHECK: ex2.approx
# CHECK: st.shared.v2.b32
# CHECK: bar.sync
# CHECK: ld.shared.v2.b32
# COUNT: {{^}}66{{$}}
# PTXAS: 0 bytes spill stores, 0 bytes spill loads
# PTXAS: Used {{[45][0-9]|6[0-4]}} registers
@kernel(grid=(n_rows,))
def softmax(y: *T, x: *T, y_stride: i32, x_stride: i32, n_rows: i32, n_cols: i32, BLOCK: constexpr = 16384, T: dtype = fp16):
    cols = arange(0, BLOCK)
    mask = cols < n_cols
    v = load(x + program_id(0) * x_stride + cols, mask=mask, other=-inf).to(fp32)
    e = exp(v - max(v, axis=0))
    store(y + program_id(0) * y_stride + cols, e / sum(e, axis=0), mask=mask)
