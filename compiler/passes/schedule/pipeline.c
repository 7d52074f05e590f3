/* pipeline.c - the pass pipeline: loads of a loop of k stages are issued k - 1 rounds before the round that uses them.
 *
 * In: a Func with its exchanges. Out: loops whose loads became copies into a ring, a buffer of k - 1 stages:
 * the first rounds' copies stand before the loop, and each round waits for its own, reads it into registers, and begins
 * the copy of a later round into the place just read. Loads that wait in registers are issued one round ahead.
 * Operands of products become copies into the buffer that all threads read them from, of k stages. The parts that a
 * round's first product takes are read before the last product of the round before, and carried.
 * Method: the loop carries where the front is: its loop variable, whether that round runs at all, what else addresses
 * follow. So the front goes through the very rounds that the loop will, however it counts. Where buffers may be one,
 * they are compared before the loop; then each round loads for itself.
 */
#include "base/plant.h"
#include "passes/schedule/pipeline.h"

static Value *build_i1(Builder *b, bool truth) {
    return build_int(b, type_scalar(DT_I1), truth);
}

/* ---- The loop ---------------------------------------------------------------------------------------------------- */

/* i1: no two of the plan's parameters name one buffer. */
static Value *compare_buffers(const Rotation *r, Builder *b) {
    Value *all = NULL;
    for (uint32_t i = 0; i < r->plan->num_apart; i++) {
        Value *x = r->f->body->args.at[r->plan->apart[i].a], *y = r->f->body->args.at[r->plan->apart[i].b];
        Value *differ = build_compare(b, OP_ICMP, PRED_NE, x, y);
        all = all ? build2(b, OP_AND, all, differ) : differ;
    }
    return all;
}

/* The loop carries more values, whose next ones the caller adds to its yield. */
static void loop_grow(Rotation *r, Value **more, uint32_t n) {
    r->first = r->loop->nresults;
    r->loop->attr.loop.num_stages = 0;
    for (uint32_t i = 0; i < n; i++) loop_carry(r->f, r->loop, more[i], NULL);
}

/* The front as values that a loop carries, and back. */
static uint32_t front_pack(const Rotation *r, const Front *at, Value **out) {
    uint32_t n = 0;
    out[n++] = at->iv;
    out[n++] = at->more;
    for (uint32_t i = 0; i < MOST_CARRIED; i++)
        if (is_carried(r, i)) out[n++] = at->carried[i];
    return n;
}

static Front front_unpack(const Rotation *r) {
    Value **at = body_of(r)->args.at + 1 + r->first;
    Front front = {.iv = at[0], .more = at[1], .issue = at[1]};
    at += 2;
    for (uint32_t i = 0; i < MOST_CARRIED; i++)
        if (is_carried(r, i)) front.carried[i] = *at++;
    return front;
}

static void carry(const Rotation *r, Value **next, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) op_add_arg(r->f, body_of(r)->last, next[i]);
}

/* ---- Through shared memory --------------------------------------------------------------------------------------- */

static Attr copy_attr(const PrefetchCopy *c) {
    Attr a = {.buffer = c->buffer, .mem = c->load->attr.mem};
    a.mem.vec_log2 = c->vec_log2;
    if (c->load->nargs < 2) a.mem.mask_kind = MASK_NONE;
    return a;
}

static void build_copy(Builder *b, const PrefetchCopy *c, Value *ptr, Value *mask, Value *stage, Value *issue,
                       Attr attr) {
    Value *args[] = {ptr, stage, issue, mask};
    Builder here = *b;
    here.span = c->load->span;
    op_build(&here, OP_COPYASYNC, args, mask ? 4 : 3, attr, (Type){0});
}

/* Are there copies by bulk, or by threads of their own? */
static bool has_copies(const PrefetchPlan *plan, bool by_bulk) {
    bool found = false;
    for (uint32_t i = 0; i < plan->num_copies; i++) found |= (plan->copies[i].box != NULL) == by_bulk;
    return found;
}

static void build_order(Builder *b, OpKind k, uint32_t pending) {
    op_build(b, k, NULL, 0, (Attr){.pending = k == OP_COPYWAIT ? pending : 0}, (Type){0});
}

