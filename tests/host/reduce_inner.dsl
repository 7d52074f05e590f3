# Along the innermost axis lanes accumulate, and a tree of halves joins them.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: reduce:
# CHECK: [[SUM:%[0-9]+]] = phi <16 x float>
# CHECK: fadd <16 x float> [[SUM]],
# CHECK: fadd <8 x float>
# CHECK: fadd <4 x float>
# CHECK: fadd <2 x float>
# CHECK: fadd float
# CHECK-NOT: llvm.vector.reduce
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 128)
    store(y, sum(load(x + i), axis=0))
