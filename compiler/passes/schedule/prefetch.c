/* prefetch.c - which loads of a loop may be issued in an earlier round, and where they wait.
 *
 * In: loops with num_stages of 2 and more, loops that multiply what they load and loops that keep it for later ones,
 * behind layouts and exchanges. Out: plans for the pass pipeline, and remarks about the loads that stay.
 * Rules: what ahead.c says. Asynchronous copies take whole vectors of 4, 8 or 16 bytes. Where there are none, or
 * programs are of one warp and share a block, a few registers hold the load. What a loop stores at once for all
 * threads, to multiply it, is copied to where it was stored, or stays: it has no registers to spare. Such a loop has
 * the kernel's stages if it says nothing, else four, if as many blocks as registers allow find room beside each other.
 * What a loop keeps for later ones has a stage for each round, and is copied there.
 */
#include "passes/schedule/pipeline.h"

#include <string.h>

enum {
    MOST_WORDS = 16,   /* registers of a thread that wait for a round */
    STAGES = 4,        /* of a loop that multiplies, where nothing says how many */
    LEAST_TO_LAG = 3,  /* rounds ahead, one of which becomes a stage for products that go on meanwhile */
    LEAST_ACROSS = 2,  /* rounds ahead, where copies go on into the next round of the loop around */
    KEPT_AHEAD = 2,    /* rounds, where the row that is loaded stays in shared memory */
    OWN_WORDS = 72,    /* of a thread there, beside the sums: operands, addresses */
};

typedef struct Planner {
    Func *f;
    PassContext *c;
    Arena *scratch;
    const Facts *facts;
    PrefetchPlans *plans;
    Attempts seen;
    Lives lives;              /* a ring's is its loop's */
    uint32_t known;           /* buffers that they are of */
} Planner;

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

/* log2 of the elements that a mask lets through as the first ones of a vector. */
static uint32_t vector_of(const Op *load) {
    return load->attr.mem.mask_kind == MASK_ANY && load->nargs > 1 ? 0 : load->attr.mem.vec_log2;
}

static bool by_copy(const Planner *p, const Op *load, PrefetchCopy *out) {
    const MemAttr *m = &load->attr.mem;
    const Value *ptr = load->args[0];
    if (!target_has(p->c->target, FEATURE_COPIES) || !value_is_tile(ptr) || p->f->num_warps <= 1 || m->is_rotated)
        return false;
    uint32_t bytes = type_bytes(type_scalar(ptr->type.pointee)), vec = vector_of(load), unit = bytes << vec;
    if (unit != 4 && unit != 8 && unit != 16) return false;
    out->vec_log2 = (uint8_t)vec;
    out->vectors = vectors_of(p, load, vec);
    if (!out->keep) return out->vectors > 0;
    out->stage = out->keep->args[1];
    out->buffer = out->keep->attr.buffer;
    return unit == buffer_run_bytes(&p->f->buffers.at[out->buffer]);
}

/* The store that alone takes the load, and whose buffer nothing but this round of the loop uses; else NULL. */
static Op *operand_store(const Planner *p, const Op *load) {
    Op *op = value_used_once(load->results[0]) ? load->results[0]->uses->op : NULL;
    bool is_store = op && op->kind == OP_SHSTORE && op->nargs == 1 && op->parent == load->parent;
    return is_store && op_is_exchange(p->f, op) && p->f->blocks_per_program == 1 ? op : NULL;
}

/* The store that keeps the load for later loops in a thread's own places, a stage for each round; else NULL. */
static Op *keeping_store(const Func *f, const Op *load) {
    for (const Use *u = load->kind == OP_LOAD ? load->results[0]->uses : NULL; u; u = u->next) {
        Op *op = u->op;
        if (op->kind == OP_SHSTORE && op->nargs == 2 && op->parent == load->parent &&
            f->buffers.at[op->attr.buffer].is_private)
            return op;
    }
    return NULL;
}

