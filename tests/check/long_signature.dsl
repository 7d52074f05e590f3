# RUN: not fsc --signature "*fp32, i32, 3" %s -o - 2>&1 | FileCheck %s
# A signature with more items than there are parameters.
# CHECK: error: --signature has 3 items, and 'k' has 2 parameters [E0511]
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    store(x, n)
