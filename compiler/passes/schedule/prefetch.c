/* prefetch.c - which loads of a loop may be issued in an earlier round, and where they wait.
 *
 * In: loops with num_stages of 2 and more, behind layouts and exchanges. Out: plans for the pass pipeline, and remarks
 * about the loads that stay.
 * Rules: address and mask depend on the loop variable, on values from outside, and on carried values that do so
 * themselves. No op of the loop stores what the load reads, except through another parameter, which is then compared at
 * run time. No acquire, volatile load or assertion stands in the loop, unless nobody writes the memory. Asynchronous
 * copies take whole vectors of 4, 8 or 16 bytes. Where there are none, or programs are of one warp and share a block, a
 * few registers hold the load.
 */
#include "passes/schedule/pipeline.h"

#include <string.h>

enum {
    MOST_OPS = 64,     /* of an address: they are computed once more */
    MOST_WORDS = 16,   /* registers of a thread that wait for a round */
    /* of a multiprocessor, whose buffers must fit its shared memory; else there are fewer stages */
    FULL_THREADS = 1024,
};

typedef struct Planner {
    Func *f;
    PassContext *c;
    Arena *scratch;
    const Facts *facts;
    PrefetchPlans *plans;
    uint32_t *stamp, attempt; /* by op id */
    Lives lives;              /* a ring's is its loop's */
} Planner;

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

typedef struct Trace {
    Planner *p;
    const Block *body;
    uint64_t carried;
    uint32_t ops;
} Trace;

static bool follow(Trace *t, const Value *v) {
    const Op *op = v->def;
    if (!op && (v->block != t->body || v->index == 0)) return true;
    if (!op) {
        uint64_t bit = UINT64_C(1) << (v->index - 1);
        if (t->carried & bit) return true;
        t->carried |= bit;
        return follow(t, t->body->last->args[v->index - 1]);
    }
    if (op->parent != t->body || t->p->stamp[op->id] == t->p->attempt) return true;
    t->p->stamp[op->id] = t->p->attempt;
    if (!op_is_pure(op->kind) || op->nregions || ++t->ops > MOST_OPS) return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!follow(t, op->args[i])) return false;
    return true;
}

/* Can the operands be computed rounds ahead? *carried gains what they need. */
static bool follows(Planner *p, const PrefetchPlan *plan, const Op *load, uint64_t *carried) {
    Trace t = {.p = p, .body = plan->loop->regions[0]};
    p->attempt++;
    for (uint32_t i = 0; i < load->nargs; i++)
        if (!follow(&t, load->args[i])) return false;
    *carried |= t.carried;
    return true;
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* The parameter that a pointer comes from, through arithmetic and what loops carry; NULL: not known. */
static const Value *root_of(const Func *f, const Value *v, uint32_t depth) {
    while (v->def && v->def->nargs && v->def->args[0]->type.dtype == DT_PTR && op_is_pure(v->def->kind) &&
           v->def->kind != OP_SELECT)
        v = v->def->args[0];
    if (v->def || !depth) return NULL;
    if (v->block == f->body) return v->type.dtype == DT_PTR ? v : NULL;
    const Op *loop = v->block->owner;
    if (loop->kind != OP_FOR || v->index == 0) return NULL;
    const Value *next = v->block->last->args[v->index - 1];
    while (next != v && next->def && next->def->kind == OP_ADDPTR) next = next->def->args[0];
    return next == v ? root_of(f, loop->args[2 + v->index], depth - 1) : NULL;
}

static bool is_const(const Func *f, const Value *param) {
    return param && f->params.at[param->index].is_const;
}

static const char *add_apart(PrefetchPlan *plan, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < plan->num_apart; i++)
        if (plan->apart[i].a == a && plan->apart[i].b == b) return NULL;
    if (plan->num_apart == MOST_PREFETCHED) return "the loop stores through too many parameters";
    plan->apart[plan->num_apart++] = (Apart){a, b};
    return NULL;
}

