/* packed_max.c - maxima and minima of packed 16-bit elements, two at a time.
 *
 * In: a `packed` reduction. Out: the result of a thread's registers, as fp32.
 * Method: words are combined as vectors of two elements and extended last; equal words, as those outside a mask, count
 * once. The emulator compares two extended elements.
 */
#include "codegen/simt/simt.h"

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
    if (s->t->backend->has_thread) {
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

V reduce_words(Simt *s, const Op *op, uint32_t reg, uint32_t mask) {
    const Value *v = reduce_packed(op);
    V *all = words_of_tile(s, v, 2), *words = NEW_ARRAY(s->m->o->arena, V, tile_registers(v) / 2);
    uint32_t n = 0, rest = mask & ~1u;
    for (uint32_t at = rest;; at = (at - 1) & rest) {
        V word = all[(reg ^ at) / 2];
        uint32_t i = 0;
        while (i < n && words[i] != word) i++;
        if (i == n) words[n++] = word;
        if (!at) break;
    }
    OpKind kind = op->attr.combine;
    DType d = v->type.dtype;
    V best = combine_list(s, kind, d, words, n);
    return math_binary(&s->math, kind, DT_FP32, extended(s, d, best, 0), extended(s, d, best, 1));
}
