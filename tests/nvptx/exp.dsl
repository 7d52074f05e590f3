# exp: 2^(n - 1) times ex2 of 1 and what is left, which is within 1/2 but below the range; bare with --fast-math.
# RUN: fsc %s --emit=ptx --arch=sm_80 -o - | FileCheck %s
# RUN: fsc %s --emit=ptx --arch=sm_80 --fast-math -o - | FileCheck %s --check-prefix=FAST
# 0f3FB8AA3B is log2(e), 0f32A57060 what its rounding leaves;
# 0f4B400001 and 0f4B4000FE hold the exponents -126 and 127 of 2^(n - 1).
# CHECK: fma.rn.f32 {{.*}}, 0f3FB8AA3B,
# CHECK: max.f32 {{.*}}, 0f4B400001;
# CHECK: min.f32 {{.*}}, 0f4B4000FE;
# CHECK: fma.rn.f32 {{.*}}, 0f3FB8AA3B,
# CHECK: fma.rn.f32 [[F:%r[0-9]+]], {{.*}}, 0f32A57060,
# CHECK: add.rn.f32 [[G:%r[0-9]+]], [[F]], 0f3F800000;
# CHECK: ex2.approx.ftz.f32 [[E:%r[0-9]+]], [[G]];
# CHECK: mul.rn.f32 {{.*}}, [[E]],
# FAST-NOT: fma.rn
# FAST: mul.rn.f32 {{.*}}, 0f3FB8AA3B;
# FAST: ex2.approx.ftz.f32
# FAST-NOT: fma.rn
@kernel(grid=(1,))
def k(y: *fp32, x: *fp32):
    i = arange(0, 128)
    v = load(x + i)
    store(y + i, exp(v))
