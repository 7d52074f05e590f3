# Code for another kind of processor is emitted, not run.
# REQUIRES: aarch64
# RUN: exits 1 fsc run %s --device=cpu --cpu=neoverse-n1 y=zeros:fp32[1] 2>&1 | FileCheck %s
# CHECK: error: 'neoverse-n1' is a processor of another kind than this machine's: take --emit=object or asm
@kernel(grid=(1,))
def k(y: *fp32):
    store(y, 1.0)
