# Rows whose alignment differs from the rotation's: a vector of 16-bit elements comes as the words that it lies across,
# the fifth only where it begins within a word, and they are put together. Elements at the row's ends come one by one.
# Of 32 bits each element has its own load.
# RUN: fsc %s -T T=fp16 --arch=sm_90 --emit=ptx -D "n>=8193" -D "n<=10224" -D BLOCK=16384 -o %t.ptx \
# RUN:   && FileCheck %s < %t.ptx
# RUN: grep -c "prmt.b32.f4e" %t.ptx | FileCheck %s --check-prefix=COUNT
# RUN: fsc %s -T T=fp32 --arch=sm_90 --emit=ptx -D "n>=8193" -D "n<=10224" -D BLOCK=16384 -o - \
# RUN:   | FileCheck %s --check-prefix=WIDE
# RUN: fsc %s -T T=fp16 --arch=sm_90 --emit=ptx -D "n>=8193" -D "n<=10224" -D BLOCK=16384 \
# RUN:   --signature "*fp16:16, *fp16:16, *fp16:16, i32:16, i32" -o - | FileCheck %s --check-prefix=WIDE
# CHECK: smid
# CHECK: ld.global.b32 {{.*}}, [[[W:%rd[0-9]+]]+4096];
# CHECK: ld.global.b32 {{.*}}, [[[W]]+4100];
# CHECK: ld.global.b32 {{.*}}, [[[W]]+4104];
# CHECK: ld.global.b32 {{.*}}, [[[W]]+4108];
# CHECK: @%p{{[0-9]+}} ld.global.b32 {{.*}}, [[[W]]+4112];
# CHECK: prmt.b32.f4e
# COUNT: {{^}}40{{$}}
# WIDE-NOT: prmt.b32.f4e
@kernel(num_warps=8)
def f(y: *T, x: *T, w: *T, stride: i32, n: i32, BLOCK: constexpr = 1024, T: dtype = fp16):
    at = program_id(0) * stride
    i = arange(0, BLOCK)
    v = load(x + at + i, mask=i < n) * load(w + i, mask=i < n)
    store(y + at + i, v, mask=i < n)
