# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# A truth value lies in memory as a byte: what is not 0 is true.
# CHECK: func @k(%b: *i8
@kernel(grid=(1,))
def k(b: *i1, flag: i1):
    i = arange(0, 16)
    # CHECK: [[V:%.*]] = load %{{.*}} : tile<16xi8>
    # CHECK: %v = icmp ne [[V]]
    v = load(b + i)
    # CHECK: [[N:%.*]] = xor %v
    # CHECK: zext {{.*}} : tile<16xi8>
    store(b + i, ~v & flag)
