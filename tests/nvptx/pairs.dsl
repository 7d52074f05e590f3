# Elementwise ops of 16-bit floats take two elements an instruction, and so do conversions of bytes to them: a byte is
# put below an exponent, and that float's own value is taken off.
# RUN: fsc %s -o - --arch=sm_90 -D OP=0 | FileCheck --check-prefix=ADD %s
# RUN: fsc %s -o - --arch=sm_80 -D OP=0 | FileCheck --check-prefix=ADD-80 %s
# RUN: fsc %s -o - --arch=sm_90 -T T=fp16 -D OP=0 | FileCheck --check-prefix=ADD-HALF %s
# RUN: fsc %s -o - --arch=sm_75 -D OP=0 | FileCheck --check-prefix=ADD-75 %s
# RUN: fsc %s -o - --arch=sm_90 -D OP=1 | FileCheck --check-prefix=SIGNED %s
# RUN: fsc %s -o - --arch=sm_80 -D OP=1 | FileCheck --check-prefix=SIGNED-80 %s
# RUN: fsc %s -o - --arch=sm_90 -T T=fp16 -D OP=1 | FileCheck --check-prefix=SIGNED-HALF %s
# RUN: fsc %s -o - --arch=sm_90 -T W=u8 -D OP=1 | FileCheck --check-prefix=UNSIGNED %s
# RUN: fsc %s -o - --arch=sm_90 -T W=u8 -D OP=2 | FileCheck --check-prefix=PARTS %s
@kernel(grid=(1,), num_warps=4)
def pairs(y: *T, x: *const T, w: *const W, OP: constexpr = 0, T: dtype = bf16, W: dtype = i8):
    y, x, w = multiple_of(y, 16), multiple_of(x, 16), multiple_of(w, 16)
    i = arange(0, 1024)
    if OP == 0:
        v = load(x + i) + load(y + i)
    elif OP == 1:
        v = load(w + i).to(T)
    else:
        b = load(w + arange(0, 512))
        v = interleave(b & 15, b >> 4).to(T) - 8
    store(y + i, v)
# ADD-COUNT-4: add.rn.bf16x2
# ADD-NOT: cvt
# ADD-80-COUNT-4: fma.rn.bf16x2
# ADD-80-NOT: cvt.rn.bf16
# ADD-HALF-COUNT-4: add.rn.f16x2
# sm_75 has no bf16.
# ADD-75-NOT: bf16x2
# ADD-75: add.rn.f32
# 128 + m less 128 or 256. The selector takes a byte, 0x43, the next byte and 0x43.
# SIGNED: prmt.b32 [[X:%r[0-9]+]], {{.*}}, 17219, 0x5140U;
# SIGNED-NEXT: and.b32 [[M:%r[0-9]+]], [[X]], 1132413823;
# SIGNED-NEXT: and.b32 [[S:%r[0-9]+]], [[X]], 1132479360;
# SIGNED-NEXT: sub.rn.bf16x2 {{.*}}, [[M]], [[S]];
# SIGNED-NOT: cvt.rn
# SIGNED-80: prmt.b32
# SIGNED-80-NOT: cvt.rn
# SIGNED-80: fma.rn.bf16x2
# 1024 + 128 + x less 1152.
# SIGNED-HALF: prmt.b32 [[X:%r[0-9]+]], {{.*}}, 25700, 0x5140U;
# SIGNED-HALF-NEXT: xor.b32 [[Y:%r[0-9]+]], [[X]], 8388736;
# SIGNED-HALF: add.rn.f16x2 {{.*}}, [[Y]],
# UNSIGNED: prmt.b32
# UNSIGNED-COUNT-2: {{(add|sub).rn.bf16x2}}
# UNSIGNED-NOT: cvt.rn
# Two numbers of one byte are spread by a product, and 8 is taken off with 128.
# PARTS: mul{{.*}} {{.*}}, 4097;
# PARTS-NEXT: and.b32 {{.*}}, 983055;
# PARTS-NEXT: or.b32 {{.*}}, 1124090624;
# PARTS: add.rn.bf16x2
# PARTS-NOT: sub.rn
# PARTS-NOT: cvt.rn
