# Correctly rounded square root and division, with fast math too; rounding to integers; the high half of a product.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_80 --fast-math -o - | FileCheck %s
# CHECK-DAG: sqrt.rn.f32
# CHECK-DAG: div.rn.f32
# CHECK-DAG: div.rn.f64
# CHECK-DAG: cvt.rmi.f32.f32
# CHECK-DAG: cvt.rpi.f32.f32
# CHECK-DAG: cvt.rzi.f32.f32
# CHECK-DAG: cvt.rni.f32.f32
# CHECK-DAG: cvt.rni.f64.f64
# CHECK-DAG: mul.hi.u32
# CHECK-DAG: mul.hi.u64
# CHECK-NOT: approx
# CHECK-NOT: div.full
@kernel(grid=(1,))
def k(x: *fp32, d: *fp64, u: *u32, w: *i64):
    i = arange(0, 128)
    v = load(x + i)
    e = load(d + i)
    store(x + i, sqrt_rn(v) + div_rn(v, 3.5) + floor(v) + ceil(v) + trunc(v) + round(v))
    store(d + i, div_rn(e, v) + round(e))
    a = load(u + i)
    b = load(w + i)
    store(u + i, umulhi(a, 12345))
    store(w + i, umulhi(b, b))
