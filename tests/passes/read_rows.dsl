# A row that is only read is held by a cluster, 16384 elements of 8 warps in each block, as long as blocks have registers
# for it. One block goes through two rows, and through a row where there are no clusters; four through a longer one.
# RUN: fsc %s --arch=sm_90 -D BLOCK=32768 --emit=simt -o - | FileCheck %s --check-prefix=ONE
# RUN: fsc %s --arch=sm_90 -D BLOCK=65536 --emit=simt -o - | FileCheck %s --check-prefix=FOUR
# RUN: fsc %s --arch=sm_90 -D BLOCK=262144 --emit=simt -o - | FileCheck %s --check-prefix=MOST
# RUN: fsc %s --arch=sm_90 -T T=fp16 -D BLOCK=262144 --emit=simt -o - | FileCheck %s --check-prefix=MOST
# RUN: fsc %s --arch=sm_90 -D BLOCK=524288 --emit=simt -o - | FileCheck %s --check-prefix=LONG
# RUN: fsc %s --arch=sm_90 -T T=fp16 -D BLOCK=524288 --emit=simt -o - | FileCheck %s --check-prefix=LONG
# RUN: fsc %s --arch=sm_80 -D BLOCK=65536 --emit=simt -o - | FileCheck %s --check-prefix=WALKED
# RUN: fsc %s --arch=sm_90 -D BLOCK=65536 -D TWO=1 --emit=simt -o - | FileCheck %s --check-prefix=WALKED
# ONE: warps 16 threads 512 resident
# ONE-NOT: for
# FOUR: warps 8 threads 256 cluster 4
# FOUR-NOT: for
# MOST: warps 8 threads 256 cluster 16
# MOST-NOT: for
# LONG: warps 8 ctas 4 threads 256 cluster 4
# LONG: for
# WALKED: warps 8 ctas 1 threads 256 resident
# WALKED: for
@kernel
def sums(y: *fp32, x: *T, z: *T, BLOCK: constexpr = 1024, TWO: constexpr = 0, T: dtype = fp32):
    i = arange(0, BLOCK)
    v = load(x + i).to(fp32)
    if TWO:
        v = v * load(z + i).to(fp32)
    store(y, sum(v, axis=0))
