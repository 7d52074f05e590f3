# RUN: fsc --emit=tile %s -o - | FileCheck %s
# RUN: fsc --emit=ptx --num-warps=4 %s -o - | FileCheck %s --check-prefix=PTX
# RUN: fsc --emit=ptx --num-warps=1 %s -o - | FileCheck %s --check-prefix=PTX
# RUN: fsc --emit=llvm --arch=cpu %s -o - | FileCheck %s --check-prefix=CPU
# debug_barrier is a barrier of the program's threads exactly where it stands; one thread has nobody to wait for.
# CPU: define {{.*}}@k
# CPU-NOT: call {{.*}}bar
@kernel(grid=(1,))
def k(x: *i32, n: i32):
    i = arange(0, 128)
    # CHECK: store
    # CHECK-NEXT: barrier block
    # CHECK-NEXT: load
    # PTX: st.global
    # PTX-NOT: ld.global
    # PTX: bar.sync 0;
    # PTX: ld.global
    store(x + i, i)
    debug_barrier()
    v = load(x + i)
    # CHECK: if %{{.*}} {
    # CHECK-NEXT: barrier block
    # CHECK-NEXT: yield
    # PTX: bra
    # PTX: bar.sync 0;
    if n > 3:
        debug_barrier()
    # CHECK: for
    # CHECK-NEXT: barrier block
    # CHECK-NEXT: yield
    # PTX: bar.sync 0;
    # PTX: add.s32
    # PTX: bra
    # PTX-NOT: bar.sync
    for j in range(0, n):
        debug_barrier()
    # PTX: st.global
    store(x + i, v + 1)
