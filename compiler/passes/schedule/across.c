/* across.c - the copies of a loop's rings go ahead into the next round of the loop around it.
 *
 * In: a plan whose operands all come by bulk copies, in a loop within a loop. Out: the plan names the outer loop, and
 * what the copies' places take of its body; ops that say what these will be in the next round.
 * Rules: the outer loop goes over tiles, and each of its rounds has the same rounds of this one. Places follow both
 * loop variables alone, through pure ops. No other loop in there multiplies what it loads. Nothing writes what is
 * loaded, which bulk copies ask for anyway (bulk.c).
 * Method: behind the loop's last round, copies are for the first rounds of the next time, as many as they are ahead. So
 * where the loop has fewer rounds, each time begins its own. The next time's places are made once, in front of the
 * loop, of which each copy chooses some: a round's copies hold up its products.
 * Why: else the first copies of each round wait until what the round before stores is stored.
 */
#include "base/plant.h"
#include "passes/schedule/pipeline.h"

enum { MOST_VISITS = 256 /* of what places are made of in the loop */ };

/* ---- The same rounds each time ----------------------------------------------------------------------------------- */

static bool is_from(const Value *v, const Block *b) {
    return v->def ? v->def->parent == b : v->block == b;
}

/* Constants may stand in front of the outer loop. */
static bool is_outside(Op *outer, Value *v) {
    int64_t known;
    if (!is_from(v, outer->regions[0])) return true;
    if (!value_const(v, &known)) return false;
    op_move_before(v->def, outer);
    return true;
}

static bool has_same_rounds(Op *outer, const Op *loop) {
    return is_outside(outer, loop->args[0]) && is_outside(outer, loop->args[1]) && is_outside(outer, loop->args[2]);
}

static void count_fed(const Block *b, uint32_t *n) {
    for (const Op *op = b->first; op; op = op->next) {
        *n += op->kind == OP_FOR && block_multiplies(op->regions[0]);
        for (uint32_t r = 0; r < op->nregions; r++) count_fed(op->regions[r], n);
    }
}

static bool has_bulk_stores(const Block *b) {
    bool found = false;
    for (const Op *op = b->first; op && !found; op = op->next) {
        found = op->kind == OP_BULKSTORE;
        for (uint32_t r = 0; r < op->nregions && !found; r++) found = has_bulk_stores(op->regions[r]);
    }
    return found;
}

/* From the program's number on, or with bulk stores: elsewhere there are few rounds, and copies ahead cost each of the
 * loop's a few instructions. */
static bool goes_over_tiles(const Op *outer) {
    const Value *lo = value_unextended(outer->args[0]);
    return (lo->def && lo->def->kind == OP_PID) || has_bulk_stores(outer->regions[0]);
}

/* ---- What places take of the outer loop -------------------------------------------------------------------------- */

typedef struct Search {
    PrefetchPlan *plan;
    Attempts *seen;
    Op *outer;
    uint32_t visits;
} Search;

/* A value of the outer loop's body, or from in front of it. */
static bool give(Search *x, Value *v) {
    PrefetchPlan *plan = x->plan;
    uint64_t carried = 0;
    if (is_outside(x->outer, v)) return true;
    for (uint32_t i = 0; i < plan->num_given; i++)
        if (plan->given[i] == v) return true;
    bool is_number = !value_is_tile(v) && dtype_kind(v->type.dtype) == KIND_INT;
    if (plan->num_given == MOST_GIVEN || !is_number) return false;
    if (!ahead_follows(x->seen, x->outer, &v, 1, &carried) || carried) return false;
    plan->given[plan->num_given++] = v;
    return true;
}

/* What v is made of in the loop's body: what is from outside of that. */
static bool give_sources(Search *x, Value *v) {
    const Block *body = x->plan->loop->regions[0];
    if (!is_from(v, body)) return give(x, v);
    if (!v->def) return true; /* the loop's own, of which the front has the next */
    if (++x->visits > MOST_VISITS) return false;
    for (uint32_t i = 0; i < v->def->nargs; i++)
        if (!give_sources(x, v->def->args[i])) return false;
    return true;
}

static bool give_places(Search *x, const Box *box) {
    bool gives = !box->when || give_sources(x, box->when);
    for (uint32_t d = 0; d < box->rank && gives; d++)
        for (uint32_t i = 0; i < box->dims[d].num_terms && gives; i++)
            gives = give_sources(x, box->dims[d].terms[i].v);
    return gives;
}

