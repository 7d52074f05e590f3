# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# *args takes the rest of the arguments, and a tuple gives them.
@jit
def total(first, *rest):
    for r in rest:
        first += r
    return first

@kernel(grid=(1,))
def k(x: *fp32):
    # CHECK-COUNT-2: fadd
    store(x, total(load(x), load(x + 1), load(x + 2)))
    many = (load(x + 3), load(x + 4))
    # CHECK: fadd
    store(x, total(*many))
    # A slice of an empty tuple is empty.
    # CHECK: fadd
    # CHECK-NOT: fadd
    none = ()
    store(x + 1, total(load(x + 5), load(x + 6), *none[:]))
