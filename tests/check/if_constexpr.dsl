# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# A condition known at compile time compiles only the taken arm: the other may even be wrong.
@kernel(grid=(1,))
def k(x: *fp32, n: i32, FAST: constexpr = True, BIAS: constexpr = None):
    # CHECK-NOT: if
    if FAST:
        v = 1.0
    else:
        v = dot(x, x)
    if BIAS is not None:
        v = v + load(BIAS)
    elif n is None:
        v = laod(x)
    # CHECK: const 1.0
    store(x, v)
    v = 2.0 if FAST else no_such_thing
    # CHECK: const 2.0
    store(x, v)
