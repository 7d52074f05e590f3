# Before the target step nothing in the module knows PTX.
# RUN: fsc %s --emit=threads --arch=sm_80 --num-warps 4 -o - | FileCheck %s
# CHECK-NOT: asm
# CHECK-NOT: addrspace
# CHECK-NOT: llvm.nvvm
# CHECK: define void @k(i64 %0, i64 %1)
# CHECK: call i32 @fsc.tid()
# CHECK: call {{.*}} @fsc.load.global.
# CHECK: call i32 @fsc.shfl.bfly(
# CHECK: call void @fsc.store.shared.v1.b32(
# CHECK: call void @fsc.barrier.block(
# CHECK: call i32 @fsc.load.shared.v1.b32(
# CHECK: call void @fsc.store.global.v1.b32(
# CHECK-NOT: asm
# CHECK-NOT: addrspace
# CHECK-NOT: llvm.nvvm
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    store(y, sum(load(x + arange(0, 1024)), axis=0))
