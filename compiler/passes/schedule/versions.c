/* versions.c - the pass versions: loads of rotated rows get code of their own for rows with the leader's misalignment.
 *
 * In: rotated loads whose rows may be misaligned otherwise than the leader's. Out: they are `versioned`, but for
 * deferred ones. In one version all vectors are whole and need no predicate.
 */
#include "passes/private.h"

enum { MOST_WORDS = 160 /* of rotated rows in a thread: ptxas spills all there is beyond (docs/lab/row-ends.md) */ };

static void add_words(void *context, Op *op) {
    if (op->kind != OP_LOAD || !op->attr.mem.is_rotated) return;
    const Value *v = op->results[0];
    *(uint32_t *)context += layout_registers(v->type.layout) * dtype_bits(v->type.dtype) / 32;
}

static void mark(void *context, Op *op) {
    (void)context;
    if (op->kind != OP_LOAD || !op->attr.mem.is_rotated || op->attr.when == WHEN_STORED) return;
    MemAttr *m = &op->attr.mem;
    uint32_t bytes = type_bytes(type_scalar(op->results[0]->type.dtype)) << m->vec_log2;
    m->is_versioned = m->vec_log2 && UINT32_C(1) << m->align_log2 < bytes;
}

void pass_versions(Func *f, PassContext *c) {
    (void)c;
    uint32_t words = 0;
    func_walk(f, add_words, &words);
    if (words <= MOST_WORDS) func_walk(f, mark, NULL);
}
