# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# and, or and not on scalars; operands without loads need no branch.
@kernel(grid=(1,))
def k(x: *fp32, n: i32, m: i32, ON: constexpr = True):
    # CHECK: %[[A:.*]] = icmp sgt %n
    # CHECK: %[[B:.*]] = icmp sgt %m
    # CHECK: and %[[A]], %[[B]]
    if n > 0 and m > 0:
        store(x, 1.0)
    # CHECK: icmp ne %n
    # CHECK: or
    if n or m < 5:
        store(x, 2.0)
    # CHECK: xor
    if not (n == 3):
        store(x, 3.0)
    # CHECK: %[[C:.*]] = icmp slt %n
    # CHECK-NEXT: if %[[C]]
    if ON and n < 7:
        store(x, 4.0)
    # CHECK: const 5.0
    if ON or n < 7:
        store(x, 5.0)
    # A chain holds where every pair does.
    # CHECK: icmp slt
    # CHECK: icmp sle
    # CHECK: and
    if 0 < n <= m:
        store(x, 6.0)
