# RUN: fsc %s --arch=sm_80 --num-warps=1 --print-after=chunk -o /dev/null -D BLOCK=8192 2>&1 | FileCheck %s
# RUN: fsc %s --arch=sm_80 --num-warps=1 --print-after=chunk -o /dev/null -D BLOCK=4096 2>&1 \
# RUN:   | FileCheck %s --check-prefix=SHORT
# RUN: fsc %s --arch=sm_90 --num-warps=1 --print-after=chunk -o /dev/null -D BLOCK=8192 2>&1 \
# RUN:   | FileCheck %s --check-prefix=SHORT
# A row in two loops: the sum, of each thread and then of all; both stores. The store of one element, which comes first
# in the source, moves behind them. A program of the second target has blocks enough.

# SHORT-NOT: for
# CHECK-LABEL: func @scaled
# CHECK: [[ZERO:%[0-9]+]] = const -0.0 : tile<32xfp32>
# CHECK: [[OWN:%[0-9a-z]+]] = for [[AT:%[0-9]+]] = {{.*}} carry ([[ACC:%[0-9]+]] = [[ZERO]])
# CHECK: [[P:%[0-9]+]] = addptr %{{.*}}, [[AT]] : *fp32
# CHECK: splat [[P]] : tile<512x*fp32>
# CHECK: load {{.*}} : tile<512xfp32>
# CHECK: [[PART:%[0-9]+]] = reduce_warp {{.*}}combine = fadd} : tile<32xfp32>
# CHECK: fadd [[ACC]], [[PART]]
# CHECK: yield
# CHECK: [[SUM:%[0-9a-z]+]] = reduce [[OWN]] {{.*}}combine = fadd} : fp32
# CHECK: for
# CHECK: shared_load %{{.*}} {buffer = b0} : tile<512xfp32>
# CHECK: store {{.*}}%mask_1
# CHECK: store {{.*}}%mask_1
# CHECK: }
# CHECK-NEXT: store %{{[0-9]+}}, [[SUM]]
# CHECK-NEXT: return
@kernel
def scaled(y: *fp32, z: *fp32, total: *fp32, x: *const fp32, n: i32, BLOCK: constexpr = 1):
    cols = arange(0, BLOCK)
    mask = cols < n
    v = load(x + cols, mask=mask, other=0.0)
    s = sum(v, axis=0)
    store(total + program_id(0), s)
    store(y + cols, v / s, mask=mask)
    store(z + cols, v * s, mask=mask)
