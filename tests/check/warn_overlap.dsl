# RUN: fsc %s --kernel loud -o %t 2>&1 | FileCheck %s
# RUN: fsc %s --kernel silent -o %t 2>&1 | FileCheck --check-prefix=SILENT --allow-empty %s
# Stores whose tiles overlap, or whose elements share an address.
@kernel(grid=(4,))
def loud(x: *fp32, n: i32):
    c = arange(0, 128)
    r = arange(0, 8)
    # CHECK: warn_overlap.dsl:[[#@LINE+2]]:5: warning: the tiles that programs store overlap: each has 128 elements, and the next begins 100 behind [W0402]
    # CHECK: this counts in steps of 100; step by 128, or mask off the rest
    store(x + program_id(0) * 100 + c, 1.0, mask=program_id(0) < n)
    # CHECK: warning: the tiles that rows store overlap: each has 128 elements, and the next begins 64 behind [W0402]
    store(x + n + r[:, None] * 64 + c[None, :], 2.0)
    # CHECK: warning: several elements of this tile go to one address: the pointers repeat along axis 1 [W0402]
    # CHECK: note: which of them stays is not said; reduce them first, or let the mask choose one
    # CHECK-NOT: warning:
    store(broadcast_to(x + r[:, None], (8, 128)), broadcast_to(c[None, :], (8, 128)).to(fp32))

# SILENT-NOT: warning:
@kernel(grid=(4,))
def silent(x: *fp32, n: i32, s: i32):
    c = arange(0, 128)
    r = arange(0, 8)
    store(x + program_id(0) * 128 + c, 1.0)
    store(x + program_id(0) * 100 + c, 1.0, mask=c < 100)
    store(x + program_id(0) * s + c, 1.0)
    store(x + r[:, None] * 128 + c[None, :], 2.0)
    store(broadcast_to(x + r[:, None], (8, 128)), 1.0)
    store(broadcast_to(x + r[:, None], (8, 128)), broadcast_to(c[None, :], (8, 128)).to(fp32), mask=c[None, :] == 3)
    if program_id(0) == 0:
        store(x + program_id(0) * 100 + c, 1.0)
