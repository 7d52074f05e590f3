/* plan.c - which ops share a loop, which tiles live in scratch memory, and at which offset.
 *
 * In: a Func at STAGE_TILE. Out: Host.groups, Host.buffers, Host.scratch_bytes.
 * Method: loads, stores and sums along rows are anchors: each needs a loop over its tile. Neighbouring anchors of one
 * shape form a group, which is one loop, unless one waits for another's result. All other tiles are lazy: computed
 * chunk by chunk in the loops that need them, once a loop. A lazy tile that is dear and needed by several loops is kept
 * by the first of them; where that is not possible it gets a loop of its own. So does one whose elements are taken from
 * other places, and one at the top of a deep expression. What control flow carries is stored. Each stored tile gets
 * bytes of its own. A loaded tile has none where its loops can load it again.
 */
#include "codegen/host/host.h"

enum {
    COST_STORED = 1,   /* reading a buffer */
    COST_MATH = 16,    /* exp, log, division … */
    COST_LIMIT = 4,    /* dearer than this: worth a buffer when several loops need it */
    COST_MOST = 1000,  /* counting ends here */
    MOST_DEPTH = 64,   /* of an expression without a stored tile */
    MOST_AGAIN = 16,   /* ops of a load's operands, if it is to be done again */
};

/* The loops that need a tile; a loop's number is the place of the op that it stands at. */
typedef struct Needs {
    uint32_t first, last; /* NONE, 0: none does */
    bool kept;            /* the first one can keep it: of a group in the value's block, and in place */
    bool elsewhere;       /* some loop takes elements from other places */
    bool inner;           /* some loop is in a block within the value's */
    bool other;           /* something that is no group's loop needs it */
    bool all;             /* some loop needs all elements: an access of neighbours needs its first address */
} Needs;

#define NONE UINT32_MAX

typedef struct Plan {
    Host *h;
    uint32_t *cost, *depth; /* by value id: plain operations to compute one element, with repetitions; ops in a row */
    Needs *needs;           /* by value id */
    bool *alone;            /* by value id: it gets a loop of its own */
    uint32_t *place;        /* by op id: in program order */
    uint32_t places;
    uint32_t *seen[2];      /* by value id, in place or not: the question that it was asked last */
    uint32_t question;
    Group *open; /* the group that the next anchor may join */
} Plan;

/* ---- Kinds of ops ------------------------------------------------------------------------------------------------ */

bool host_is_lazy(const Op *op) {
    return op_is_pure(op->kind) && op->kind != OP_REDUCE && op->kind != OP_DOT && op->nresults == 1 &&
           value_is_tile(op->results[0]);
}

static bool is_math(const Op *op) {
    return op_is_elementwise(op->kind) && op_cost(op) > COST_PLAIN;
}

/* A sum along rows of neighbours. */
static bool is_row_reduce(const Op *op) {
    if (op->kind != OP_REDUCE) return false;
    Shape s = op->args[0]->type.shape;
    for (uint32_t d = op->attr.axis + 1u; d < s.rank; d++)
        if (s.log2[d]) return false;
    return s.log2[op->attr.axis] != 0;
}

static bool is_anchor(const Op *op) {
    bool is_access = op->kind == OP_LOAD || op->kind == OP_STORE;
    return (is_access && value_is_tile(op->args[0])) || is_row_reduce(op);
}

static Shape anchor_shape(const Op *op) {
    return op->args[0]->type.shape;
}

/* ---- Costs and loops of their own -------------------------------------------------------------------------------- */

static uint32_t least(uint32_t x, uint32_t y) {
    return x < y ? x : y;
}

static void number_ops(Plan *p, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        p->place[op->id] = p->places++;
        for (uint32_t i = 0; i < op->nregions; i++) number_ops(p, op->regions[i]);
    }
}

