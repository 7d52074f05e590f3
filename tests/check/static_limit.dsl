# RUN: not fsc %s -o - 2>&1 | FileCheck %s
# A static loop that would never end is given up.
# CHECK: error: the kernel is too large once its calls are inlined and its static loops unrolled [E0902]
# CHECK: note: it was given up here; take range instead of static_range
# CHECK-NOT: error:
@kernel(grid=(1,))
def k(x: *fp32):
    for i in static_range(1000000000):
        store(x + i, 0.0)
