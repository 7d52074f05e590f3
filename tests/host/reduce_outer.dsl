# Along an outer axis the columns of a chunk are summed row by row: lanes never meet.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: inner:
# CHECK: reduce:
# CHECK: [[SUM:%[0-9]+]] = phi <16 x float>
# CHECK: fadd <16 x float> [[SUM]],
# CHECK: add nuw i64 %{{.*}}, 64
# CHECK-NOT: fadd <8 x float>
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    r = arange(0, 8)
    c = arange(0, 64)
    store(y + c, sum(load(x + r[:, None] * 64 + c[None, :]), axis=0))
