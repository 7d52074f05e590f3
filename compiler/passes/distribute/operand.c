/* operand.c - where an operand of a product is made: in the registers that the instruction takes it from.
 *
 * In: products that have their instructions. Out: for each op by elements between a load of fewer bits and such an
 * operand the layout in which it works, for layout.c.
 * Method: from the operand back, as long as elements stay what they are. So weights of a byte cross threads as bytes,
 * and what they become goes through no shared memory. Instructions of four warps take the first operand so.
 */
#include "passes/distribute/assign.h"

/* Of operand i of an op whose result has layout l; NULL: it is none that elements come from one by one. */
static const Layout *layout_before(Assign *s, const Op *op, uint32_t i, const Layout *l) {
    if (op->kind == OP_JOIN) return layout_slice(s->f->layouts, l, l->shape.rank - 1u, false);
    if (op_is_move(op->kind)) return operand_layout(s, op, i, l);
    return op_is_elementwise(op->kind) ? l : NULL;
}

enum { NOTHING = 1, FOUND };

/* Is v, which is wanted in l, made of a load of fewer bits? What makes it of that is noted. */
static bool comes_narrow(Assign *s, const Value *v, const Layout *l, uint32_t bits) {
    const Op *op = v->def;
    bool found = op && op->kind == OP_LOAD && dtype_bits(v->type.dtype) < bits;
    if (!op || s->looked[op->id]) return op && s->looked[op->id] == FOUND;
    s->looked[op->id] = NOTHING;
    for (uint32_t i = 0; op && i < op->nargs; i++) {
        const Layout *before = value_is_hard(s, op->args[i]) ? layout_before(s, op, i, l) : NULL;
        found |= before && comes_narrow(s, op->args[i], before, bits);
    }
    if (found && op_is_elementwise(op->kind)) s->wanted[op->id] = l;
    if (found) s->looked[op->id] = FOUND;
    return found;
}

void operand_note(void *assign, Op *op) {
    Assign *s = assign;
    for (uint32_t i = MMA_A; op->kind == OP_MMA && i <= MMA_B; i++) {
        Type t = op->args[i]->type;
        bool is_taken = !mma_is_grouped(op->attr.instr) || (i == MMA_A && dtype_bits(t.dtype) == 16);
        const Layout *l = mma_layout(s->f->layouts, op->attr, t.shape, s->warps_log2, (MmaOperand)i);
        if (is_taken && comes_narrow(s, op->args[i], l, dtype_bits(t.dtype))) s->wanted[op->id] = l;
    }
}
