# Loads and a sum of one shape are one loop; what only it needs has no scratch. The store waits for the sum: another loop.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: reduce:
# CHECK: load <16 x float>
# CHECK: load <16 x float>
# CHECK-NOT: store
# CHECK: call <16 x float> @llvm.fma.v16f32(
# CHECK-NOT: store
# CHECK: br i1 {{.*}}, label %reduce
# CHECK: store:
# CHECK-NOT: load
# CHECK: ret void
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, z: *fp32):
    i = arange(0, 256)
    v = load(x + i)
    w = load(z + i)
    store(y + i, full((256,), sum(v * w + 1.0, axis=0), fp32))
