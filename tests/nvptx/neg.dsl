# -x of 16-bit integers is made in 32 bits: of neg.s16 ptxas forgets that -(-32768) is -32768 again where it is widened, masked
# or divided. So are divisions, of which some become negatives.
# RUN: fsc -O0 %s --kernel=f -o - | FileCheck %s --check-prefixes=CHECK,NEG
# RUN: fsc -O2 %s --kernel=f -o - | FileCheck %s --check-prefixes=CHECK,NEG
# RUN: fsc -O0 %s --kernel=g -o - | FileCheck %s
# RUN: fsc -O2 %s --kernel=g -o - | FileCheck %s
# CHECK-NOT: neg.s16
# CHECK-NOT: div.s16
# NEG: neg.s32 wide, wide;
# NEG-NOT: {{(neg|sub)}}.s16
@kernel(grid=(1,))
def f(y: *i32, x: *i16):
    i = arange(0, 128)
    store(y + i, (-load(x + i)) & 15)

@kernel(grid=(1,))
def g(y: *i16, x: *i16, d: i16):
    i = arange(0, 128)
    store(y + i, load(x + i) // -1 + load(x + i) // d)