void across_plan(const Facts *facts, Attempts *seen, PrefetchPlan *plan) {
    Search x = {.plan = plan, .seen = seen, .outer = plan->loop->parent->owner};
    uint32_t fed = 0;
    if (!x.outer || x.outer->kind != OP_FOR) return;
    count_fed(x.outer->regions[0], &fed);
    bool counts = fact_of(facts, plan->loop->args[0])->lo >= 0 && plan->direction > 0 && !plan->copies_carry;
    bool goes = plan->is_bulk && fed == 1 && counts && goes_over_tiles(x.outer);
    goes = goes && has_same_rounds(x.outer, plan->loop);
    for (uint32_t i = 0; i < plan->num_copies && goes; i++)
        goes = plan->copies[i].box && give_places(&x, plan->copies[i].box);
    if (!goes) return;
    plan->outer = x.outer;
    plan->outer_direction = loop_direction(facts, x.outer);
}

/* ---- The next round ---------------------------------------------------------------------------------------------- */

static Value *rounds_of(Builder *b, const Op *loop) {
    Value *step = loop->args[2], *one = build_int(b, step->type, 1);
    Value *length = build2(b, OP_SUB, loop->args[1], loop->args[0]);
    return build2(b, OP_SDIV, build2(b, OP_ADD, length, build2(b, OP_SUB, step, one)), step);
}

/* What the places take of the outer loop's round of this variable, if there is one; else 0. */
static void give_next(Rotation *r, Builder *b, Value *runs, Value *iv) {
    const PrefetchPlan *plan = r->plan;
    const Block *home = plan->outer->regions[0];
    Type types[MOST_GIVEN];
    Value *values[MOST_GIVEN];
    if (!plan->num_given) return;
    for (uint32_t i = 0; i < plan->num_given; i++) types[i] = plan->given[i]->type;
    Op *branch = build_if(b, runs, types, plan->num_given);
    Builder in = builder_at_end(r->f, branch->regions[0]);
    in.span = b->span;
    ValueMap map = valuemap_create(r->f);
    valuemap_set(r->f, &map, home->args.at[0], iv);
    for (uint32_t i = 0; i < plan->num_given; i++) values[i] = value_again(home, &in, plan->given[i], &map);
    build_yield(&in, values, plan->num_given);
    in = builder_at_end(r->f, branch->regions[1]);
    in.span = b->span;
    for (uint32_t i = 0; i < plan->num_given; i++) values[i] = build_int(&in, types[i], 0);
    build_yield(&in, values, plan->num_given);
    for (uint32_t i = 0; i < plan->num_given; i++) r->across.given[i] = branch->results[i];
}

void across_begin(Rotation *r, Builder *b) {
    const PrefetchPlan *plan = r->plan;
    Op *outer = plan->outer;
    Builder before = builder_before(r->f, outer);
    Value *step = r->loop->args[2], *rounds = rounds_of(&before, r->loop),
          *ahead = build_int(&before, step->type, plan->distance),
          *is_long = build_compare(&before, OP_ICMP, PRED_SGE, rounds, ahead);
    Value *iv = outer->regions[0]->args.at[0], *next = build2(b, OP_ADD, iv, outer->args[2]),
          *runs = loop_runs(b, outer, plan->outer_direction, next),
          *is_first = build_compare(b, OP_ICMP, PRED_EQ, iv, outer->args[0]);
    r->across.span = build2(&before, OP_MUL, rounds, step);
    r->across.begins = build2(b, OP_OR, is_first, build2(b, OP_XOR, is_long, build_int(b, is_long->type, 1)));
    r->across.follows = build2(b, OP_AND, runs, is_long);
    give_next(r, b, runs, plant(PLANT_RING_ACROSS) ? iv : next);
}

ValueMap across_map(const Rotation *r, Builder *b, const Front *at) {
    ValueMap map = valuemap_create(r->f);
    valuemap_set(r->f, &map, body_of(r)->args.at[0], build2(b, OP_SUB, at->iv, r->across.span));
    for (uint32_t i = 0; i < r->plan->num_given; i++)
        valuemap_set(r->f, &map, r->plan->given[i], r->across.given[i]);
    return map;
}