static void measure(Plan *p, const Op *op) {
    const Value *v = op->results[0];
    uint32_t cost = is_math(op) ? COST_MATH : 1, depth = 0;
    bool takes_lanes = host_takes_lanes(p->h, op);
    if (takes_lanes) cost = COST_LIMIT;
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Value *a = op->args[i];
        if (!value_is_tile(a)) continue;
        cost += p->cost[a->id];
        if (p->depth[a->id] > depth) depth = p->depth[a->id];
    }
    p->cost[v->id] = least(cost, COST_MOST);
    p->depth[v->id] = depth + 1;
    if (depth >= MOST_DEPTH && v->type.dtype != DT_PTR) {
        p->alone[v->id] = true;
        p->cost[v->id] = COST_STORED;
        p->depth[v->id] = 0;
    }
    const Value *from = op->nargs ? op->args[0] : NULL;
    if (takes_lanes && from->type.dtype != DT_PTR && from->def && host_is_lazy(from->def)) p->alone[from->id] = true;
}

static void measure_block(Plan *p, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->nregions; i++) measure_block(p, op->regions[i]);
        if (host_is_lazy(op)) measure(p, op);
        for (uint32_t i = 0; i < op->nresults && !host_is_lazy(op); i++) p->cost[op->results[i]->id] = COST_STORED;
    }
}

/* ---- Needs ------------------------------------------------------------------------------------------------------- */

/* The loop at `place` needs v: from a block `inner` to v's, from other places, or so that it can keep v. */
static void need(Plan *p, const Value *v, uint32_t first, uint32_t last, Needs how) {
    Needs *n = &p->needs[v->id];
    if (first < n->first) {
        n->first = first;
        n->kept = how.kept;
    } else if (first == n->first) {
        n->kept &= how.kept;
    }
    if (last > n->last) n->last = last;
    n->elsewhere |= how.elsewhere;
    n->inner |= how.inner;
    n->other |= how.other;
    n->all |= how.all;
}

static bool is_home(const Value *v, const Op *user) {
    return (v->def ? v->def->parent : v->block) == user->parent;
}

static uint32_t loop_of(const Plan *p, const Op *op) {
    const Group *g = p->h->groups[op->id];
    return p->place[g ? g->last->id : op->id];
}

static bool is_reused(const Plan *p, const Value *v) {
    const Needs *n = &p->needs[v->id];
    return p->cost[v->id] > COST_LIMIT && v->type.dtype != DT_PTR && n->all &&
           (n->first != n->last || n->inner || n->elsewhere);
}

/* What the op needs of its operands; all its users were seen. */
static void need_operands(Plan *p, const Op *op) {
    bool lazy = host_is_lazy(op), in_place = lazy ? op_class(op->kind) == CLASS_ELEMENT : is_anchor(op);
    bool by_element = !in_place && (op->kind == OP_REDUCE || op_is_combine(op->kind)); /* or by short vectors */
    Needs own = {.first = loop_of(p, op), .kept = in_place, .elsewhere = by_element, .other = !in_place, .all = true};
    own.last = own.first;
    if (lazy && !p->alone[op->results[0]->id]) own = p->needs[op->results[0]->id];
    if (own.first == NONE) return; /* nobody needs it */
    if (lazy && p->h->buffers[op->results[0]->id] >= 0) own.last = own.first; /* kept: the others read it */
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Value *a = op->args[i];
        bool home = is_home(a, op);
        if (!value_is_tile(a)) continue;
        bool is_first = i == 0 && is_anchor(op) && op->kind != OP_REDUCE && host_is_run(p->h, a);
        Needs how = {.kept = own.kept && in_place && home,
                     .elsewhere = own.elsewhere || (lazy && !in_place),
                     .inner = own.inner || !home,
                     .other = own.other,
                     .all = own.all && !is_first};
        need(p, a, own.first, own.last, how);
    }
}

typedef void Visit(Plan *p, const Op *op);

static void backwards(Plan *p, const Block *b, Visit *visit) {
    for (const Op *op = b->last; op; op = op->prev) {
        for (uint32_t i = op->nregions; i-- > 0;) backwards(p, op->regions[i], visit);
        visit(p, op);
        need_operands(p, op);
    }
}

/* Is v computed in some plain ops, `left` of them at most, of numbers and places alone? */
static bool is_plain(const Plan *p, const Value *v, uint32_t *left) {
    if (!value_is_tile(v)) return true;
    if (!v->def || !host_is_lazy(v->def) || is_math(v->def) || p->h->buffers[v->id] >= 0 || *left == 0) return false;
    --*left;
    for (uint32_t i = 0; i < v->def->nargs; i++)
        if (!is_plain(p, v->def->args[i], left)) return false;
    return true;
}

/* Does v, an address, differ from program to program, or from round to round? If nothing is known, it does. */
static bool is_own(const Value *v, uint32_t *left) {
    const Op *op = v->def;
    if (!op) return v->block->owner != NULL; /* of a loop */
    if (!op_is_pure(op->kind) || op->kind == OP_PID || *left == 0) return true;
    --*left;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (is_own(op->args[i], left)) return true;
    return false;
}

/* Can a load be done in the loops that need its tile, in place: of neighbours, with operands that cost little? */
static bool is_movable(const Plan *p, const Op *load) {
    const Needs *n = &p->needs[load->results[0]->id];
    uint32_t left = MOST_AGAIN;
    if (n->elsewhere || n->inner || n->other || load->attr.mem.is_volatile || p->h->m->o->check || p->h->m->o->count)
        return false;
    if (!host_is_run(p->h, load->args[0])) return false;
    for (uint32_t i = 0; i < load->nargs; i++)
        if (!is_plain(p, load->args[i], &left)) return false;
    return true;
}

/* Weights: a tile that all programs load, and none writes. It is in the caches, so the loops that need it load it. */
static bool is_weights(const Plan *p, const Op *op) {
    uint32_t left = MOST_AGAIN;
    return op->kind == OP_LOAD && value_is_tile(op->results[0]) && op_loads_constant(p->h->f, op) &&
           !is_own(op->args[0], &left) && is_movable(p, op);
}

/* Each anchor is a loop yet: what cannot be kept by the first of them gets a loop of its own. */
static void find_alone(Plan *p, const Op *op) {
    if (!host_is_lazy(op)) return;
    const Value *v = op->results[0];
    const Needs *n = &p->needs[v->id];
    if (is_reused(p, v) && (n->elsewhere || !n->kept)) p->alone[v->id] = true;
}

static void forget_needs(Plan *p) {
    for (uint32_t i = 0; i < p->h->f->next_value; i++) p->needs[i] = (Needs){.first = NONE};
}

static void give_buffer(Plan *p, const Value *v) {
    Host *h = p->h;
    if (value_is_tile(v)) h->buffers[v->id] = host_allocate(h, v->type);
}

static void keep_in(Plan *p, Group *g, const Value *v) {
    give_buffer(p, v);
    p->h->keepers[v->id] = g;
    vec_push(p->h->arena, &g->kept, v);
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static Group *new_group(Plan *p, const Op *op, Shape s) {
    Group *g = NEW(p->h->arena, Group);
    *g = (Group){.shape = s, .last = op};
    p->h->groups[op->id] = g;
    return g;
}

static bool waits(Plan *p, const Value *v, bool in_place) {
    const Op *op = v->def;
    if (!op || !p->open) return false;
    if (p->h->groups[op->id] == p->open) return op->kind == OP_REDUCE || !in_place;
    if (!host_is_lazy(op) || p->alone[v->id] || p->seen[in_place][v->id] == p->question) return false;
    p->seen[in_place][v->id] = p->question;
    bool same = in_place && op_class(op->kind) == CLASS_ELEMENT;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (waits(p, op->args[i], same)) return true;
    return false;
}

/* Does computing the op's operands wait for what the open group makes: a result of a reduction, or a tile that is not
 * taken in place, as by addresses? */
static bool op_waits(Plan *p, const Op *op, bool in_place) {
    p->question++;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (waits(p, op->args[i], in_place && op->args[i]->type.dtype != DT_PTR)) return true;
    return false;
}

static bool joins(Plan *p, const Op *op) {
    const Group *g = p->open;
    if (!g || p->h->m->o->count || !shape_equal(g->shape, anchor_shape(op))) return false;
    if (op->kind == OP_STORE ? g->loads || g->stores : op->kind == OP_LOAD && g->stores) return false;
    return !op_waits(p, op, true) && !(op->kind == OP_LOAD && op->attr.mem.is_volatile);
}

static void group_block(Plan *p, const Block *b);

static void group_op(Plan *p, const Op *op) {
    if (is_weights(p, op)) return;
    if (is_anchor(op)) {
        if (!joins(p, op)) p->open = new_group(p, op, anchor_shape(op));
        Group *g = p->h->groups[op->id] = p->open;
        vec_push(p->h->arena, &g->ops, op);
        g->last = op;
        g->loads |= op->kind == OP_LOAD;
        g->stores |= op->kind == OP_STORE;
        return;
    }
    if (host_is_lazy(op)) {
        if (!p->alone[op->results[0]->id]) return;
        p->open = NULL;
        keep_in(p, new_group(p, op, op->results[0]->type.shape), op->results[0]);
        return;
    }
    /* Scalars that do not meet the loop go before it. */
    bool is_load = op->kind == OP_LOAD && !op->attr.mem.is_volatile && !(p->open && p->open->stores);
    bool is_scalar = op->kind != OP_REDUCE && op->kind != OP_DOT && (op_is_pure(op->kind) || is_load);
    if (is_scalar && !op_waits(p, op, false)) return;
    p->open = NULL;
    for (uint32_t i = 0; i < op->nregions; i++) group_block(p, op->regions[i]);
    p->open = NULL;
}

static void group_block(Plan *p, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) group_op(p, op);
}

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

/* A loop's sum of products, which the loop carries: nothing else reads what it was, so it stays where it is. */
static bool adds_in_place(const Op *dot) {
    const Value *sum = dot->args[2];
    const Op *loop = sum->block ? sum->block->owner : NULL, *end = dot->parent->last;
    if (!loop || loop->kind != OP_FOR || sum->block != dot->parent || !value_used_once(sum) || sum->index == 0)
        return false;
    return end->args[sum->index - 1] == dot->results[0];
}

/* What control flow carries, and what leaves a loop: that is what it carried last. */
static void buffer_carried(Plan *p, const Op *op) {
    for (uint32_t i = 0; i < op->nregions; i++)
        for (uint32_t k = 0; k < op->regions[i]->args.len; k++) give_buffer(p, op->regions[i]->args.at[k]);
    if (!op_is_loop(op)) return;
    Value **last = op->kind == OP_FOR ? op->regions[0]->args.at + 1 : op->regions[1]->args.at;
    for (uint32_t i = 0; i < op->nresults; i++)
        p->h->buffers[op->results[i]->id] = p->h->buffers[last[i]->id];
}

static void buffer_block(Plan *p, const Block *b) {
    Host *h = p->h;
    for (const Op *op = b->first; op; op = op->next) {
        buffer_carried(p, op);
        for (uint32_t i = 0; i < op->nregions; i++) buffer_block(p, op->regions[i]);
        if (host_is_lazy(op) || op_is_loop(op)) continue;
        if (op_is_atomic(op->kind) && !value_used(op->results[0])) continue;
        if (op->kind == OP_DOT && adds_in_place(op)) {
            h->buffers[op->results[0]->id] = h->buffers[op->args[2]->id];
            continue;
        }
        for (uint32_t i = 0; i < op->nresults; i++) {
            if (op->kind != OP_LOAD) give_buffer(p, op->results[i]);
            else if (value_is_tile(op->results[i])) h->buffers[op->results[i]->id] = 0; /* keep has the last word */
        }
    }
}

/* May the loops that need a loaded tile load it again? Not behind what may have written it. */
static bool loads_again(const Plan *p, const Op *load) {
    const Needs *n = &p->needs[load->results[0]->id];
    if (!is_movable(p, load)) return false;
    if (op_loads_constant(p->h->f, load)) return true;
    for (const Op *op = load->next; op && p->place[op->id] <= n->last; op = op->next)
        if (!op_is_pure(op->kind) && !op_is_read(op->kind)) return false;
    return true;
}

/* A loaded tile is kept where another loop than its own needs it; a lazy one that is dear by the first of several. */
static void keep(Plan *p, const Op *op) {
    const Value *v = op->nresults ? op->results[0] : NULL;
    if (!v || !value_is_tile(v)) return;
    const Needs *n = &p->needs[v->id];
    if (op->kind == OP_LOAD) {
        p->h->buffers[v->id] = -1;
        bool is_passing = n->first == n->last && n->first == loop_of(p, op) && !n->elsewhere && !n->inner;
        bool is_kept = p->h->groups[op->id] && !is_passing && n->first != NONE;
        if (is_kept && !loads_again(p, op)) give_buffer(p, v);
    } else if (host_is_lazy(op) && !p->alone[v->id] && is_reused(p, v)) {
        const Op *at = op;
        while (at && !(p->h->groups[at->id] && loop_of(p, at) == n->first)) at = at->next;
        if (at) keep_in(p, p->h->groups[at->id], v);
    }
}

