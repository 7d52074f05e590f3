# A copy of rows that begin anywhere, 2040 to 2048 of 2048 places: the first vector may wrap around, the others are
# whole, with no predicate for what is known. Cut, the first one has a part at the row's beginning and one at its end,
# the others never move their last element; where the two rows begin differently the load goes element by element.
# RUN: fsc %s -D 'n>=2040' -D 'n<=2048' --emit=ptx --arch=sm_80 --signature "*fp32, *fp32, i32, i32" -o - | FileCheck %s
# CHECK: bra
# CHECK-COUNT-8: @%p{{[0-9]+}} ld.global.b32
# CHECK: bra
# CHECK: @%p{{[0-9]+}} ld.global.v4.b32
# CHECK: @%p{{[0-9]+}} ld.global.v4.b32
# CHECK-NOT: ld.global.v4
# CHECK: bra
# CHECK-COUNT-11: @%p{{[0-9]+}} ld.global.b32
# CHECK-NOT: ld.global
# CHECK: @%p{{[0-9]+}} st.global.v4.b32
# CHECK: @%p{{[0-9]+}} st.global.v4.b32
# CHECK-NOT: st.global.v4
# CHECK: bra
# CHECK-COUNT-11: @%p{{[0-9]+}} st.global.b32
# CHECK-NOT: st.global
@kernel(grid=(1,), num_warps=8)
def k(y: *fp32, x: *fp32, stride: i32, n: i32):
    i = arange(0, 2048)
    m = i < n
    store(y + program_id(0) * stride + i, load(x + program_id(0) * stride + i, mask=m), mask=m)
