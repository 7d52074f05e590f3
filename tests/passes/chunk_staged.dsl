# RUN: fsc %s --arch=sm_90 --verify-each --print-after=chunk -o %t.ptx -D BLOCK=1048576 \
# RUN:   --signature "*fp32:16,*fp32:16,*fp32:16,i32:16,1048576" 2>&1 | FileCheck %s
# RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
# RUN: fsc %s --arch=sm_90 --print-after=barrier -o /dev/null -D BLOCK=1048576 2>&1 | FileCheck %s --check-prefix=MEET
# RUN: fsc %s --arch=sm_90 --print-after=barrier -o /dev/null -D BLOCK=1048576 \
# RUN:   --signature "*fp32:16,*fp32:16,*fp32:16,i32:16,1048576" 2>&1 | FileCheck %s --check-prefix=MEET
# RUN: fsc %s --arch=sm_90 --print-after=chunk -o /dev/null -D BLOCK=1048576 -T T=fp16 2>&1 \
# RUN:   | FileCheck %s --check-prefix=FITS
# RUN: fsc %s --arch=sm_90 --print-after=chunk -o /dev/null -D BLOCK=1048576 \
# RUN:   --signature "*fp16:16,*fp16:16,*fp16:16,i32:16,1048576,0,fp16" 2>&1 | FileCheck %s --check-prefix=TWO
# RUN: fsc %s --arch=sm_80 --print-after=chunk -o /dev/null -D BLOCK=65536 -T T=fp16 2>&1 \
# RUN:   | FileCheck %s --check-prefix=FITS
# RUN: fsc %s --arch=sm_86 --print-after=chunk -o /dev/null -D BLOCK=65536 2>&1 | FileCheck %s --check-prefix=SMALL
# RUN: fsc %s --arch=sm_90 --print-after=chunk -o /dev/null -D BLOCK=16384 -D TABLE=1 --num-warps=1 --num-ctas=1 2>&1 \
# RUN:   | FileCheck %s --check-prefix=OTHER
# RUN: fsc %s --arch=sm_90 --verify-each --print-after=pipeline -o /dev/null -D BLOCK=1048576 -D "n>=800000" \
# RUN:   --num-stages=1 --signature "*fp32:16,*fp32:16,*fp32:16,i32:16,1048576" 2>&1 | FileCheck %s --check-prefix=AHEAD
# RUN: fsc %s --arch=sm_90 --verify-each --print-after=pipeline -o /dev/null -D BLOCK=1048576 \
# RUN:   --signature "*fp32:16,*fp32:16,*fp32:16,i32:16,1048576" 2>&1 | FileCheck %s --check-prefix=OTHERS
# RUN: fsc %s --arch=sm_80 --print-after=chunk -o /dev/null -D BLOCK=262144 \
# RUN:   --signature "*fp32:16,*fp32:16,*fp32:16,i32:16,262144" 2>&1 | FileCheck %s --check-prefix=REST
# One loop for maximum and sum, each thread for itself, then each warp; what fits of the row stays on chip. Three of
# four chunks are in shared memory, and one is in registers: its load is under way before the loop. Of 16 bits six of
# eight, so that two blocks fit beside each other; all of a row that begins anywhere, which has no registers for that,
# and of a shorter one on a target without clusters.

# CHECK: #b0 = #buffer<3 x [512x32] fp32 at #l{{[0-9]+}} private>
# CHECK-LABEL: func @normalize
# CHECK: const 786432 : i32
# CHECK: [[HELD:%v[_0-9]*]] = load {{.*}} : tile<262144xfp32>
# CHECK: for {{.*}} : (tile<8192xfp32>, tile<8192xfp32>)
# CHECK: [[ROW:%v[_0-9]*]] = load {{.*}} : tile<262144xfp32>
# CHECK-NEXT: shared_store [[ROW]], %{{.*}} {buffer = b0}
# CHECK: reduce_warp [[ROW]] {{.*}}combine = fmax} : tile<8192xfp32>
# CHECK: broadcast_warp
# CHECK: exp %{{.*}} {accuracy = term} : tile<262144xfp32>
# CHECK: reduce_warp {{.*}}combine = fadd} : tile<8192xfp32>
# CHECK-NOT: reduce %
# CHECK: yield
# CHECK: reduce_warp [[HELD]] {{.*}}combine = fmax} : tile<8192xfp32>
# CHECK: reduce_warp {{.*}}combine = fadd} : tile<8192xfp32>
# CHECK: reduce_warp {{.*}}combine = fmax} : tile<256xfp32>
# CHECK: reduce_warp {{.*}}combine = fadd} : tile<256xfp32>
# CHECK: reduce %{{.*}}combine = fmax} : fp32
# CHECK: reduce %{{.*}}combine = fadd} : fp32
# CHECK: fsub [[HELD]]
# CHECK: store
# CHECK: for
# CHECK-NOT: {{ }}load
# CHECK: shared_load %{{.*}} {buffer = b0}
# CHECK: store
# CHECK-NOT: for

