# 16-bit accesses.
# RUN: fsc %s --emit=ptx --arch=sm_80 --signature "*i16, *i16" -o - | FileCheck %s
# CHECK: ld.global.b16
# CHECK: st.global.b16
@kernel(grid=(1,))
def k(y: *i16, x: *i16):
    i = arange(0, 128)
    v = load(x + i)
    store(y + i, v)
