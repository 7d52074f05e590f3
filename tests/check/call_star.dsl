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
