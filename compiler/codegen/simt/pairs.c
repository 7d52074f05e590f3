/* pairs.c - elementwise ops of 16-bit floats, two neighbouring registers of a thread at a time; also 8-bit floats.
 *
 * In: fadd, fsub, fmul in fp16 and bf16, and conversions of 8-bit integers to these, for a GPU; fp32 rounded to
 * fp8e4nv, where that is an instruction. Out: their result tile.
 * Method: two elements are a word, as they lie in memory and in operands of products. bf16 goes by multiply-adds, the
 * only arithmetic that sm_80 has for it: x + y is 1 x + y, x y is x y - 0. Each rounds once.
 * An integer is put where a float of a known exponent has its last bits, and that float's own value is taken off. fp16
 * has bits for a whole byte: 1024 + 128 + x. bf16 has seven: those are 128 + m, and the eighth makes 128 or 256. What
 * the source takes off, a whole number, is taken off with it. Low and high bits of one byte are spread at once.
 */
#include "codegen/simt/simt.h"

enum {
    FP16_1024 = 0x6400,
    BF16_128 = 0x4300,
    SIGN = 0x80,
};

static bool converts(const Op *op) {
    return op && (op->kind == OP_SITOFP || op->kind == OP_UITOFP) && op->args[0]->type.dtype == DT_I8;
}

static bool makes_e4m3(const Simt *s, const Op *op) {
    return op->kind == OP_FPTRUNC && op->results[0]->type.dtype == DT_FP8E4NV && op->attr.round == ROUND_NEAREST &&
           op->args[0]->type.dtype == DT_FP32 && s->math.to_e4m3;
}

bool simt_is_pairs(const Simt *s, const Op *op) {
    DType d = op->results[0]->type.dtype;
    if (tile_registers(op->results[0]) < 2) return false;
    if (makes_e4m3(s, op)) return true;
    bool is_half = d == DT_FP16 && math_has(&s->math, FEATURE_FP16),
         is_brain = d == DT_BF16 && math_has(&s->math, FEATURE_BF16),
         computes = op->kind == OP_FADD || op->kind == OP_FSUB || op->kind == OP_FMUL;
    return !s->t->backend->has_thread && (is_half || is_brain) && (computes || converts(op));
}

static V twice(Simt *s, uint32_t half) {
    return simt_i32(s, (int64_t)(half | half << 16));
}

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

typedef struct Pairs {
    Simt *s;
    DType d;
    LLVMTypeRef type;
} Pairs;

static V floats(const Pairs *p, V word) {
    return LLVMBuildBitCast(p->s->m->at, word, p->type, "");
}

static V constant(const Pairs *p, double x) {
    V one = LLVMConstReal(LLVMGetElementType(p->type), x), both[] = {one, one};
    return LLVMConstVector(both, 2);
}

static V compute(const Pairs *p, OpKind k, V x, V y) {
    LLVMBuilderRef at = p->s->m->at;
    if (p->d == DT_FP16)
        return k == OP_FADD   ? LLVMBuildFAdd(at, x, y, "")
               : k == OP_FSUB ? LLVMBuildFSub(at, x, y, "")
                              : LLVMBuildFMul(at, x, y, "");
    if (k == OP_FMUL) return llvm_ternary(p->s->m, "llvm.fma", x, y, constant(p, -0.0));
    return k == OP_FADD ? llvm_ternary(p->s->m, "llvm.fma", x, constant(p, 1), y)
                        : llvm_ternary(p->s->m, "llvm.fma", y, constant(p, -1), x);
}

static uint32_t exponent_of(const Pairs *p) {
    return p->d == DT_FP16 ? FP16_1024 : BF16_128;
}

/* ---- Conversions ------------------------------------------------------------------------------------------------- */

/* Bytes of one word, each with the exponent above: one permutation. */
static V with_exponent(const Pairs *p, const V *bytes) {
    Llvm *m = p->s->m;
    V word, order[] = {simt_i32(p->s, 0), simt_i32(p->s, 4), simt_i32(p->s, 1), simt_i32(p->s, 5)};
    V above = llvm_int(m->i8, exponent_of(p) >> 8), four[] = {above, above, above, above};
    elements_pack(p->s, DT_I8, bytes, 2, (Access){1, 16}, &word);
    word = LLVMBuildBitCast(m->at, LLVMBuildZExt(m->at, word, m->i32, ""), LLVMVectorType(m->i8, 4), "");
    word = LLVMBuildShuffleVector(m->at, word, LLVMConstVector(four, 4), LLVMConstVector(order, 4), "");
    return LLVMBuildBitCast(m->at, word, m->i32, "");
}

/* The second operand of such an instruction where it is a constant, else -1. */
static int64_t constant_operand(V x, LLVMOpcode opcode) {
    V c = LLVMIsAInstruction(x) && LLVMGetInstructionOpcode(x) == opcode ? LLVMGetOperand(x, 1) : NULL;
    return c && LLVMIsAConstantInt(c) ? (int64_t)LLVMConstIntGetZExtValue(c) : -1;
}

/* The first number is of low bits of a byte, the second one of the bits above some of the same byte. */
typedef struct Parts {
    V byte;
    uint32_t kept, shift;
} Parts;

static bool are_parts(const V *numbers, Parts *out) {
    int64_t kept = constant_operand(numbers[0], LLVMAnd), shift = constant_operand(numbers[1], LLVMLShr);
    if (kept < 0 || kept >= SIGN || shift < 1 || shift >= 8) return false;
    *out = (Parts){LLVMGetOperand(numbers[0], 0), (uint32_t)kept, (uint32_t)shift};
    return LLVMGetOperand(numbers[1], 0) == out->byte;
}

/* Two numbers that were computed, each with the exponent above; *is_low: neither is 128 or more. */
static V spread_numbers(const Pairs *p, const V *numbers, bool *is_low) {
    enum { BYTE = 0xff, HALF = 16 };
    LLVMBuilderRef at = p->s->m->at;
    Parts parts;
    *is_low = are_parts(numbers, &parts);
    V low = LLVMBuildZExt(at, *is_low ? parts.byte : numbers[0], p->s->m->i32, "");
    if (*is_low) {
        V two = LLVMBuildMul(at, low, simt_i32(p->s, 1 | 1 << (HALF - parts.shift)), "");
        low = LLVMBuildAnd(at, two, simt_i32(p->s, parts.kept | (int64_t)(BYTE >> parts.shift) << HALF), "");
    } else {
        V high = LLVMBuildZExt(at, numbers[1], p->s->m->i32, "");
        low = LLVMBuildOr(at, low, LLVMBuildShl(at, high, simt_i32(p->s, HALF), ""), "");
    }
    return LLVMBuildOr(at, low, twice(p->s, exponent_of(p)), "");
}

/* Of bytes with the exponent above them, less `off`, a whole number of up to 128. */
static V converted(const Pairs *p, bool is_signed, bool is_low, V bits, double off) {
    LLVMBuilderRef at = p->s->m->at;
    if (p->d == DT_FP16) {
        bool is_below = is_signed && !is_low; /* 0, perhaps */
        if (is_below) bits = LLVMBuildXor(at, bits, twice(p->s, SIGN), "");
        return compute(p, OP_FSUB, floats(p, bits), constant(p, 1024 + is_below * SIGN + off));
    }
    V low = floats(p, LLVMBuildAnd(at, bits, twice(p->s, BF16_128 | (SIGN - 1)), "")),
      high = floats(p, LLVMBuildAnd(at, bits, twice(p->s, BF16_128 | SIGN), "")), r;
    if (is_low) return compute(p, OP_FSUB, low, constant(p, SIGN + off));
    if (is_signed) r = compute(p, OP_FSUB, low, high);
    else r = compute(p, OP_FADD, low, compute(p, OP_FSUB, high, constant(p, 2 * SIGN)));
    return off != 0 ? compute(p, OP_FSUB, r, constant(p, off)) : r;
}

/* ---- The op ------------------------------------------------------------------------------------------------------ */

static V both(const Pairs *p, const Tile *t, uint32_t reg) {
    V of[] = {tile_slot(p->s, t, reg), tile_slot(p->s, t, reg + 1)}, word;
    elements_pack(p->s, p->d, of, 2, (Access){1, 32}, &word);
    return floats(p, word);
}

/* x converted, and what is taken off: of a conversion, or of a difference of one and a whole number. */
typedef struct Taken {
    const Op *conversion;
    double off;
} Taken;

static Taken taken_of(const Op *op) {
    double off = 0;
    if (converts(op)) return (Taken){op, 0};
    bool is_difference = op->kind == OP_FSUB && converts(op->args[0]->def) && value_const_float(op->args[1], &off);
    bool is_whole = is_difference && off >= -SIGN && off <= SIGN && off == (int)off;
    return is_whole ? (Taken){op->args[0]->def, off} : (Taken){0};
}

static V convert_pair(const Pairs *p, const Taken *t, uint32_t reg) {
    const Value *x = t->conversion->args[0];
    bool is_low = false;
    bool is_computed = x->def && (op_is_elementwise(x->def->kind) || op_class(x->def->kind) == CLASS_MOVE);
    V of[] = {tile_slot(p->s, tile_of(p->s, x), reg), tile_slot(p->s, tile_of(p->s, x), reg + 1)};
    V bits = is_computed ? spread_numbers(p, of, &is_low) : with_exponent(p, of);
    return converted(p, t->conversion->kind == OP_SITOFP, is_low, bits, t->off);
}

V simt_pair(Simt *s, const Op *op, uint32_t reg) {
    DType d = op->results[0]->type.dtype;
    if (makes_e4m3(s, op)) {
        const Tile *x = tile_on_demand(s, op->args[0]);
        V low = tile_slot(s, x, reg);
        return s->math.to_e4m3(&s->math, low, tile_slot(s, x, reg + 1));
    }
    Pairs p = {s, d, LLVMVectorType(slot_type(s, d), 2)};
    Taken taken = taken_of(op);
    V v = taken.conversion ? convert_pair(&p, &taken, reg)
                           : compute(&p, op->kind, both(&p, tile_on_demand(s, op->args[0]), reg),
                                     both(&p, tile_on_demand(s, op->args[1]), reg));
    return LLVMBuildBitCast(s->m->at, v, s->m->i32, "");
}
