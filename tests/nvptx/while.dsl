# A while loop over scalars.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: rem.s32
# CHECK: bra
# CHECK: st.global.b32
@kernel(grid=(1,))
def k(y: *i32, a: i32, b: i32):
    while b != 0:
        t = a % b
        a = b
        b = t
    store(y, a)
