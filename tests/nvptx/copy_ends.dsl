# How many bytes of a vector a copy brings where a row ends in it: the row's end less the vector's place, between none
# and all. Without bounds of n the difference may wrap, and each element is asked.
# RUN: fsc %s --arch=sm_90 --signature="*fp16:16, *const fp16:16, i32, i32" -D "n>=600" -D "n<=1000" -o - | FileCheck %s
# RUN: fsc %s --arch=sm_90 --signature="*fp16:16, *const fp16:16, i32, i32" -o - | FileCheck %s --check-prefix=EACH
# CHECK: max.s32 [[LEFT:%r[0-9]+]], {{.*}}, 0;
# CHECK: min.s32 [[FIRST:%r[0-9]+]], [[LEFT]], 8;
# CHECK: shl.b32 [[BYTES:%r[0-9]+]], [[FIRST]], 1;
# CHECK: cp.async.cg.shared.global [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 16, [[BYTES]];
# EACH-COUNT-8: selp
# EACH: cp.async.cg.shared.global
@kernel(grid=(132,), num_warps=4)
def f(y: *fp16, x: *const fp16, rows: i32, n: i32):
    i = arange(0, 1024)
    for row in range(program_id(0), rows, 132, num_stages=3):
        store(y + row * 1024 + i, load(x + row * 1024 + i, mask=i < n) + 1.0)
