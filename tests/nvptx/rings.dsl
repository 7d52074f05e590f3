# A product in a loop: both operands by asynchronous copies of 16 bytes, three rounds before the loop and one in it; a
# round has one wait and one barrier, in front of its last products, fragments by ldmatrix a step ahead. An operand whose rows begin anywhere is
# loaded in its round, and -Rperf says so.
# RUN: fsc %s --arch=sm_80 --signature "*fp32:16, *const bf16:16, *const bf16:16, i32, i32:16" -o - | FileCheck %s
# RUN: fsc %s --arch=sm_120 --signature "*fp32:16, *const bf16:16, *const bf16:16, i32, i32:16" -o - | FileCheck %s
# RUN: fsc %s --arch=sm_80 --num-stages=2 --signature "*fp32:16, *const bf16:16, *const bf16:16, i32, i32:16" -o - \
# RUN:   | FileCheck --check-prefix=TWO %s
# RUN: fsc %s --arch=sm_75 --signature "*fp32:16, *const bf16:16, *const bf16:16, i32, i32:16" -o - \
# RUN:   | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --arch=sm_80 --num-stages=1 --signature "*fp32:16, *const bf16:16, *const bf16:16, i32, i32:16" -o - \
# RUN:   | FileCheck --check-prefix=NONE %s
# RUN: fsc %s --arch=sm_80 -Rperf --signature "*fp32:16, *const bf16:16, *const bf16:16, i32, i32" -o %t.ptx 2>&1 \
# RUN:   | FileCheck --check-prefix=REMARK %s
# CHECK-COUNT-24: cp.async.cg.shared.global [%r{{[0-9+]+}}], [%rd{{[0-9+]+}}], 16, %{{r|p}}{{[0-9]+}};
# CHECK: cp.async.wait_group 2;
# CHECK: bar.sync
# CHECK-COUNT-8: ldmatrix
# CHECK: $L__BB0_{{[0-9]+}}:
# CHECK-NOT: {{bar.sync|ld.shared|st.shared|cp.async}}
# CHECK-COUNT-8: ldmatrix
# CHECK-COUNT-4: cp.async.cg.shared.global
# CHECK-NOT: {{bar.sync|ld.shared|ldmatrix|st.shared|cp.async}}
# CHECK-COUNT-32: mma.sync
# CHECK-COUNT-4: cp.async.cg.shared.global
# CHECK: cp.async.commit_group;
# CHECK: cp.async.wait_group 2;
# CHECK-NOT: {{ld.shared|ldmatrix|st.shared|cp.async}}
# CHECK: bar.sync
# CHECK-COUNT-8: ldmatrix
# CHECK-NOT: {{bar.sync|ld.shared|ldmatrix|st.shared|cp.async}}
# CHECK-COUNT-32: mma.sync
# CHECK-NOT: {{bar.sync|ld.shared|ldmatrix|st.shared|cp.async}}
# CHECK: bra
# TWO-COUNT-8: cp.async.cg.shared.global
# TWO: cp.async.wait_group 0;
# TWO: $L__BB0_{{[0-9]+}}:
# TWO-COUNT-8: cp.async.cg.shared.global
# TWO: cp.async.wait_group 0;
# TWO-NOT: cp.async.cg
# NONE-NOT: cp.async
# NONE: st.global
# REMARK: rings.dsl:[[#@LINE+8]]:13: remark: num_stages changes nothing here: it takes no vectors of 4, 8 or 16 bytes [R0105]
# REMARK-NOT: remark: num_stages
@kernel(grid=(1,), num_warps=4)
def f(r: *fp32, x: *const bf16, y: *const bf16, K: i32, S: i32):
    i, j, l = arange(0, 128), arange(0, 128), arange(0, 32)
    acc = zeros((128, 128), fp32)
    for k in range(0, K, 32):
        a = load(y + i[:, None] * 4096 + (k + l)[None, :], mask=(k + l < K)[None, :] & (i < K)[:, None])
        b = load(x + (k + l)[:, None] * S + j[None, :], mask=(k + l < K)[:, None])
        acc = dot(a, b, acc)
    store(r + i[:, None] * 128 + j[None, :], acc)
