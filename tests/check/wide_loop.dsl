# RUN: fsc --emit=tile --passes=dce %s -o - | FileCheck %s
# A running offset is carried in 64 bits; the loop variable too, unless it counts by one between i32 leaves.
@kernel(grid=(1,))
def k(x: *fp32, n: i32, stride: i32):
    offset = 0
    # CHECK: for %{{.*}} = %{{.*}} to %n step %{{.*}} carry (%offset_1 = %{{.*}}) : (i64) {
    for i in range(0, n):
        # CHECK: addptr %x, %offset_1
        store(x + offset, 1.0)
        # CHECK: %[[W:.*]] = add %offset_1, %{{.*}} : i64
        # CHECK: yield %[[W]]
        offset += stride
    # CHECK: [[N:%.*]] = sext %n : i64
    # CHECK: for [[IV:%.*]] = %{{.*}} to [[N]] step
    for i in range(0, n, 1024):
        # CHECK: addptr %x, [[IV]]
        store(x + i, 2.0)
