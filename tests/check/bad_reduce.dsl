# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A reduction that the tile does not have.
@kernel(grid=(1,))
def k(x: *fp32):
    v = load(x + arange(0, 16))
    # CHECK: bad_reduce.dsl:[[#@LINE+2]]:12: error: 'sum' along axis 1 of tile<16xfp32> [E0316]
    # CHECK: note: it has axis 0 only
    sum(v, axis=1)
    # CHECK: error: 'max' along axis 0 of fp32 [E0316]
    # CHECK: note: a scalar has no axes
    max(load(x), axis=0)
    # CHECK: error: 'sum' takes a tile, not *fp32 [E0317]
    sum(x)
    # CHECK: error: 'xor_sum' takes integers, not tile<16xfp32> [E0302]
    xor_sum(v, axis=0)
    # CHECK: error: 'argmax' along axis 2 of tile<16xfp32> [E0316]
    argmax(v, axis=2)
    # CHECK: error: 'dtype' of 'sum' must be a type such as fp32, not the int 3 [E0318]
    sum(v, dtype=3)
    # CHECK: error: 'exp' takes a float, not i32 [E0317]
    # CHECK: note: convert it first, as in exp(x.to(fp32))
    exp(program_id(0))
    # CHECK: error: 'program_id' of axis 3 of the grid, which has axes 0, 1 and 2 [E0513]
    program_id(3)
    # CHECK-NOT: error:
