# The block's size is a launch bound.
# RUN: fsc %s --emit=ptx --num-warps 8 -o - | FileCheck %s
# CHECK: .entry k(
# CHECK: .reqntid 256
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 1024)
    v = load(x + i)
    store(y + i, v)
