# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# maximum and minimum with and without NaN; bare max and min of two values are elementwise, as in Python.
@kernel(grid=(1,))
def k(x: *fp32, u: *u32, n: i32):
    i = arange(0, 16)
    v = load(x + i)
    # CHECK: fmax %v
    a = maximum(v, 0.0)
    # CHECK: fmin_nan %v
    b = minimum(v, 1.0, propagate_nan=True)
    # CHECK: umax
    c = maximum(load(u), 3)
    # CHECK: smin %n
    d = min(n, 16)
    # CHECK: fmax
    # CHECK: fmin
    e = clamp(v, 0.0, 6.0)
    static_assert(max(3, 5, 4) == 5 and min(2, 7) == 2)
    store(x + i, a + b + c + d + e)
