# RUN: fsc --emit=tile %s -o - | FileCheck %s
# Keys are 32-bit ints, or as wide as the elements; each step is a flip, a maximum, a minimum and a choice.
@kernel(grid=(1,))
def k(y: *fp16, z: *u64, x: *fp16, w: *u64):
    i = arange(0, 4)
    # CHECK: %[[BITS:.*]] = bitcast %{{.*}} : tile<1x4x1xi16>
    # CHECK: sext %[[BITS]] : tile<1x4x1xi32>
    # CHECK: flip %{{.*}} {mask = 1} : tile<{{.*}}xi32>
    # CHECK: smax
    # CHECK: smin
    # CHECK: select
    # CHECK: flip %{{.*}} {mask = 3}
    # CHECK: flip %{{.*}} {mask = 1}
    # CHECK-NOT: flip
    # CHECK: trunc {{.*}}xi16>
    store(y + i, load(x + i).sort())
    # CHECK: flip %{{.*}} {mask = 1} : tile<{{.*}}xi64>
    # CHECK: umax
    # CHECK: umin
    # CHECK: reduce %{{.*}} {axis = 1, combine = umin}
    # CHECK: flip %{{.*}} {mask = 1}
    # CHECK-NOT: flip
    # CHECK: store
    store(z + arange(0, 2), topk(load(w + i), 2))
