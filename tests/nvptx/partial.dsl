# Of a rotated row's vectors two are cut, where it begins and where it ends, whichever of a thread's the end is in: each
# moves in words of four bytes that hold two elements, and the element left over. Rows of 32 bits have no such element.
# RUN: fsc %s -T T=fp16 --arch=sm_90 --emit=ptx -D "n>=8161" -D "n<=10224" -D BLOCK=16384 -o %t.ptx \
# RUN:   && FileCheck %s < %t.ptx
# RUN: grep -c "ld.global.b16" %t.ptx | FileCheck %s --check-prefix=TWO
# RUN: grep -c "st.global.b16" %t.ptx | FileCheck %s --check-prefix=TWO
# RUN: grep -c "ld.global.b32" %t.ptx | FileCheck %s --check-prefix=SIX
# RUN: grep -c "st.global.b32" %t.ptx | FileCheck %s --check-prefix=SIX
# RUN: fsc %s -T T=fp32 --arch=sm_90 --emit=ptx -D "n>=8161" -D "n<=10224" -D BLOCK=16384 -o %t.wide \
# RUN:   && grep -c "ld.global.b32" %t.wide | FileCheck %s --check-prefix=SIX
# TWO: {{^}}2{{$}}
# SIX: {{^}}6{{$}}
# CHECK-COUNT-5: ld.global.v4.b32
# CHECK: bra
# CHECK: ld.global.b16
# CHECK-COUNT-5: st.global.v4.b32
# CHECK: st.global.b16
@kernel(num_warps=8)
def f(x: *T, n: i32, BLOCK: constexpr = 1024, T: dtype = fp16):
    at = program_id(0) * n
    i = arange(0, BLOCK)
    store(x + at + i, load(x + at + i, mask=i < n, other=1) + 1, mask=i < n)
