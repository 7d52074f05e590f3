/* bulk.c - the pass bulk: rows that a loop with num_stages = k loads come by bulk copies, k - 1 rounds before the round that uses them.
 *
 * In: a Func behind the allocation of shared memory. Out: loops whose loads of rows became rings of k - 1 stages: thread 0 copies a row into each before
 * the loop, and each round waits for its own at the stage's barrier in shared memory, reads it into registers, and has thread 0 copy a later one there.
 * Method: the front of front.c. A stage is free once all threads have read it: the next copy stands behind the loads of the round's next exchange, whose
 * barrier says so, else behind the reads, where the pass barrier puts one. Where buffers may be one, rounds load for themselves.
 */
#include "base/plant.h"
#include "passes/pipeline.h"

static Value *build_i32(Builder *b, int64_t x) {
    return build_int(b, type_scalar(DT_I32), x);
}

static Attr ring_attr(const AheadCopy *c) {
    Attr a = {.i = c->vectors, .j = c->ring, .mem = c->load->attr.mem};
    a.mem.vec_log2 = c->vec_log2;
    if (!c->is_cut) a.mem.mask_kind = MASK_NONE;
    return a;
}

static void build_ring(const Rotation *r, Builder *b, OpKind k) {
    for (uint32_t i = 0; i < r->plan->num_copies; i++)
        op_build(b, k, NULL, 0, (Attr){.i = r->plan->copies[i].ring, .j = r->plan->distance}, (Type){0});
}

static void build_meeting(Builder *b) {
    op_build(b, OP_BARRIER, NULL, 0, (Attr){.i = SCOPE_BLOCK}, (Type){0});
}

/* The byte of the barrier of a stage; NULL: the only one. */
static Value *barrier_of(Builder *b, const AheadCopy *c, Value *slot) {
    Value *first = build_i32(b, c->ring + ZEROS);
    return slot ? build2(b, OP_ADD, build2(b, OP_MUL, slot, build_i32(b, BARRIER_BYTES)), first) : first;
}

static void build_copy(const Rotation *r, Builder *b, const AheadCopy *c, Value *slot, const Front *front, ValueMap *map, bool is_begin) {
    Value *args[6] = {front_clone(r, b, c->load->args[0], map)};
    Attr attr = ring_attr(c);
    attr.is_begin = is_begin;
    attr.is_ahead = !is_begin;
    if (c->is_cut) args[4] = front_clone(r, b, bulk_index(c->load), map), args[5] = front_clone(r, b, bulk_bound(c->load), map);
    args[1] = slot_place(b, c, slot), args[2] = barrier_of(b, c, slot), args[3] = front->more;
    Builder here = *b;
    here.span = c->load->span;
    op_build(&here, OP_BULKCOPY, args, c->is_cut ? 6 : 4, attr, (Type){0});
}

/* The rings, and the copies of the first rounds, before the loop. */
static Front begin_copies(Rotation *r, Builder *b) {
    build_ring(r, b, OP_BULKBEGIN);
    build_meeting(b);
    Front front = front_begin(r, b);
    for (uint32_t round = 0; round < r->plan->distance; round++) {
        ValueMap map = front_map(r, &front);
        Value *slot = build_i32(b, round);
        for (uint32_t i = 0; i < r->plan->num_copies; i++) build_copy(r, b, &r->plan->copies[i], slot, &front, &map, true);
        front = front_next(r, b, &front, &map);
    }
    return front;
}

/* What has arrived, once it has. */
static Value *wait_and_read(Builder *b, const AheadCopy *c, Value *slot, Value *parity) {
    const Op *load = c->load;
    Type t = load->results[0]->type;
    Value *wait[] = {barrier_of(b, c, slot), parity}, *args[3] = {slot_place(b, c, slot)};
    op_build(b, OP_BULKWAIT, wait, 2, (Attr){0}, (Type){0});
    if (c->is_cut) args[1] = load->args[1], args[2] = load->nargs > 2 ? load->args[2] : dtype_kind(t.dtype) == KIND_FLOAT ? build_float(b, t, 0) : build_int(b, t, 0);
    return op_build(b, OP_COPYREAD, args, c->is_cut ? 3 : 1, ring_attr(c), t)->results[0];
}

