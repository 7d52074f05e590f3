/* facts.c - the analysis: what is proven of every value, and the questions that vectors put.
 *
 * In: a function at any stage. Out: a Fact per value (factop.c has the rules).
 * Method: one optimistic fixpoint over the whole function: a carried value begins as its init and is joined with what
 * the loop hands back, until a walk changes nothing. Ranges that keep growing are given up after a few walks, and so is
 * every carried value that is not settled after many.
 */
#include "base/plant.h"
#include "passes/private.h"

enum {
    PATIENCE = 4,    /* changes of a carried value before its range is the whole type */
    MOST_WALKS = 24, /* walks before carried values that still change are unknown */
};

struct Facts {
    uint32_t len;
    Fact *at;         /* by value id */
    bool *known;      /* reached by the walk */
    uint8_t *changes; /* of carried values */
    Fact bottom[DT_COUNT];
    bool changed, impatient;
};

/* ---- Writing facts ----------------------------------------------------------------------------------------------- */

static bool fact_equal(const Fact *a, const Fact *b) {
    bool same = a->lo == b->lo && a->hi == b->hi;
    for (uint32_t d = 0; d < COUNT(a->contiguous); d++) {
        same &= a->contiguous[d] == b->contiguous[d] && a->constant[d] == b->constant[d];
        same &= a->divisible[d] == b->divisible[d] && a->prefix[d] == b->prefix[d];
    }
    return same;
}

static void set_fact(Facts *s, const Value *v, Fact f) {
    s->at[v->id] = f;
    s->known[v->id] = true;
}

/* Joins f into what v is known to be; only ever loses. */
static void merge_fact(Facts *s, const Value *v, const Fact *f) {
    if (!s->known[v->id]) {
        set_fact(s, v, *f);
        s->changed = true;
        return;
    }
    Fact *old = &s->at[v->id], joined = fact_join(v, old, f);
    if (fact_equal(old, &joined)) return;
    s->changed = true;
    if (s->impatient) {
        *old = fact_bottom(v->type);
        return;
    }
    if (++s->changes[v->id] > PATIENCE) {
        Range full = range_full(v->type.dtype);
        if (joined.lo < old->lo) joined.lo = full.lo;
        if (joined.hi > old->hi) joined.hi = full.hi;
        s->changes[v->id] = PATIENCE;
    }
    *old = joined;
}

