/* fmod.c - the exact remainder, and fused multiply-add of 16-bit floats where no instruction does it.
 *
 * In: float values. Out: the remainder as C's fmod defines it; a * b + c rounded once.
 * Method: the remainder is a function of its own in the module, on the bits: mantissas as integers, the exponent
 * difference worked off a few bits at a time by integer remainders. The 16-bit fma adds in fp64 and makes the sum odd
 * if inexact.
 */
#include <stdio.h>

#include "codegen/mathimpl.h"

/* ---- fma of 16-bit floats ---------------------------------------------------------------------------------------- */

/* a * b is exact in fp64. s + rest = p + c exactly (Knuth's two-sum);
 * s rounded to odd then survives one more rounding. */
V math_fma16(const Math *k, DType d, V a, V b, V c) {
    V x = math_convert(k, d, DT_FP64, false, a), y = math_convert(k, d, DT_FP64, false, b);
    V z = math_convert(k, d, DT_FP64, false, c), p = mk_fmul(k, x, y);
    V s = mk_fadd(k, p, z);
    V t = mk_fsub(k, s, p);
    V rest = mk_fadd(k, mk_fsub(k, p, mk_fsub(k, s, t)), mk_fsub(k, z, t));
    V bits = mk_cast(k, s, k->m->i64), one = mk_int(bits, 1);
    V inexact = mk_fcmp(k, LLVMRealONE, rest, mk_real(rest, 0)); /* false for NaN: s is then infinite or NaN */
    V is_even = mk_icmp(k, LLVMIntEQ, mk_and(k, bits, one), mk_int(bits, 0));
    V outward = mk_icmp(k, LLVMIntSGE, LLVMBuildXor(k->m->at, bits, mk_cast(k, rest, k->m->i64), ""), mk_int(bits, 0));
    V odd = mk_select(k, outward, mk_add(k, bits, one), mk_sub(k, bits, one));
    bits = mk_select(k, mk_and(k, inexact, is_even), odd, bits);
    return math_convert(k, DT_FP64, d, false, mk_cast(k, bits, k->m->f64));
}

/* ---- fmod -------------------------------------------------------------------------------------------------------- */

typedef struct Fmod {
    const Math *k;
    LLVMValueRef f;
    LLVMTypeRef it;     /* integer of the float's width */
    int mantissa, step; /* explicit mantissa bits; bits per remainder step: mantissa + 1 + step = width */
    int64_t infinity;
} Fmod;

static LLVMBasicBlockRef new_block(const Fmod *r) {
    return LLVMAppendBasicBlockInContext(r->k->m->context, r->f, "");
}

/* The mantissa with its hidden bit, and the exponent (1 for subnormals), of positive bits a. */
static void unpack(const Fmod *r, V a, V *m, V *e) {
    const Math *k = r->k;
    V raw = mk_lshr(k, a, r->mantissa);
    V is_sub = mk_icmp(k, LLVMIntEQ, raw, mk_int(a, 0));
    V frac = mk_and(k, a, mk_int(a, (INT64_C(1) << r->mantissa) - 1));
    *m = mk_select(k, is_sub, frac, mk_or(k, frac, mk_int(a, INT64_C(1) << r->mantissa)));
    *e = mk_select(k, is_sub, mk_int(a, 1), raw);
}

/* m * 2^(e - bias - mantissa) as bits, m < 2^(mantissa + 1). */
static V pack(const Fmod *r, V m, V e) {
    const Math *k = r->k;
    LLVMTypeRef t = r->it;
    V args[] = {m, llvm_int(k->m->i1, 0)};
    V zeros = llvm_intrinsic(k->m, "llvm.ctlz", &t, 1, args, 2);
    V room = mk_sub(k, zeros, mk_int(zeros, r->step)); /* how far m may move up to have its hidden bit */
    V limit = mk_sub(k, e, mk_int(e, 1));
    V is_normal = mk_icmp(k, LLVMIntSLE, room, limit);
    V by = mk_select(k, is_normal, room, limit);
    V moved = LLVMBuildShl(k->m->at, m, mk_select(k, mk_icmp(k, LLVMIntEQ, m, mk_int(m, 0)), mk_int(m, 0), by), "");
    V exponent = LLVMBuildShl(k->m->at, mk_sub(k, limit, by), mk_int(e, r->mantissa), "");
    /* A normal number's hidden bit adds the missing one to the exponent. */
    V bits = mk_add(k, moved, mk_select(k, is_normal, exponent, mk_int(e, 0)));
    return mk_select(k, mk_icmp(k, LLVMIntEQ, m, mk_int(m, 0)), mk_int(m, 0), bits);
}

