# RUN: not fsc --signature "*fp16, i64" %s -o - 2>&1 | FileCheck %s
# A signature that contradicts the declarations.
# CHECK: error: --signature gives 'x' the type *fp16, and it is declared otherwise [E0509]
# CHECK: error: --signature gives 'n' the type i64, and it is declared otherwise [E0509]
# CHECK-NOT: error:
@kernel(grid=(1,))
def k(x: *fp32, n: i32, BLOCK: constexpr = 16):
    store(x + arange(0, BLOCK), n)
