# exp: ex2 with the rounding error of x log2(e) put back; bare with --fast-math.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_80 --fast-math -o - | FileCheck %s --check-prefix=FAST
# 0f3FB8AA3B is log2(e), 0f32A57060 what its rounding leaves.
# CHECK: mul.rn.f32 {{.*}}, 0f3FB8AA3B;
# CHECK: fma.rn.f32 {{.*}}, 0f3FB8AA3B,
# CHECK: fma.rn.f32 {{.*}}, 0f32A57060,
# CHECK: ex2.approx.ftz.f32
# FAST-NOT: fma.rn
# FAST: mul.rn.f32 {{.*}}, 0f3FB8AA3B;
# FAST: ex2.approx.ftz.f32
# FAST-NOT: fma.rn
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 128)
    v = load(x + i)
    store(y + i, exp(v))
