# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Small types widen: sums of small integers are i32 or u32, max and min of types under 32 bits fp32 or i32.
@kernel(grid=(1,))
def k(a: *i8, u: *u16, h: *fp16, x: *fp32, o: *i32):
    i = arange(0, 16)
    # CHECK: sext %{{.*}} : tile<16xi32>
    # CHECK: reduce %{{.*}} {axis = 0, combine = add} : i32
    store(o, sum(load(a + i)))
    # CHECK: zext %{{.*}} : tile<16xi32>
    # CHECK: reduce %{{.*}} {axis = 0, combine = add} : i32
    # CHECK: zext %{{.*}} : i64
    store(o + sum(load(u + i)), 1)
    # CHECK: zext %{{.*}} : tile<16xi32>
    # CHECK: reduce %{{.*}} {axis = 0, combine = add} : i32
    store(o, sum(i < 7))
    # CHECK: fpext %{{.*}} : tile<16xfp32>
    # CHECK: %[[S:.*]] = reduce %{{.*}} {axis = 0, combine = fadd} : fp32
    # CHECK: fptrunc %[[S]] : fp16
    store(h, sum(load(h + i)))
    # CHECK: %[[T:.*]] = reduce %{{.*}} {axis = 0, combine = fadd} : fp32
    # CHECK: store %x, %[[T]]
    store(x, sum(load(h + i), dtype=fp32))
    # CHECK: %[[M:.*]] = reduce %{{.*}} {axis = 0, combine = fmax} : fp32
    # CHECK: store %x, %[[M]]
    store(x, max(load(h + i), axis=0))
    # CHECK: reduce %{{.*}} {axis = 0, combine = smin} : i32
    store(o, min(load(a + i), axis=0))
