/* debug.c - print and assert, thread by thread.
 *
 * In: the op, whose operand has a layout. Out: primitives that only an element's canonical owner comes to,
 * under branches.
 * Method: every thread says that a print begins, so that the emulator can put lines in order; then the owner goes
 * through its registers. What does not change from call to call is a DebugNote of the module.
 */
#include "codegen/simt/simt.h"

/* The note of the op, by number. */
static V note_of(Simt *s, const Op *op) {
    DebugNote n = {
        .text = op->attr.text, .shape = op->nargs ? op->args[0]->type.shape : shape_scalar(), .span = op->span};
    n.format = op->kind == OP_PRINT && op->nargs ? shown_format(op->attr.shown) : NULL;
    n.is_float = n.format && shown_is_float(op->attr.shown);
    vec_push(s->m->o->arena, &s->m->notes, n);
    return simt_i32(s, s->m->notes.len - 1);
}

static V bits_of(Simt *s, const Op *op, V x) {
    return llvm_debug_bits(s->m, x, op->attr.shown == SHOWN_SIGNED && op->args[0]->type.dtype != DT_I1);
}

static V element_of(Simt *s, const Layout *l, uint32_t reg) {
    if (!l) return simt_i32(s, 0);
    return LLVMBuildXor(s->m->at, simt_thread_index(s, l), simt_i32(s, layout_register_index(l, reg)), "");
}

/* The builder goes on in `then`, which is reached where the condition holds; the other block comes after it. */
static LLVMBasicBlockRef branch(Simt *s, V condition, const char *name) {
    LLVMBasicBlockRef then = simt_new_block(s, name), after = simt_new_block(s, "");
    LLVMBuildCondBr(s->m->at, condition, then, after);
    LLVMPositionBuilderAtEnd(s->m->at, then);
    return after;
}

static void join(Simt *s, LLVMBasicBlockRef after) {
    LLVMBuildBr(s->m->at, after);
    LLVMPositionBuilderAtEnd(s->m->at, after);
}

void simt_print(Simt *s, const Op *op) {
    const Value *v = op->nargs ? op->args[0] : NULL;
    const Layout *l = v && value_is_tile(v) ? v->type.layout : NULL;
    const Tile *x = v ? tile_of(s, v) : NULL;
    uint32_t repeats = l ? layout_free(l, IN_REGISTER) : 0;
    V note = note_of(s, op), owner = simt_owner(s, l);
    prim_call(s, PRIM_PRINT_BEGIN, NULL, 0);
    LLVMBasicBlockRef after = branch(s, owner, "print");
    for (uint32_t reg = 0; reg < (x ? x->n : 1); reg++) {
        if (reg & repeats) continue;
        V value = x ? bits_of(s, op, tile_slot(s, x, reg)) : llvm_int(s->m->i64, 0);
        V args[] = {simt_program(s, 0, false), simt_program(s, 1, false), simt_program(s, 2, false),
                    element_of(s, l, reg), value, note};
        prim_call(s, PRIM_PRINT, args, COUNT(args));
    }
    join(s, after);
}

void simt_assert(Simt *s, const Op *op) {
    const Value *v = op->args[0];
    const Layout *l = value_is_tile(v) ? v->type.layout : NULL;
    const Tile *x = tile_of(s, v);
    uint32_t repeats = l ? layout_free(l, IN_REGISTER) : 0;
    V note = note_of(s, op), owner = simt_owner(s, l), site = simt_site(s);
    for (uint32_t reg = 0; reg < x->n; reg++) {
        if (reg & repeats) continue;
        V fails = LLVMBuildAnd(s->m->at, owner, LLVMBuildNot(s->m->at, tile_slot(s, x, reg), ""), "");
        LLVMBasicBlockRef after = branch(s, fails, "assert");
        V args[] = {simt_program(s, 0, false), simt_program(s, 1, false), simt_program(s, 2, false),
                    element_of(s, l, reg), note, site};
        prim_call(s, PRIM_ASSERT, args, COUNT(args));
        join(s, after);
    }
}
