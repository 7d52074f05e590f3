# Numbers of a tile's rows stay in the warps that have the rows. What was loaded a row a lane goes to them by shuffles; in
# the lanes' layout each reduction's result would cross the warps a second time.
# RUN: fsc %s --passes=fold,cse,layout --emit=tile --arch=sm_90 -o - --num-warps=8 \
# RUN:   --signature="*bf16:16, *bf16:16, *fp32, i32:16" | FileCheck %s
# RUN: fsc %s --emit=simt --arch=sm_90 -o - --num-warps=8 --signature="*bf16:16, *bf16:16, *fp32, i32:16" \
# RUN:   | FileCheck %s --check-prefix=ONCE
# CHECK: %r = load {{.*}} : tile<8x1xfp32, #[[LANES:.*]]>
# CHECK: [[R:%.*]] = convert_layout %r : tile<8x1xfp32, #[[ROWS:.*]]>
# CHECK: [[S:%.*]] = expand_dims {{.*}} : tile<8x1xfp32, #[[ROWS]]>
# CHECK: %mean = fmul [[S]], {{.*}} : tile<8x1xfp32, #[[ROWS]]>
# CHECK: %scale = fmul %mean, [[R]] : tile<8x1xfp32, #[[ROWS]]>
# CHECK-NOT: convert_layout
# ONCE: shared_store
# ONCE-COUNT-1: barrier block
# ONCE-NOT: barrier
@kernel(grid=(1,))
def f(y: *bf16, x: *const bf16, given: *const fp32, n: i32):
    rows = arange(0, 8)[:, None]
    at = rows * n + arange(0, 1024)[None, :]
    r = load(given + rows)
    v = load(x + at).to(fp32)
    mean = sum(v, axis=1, keep_dims=True) / 1024
    scale = mean * r
    store(y + at, v * scale)
