/* packed_max.c - the pass packed_max: the largest or least of 16-bit elements is taken two elements an instruction.
 *
 * In: reductions by fmax or fmin of a tile that was extended from 16 bits. Out: they are `packed` where the target has
 * such instructions and the elements lie in words, as they were loaded. Extending keeps the order, and any tree gives
 * the same result.
 */
#include "passes/private.h"

/* Two neighbours of a thread in each word? */
static bool lies_in_words(const Func *f, const Value *v) {
    const Op *op = v->def;
    if (!op) return false;
    if (op->kind == OP_LOAD || op->kind == OP_COPYREAD) return op->attr.mem.vec_log2 > 0;
    const Buffer *b = op->kind == OP_SHLOAD ? &f->buffers.at[op->attr.buffer] : NULL;
    return b && b->is_private && buffer_run(b) > 0;
}

static void mark(void *context, Op *op) {
    if (op_class(op->kind) != CLASS_REDUCE) return;
    const Value *v = reduce_packed(op);
    op->attr.is_packed = v && lies_in_words(context, v);
}

void pass_packed_max(Func *f, PassContext *c) {
    if (target_has(c->target, FEATURE_PAIRS)) func_walk(f, mark, f);
}
