# RUN: fsc %s --emit=simt --num-warps 4 -o - | FileCheck %s
# A scan over four warps: runs within the warps, their totals through shared memory with one barrier,
# and the runs joined.
# CHECK: scan_warp
# CHECK-COUNT-2: shared_store
# CHECK: barrier block
# CHECK-COUNT-2: shared_load
# CHECK-NOT: barrier
# CHECK: scan {{.*}}exclusive
# CHECK: convert_layout
# CHECK: scan_apply
# CHECK-NOT: barrier
# CHECK: return
@jit
def affine(a, b, c, d):
    return a * c, b * c + d

@kernel(grid=(1,))
def k(y: *i32, x: *i32):
    i = arange(0, 1024)
    v = load(x + i)
    a, b = associative_scan((v, v), 0, affine)
    store(y + i, a + b)
