# RUN: fsc --emit=report --kernel k %s -o - | FileCheck --check-prefixes=CHECK,FP32 %s
# RUN: fsc --emit=report --kernel k -T T=float16 %s -o - | FileCheck --check-prefixes=CHECK,FP16 %s
# RUN: fsc --emit=report --kernel k -D T=bf16 %s -o - | FileCheck --check-prefixes=CHECK,BF16 %s
# RUN: fsc --emit=report --kernel k --signature "*i1, *i1, i32, , , , , i1, fp8e5" %s -o - \
# RUN:   | FileCheck --check-prefixes=CHECK,I1 %s
# RUN: fsc --emit=report --kernel any -D D=fp16 %s -o - | FileCheck --check-prefix=ANY %s
# A launch rule asks for the type that a dtype parameter is, in the words of kernels;
# its default counts before other defaults do.
# FP32: param constexpr WIDE int 4 rule "$7 fp32 == $7 fp64 == or 4 8 sel"
# FP16: param constexpr WIDE int 8 rule
# BF16: param constexpr WIDE int 8 rule
# I1: param constexpr WIDE int 8 rule
# FP32: param constexpr B int 128 rule "128 $7 bits * 16 32 max //"
# FP16: param constexpr B int 64 rule
# BF16: param constexpr B int 64 rule
# I1: param constexpr B int 4 rule
# FP32: param constexpr HALF int 0 rule "$7 fp16 == $7 bf16 == or"
# FP16: param constexpr HALF int 1 rule
# BF16: param constexpr HALF int 1 rule
# FP32: param constexpr SAME int 1 rule "$7 $8 =="
# FP16: param constexpr SAME int 0 rule
# I1: param constexpr SAME int 0 rule
# CHECK: grid "$2 $3 cdiv $7 fp32 == 1 2 sel *"
# CHECK: num_warps "$7 bf16 == 2 4 sel"
# CHECK: require "$7 i8 !=" "T != i8"
# FP32: launch k threads=128
# FP16: launch k threads=128
# BF16: launch k threads=64
# ANY: param constexpr B int 64 rule "$2 fp16 == 64 32 sel"
@kernel(grid=(cdiv(n, WIDE) * (1 if T == fp32 else 2),), WIDE=4 if T == fp32 or T == tl.float64 else 8,
        B=128 * T.primitive_bitwidth // max(16, 32), HALF=T.is_fp16() or T.is_bfloat16(), SAME=T == U,
        num_warps=2 if T == bf16 else 4, require=(T != i8,))
def k(y: *T[n], x: *T[n], n: i32, WIDE: constexpr = 1, B: constexpr = 1, HALF: constexpr = 7, SAME: constexpr = 7, T: dtype = fp32,
      U: dtype = fp32):
    i = program_id(0) * WIDE + arange(0, 512)
    store(y + i, load(x + i, mask=i < n), mask=i < n)


# A constexpr parameter may be a type or a number: the rule finds out when it has a value.
@kernel(grid=(1,), B=64 if D == fp16 else 32)
def any(y: *fp32, B: constexpr, D: constexpr):
    store(y + arange(0, B), 1.0)
