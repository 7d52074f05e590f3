# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# An assumption in a loop or branch, of a number from outside, changes nothing that the loop would carry; of one that
# was made in the loop it is known there.
# CHECK: for {{.*}} carry (%p_{{[0-9]+}} = %x) : (*i32)
# CHECK-NOT: smax %pid
# CHECK: %[[M:[a-z0-9_]+]] = load
# CHECK: smax %[[M]]
@kernel(grid=(1,))
def k(x: *i32, n: i32):
    pid = program_id(0)
    p = x
    for i in range(1, n):
        assume(pid >= 0)
        if i > 3:
            assume(pid >= 0)
        m = load(x + i)
        assume(m >= 0)
        store(p + pid, m)
        p += 1
