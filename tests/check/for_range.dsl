# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# range with one, two and three arguments, from the top down, and with the options of tl.range.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    # CHECK: %[[Z:.*]] = const 0 : i32
    # CHECK: %[[O:.*]] = const 1 : i32
    # CHECK: for %i = %[[Z]] to %n step %[[O]] {
    for i in range(n):
        store(x + i, 1.0)
    # CHECK: %[[T:.*]] = const 2 : i32
    # CHECK: for %{{.*}} = %[[T]] to %n
    for i in range(2, n):
        store(x + i, 1.0)
    # CHECK: %[[M:.*]] = const -1 : i32
    # CHECK: for %{{.*}} = %n to %{{.*}} step %[[M]]
    for i in range(n, 0, -1):
        store(x + i, 1.0)
    # CHECK: for {{.*}} {stages = 3, unroll = 2, flatten, no_licm}
    for i in tl.range(0, n, num_stages=3, loop_unroll_factor=2, flatten=True, disable_licm=True):
        store(x + i, 1.0)
    # 64-bit bounds give a 64-bit loop variable.
    # CHECK: for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} {
    # CHECK: sitofp %{{.*}} : fp32
    for i in range(0, 6000000000, 3000000000):
        store(x, i)
