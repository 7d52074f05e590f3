# No fast-math flag and no `contract`: fusing is a pass of the tile IR.
# RUN: fsc %s --emit=llvm --arch=cpu -O0 -o - | FileCheck %s
# RUN: fsc %s --emit=llvm --arch=cpu -O3 -o - | FileCheck %s
# CHECK-LABEL: define void @k(
# CHECK-NOT: {{(fadd|fmul|fdiv|fsub|call) (fast|contract|reassoc|nnan|ninf|nsz|arcp|afn)}}
# CHECK: ret void
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 128)
    a = load(x + i)
    store(y + i, exp(a * a + 1.0) / sum(a - 2.0, axis=0))
