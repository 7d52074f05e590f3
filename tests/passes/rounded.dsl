# Quotients by a row's divisor, of which few bits are left, are made without a division each. What is rounded to an
# integer is so by one conversion.
# RUN: fsc %s --kernel=quotients -T R=i8 --arch=sm_90 --verify-each --emit=simt -o - | FileCheck %s --check-prefix=SHORT
# RUN: fsc %s --kernel=quotients -T R=i32 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=SHORT
# RUN: fsc %s --kernel=quotients -T R=fp8e4nv --arch=sm_80 --emit=simt -o - | FileCheck %s --check-prefix=SHORT
# RUN: fsc %s --kernel=quotients -T R=fp8e5 --arch=emu --verify-each --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=SHORT
# RUN: fsc %s --kernel=quotients -T R=fp16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=SHORT
# RUN: fsc %s --kernel=quotients -T R=bf16 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=EXACT
# RUN: fsc %s --kernel=quotients -T R=fp32 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=EXACT
# RUN: fsc %s --kernel=quotients -T R=fp16 -D ROUND=rtz --arch=sm_90 --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=EXACT
# RUN: fsc %s --kernel=quotients -T R=i8 -D OWN=True --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=EXACT
# RUN: fsc %s --kernel=quotients -T R=i8 -D KEPT=True --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=EXACT
# RUN: fsc %s --kernel=quotients -T R=i8 --passes=-rounded --arch=sm_90 --emit=simt -o - \
# RUN:   | FileCheck %s --check-prefix=EXACT
# RUN: fsc %s --kernel=quotients -T R=i8 -O0 --arch=sm_90 --emit=simt -o - | FileCheck %s --check-prefix=EXACT
# RUN: fsc %s --kernel=blocks --arch=sm_90 --verify-each --emit=simt -o - | FileCheck %s --check-prefix=BLOCKS
# RUN: fsc %s --kernel=integers --arch=sm_90 --verify-each --emit=simt -o - | FileCheck %s --check-prefix=INTEGERS
# RUN: fsc %s --kernel=integers --arch=sm_90 -o - | FileCheck %s --check-prefix=PTX
# RUN: fsc %s --kernel=quotients -T R=fp8e4nv --arch=sm_90 -o - | FileCheck %s --check-prefix=E4M3
# RUN: fsc %s --kernel=quotients -T R=fp8e4nv --arch=sm_89 -o - | FileCheck %s --check-prefixes=E4M3,VERSION
# VERSION: .version 8.1
# SHORT: fdiv_rn %{{.*}} : fp32
# SHORT: %[[X:.*]] = fmul %{{.*}} : tile
# SHORT: %[[Q:.*]] = fmul %[[X]], %{{.*}} : tile
# SHORT: %[[E:.*]] = fma %{{.*}}, %[[Q]], %[[X]] : tile
# SHORT: fma %[[E]], %{{.*}}, %[[Q]] : tile
# SHORT-NOT: fdiv_rn %{{.*}} : tile
# EXACT: fdiv_rn %{{.*}} : tile
# E4M3-COUNT-8: cvt.rn.satfinite.e4m3x2.f32
# E4M3-NOT: cvt.rn.satfinite.e4m3x2.f32
@kernel
def quotients(y: *R, z: *fp32, x: *fp32, d: *fp32, OWN: constexpr = False, KEPT: constexpr = False,
              ROUND: constexpr = "rtne", R: dtype = i8):
    i = arange(0, 512)
    by = load(d + i) if OWN else load(d)
    q = div_rn(load(x + i), by)
    if KEPT:
        store(z + i, q)
    if R == fp16 and ROUND == "rtz":
        store(y + i, q.to(fp16, fp_downcast_rounding="rtz"))
    else:
        store(y + i, clamp(q, -100.0, 100.0))


# The divisors are a tile of their own.
# BLOCKS: fdiv_rn %{{.*}} : tile<4xfp32
# BLOCKS-NOT: fdiv_rn
@kernel
def blocks(y: *i8, x: *fp32, d: *fp32):
    i = arange(0, 4)[:, None] * 256 + arange(0, 256)[None, :]
    store(y + i, round(div_rn(load(x + i), load(d + arange(0, 4))[:, None])).to(i8))


# INTEGERS: %[[LOW:.*]] = fmax %v, %
# INTEGERS: %[[BOTH:.*]] = fmin %[[LOW]], %
# INTEGERS: %[[WIDE:.*]] = fptosi_rn %[[BOTH]] : tile<256xi32
# INTEGERS: trunc %[[WIDE]]
# INTEGERS: fptosi_rn %v : tile<256xi16
# INTEGERS: fptosi %{{.*}} : tile<256xi32
# PTX-NOT: setp.nan
# PTX: cvt.rni.s32.f32
# PTX: cvt.rzi.s32.f32
@kernel
def integers(y: *i8, z: *i16, w: *i32, x: *fp32):
    i = arange(0, 256)
    v = load(x + i)
    store(y + i, clamp(round(v), -127.0, 127.0).to(i8))
    store(z + i, round(v).to(i16))
    store(w + i, clamp(round(v), -126.5, 127.0).to(i32)) # the bound is none of the integers