static Value *take_row(const Rotation *r, const AheadCopy *c, Value *slot, Value *parity) {
    Builder b = builder_before(r->f, c->load);
    if (!r->apart) return wait_and_read(&b, c, slot, parity);
    Op *branch = build_if(&b, r->apart, &c->load->results[0]->type, 1);
    Builder in = builder_at_end(r->f, branch->regions[0]);
    in.span = c->load->span;
    Value *v = wait_and_read(&in, c, slot, parity);
    build_yield(&in, &v, 1);
    in = builder_at_end(r->f, branch->regions[1]);
    in.span = c->load->span;
    ValueMap map = valuemap_create(r->f);
    v = op_clone(&in, c->load, &map)->results[0];
    build_yield(&in, &v, 1);
    return branch->results[0];
}

/* Behind which op of the loop's body all threads have read their rows: the next exchange's load; else the last read. */
static Op *behind_reads(Op *last) {
    for (Op *op = last->next; op; op = op->next)
        if (op->kind == OP_SHLOAD || op->kind == OP_SHGATHER) return op;
    return last;
}

static void rotate(Rotation *r) {
    const AheadPlan *plan = r->plan;
    uint32_t slots = plan->distance, n;
    Value *more[MOST_CARRIED + 4];
    Builder b = builder_before(r->f, r->loop);
    r->apart = buffers_differ(r, &b);
    r->carry = plan->copies_carry;
    Front front = begin_copies(r, &b);
    n = front_pack(r, &front, more);
    uint32_t at = n;
    more[n++] = build_i32(&b, plant(PLANT_BULK_PARITY) ? 1 : 0);
    if (slots > 1) more[n++] = build_i32(&b, 0);
    loop_grow(r, more, n);
    front = front_unpack(r);
    Value **carried = rotation_body(r)->args.at + 1 + r->first, *parity = carried[at], *slot = slots > 1 ? carried[at + 1] : NULL;
    ValueMap map = front_map(r, &front);
    Op *last = NULL;
    for (uint32_t i = 0; i < plan->num_copies; i++) {
        const AheadCopy *c = &plan->copies[i];
        Value *v = take_row(r, c, slot, parity);
        v->name = c->load->results[0]->name;
        value_replace(r->f, c->load->results[0], v);
        last = v->def;
    }
    b = builder_after(r->f, behind_reads(last));
    for (uint32_t i = 0; i < plan->num_copies; i++) build_copy(r, &b, &plan->copies[i], slot, &front, &map, false);
    for (uint32_t i = 0; i < plan->num_copies; i++) op_erase(r->f, plan->copies[i].load);
    b = builder_before(r->f, rotation_body(r)->last);
    front = front_next(r, &b, &front, &map);
    n = front_pack(r, &front, more);
    Value *one = build_i32(&b, 1), *next = slot ? slot_next(&b, slot, slots) : NULL;
    Value *turns = slot ? build1_to(&b, OP_ZEXT, build_compare(&b, OP_ICMP, PRED_EQ, next, build_i32(&b, 0)), type_scalar(DT_I32)) : one;
    more[n++] = build2(&b, OP_XOR, parity, turns);
    if (slot) more[n++] = next;
    loop_carry(r, more, n);
    b = builder_after(r->f, r->loop);
    build_meeting(&b);
    build_ring(r, &b, OP_BULKEND);
}

bool pass_bulk(Func *f, PassContext *c) {
    Arena *scratch = arena_create();
    AheadPlans plans = {0};
    bulk_plan(f, c, scratch, &plans);
    for (uint32_t i = 0; i < plans.len; i++) {
        Rotation r = {.f = f, .plan = &plans.at[i], .loop = plans.at[i].loop};
        rotate(&r);
    }
    bool changed = plans.len > 0;
    arena_destroy(scratch);
    if (changed) pass_dce(f, c);
    return changed;
}