/* while (d > 0) rest = (rest << s) % my, d -= s, with s = min(d, step). */
static V reduce_exponent(const Fmod *r, V rest, V my, V d) {
    const Math *k = r->k;
    LLVMBuilderRef at = k->m->at;
    LLVMBasicBlockRef from = LLVMGetInsertBlock(at), head = new_block(r), body = new_block(r), done = new_block(r);
    LLVMBuildBr(at, head);
    LLVMPositionBuilderAtEnd(at, head);
    V rest_phi = LLVMBuildPhi(at, r->it, ""), d_phi = LLVMBuildPhi(at, r->it, "");
    LLVMBuildCondBr(at, mk_icmp(k, LLVMIntSGT, d_phi, mk_int(d, 0)), body, done);
    LLVMPositionBuilderAtEnd(at, body);
    V s = llvm_binary(k->m, "llvm.smin", d_phi, mk_int(d, r->step));
    V next = LLVMBuildURem(at, LLVMBuildShl(at, rest_phi, s, ""), my, "");
    V d_next = mk_sub(k, d_phi, s);
    LLVMBuildBr(at, head);
    LLVMAddIncoming(rest_phi, (V[]){rest, next}, (LLVMBasicBlockRef[]){from, body}, 2);
    LLVMAddIncoming(d_phi, (V[]){d, d_next}, (LLVMBasicBlockRef[]){from, body}, 2);
    LLVMPositionBuilderAtEnd(at, done);
    return rest_phi;
}

static void fmod_body(const Fmod *r, LLVMTypeRef ft) {
    const Math *k = r->k;
    LLVMBuilderRef at = k->m->at;
    V x = LLVMGetParam(r->f, 0), y = LLVMGetParam(r->f, 1);
    LLVMBasicBlockRef fine = new_block(r), small = new_block(r), work = new_block(r), bad = new_block(r);
    LLVMPositionBuilderAtEnd(at, LLVMGetEntryBasicBlock(r->f));
    V bx = mk_cast(k, x, r->it), by = mk_cast(k, y, r->it);
    V sign = mk_and(k, bx, mk_int(bx, (int64_t)(UINT64_C(1) << (r->mantissa + r->step))));
    V ax = LLVMBuildXor(at, bx, sign, "");
    V ay = mk_and(k, by, mk_int(by, (int64_t)((UINT64_C(1) << (r->mantissa + r->step)) - 1)));
    V is_bad = mk_icmp(k, LLVMIntEQ, ay, mk_int(ay, 0));
    is_bad = mk_or(k, is_bad, mk_icmp(k, LLVMIntUGE, ax, mk_int(ax, r->infinity)));
    is_bad = mk_or(k, is_bad, mk_icmp(k, LLVMIntUGT, ay, mk_int(ay, r->infinity)));
    LLVMBuildCondBr(at, is_bad, bad, fine);
    LLVMPositionBuilderAtEnd(at, bad);
    LLVMBuildRet(at, mk_cast(k, mk_int(ax, r->infinity | (INT64_C(1) << (r->mantissa - 1))), ft));
    LLVMPositionBuilderAtEnd(at, fine);
    LLVMBuildCondBr(at, mk_icmp(k, LLVMIntULT, ax, ay), small, work);
    LLVMPositionBuilderAtEnd(at, small);
    LLVMBuildRet(at, x);
    LLVMPositionBuilderAtEnd(at, work);
    V mx, ex, my, ey;
    unpack(r, ax, &mx, &ex);
    unpack(r, ay, &my, &ey);
    V rest = reduce_exponent(r, LLVMBuildURem(at, mx, my, ""), my, mk_sub(k, ex, ey));
    LLVMBuildRet(at, mk_cast(k, mk_or(k, pack(r, rest, ey), sign), ft));
}

/* The module's function for float type d, made on first use. */
static LLVMValueRef fmod_function(const Math *k, DType d) {
    Llvm *m = k->m;
    char name[32];
    snprintf(name, sizeof name, "fsc_fmod_%s", dtype_name(d));
    LLVMValueRef f = LLVMGetNamedFunction(m->module, name);
    if (f) return f;
    LLVMTypeRef ft = llvm_type(m, d), params[] = {ft, ft};
    f = LLVMAddFunction(m->module, name, LLVMFunctionType(ft, params, 2, 0));
    LLVMSetLinkage(f, LLVMInternalLinkage);
    llvm_attribute_enum(m, f, "noinline", 0);
    bool wide = d == DT_FP64;
    Fmod r = {
        k, f, wide ? m->i64 : m->i32, wide ? 52 : 23, wide ? 11 : 8, wide ? INT64_C(0x7ff0000000000000) : 0x7f800000};
    LLVMBasicBlockRef back = LLVMGetInsertBlock(m->at);
    LLVMMetadataRef place = LLVMGetCurrentDebugLocation2(m->at);
    LLVMSetCurrentDebugLocation2(m->at, NULL);
    LLVMAppendBasicBlockInContext(m->context, f, "");
    fmod_body(&r, ft);
    LLVMPositionBuilderAtEnd(m->at, back);
    LLVMSetCurrentDebugLocation2(m->at, place);
    return f;
}

V math_frem(const Math *k, DType d, V x, V y) {
    LLVMValueRef f = fmod_function(k, d);
    if (LLVMGetTypeKind(LLVMTypeOf(x)) != LLVMVectorTypeKind) return llvm_call(k->m, f, (V[]){x, y}, 2);
    V r = LLVMGetUndef(LLVMTypeOf(x));
    for (unsigned i = 0; i < LLVMGetVectorSize(LLVMTypeOf(x)); i++) {
        V index = llvm_int(k->m->i32, i);
        V lanes[] = {LLVMBuildExtractElement(k->m->at, x, index, ""), LLVMBuildExtractElement(k->m->at, y, index, "")};
        r = LLVMBuildInsertElement(k->m->at, r, llvm_call(k->m, f, lanes, 2), index, "");
    }
    return r;
}
