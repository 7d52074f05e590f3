# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# Pointers move by integers, compare, and can be looked at as other types.
@kernel(grid=(1,))
def k(x: *fp32, y: *fp32, n: i32):
    # CHECK: [[Z:%.*]] = const 0 : i64
    # CHECK: [[N:%.*]] = sext %n : i64
    # CHECK: [[M:%.*]] = sub [[Z]], [[N]] : i64
    # CHECK: %p = addptr %x, [[M]] : *fp32
    p = x - n
    # CHECK: icmp eq %p, %y
    if p == y:
        # CHECK: bitcast %p : *i32
        store(p.to(pointer_type(i32)), 1)
    # CHECK: select %{{.*}}, %x, %y : *fp32
    store(where(n > 0, x, y), 1.0)
