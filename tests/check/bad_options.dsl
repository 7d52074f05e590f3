# RUN: not fsc -T z=fp32 -T T=fp99 -D BLOK=3 -D BLOCK=1k -D x=3 -D n=5000000000 %s -o - 2>&1 | FileCheck %s
# Options that do not fit the kernel.
# CHECK: error: -T z: 'k' has no parameter 'z' [E0510]
# CHECK: error: -T T=fp99 names no type [E0510]
# CHECK: error: -D BLOK: 'k' has no parameter 'BLOK'; did you mean 'BLOCK'? [E0510]
# CHECK: error: -D BLOCK=1k: the value is no number
# CHECK: error: -D gives 'x' the int 3, which does not fit its declaration [E0509]
# CHECK: error: -D gives 'n' the int 5000000000, which does not fit its declaration [E0509]
# CHECK-NOT: error:
@kernel(grid=(1,))
def k(x: *fp32, n: i32, BLOCK: constexpr = 16, T: dtype = fp32):
    store(x + arange(0, BLOCK), n)
