# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# RUN: cp %s %t.py && not fsc --error-limit=0 %t.py -o - 2>&1 | FileCheck %s
# A loop variable that was of another type before is a new one; after the loop its name is undefined.
@kernel(grid=(1,))
def k(x: *i32, n: i32, m: i64):
    i = arange(0, 16)
    store(x + i, i)
    for i in range(n):
        store(x + i, i)
    i = 2.5
    for i in range(0, m):
        if load(x + i) > 7:
            break
        i += 1
    i = (1, 2)
    for i in range(n):
        pass
    # CHECK-NOT: error:
    # CHECK: :[[#@LINE+4]]:15: error: 'i' is not defined on every path to here [E0202]
    # CHECK: it is assigned here
    # CHECK: and a path through here leaves it undefined
    # CHECK-NOT: error:
    store(x + i, 1)
    i = arange(0, 16)
    for j in range(n):
        # CHECK: :[[#@LINE+2]]:9: error: 'i' is tile<16xi32> before the loop and becomes undefined in it [E0326]
        # CHECK: it comes from here; the variable of a loop is of another type, and needs another name
        for i in range(n):
            store(x + i, j)
    # CHECK-NOT: error:
    # One of the same type is what it was where no round runs.
    i = 3
    for i in range(n):
        pass
    store(x + i, 1)
