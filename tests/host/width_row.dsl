# A chunk never crosses a row: rows of 4 are walked 4 by 4.
# RUN: fsc %s --emit=llvm --arch=cpu -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: load <4 x float>
# CHECK: add nuw i64 %{{.*}}, 4
# CHECK: store <4 x float>
# CHECK-NOT: <16 x
# CHECK-NOT: <8 x
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    r = arange(0, 32)
    c = arange(0, 4)
    at = r[:, None] * 100 + c[None, :]
    store(y + at, load(x + at) * 2.0)
