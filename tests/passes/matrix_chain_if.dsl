# A product that reaches the next one through a branch: all warps lie along the rows, the branch gives what has the
# product's layout, and so has the maximum that the loop carries. Nothing of fp32 crosses warps.
# RUN: fsc %s --passes=fold,cse,licm,fma,dce,matrix,layout,fold2,cse2,dce2 --emit=tile --arch=sm_80 -o - \
# RUN:   --signature="*fp16:16, *fp16:16, *fp16:16, i32" | FileCheck %s
# CHECK: %x = mma {{.*}} {instr = m16n8k16.f16, warps_m = 4} : tile<64x64xfp32, #[[L:.*]]>
# CHECK: for {{.*}} : (tile<64xfp32, #[[ROW:.*]]>, tile<64x64xfp32, #[[L]]>)
# CHECK: %[[Y:.*]] = if {{.*}} : (tile<64x64xfp32, #[[L]]>) {
# CHECK: } else {
# CHECK: reduce %[[Y]] {axis = 1, combine = fmax} : tile<64xfp32, #[[ROW]]>
# CHECK-NOT: convert_layout {{.*}}xfp32
# CHECK: %[[P:.*]] = fptrunc {{.*}} : tile<64x64xfp16, #[[L]]>
# CHECK-NEXT: mma %[[P]], {{.*}} {instr = m16n8k16.f16, warps_m = 4} : tile<64x64xfp32, #[[L]]>
# CHECK-NEXT: yield
@kernel(grid=(1,))
def f(o: *fp16, q: *const fp16, v: *const fp16, n: i32):
    i = arange(0, 64)
    at = i[:, None] * 64 + i[None, :]
    a = load(q + at)
    b = load(v + at)
    sums = zeros((64, 64), fp32)
    m = full((64,), -inf, fp32)
    for start in range(0, n, 64):
        x = dot(a, b)
        if start + 64 > n:
            x = where((start + i < n)[None, :], x, -inf)
        m = maximum(m, max(x, axis=1))
        p = x * 0.5 - m[:, None]
        sums = dot(p.to(fp16), b, sums)
    store(o + at, sums.to(fp16))
