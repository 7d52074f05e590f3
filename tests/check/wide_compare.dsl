# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# A sum that is compared is computed in 64 bits; leaves compare in 32.
@kernel(grid=(1,))
def k(x: *fp32, n: i32, u: u32):
    pid = program_id(0)
    i = arange(0, 16)
    # CHECK: [[C:%.*]] = icmp slt %i, %{{.*}} : tile<16xi1>
    store(x + i, 1.0, mask=i < n)
    # CHECK: icmp slt %{{.*}} : tile<16xi1>
    # CHECK-NOT: tile<16xi32>
    # CHECK: store
    store(x + i, 1.0, mask=pid * 16 + i < n)
    # Signed against unsigned is compared as numbers, not as bits.
    # CHECK: [[N:%.*]] = sext %n : i64
    # CHECK: [[U:%.*]] = zext %u : i64
    # CHECK: icmp slt [[N]], [[U]]
    if n < u:
        store(x, 1.0)
    # CHECK: sext %n : i64
    # CHECK: const 5000000000 : i64
    # CHECK: icmp slt
    if n < 5000000000:
        store(x, 2.0)
