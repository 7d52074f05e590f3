/* size.c - is the code of one thread of a length that LLVM and ptxas still compile in seconds?
 *
 * In: a Func at STAGE_SIMT; later the LLVM function made of it. Out: no, with an error at the op that makes most of it.
 * Method: every element that a thread holds is code of its own. Before building, the elements are counted, for the sake
 * of memory; behind it, the instructions, for LLVM's time grows with their square: 60,000 take some seconds.
 */
#include "codegen/simt/simt.h"

enum { MOST_ELEMENTS = 150000, MOST_INSTRUCTIONS = 60000 };

typedef struct Size {
    uint64_t elements; /* of a thread, over all ops */
    uint32_t most;
    const Op *where; /* the op that has the most of them */
} Size;

static uint32_t elements_of(const Value *v) {
    return value_is_tile(v) && v->type.layout ? layout_registers(v->type.layout) : 1;
}

static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static void add_block(Size *s, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < op->nargs; i++) n = larger(n, elements_of(op->args[i]));
        for (uint32_t i = 0; i < op->nresults; i++) n = larger(n, elements_of(op->results[i]));
        s->elements += n;
        if (n > s->most) s->most = n, s->where = op;
        for (uint32_t i = 0; i < op->nregions; i++) add_block(s, op->regions[i]);
    }
}

bool simt_fits(const Llvm *m, const Func *f, LLVMValueRef built) {
    Size s = {0};
    add_block(&s, f->body);
    if (built ? llvm_instructions(built) <= MOST_INSTRUCTIONS : s.elements <= MOST_ELEMENTS) return true;
    Span at = s.where && s.most > 1 ? s.where->span : f->span;
    diag(m->o->diag, at, E_THREAD_SIZE, MOST_INSTRUCTIONS);
    diag_note(m->o->diag, at, "each of %u threads holds %u elements of this tile; take more warps than num_warps = %u, "
              "or smaller tiles in a loop", f->threads_per_program, s.most, f->num_warps);
    return false;
}
