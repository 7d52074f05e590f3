/* rounds.c - exchanges in loops: which round of its loop is it? The loops carry a count, of which stages and phases are
 * bits.
 *
 * In: exchanges through shared memory; the body of a `for`. Out: each buffer's store and loads; carried by the loop,
 * and by those around it, how many rounds there were before.
 */
#include "base/plant.h"
#include "passes/private.h"

static void note(void *context, Op *op) {
    Exchange *x = context;
    if (!op_has_buffer(op->kind)) return;
    x += op->attr.buffer;
    if (op->kind == OP_SHSTORE && !x->store) x->store = op;
    else if (op->kind == OP_SHLOAD && x->store && x->store->parent == op->parent) {
        x->load = x->load ? x->load : op;
        x->last = op;
    } else x->is_other = true;
}

Exchange *exchanges_find(Func *f, Arena *scratch) {
    Exchange *all = NEW_ARRAY(scratch, Exchange, f->buffers.len + 1);
    func_walk(f, note, all);
    return all;
}

bool exchange_is_rounds(const Exchange *x) {
    if (!x->store || !x->load || x->is_other) return false;
    for (const Op *o = x->store->parent->owner; o; o = o->parent->owner)
        if (o->kind != OP_FOR) return false;
    return true;
}

/* How many rounds the innermost loop has had when one begins, those within earlier rounds of loops around it too;
 * that loop adds the next count to its yield. */
static Value *carry_count(Func *f, Op *loop) {
    Op *around = loop->parent->owner;
    Builder b = builder_before(f, loop);
    Value *before = around ? carry_count(f, around) : build_int(&b, type_scalar(DT_I32), 0);
    Value *count = loop_carry(f, loop, before, NULL);
    if (around) op_add_arg(f, loop->parent->last, loop->results[loop->nresults - 1]);
    return count;
}

LoopRound *round_of(Func *f, Arena *scratch, RoundList *known, Block *body) {
    for (uint32_t i = 0; i < known->len; i++)
        if (known->at[i].body == body) return &known->at[i];
    Type i32 = type_scalar(DT_I32);
    Value *count = carry_count(f, body->owner);
    Builder b = builder_before(f, body->first);
    Value *one = build_int(&b, i32, 1);
    LoopRound r = {.body = body, .count = count, .one = one, .stage = build2(&b, OP_AND, count, one)};
    if (plant(PLANT_ONE_STAGE)) r.phase = r.stage, r.stage = build_int(&b, i32, 0);
    b = builder_before(f, body->last);
    op_add_arg(f, body->last, build2(&b, OP_ADD, count, one));
    vec_push(scratch, known, r);
    return &known->at[known->len - 1];
}

Value *round_phase(Func *f, LoopRound *r) {
    if (r->phase) return r->phase;
    Builder b = builder_after(f, r->stage->def);
    r->phase = build2(&b, OP_AND, build2(&b, OP_LSHR, r->count, r->one), r->one);
    return r->phase;
}

static bool is_one(const Value *v) {
    int64_t one;
    return value_const(v, &one) && one == 1;
}

/* What a loop carries in v's place: what its rounds hand on, or what it begins with. NULL: v is nothing that a `for`
 * carries. */
static const Value *carried(const Value *v, bool is_begin) {
    const Op *loop = v->def ? NULL : v->block->owner;
    if (!loop || loop->kind != OP_FOR || v->index == 0) return NULL;
    return is_begin ? loop->args[3 + v->index - 1] : v->block->last->args[v->index - 1];
}

/* Does what the loop begins with go on where its last time left off, in all loops around it? */
static bool goes_on(const Value *count) {
    for (const Op *loop = count->block->owner; loop->parent->owner; loop = count->block->owner) {
        const Value *before = carried(count, true), *next = carried(before, false);
        if (!next || before->block != loop->parent || next != loop->results[count->index - 1]) return false;
        count = before;
    }
    return true;
}

bool stage_alternates(const Value *stage, const Block *body) {
    const Op *bit = stage->def, *next = NULL;
    const Value *count = bit && bit->kind == OP_AND && is_one(bit->args[1]) ? bit->args[0] : NULL;
    if (count && !count->def && count->block == body && carried(count, false)) next = carried(count, false)->def;
    return next && next->kind == OP_ADD && next->args[0] == count && is_one(next->args[1]) && goes_on(count);
}
