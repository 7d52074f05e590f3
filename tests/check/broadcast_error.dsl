# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Both shapes are in the message.
@kernel(grid=(1,))
def k(x: *fp32):
    # CHECK: broadcast_error.dsl:[[#@LINE+2]]:9: error: tile<16xi32> and tile<32xi32> have shapes that do not broadcast [E0313]
    # CHECK: note: dimensions are matched from the last
    a = arange(0, 16) + arange(0, 32)
    # CHECK: error: 'value' of 'store' is tile<32xfp32>, and the pointer is tile<16x*fp32> [E0402]
    store(x + arange(0, 16), zeros((32,), fp32))
    # CHECK: error: 'mask' of 'load' is tile<16xi1>, and the pointer is *fp32 [E0402]
    load(x, mask=arange(0, 16) < 3)
    # CHECK-NOT: error:
