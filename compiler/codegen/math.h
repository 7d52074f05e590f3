/* math.h - the elementwise ops of the tile IR as LLVM instructions, shared by the GPU and the CPU target.
 *
 * In: an op and its operands as LLVM values, each a scalar or (CPU) a vector of elements. Out: the result, same shape.
 * Method: plain arithmetic is LLVM's own without fast-math flags; division by zero, wide shifts, saturating
 * conversions, minimum and maximum are expanded as ops.def says; exp and log are polynomials, or built on the target's
 * approximations where it has them. Values of fp16 and bf16 are LLVM's half and bfloat; fp8 values are i8; i1 values
 * are i1.
 */
#ifndef FSC_CODEGEN_MATH_H
#define FSC_CODEGEN_MATH_H

#include "codegen/llvm.h"

/* What a target computes by an instruction of its own, all fp32.
 * A target without one gets polynomials and plain ops. */
typedef enum Approx {
    APPROX_EX2,   /* 2^x, 2 ulp; subnormal operands and results count as zero */
    APPROX_LG2,   /* log2 x, within 2^-22 absolute near 1, 2 ulp elsewhere */
    APPROX_RCP,   /* 1 / x, 1 ulp */
    APPROX_RSQRT, /* 1 / sqrt x, 2 ulp */
    APPROX_SQRT,  /* sqrt x, 1 ulp */
    APPROX_DIV,   /* x / y, 2 ulp over the whole range */
} Approx;

typedef enum ToInt { TO_SIGNED, TO_NEAREST, TO_UNSIGNED } ToInt; /* nearest: signed, halves to the even integer */

typedef struct Math Math;
struct Math {
    Llvm *m;
    bool fast;         /* --fast-math: approximations without corrections */
    uint64_t features; /* of the target: FEATURES(…) */
    /* The target's own instruction, or NULL where it has none (also when `approx` itself is NULL).
     * y is NULL for unary. */
    LLVMValueRef (*approx)(const Math *k, Approx which, LLVMValueRef x, LLVMValueRef y);
    /* x 2^floor(n), rounded once, of x's format: infinity where n is, and 0 where `keep` is false. NULL: no instruction
     * does it */
    LLVMValueRef (*scale)(const Math *k, LLVMValueRef x, LLVMValueRef n, LLVMValueRef keep);
    /* OP_FMAX or OP_FMIN of fp32 and fp64 by an instruction; NULL: by several */
    LLVMValueRef (*minmax)(const Math *k, bool is_max, LLVMValueRef x, LLVMValueRef y);
    /* fp32 to 32 bits by an instruction that saturates and makes NaN 0. NULL: there is none */
    LLVMValueRef (*to_int)(const Math *k, ToInt how, LLVMValueRef x);
    /* Two of fp8e4nv from fp32 and to fp16, as TO_E4M3 and FROM_E4M3 of prims.def. NULL: no instruction does it */
    LLVMValueRef (*to_e4m3)(const Math *k, LLVMValueRef x, LLVMValueRef y);
    LLVMValueRef (*from_e4m3)(const Math *k, LLVMValueRef word);
    /* Bits of bf16 from fp32 and to fp32, of vectors of this many lanes. NULL: as convert.c does it for all others */
    LLVMValueRef (*to_bf16)(const Math *k, LLVMValueRef x);
    LLVMValueRef (*from_bf16)(const Math *k, LLVMValueRef bits);
    uint32_t bf16_lanes;
    void *context; /* for what is above */
};

static inline bool math_has(const Math *k, Feature f) {
    return k->features >> f & 1;
}

/* An elementwise op but addptr (types from the op), of its operands and NULL up to three. bug() for any other. */
LLVMValueRef math_op(const Math *k, const Op *op, const LLVMValueRef *args);
/* One binary op on element type d: what reductions combine with. */
LLVMValueRef math_binary(const Math *k, OpKind kind, DType d, LLVMValueRef x, LLVMValueRef y);
/* Float to float, exact when widening; `zero`: round toward zero. */
LLVMValueRef math_convert(const Math *k, DType from, DType to, bool zero, LLVMValueRef x);

/* An operand of a dot in its accumulator's type, exactly. c + x * y in that type:
 * rounded once where that is an instruction. */
LLVMValueRef math_factor(const Math *k, DType from, DType to, bool is_unsigned, LLVMValueRef x);
LLVMValueRef math_multiply_add(const Math *k, DType d, LLVMValueRef x, LLVMValueRef y, LLVMValueRef c);

/* Division of many fp32 values by one: two products each, within 2 ulp. */
typedef struct Divisor {
    LLVMValueRef scale, reciprocal;
} Divisor;

Divisor math_divisor(const Math *k, LLVMValueRef y);
LLVMValueRef math_divide(const Math *k, LLVMValueRef x, Divisor by);

#endif
