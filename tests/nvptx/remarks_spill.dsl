# REQUIRES: ptxas
# RUN: fsc %s -Rperf --emit=cubin --num-warps=1 --signature "*fp32:16, *fp32:16" -o %t 2>&1 | FileCheck %s
# RUN: fsc %s -Rperf --emit=cubin --num-warps=16 --signature "*fp32:16, *fp32:16" -o %t 2>&1 \
# RUN:   | FileCheck --check-prefix=FITS --allow-empty %s
# What ptxas spills, where there is a ptxas that says so.
# FITS-NOT: remark:
@kernel(grid=(1,))
# CHECK: remarks_spill.dsl:[[#@LINE+1]]:5: remark: each thread spills {{[1-9][0-9]*}} bytes of its registers to memory, by ptxas [R0102]
def k(x: *fp32, y: *fp32):
    c = arange(0, 16384)
    v = flip(load(x + c))
    store(y + c, v / sum(v, axis=0))
