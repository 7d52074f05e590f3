# A mask of unknown divisibility does not cost the vectors.
# RUN: fsc %s --emit=ptx --arch=sm_80 --signature "*fp32:16, *fp32:16, i32" -o - | FileCheck %s
# The whole vectors come back to back, then one branch around the elements of the partial vector.
# CHECK: @%p{{[0-9]+}} ld.global.v4.b32
# CHECK: @%p{{[0-9]+}} ld.global.v4.b32
# CHECK: @%p{{[0-9]+}} bra
# CHECK: @%p{{[0-9]+}} ld.global.b32
# CHECK: @%p{{[0-9]+}} st.global.v4.b32
# CHECK: @%p{{[0-9]+}} st.global.v4.b32
# CHECK: bra
# CHECK: @%p{{[0-9]+}} st.global.b32
# CHECK: ret;
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 1024)
    m = i < n
    store(y + i, load(x + i, mask=m), mask=m)
