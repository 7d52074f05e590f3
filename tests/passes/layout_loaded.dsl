# A few numbers that were loaded, and what plain ops make of them, are loaded once more where another layout wants them:
# no barrier, no shuffle. What may change meanwhile is moved, as is what more than plain ops made.
# RUN: fsc %s --kernel=scaled --passes=fold,cse,matrix,layout --emit=tile --arch=sm_80 -o - \
# RUN:   --signature="*fp32:16, *fp16:16, *fp32:16, fp32" | FileCheck %s
# RUN: fsc %s --kernel=scaled --emit=simt --arch=sm_80 -o - --signature="*fp32:16, *fp16:16, *fp32:16, fp32" \
# RUN:   | FileCheck %s --check-prefix=WHOLE
# RUN: fsc %s --kernel=moved --passes=fold,cse,matrix,layout --emit=tile --arch=sm_80 -o - \
# RUN:   --signature="*fp32:16, *fp16:16, *fp32:16, fp32" | FileCheck %s --check-prefix=MOVED
# CHECK: [[L:%.*]] = load {{.*}} : tile<64xfp32, #[[ROWS:.*]]>
# CHECK: [[S:%.*]] = fmul [[L]], {{.*}} : tile<64xfp32, #[[ROWS]]>
# CHECK-NOT: convert_layout {{.*}}64xfp32
# CHECK: expand_dims [[S]] {axis = 1}
# WHOLE: scaled
# WHOLE-NOT: {{convert_layout|shared_load .*tile<64xfp32,}}
# WHOLE: return
# MOVED-COUNT-2: convert_layout {{.*}} : tile<64xfp32,
@kernel(grid=(1,), num_warps=8)
def scaled(y: *fp32, x: *const fp16, s: *const fp32, by: fp32):
    i = arange(0, 64)
    a = load(x + i[:, None] * 64 + i[None, :])
    scale = load(s + i) * by
    store(y + i[:, None] * 64 + i[None, :], dot(a, a) * scale[:, None])

@kernel(grid=(1,), num_warps=4)
def moved(y: *fp32, x: *const fp16, s: *fp32, by: fp32):
    i = arange(0, 64)
    a = load(x + i[:, None] * 64 + i[None, :])
    first, second = load(s + i, volatile=True), exp(load(s + 64 + i))
    store(y + i[:, None] * 64 + i[None, :], dot(a, a) * first[:, None] * second[:, None])
