/* partial.c - partial results of warps, for passes that take an exchange apart (online.c, welford.c).
 *
 * In: a Func at STAGE_SIMT, exchanges not spelled out; a reduction that crosses warps. Out: the ops that reduce within
 * a warp, bring a warp's number to its elements, and combine what was exchanged.
 */
#include "passes/exchange/partial.h"

enum {
    LEAST_ELEMENTS = 16 /* in a thread, for each number that it has more than before: with fewer, they cost what a
                         * barrier does */
};

Type type_laid(DType d, const Layout *l) {
    return (Type){.dtype = d, .shape = l->shape, .layout = l->shape.rank ? l : NULL};
}

/* ---- Does it pay, and can it be laid out? ------------------------------------------------------------------------ */

static bool reaches(Layouts *ls, const Layout *from, const Layout *to, uint32_t axis) {
    if (to->shape.rank == 1) return true; /* a splat */
    ConvertPlan plan;
    convert_broadcast(layout_expand(ls, from, axis), to, &plan);
    return plan.kind <= CONVERT_REGISTERS;
}

bool partial_plan(Func *f, const Op *reduce, const Value *row, uint32_t joins, Partial *p) {
    const Layout *l = reduce->args[0]->type.layout;
    uint32_t axis = reduce->attr.axis;
    ReducePlan plan = layout_reduce_plan(l, axis);
    if (plan.mixed || l->shape.rank + joins > SHAPE_RANK) return false;
    if (!plan.combine[IN_WARP] && !plan.combine[IN_CTA]) return false;
    if ((plan.keep_partial | plan.combine[IN_REGISTER]) + 1 != layout_registers(l)) return false;
    *p = (Partial){l, axis, crossing_plan(f, l, axis, joins == 1)};
    const Crossing *x = &p->crossing;
    if (layout_registers(l) / layout_registers(x->stored) < LEAST_ELEMENTS) return false;
    if (value_is_tile(row) && row->type.layout != x->result &&
        row->type.layout != layout_expand(f->layouts, x->result, axis))
        return false;
    const Layout *from[] = {x->result, x->last}, *to[] = {x->stored, x->spread};
    for (uint32_t i = 0; i < 4; i++)
        if (!reaches(f->layouts, from[i & 1], to[i >> 1], axis)) return false;
    return true;
}

bool value_raise(Func *f, const Value *v, Op *where, bool try) {
    bool *needed = NEW_ARRAY(f->arena, bool, f->next_op);
    if (v->def && v->def->parent == where->parent) needed[v->def->id] = true;
    for (Op *op = where->parent->last; op != where; op = op->prev) {
        if (!needed[op->id]) continue;
        if (!op_is_pure(op->kind) || op->nregions) return false;
        for (uint32_t i = 0; i < op->nargs; i++)
            if (op->args[i]->def && op->args[i]->def->parent == where->parent) needed[op->args[i]->def->id] = true;
    }
    if (needed[where->id]) return false;
    for (Op *op = where->next, *next; op && !try; op = next) {
        next = op->next;
        if (needed[op->id]) op_move_before(op, where);
    }
    return true;
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

Value *build_uniform(Builder *b, Value *v, Type t) {
    int64_t bits;
    if (value_const(v, &bits)) return build0(b, OP_CONST, (Attr){.bits = bits}, t);
    if (!t.shape.rank) return v;
    return build1_to(b, OP_SPLAT, v, t);
}

Value *build_along(Builder *b, Value *row, uint32_t axis, Type t) {
    if (!value_is_tile(row)) return build_uniform(b, row, t);
    if (row->type.shape.rank < t.shape.rank) row = build_expand(b, row, axis);
    return build1_to(b, OP_BROADCAST, row, t);
}

Value *build_laid(Builder *b, Value *v, const Layout *l) {
    return v->type.layout == l || !v->type.shape.rank ? v : build1_to(b, OP_CONVERT, v, type_laid(v->type.dtype, l));
}

Value *partial_within(Builder *b, const Partial *p, Value *v, Attr a) {
    a.is_scattered = p->crossing.stored != p->crossing.partial;
    return op_build(b, OP_REDUCEWARP, &v, 1, a, type_laid(v->type.dtype, p->crossing.stored))->results[0];
}

Value *partial_to_elements(Builder *b, const Partial *p, Value *v, const Layout *tile) {
    return op_build(b, OP_SPREADWARP, &v, 1, (Attr){.axis = p->axis}, type_laid(v->type.dtype, tile))->results[0];
}

Value *partial_combine(Builder *b, const Partial *p, Value *v, Attr a, Value **last) {
    *last = op_build(b, OP_REDUCE, &v, 1, a, type_laid(v->type.dtype, p->crossing.last))->results[0];
    return build_laid(b, *last, p->crossing.result);
}
