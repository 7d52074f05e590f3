# A processor that LLVM does not know is an error of ours.
# RUN: exits 1 fsc %s --emit=asm --arch=cpu --cpu=abacus -o - 2>&1 | FileCheck %s
# CHECK-NOT: recognized
# CHECK: error: unknown processor 'abacus' [E0601]
# CHECK-NEXT: note: without --cpu it is this machine's; names are LLVM's, {{.*}} x86-64-v4, armv8-a,
# CHECK-NOT: error
@kernel(grid=(1,))
def k(y: *fp32):
    store(y, 1.0)
