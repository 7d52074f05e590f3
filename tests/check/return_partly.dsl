# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# A return on some paths inside a branch: what follows runs under a truth value.
@kernel(grid=(1,))
def k(x: *fp32, n: i32, m: i32):
    # CHECK: %[[L:.*]] = if %{{.*}} : (i1) {
    # CHECK: if %{{.*}} : (i1) {
    # CHECK: const false
    # CHECK: } else {
    # CHECK: store
    if n > 0:
        if m > 0:
            return
        store(x, 1.0)
    else:
        store(x, 2.0)
    # CHECK: if %[[L]] {
    # CHECK: const 3.0
    store(x, 3.0)
