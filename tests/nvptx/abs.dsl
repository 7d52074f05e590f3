# |x| of 16-bit integers is no abs.s16: ptxas takes its result for non-negative, and that of -32768 is not.
# RUN: fsc -O0 %s -o - | FileCheck %s --check-prefix=PLAIN
# RUN: fsc -O2 %s -o - | FileCheck %s
# CHECK-NOT: abs.s16
# CHECK: min.u16
# CHECK-NOT: abs.s16
# PLAIN-NOT: abs.s16
@kernel(grid=(1,))
def f(y: *i32, x: *i16):
    i = arange(0, 128)
    store(y + i, abs(load(x + i)))
