# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# Operators say what they cannot take.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    v = load(x)
    # CHECK: error: '&' takes integers, not fp32 [E0302]
    a = v & 1
    # CHECK: error: '//' takes integers, not fp32 [E0302]
    # CHECK: note: divide with /
    b = v // 2
    # CHECK: error: '+' between *fp32 and *fp32 [E0301]
    c = x + x
    # CHECK: error: '*' between *fp32 and the int 2 [E0301]
    d = x * 2
    # CHECK: error: a pointer moves by an integer number of elements, not by fp32 [E0304]
    e = x + v
    # CHECK: error: '+' between i32 and None [E0301]
    f = n + None
    # CHECK: error: '-' of a pointer [E0304]
    g = -x
    # CHECK: error: '~' takes integers, not fp32 [E0302]
    h = ~v
    # CHECK: error: '<' between *fp32 and the int 3 [E0301]
    i = x < 3
    # CHECK-NOT: error:
