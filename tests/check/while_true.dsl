# RUN: fsc --emit=tile --passes=dce %s -o - | FileCheck %s
# while True ends by break alone.
@kernel(grid=(1,))
def k(x: *fp32):
    i = 0
    # CHECK: while carry (%[[G:.*]] = %{{.*}}, %{{.*}}) : (i1, i64) {
    # CHECK: condition %[[G]],
    while True:
        if load(x + i) > 0.0:
            break
        i += 1
    store(x + i, 0.0)
