# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# A product that becomes an offset is computed in 64 bits; the same product stored stays an i32.
@kernel(grid=(1,))
def k(x: *fp32, o: *i32, stride: i32):
    row = program_id(0)
    # CHECK: %offset = mul %row, %stride : i32
    # CHECK: [[R:%.*]] = sext %row : i64
    # CHECK: [[S:%.*]] = sext %stride : i64
    # CHECK: [[W:%.*]] = mul [[R]], [[S]] : i64
    offset = row * stride
    # CHECK: addptr %x, [[W]] : *fp32
    store(x + offset, 1.0)
    # CHECK: store %o, %offset
    store(o, offset)
