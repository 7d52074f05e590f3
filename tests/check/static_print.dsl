# RUN: fsc --emit=tile --passes= %s -o - 2>&1 | FileCheck %s
# static_print shows values and types while compiling.
# CHECK: block 128 0.5 True
# CHECK: tile<128xi32> (1, 2)
# CHECK: func @k
@kernel(grid=(1,))
def k(x: *fp32, B: constexpr = 128):
    static_print("block", B, 0.5, True)
    static_print(arange(0, B), (1, 2))
    store(x, 1.0)
