# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Dividing signed by unsigned has no one right answer.
@kernel(grid=(1,))
def k(a: i32, b: u32, x: *i32):
    # CHECK: mixed_sign.dsl:[[#@LINE+2]]:14: error: '//' between i32 and u32: one is signed, the other is not [E0303]
    # CHECK: note: convert one side first
    store(x, a // b)
    # CHECK: error: '%' between u32 and i32
    store(x, b % a)
    store(x, a + b)
    store(x, b // 3)
    # CHECK-NOT: error:
