# RUN: not fsc --error-limit=0 %s -o - 2>&1 | FileCheck %s
# RUN: not fsc --device-debug --error-limit=0 %s -o - 2>&1 | FileCheck %s
# What can be printed and asserted; the same errors whether it is compiled or not.
@jit
def fn(a):
    return a

@jit
def shows(a, b):
    # CHECK: error: 'print' stands in a combine function, which computes with its arguments alone [E0323]
    # CHECK: note: look at what goes into the reduction or scan, or at what comes out
    print("a", a)
    # CHECK: error: an assertion stands in a combine function, which computes with its arguments alone
    assert a < b
    return a + b

@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    i = arange(0, 16)
    v = load(x + i)
    # CHECK: bad_debug.dsl:[[#@LINE+3]]:18: error: 'device_print' takes a string as its prefix, not tile<16xfp32> [E0317]
    # CHECK-NEXT: device_print(v)
    # CHECK: note: as in device_print("x", x)
    device_print(v)
    # CHECK: error: 'device_print' lacks its argument 'prefix'
    device_print()
    # CHECK: error: 'device_print' takes numbers, tiles and pointers, not
    # CHECK: note: static_print shows what is known at compile time
    device_print("f", fn)
    # CHECK: error: 'hex' of 'device_print' must be True or False, known at compile time, not i32 [E0801]
    device_print("v", v, hex=n)
    # CHECK: error: 'device_print' has no argument 'hexadecimal'
    device_print("v", v, hexadecimal=True)
    # CHECK: error: 'print' takes numbers, tiles and pointers, not
    print(v, "v")
    # CHECK: error: 'print' takes {{.*}}9
    print(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    # CHECK: error: 'device_assert' takes truth values or ints, not tile<16xfp32> [E0317]
    # CHECK: note: compare it, as in x >= 0
    device_assert(v, "v")
    # CHECK: error: 'assert' takes truth values or ints, not *fp32
    assert x
    # CHECK: error: 'msg' of 'device_assert' must be a string, not i32
    device_assert(i < n, n)
    # CHECK: error: 'assert' takes a string as its message, not tile<16xfp32>
    assert n > 0, v
    # CHECK: error: 'device_assert' takes truth values or ints as its mask, not tile<16xfp32>
    device_assert(i < n, "i", mask=v)
    # CHECK: error: {{.*}} have shapes that do not broadcast
    device_assert(i < n, "i", mask=arange(0, 8) < 4)
    # CHECK: error: 'device_assert' lacks its argument 'cond'
    device_assert(msg="i")
    # CHECK: error: assertion failed: known
    assert 1 > 2, "known"
    reduce(i, 0, shows)
    # CHECK-NOT: error:
