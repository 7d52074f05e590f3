/* operand.c - where an operand of a product is made: in the registers that the instruction takes it from.
 *
 * In: products that have their instructions. Out: for each op by elements between loads of fewer bits and such an
 * operand the layout in which it works, for layout.c.
 * Method: from the operand back, as long as elements stay what they are. All tiles on the way come from such loads, or
 * are cheap anywhere. So weights of a byte cross threads as bytes, and what they become goes through no shared memory.
 * Instructions of four warps take the first operand so. Where several warps take the same elements each makes them: so
 * the ops are plain ones.
 */
#include "passes/distribute/assign.h"

enum { WIDE = 1, NARROW };

/* Does it leave each element what it is, or make another one of it at no cost to speak of? */
static bool is_followed(const Op *op) {
    return op->kind == OP_JOIN || op_is_move(op->kind) || (op_is_elementwise(op->kind) && op_cost(op) <= COST_PLAIN);
}

/* Is v made of loads that have fewer bits? Each op is looked at once. */
static bool is_narrow(Assign *s, const Value *v, uint32_t bits) {
    const Op *op = v->def;
    if (!op) return false;
    if (s->looked[op->id]) return s->looked[op->id] == NARROW;
    uint32_t tiles = 0, narrow = 0;
    for (uint32_t i = 0; i < op->nargs && is_followed(op); i++) {
        if (!value_is_hard(s, op->args[i])) continue;
        tiles++;
        narrow += is_narrow(s, op->args[i], bits);
    }
    bool is = op->kind == OP_LOAD ? dtype_bits(v->type.dtype) < bits : tiles && narrow == tiles;
    s->looked[op->id] = is ? NARROW : WIDE;
    return is;
}

static void want(Assign *s, const Value *v, const Layout *l) {
    const Op *op = v->def;
    if (!is_followed(op) || s->wanted[op->id]) return;
    s->wanted[op->id] = l;
    for (uint32_t i = 0; i < op->nargs; i++) {
        if (!value_is_hard(s, op->args[i])) continue;
        bool joins = op->kind == OP_JOIN;
        want(s, op->args[i],
             joins ? layout_slice(s->f->layouts, l, l->shape.rank - 1u, false) : operand_layout(s, op, i, l));
    }
}

void operand_note(void *assign, Op *op) {
    Assign *s = assign;
    for (uint32_t i = MMA_A; op->kind == OP_MMA && i <= MMA_B; i++) {
        Type t = op->args[i]->type;
        uint32_t bits = dtype_bits(t.dtype);
        bool is_taken = !mma_is_grouped(op->attr.instr) || (i == MMA_A && bits == 16);
        if (!is_taken || !value_is_hard(s, op->args[i]) || !is_narrow(s, op->args[i], bits)) continue;
        s->wanted[op->id] = mma_layout(s->f->layouts, op->attr, t.shape, s->warps_log2, (MmaOperand)i);
        want(s, op->args[i], s->wanted[op->id]);
    }
}
