/* attr.c - the attributes of an op, between braces.
 *
 * In: the text behind an op's name or operands. Out: its Attr, or an error at the word that does not belong there.
 */
#include "ir/text/reader.h"

#include <string.h>

static bool read_log2(Reader *r, uint32_t most, uint8_t *out) {
    int64_t x;
    skip_blanks(r);
    const char *begin = r->at;
    if (!read_int(r, 1, INT64_C(1) << most, &x)) return false;
    for (*out = 0; INT64_C(1) << *out < x;) ++*out;
    return INT64_C(1) << *out == x || read_fail(r, begin, "expected a power of two here");
}

static bool read_combine(Reader *r, OpKind *out) {
    skip_blanks(r);
    const char *begin = r->at, *word = read_word(r, "an op that combines, as in fmax");
    OpKind k;
    if (!word) return false;
    if (!op_find(word, &k)) return read_fail(r, begin, "there is no op '%s'", word);
    *out = k;
    return true;
}

static bool read_byte_choice(Reader *r, const char *const *words, uint8_t *out) {
    int64_t x;
    if (!read_choice(r, words, &x)) return false;
    *out = (uint8_t)x;
    return true;
}

static bool read_count(Reader *r, int32_t *out) {
    int64_t x;
    if (!read_int(r, 1, INT32_MAX, &x)) return false;
    *out = (int32_t)x;
    return true;
}

bool read_u32(Reader *r, uint32_t least, uint32_t most, uint32_t *out) {
    int64_t x;
    if (!read_int(r, least, most, &x)) return false;
    *out = (uint32_t)x;
    return true;
}

