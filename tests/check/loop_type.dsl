# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A loop-carried variable keeps its type: the error shows both.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    acc = 0
    for i in range(n):
        # CHECK: loop_type.dsl:[[#@LINE+1]]:9: error: 'acc' changes its type in the loop, from i32 to tile<16xfp32> [E0326]
        acc += load(x + arange(0, 16))
    # CHECK: it is i32 before the loop
    # CHECK: start it with zeros(...) or full(...)
    store(x, acc)
    t = (1, 2)
    while load(x) > 0.0:
        # CHECK: error: 't' is a tuple of 2 before the loop and becomes another in it [E0326]
        t = (3, 4)
    u = None
    for i in range(n):
        # CHECK: error: 'u' is None before the loop and becomes fp32 in it [E0326]
        # CHECK: a loop carries only numbers, tiles and pointers; it comes from here
        u = load(x)
    # CHECK-NOT: error:
