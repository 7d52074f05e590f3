/* pack.c - elements of a tile in the words of a memory access.
 *
 * In: elements of one type, lowest address first. Out: 32-bit words (fp16 by twos, i8 by fours), or the reverse; 64-bit
 * elements are words themselves, and an access below 32 bits is one word of its size.
 */
#include "codegen/simt/simt.h"

static uint32_t memory_bits(DType d) {
    return dtype_bits(d) < 8 ? 8 : dtype_bits(d);
}

Access access_of(uint32_t element_bytes, uint32_t elements) {
    uint32_t total = element_bytes * elements;
    if (total > 16) bug("an access of %u bytes", total);
    if (element_bytes == 8) return (Access){elements, 64};
    return total >= 4 ? (Access){total / 4, 32} : (Access){1, total * 8};
}

LLVMTypeRef access_word(const Simt *s, Access a) {
    return LLVMIntTypeInContext(s->m->context, a.bits);
}

V element_bits(Simt *s, DType d, V x) {
    LLVMTypeRef t = LLVMIntTypeInContext(s->m->context, memory_bits(d));
    if (d == DT_I1) return LLVMBuildZExt(s->m->at, x, t, "");
    return LLVMTypeOf(x) == t ? x : LLVMBuildBitCast(s->m->at, x, t, "");
}

V element_from_bits(Simt *s, DType d, V bits) {
    if (d == DT_I1) return LLVMBuildICmp(s->m->at, LLVMIntNE, bits, llvm_int(s->m->i8, 0), "");
    LLVMTypeRef t = slot_type(s, d);
    return LLVMTypeOf(bits) == t ? bits : LLVMBuildBitCast(s->m->at, bits, t, "");
}

static bool is_zero(V x) {
    return LLVMIsConstant(x) && LLVMIsNull(x);
}

static V without_cast(V x) {
    return LLVMIsABitCastInst(x) ? LLVMGetOperand(x, 0) : x;
}

/* What all of them choose by; NULL: they do not. */
static V common_choice(const V *bits, uint32_t n) {
    V by = NULL;
    for (uint32_t i = 0; i < n; i++) {
        V x = without_cast(bits[i]);
        if (!LLVMIsASelectInst(x) || (by && by != LLVMGetOperand(x, 0))) return NULL;
        by = LLVMGetOperand(x, 0);
    }
    return by;
}

/* The word whose lowest bits are low's, and the next ones high's; NULL: there is none. */
static V word_of_both(V low, V high) {
    V word = LLVMIsATruncInst(low) ? LLVMGetOperand(low, 0) : NULL, by = NULL;
    V above = word && LLVMIsATruncInst(high) ? LLVMGetOperand(high, 0) : NULL;
    bool is_shift = above && LLVMIsAInstruction(above) && LLVMGetInstructionOpcode(above) == LLVMLShr;
    if (is_shift && LLVMGetOperand(above, 0) == word) by = LLVMGetOperand(above, 1);
    bool is_next = by && LLVMIsAConstantInt(by) &&
                   LLVMConstIntGetZExtValue(by) == LLVMGetIntTypeWidth(LLVMTypeOf(low));
    return is_next ? word : NULL;
}

/* Bytes that were made by twos (pairs.c) as these; false: not all of them were. */
static bool by_twos(Simt *s, const V *bits, uint32_t n, V *twos) {
    LLVMTypeRef wide = LLVMIntTypeInContext(s->m->context, 2 * LLVMGetIntTypeWidth(LLVMTypeOf(bits[0])));
    for (uint32_t i = 0; i < n; i += 2) {
        V word = word_of_both(without_cast(bits[i]), without_cast(bits[i + 1]));
        if (!word) return false;
        twos[i / 2] = LLVMBuildTrunc(s->m->at, word, wide, "");
    }
    return true;
}

/* One word of several narrower integers: as a vector, which the target builds by one move or byte permutation. */
static V vector_word(Simt *s, const V *bits, uint32_t n, LLVMTypeRef word) {
    V twos[8];
    if (n > 2 && by_twos(s, bits, n, twos)) return vector_word(s, twos, n / 2, word);
    LLVMTypeRef t = LLVMVectorType(LLVMTypeOf(bits[0]), n);
    V v = LLVMGetUndef(t);
    for (uint32_t i = 0; i < n; i++) v = LLVMBuildInsertElement(s->m->at, v, bits[i], simt_i32(s, i), "");
    return LLVMBuildBitCast(s->m->at, v, word, "");
}

/* A choice by one condition is made of words: the target converts by pairs what goes in there. */
static V word_of(Simt *s, const V *bits, uint32_t n, LLVMTypeRef word) {
    bool zero = true;
    for (uint32_t i = 0; i < n; i++) zero &= is_zero(bits[i]);
    if (zero) return llvm_int(word, 0);
    V by = common_choice(bits, n), arms[2];
    for (uint32_t k = 0; k < 2 && by; k++) {
        V own[16];
        for (uint32_t i = 0; i < n; i++)
            own[i] = LLVMBuildBitCast(s->m->at, LLVMGetOperand(without_cast(bits[i]), k + 1), LLVMTypeOf(bits[i]), "");
        arms[k] = vector_word(s, own, n, word);
    }
    return by ? LLVMBuildSelect(s->m->at, by, arms[0], arms[1], "") : vector_word(s, bits, n, word);
}

void elements_pack(Simt *s, DType d, const V *elements, uint32_t n, Access a, V *words) {
    uint32_t per_word = n / a.words;
    for (uint32_t w = 0; w < a.words; w++) {
        V bits[16];
        for (uint32_t i = 0; i < per_word; i++) bits[i] = element_bits(s, d, elements[w * per_word + i]);
        words[w] = per_word == 1 ? bits[0] : word_of(s, bits, per_word, access_word(s, a));
    }
}

V element_of_word(Simt *s, DType d, V word, uint32_t i) {
    uint32_t width = memory_bits(d);
    if (i) word = LLVMBuildLShr(s->m->at, word, llvm_int(LLVMTypeOf(word), i * width), "");
    if (width < LLVMGetIntTypeWidth(LLVMTypeOf(word)))
        word = LLVMBuildTrunc(s->m->at, word, LLVMIntTypeInContext(s->m->context, width), "");
    return element_from_bits(s, d, word);
}

void elements_unpack(Simt *s, DType d, const V *words, Access a, V *elements, uint32_t n) {
    uint32_t per_word = n / a.words;
    for (uint32_t i = 0; i < n; i++) elements[i] = element_of_word(s, d, words[i / per_word], i % per_word);
}

/* ---- Tiles in words ---------------------------------------------------------------------------------------------- */

/* Equal words stay equal. */
static V packed_slot(Simt *s, const Tile *t, uint32_t reg) {
    const Demand *l = t->demand;
    uint32_t i = reg / l->per_word;
    V word = t->words[i];
    if (!word) word = LLVMBuildXor(s->m->at, l->words[i], l->zero, "");
    if (!s->is_aside) t->words[i] = word;
    return element_of_word(s, l->op->results[0]->type.dtype, word, reg % l->per_word);
}

Tile tile_packed(Simt *s, const Op *op, uint32_t n, V *words, uint32_t per_word, V zero) {
    Tile r = tile_create(s, n);
    DType d = op->results[0]->type.dtype;
    Demand *l = demand_create(s, op, n, packed_slot);
    l->per_word = per_word;
    l->words = zero ? words : NULL;
    l->zero = zero;
    r.words = zero ? NEW_ARRAY(s->m->o->arena, V, n / per_word) : words;
    r.demand = l;
    for (uint32_t i = 0; i < n / per_word; i++) {
        uint32_t k = 0;
        while (words[k] != words[i]) k++;
        for (uint32_t e = 0; e < per_word; e++) {
            l->same[i * per_word + e] = k * per_word + e;
            if (LLVMIsConstant(words[i])) r.at[i * per_word + e].base = element_of_word(s, d, words[i], e);
        }
        if (LLVMIsConstant(words[i])) r.words[i] = words[i];
    }
    return r;
}

bool tile_has_words(const Tile *x, uint32_t first, uint32_t n) {
    for (uint32_t i = first; i < first + n && x->words; i++)
        if (!x->words[i]) return false;
    return x->words != NULL;
}

V *words_of_tile(Simt *s, const Value *v, uint32_t per_word) {
    Tile *x = tile_on_demand(s, v);
    if (tile_has_words(x, 0, x->n / per_word)) return x->words;
    x = tile_of(s, v);
    V *words = NEW_ARRAY(s->m->o->arena, V, x->n / per_word), elements[4];
    for (uint32_t i = 0; i < x->n / per_word; i++) {
        for (uint32_t e = 0; e < per_word; e++) elements[e] = tile_slot(s, x, i * per_word + e);
        elements_pack(s, v->type.dtype, elements, per_word, (Access){1, 32}, words + i);
    }
    return words;
}
