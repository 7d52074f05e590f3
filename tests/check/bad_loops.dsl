# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# What a loop cannot walk over.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    # CHECK: error: 'for' walks over range, tl.range, static_range or a tuple, not over i32 [E0809]
    for i in n:
        store(x, 1.0)
    # CHECK: error: range over fp32, and its bounds are integer scalars [E0808]
    for i in range(load(x)):
        store(x, 1.0)
    # CHECK: error: the step of range is 0 [E0808]
    for i in range(0, n, 0):
        store(x, 1.0)
    # CHECK: error: the end of static_range must be an int known at compile time, not i32 [E0801]
    # CHECK: note: make it a constexpr parameter
    for i in static_range(n):
        # CHECK: error: unknown name 'laod'
        laod(x)
    # CHECK: error: 'break' outside a loop [E0807]
    break