/* The copy of the front's round; of zeros where that does not run, and is read all the same. */
static void prefetch_copy(const Rotation *r, Builder *b, const PrefetchCopy *c, Value *stage, const Front *front,
                          ValueMap *map, bool is_begin, bool is_read) {
    if (c->box) {
        front_copy(r, b, c, stage, front, map, is_begin);
        return;
    }
    Attr attr = copy_attr(c);
    if (c->keep) stage = front_value(r, b, c->stage, map);
    attr.is_begin = is_begin;
    attr.is_prefetch = !is_begin;
    Value *issue = front->more, *ptr = front_value(r, b, c->load->args[0], map),
          *mask = c->load->nargs > 1 ? front_value(r, b, c->load->args[1], map) : NULL;
    if (is_read) {
        Value *more = build1_to(b, OP_SPLAT, issue, type_with_dtype(ptr->type, DT_I1));
        mask = mask ? build2(b, OP_AND, more, mask) : more;
        if (attr.mem.mask_kind == MASK_NONE) attr.mem.mask_kind = MASK_UNIFORM;
        issue = build_i1(b, true);
    }
    build_copy(b, c, ptr, mask, stage, issue, attr);
}

/* The copies of the first rounds, before the loop, from the stage `slot` on. */
static Front begin_copies(Rotation *r, Builder *b, Value *slot) {
    Front front = front_begin(r, b);
    for (uint32_t round = 0; round < r->plan->distance; round++) {
        ValueMap map = front_map(r, &front);
        front.issue = r->plan->outer ? build2(b, OP_AND, front.more, r->across.begins) : front.more;
        for (uint32_t i = 0; i < r->plan->num_copies; i++) {
            const PrefetchCopy *c = &r->plan->copies[i];
            bool is_read = round == 0 && c->store && r->plan->num_early;
            prefetch_copy(r, b, c, slot, &front, &map, true, is_read);
        }
        if (has_copies(r->plan, false)) build_order(b, OP_COPYCOMMIT, 0);
        front = front_next(r, b, &front, &map);
        slot = next_slot(b, slot, r->plan->stages);
    }
    return front;
}

/* Where a stage, or its phase, begins. What bulk copies count goes on within another loop, which carries it. */
static Value *begin_count(const Rotation *r, Op *outer) {
    Builder b = builder_before(r->f, outer ? outer : r->loop);
    Value *zero = build_int(&b, type_scalar(DT_I32), 0);
    return outer ? loop_carry(r->f, outer, zero, NULL) : zero;
}

/* Where buffers are one, a round copies for itself, behind the stores of those before it. */
static void copy_late(const Rotation *r, Builder *b, const PrefetchCopy *c, Value *stage) {
    Value *same = build2(b, OP_XOR, r->apart, build_i1(b, true));
    Op *branch = build_if(b, same, NULL, 0);
    Builder in = builder_at_end(r->f, branch->regions[0]);
    in.span = b->span;
    build_copy(&in, c, c->load->args[0], c->load->nargs > 1 ? c->load->args[1] : NULL, stage, build_i1(&in, true),
               copy_attr(c));
    build_order(&in, OP_COPYCOMMIT, 0);
    build_order(&in, OP_COPYWAIT, 0);
    build_yield(&in, NULL, 0);
    in = builder_at_end(r->f, branch->regions[1]);
    in.span = b->span;
    build_yield(&in, NULL, 0);
}

/* Copies leave zeros where the mask is off: is the load something else there? */
static bool has_other(const Op *load) {
    int64_t bits = 1;
    return load->nargs > 2 && !(value_const(load->args[2], &bits) && bits == 0);
}

/* What has arrived, as the load gives it. */
static Value *read_copy(Builder *b, const PrefetchCopy *c, Value *stage) {
    const Op *load = c->load;
    bool chooses = has_other(load);
    Value *args[] = {stage, chooses ? load->args[1] : NULL, chooses ? load->args[2] : NULL};
    return op_build(b, OP_COPYREAD, args, chooses ? 3 : 1, copy_attr(c), load->results[0]->type)->results[0];
}

