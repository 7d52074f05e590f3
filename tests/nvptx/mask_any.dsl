# A mask from memory: a vector moves whole where all its elements are wanted.
# RUN: fsc %s --emit=ptx --arch=sm_80 --signature "*fp32:16, *fp32:16, *i8:16" -o - | FileCheck %s
# CHECK: @%p{{[0-9]+}} ld.global.v4.b32
# CHECK: bra
# CHECK-COUNT-4: @%p{{[0-9]+}} ld.global.b32
# CHECK: @%p{{[0-9]+}} st.global.v4.b32
# CHECK: bra
# CHECK-COUNT-4: @%p{{[0-9]+}} st.global.b32
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, chosen: *i8):
    i = arange(0, 512)
    m = load(chosen + i) != 0
    store(y + i, load(x + i, mask=m), mask=m)
