# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A tile is indexed by ':' and None; a tuple by one int.
@kernel(grid=(1,))
def k(x: *fp32):
    v = arange(0, 16)
    # CHECK: bad_index.dsl:[[#@LINE+2]]:11: error: a tile is indexed by ':' and None only [E0319]
    # CHECK: note: x[:, None] adds a dimension
    a = v[3]
    # CHECK: error: 2 dimensions indexed in tile<16xi32>, which has 1 [E0319]
    b = v[:, :]
    # CHECK: error: index outside a tuple of 1 [E0319]
    c = v.shape[1]
    # CHECK: error: elements of a tile cannot be assigned [E0112]
    # CHECK: note: build a new tile with where
    v[0] = 1
    # CHECK: error: the int 3 cannot be indexed [E0319]
    d = 3[0]
    # CHECK-NOT: error:
