# Products by four warps: the loop of copies and products, one barrier a round; ptxas copies no sum and puts in no wait.
# RUN: fsc %s --signature "*bf16:16, *bf16:16, *bf16:16, i32:16, i32:16" --arch=sm_90a --passes=-bulk -o %t.ptx
# RUN: FileCheck %s < %t.ptx
# RUN: fsc %s --signature "*bf16:16, *bf16:16, *bf16:16, i32:16, i32:16" --arch=sm_90 -o - \
# RUN:   | FileCheck --check-prefix=PORTABLE %s
# RUN: fsc %s --signature "*bf16:16, *bf16:16, *bf16:16, i32:16, i32:16" --arch=sm_90a --passes=-operands -o - \
# RUN:   | FileCheck --check-prefix=PORTABLE %s
# CHECK: .target sm_90a
# CHECK: .extern .shared .align 1024
# CHECK: cp.async.wait_group 1;
# CHECK: fence.proxy.async.shared::cta;
# CHECK: bar.sync
# CHECK-NOT: mov.b32
# CHECK: cp.async.commit_group;
# CHECK-NOT: mov.b32
# CHECK: wgmma.fence.sync.aligned;
# CHECK-NOT: mov
# CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, 1, 1, 1, 0, 1;
# CHECK-NOT: mov
# CHECK: wgmma.mma_async
# CHECK-NOT: mov
# CHECK: wgmma.mma_async
# CHECK-NOT: mov
# CHECK: wgmma.mma_async
# CHECK: wgmma.commit_group.sync.aligned;
# CHECK-NOT: mov
# CHECK: wgmma.wait_group.sync.aligned 1;
# CHECK-NOT: mov.b32
# CHECK: wgmma.wait_group.sync.aligned 0;
# PORTABLE-NOT: wgmma.mma
# PORTABLE: mma.sync
# PORTABLE-NOT: wgmma.mma
@kernel(grid=(4,), num_warps=8)
def f(c: *bf16, a: *const bf16, b: *const bf16, N: i32, K: i32):
    m, n, ks = program_id(0) * 128 + arange(0, 128), arange(0, 128), arange(0, 64)
    sum = zeros((128, 128), fp32)
    for k in range(0, K, 64):
        x = load(a + m[:, None] * K + (k + ks)[None, :])
        y = load(b + (k + ks)[:, None] * N + n[None, :])
        sum = dot(x, y, sum)
    store(c + m[:, None] * N + n[None, :], sum.to(bf16))
