/* avx512.c - instructions of AVX-512 that LLVM's own operations do not select to: x 2^n, the larger of two, and
 * bf16 by permutations of words.
 *
 * In: fp32 or fp64, a scalar or a vector of a power of two lanes. Out: the same shape.
 * Method: a vector of several registers goes through the intrinsic in parts, one below 128 bits is filled up. bf16 is
 * converted HOST_WIDTH elements at a time, and no other number of them.
 */
#include "codegen/host/host.h"

#include <stdio.h>

#include "codegen/mathimpl.h"

enum { LEAST = 16 /* bytes of a register */, DIRECTION = 4 /* round as the control word says */ };
enum { RANGE_MIN = 4, RANGE_MAX = 5 /* with the sign of what is chosen; of zeros the right one */ };

/* One register's instruction. */
typedef struct Lanes {
    const Math *k;
    uint32_t width, bytes; /* lanes, of an element */
    LLVMValueRef x, y, keep;
    bool is_max, x_is_quiet, y_is_quiet;
} Lanes;

typedef LLVMValueRef Instruction(const Lanes *l);

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

/* Lanes first … first + n - 1 of a and b behind each other. */
static LLVMValueRef lanes_of(const Math *k, LLVMValueRef a, LLVMValueRef b, uint32_t first, uint32_t n) {
    LLVMValueRef at[2 * HOST_WIDTH];
    for (uint32_t i = 0; i < n; i++) at[i] = llvm_int(k->m->i32, first + i);
    return LLVMBuildShuffleVector(k->m->at, a, b, LLVMConstVector(at, n), "");
}

static LLVMValueRef part(const Math *k, LLVMValueRef x, uint32_t first, uint32_t n) {
    return x ? lanes_of(k, x, LLVMGetPoison(LLVMTypeOf(x)), first, n) : NULL;
}

/* A vector of `n` lanes whose first ones are x; the others do not matter, but no instruction may trap on them. */
static LLVMValueRef filled(const Math *k, LLVMValueRef x, uint32_t n) {
    LLVMTypeRef t = LLVMTypeOf(x);
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) return lanes_of(k, x, LLVMConstNull(t), 0, n);
    LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(t, n));
    return LLVMBuildInsertElement(k->m->at, zeros, x, llvm_int(k->m->i32, 0), "");
}

static LLVMValueRef apply(Lanes l, Instruction *f) {
    const Math *k = l.k;
    uint32_t least = LEAST / l.bytes, most = HOST_REGISTER / l.bytes, width = l.width;
    if (width < least) {
        l.width = least;
        l.x = filled(k, l.x, least);
        l.y = filled(k, l.y, least);
        l.keep = l.keep ? filled(k, l.keep, least) : NULL;
        LLVMValueRef r = f(&l);
        return width == 1 ? LLVMBuildExtractElement(k->m->at, r, llvm_int(k->m->i32, 0), "") : part(k, r, 0, width);
    }
    if (width <= most) return f(&l);
    LLVMValueRef halves[2];
    for (uint32_t i = 0; i < 2; i++) {
        Lanes half = l;
        half.width = width / 2;
        half.x = part(k, l.x, i * half.width, half.width);
        half.y = part(k, l.y, i * half.width, half.width);
        half.keep = part(k, l.keep, i * half.width, half.width);
        halves[i] = apply(half, f);
    }
    return lanes_of(k, halves[0], halves[1], 0, width);
}

static Lanes lanes(const Math *k, LLVMValueRef x, LLVMValueRef y) {
    LLVMTypeRef t = LLVMTypeOf(x), element = t;
    uint32_t width = 1;
    if (LLVMGetTypeKind(t) == LLVMVectorTypeKind) {
        element = LLVMGetElementType(t);
        width = LLVMGetVectorSize(t);
    }
    return (Lanes){.k = k, .width = width, .bytes = element == k->m->f64 ? 8 : 4, .x = x, .y = y};
}

/* A mask register: 16 bits for 16 lanes, else 8. */
static LLVMValueRef mask_of(const Lanes *l) {
    Llvm *m = l->k->m;
    LLVMTypeRef bits = LLVMIntTypeInContext(m->context, l->width), t = l->width == 16 ? m->i16 : m->i8;
    if (!l->keep) return LLVMConstAllOnes(t);
    LLVMValueRef mask = LLVMBuildBitCast(m->at, l->keep, bits, "");
    return bits == t ? mask : LLVMBuildZExt(m->at, mask, t, "");
}

/* "llvm.x86.avx512.mask.WORD.ps.512" and its kin, of fp64 and of shorter registers. */
static LLVMValueRef call(const Lanes *l, const char *word, LLVMValueRef *args, unsigned n) {
    char name[48];
    uint32_t bytes = l->width * l->bytes;
    snprintf(name, sizeof name, "llvm.x86.avx512.mask.%s.p%c.%u", word, l->bytes == 8 ? 'd' : 's', bytes * 8);
    if (bytes == HOST_REGISTER) args[n++] = llvm_int(l->k->m->i32, DIRECTION);
    return llvm_intrinsic(l->k->m, name, NULL, 0, args, n);
}