static void merge_value(Facts *s, const Value *to, const Value *from) {
    if (s->known[from->id]) merge_fact(s, to, &s->at[from->id]);
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

/* The values that iv takes: it passes the bound by less than a step, which must not wrap. */
static Fact fact_of_iv(const Facts *s, const Op *loop) {
    const Value *iv = loop->regions[0]->args.at[0];
    const Fact *lo = &s->at[loop->args[0]->id], *hi = &s->at[loop->args[1]->id], *step = &s->at[loop->args[2]->id];
    Fact f = fact_bottom(iv->type);
    Range full = range_full(iv->type.dtype);
    f.divisible[0] = lo->divisible[0] < step->divisible[0] ? lo->divisible[0] : step->divisible[0];
    if (step->lo > 0 && hi->hi > full.lo) {
        f.hi = hi->hi - 1 > lo->lo ? hi->hi - 1 : lo->lo;
        f.lo = hi->hi - 1 <= full.hi - step->hi ? lo->lo : full.lo;
        bool is_known = lo->lo == lo->hi && hi->lo == hi->hi && step->lo == step->hi;
        if (is_known && f.lo >= 0) f.hi -= (f.hi - f.lo) % step->lo;
    } else if (step->hi <= 0 && hi->lo < full.hi) {
        f.lo = hi->lo + 1 < lo->hi ? hi->lo + 1 : lo->hi;
        f.hi = hi->lo + 1 >= full.lo - step->lo ? lo->hi : full.hi;
    }
    return f;
}

/* What `condition` being true says of v, one of its operands or of an `and` below it. */
static void refine(const Facts *s, const Value *condition, const Value *v, Fact *f, uint32_t depth) {
    const Op *op = condition->def;
    int64_t otherwise;
    if (!op || v->type.shape.rank || depth == 0) return;
    bool is_and = op->kind == OP_AND || (op->kind == OP_SELECT && value_const(op->args[2], &otherwise) && !otherwise);
    if (is_and) {
        refine(s, op->args[0], v, f, depth - 1);
        refine(s, op->args[1], v, f, depth - 1);
    }
    if (op->kind != OP_ICMP || op->args[0] != v || !s->known[op->args[1]->id]) return;
    const Fact *bound = &s->at[op->args[1]->id];
    bool less = op->attr.pred == PRED_SLT || op->attr.pred == PRED_SLE,
         greater = op->attr.pred == PRED_SGT || op->attr.pred == PRED_SGE;
    int64_t strict = op->attr.pred == PRED_SLT || op->attr.pred == PRED_SGT;
    if (less && bound->hi - strict < f->hi && bound->hi > INT64_MIN) f->hi = bound->hi - strict;
    if (greater && bound->lo < INT64_MAX && bound->lo + strict > f->lo) f->lo = bound->lo + strict;
    if (f->lo > f->hi) f->lo = f->hi; /* never true: any answer holds */
}

static void visit_block(Facts *s, const Block *b);

static void visit_for(Facts *s, const Op *op) {
    const Block *body = op->regions[0];
    set_fact(s, body->args.at[0], fact_of_iv(s, op));
    for (uint32_t i = 0; i < op->nresults; i++) merge_value(s, body->args.at[i + 1], op->args[i + 3]);
    visit_block(s, body);
    for (uint32_t i = 0; i < op->nresults; i++) {
        merge_value(s, body->args.at[i + 1], body->last->args[i]);
        set_fact(s, op->results[i], s->at[body->args.at[i + 1]->id]);
    }
}

static void visit_while(Facts *s, const Op *op) {
    const Block *test = op->regions[0], *body = op->regions[1];
    for (uint32_t i = 0; i < op->nargs; i++) merge_value(s, test->args.at[i], op->args[i]);
    visit_block(s, test);
    for (uint32_t i = 0; i < op->nresults; i++) {
        const Value *passed = test->last->args[i + 1];
        Fact f = s->at[passed->id];
        set_fact(s, op->results[i], f);
        refine(s, test->last->args[0], passed, &f, 8);
        set_fact(s, body->args.at[i], f);
    }
    visit_block(s, body);
    for (uint32_t i = 0; i < op->nargs; i++) merge_value(s, test->args.at[i], body->last->args[i]);
}

static void visit_if(Facts *s, const Op *op) {
    visit_block(s, op->regions[0]);
    visit_block(s, op->regions[1]);
    for (uint32_t i = 0; i < op->nresults; i++) {
        const Value *x = op->regions[0]->last->args[i], *y = op->regions[1]->last->args[i];
        set_fact(s, op->results[i], fact_join(x, &s->at[x->id], &s->at[y->id]));
    }
}

/* Nothing is known of elements that are combined in any number. */
static void visit_combine(Facts *s, const Op *op) {
    const Block *region = op->regions[0];
    for (uint32_t i = 0; i < region->args.len; i++)
        set_fact(s, region->args.at[i], fact_bottom(region->args.at[i]->type));
    visit_block(s, region);
    for (uint32_t i = 0; i < op->nresults; i++) set_fact(s, op->results[i], fact_bottom(op->results[i]->type));
}

/* ---- The walk ---------------------------------------------------------------------------------------------------- */

static void visit_op(Facts *s, const Op *op) {
    const Fact *args[3] = {NULL, NULL, NULL};
    switch (op->kind) {
    case OP_FOR: visit_for(s, op); return;
    case OP_WHILE: visit_while(s, op); return;
    case OP_IF: visit_if(s, op); return;
    default: break;
    }
    if (op_is_combine(op->kind)) {
        visit_combine(s, op);
        return;
    }
    if (op->nresults != 1) return;
    for (uint32_t i = 0; i < op->nargs && i < COUNT(args); i++) args[i] = &s->at[op->args[i]->id];
    set_fact(s, op->results[0], fact_of_op(op, args));
}

static void visit_block(Facts *s, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) visit_op(s, op);
}

static Fact fact_of_param(const Param *p, const Value *v) {
    Fact f = fact_bottom(v->type);
    uint32_t bit = p->divisible ? p->divisible & (~p->divisible + 1) : 1;
    f.divisible[0] = bit > 1u << 30 ? 1u << 30 : bit;
    if (dtype_kind(v->type.dtype) != KIND_INT) return f;
    if (p->is_nonnegative && f.lo < 0) f.lo = 0;
    if (p->least && p->least > f.lo && p->least <= f.hi) f.lo = p->least;
    if (p->most && p->most < f.hi && p->most >= f.lo) f.hi = p->most;
    return f;
}

