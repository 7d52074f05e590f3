# ptxas takes products by four warps as they are: no warning that it puts one behind the other (C7510 to C7519), no
# spills; both operands either way, one group of warps and several, a sum that each round reads.
# RUN: fsc %s --kernel=f --arch=sm_90a -o %t.ptx && %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %s --kernel=f --arch=sm_90a -D WARPS=8 -D BM=128 -D BN=256 -D BK=64 -o %t.ptx \
# RUN:   && %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %s --kernel=f --arch=sm_90a -D AR=0 -D BR=0 -o %t.ptx \
# RUN:   && %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %s --kernel=f --arch=sm_90a -D READ=1 --passes=-pipeline -o %t.ptx \
# RUN:   && %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %examples/attention.dsl --arch=sm_90a -T T=bf16 -D lse=None -D QUERIES=128 -D KEYS=64 -D DIM=64 \
# RUN:   --num-warps=4 -D WHOLE=True -D EVEN=True -o %t.ptx && FileCheck --check-prefix=HELD %s < %t.ptx \
# RUN:   && %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %examples/attention.dsl --arch=sm_90a -T T=bf16 -D QUERIES=128 -D KEYS=128 -D DIM=128 -D WHOLE=True \
# RUN:   -D EVEN=True --num-warps=8 --num-stages=2 -o %t.ptx && FileCheck --check-prefix=LATE %s < %t.ptx \
# RUN:   && %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %examples/attention.dsl --arch=sm_90a -T T=bf16 -D QUERIES=128 -D KEYS=128 -D DIM=128 -D WHOLE=True \
# RUN:   -D CAUSAL=True --num-warps=8 --num-stages=2 -o %t.ptx && FileCheck --check-prefix=LATE %s < %t.ptx \
# RUN:   && %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %examples/attention.dsl --arch=sm_90a --signature "*bf16:16, *fp32:16, *bf16:16, *bf16:16, *bf16:16, i32, \
# RUN:   i32, i32, i32, i32:16, fp32" -D QUERIES=64 -D KEYS=64 -D DIM=128 -D WHOLE=True -D EVEN=True \
# RUN:   --num-warps=4 --num-stages=2 -o %t.ptx && FileCheck --check-prefix=LATE %s < %t.ptx \
# RUN:   && %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %examples/matmul_fp8.dsl --arch=sm_90a -D FAST=True -D BM=128 -D BN=256 -D BK=128 --num-warps=8 \
# RUN:   --signature "*bf16:16, *fp8e4nv:16, *fp8e5:16, *fp32:16, *fp32:16, i32:16, i32:16, i32:16" -o %t.ptx \
# RUN:   && FileCheck --check-prefix=FLOATS %s < %t.ptx \
# RUN:   && %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s
# RUN: fsc %examples/matmul_int8.dsl --arch=sm_90a -D BM=128 -D BN=256 -D BK=128 --num-warps=8 \
# RUN:   --signature "*fp16:16, *i8:16, *i8:16, *fp32:16, *fp32:16, i32:16, i32:16, i32:16" -o %t.ptx \
# RUN:   && FileCheck --check-prefix=BYTES %s < %t.ptx \
# RUN:   && %ptxas -arch=sm_90a -v %t.ptx -o %t.cubin 2>&1 | FileCheck %s
# REQUIRES: ptxas
# FLOATS: wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e5m2 {{.*}}, %rd{{[0-9]+}}, %rd{{[0-9]+}}, 1, 1, 1;
# BYTES: wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {{.*}}, %rd{{[0-9]+}}, %rd{{[0-9]+}}, 1;
# HELD: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, %rd{{[0-9]+}}, %rd{{[0-9]+}}, 0, 1, 1, 0, 0;
# HELD: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, %rd{{[0-9]+}}, 1, 1, 1, 1;
# LATE-COUNT-3: wgmma.commit_group
# CHECK-NOT: C75
# CHECK: 0 bytes spill stores, 0 bytes spill loads
# CHECK-NOT: C75
@kernel(grid=(4,), num_warps=WARPS)
def f(c: *fp16, a: *const fp16, b: *const fp16, K: i32, BM: constexpr = 64, BN: constexpr = 128, BK: constexpr = 32,
      AR: constexpr = 1, BR: constexpr = 1, READ: constexpr = 0, WARPS: constexpr = 4):
    assume(K % 16 == 0)
    a, b, c = multiple_of(a, 16), multiple_of(b, 16), multiple_of(c, 16)
    m, n, ks = program_id(0) * BM + arange(0, BM), arange(0, BN), arange(0, BK)
    sum, most = zeros((BM, BN), fp32), zeros((BM, BN), fp32)
    for k in range(0, K, BK):
        x = load(a + (m[:, None] * K + (k + ks)[None, :] if AR else m[:, None] + (k + ks)[None, :] * K))
        y = load(b + ((k + ks)[:, None] * BN + n[None, :] if BR else (k + ks)[:, None] + n[None, :] * K))
        sum = dot(x, y, sum)
        if READ:
            most = maximum(most, sum)
    store(c + m[:, None] * BN + n[None, :], (most if READ else sum).to(fp16))