static void replace_load(Rotation *r, const PrefetchCopy *c, const Front *front, ValueMap *map) {
    Builder b = builder_before(r->f, c->load);
    Value *stage = c->keep ? c->stage : r->slot ? r->slot : build_int(&b, type_scalar(DT_I32), 0),
          *from = stage;
    if (r->apart) copy_late(r, &b, c, stage);
    if (plant(PLANT_STAGE_INDEX) && r->slot) from = next_slot(&b, r->slot, r->plan->stages);
    Value *v = read_copy(&b, c, from);
    v->name = c->load->results[0]->name;
    if (r->plan->is_bulk) stage = slot_before(&b, r->slot, r->plan->stages);
    prefetch_copy(r, &b, c, stage, front, map, false, false);
    value_replace(r->f, c->load->results[0], v);
    op_erase(r->f, c->load);
}

/* Each round waits for each thread's own copies, reads them, and begins those of a later round there. */
static void rotate_own(Rotation *r, const Front *front, ValueMap *map) {
    const PrefetchPlan *plan = r->plan;
    Builder behind;
    bool has_waited = false;
    for (uint32_t i = 0; i < plan->num_copies; i++) {
        const PrefetchCopy *c = &plan->copies[i];
        if (c->store) continue;
        Builder b = builder_before(r->f, c->load);
        if (!has_waited) build_order(&b, OP_COPYWAIT, plan->distance - 1);
        has_waited = true;
        if (c->keep && !has_other(c->load)) op_erase(r->f, c->keep); /* else it puts there what the copy left zero */
        behind = builder_after(r->f, c->load);
        replace_load(r, c, front, map);
    }
    if (has_waited) build_order(&behind, OP_COPYCOMMIT, 0);
}

/* ---- For all threads to see -------------------------------------------------------------------------------------- */

static bool is_copied(const PrefetchPlan *plan, uint32_t buffer) {
    for (uint32_t i = 0; i < plan->num_copies; i++)
        if (plan->copies[i].store && plan->copies[i].buffer == buffer) return true;
    return false;
}

/* Reads of what was copied get their stage. True: op is one, or one stands in it. */
static bool give_stage(const Rotation *r, Op *op, Value *stage) {
    bool reads = op->kind == OP_SHLOAD || op->kind == OP_SHSLICE || op->kind == OP_SHMATRIX,
         found = reads && is_copied(r->plan, op->attr.buffer);
    if (found) op_add_arg(r->f, op, stage);
    for (uint32_t i = 0; i < op->nregions; i++)
        for (Op *in = op->regions[i]->first; in; in = in->next) found |= give_stage(r, in, stage);
    return found;
}

/* Do products take what was copied, by another proxy? */
static bool has_matrices(const Rotation *r, const Block *b) {
    bool found = false;
    for (const Op *op = b->first; op && !found; op = op->next) {
        found = op->kind == OP_SHMATRIX && is_copied(r->plan, op->attr.buffer);
        for (uint32_t i = 0; i < op->nregions && !found; i++) found = has_matrices(r, op->regions[i]);
    }
    return found;
}

/* The fence that stands in front of `at`, if no more than places and pure ops are in between. */
static Op *fence_before(const Op *at) {
    Op *op = at->prev;
    while (op && (op->kind == OP_SHMATRIX || op_is_pure(op->kind))) op = op->prev;
    return op && op->kind == OP_PROXYFENCE ? op : NULL;
}

/* Each thread waits for its own copies of a round, shows them to who takes them by another proxy, and all meet. */
static void build_meeting(const Rotation *r, Op *before) {
    Op *barrier = before->prev && before->prev->kind == OP_BARRIER ? before->prev : NULL,
       *at = barrier ? barrier : before, *fence = fence_before(at);
    Builder b = builder_before(r->f, fence ? fence : at);
    bool by_threads = has_copies(r->plan, false);
    if (by_threads) build_order(&b, OP_COPYWAIT, r->plan->distance - 1);
    else if (fence) op_erase(r->f, fence);
    b = builder_before(r->f, at);
    if (!fence && by_threads && has_matrices(r, r->loop->regions[0]))
        op_build(&b, OP_PROXYFENCE, NULL, 0, (Attr){0}, (Type){0});
    b = builder_before(r->f, before);
    if (!barrier) op_build(&b, OP_BARRIER, NULL, 0, (Attr){.scope = func_block_scope(r->f)}, (Type){0});
}

