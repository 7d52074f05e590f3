# What changes the places of elements, their warps or their blocks leaves functions with products alone: no row is
# rotated, walked in chunks, spread over blocks, or given to less than a warp.
# RUN: fsc %s --kernel rows --emit=simt --arch=sm_90 -o - -D M=1 -D N=2048 | FileCheck %s
# RUN: fsc %s --kernel rows --emit=simt --arch=sm_90 -o - -D M=16 -D N=16 | FileCheck %s
# RUN: fsc %s --kernel rows --emit=ptx --arch=sm_90 --print-after=chunk -o /dev/null -D M=1 -D N=8192 --num-warps=1 \
# RUN:   2>&1 | FileCheck %s --check-prefix=CHUNK
# CHECK: func @rows{{.*}} threads {{32|64|128|256|512}}
# CHECK-NOT: cluster
# CHECK-NOT: arange_
# CHECK: dot
# CHUNK: IR Dump After chunk
# CHUNK-NOT: for
# CHUNK: dot {{.*}} : tile<1x8192xfp32>
# CHUNK-NOT: for
@kernel(grid=(1,))
def rows(y: *fp32, x: *fp32, n: i32, M: constexpr = 16, N: constexpr = 16):
    j = arange(0, N)
    v = load(x + n + j)
    w = load(x + arange(0, M))
    d = dot(w[:, None], v[None, :])
    store(y + arange(0, M)[:, None] * N + j[None, :], d)
