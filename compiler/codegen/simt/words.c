/* words.c - maxima and minima of packed 16-bit elements, two at a time.
 *
 * In: a reduction by fmax or fmin of a tile that was extended from 16 bits and still lies in words. Out: the result of
 * a thread's registers, as fp32.
 * Method: extending keeps the order, and any tree gives the same maximum. So words are combined as vectors of two
 * elements and extended last; equal words, as those outside a mask, count once. A GPU without such vectors combines the
 * extended elements. The emulator compares two extended elements.
 */
#include "codegen/simt/simt.h"

static bool has_all_words(const Tile *t) {
    for (uint32_t i = 0; i < t->n / 2 && t->words; i++)
        if (!t->words[i]) return false;
    return t->words != NULL && t->n % 2 == 0;
}

const Tile *reduce_words_of(Simt *s, const Op *op, uint32_t mask) {
    const Op *extends = op->args[0]->def;
    bool is_emulated = s->t->backend->has_thread;
    if (!target_has(s->t, FEATURE_PAIRS) && !is_emulated) return NULL;
    if ((op->attr.combine != OP_FMAX && op->attr.combine != OP_FMIN) || !extends || extends->kind != OP_FPEXT ||
        !(mask & 1))
        return NULL;
    DType from = extends->args[0]->type.dtype;
    const Tile *t = tile_on_demand(s, extends->args[0]);
    bool is_half = (from == DT_FP16 || from == DT_BF16) && op->args[0]->type.dtype == DT_FP32;
    return is_half && has_all_words(t) ? t : NULL;
}

static V extended(Simt *s, DType d, V word, uint32_t i) {
    return math_convert(&s->math, d, DT_FP32, false, element_of_word(s, d, word, i));
}

/* The element of x or y that the op gives of them extended. */
static V winner(Simt *s, OpKind kind, DType d, V x, V y, uint32_t i) {
    V a = extended(s, d, x, i), best = math_binary(&s->math, kind, DT_FP32, a, extended(s, d, y, i));
    V bits = element_bits(s, DT_FP32, best),
      is_x = LLVMBuildICmp(s->m->at, LLVMIntEQ, bits, element_bits(s, DT_FP32, a), "");
    return LLVMBuildSelect(s->m->at, is_x, element_of_word(s, d, x, i), element_of_word(s, d, y, i), "");
}

static V combine_two(Simt *s, OpKind kind, DType d, V x, V y) {
    V word;
    if (!target_has(s->t, FEATURE_PAIRS)) {
        V both[] = {winner(s, kind, d, x, y, 0), winner(s, kind, d, x, y, 1)};
        elements_pack(s, d, both, 2, (Access){1, 32}, &word);
        return word;
    }
    LLVMTypeRef pair = LLVMVectorType(slot_type(s, d), 2);
    V a = LLVMBuildBitCast(s->m->at, x, pair, ""), b = LLVMBuildBitCast(s->m->at, y, pair, "");
    V r = llvm_binary(s->m, kind == OP_FMAX ? "llvm.maximumnum" : "llvm.minimumnum", a, b);
    return LLVMBuildBitCast(s->m->at, r, s->m->i32, "");
}

static V combine_list(Simt *s, OpKind kind, DType d, const V *words, uint32_t n) {
    if (n == 1) return words[0];
    V x = combine_list(s, kind, d, words, n - n / 2), y = combine_list(s, kind, d, words + n - n / 2, n / 2);
    return combine_two(s, kind, d, x, y);
}

V reduce_words(Simt *s, const Op *op, const Tile *t, uint32_t reg, uint32_t mask) {
    V *words = NEW_ARRAY(s->m->o->arena, V, t->n / 2);
    uint32_t n = 0, rest = mask & ~1u;
    for (uint32_t at = rest;; at = (at - 1) & rest) {
        V word = t->words[(reg ^ at) / 2];
        uint32_t i = 0;
        while (i < n && words[i] != word) i++;
        if (i == n) words[n++] = word;
        if (!at) break;
    }
    OpKind kind = op->attr.combine;
    DType d = op->args[0]->def->args[0]->type.dtype;
    V best = combine_list(s, kind, d, words, n);
    return math_binary(&s->math, kind, DT_FP32, extended(s, d, best, 0), extended(s, d, best, 1));
}