/* What the round's first product takes, read from a stage: of the first round before the loop, … */
static uint32_t read_early(const Rotation *r, Builder *b, Value *stage, Value **out) {
    const PrefetchPlan *plan = r->plan;
    for (uint32_t i = 0; i < plan->num_early; i++) {
        Value *args[] = {build_int(b, type_scalar(DT_I32), plan->early[i].at), stage};
        out[i] = op_build(b, OP_SHSLICE, args, 2, plan->early[i].attr, plan->early[i].part)->results[0];
    }
    return plan->num_early;
}

/* … of the next one in front of this round's last product, behind all that reads this round's stage. Where no other
 * round follows, it is the same stage. */
static uint32_t read_next(const Rotation *r, Value *iv, Value **slot, Value **out) {
    const PrefetchPlan *plan = r->plan;
    if (!plan->num_early) return 0;
    build_meeting(r, plan->last);
    Builder b = builder_before(r->f, plan->last);
    Value *follows = front_runs(r, &b, build2(&b, OP_ADD, iv, r->loop->args[2]));
    Value *next = next_slot(&b, r->slot, plan->stages);
    if (plant(PLANT_RING_READ)) next = next_slot(&b, next, plan->stages);
    *slot = build3(&b, OP_SELECT, follows, next, r->slot);
    return read_early(r, &b, *slot, out);
}

static void take_early(const Rotation *r, Value **carried) {
    for (uint32_t i = 0; i < r->plan->num_early; i++) {
        Op *read = r->plan->early[i].read;
        carried[i]->name = read->results[0]->name;
        value_replace(r->f, read->results[0], carried[i]);
        op_erase(r->f, read);
    }
}

static Op *product_from(Op *op) {
    while (op->kind != OP_MMA) op = op->next;
    return op;
}

/* Those of a later round. Among products that wait for nothing each operand's stand in front of another one, behind the
 * reads for the next: what a unit for memory is given at once holds up what is read behind it. */
static void copy_later(const Rotation *r, Op *at, const Front *front, ValueMap *map) {
    const PrefetchPlan *plan = r->plan;
    Builder b = builder_before(r->f, at);
    Value *to = plant(PLANT_RING_STAGE) ? r->slot : slot_before(&b, r->slot, plan->stages);
    for (uint32_t i = 0; i < plan->lag && !plant(PLANT_RING_LAG); i++) to = slot_before(&b, to, plan->stages);
    if (plan->num_early) at = product_from(at);
    for (uint32_t i = 0; i < plan->num_copies; i++) {
        b = builder_before(r->f, at);
        prefetch_copy(r, &b, &plan->copies[i], to, front, map, false, false);
        if (plan->num_early && at != plan->last) at = product_from(at->next);
    }
    if (has_copies(plan, false)) build_order(&b, OP_COPYCOMMIT, 0);
}

static bool reads_buffer(const Op *op, uint32_t buffer) {
    bool found = (op->kind == OP_SHMATRIX || op->kind == OP_SHLOAD) && op->attr.buffer == buffer;
    for (uint32_t i = 0; i < op->nregions && !found; i++)
        for (const Op *in = op->regions[i]->first; in && !found; in = in->next) found = reads_buffer(in, buffer);
    return found;
}

/* What bulk copies bring for this round has come when its first reader does. */
static void wait_for_bulk(const Rotation *r) {
    Value *args[] = {r->slot, r->phase};
    for (uint32_t i = 0; i < r->plan->num_copies; i++) {
        uint32_t buffer = r->plan->copies[i].buffer;
        Op *at = body_of(r)->first;
        if (!r->plan->copies[i].box) continue;
        while (!reads_buffer(at, buffer)) at = at->next;
        Builder b = builder_before(r->f, at);
        op_build(&b, OP_SHWAIT, args, 2, (Attr){.buffer = buffer}, (Type){0});
    }
}

/* Into the stage of the round before. The pass async moves them to where all products have read that. */
static void bulk_copies_later(const Rotation *r, const Front *front, ValueMap *map) {
    Builder b = builder_before(r->f, body_of(r)->first);
    Value *to = plant(PLANT_RING_STAGE) ? r->slot : slot_before(&b, r->slot, r->plan->stages);
    Front at = *front;
    if (r->plan->outer) at.issue = build2(&b, OP_OR, at.more, r->across.follows);
    for (uint32_t i = 0; i < r->plan->num_copies; i++)
        if (r->plan->copies[i].box) front_copy(r, &b, &r->plan->copies[i], to, &at, map, false);
}

