# 8-bit floats are refused, where the first appears.
# RUN: exits 1 fsc %s --emit=llvm --arch=cpu -o - 2>&1 | FileCheck %s
# CHECK: fp8.dsl:[[#@LINE+6]]:18: error: 8-bit floats are not compiled for the CPU yet
# CHECK-NEXT: store(y + i, load(x + i))
# CHECK-NOT: error
@kernel(grid=(1,))
def k(y: *fp8e5, x: *fp8e5):
    i = arange(0, 128)
    store(y + i, load(x + i))
