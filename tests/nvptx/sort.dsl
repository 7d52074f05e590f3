# RUN: fsc %s -D N=512 --num-warps=1 --arch=sm_90 -o - | FileCheck %s --check-prefix=WARP
# RUN: fsc %s -D N=4 --num-warps=1 --arch=sm_90 -o - | FileCheck %s --check-prefix=FEW
# RUN: fsc %s -D N=256 --num-warps=2 --arch=sm_90 -o - | FileCheck %s --check-prefix=TWO
# RUN: fsc %s -D N=4096 --arch=sm_90 -o - | FileCheck %s --check-prefix=MANY
# A sorting network: what lies in one thread changes places by name alone, lanes meet in shuffles,
# warps in shared memory.
# WARP-NOT: shared
# WARP-NOT: bar.
# FEW-COUNT-3: shfl.sync.bfly
# FEW-NOT: shfl
# The last merge alone compares elements of two warps.
# TWO-COUNT-1: bar.sync
# TWO-NOT: bar.sync
# MANY: .reqntid 512
@kernel(grid=(1,))
def k(y: *T, x: *T, N: constexpr = 1024, T: dtype = fp32):
    i = arange(0, N)
    store(multiple_of(y, 16) + i, sort(load(multiple_of(x, 16) + i)))