static bool read_item(Reader *r, Line *l) {
    Attr *a = &l->attr;
    int64_t x;
    AttrKind k = op_info[l->kind].attr;
    skip_blanks(r);
    const char *begin = r->at, *word = read_word(r, "an attribute");
    if (!word) return false;
    bool has_memory = op_has_memory(l->kind);
    bool is_copy = k == ATTR_COPY || l->kind == OP_BULKLOAD;
    if (is_copy && !strcmp(word, "prefetch")) return a->is_prefetch = true;
    if (l->kind == OP_BULKLOAD && !strcmp(word, "across")) return a->is_across = true;
    if (l->kind == OP_BULKWAIT && !strcmp(word, "read")) return a->is_read = true;
    if (k == ATTR_MEM && !strcmp(word, "volatile")) return a->mem.is_volatile = true;
    if (k == ATTR_MEM && !strcmp(word, "rotated")) return a->mem.is_rotated = true;
    if (has_memory && !strcmp(word, "line")) return a->mem.wants_line = true;
    if (l->kind == OP_LOAD && !strcmp(word, "versioned")) return a->mem.is_versioned = true;
    if (l->kind == OP_LOAD && !strcmp(word, "late")) return a->mem.is_late = true;
    if (l->kind == OP_STORE && !strcmp(word, "guarded")) return a->mem.is_guarded = true;
    if (k == ATTR_LOOP && !strcmp(word, "flatten")) return a->loop.flatten = true;
    if (k == ATTR_LOOP && !strcmp(word, "no_licm")) return a->loop.disable_licm = true;
    if (k == ATTR_COMBINE && !strcmp(word, "reverse")) return a->flags |= COMBINE_REVERSE, true;
    if (k == ATTR_COMBINE && !strcmp(word, "exclusive")) return a->flags |= COMBINE_EXCLUSIVE, true;
    if ((k == ATTR_SCOPE || is_copy) && !strcmp(word, "begin")) return a->is_begin = true;
    if (l->kind == OP_SHSTORE && !strcmp(word, "cluster")) return a->scope = SCOPE_CLUSTER, true;
    if (l->kind == OP_SHSTORE && !strcmp(word, "grid")) return a->scope = SCOPE_GRID, true;
    if (k == ATTR_SHARED && !strcmp(word, "matrices")) return a->is_matrices = true;
    if (l->kind == OP_REDUCEWARP && !strcmp(word, "scatter")) return a->is_scattered = true;
    if (l->kind == OP_REDUCEWARP && !strcmp(word, "paired")) return a->is_paired = true;
    if (k == ATTR_REDUCE && !strcmp(word, "packed")) return a->is_packed = true;
    if (k == ATTR_DOT && !strcmp(word, "unsigned_a")) return a->is_unsigned[0] = true;
    if (k == ATTR_DOT && !strcmp(word, "unsigned_b")) return a->is_unsigned[1] = true;
    if (!expect(r, "=")) return false;
    bool has_axis =
        k == ATTR_AXIS || k == ATTR_REDUCE || k == ATTR_COMBINE || l->kind == OP_SHGATHER || l->kind == OP_SHSLICE ||
        l->kind == OP_ICMP;
    if (has_axis && !strcmp(word, "axis")) return read_u32(r, 0, SHAPE_RANK, &a->axis);
    if (!strcmp(word, "when")) return read_choice(r, when_words, &x) && (a->when = (When)x, true);
    if (l->kind == OP_ICMP && !strcmp(word, "run")) return read_log2(r, SHAPE_BITS, &a->run_log2);
    bool has_perm = k == ATTR_PERM || l->kind == OP_SHSLICE || l->kind == OP_SHMATRIX;
    if (has_perm && !strcmp(word, "perm")) return read_perm(r, a);
    if (k == ATTR_HALF && !strcmp(word, "half")) return read_u32(r, 0, 1, &a->half);
    if (k == ATTR_BITMASK && !strcmp(word, "mask")) return read_u32(r, 0, UINT32_MAX, &a->flip);
    if (k == ATTR_REDUCE && !strcmp(word, "combine")) return read_combine(r, &a->combine);
    if (k == ATTR_ROUND && !strcmp(word, "round"))
        return read_choice(r, round_words, &x) && (a->round = (Round)x, true);
    if (k == ATTR_ACCURACY && !strcmp(word, "accuracy"))
        return read_choice(r, accuracy_words, &x) && (a->accuracy = (Accuracy)x, true);
    if (k == ATTR_DOT && !strcmp(word, "precision"))
        return read_choice(r, precision_words, &x) && (a->precision = (Precision)x, true);
    if (k == ATTR_DOT && !strcmp(word, "imprecise")) return read_u32(r, 1, INT32_MAX, &a->imprecise);
    if (k == ATTR_MMA && !strcmp(word, "instr")) return read_choice(r, mma_words, &x) && (a->instr = (Mma)x, true);
    if (k == ATTR_MMA && !strcmp(word, "warps_m")) return read_log2(r, 5, &a->warps_m_log2);
    if (op_has_buffer(l->kind) && !strcmp(word, "buffer")) return read_buffer_name(r, &a->buffer);
    bool has_map = op_has_map(l->kind) || l->kind == OP_LOAD;
    if (has_map && !strcmp(word, "map")) return read_map_name(r, &a->map) && (a->map -= k == ATTR_BULK, true);
    if (l->kind == OP_BULKLOAD && !strcmp(word, "ahead")) return read_u32(r, 1, INT32_MAX, &a->ahead);
    if (l->kind == OP_SHLOAD && !strcmp(word, "flip")) return read_u32(r, 0, UINT32_MAX, &a->flip);
    if (k == ATTR_LOOP && !strcmp(word, "stages")) return read_count(r, &a->loop.num_stages);
    if (k == ATTR_LOOP && !strcmp(word, "unroll")) return read_count(r, &a->loop.unroll_factor);
    if (k == ATTR_PENDING && !strcmp(word, "pending")) return read_u32(r, 0, INT32_MAX, &a->pending);
    if (k == ATTR_TEXT && !strcmp(word, "text")) return read_quoted(r, &a->text);
    if (l->kind == OP_PRINT && !strcmp(word, "as"))
        return read_choice(r, shown_words, &x) && (a->shown = (Shown)x, true);
    if (l->kind == OP_ASSERT && !strcmp(word, "site")) return read_u32(r, 0, UINT32_MAX, &a->mem.site);
    if (has_memory && !strcmp(word, "align")) return read_log2(r, 31, &a->mem.align_log2);
    if (has_memory && !strcmp(word, "vec")) return read_log2(r, SHAPE_BITS, &a->mem.vec_log2);
    if (has_memory && !strcmp(word, "mask")) return read_byte_choice(r, mask_words, &a->mem.mask_kind);
    if (has_memory && !strcmp(word, "cache")) return read_byte_choice(r, cache_words, &a->mem.cache);
    if (has_memory && !strcmp(word, "evict")) return read_byte_choice(r, evict_words, &a->mem.evict);
    if (has_memory && !strcmp(word, "site")) return read_u32(r, 0, UINT32_MAX, &a->mem.site);
    bool is_atomic = op_is_atomic(l->kind);
    if (is_atomic && !strcmp(word, "op")) return read_byte_choice(r, atomic_words, &a->mem.atomic);
    if (is_atomic && !strcmp(word, "order")) return read_byte_choice(r, order_words, &a->mem.order);
    if (is_atomic && !strcmp(word, "reach")) return read_byte_choice(r, reach_words, &a->mem.reach);
    return read_fail(r, begin, "'%s' has no attribute '%s'", op_info[l->kind].name, word);
}

bool read_braces(Reader *r, Line *l) {
    if (!expect(r, "{")) return false;
    do
        if (!read_item(r, l)) return false;
    while (accept_text(r, ","));
    return expect(r, "}");
}
