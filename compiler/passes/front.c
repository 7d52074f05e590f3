/* front.c - a loop whose loads are issued rounds ahead carries a front: what the loop's values are in the round that is issued.
 *
 * In: a plan. Out: the loop with more carried values; the front before it, in it, and one round on.
 * Method: the loop's variable, whether that round runs at all, and of the carried values those that addresses follow. So the front goes through
 * the very rounds that the loop will, however it counts.
 */
#include "passes/pipeline.h"

Block *rotation_body(const Rotation *r) {
    return r->loop->regions[0];
}

static bool is_carried(const Rotation *r, uint32_t i) {
    return r->carry >> i & 1;
}

/* ---- The front ------------------------------------------------------------------------------------------------------------ */

/* Does the round of this loop variable run? */
static Value *runs(const Rotation *r, Builder *b, Value *iv) {
    Value *hi = r->loop->args[1], *step = r->loop->args[2];
    Value *up = r->plan->direction < 0 ? NULL : build_compare(b, OP_ICMP, PRED_SLT, iv, hi);
    if (r->plan->direction > 0) return up;
    Value *down = build_compare(b, OP_ICMP, PRED_SGT, iv, hi);
    if (r->plan->direction < 0) return down;
    Value *rises = build_compare(b, OP_ICMP, PRED_SGT, step, build_int(b, step->type, 0));
    return build3(b, OP_SELECT, rises, up, down);
}

Front front_begin(Rotation *r, Builder *b) {
    Front at = {.iv = r->loop->args[0]};
    at.more = runs(r, b, at.iv);
    if (r->apart) at.more = build2(b, OP_AND, r->apart, at.more);
    for (uint32_t i = 0; i < MOST_CARRIED; i++)
        if (is_carried(r, i)) at.carried[i] = r->loop->args[3 + i];
    return at;
}

ValueMap front_map(const Rotation *r, const Front *at) {
    ValueMap map = valuemap_create(r->f);
    valuemap_set(r->f, &map, rotation_body(r)->args.at[0], at->iv);
    for (uint32_t i = 0; i < MOST_CARRIED; i++)
        if (is_carried(r, i)) valuemap_set(r->f, &map, rotation_body(r)->args.at[1 + i], at->carried[i]);
    return map;
}

Value *front_clone(const Rotation *r, Builder *b, Value *v, ValueMap *map) {
    Value *made = valuemap_get(map, v);
    if (made != v || !v->def || v->def->parent != rotation_body(r)) return made;
    for (uint32_t i = 0; i < v->def->nargs; i++) front_clone(r, b, v->def->args[i], map);
    return op_clone(b, v->def, map)->results[v->index];
}

Front front_next(const Rotation *r, Builder *b, const Front *at, ValueMap *map) {
    Front next = {.iv = build2(b, OP_ADD, at->iv, r->loop->args[2])};
    for (uint32_t i = 0; i < MOST_CARRIED; i++)
        if (is_carried(r, i)) next.carried[i] = front_clone(r, b, rotation_body(r)->last->args[i], map);
    next.more = build2(b, OP_AND, at->more, runs(r, b, next.iv));
    return next;
}

/* ---- The loop ------------------------------------------------------------------------------------------------------------- */

Value *buffers_differ(const Rotation *r, Builder *b) {
    Value *all = NULL;
    for (uint32_t i = 0; i < r->plan->num_apart; i++) {
        Value *x = r->f->body->args.at[r->plan->apart[i].a], *y = r->f->body->args.at[r->plan->apart[i].b];
        Value *differ = build_compare(b, OP_ICMP, PRED_NE, x, y);
        all = all ? build2(b, OP_AND, all, differ) : differ;
    }
    return all;
}

/* The loop with more carried values, whose next ones the caller adds to its yield. */
void loop_grow(Rotation *r, Value **more, uint32_t n) {
    Op *old = r->loop;
    uint32_t had = old->nargs - 3;
    Value **inits = NEW_ARRAY(r->f->arena, Value *, had + n);
    for (uint32_t i = 0; i < had + n; i++) inits[i] = i < had ? old->args[3 + i] : more[i - had];
    Builder b = builder_before(r->f, old);
    LoopAttr attr = old->attr.loop;
    if (!r->plan->leaves_loads) attr.num_stages = 0;
    Op *loop = build_for(&b, old->args[0], old->args[1], old->args[2], inits, had + n, attr);
    Block *from = old->regions[0], *to = loop->regions[0];
    Builder in = builder_at_end(r->f, to);
    in.span = old->span;
    Op *yield = build_yield(&in, from->last->args, had);
    for (Op *op = from->first, *next; op != from->last; op = next) {
        next = op->next;
        op_move_before(op, yield);
    }
    for (uint32_t i = 0; i <= had; i++) {
        to->args.at[i]->name = from->args.at[i]->name;
        value_replace(r->f, from->args.at[i], to->args.at[i]);
    }
    for (uint32_t i = 0; i < had; i++) {
        loop->results[i]->name = old->results[i]->name;
        value_replace(r->f, old->results[i], loop->results[i]);
    }
    op_erase(r->f, old);
    r->loop = loop;
    r->first = had;
}

/* The front as values that a loop carries, and back. */
uint32_t front_pack(const Rotation *r, const Front *at, Value **out) {
    uint32_t n = 0;
    out[n++] = at->iv;
    out[n++] = at->more;
    for (uint32_t i = 0; i < MOST_CARRIED; i++)
        if (is_carried(r, i)) out[n++] = at->carried[i];
    return n;
}

Front front_unpack(const Rotation *r) {
    Value **at = rotation_body(r)->args.at + 1 + r->first;
    Front front = {.iv = at[0], .more = at[1]};
    at += 2;
    for (uint32_t i = 0; i < MOST_CARRIED; i++)
        if (is_carried(r, i)) front.carried[i] = *at++;
    return front;
}

void loop_carry(const Rotation *r, Value **next, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) op_add_arg(r->f, rotation_body(r)->last, next[i]);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------------- */

Value *slot_next(Builder *b, Value *slot, uint32_t slots) {
    Type i32 = type_scalar(DT_I32);
    Value *next = build2(b, OP_ADD, slot, build_int(b, i32, 1));
    Value *is_end = build_compare(b, OP_ICMP, PRED_EQ, next, build_int(b, i32, slots));
    return build3(b, OP_SELECT, is_end, build_int(b, i32, 0), next);
}

Value *slot_place(Builder *b, const AheadCopy *c, Value *slot) {
    Type i32 = type_scalar(DT_I32);
    Value *offset = build_int(b, i32, c->offset);
    return slot ? build2(b, OP_ADD, build2(b, OP_MUL, slot, build_int(b, i32, c->bytes)), offset) : offset;
}
