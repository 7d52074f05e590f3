# Single bytes travel in wider registers.
# RUN: fsc %s --emit=ptx --arch=sm_80 --signature "*i8, *i8" -o - | FileCheck %s
# CHECK: ld.global.b8
# CHECK: st.global.b8
@kernel(grid=(1,))
def k(y: *i8, x: *i8):
    i = arange(0, 128)
    v = load(x + i)
    store(y + i, v)
