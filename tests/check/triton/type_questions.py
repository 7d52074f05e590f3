# RUN: not fsc --signature "*fp16, *i32, *u8, *fp8e5" %s -o - 2>&1 | FileCheck %s
# What a type can be asked, and functions for compile time, which may ask it.
import triton
import triton.language as tl


@tl.constexpr
def sum_type(dtype: tl.dtype) -> tl.dtype:
    if dtype.is_bf16() or dtype.is_fp16():
        return tl.float32
    if dtype.is_int_signed():
        return tl.int64
    return dtype


@triton.constexpr_function
def half(n):
    return n // 2


@triton.jit
def values(D: tl.constexpr, S: tl.constexpr, N: tl.constexpr, B: tl.constexpr):
    tl.static_print(D.value, S.value, N.value, B.value)


@triton.jit
def k(h, i, u, e):
    # CHECK: fp32 text None 4
    values(tl.float32, "text", None, 4)
    # CHECK: fp32 i64 u8 7
    tl.static_print(sum_type(h.dtype.element_ty), sum_type(i.type.element_ty), sum_type(u.type.scalar.element_ty), half(15))
    # CHECK: True False True
    tl.static_print(h.dtype.is_ptr(), h.dtype.is_floating(), h.dtype.element_ty.is_floating())
    # CHECK: True True False True
    tl.static_print(tl.uint8.is_int(), tl.uint8.is_int_unsigned(), tl.uint8.is_int_signed(), tl.uint8.is_uint8())
    # CHECK: True False True True False
    t = e.dtype.element_ty
    tl.static_print(t.is_fp8(), t.is_standard_floating(), t.is_fp8e5(), tl.int1.is_bool(), tl.int32.is_int64())
    # CHECK: u32 (fp16, bf16)
    bits: tl.constexpr = e.dtype.element_ty.primitive_bitwidth * 4
    tl.static_print(tl.dtype(f"uint{bits}"), (tl.dtype("fp16"), tl.dtype("bf16")))
    # CHECK: error: 'name' of 'dtype' must be the name of a type, such as "fp32", not the string "uint7" [E0318]
    tl.static_print(tl.dtype("uint7"))
    # CHECK: error: the type fp32 has no 'is_small' [E0209]
    tl.static_assert(tl.float32.is_small())
    # CHECK: error: i32 has no 'is_floating'
    tl.static_assert(tl.load(i).is_floating())
