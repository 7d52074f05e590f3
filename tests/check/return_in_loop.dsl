# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# return inside a loop of a kernel: the loop ends, and what follows runs only where it did not happen.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    # CHECK: %{{.*}}, %{{.*}}, %[[R:.*]] = while carry ({{.*}}) : (i64, i1, i1) {
    for i in range(n):
        if load(x + i) > 1.0:
            return
    # CHECK: %[[N:.*]] = xor %[[R]]
    # CHECK: if %[[N]] {
    # CHECK: store
    store(x, 0.0)
