/* front.c - the front of a loop: which round is so many ahead, and what its addresses are.
 *
 * In: a loop whose loads are issued ahead. Out: ops that say whether the front's round runs, its loop variable, and
 * whatever else its addresses follow; which stage is next. Method: the front goes through the very rounds that the loop
 * will, however it counts: what does not run is issued under a false predicate.
 */
#include "passes/schedule/pipeline.h"

Value *loop_runs(Builder *b, const Op *loop, int direction, Value *iv) {
    Value *hi = loop->args[1], *step = loop->args[2];
    Value *up = direction < 0 ? NULL : build_compare(b, OP_ICMP, PRED_SLT, iv, hi);
    if (direction > 0) return up;
    Value *down = build_compare(b, OP_ICMP, PRED_SGT, iv, hi);
    if (direction < 0) return down;
    Value *rises = build_compare(b, OP_ICMP, PRED_SGT, step, build_int(b, step->type, 0));
    return build3(b, OP_SELECT, rises, up, down);
}

Value *front_runs(const Rotation *r, Builder *b, Value *iv) {
    return loop_runs(b, r->loop, r->plan->direction, iv);
}

Front front_begin(const Rotation *r, Builder *b) {
    Front at = {.iv = r->loop->args[0]};
    at.more = front_runs(r, b, at.iv);
    if (r->apart) at.more = build2(b, OP_AND, r->apart, at.more);
    for (uint32_t i = 0; i < MOST_CARRIED; i++)
        if (is_carried(r, i)) at.carried[i] = r->loop->args[3 + i];
    return at;
}

ValueMap front_map(const Rotation *r, const Front *at) {
    ValueMap map = valuemap_create(r->f);
    valuemap_set(r->f, &map, body_of(r)->args.at[0], at->iv);
    for (uint32_t i = 0; i < MOST_CARRIED; i++)
        if (is_carried(r, i)) valuemap_set(r->f, &map, body_of(r)->args.at[1 + i], at->carried[i]);
    return map;
}

Value *value_again(const Block *home, Builder *b, Value *v, ValueMap *map) {
    Value *made = valuemap_get(map, v);
    if (made != v || !v->def || v->def->parent != home) return made;
    for (uint32_t i = 0; i < v->def->nargs; i++) value_again(home, b, v->def->args[i], map);
    return op_clone(b, v->def, map)->results[v->index];
}

Value *front_value(const Rotation *r, Builder *b, Value *v, ValueMap *map) {
    return value_again(body_of(r), b, v, map);
}

Front front_next(const Rotation *r, Builder *b, const Front *at, ValueMap *map) {
    Front next = {.iv = build2(b, OP_ADD, at->iv, r->loop->args[2])};
    for (uint32_t i = 0; i < MOST_CARRIED; i++)
        if (is_carried(r, i)) next.carried[i] = front_value(r, b, body_of(r)->last->args[i], map);
    next.more = build2(b, OP_AND, at->more, front_runs(r, b, next.iv));
    return next;
}

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

/* Where the box begins along dimension i, with the loop's values as `map` has them. */
static Value *place_of(const Rotation *r, Builder *b, const PrefetchCopy *c, uint32_t i, ValueMap *map) {
    const BoxDim *d = &c->box->dims[i];
    Value *terms[COUNT(d->terms)];
    for (uint32_t k = 0; k < d->num_terms; k++) terms[k] = front_value(r, b, d->terms[k].v, map);
    Value *when = c->box->when && i == 0 ? front_value(r, b, c->box->when, map) : NULL;
    return box_place(b, d, i ? 1 : box_unit(r->f, c->buffer), terms, when);
}

void front_copy(const Rotation *r, Builder *b, const PrefetchCopy *c, Value *stage, const Front *front, ValueMap *map,
                bool is_begin) {
    Attr attr = {.buffer = c->buffer, .map = c->load->attr.map - 1, .is_begin = is_begin, .is_prefetch = !is_begin};
    Value *args[2 + MAP_DIMS] = {stage, front->issue};
    Builder here = *b;
    here.span = c->load->span;
    if (!is_begin) attr.ahead = r->plan->distance;
    for (uint32_t i = 0; i < c->box->rank; i++) args[2 + i] = place_of(r, &here, c, i, map);
    if (r->plan->outer && !is_begin) {
        ValueMap next = across_map(r, &here, front);
        attr.is_across = true;
        for (uint32_t i = 0; i < c->box->rank; i++)
            args[2 + i] = build3(&here, OP_SELECT, front->more, args[2 + i], place_of(r, &here, c, i, &next));
    }
    op_build(&here, OP_BULKLOAD, args, 2 + c->box->rank, attr, (Type){0});
}

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

Value *next_slot(Builder *b, Value *slot, uint32_t slots) {
    Type i32 = type_scalar(DT_I32);
    int64_t known;
    if (value_const(slot, &known)) return build_int(b, i32, (known + 1) % slots);
    Value *next = build2(b, OP_ADD, slot, build_int(b, i32, 1));
    Value *is_end = build_compare(b, OP_ICMP, PRED_EQ, next, build_int(b, i32, slots));
    return build3(b, OP_SELECT, is_end, build_int(b, i32, 0), next);
}

Value *slot_before(Builder *b, Value *slot, uint32_t slots) {
    Type i32 = type_scalar(DT_I32);
    Value *is_first = build_compare(b, OP_ICMP, PRED_EQ, slot, build_int(b, i32, 0));
    return build3(b, OP_SELECT, is_first, build_int(b, i32, slots - 1), build2(b, OP_ADD, slot, build_int(b, i32, -1)));
}

Value *next_phase(Builder *b, Value *phase, Value *slot) {
    Type i32 = type_scalar(DT_I32);
    Value *is_first = build_compare(b, OP_ICMP, PRED_EQ, slot, build_int(b, i32, 0));
    return build3(b, OP_SELECT, is_first, build2(b, OP_XOR, phase, build_int(b, i32, 1)), phase);
}
