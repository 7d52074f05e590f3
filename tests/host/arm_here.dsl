# Code for a processor that this machine has not is emitted, not run.
# REQUIRES: aarch64
# RUN: exits 1 fsc run %s --device=cpu --cpu=a64fx y=zeros:fp32[1] 2>&1 | FileCheck %s
# CHECK: error: code for 'a64fx' does not run on this machine's processor: take --emit=object or asm
@kernel(grid=(1,))
def k(y: *fp32):
    store(y, 1.0)
