# Line directives name the source; no debug target.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# CHECK: .target sm_80
# CHECK-NOT: debug
# CHECK: .visible .entry k(
# CHECK: .loc [[F:[0-9]+]] [[#@LINE+8]]
# CHECK: ld.global
# CHECK: .loc [[F]] [[#@LINE+7]]
# CHECK: st.global
# CHECK: .file [[F]] "{{.*}}line_info.dsl"
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 128)
    v = load(x + i)
    store(y + i, v)
