# A pointer of unknown alignment: one element an access.
# RUN: fsc %s --emit=ptx --arch=sm_80 --signature "*fp32, *fp32" -o - | FileCheck %s
# CHECK-NOT: .v4
# CHECK-NOT: .v2
# CHECK: ld.global.b32
# CHECK: st.global.b32
# CHECK-NOT: .v2
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 512)
    v = load(x + i)
    store(y + i, v)
