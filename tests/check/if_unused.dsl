# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# What both arms leave as it was, and what nobody reads, is no result of the if.
@kernel(grid=(1,))
def k(x: *fp32, n: i32, v: fp32):
    a = 1
    # CHECK: if %{{[0-9]+}} {
    # CHECK-NEXT: addptr
    # CHECK-NEXT: store
    # CHECK-NEXT: yield
    # CHECK-NEXT: }
    if n > 0:
        a = 5
        b = n * 2
        store(x + n, v)
    # CHECK: return
    a = 2
