# RUN: not fsc --kernel k %s -o - 2>&1 | FileCheck %s
# RUN: not fsc --kernel given -D D=fp16 %s -o - 2>&1 | FileCheck --check-prefix=GIVEN %s
# RUN: not fsc --kernel mixed -D D=3 %s -o - 2>&1 | FileCheck --check-prefix=MIXED %s
# RUN: not fsc --kernel ordered -D D=fp16 %s -o - 2>&1 | FileCheck --check-prefix=ORDERED %s
# What a launch rule cannot do with a type.
# CHECK: :[[#@LINE+17]]:{{.*}} error: a type stands where the launch rule wants a number [E0504]
# CHECK: note: a type has primitive_bitwidth, and == and != compare it with a type such as bf16
# CHECK: error: the launch rule compares a type with a number [E0504]
# CHECK: error: the launch rule compares a type with a number [E0504]
# CHECK: error: 'primitive_bitwidth' asks a number what only a type knows [E0504]
# CHECK: error: 'is_fp16' asks a number what only a type knows [E0504]
# CHECK: error: '.itemsize' has no place in a launch rule or shape contract [E0504]
# CHECK: note: allowed are numbers, {{.*}} occupancy(); T == bf16, T.primitive_bitwidth
# CHECK: error: 'is_floating' has no place in a launch rule or shape contract [E0504]
# CHECK: error: a type stands where the launch rule wants a number [E0504]
# CHECK: error: 'fp12' is no parameter of the kernel [E0504]
# CHECK: error: a type stands where the launch rule wants a number [E0504]
# CHECK: error: 'T' is no constexpr parameter, and the launch rule gives values to those only [E0503]
# CHECK: error: a type stands where the launch rule wants a number [E0504]
# GIVEN: error: the launch rule cannot be evaluated: it gives B a type, and it can only give numbers [E0507]
# MIXED: error: the launch rule cannot be evaluated: 3 == fp16 is no question about a type: == and != compare two [E0507]
# ORDERED: error: the launch rule cannot be evaluated: fp16 < fp32 is no question about a type: == and != compare two [E0507]
@kernel(A=T + 1, B=T == 2, C=n != fp32, D=n.primitive_bitwidth, E=A.is_fp16() if n.is_fp16() else 1, F=T.itemsize, G=T.is_floating(),
        H=T, I=T == fp12, J=1 if T else 2, T=fp16, grid=(max(1, T),))
def k(y: *T, n: i32, A: constexpr, B: constexpr, C: constexpr, D: constexpr, E: constexpr, F: constexpr, G: constexpr, H: constexpr,
      I: constexpr, J: constexpr, T: dtype = fp32):
    store(y + arange(0, 4), 1.0)


@kernel(grid=(1,), B=D if n_is_small == 0 else 3)
def given(y: *fp32, n_is_small: constexpr = 0, B: constexpr = 4, D: constexpr = 1):
    store(y + arange(0, B), 1.0)


@kernel(grid=(1,), B=4 if D == fp16 else 8)
def mixed(y: *fp32, B: constexpr, D: constexpr):
    store(y + arange(0, B), 1.0)


@kernel(grid=(1,), B=4 if D < U else 8)
def ordered(y: *fp32, B: constexpr, D: constexpr, U: constexpr = fp32):
    store(y + arange(0, B), 1.0)
