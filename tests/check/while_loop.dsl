# RUN: fsc --emit=tile --passes=dce %s -o - | FileCheck %s
# while carries what it changes; its condition runs before each iteration, and `and` reads memory only where it must.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    i = 0
    # CHECK: while carry (%[[I:.*]] = %{{.*}}) : (i64) {
    # CHECK: %[[C:.*]] = icmp slt %[[I]]
    # CHECK: if %[[C]] : (i1) {
    # CHECK: load
    # CHECK: condition %{{.*}}, %[[I]]
    # CHECK: } do (
    while i < n and load(x + i) > 0.0:
        # CHECK: add %{{.*}} : i64
        # CHECK: yield
        i += 1
    store(x + i, 0.0)