/* Why a load from `from` must stay behind op; NULL: it need not, as far as plan->apart holds. */
static const char *order_of(const Func *f, PrefetchPlan *plan, const Op *op, const Op *load, const Value *from) {
    if (is_const(f, from)) return NULL;
    if (op->kind == OP_ASSERT) return "an assertion in the loop may end the program before";
    if (!op_is_access(op->kind)) return NULL;
    if (op->kind == OP_LOAD)
        return op->attr.mem.is_volatile ? "a volatile load in the loop may wait for what it loads" : NULL;
    if (op_is_atomic(op->kind) && order_acquires(op->attr.mem.order))
        return "an atomic in the loop may wait for what it loads";
    const Value *to = root_of(f, op->args[0], 4);
    bool differ = op->args[0]->type.pointee != load->args[0]->type.pointee;
    if (is_const(f, to) || (differ && from && to && from != to)) return NULL;
    if (!from || !to) return "the loop stores through a pointer that may lead there";
    return from == to ? "the loop stores through the same pointer" : add_apart(plan, from->index, to->index);
}

static const char *ordered(const Func *f, PrefetchPlan *plan, const Block *b, const Op *load, const Value *from) {
    const char *why = NULL;
    for (const Op *op = b->first; op && !why; op = op->next) {
        why = order_of(f, plan, op, load, from);
        for (uint32_t i = 0; i < op->nregions && !why; i++) why = ordered(f, plan, op->regions[i], load, from);
    }
    return why;
}

/* ---- Where it waits ---------------------------------------------------------------------------------------------- */

/* The vectors of a thread that a mask may let through: those before the first register that is dead in all. */
static uint32_t vectors_of(const Planner *p, const Op *load, uint32_t vec_log2) {
    const Layout *l = load->args[0]->type.layout;
    uint32_t registers = layout_registers(l), n = UINT32_C(1) << vec_log2;
    for (uint32_t d = 0; d < l->shape.rank && load->nargs > 1; d++) {
        uint32_t live = layout_live_along(l, d, facts_live(p->facts, load->args[1], d));
        if (live < registers) registers = live;
    }
    return (registers + n - 1) / n;
}

static bool by_copy(const Planner *p, Op *load, PrefetchCopy *out) {
    const MemAttr *m = &load->attr.mem;
    const Value *ptr = load->args[0];
    if (!target_has(p->c->target, FEATURE_COPIES) || !value_is_tile(ptr) || p->f->num_warps <= 1 || m->is_rotated)
        return false;
    uint32_t bytes = type_bytes(type_scalar(ptr->type.pointee)), vec = m->vec_log2;
    if (m->mask_kind == MASK_ANY && load->nargs > 1) vec = 0;
    uint32_t unit = bytes << vec;
    if (unit != 4 && unit != 8 && unit != 16) return false;
    *out = (PrefetchCopy){.load = load, .vec_log2 = (uint8_t)vec, .vectors = vectors_of(p, load, vec)};
    return out->vectors > 0;
}

static bool by_registers(const Op *load) {
    const Value *v = load->results[0];
    uint32_t n = value_is_tile(v) ? layout_registers(v->type.layout) : 1;
    return (n * dtype_bits(v->type.dtype) + 31) / 32 <= MOST_WORDS;
}

/* ---- A loop ------------------------------------------------------------------------------------------------------ */

static void remark(const Planner *p, const Op *at, const char *why) {
    if (p->c->remarks) diag(p->c->diag, at->span, R_STAGES, why);
}

static const char *why_not_copied(const Planner *p, const Op *load) {
    if (!target_has(p->c->target, FEATURE_COPIES))
        return "the target has no asynchronous copies, and too many registers would wait";
    if (load->attr.mem.is_rotated)
        return "its rows may begin beside multiples of 16 bytes, and too many registers would wait";
    if (p->f->num_warps <= 1) return "programs of one warp have no buffers, and too many registers would wait";
    return "it takes no vectors of 4, 8 or 16 bytes, and too many registers would wait";
}

/* Why the load stays in its round; NULL: the plan has it. */
static const char *plan_load(Planner *p, PrefetchPlan *plan, Op *load) {
    PrefetchPlan was = *plan;
    PrefetchCopy copy;
    bool copies = by_copy(p, load, &copy) && plan->num_copies < MOST_PREFETCHED;
    if (load->attr.mem.is_volatile) return "it is volatile";
    if (!copies && (!by_registers(load) || plan->num_loads == MOST_PREFETCHED)) return why_not_copied(p, load);
    if (!follows(p, plan, load, copies ? &plan->copies_carry : &plan->loads_carry)) {
        *plan = was;
        return "its address or mask depends on what the loop loads or reduces";
    }
    const char *why = ordered(p->f, plan, plan->loop->regions[0], load, root_of(p->f, load->args[0], 4));
    if (why) *plan = was;
    else if (copies) plan->copies[plan->num_copies++] = copy;
    else plan->loads[plan->num_loads++] = load;
    return why;
}

