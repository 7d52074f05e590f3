# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# A return from the inner of two loops ends both.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    # CHECK: while carry
    # CHECK: while carry
    # CHECK: %[[N:.*]] = xor %_ret
    # CHECK: if %[[N]] : (i1, i1) {
    # CHECK: const 2.0
    for i in range(n):
        for j in range(n):
            if load(x + i + j) > 1.0:
                return
        store(x + i, 2.0)
    # CHECK: if %{{.*}} {
    # CHECK: const 3.0
    store(x, 3.0)
