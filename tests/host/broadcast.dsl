# A column meets a row: one element of the column for a chunk, and a chunk of the row.
# RUN: fsc %s --emit=llvm --arch=cpu --cpu=x86-64-v3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK: store:
# CHECK: [[A:%[0-9]+]] = load float,
# CHECK: [[V:%[0-9]+]] = insertelement <16 x float> poison, float [[A]], i64 0
# CHECK: [[W:%[0-9]+]] = shufflevector <16 x float> [[V]], <16 x float> poison, <16 x i32> zeroinitializer
# CHECK: [[R:%[0-9]+]] = load <16 x float>,
# CHECK: fadd <16 x float> [[W]], [[R]]
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    r = arange(0, 8)
    c = arange(0, 64)
    rows = load(x + r)
    columns = load(x + c)
    store(y + r[:, None] * 64 + c[None, :], rows[:, None] + columns[None, :])