Facts *facts_compute(const Func *f, Arena *scratch) {
    Facts *s = NEW(scratch, Facts);
    s->len = f->next_value;
    s->at = NEW_ARRAY(scratch, Fact, s->len + 1);
    s->known = NEW_ARRAY(scratch, bool, s->len + 1);
    s->changes = NEW_ARRAY(scratch, uint8_t, s->len + 1);
    for (int d = 0; d < DT_COUNT; d++) s->bottom[d] = fact_bottom(type_scalar((DType)d));
    for (uint32_t i = 0; i < f->body->args.len; i++) {
        const Value *v = f->body->args.at[i];
        set_fact(s, v, fact_of_param(&f->params.at[i], v));
    }
    uint32_t walks = 0;
    do {
        s->changed = false;
        s->impatient = ++walks > MOST_WALKS;
        if (walks > MOST_WALKS + s->len + 1) bug("facts of %s do not settle", f->name);
        visit_block(s, f->body);
    } while (s->changed);
    return s;
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

const Fact *fact_of(const Facts *facts, const Value *v) {
    return v->id < facts->len && facts->known[v->id] ? &facts->at[v->id] : &facts->bottom[v->type.dtype];
}

uint32_t facts_vector(const Facts *facts, const Value *ptr, uint32_t axis, uint32_t max_bytes) {
    const Fact *f = fact_of(facts, ptr);
    uint32_t bytes = type_bytes(type_scalar(ptr->type.pointee)), n = 0;
    if (ptr->type.shape.rank == 0) return 0;
    uint64_t aligned = plant(PLANT_WIDE_VECTOR) ? max_bytes : (uint64_t)f->divisible[axis];
    while ((2u << n) <= f->contiguous[axis] && bytes << (n + 1) <= max_bytes && bytes << (n + 1) <= aligned) n++;
    return n;
}

/* x < y or x <= y, where x counts up along the whole axis from its least value on. */
static uint64_t live_below(const Facts *facts, const Value *x, const Value *y, uint32_t axis, uint64_t size,
                           bool or_equal) {
    const Fact *a = fact_of(facts, x), *b = fact_of(facts, y);
    int64_t live;
    if (a->contiguous[axis] < size || a->lo == range_full(x->type.dtype).lo || b->hi == INT64_MAX) return size;
    if (__builtin_sub_overflow(b->hi + or_equal, a->lo, &live)) return size;
    return live < 0 ? 0 : (uint64_t)live < size ? (uint64_t)live : size;
}

uint64_t facts_live(const Facts *facts, const Value *mask, uint32_t axis) {
    uint64_t size = shape_size(mask->type.shape, axis), x = size, y = size;
    const Op *op = mask->def;
    if (!op) return size;
    switch (op->kind) {
    case OP_AND:
        x = facts_live(facts, op->args[0], axis);
        y = facts_live(facts, op->args[1], axis);
        return x < y ? x : y;
    case OP_EXPAND:
        if (axis == op->attr.axis) return size;
        return facts_live(facts, op->args[0], axis < op->attr.axis ? axis : axis - 1);
    case OP_BROADCAST:
        return shape_size(op->args[0]->type.shape, axis) == size ? facts_live(facts, op->args[0], axis) : size;
    case OP_ICMP: break;
    default: return size;
    }
    Pred p = op->attr.pred;
    if (p == PRED_SLT || p == PRED_SLE) return live_below(facts, op->args[0], op->args[1], axis, size, p == PRED_SLE);
    if (p == PRED_SGT || p == PRED_SGE) return live_below(facts, op->args[1], op->args[0], axis, size, p == PRED_SGE);
    /* what lies below zero is beyond it, too */
    if ((p == PRED_ULT || p == PRED_ULE) && fact_of(facts, op->args[1])->lo >= 0)
        return live_below(facts, op->args[0], op->args[1], axis, size, p == PRED_ULE);
    return size;
}

uint32_t facts_run(const Facts *facts, const Value *v, uint32_t axis) {
    uint32_t run = log2_floor(fact_of(facts, v)->constant[axis]), size = v->type.shape.log2[axis];
    return run < size ? run : size;
}

MaskKind facts_mask(const Facts *facts, const Value *mask, uint32_t axis, uint32_t vec_log2) {
    if (!mask) return MASK_NONE;
    const Fact *f = fact_of(facts, mask);
    if (vec_log2 == 0 || mask->type.shape.rank == 0 || f->constant[axis] >> vec_log2) return MASK_UNIFORM;
    return f->prefix[axis] && f->contiguous[axis] >> vec_log2 ? MASK_PREFIX : MASK_ANY;
}