/* ---- What comes next --------------------------------------------------------------------------------------------- */

/* Operations for each element of v in the group's loop that were not met since the question. */
static uint32_t work_for(Plan *p, const Group *g, const Value *v) {
    if (!value_is_tile(v) || p->seen[0][v->id] == p->question) return 0;
    p->seen[0][v->id] = p->question;
    if (!v->def || !host_is_lazy(v->def) || (p->h->buffers[v->id] >= 0 && p->h->keepers[v->id] != g)) return 0;
    uint32_t work = is_math(v->def) ? COST_MATH : 1;
    for (uint32_t i = 0; i < v->def->nargs; i++) work += work_for(p, g, v->def->args[i]);
    return work;
}

static uint32_t work_of(Plan *p, const Group *g) {
    uint32_t work = 0;
    p->question++;
    for (uint32_t i = 0; i < g->ops.len; i++)
        if (g->ops.at[i]->kind == OP_REDUCE) work += work_for(p, g, g->ops.at[i]->args[0]);
    for (uint32_t i = 0; i < g->kept.len; i++) work += work_for(p, g, g->kept.at[i]);
    return work;
}

/* Rows come one after the other. The next one is asked for where this one is computed longest, so that memory has
 * something to do, but not while stores take the way to memory; a long row's next part, in the loop that loads it. */
static void look_ahead(Plan *p, const Op *load) {
    Host *h = p->h;
    Group *best = h->groups[load->id];
    uint32_t left = MOST_AGAIN, own_left = MOST_AGAIN;
    if (load->kind != OP_LOAD || !best || !host_is_run(h, load->args[0]) || !is_own(load->args[0], &own_left)) return;
    uint64_t bytes = shape_elements(best->shape) * type_bytes(type_scalar(load->args[0]->type.pointee));
    if (bytes <= HOST_NEXT_ROW && is_plain(p, load->args[0], &left)) {
        uint32_t most = work_of(p, best);
        for (const Op *op = load->next; op; op = op->next) {
            Group *g = h->groups[op->id];
            uint32_t work = g && !g->stores && shape_equal(g->shape, best->shape) ? work_of(p, g) : 0;
            if (work <= most) continue;
            best = g;
            most = work;
        }
    }
    vec_push(h->arena, &best->ahead, load);
}

static void look_ahead_in(Plan *p, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        look_ahead(p, op);
        for (uint32_t i = 0; i < op->nregions; i++) look_ahead_in(p, op->regions[i]);
    }
}

void host_plan(Host *h) {
    uint32_t values = h->f->next_value, ops = h->f->next_op;
    Plan p = {.h = h,
              .cost = NEW_ARRAY(h->arena, uint32_t, values),
              .depth = NEW_ARRAY(h->arena, uint32_t, values),
              .needs = NEW_ARRAY(h->arena, Needs, values),
              .alone = NEW_ARRAY(h->arena, bool, values),
              .place = NEW_ARRAY(h->arena, uint32_t, ops),
              .seen = {NEW_ARRAY(h->arena, uint32_t, values), NEW_ARRAY(h->arena, uint32_t, values)}};
    h->groups = NEW_ARRAY(h->arena, Group *, ops);
    h->keepers = NEW_ARRAY(h->arena, const Group *, values);
    h->buffers = NEW_ARRAY(h->arena, int64_t, values);
    for (uint32_t i = 0; i < values; i++) h->buffers[i] = -1;
    buffer_block(&p, h->f->body); /* of loads: until their needs are known */
    number_ops(&p, h->f->body);
    measure_block(&p, h->f->body);
    forget_needs(&p);
    backwards(&p, h->f->body, find_alone);
    group_block(&p, h->f->body);
    forget_needs(&p);
    backwards(&p, h->f->body, keep);
    look_ahead_in(&p, h->f->body);
}