/* All meet in front of the first reader, or did so in the round before: so this round's copies are there, and nobody
 * reads the round before's stage any more, into which the copies of a later round go. Bulk copies need no meeting. */
static void rotate_ring(Rotation *r, const Front *front, ValueMap *map) {
    const PrefetchPlan *plan = r->plan;
    Op *at = NULL;
    Builder b = builder_before(r->f, body_of(r)->first);
    Value *from = plant(PLANT_RING_READ) && !plan->num_early ? next_slot(&b, r->slot, plan->stages) : r->slot;
    for (Op *op = body_of(r)->first; op; op = op->next) {
        bool reads = give_stage(r, op, from);
        for (uint32_t i = 0; i < plan->num_copies; i++)
            reads |= plan->copies[i].load == op && !plan->copies[i].store;
        if ((reads || op == plan->last) && !at) at = op;
    }
    if (plan->is_bulk) {
        bulk_copies_later(r, front, map);
        rotate_own(r, front, map);
    } else {
        if (!plan->num_early) build_meeting(r, at);
        copy_later(r, at, front, map);
    }
    wait_for_bulk(r);
    for (uint32_t i = 0; i < plan->num_copies; i++) {
        const PrefetchCopy *c = &plan->copies[i];
        if (plan->is_bulk && !c->box) continue;
        b = builder_before(r->f, c->load);
        if (c->box && c->store->next->kind == OP_PROXYFENCE) op_erase(r->f, c->store->next);
        if (c->store) op_erase(r->f, c->store);
        else value_replace(r->f, c->load->results[0], read_copy(&b, c, r->slot));
        op_erase(r->f, c->load);
    }
}

/* What is stored for the loop's products stands behind the first copies, which go on while its loads arrive. */
static void stores_behind(const Rotation *r, Op *last) {
    Op *to = r->loop;
    for (Op *op = last, *prev; op; op = prev) {
        prev = op->prev;
        bool is_behind = op->kind == OP_PROXYFENCE || (op->kind == OP_BARRIER && !op->attr.is_begin);
        bool moves = is_behind || (op->kind == OP_SHSTORE && reads_buffer(r->loop, op->attr.buffer));
        if (!moves && !op_is_pure(op->kind) && op->kind != OP_LOAD) return;
        if (moves) op_move_before(op, to), to = op;
    }
}

static void rotate_copies(Rotation *r) {
    const PrefetchPlan *plan = r->plan;
    uint32_t slots = plan->stages, n, early;
    Value *more[MOST_CARRIED + MOST_EARLY + 4];
    Builder b = builder_before(r->f, r->loop);
    r->apart = compare_buffers(r, &b);
    r->carry = plan->copies_carry;
    bool by_bulk = has_copies(plan, true);
    Op *outer = by_bulk ? r->loop->parent->owner : NULL;
    Op *before = r->loop->prev;
    Value *first = begin_count(r, outer);
    if (plan->outer) across_begin(r, &b);
    Front front = begin_copies(r, &b, first);
    if (plan->is_bulk) stores_behind(r, before);
    n = early = front_pack(r, &front, more);
    if (slots > 1) more[early++] = first;
    if (by_bulk) more[early++] = begin_count(r, outer);
    if (plan->num_early) build_meeting(r, r->loop);
    loop_grow(r, more, early + read_early(r, &b, more[n], more + early));
    for (uint32_t i = n; outer && i < early; i++)
        op_add_arg(r->f, outer->regions[0]->last, r->loop->results[r->first + i]);
    front = front_unpack(r);
    Value **carried = body_of(r)->args.at + 1 + r->first;
    r->slot = slots > 1 ? carried[n] : NULL;
    r->phase = by_bulk ? carried[n + 1] : NULL;
    take_early(r, carried + early);
    ValueMap map = front_map(r, &front);
    if (plan->is_ring) rotate_ring(r, &front, &map);
    else rotate_own(r, &front, &map);
    Value *slot = NULL, *next[MOST_EARLY];
    uint32_t num_next = read_next(r, body_of(r)->args.at[0], &slot, next);
    b = builder_before(r->f, body_of(r)->last);
    front = front_next(r, &b, &front, &map);
    n = front_pack(r, &front, more);
    if (r->slot) more[n++] = slot ? slot : next_slot(&b, r->slot, slots);
    if (r->phase) more[n] = next_phase(&b, r->phase, more[n - 1]), n++;
    carry(r, more, n);
    carry(r, next, num_next);
}

