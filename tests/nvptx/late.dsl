# Weights behind a reduction: each vector of theirs is loaded right before the store that it is for, and no register
# holds all of them. Of rows that are rotated they come as words, four vectors ahead. A load that others than stores
# need stays where it is.
# RUN: fsc %s -T T=fp32 --arch=sm_90 --emit=ptx -D "n>=8193" -D "n<=10224" -D BLOCK=16384 -o %t.ptx \
# RUN:   && FileCheck %s < %t.ptx
# RUN: %ptxas -arch=sm_90 -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
# RUN: fsc %s -T T=bf16 --arch=sm_90 --emit=ptx -D "n>=8193" -D "n<=10224" -D BLOCK=16384 -o %t.b.ptx
# RUN: %ptxas -arch=sm_90 -v %t.b.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
# RUN: fsc %s -T T=fp32 --arch=sm_90 --emit=ptx --signature "*fp32:16, *fp32:16, *fp32:16, i32:16, i32:16" \
# RUN:   -D BLOCK=16384 -o - | FileCheck %s --check-prefix=EVEN
# RUN: sed 's/^    store(y/    v += sum(g, axis=0)\n&/' %s > %t.dsl
# RUN: fsc %t.dsl -T T=fp32 --arch=sm_90 --emit=ptx --signature "*fp32:16, *fp32:16, *fp32:16, i32:16, i32:16" \
# RUN:   -D BLOCK=16384 -o - | FileCheck %s --check-prefix=EARLY
# REQUIRES: ptxas
# CHECK: bar.sync
# CHECK: ld.global.b32 {{.*}}, [[[W:%rd[0-9]+]]+4096];
# CHECK: ld.global.b32 {{.*}}, [[[W]]+4108];
# CHECK: ld.global.b32 {{.*}}, [[[W]]+16384];
# CHECK: st.global.v4.b32 [[[Y:%rd[0-9]+]]+4096]
# CHECK: ld.global.b32 {{.*}}, [[[W]]+20480];
# CHECK: st.global.v4.b32 [[[Y]]+8192]
# PTXAS: 0 bytes spill stores, 0 bytes spill loads
# PTXAS: Used {{[4-6][0-9]|7[0-2]}} registers
# EVEN: bar.sync
# EVEN-COUNT-4: ld.global.v4.b32
# EVEN: st.global.v4.b32
# EVEN: ld.global.v4.b32
# EVEN: st.global.v4.b32
# EARLY: bar.sync
# EARLY-COUNT-16: ld.global.v4.b32
# EARLY-NOT: ld.global.v4.b32
# EARLY: bar.sync
# EARLY-NOT: ld.global.v4.b32
# EARLY: st.global.v4.b32
@kernel(num_warps=8)
def f(y: *T, x: *T, w: *const T, stride: i32, n: i32, BLOCK: constexpr = 1024, T: dtype = fp16):
    at = program_id(0) * stride
    i = arange(0, BLOCK)
    v = load(x + at + i, mask=i < n).to(fp32)
    v -= sum(v, axis=0) / n
    g = load(w + i, mask=i < n).to(fp32)
    store(y + at + i, v * g, mask=i < n)
