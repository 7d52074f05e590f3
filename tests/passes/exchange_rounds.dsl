# Columns reduced over the blocks of a cluster: the warps of a block combine theirs first, in shared memory of their
# own, and what comes of it goes to all blocks. A lane keeps one of the eight results that a thread has; at the end all
# lanes get theirs back.
# RUN: fsc %s --kernel=sums --signature "*fp32:16, *fp16:16" --num-warps=8 --num-ctas=16 --arch=sm_90 --emit=simt -o - \
# RUN:   | FileCheck %s
# CHECK-DAG: #[[PART:l[0-9]+]] = #layout<[128x16] reg=[] lane=[8,0,1,2,4] warp=[16,32,64] cta=[128,256,512,1024]>
# CHECK-DAG: #[[MEET:l[0-9]+]] = #layout<[128x16] reg=[] lane=[1,2,16,32,64] warp=[4,8,0] cta=[128,256,512,1024]>
# CHECK-DAG: #[[MET:l[0-9]+]] = #layout<[16x16] reg=[] lane=[1,2,0,0,0] warp=[4,8,0] cta=[16,32,64,128]>
# CHECK-DAG: #[[LAST:l[0-9]+]] = #layout<[16] reg=[] lane=[8,0,1,2,4] warp=[0,0,0] cta=[0,0,0,0]>
# CHECK: #b0 = #buffer<[8x16] fp32 at #l{{[0-9]+}} offset 0>
# CHECK-NEXT: #b1 = #buffer<[16x16] fp32 counted offset 512>
# CHECK: [[A:%.*]] = reduce_warp %v {axis = 0, combine = fadd, scatter} : tile<128x16xfp32, #[[PART]]>
# CHECK-NEXT: shared_store [[A]] {buffer = b0}
# CHECK-NEXT: barrier block
# CHECK-NEXT: [[B:%.*]] = shared_load {buffer = b0} : tile<128x16xfp32, #[[MEET]]>
# CHECK-NEXT: [[C:%.*]] = reduce_warp [[B]] {axis = 0, combine = fadd} : tile<16x16xfp32, #[[MET]]>
# CHECK-NEXT: barrier cluster {begin}
# CHECK-NEXT: shared_store [[C]] {buffer = b1, cluster}
# CHECK-NEXT: shared_wait {buffer = b1}
# CHECK-NEXT: [[D:%.*]] = shared_load {buffer = b1}
# CHECK-NEXT: [[E:%.*]] = reduce_warp [[D]] {axis = 0, combine = fadd} : tile<16xfp32, #[[LAST]]>
# CHECK-NEXT: convert_layout [[E]]
# CHECK-NOT: barrier

# Lanes that hold the same column store into different blocks: one store for all 16.
# RUN: fsc %s --kernel=sums --signature "*fp32:16, *fp16:16" --num-warps=8 --num-ctas=16 --arch=sm_90 --emit=ptx -o - \
# RUN:   | FileCheck %s --check-prefix=STORE
# STORE-COUNT-1: st.async
# STORE-NOT: {{st.async|st.shared::cluster}}

# One block of four warps has little to combine: one round, in which lanes hold the columns.
# RUN: fsc %s --kernel=sums --signature "*fp32:16, *fp16:16" -D ROWS=512 --num-warps=4 --num-ctas=1 --arch=sm_90 \
# RUN:   --emit=simt -o - | FileCheck %s --check-prefix=ONCE
# ONCE-COUNT-1: barrier
# ONCE-NOT: barrier
# ONCE: shared_load
# ONCE: reduce_warp
# ONCE: convert_layout

# Pairs of a maximum and a sum below it take an exponential each: two rounds in one block as well,
# and one for each thread.
# RUN: fsc %s --kernel=pairs --signature "*fp32:16, *fp32:16" --num-warps=16 --num-ctas=1 --arch=sm_90 --emit=simt \
# RUN:   -o - | FileCheck %s --check-prefix=PAIRS
# PAIRS: shared_store
# PAIRS: barrier block
# PAIRS: [[M:%.*]] = reduce_warp {{.*}} {axis = 0, combine = fmax} : tile<16xfp32
# PAIRS: [[S:%.*]] = reduce_warp {{.*}} {axis = 0, combine = fadd} : tile<16xfp32
# PAIRS: shared_store
# PAIRS: barrier block
# PAIRS-NOT: barrier
# RUN: fsc %s --kernel=pairs --signature "*fp32:16, *fp32:16" --num-warps=16 --num-ctas=1 --arch=sm_90 --emit=ptx -o - \
# RUN:   | FileCheck %s --check-prefix=PTX
# PTX: bar.sync
# PTX-COUNT-1: ld.shared
# PTX-NOT: ld.shared
# PTX: bar.sync
# PTX-COUNT-1: ld.shared
# PTX-NOT: ld.shared
@kernel(grid=(1,))
def sums(y: *fp32, x: *fp16, ROWS: constexpr = 16384, COLS: constexpr = 16):
    at = arange(0, COLS)
    v = load(x + arange(0, ROWS)[:, None] * COLS + at[None, :]).to(fp32)
    store(y + at, sum(v, axis=0))

@kernel(grid=(1,))
def pairs(y: *fp32, x: *fp32, ROWS: constexpr = 2048, COLS: constexpr = 16):
    at = arange(0, ROWS)[:, None] * COLS + arange(0, COLS)[None, :]
    v = load(x + at)
    e = exp(v - max(v, axis=0))
    store(y + at, e / sum(e, axis=0))
