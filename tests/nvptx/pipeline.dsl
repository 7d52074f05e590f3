# A loop with num_stages: asynchronous copies where the target has them, whole vectors past the L1; a mask makes them
# shorter, other comes behind the wait.
# RUN: fsc %s --arch=sm_80 --signature "*fp32:16, *const fp32:16, i32, i32:16" -o - \
# RUN:   | FileCheck --check-prefixes=CHECK,COPY %s
# RUN: fsc %s --arch=sm_90 --signature "*fp32:16, *const fp32:16, i32, i32:16" -o - \
# RUN:   | FileCheck --check-prefixes=CHECK,COPY %s
# RUN: fsc %s --arch=sm_75 --signature "*fp32:16, *const fp32:16, i32, i32:16" -o - \
# RUN:   | FileCheck --check-prefixes=CHECK,REGISTERS %s
# RUN: fsc %s --arch=sm_90 --passes=-pipeline --signature "*fp32:16, *const fp32:16, i32, i32:16" -o - \
# RUN:   | FileCheck --check-prefixes=CHECK,PLAIN %s
# CHECK: .version {{[678]}}
# Two rounds before the loop, and one in it, behind the read of the same place.
# COPY: @%p{{[0-9]+}} cp.async.cg.shared.global [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 16, %p{{[0-9]+}};
# COPY: cp.async.commit_group;
# COPY: @%p{{[0-9]+}} cp.async.cg.shared.global
# COPY: cp.async.commit_group;
# COPY: $L__BB0_{{[0-9]+}}:
# COPY: cp.async.wait_group 1;
# COPY: ld.shared.v4.b32 {[[A:%r[0-9]+]], {{.*}}}, [[[PLACE:%r[0-9]+]]];
# COPY: selp.{{[bf]}}32 {{%r[0-9]+}}, [[A]], {{-1063256064|0fC0A00000}},
# COPY: @%p{{[0-9]+}} cp.async.cg.shared.global [[[PLACE]]],
# COPY: cp.async.commit_group;
# COPY: st.global.v4
# One round ahead: the load before the loop, and the next one's in it.
# REGISTERS: ld.global.v4
# REGISTERS: $L__BB0_{{[0-9]+}}:
# REGISTERS: @%p{{[0-9]+}} ld.global.v4
# REGISTERS: st.global.v4
# PLAIN-NOT: cp.async
# PLAIN: $L__BB0_{{[0-9]+}}:
# PLAIN: ld.global.v4
# PLAIN-NOT: ld.global
@kernel(grid=(132,), num_warps=8)
def f(y: *fp32, x: *const fp32, rows: i32, n: i32):
    c = arange(0, 1024)
    for row in range(program_id(0), rows, 132, num_stages=3):
        store(y + row * n + c, load(x + row * n + c, mask=c < n, other=-5) * 3, mask=c < n)
