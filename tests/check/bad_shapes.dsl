# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A tile's size that is not possible names what is wrong and the next power of two.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    # CHECK: bad_shapes.dsl:[[#@LINE+2]]:19: error: the size 100 is not a power of two [E0311]
    # CHECK: note: the next power of two is 128
    a = arange(0, 100)
    # CHECK: error: a tile of 2147483648 elements is too large [E0312]
    # CHECK: note: at most 1048576 elements
    b = arange(0, 2147483648)
    # CHECK: error: a tile of 4096x4096 elements is too large [E0312]
    c = zeros((4096, 4096), fp32)
    # CHECK: error: arange from 4 to 4 is empty [E0324]
    d = arange(4, 4)
    # CHECK: error: 'end' of 'arange' must be an int known at compile time, not i32 [E0801]
    e = arange(0, n)
    # CHECK: error: a tile of rank 8, and 7 is the most [E0314]
    f = zeros((2, 2, 2, 2, 2, 2, 2, 2), fp32)
    # CHECK: error: a tile of 0 elements [E0312]
    g = zeros((0,), fp32)
    # CHECK: error: 'broadcast_to' of tile<8xi32> to tile<16xi32> [E0320]
    h = broadcast_to(arange(0, 8), (16,))
    # CHECK: error: 'reshape' of tile<8xi32> to tile<4x4xi32> [E0320]
    # CHECK: note: a reshape keeps the number of elements: 8 here, 16 there
    i = arange(0, 8).reshape(4, 4)
    # CHECK-NOT: error:
