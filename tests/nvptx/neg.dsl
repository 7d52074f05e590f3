# -x of 16-bit integers is made in 32 bits: of neg.s16 ptxas forgets that -(-32768) is -32768 again where it is widened or divided.
# RUN: fsc -O0 %s -o - | FileCheck %s
# RUN: fsc -O2 %s -o - | FileCheck %s
# CHECK-NOT: neg.s16
# CHECK-NOT: sub.s16
# CHECK: sub.s32 {{.*}}, 65536,
@kernel(grid=(1,))
def f(y: *i32, x: *i16):
    i = arange(0, 128)
    store(y + i, -load(x + i))
