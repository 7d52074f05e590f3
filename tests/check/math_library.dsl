# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Rounding to an integer, exact division and roots, powers, and what libdevice means by round.
@kernel(grid=(1,))
def k(x: *fp32, h: *fp16, u: *u32, w: *i64):
    v = load(x)
    # CHECK: = floor %v : fp32
    # CHECK: = ceil %v : fp32
    # CHECK: = ftrunc %v : fp32
    # CHECK: = rint %v : fp32
    store(x, floor(v) + ceil(v) + trunc(v) + round(v))
    # CHECK: = ftrunc %v : fp32
    # CHECK-NOT: rint
    # CHECK: store
    store(x, tl.extra.cuda.libdevice.round(v))
    # CHECK: = sqrt_rn %v : fp32
    # CHECK: = fdiv_rn %v
    # CHECK: = fdiv_rn %v
    # CHECK: = fdiv %v
    store(x, tl.sqrt_rn(v) + tl.div_rn(v, 3.0) + fdiv(v, 3.0, ieee_rounding=True) + fdiv(v, 3.0))
    a = load(h)
    # CHECK: %[[A:.*]] = fpext %{{.*}} : fp32
    # CHECK: %[[B:.*]] = fmul %[[A]], %[[A]] : fp32
    # CHECK: %[[C:.*]] = fmul %[[A]], %[[B]] : fp32
    # CHECK: fptrunc %[[C]] : fp16
    store(h, a ** 3)
    # CHECK: const 2.0 : fp32
    # CHECK: const 1024.0 : fp32
    store(x, pow(4.0, 0.5))
    store(x, pow(2, 10))
    # CHECK: = umulhi %{{.*}} : i32
    store(u, umulhi(load(u), 7))
    # CHECK: = umulhi %{{.*}} : i64
    store(w, umulhi(load(w), load(u)))
    # CHECK: = fcmp ne %v, %v : i1
    store(u, isnan(v).to(u32))
    # On constants they are computed here: 1 - cos 0, and NaN is one.
    # CHECK: const 0.0 : fp32
    store(x, 1.0 - cos(0.0))
    # CHECK: const 1.0 : fp32
    store(x, isnan(nan).to(fp32))
    # CHECK: const 1.5 : fp32
    store(x, fmod(7.5, 2.0))
    # CHECK: const -2.0 : fp32
    store(x, copysign(cbrt(8.0), -1.0))
    # CHECK: const 1.0 : fp32
    store(x, isfinited(log10(atan2(0.0, 1.0) + 10.0)).to(fp32))
    # Of floats as they are: nothing is widened.
    # CHECK: bitcast %{{.*}} : i16
    # CHECK-NOT: fpext
    store(h, nextafter(a, a))
    # CHECK: const 0.375 : fp32
    store(x, ldexp(rcbrt(8.0), -1) + 0.125)
    # CHECK: const -0.5 : fp32
    store(x, sinpi(1.5) + 0.5 * logb(2.0) * cospi(4.0))