/* The ring of a copy, which is alive in the loop as a whole. */
static void add_ring(Planner *p, const PrefetchPlan *plan, PrefetchCopy *c) {
    const Value *ptr = c->load->args[0];
    uint32_t threads = p->f->threads_per_program,
             bytes = c->vectors * threads * type_bytes(type_scalar(ptr->type.pointee)) << c->vec_log2;
    const Layout *places =
        layout_private(p->f->layouts, log2_floor(threads), ptr->type.layout->bits[IN_REGISTER], c->vec_log2);
    c->buffer =
        buffer_add(p->f, (Buffer){.dtype = ptr->type.pointee, .places = places, .bytes = bytes, .is_private = true});
    Life *lives = NEW_ARRAY(p->scratch, Life, p->f->buffers.len);
    memcpy(lives, p->lives.at, c->buffer * sizeof *lives);
    lives[c->buffer] = p->lives.op[plan->loop->id];
    p->lives.at = lives;
}

/* As many stages as fit; false: not even one does. */
static bool give_stages(Planner *p, PrefetchPlan *plan, uint32_t wanted) {
    uint32_t threads = p->f->threads_per_program, most = p->c->target->max_shared;
    uint64_t room = (uint64_t)most * threads / FULL_THREADS;
    for (plan->distance = wanted; plan->distance > 0; plan->distance--) {
        for (uint32_t i = 0; i < plan->num_copies; i++)
            p->f->buffers.at[plan->copies[i].buffer].stages = plan->distance;
        uint64_t all = buffers_place(p->f, &p->lives);
        if (all <= most && (all <= room || plan->distance == 1)) return true;
    }
    return false;
}

static void place_copies(Planner *p, PrefetchPlan *plan) {
    uint32_t wanted = (uint32_t)plan->loop->attr.loop.num_stages - 1;
    if (!plan->num_copies) return;
    if (wanted > MOST_DISTANCE) wanted = MOST_DISTANCE;
    uint32_t before = p->f->buffers.len;
    for (uint32_t i = 0; i < plan->num_copies; i++) add_ring(p, plan, &plan->copies[i]);
    if (!give_stages(p, plan, wanted)) {
        p->f->buffers.len = before;
        for (uint32_t i = 0; i < plan->num_copies; i++)
            remark(p, plan->copies[i].load, "one more of it does not fit in shared memory");
        plan->num_copies = 0;
    } else if (plan->distance < wanted && p->c->remarks) {
        diag(p->c->diag, plan->loop->span, R_FEWER_STAGES, plan->distance + 1);
    }
}

static void plan_loop(Planner *p, Op *loop) {
    const Fact *step = fact_of(p->facts, loop->args[2]);
    PrefetchPlan plan = {.loop = loop, .direction = step->lo > 0 ? 1 : step->hi <= 0 ? -1 : 0};
    bool loads = false;
    if (loop->nargs - 3 > MOST_CARRIED) {
        remark(p, loop, "it carries too many values");
        return;
    }
    for (Op *op = loop->regions[0]->first; op; op = op->next) {
        if (op->kind != OP_LOAD) continue;
        const char *why = plan_load(p, &plan, op);
        if (why) remark(p, op, why);
        loads = true;
    }
    if (!loads) remark(p, loop, "no load stands in its body, but perhaps in loops or branches within");
    place_copies(p, &plan);
    if (plan.num_copies || plan.num_loads) vec_push(p->scratch, p->plans, plan);
}

static bool asks(const Op *op) {
    return op->kind == OP_FOR && op->attr.loop.num_stages >= 2;
}

static void visit(void *context, Op *op) {
    if (asks(op)) plan_loop(context, op);
}

static void find_asking(void *context, Op *op) {
    *(bool *)context |= asks(op);
}

void prefetch_plan(Func *f, PassContext *c, Arena *scratch, PrefetchPlans *plans) {
    bool any = false;
    func_walk(f, find_asking, &any);
    if (!any) return;
    Planner p = {.f = f, .c = c, .scratch = scratch, .plans = plans, .facts = facts_compute(f, scratch)};
    p.stamp = NEW_ARRAY(scratch, uint32_t, f->next_op);
    p.lives = lives_of(f, scratch);
    func_walk(f, visit, &p);
}
