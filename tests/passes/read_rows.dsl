# A row that is only read is held by a cluster, as long as blocks have registers for it: 16384 elements of 8 warps in
# each, or 12288 where eight blocks hold whole vectors of a row. In 16 bits these are 32768, where they come as
# vectors. One block goes through two rows, and through a row where there are no clusters. A cluster goes through a
# longer row, also where programs are few. In 16 bits a row that begins anywhere has up to 28672 elements in a block.
# RUN: fsc %s --arch=sm_90 -D BLOCK=16384 --emit=simt -o - | FileCheck %s --check-prefix=ONE
# RUN: fsc %s --arch=sm_90 -D BLOCK=32768 --emit=simt -o - | FileCheck %s --check-prefix=PAIR
# RUN: fsc %s --arch=sm_90 -D BLOCK=65536 --emit=simt -o - | FileCheck %s --check-prefix=FOUR
# RUN: fsc %s --arch=sm_90 -D BLOCK=131072 --emit=simt -o - | FileCheck %s --check-prefix=EIGHT
# RUN: fsc %s --arch=sm_90 -T T=fp16 -D BLOCK=262144 --emit=simt -o - | FileCheck %s --check-prefix=MOST
# RUN: fsc %s --arch=sm_90 -D BLOCK=262144 --emit=simt -o - | FileCheck %s --check-prefix=LONG
# RUN: fsc %s --arch=sm_90 -D BLOCK=524288 --emit=simt -o - | FileCheck %s --check-prefix=LONGER
# RUN: fsc %s --arch=sm_90 -T T=fp16 -D BLOCK=524288 --emit=simt -o - | FileCheck %s --check-prefix=LONGER
# RUN: fsc %s --arch=sm_80 -D BLOCK=65536 --emit=simt -o - | FileCheck %s --check-prefix=WALKED
# RUN: fsc %s --arch=sm_90 -D BLOCK=65536 -D TWO=1 --emit=simt -o - | FileCheck %s --check-prefix=WALKED
# RUN: fsc info --gpu=h200 %examples/cross_entropy.dsl n_rows=128 n_cols=524288 x_stride=524288 \
# RUN:   | FileCheck %s --check-prefix=FEW
# RUN: fsc info --gpu=h200 %examples/cross_entropy.dsl -T T=bf16 n_rows=200 n_cols=524288 x_stride=524288 \
# RUN:   | FileCheck %s --check-prefix=FULL
# RUN: fsc info --gpu=h200 %examples/softmax.dsl -T T=bf16 n_rows=128 n_cols=524288 x_stride=524288 y_stride=524288 \
# RUN:   | FileCheck %s --check-prefix=FULL
# RUN: fsc info --gpu=h200 %examples/cross_entropy.dsl -T T=bf16 n_rows=512 n_cols=65537 x_stride=65537 \
# RUN:   | FileCheck %s --check-prefix=ANYWHERE
# RUN: fsc info --gpu=h200 %examples/cross_entropy.dsl -T T=bf16 n_rows=512 n_cols=81920 x_stride=81920 \
# RUN:   | FileCheck %s --check-prefix=WHOLE
# RUN: fsc info --gpu=h200 %examples/cross_entropy.dsl n_rows=2000 n_cols=24576 x_stride=24576 \
# RUN:   | FileCheck %s --check-prefix=HALVES
# RUN: fsc info --gpu=h200 %examples/cross_entropy.dsl n_rows=2000 n_cols=32768 x_stride=32768 \
# RUN:   | FileCheck %s --check-prefix=QUARTERS
# RUN: fsc info --gpu=h200 %examples/cross_entropy.dsl n_rows=2000 n_cols=22528 x_stride=22528 \
# RUN:   | FileCheck %s --check-prefix=ALONE
# HALVES: blocks per program {{ *}}2 (a cluster)
# QUARTERS: blocks per program {{ *}}4 (a cluster)
# ALONE: warps per program {{ *}}16 (512 threads)
# ALONE-NOT: blocks per program
# ANYWHERE: tile 131072 {{ *}}131072 elements = 1024 threads x 128
# WHOLE: tile 131072 {{ *}}131072 elements = 2048 threads x 64
# ONE: warps 8 threads 256 resident
# ONE-NOT: for
# PAIR: warps 8 threads 256 cluster 2
# PAIR-NOT: for
# FOUR: warps 8 threads 256 cluster 4
# FOUR-NOT: for
# EIGHT: warps 8 threads 256 cluster 8
# EIGHT-NOT: for
# MOST: warps 8 threads 256 cluster 16
# MOST-NOT: for
# LONG: warps 8 ctas 8 threads 256 cluster 8
# LONG: for
# LONGER: warps 8 ctas 16 threads 256 cluster 16
# LONGER: for
# WALKED: warps 8 ctas 1 threads 256 resident
# WALKED: for
# FEW: warps per program {{ *}}128 (4096 threads)
# FEW: tile 131072
# FULL: warps per program {{ *}}128 (4096 threads)
# FULL: tile 524288 {{ *}}524288 elements = 4096 threads x 128
@kernel
def sums(y: *fp32, x: *T, z: *T, BLOCK: constexpr = 1024, TWO: constexpr = 0, T: dtype = fp32):
    i = arange(0, BLOCK)
    v = load(x + i).to(fp32)
    if TWO:
        v = v * load(z + i).to(fp32)
    store(y, sum(v, axis=0))
