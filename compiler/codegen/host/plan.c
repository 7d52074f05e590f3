/* plan.c - which tiles live in scratch memory, and at which offset.
 *
 * In: a Func at STAGE_TILE. Out: Host.buffers and Host.scratch_bytes.
 * Method: what is bound to a program point (loads, reductions, carried values, results of control flow) is stored. The
 * rest is lazy, unless computing it again costs more than reading it back: it has several users, or a user in an inner
 * loop, and a cost of several plain operations; or a user takes it lane by lane.
 * Each stored tile gets bytes of its own.
 */
#include "codegen/host/host.h"

enum {
    COST_STORED = 1,  /* reading a buffer */
    COST_MATH = 16,   /* exp, log, division … */
    COST_LIMIT = 4,   /* dearer than this: worth a buffer when used more than once */
    COST_ALWAYS = 64, /* so dear that a single use still gets a buffer: bounds the depth of fused trees */
};

typedef struct Plan {
    Host *h;
    uint32_t *cost; /* by value id: plain operations to compute one element */
} Plan;

static bool is_math(const Op *op) {
    return op_is_elementwise(op->kind) && op_cost(op) > COST_PLAIN;
}

static void give_buffer(Plan *p, const Value *v) {
    Host *h = p->h;
    if (!value_is_tile(v)) return;
    h->buffers[v->id] = host_allocate(h, v->type);
    p->cost[v->id] = COST_STORED;
}

/* Used more than once, or where it would be computed again and again. */
static bool is_reused(const Value *v, const Block *home) {
    if (!v->uses) return false;
    if (v->uses->next) return true;
    const Op *user = v->uses->op;
    return user->parent != home || user->kind == OP_REDUCE || op_is_combine(user->kind);
}

/* A loop's sum of products, which the loop carries: nothing else reads what it was, so it stays where it is. */
static bool adds_in_place(const Op *dot) {
    const Value *sum = dot->args[2];
    const Op *loop = sum->block ? sum->block->owner : NULL, *end = dot->parent->last;
    if (!loop || loop->kind != OP_FOR || sum->block != dot->parent || !value_used_once(sum) || sum->index == 0)
        return false;
    return end->args[sum->index - 1] == dot->results[0];
}

static void plan_block(Plan *p, const Block *b);

static void plan_op(Plan *p, const Op *op) {
    for (uint32_t i = 0; i < op->nregions; i++) {
        for (uint32_t k = 0; k < op->regions[i]->args.len; k++) give_buffer(p, op->regions[i]->args.at[k]);
        plan_block(p, op->regions[i]);
    }
    /* What leaves a loop is what it carried last. */
    if (op_is_loop(op)) {
        Value **last = op->kind == OP_FOR ? op->regions[0]->args.at + 1 : op->regions[1]->args.at;
        for (uint32_t i = 0; i < op->nresults; i++) {
            p->h->buffers[op->results[i]->id] = p->h->buffers[last[i]->id];
            p->cost[op->results[i]->id] = COST_STORED;
        }
        return;
    }
    if (op_is_atomic(op->kind) && !value_used(op->results[0])) return;
    if (op->kind == OP_DOT && adds_in_place(op)) {
        p->h->buffers[op->results[0]->id] = p->h->buffers[op->args[2]->id];
        p->cost[op->results[0]->id] = COST_STORED;
        return;
    }
    if (op->nregions || op_is_atomic(op->kind) || op->kind == OP_LOAD || op->kind == OP_REDUCE || op->kind == OP_DOT) {
        for (uint32_t i = 0; i < op->nresults; i++) give_buffer(p, op->results[i]);
        return;
    }
    if (host_takes_lanes(p->h, op) && op->args[0]->type.dtype != DT_PTR && p->h->buffers[op->args[0]->id] < 0)
        give_buffer(p, op->args[0]);
    if (op->nresults != 1 || !value_is_tile(op->results[0])) return;
    const Value *v = op->results[0];
    uint32_t cost = is_math(op) ? COST_MATH : host_takes_lanes(p->h, op) ? COST_LIMIT : 1;
    for (uint32_t i = 0; i < op->nargs; i++) cost += value_is_tile(op->args[i]) ? p->cost[op->args[i]->id] : 0;
    p->cost[v->id] = cost;
    bool is_pointer = v->type.dtype == DT_PTR;
    if (!is_pointer && ((cost > COST_LIMIT && is_reused(v, op->parent)) || cost > COST_ALWAYS)) give_buffer(p, v);
}

static void plan_block(Plan *p, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) plan_op(p, op);
}

void host_plan(Host *h) {
    Plan p = {h, NEW_ARRAY(h->arena, uint32_t, h->f->next_value)};
    h->buffers = NEW_ARRAY(h->arena, int64_t, h->f->next_value);
    for (uint32_t i = 0; i < h->f->next_value; i++) h->buffers[i] = -1;
    plan_block(&p, h->f->body);
}