/* ---- Through registers ------------------------------------------------------------------------------------------- */

/* The load of the front's round, where it runs. */
static Value *prefetch_load(const Rotation *r, Builder *b, const Op *load, const Front *front, ValueMap *map) {
    Value *ptr = front_value(r, b, load->args[0], map), *issue = front->more, *args[3] = {NULL};
    for (uint32_t i = 1; i < load->nargs; i++) args[i] = front_value(r, b, load->args[i], map);
    if (value_is_tile(ptr)) issue = build1_to(b, OP_SPLAT, issue, type_with_dtype(ptr->type, DT_I1));
    MemAttr m = load->attr.mem;
    if (m.mask_kind == MASK_NONE) m.mask_kind = MASK_UNIFORM;
    return build_load(b, ptr, args[1] ? build2(b, OP_AND, issue, args[1]) : issue, args[2], m);
}

/* What the loop carries; where buffers are one, what the load gives now. */
static Value *take_carried(const Rotation *r, Op *load, Value *carried) {
    if (!r->apart) return carried;
    Builder b = builder_before(r->f, load);
    Op *branch = build_if(&b, r->apart, &carried->type, 1);
    Builder in = builder_at_end(r->f, branch->regions[0]);
    in.span = load->span;
    build_yield(&in, &carried, 1);
    in = builder_at_end(r->f, branch->regions[1]);
    in.span = load->span;
    ValueMap map = valuemap_create(r->f);
    Value *now = op_clone(&in, load, &map)->results[0];
    build_yield(&in, &now, 1);
    return branch->results[0];
}

static void rotate_loads(Rotation *r) {
    const PrefetchPlan *plan = r->plan;
    Value *more[MOST_CARRIED + MOST_PREFETCHED + 3];
    Builder b = builder_before(r->f, r->loop);
    r->apart = compare_buffers(r, &b);
    r->carry = plan->loads_carry;
    Front front = front_begin(r, &b);
    ValueMap map = front_map(r, &front);
    for (uint32_t i = 0; i < plan->num_loads; i++) more[i] = prefetch_load(r, &b, plan->loads[i], &front, &map);
    front = front_next(r, &b, &front, &map);
    uint32_t n = front_pack(r, &front, more + plan->num_loads) + plan->num_loads;
    loop_grow(r, more, n);
    Value **carried = body_of(r)->args.at + 1 + r->first;
    r->first += plan->num_loads;
    front = front_unpack(r);
    map = front_map(r, &front);
    for (uint32_t i = 0; i < plan->num_loads; i++) {
        Op *load = plan->loads[i];
        b = builder_before(r->f, load);
        carried[i]->name = load->results[0]->name;
        Value *now = take_carried(r, load, carried[i]);
        more[i] = prefetch_load(r, &b, load, &front, &map);
        value_replace(r->f, load->results[0], now);
        op_erase(r->f, load);
    }
    b = builder_before(r->f, body_of(r)->last);
    front = front_next(r, &b, &front, &map);
    carry(r, more, front_pack(r, &front, more + plan->num_loads) + plan->num_loads);
}

void pass_pipeline(Func *f, PassContext *c) {
    Arena *scratch = arena_create();
    PrefetchPlans plans = {0};
    prefetch_plan(f, c, scratch, &plans);
    for (uint32_t i = 0; i < plans.len; i++) {
        Rotation r = {.f = f, .plan = &plans.at[i], .loop = plans.at[i].loop};
        if (plans.at[i].num_copies) rotate_copies(&r);
        if (plans.at[i].num_loads) rotate_loads(&r);
    }
    maps_keep_used(f, scratch);
    arena_destroy(scratch);
    if (plans.len) pass_dce(f, c);
}