/* ---- Instructions ------------------------------------------------------------------------------------------------ */

static LLVMValueRef scalef(const Lanes *l) {
    LLVMValueRef args[5] = {l->x, l->y, LLVMConstNull(LLVMTypeOf(l->x)), mask_of(l)};
    return call(l, "scalef", args, 4);
}

/* A signalling NaN would win, so operands are made quiet: here, as LLVM's back end cannot do it at every width. */
static LLVMValueRef quiet(const Lanes *l, LLVMValueRef x, bool is_quiet) {
    return is_quiet ? x : llvm_unary(l->k->m, "llvm.canonicalize", x);
}

static LLVMValueRef range(const Lanes *l) {
    LLVMValueRef how = llvm_int(l->k->m->i32, l->is_max ? RANGE_MAX : RANGE_MIN);
    LLVMValueRef x = quiet(l, l->x, l->x_is_quiet), y = quiet(l, l->y, l->y_is_quiet);
    LLVMValueRef args[6] = {x, y, how, LLVMConstNull(LLVMTypeOf(x)), mask_of(l)};
    return call(l, "range", args, 5);
}

LLVMValueRef host_scale(const Math *k, LLVMValueRef x, LLVMValueRef n, LLVMValueRef keep) {
    Lanes l = lanes(k, x, n);
    l.keep = keep;
    return apply(l, scalef);
}

bool host_is_quiet(LLVMValueRef x) {
    return LLVMIsAPHINode(x) && LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMVectorTypeKind;
}

LLVMValueRef host_minmax(const Math *k, bool is_max, LLVMValueRef x, LLVMValueRef y) {
    Lanes l = lanes(k, x, y);
    l.is_max = is_max;
    l.x_is_quiet = host_is_quiet(x);
    l.y_is_quiet = host_is_quiet(y);
    return apply(l, range);
}

/* ---- bf16 -------------------------------------------------------------------------------------------------------- */

/* Two vectors of words as one: word i is word at[i] of both behind each other. */
static LLVMValueRef permute(const Math *k, LLVMValueRef x, LLVMValueRef y, const uint32_t *at, uint32_t n) {
    LLVMValueRef lanes[2 * HOST_WIDTH];
    for (uint32_t i = 0; i < n; i++) lanes[i] = llvm_int(k->m->i32, at[i]);
    return LLVMBuildShuffleVector(k->m->at, x, y, LLVMConstVector(lanes, n), "");
}

LLVMValueRef host_from_bf16(const Math *k, LLVMValueRef bits) {
    uint32_t at[2 * HOST_WIDTH];
    for (uint32_t i = 0; i < HOST_WIDTH; i++) {
        at[2 * i] = HOST_WIDTH; /* zero */
        at[2 * i + 1] = i;
    }
    LLVMValueRef words = permute(k, bits, LLVMConstNull(LLVMTypeOf(bits)), at, 2 * HOST_WIDTH);
    return LLVMBuildBitCast(k->m->at, words, LLVMVectorType(k->m->f32, HOST_WIDTH), "");
}

/* To nearest even: half an ulp is added, one bit less where the last bit kept is 0. A NaN becomes a quiet one. */
LLVMValueRef host_to_bf16(const Math *k, LLVMValueRef x) {
    Llvm *m = k->m;
    uint32_t at[HOST_WIDTH];
    LLVMTypeRef words = LLVMVectorType(m->i16, 2 * HOST_WIDTH);
    LLVMValueRef b = LLVMBuildBitCast(m->at, x, LLVMVectorType(m->i32, HOST_WIDTH), "");
    LLVMValueRef last = LLVMBuildAnd(m->at, b, mk_int(b, 1 << 16), "");
    LLVMValueRef is_even = LLVMBuildICmp(m->at, LLVMIntEQ, last, mk_int(b, 0), "");
    LLVMValueRef half = LLVMBuildSelect(m->at, is_even, mk_int(b, 0x7fff), mk_int(b, 0x8000), "");
    LLVMValueRef is_nan = LLVMBuildFCmp(m->at, LLVMRealUNO, x, x, "");
    LLVMValueRef quiet_nan = LLVMBuildOr(m->at, b, mk_int(b, 0x400000), "");
    LLVMValueRef r = LLVMBuildSelect(m->at, is_nan, quiet_nan, LLVMBuildAdd(m->at, b, half, ""), "");
    r = LLVMBuildBitCast(m->at, r, words, "");
    for (uint32_t i = 0; i < HOST_WIDTH; i++) at[i] = 2 * i + 1;
    return permute(k, r, LLVMGetPoison(words), at, HOST_WIDTH);
}
