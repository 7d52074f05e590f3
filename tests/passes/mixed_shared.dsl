# What an operand is made of is looked at once, however often it is used: 40 squares, each of which takes the last one
# twice. One way at a time there would be 2^40 ways to the load.
# RUN: timeout 60 fsc %s --arch=sm_80 --emit=simt -o - | FileCheck %s
# RUN: timeout 60 fsc %s --arch=sm_90a --emit=simt -o - | FileCheck %s
# RUN: timeout 60 fsc %s --arch=sm_90a --emit=simt -o - -T W=fp16 | FileCheck --check-prefix=ALIKE %s
# CHECK: shared_load {{.*}} : tile<64x64xi8
# CHECK-COUNT-40: fmul
# ALIKE-COUNT-40: fmul
@kernel(grid=(1,), num_warps=4)
def shared(r: *fp32, x: *const fp16, w: *const W, K: i32, W: dtype = i8):
    i, j = arange(0, 64), arange(0, 64)
    sums = zeros((64, 64), fp32)
    for start in range(0, K, 64):
        at = i[:, None] * K + (start + j)[None, :]
        mask = (start + j < K)[None, :]
        q = load(w + at, mask=mask).to(fp16)
        for _ in static_range(40):
            q = q * q
        sums = dot(q, load(x + at, mask=mask).T, sums)
    store(r + i[:, None] * 64 + j[None, :], sums)
