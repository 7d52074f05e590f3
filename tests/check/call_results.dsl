# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Several values, returns on several paths, a value returned from inside a loop.
@jit
def order(a, b):
    if a < b:
        return a, b
    return b, a

@jit
def first_above(x, n, bound):
    for i in range(n):
        v = load(x + i)
        if v > bound:
            return v
    return -1.0

@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    # CHECK: %low, %high = if %{{.*}} : (fp32, fp32) {
    low, high = order(load(x), load(x + 1))
    store(x, high - low)
    # CHECK: while carry ({{.*}}) : (i64, i1, i1, fp32) {
    # CHECK: %[[N:.*]] = xor %_ret,
    # CHECK: %[[R:.*]] = if %[[N]] : (fp32) {
    # CHECK: store %x, %[[R]]
    store(x, first_above(x, n, 3.0))
