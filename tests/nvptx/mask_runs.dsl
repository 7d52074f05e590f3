# A bound that is a multiple of the vector: one comparison for all elements of a vector, also where elements are chosen
# by it one by one.
# RUN: fsc %s --arch=sm_90 --signature="*fp32:16, *fp32:16, i32:16" -o %t.ptx
# RUN: grep -c "setp.lt.s32" %t.ptx | FileCheck %s --check-prefix=ONE
# RUN: fsc %s --arch=sm_90 --signature="*fp32:16, *fp32:16, i32:16" -O0 -o %t0.ptx
# RUN: grep -c "setp.lt.s32" %t0.ptx | FileCheck %s --check-prefix=EACH
# RUN: fsc %s --arch=sm_90 --signature="*fp32:16, *fp32:16, i32" -o %t1.ptx
# RUN: grep -c "setp.[lg]t.s32" %t1.ptx | FileCheck %s --check-prefix=EACH
# ONE: {{^}}1{{$}}
# EACH: {{^}}4{{$}}
@kernel(num_warps=4)
def f(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 512)
    v = load(x + i, mask=i < n, other=0.0)
    store(y + i, where(i < n, v - 1.0, 0.0))
