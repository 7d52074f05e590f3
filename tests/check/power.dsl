# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# ** with a known integer exponent is repeated multiplication.
@kernel(grid=(1,))
def k(x: *fp32):
    v = load(x)
    # CHECK: [[S:%.*]] = fmul %v, %v
    # CHECK: [[Q:%.*]] = fmul [[S]], [[S]]
    # CHECK: fmul %v, [[Q]]
    store(x, v ** 5)
