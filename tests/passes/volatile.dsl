# RUN: fsc --emit=simt --arch=sm_90 --num-warps=2 %s -o - | FileCheck %s
# What a volatile load gives is one value for the program, though memory changes between two threads' loads: conditions
# stay uniform, and with them the barriers of a loop.
@kernel(grid=(1,))
def spin(flag: *i32, y: *i32):
    # CHECK: while carry
    # CHECK: do
    # CHECK: %[[V:.*]] = load %flag {align = 4, volatile} : i32
    # CHECK: shared_store %[[V]]
    # CHECK: %[[S:.*]] = shared_load {buffer = {{.*}}} : i32
    # CHECK: yield %[[S]]
    seen = 0
    while seen == 0:
        seen = load(flag, volatile=True)
    # CHECK: load %{{.*}} {align = 4, volatile} : tile<8xi32
    # CHECK-NEXT: shared_store
    store(y + arange(0, 8), load(y + arange(0, 8), volatile=True) + seen)
    # of each of 64 elements there is one thread: nothing to tell the others
    # CHECK: load %{{.*}}volatile} : tile<64xi32
    # CHECK-NOT: shared_store
    # CHECK: store
    store(y + arange(0, 64), load(y + arange(0, 64), volatile=True))