# Copies bring the chunks to where they stay, two rounds ahead, and their masks are true.
# AHEAD-COUNT-2: copy_async %{{.*}} {buffer = b0, begin,
# AHEAD: for
# AHEAD: copy_wait {pending = 1}
# AHEAD-NEXT: %v{{.*}} = copy_read %{{[0-9]+}} {buffer = b0,
# AHEAD: copy_async %{{.*}} {buffer = b0, prefetch,
# AHEAD-NOT: shared_store {{.*}}buffer = b0}
# AHEAD: shared_load %{{.*}} {buffer = b0}

# A copy leaves zeros where the mask is off, and later loops find -inf there.
# OTHERS: %v{{.*}} = copy_read %{{[0-9]+}}, %{{.*}}, %{{.*}} {buffer = b0,
# OTHERS: shared_store %v{{.*}} {buffer = b0}
# OTHERS: shared_load %{{.*}} {buffer = b0}

# What does not fit is loaded again.
# REST: [[HELD:%v[_0-9]*]] = load
# REST: for
# REST: shared_store
# REST: for
# REST: {{ }}load
# REST: reduce_warp [[HELD]]
# REST: fsub [[HELD]]
# REST: for
# REST: shared_load
# REST: for
# REST: {{ }}load

# All threads meet behind the loop, once, and not before another block has begun: also where copies bring the row.
# MEET: for
# MEET-NOT: barrier
# MEET: }
# MEET: barrier cluster {begin}
# MEET-NEXT: shared_store
# MEET-NOT: {{barrier|shared_wait}}
# MEET: shared_store
# MEET-NEXT: shared_wait
# MEET-NEXT: shared_load
# MEET-NEXT: shared_wait
# MEET-NEXT: shared_load
# MEET-NOT: barrier

# PTX: st.shared.v4.b32
# PTX: ld.shared.v4.b32

# FITS: #b0 = #buffer<{{.*}} fp16{{.*}} private>
# FITS: for
# FITS: load
# FITS-NOT: if
# FITS: shared_store
# FITS: {{^}}  for
# FITS-NOT: {{ }}load
# FITS: shared_load
# FITS-NOT: {{ }}load

# TWO: #b0 = #buffer<6 x [512x16] fp16
# TWO: [[FIRST:%[0-9]+]] = load
# TWO: [[SECOND:%[0-9]+]] = load
# TWO: for
# TWO: shared_store
# TWO: fpext [[FIRST]]
# TWO: fpext [[SECOND]]
# TWO: fpext [[FIRST]]
# TWO: fpext [[SECOND]]
# TWO: for
# TWO-NOT: {{ }}load
# TWO: shared_load

# SMALL: #b0 = #buffer<3 x {{.*}} fp32 at #l{{[0-9]+}} private>
# SMALL: shared_store
# SMALL: shared_load

# With another tile in the kernel its exchanges are not known yet.
# OTHER: for
# OTHER-NOT: shared_store
# OTHER: for
# OTHER: load
@kernel
def normalize(y: *T, z: *T, x: *T, n: i32, BLOCK: constexpr = 1, TABLE: constexpr = 0, T: dtype = fp32):
    cols = arange(0, BLOCK)
    mask = cols < n
    v = load(x + cols, mask=mask, other=-inf).to(fp32)
    if TABLE:
        store(z + arange(0, 64), load(x - 64 + arange(0, 64)))
    e = exp(v - max(v, axis=0))
    store(y + cols, e / sum(e, axis=0), mask=mask)
