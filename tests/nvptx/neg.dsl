# Differences of 8 and 16 bits are made in 32: of neg.s16 and sub.s16 ptxas forgets that 0 - -32768 is -32768 again
# where it is widened, masked, shifted or divided. So are divisions, of which some become negatives.
# RUN: fsc -O0 %s --kernel=f -o - | FileCheck %s --check-prefixes=CHECK,SUB
# RUN: fsc -O2 %s --kernel=f -o - | FileCheck %s --check-prefixes=CHECK,SUB
# RUN: fsc -O2 %s --kernel=bytes -o - | FileCheck %s --check-prefixes=CHECK,SUB
# RUN: fsc -O2 %s --kernel=halves -o - | FileCheck %s --check-prefixes=CHECK,SUB
# RUN: fsc -O0 %s --kernel=g -o - | FileCheck %s
# RUN: fsc -O2 %s --kernel=g -o - | FileCheck %s
# CHECK-NOT: {{(neg|sub|div)}}.s16
# SUB: sub.s32 x, x, y;
# SUB-NOT: {{(neg|sub|div)}}.s16
@kernel(grid=(1,))
def f(y: *i32, x: *i16):
    i = arange(0, 128)
    store(y + i, (-load(x + i)) & 15)

@kernel(grid=(1,))
def bytes(y: *i32, x: *i8):
    i = arange(0, 128)
    store(y + i, -load(x + i) & 127)

@kernel(grid=(1,))
def halves(y: *i16, x: *i16, w: *i8):
    i = arange(0, 128)
    store(y + i, (load(w + i) - load(x + i)) // 2)

@kernel(grid=(1,))
def g(y: *i16, x: *i16):
    i = arange(0, 128)
    store(y + i, load(x + i) // -1)
