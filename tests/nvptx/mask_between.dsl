# A mask that lets through what lies between two bounds: whether it cuts a vector, and whether it leaves anything of it,
# is said by the vector's first and last element. The others are asked only where it is cut.
# RUN: fsc %s --arch=sm_90 --signature="*fp16:16, i32, i32, i32" -o %t.ptx
# RUN: grep -c "or.pred" %t.ptx | FileCheck %s --check-prefix=OR
# RUN: FileCheck %s < %t.ptx
# OR: {{^}}3{{$}}
# CHECK: @%p{{[0-9]+}} st.global.v4.b32
# CHECK: bra
# CHECK-COUNT-8: @%p{{[0-9]+}} st.global.b16
@kernel(grid=(1,), num_warps=4)
def f(y: *fp16, first: i32, end: i32, rows: i32):
    i = arange(0, 1024)[None, :]
    row = program_id(0) + arange(0, 1)[:, None]
    store(y + row * 1024 + i, (i * 3).to(fp16), mask=(row < rows) & (i < end) & (i >= first))
