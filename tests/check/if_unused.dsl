# RUN: fsc --emit=tile -O0 %s -o - | FileCheck %s
# What both arms leave as it was, and what nobody reads, is no result of the if.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    a = 1
    # CHECK: if %{{[0-9]+}} {
    # CHECK-NEXT: store
    # CHECK-NEXT: yield
    # CHECK-NEXT: }
    if n > 0:
        a = 5
        b = load(x)
        store(x, n)
    # CHECK: return
    a = 2
