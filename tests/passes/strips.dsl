# What is made of a large product goes to memory in strips of its rows: four of 32 rows, each of a part of the sums, a
# load of its own and its own addresses. The second strip's load stands behind the first store, later ones a strip
# ahead. What a store of other elements may change stays in front of all stores. What is only rounded stays whole.
# RUN: fsc %s --kernel f --passes=fold,cse,licm,fma,dce,matrix,layout,fold2,cse2,dce2,strips --emit=tile --arch=sm_80 \
# RUN:   -o - --signature="*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, False" | FileCheck %s
# RUN: fsc %s --kernel f --passes=fold,cse,licm,fma,dce,matrix,layout,fold2,cse2,dce2,strips --emit=tile --arch=sm_80 \
# RUN:   -o - --signature="*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, True" | FileCheck --check-prefix=MEET %s
# RUN: fsc %s --kernel plain --passes=fold,cse,licm,fma,dce,matrix,layout,fold2,cse2,dce2,strips --emit=tile \
# RUN:   --arch=sm_80 -o - --signature="*fp16:16, *fp16:16, *fp16:16" | FileCheck --check-prefix=PLAIN %s
# RUN: fsc %s --kernel f --arch=sm_80 -o - --signature="*fp16:16, *fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, False" \
# RUN:   --emit=simt | FileCheck --check-prefix=NEEDED %s
# CHECK: %d = mma
# CHECK-NOT: fmul {{.*}}<128x128x
# CHECK: load {{.*}} : tile<32x128xfp16
# CHECK: const 0 : i32
# CHECK: extract_slice %d, %{{.*}} {axis = 0} : tile<32x128xfp32
# CHECK: store
# CHECK: load {{.*}} : tile<32x128xfp16
# CHECK: load {{.*}} : tile<32x128xfp16
# CHECK: const 32 : i32
# CHECK: extract_slice %d, %{{.*}} {axis = 0} : tile<32x128xfp32
# CHECK: store
# CHECK: load {{.*}} : tile<32x128xfp16
# CHECK: const 64 : i32
# CHECK: extract_slice %d, %{{.*}} {axis = 0} : tile<32x128xfp32
# CHECK: store
# CHECK-NOT: load
# CHECK: const 96 : i32
# CHECK: extract_slice %d, %{{.*}} {axis = 0} : tile<32x128xfp32
# CHECK: store
# CHECK-NEXT: return
# MEET: load {{.*}} : tile<128x128xfp16
# MEET-NOT: load
# MEET-COUNT-4: store
# PLAIN: %[[X:.*]] = fptrunc %d : tile<128x128xfp16
# PLAIN-NOT: extract_slice
# PLAIN-COUNT-1: store
# NEEDED: extract_slice %d
# NEEDED: fmul {{.*}} {when = needed} : tile<32x128xfp32
# NEEDED: fptrunc {{.*}} {when = needed}
@kernel(grid=(1,))
def f(o: *fp16, x: *const fp16, y: *const fp16, r: *fp16, s: i32, t: i32, SELF: constexpr = False):
    i, j, k = arange(0, 128)[:, None], arange(0, 128)[None, :], arange(0, 16)
    d = dot(load(x + i * 16 + k[None, :]), load(y + k[:, None] * 128 + j))
    e = d * 0.5
    e = e * e + load((o if SELF else r) + i * t + j)
    store(o + i * s + j, e.to(fp16))

@kernel(grid=(1,))
def plain(o: *fp16, x: *const fp16, y: *const fp16):
    i, j, k = arange(0, 128)[:, None], arange(0, 128)[None, :], arange(0, 16)
    d = dot(load(x + i * 16 + k[None, :]), load(y + k[:, None] * 128 + j))
    store(o + i * 128 + j, d.to(fp16))
