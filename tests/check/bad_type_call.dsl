# A type called with what is no number is an error, and the statement does not vanish.
# RUN: exits 1 fsc %s --emit=tile -o - 2>&1 | FileCheck %s
@kernel(grid=(1,))
def k(y: *i32, x: *i8, n: u8):
    # CHECK: bad_type_call.dsl:[[#@LINE+1]]:14: error: *i8 does not convert to i32 [E0307]
    store(y, i32(x + 1))
    # CHECK: error: {{.*}} does not convert to i1
    a = i1(x + n) if n > 0 else 0
    # CHECK: error: {{.*}} does not convert to fp32
    store(y, fp32((1, 2)))
