# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# What can be sorted, along which axis, and how many elements topk gives.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    i = arange(0, 16)
    v = load(x + i)
    # CHECK: bad_sort.dsl:[[#@LINE+2]]:14: error: 'sort' takes a tile of numbers, not i32 [E0328]
    # CHECK-NEXT: a = sort(n)
    a = sort(n)
    # CHECK: error: 'sort' takes a tile of numbers, not tile<16x*fp32> [E0328]
    b = sort(x + i)
    # CHECK: error: 'sort' along axis 1 of tile<16xfp32>
    # CHECK: note: it has axis 0 only
    d = v.sort(1)
    # CHECK: error: 'dim' of 'sort' must be an int known at compile time, or None, not i32
    e = v.sort(dim=n)
    # CHECK: error: 'descending' of 'sort' must be
    f = v.sort(descending=n)
    # CHECK: error: 'topk' lacks its argument 'k'
    g = topk(v)
    # CHECK: error: k = 3 of 16 elements along axis 0 of tile<16xfp32>
    # CHECK: note: k is a power of two, and no more than there are
    h = topk(v, 3)
    # CHECK: error: k = 32 of 16 elements along axis 0 of tile<16xfp32>
    j = topk(v, 32)
    # CHECK: error: 'k' of 'topk' must be an int known at compile time, not i32
    l = topk(v, n)
    # CHECK: error: 'tie_break_left' of 'argmax' must be
    m = argmax(v, 0, tie_break_left=n)
    # CHECK-NOT: error:
