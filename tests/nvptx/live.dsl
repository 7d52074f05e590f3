# A row of 600 to 700 in a tile of 1024, 64 threads with vectors of 4: the first two vectors have no predicate, the
# third has one and single elements, the fourth is not there; its value counts once.
# RUN: fsc %s -D 'n<=700' -D 'n>=600' --emit=ptx --arch=sm_80 --signature "*fp32:16, *fp32:16, i32" -o - | FileCheck %s
# RUN: fsc %s -D 'n<=700' -D 'n>=600' --emit=ptx --arch=sm_80 --signature "*fp32:16, *fp32:16, i32" -o - \
# RUN:   | FileCheck %s --check-prefix=COUNT
# RUN: fsc %s --emit=ptx --arch=sm_80 --signature "*fp32:16, *fp32:16, i32" -o - | FileCheck %s --check-prefix=OPEN
# RUN: fsc %s -D 'n<=256' --emit=ptx --arch=sm_80 --signature "*fp32:16, *fp32:16, i32:16" -o - \
# RUN:   | FileCheck %s --check-prefix=QUARTER
# CHECK-NOT: @%p{{[0-9]+}} ld.global.v4.b32
# CHECK: {{^[[:space:]]*}}ld.global.v4.b32
# CHECK: {{^[[:space:]]*}}ld.global.v4.b32
# CHECK: @%p{{[0-9]+}} ld.global.v4.b32
# CHECK-NOT: ld.global.v4
# CHECK: @%p{{[0-9]+}} ld.global.b32
# CHECK: @%p{{[0-9]+}} ld.global.b32
# CHECK: @%p{{[0-9]+}} ld.global.b32
# CHECK-NOT: ld.global
# CHECK: {{^[[:space:]]*}}st.global.v4.b32
# CHECK: {{^[[:space:]]*}}st.global.v4.b32
# CHECK: @%p{{[0-9]+}} st.global.v4.b32
# CHECK-NOT: st.global.v4
# COUNT-COUNT-13: ex2.approx
# COUNT-NOT: ex2.approx
# OPEN-COUNT-4: ld.global.v4.b32
# QUARTER: .maxntid 128
# QUARTER-COUNT-2: @%p{{[0-9]+}} ld.global.v4.b32
# QUARTER-NOT: ld.global
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32, n: i32):
    i = arange(0, 1024)
    m = i < n
    v = exp2(load(x + i, mask=m, other=-inf))
    store(y + i, v / sum(v, axis=0), mask=m)
