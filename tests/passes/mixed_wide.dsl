# A narrow mask is no reason to make an operand in registers of what has as many bits as it: that is made as it is
# loaded, and stored as it is multiplied. Nor are exponentials, which each warp would make again.
# RUN: fsc %s --arch=sm_80 --emit=simt -o - --verify-each | FileCheck %s
# RUN: fsc %s --arch=sm_80 --emit=simt -o - --verify-each -D EXP=True | FileCheck %s
# CHECK: = for
# CHECK: shared_store %{{[a-z0-9_]+}} {buffer = [[B:b[0-9]]]}
# CHECK: shared_slice {{.*}} {buffer = [[B]], {{.*}} : tile<16x16xfp16
@kernel(grid=(1,), num_warps=8)
def wide(r: *fp32, x: *const fp16, w: *const fp16, seen: *const i8, K: i32, EXP: constexpr = False):
    i, n, j = arange(0, 16), arange(0, 128), arange(0, 64)
    sums = zeros((16, 128), fp32)
    for start in range(0, K, 64):
        mask = (start + j < K)[None, :]
        at = i[:, None] * K + (start + j)[None, :]
        some = load(seen + at, mask=mask)
        q = exp(some.to(fp32)).to(fp16) if EXP else where(some != 0, load(w + at, mask=mask) + 1.0, 0.0)
        sums = dot(q.to(fp16), load(x + n[:, None] * K + (start + j)[None, :], mask=mask).T, sums)
    store(r + i[:, None] * 128 + n[None, :], sums)
