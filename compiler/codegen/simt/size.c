/* size.c - is one thread's code short enough for LLVM and ptxas to compile in seconds?
 *
 * In: a Func at STAGE_SIMT; later the LLVM function made of it. Out: no, with an error at the op that makes most of it.
 * Method: every element that a thread holds is code of its own. Elements are counted before building, because of
 * memory; instructions behind it, because of time: LLVM takes a second or two for 60,000. What ptxas takes grows with
 * the square of their number where registers do not hold the values (Backend.long_thread): that is a warning.
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

static void note_warps(const Llvm *m, const Func *f, const Size *s, Span at) {
    diag_note(m->o->diag, at, "each of %u threads holds %u elements of this tile; take more warps than num_warps = %u, "
              "or smaller tiles in a loop", f->threads_per_program, s->most, f->num_warps);
}

bool simt_fits(const Llvm *m, const Func *f, const Target *t, LLVMValueRef built) {
    Size s = {0};
    add_block(&s, f->body);
    uint64_t n = built ? llvm_instructions(built) : 0;
    Span at = s.where && s.most > 1 ? s.where->span : f->span;
    if (n > MOST_INSTRUCTIONS || s.elements > MOST_ELEMENTS) {
        diag(m->o->diag, at, E_THREAD_SIZE, MOST_INSTRUCTIONS);
        note_warps(m, f, &s, at);
        return false;
    }
    uint32_t low, high, most = t->backend->long_thread;
    if (most && n > most && codegen_registers(f, t, &low, &high)) {
        diag(m->o->diag, at, W_THREAD_LONG, (unsigned long long)n);
        note_warps(m, f, &s, at);
    }
    return true;
}
