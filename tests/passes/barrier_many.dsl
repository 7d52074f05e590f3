# RUN: bounded 2 512 fsc %s --emit=simt -o %t
# RUN: FileCheck %s < %t
# Thousands of stores in one block: the pass does not compare each with all before it.
# CHECK: store
# CHECK: return
@kernel(grid=(1,))
def k(x: *fp32):
    for i in static_range(8192):
        store(x + i, 0.0)
