# Masks of rotated rows compare one number of the thread with as many ends:
# no element of a vector that may be cut has an index of its own.
# RUN: fsc %s -T T=fp16 --arch=sm_90 --emit=ptx -D "n>=8193" -D "n<=10224" -D BLOCK=16384 -o %t.ptx \
# RUN:   && FileCheck %s < %t.ptx
# RUN: grep -c "add.s32 .*%r[0-9]*, 81" %t.ptx > %t.n || true
# RUN: FileCheck %s --check-prefix=INDEX < %t.n
# CHECK: sub.s32 [[PLACE:%r[0-9]+]], %r{{[0-9]+}}, %r{{[0-9]+}};
# CHECK: add.s32 [[END:%r[0-9]+]], %r{{[0-9]+}}, -8199;
# CHECK: setp.{{lt|ge}}.s32 %p{{[0-9]+}}, [[PLACE]], [[END]];
# INDEX: {{^}}0{{$}}
@kernel(num_warps=8)
def f(y: *T, x: *T, stride: i32, n: i32, BLOCK: constexpr = 1024, T: dtype = fp16):
    at = program_id(0) * stride
    i = arange(0, BLOCK)
    store(y + at + i, load(x + at + i, mask=i < n) + 1, mask=i < n)