/* Accesses of the buffer from op on, in its block; -1: one that has no stage to read. */
static int64_t count_reads(const Op *op, uint32_t buffer) {
    int64_t n = 0;
    for (; op && n >= 0; op = op->next) {
        bool is_one = op_has_buffer(op->kind) && op->attr.buffer == buffer;
        if (is_one && op->kind != OP_SHLOAD && op->kind != OP_SHSLICE && op->kind != OP_SHMATRIX) return -1;
        n += is_one;
        for (uint32_t r = 0; r < op->nregions && n >= 0; r++) {
            int64_t in = count_reads(op->regions[r]->first, buffer);
            n = in < 0 ? in : n + in;
        }
    }
    return n;
}

typedef struct Touches {
    uint32_t buffer, n;
} Touches;

static void count_touch(void *context, Op *op) {
    Touches *t = context;
    t->n += op_has_buffer(op->kind) && op->attr.buffer == t->buffer;
}

static bool is_read_behind(const Planner *p, const Op *store) {
    Touches all = {.buffer = store->attr.buffer};
    func_walk(p->f, count_touch, &all);
    return count_reads(store->next, all.buffer) == (int64_t)all.n - 1;
}

/* Why an operand is not copied to where it is stored; NULL: it is. */
static const char *by_ring(const Planner *p, const Op *load, PrefetchCopy *out) {
    const Value *ptr = load->args[0];
    const Buffer *b = &p->f->buffers.at[out->store->attr.buffer];
    uint32_t vec = vector_of(load);
    int64_t other = 0;
    if (!target_has(p->c->target, FEATURE_COPIES)) return "the target has no asynchronous copies";
    if (load->attr.mem.is_rotated) return "its rows may begin beside multiples of 16 bytes";
    if (load->nargs > 2 && (!value_const(load->args[2], &other) || other)) return "masked-off elements are not 0";
    if (!is_read_behind(p, out->store)) return "what it is stored for is read elsewhere, too";
    vec = buffer_vector(p->f, b, ptr->type.layout, vec);
    if (type_bytes(type_scalar(b->dtype)) << vec < 4) return "it takes no vectors of 4, 8 or 16 bytes";
    out->vec_log2 = (uint8_t)vec;
    out->buffer = out->store->attr.buffer;
    Box *box = load->attr.map ? NEW(p->scratch, Box) : NULL;
    if (box && box_of(load, box)) out->box = box;
    return NULL;
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

/* Are its address, mask and place known rounds ahead? */
static bool is_known(Planner *p, const PrefetchPlan *plan, const PrefetchCopy *c, uint64_t *carry) {
    return ahead_follows(&p->seen, plan->loop, c->load->args, c->load->nargs, carry) &&
           (!c->keep || ahead_follows(&p->seen, plan->loop, &c->stage, 1, carry));
}

/* Why the load stays in its round; NULL: the plan has it. */
static const char *plan_load(Planner *p, PrefetchPlan *plan, Op *load, Op *store) {
    PrefetchPlan was = *plan;
    PrefetchCopy copy = {.load = load, .store = store, .keep = plan->keeps ? keeping_store(p->f, load) : NULL};
    if (load->attr.mem.is_volatile) return "it is volatile";
    if (store && plan->num_copies == MOST_PREFETCHED) return "the loop has too many loads";
    const char *why = store ? by_ring(p, load, &copy) : NULL;
    if (why) return why;
    bool copies = store || (by_copy(p, load, &copy) && plan->num_copies < MOST_PREFETCHED);
    if (plan->keeps && !copies) return "it is kept as it is loaded";
    if (!copies && (!by_registers(load) || plan->num_loads == MOST_PREFETCHED)) return why_not_copied(p, load);
    if (!is_known(p, plan, &copy, copies ? &plan->copies_carry : &plan->loads_carry)) {
        *plan = was;
        return "its address or mask depends on what the loop loads or reduces";
    }
    why = ahead_ordered(p->f, plan, load);
    plan->is_ring |= store != NULL;
    if (!why && (plan->is_ring || plan->keeps) && plan->num_apart)
        why = "the loop stores through another pointer that may lead there";
    if (why) *plan = was;
    else if (copies) plan->copies[plan->num_copies++] = copy;
    else plan->loads[plan->num_loads++] = load;
    return why;
}

static void add_private(const Planner *p, PrefetchCopy *c) {
    const Value *ptr = c->load->args[0];
    uint32_t threads = p->f->threads_per_program,
             bytes = c->vectors * threads * type_bytes(type_scalar(ptr->type.pointee)) << c->vec_log2;
    const Layout *places =
        layout_private(p->f->layouts, log2_floor(threads), ptr->type.layout->bits[IN_REGISTER], c->vec_log2);
    c->buffer =
        buffer_add(p->f, (Buffer){.dtype = ptr->type.pointee, .places = places, .bytes = bytes, .is_private = true});
}

/* The ring of a copy, which is alive in the loop as a whole: a buffer of its own, unless there is one. */
static void add_ring(Planner *p, const PrefetchPlan *plan, PrefetchCopy *c) {
    if (!c->store) add_private(p, c);
    p->f->buffers.at[c->buffer].is_bulk = c->box != NULL;
    Life *lives = NEW_ARRAY(p->scratch, Life, p->f->buffers.len);
    memcpy(lives, p->lives.at, p->known * sizeof *lives);
    lives[c->buffer] = p->lives.op[plan->outer ? plan->outer->id : plan->loop->id];
    p->lives.at = lives;
    p->known = p->f->buffers.len;
}

/* How many stages are wanted; 0: nothing says how many. */
static uint32_t stages_said(const Func *f, const Op *loop) {
    return loop->attr.loop.num_stages ? (uint32_t)loop->attr.loop.num_stages : f->num_stages;
}

static uint32_t words_of(Type t) {
    return t.layout ? layout_registers(t.layout) * dtype_bits(t.dtype) / 32 : 0;
}

/* Bytes that the buffers may take, so that a multiprocessor holds as many blocks as the registers of what the loop
 * carries and of what it copies for each thread allow. Who says how many stages of operands knows how many blocks that
 * leaves. */
static uint64_t room_of(const Planner *p, const PrefetchPlan *plan) {
    const Target *t = p->c->target;
    uint32_t threads = p->f->threads_per_program, words = OWN_WORDS;
    if (plan->is_ring && stages_said(p->f, plan->loop)) return t->max_shared;
    for (uint32_t i = 0; i < plan->loop->nresults; i++) words += words_of(plan->loop->results[i]->type);
    for (uint32_t i = 0; i < plan->num_copies && !plan->is_ring; i++)
        words += words_of(plan->copies[i].load->results[0]->type);
    uint32_t blocks = t->registers_per_sm / (words * threads);
    return target_shared_of(t, blocks ? blocks : 1);
}

/* Bytes of all buffers, with copies so many rounds ahead. */
static uint64_t bytes_ahead(Planner *p, PrefetchPlan *plan, uint32_t distance) {
    plan->distance = distance;
    plan->stages = distance + plan->is_ring + plan->lag;
    for (uint32_t i = 0; i < plan->num_copies; i++) p->f->buffers.at[plan->copies[i].buffer].stages = plan->stages;
    return buffers_place(p->f, &p->lives);
}

/* As many stages as fit; false: not even one round ahead does. What other buffers take anyway is room, too. */
static bool give_stages(Planner *p, PrefetchPlan *plan, uint32_t wanted) {
    uint64_t room = room_of(p, plan), least = bytes_ahead(p, plan, 1);
    if (least > room) room = least;
    if (room > p->c->target->max_shared) room = p->c->target->max_shared;
    while (wanted && bytes_ahead(p, plan, wanted) > room) wanted--;
    return wanted > 0;
}

static void take_back(Planner *p, PrefetchPlan *plan) {
    for (uint32_t i = 0; i < plan->num_copies; i++) {
        Buffer *b = &p->f->buffers.at[plan->copies[i].buffer];
        if (plan->copies[i].store) b->stages = 1, b->is_bulk = false, b->counts = -1;
        remark(p, plan->copies[i].load, "one more of it does not fit in shared memory");
    }
    plan->num_copies = 0;
}

/* The rings are alive beside what the outer loop's rounds end with. False: too few stages are left. */
static bool goes_across(Planner *p, PrefetchPlan *plan, uint32_t wanted) {
    uint32_t least = wanted < LEAST_ACROSS ? wanted : LEAST_ACROSS;
    if (!plan->outer || (give_stages(p, plan, wanted) && plan->distance >= least)) return true;
    plan->outer = NULL;
    return false;
}

static void place_copies(Planner *p, PrefetchPlan *plan) {
    uint32_t said = stages_said(p->f, plan->loop), wanted = (said ? said : STAGES) - 1;
    if (!plan->num_copies) return;
    if (plan->keeps) {
        plan->distance = KEPT_AHEAD;
        plan->stages = 1;
        return;
    }
    plan->is_bulk = plan->is_ring;
    for (uint32_t i = 0; i < plan->num_copies; i++) plan->is_bulk &= plan->copies[i].box || !plan->copies[i].store;
    if (wanted > MOST_DISTANCE) wanted = MOST_DISTANCE;
    uint32_t before = p->f->buffers.len;
    Lives was = p->lives;
    across_plan(p->facts, &p->seen, plan);
    for (uint32_t i = 0; i < plan->num_copies; i++) add_ring(p, plan, &plan->copies[i]);
    if (!goes_across(p, plan, wanted)) {
        p->lives = was;
        for (uint32_t i = 0; i < plan->num_copies; i++) add_ring(p, plan, &plan->copies[i]);
    }
    plan->lag = plan->is_ring && !plan->is_bulk && wanted >= LEAST_TO_LAG && loop_sums(plan->loop);
    if (plan->lag) plan->lag = give_stages(p, plan, wanted - 1) && plan->distance > 1;
    if (!give_stages(p, plan, wanted - plan->lag)) {
        take_back(p, plan);
        p->f->buffers.len = p->known = before;
        p->lives = was;
    } else if (said && plan->distance + plan->lag < wanted && p->c->remarks) {
        diag(p->c->diag, plan->loop->span, plan->is_ring ? R_FEWER_RINGS : R_FEWER_STAGES,
             plan->distance + plan->lag + 1);
    }
}

/* ---- What the first product takes -------------------------------------------------------------------------------- */

static bool is_ring_of(const PrefetchPlan *plan, uint32_t buffer) {
    for (uint32_t i = 0; i < plan->num_copies; i++)
        if (plan->copies[i].store && plan->copies[i].buffer == buffer) return true;
    return false;
}

static bool reads_ring(const PrefetchPlan *plan, const Op *op) {
    bool found = op_has_buffer(op->kind) && op->kind != OP_SHSTORE && is_ring_of(plan, op->attr.buffer);
    for (uint32_t r = 0; r < op->nregions && !found; r++)
        for (const Op *in = op->regions[r]->first; in && !found; in = in->next) found = reads_ring(plan, in);
    return found;
}

/* A round's first product need not wait for the barrier if what it takes was read in the round before: in front of its
 * last product, when all else of that round's stage has been read. */
static void plan_early(PrefetchPlan *plan) {
    Block *body = plan->loop->regions[0];
    Op *first = NULL;
    for (Op *op = body->first; op; op = op->next) {
        if (op->kind != OP_MMA) continue;
        if (!first) first = op;
        plan->last = op;
    }
    if (!plan->is_ring || !plan->num_copies || !first || plan->last->prev->kind == OP_BARRIER) return;
    for (const Op *op = plan->last; op; op = op->next)
        if (reads_ring(plan, op)) return;
    for (uint32_t i = MMA_A; i <= MMA_B; i++) {
        Op *read = first->args[i]->def;
        int64_t at;
        bool is_part = read && read->kind == OP_SHSLICE && read->parent == body && value_const(read->args[0], &at);
        if (is_part && value_used_once(read->results[0]) && is_ring_of(plan, read->attr.buffer))
            plan->early[plan->num_early++] = (PrefetchRead){read, at, read->attr, read->results[0]->type};
    }
}

/* ---- Which loops ------------------------------------------------------------------------------------------------- */

/* What stands in a loop: products; accesses of memory in loops within, so that those loops are fed, not this one. */
static void look_into(const Block *b, bool is_within, bool *has_product, bool *feeds_others) {
    for (const Op *op = b->first; op; op = op->next) {
        *has_product |= op_class(op->kind) == CLASS_MATRIX;
        *feeds_others |= is_within && op_is_access(op->kind);
        for (uint32_t r = 0; r < op->nregions; r++)
            look_into(op->regions[r], is_within || op_is_loop(op), has_product, feeds_others);
    }
}

static bool multiplies(const Op *loop) {
    bool has_product = false, feeds_others = false;
    look_into(loop->regions[0], false, &has_product, &feeds_others);
    return has_product && !feeds_others;
}

bool loop_is_fed(const Func *f, const Op *loop) {
    return stages_said(f, loop) != 1 && multiplies(loop);
}

static bool keeps(const Func *f, const Op *loop) {
    bool found = false;
    for (const Op *op = loop->regions[0]->first; op && !found; op = op->next) found = keeping_store(f, op) != NULL;
    return found;
}

/* The loads of the body that are operands, or the others. True: there are such. */
static bool plan_loads(Planner *p, PrefetchPlan *plan, bool operands) {
    bool has_any = false;
    for (Op *op = plan->loop->regions[0]->first; op; op = op->next) {
        Op *store = op->kind == OP_LOAD && plan->multiplies ? operand_store(p, op) : NULL;
        if (op->kind != OP_LOAD || operands != (store != NULL)) continue;
        if (plan->keeps && !keeping_store(p->f, op)) continue;
        const char *why = plan_load(p, plan, op, store);
        if (why && (operands || plan->loop->attr.loop.num_stages)) remark(p, op, why);
        has_any = true;
    }
    return has_any;
}

int loop_direction(const Facts *facts, const Op *loop) {
    const Fact *step = fact_of(facts, loop->args[2]);
    return step->lo > 0 ? 1 : step->hi <= 0 ? -1 : 0;
}

/* Operands first: what they need not share decides for the others. */
static void plan_loop(Planner *p, Op *loop) {
    bool asks = loop->attr.loop.num_stages >= 2;
    PrefetchPlan plan = {.loop = loop,
                         .direction = loop_direction(p->facts, loop),
                         .multiplies = multiplies(loop)};
    plan.keeps = !asks && !plan.multiplies && keeps(p->f, loop);
    if (loop->nargs - 3 > MOST_CARRIED) {
        if (asks) remark(p, loop, "it carries too many values");
        return;
    }
    bool loads = plan_loads(p, &plan, true);
    if (!asks && !plan.is_ring && !plan.keeps) return;
    loads |= plan_loads(p, &plan, false);
    if (!loads) remark(p, loop, "no load stands in its body, but perhaps in loops or branches within");
    place_copies(p, &plan);
    plan_early(&plan);
    if (plan.num_copies || plan.num_loads) vec_push(p->scratch, p->plans, plan);
}

static bool asks(const Func *f, const Op *op) {
    if (op->kind != OP_FOR) return false;
    if (keeps(f, op)) return true; /* nobody's loop but the compiler's */
    return stages_said(f, op) != 1 && (op->attr.loop.num_stages >= 2 || multiplies(op));
}

static void visit(void *context, Op *op) {
    Planner *p = context;
    if (asks(p->f, op)) plan_loop(p, op);
}

/* A loop that would load ahead, were it not for what the source says. */
static void remark_unstaged(void *context, Op *op) {
    const Planner *p = context;
    if (op->kind != OP_FOR || stages_said(p->f, op) != 1 || !multiplies(op)) return;
    bool loads = false;
    for (const Op *at = op->regions[0]->first; at; at = at->next) loads |= at->kind == OP_LOAD;
    if (loads) diag(p->c->diag, op->span, R_UNSTAGED);
}

typedef struct Asking {
    const Func *f;
    bool found;
} Asking;

static void find_asking(void *context, Op *op) {
    Asking *a = context;
    a->found = a->found || asks(a->f, op);
}

void prefetch_plan(Func *f, PassContext *c, Arena *scratch, PrefetchPlans *plans) {
    Asking any = {.f = f};
    Planner p = {.f = f, .c = c, .scratch = scratch, .plans = plans};
    if (c->remarks) func_walk(f, remark_unstaged, &p);
    func_walk(f, find_asking, &any);
    if (!any.found) return;
    p.facts = facts_compute(f, scratch);
    p.seen.stamp = NEW_ARRAY(scratch, uint32_t, f->next_op);
    p.lives = lives_of(f, scratch);
    p.known = f->buffers.len;
    func_walk(f, visit, &p);
}
