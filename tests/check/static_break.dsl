# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# A break in a static loop that depends on data: the following iterations run under a truth value.
@kernel(grid=(1,))
def k(x: *fp32):
    # CHECK: %[[B:.*]] = if %{{.*}} : (i1) {
    # CHECK: const true
    # CHECK: %[[N:.*]] = xor %[[B]]
    # CHECK: if %[[N]] {
    # CHECK: store
    # CHECK: const 9.0
    for i in static_range(2):
        if load(x + i) > 2.0:
            break
        store(x + i, 0.0)
    store(x, 9.0)
