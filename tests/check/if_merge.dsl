# RUN: fsc --emit=tile --passes= %s -o - | FileCheck %s
# A dynamic branch yields what it assigns; constants that differ become run-time values.
@kernel(grid=(1,))
def k(x: *fp32, n: i32):
    v = load(x)
    # CHECK: %[[C:.*]] = icmp sgt %n
    # CHECK: %[[V:.*]], %[[S:.*]] = if %[[C]] : (fp32, fp32) {
    # CHECK: fmul
    # CHECK: const 1.0 : fp32
    # CHECK: } else {
    # CHECK: const 2.0 : fp32
    # CHECK: yield %v, %
    if n > 0:
        v = v * 3.0
        s = 1.0
    else:
        s = 2.0
    # CHECK: fadd %[[V]], %[[S]]
    store(x, v + s)
