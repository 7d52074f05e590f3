# RUN: fsc --emit=tile --passes= %s -o - 2>&1 | FileCheck %s
# The largest of one number is that number, its index 0: a tuple like any other, to be kept and looked at later.
@kernel(grid=(1,))
def k(x: *i32, n: i32):
    # CHECK: (i32, i32)
    pairs = (max(n, return_indices=True), min(-129, return_indices=True), max(load(x), return_indices=True, keep_dims=True))
    static_print(pairs[0])
    # CHECK: ((i32, i32), (i32, i32), (i32, i32))
    static_print(pairs)
    # CHECK: add %n,
    store(x, pairs[0][0] + pairs[1][0] + pairs[2][1])
