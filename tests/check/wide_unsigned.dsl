# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Unsigned offsets widen with zeros; a difference of them may be negative, as in mathematics.
@kernel(grid=(1,))
def k(x: *fp32, a: u32, b: u32):
    # CHECK: [[A:%.*]] = zext %a : i64
    # CHECK: addptr %x, [[A]]
    store(x + a, 1.0)
    # CHECK: [[P:%.*]] = zext %a : i64
    # CHECK: [[Q:%.*]] = zext %b : i64
    # CHECK: [[D:%.*]] = sub [[P]], [[Q]] : i64
    # CHECK: addptr %x, [[D]]
    store(x + (a - b), 1.0)
