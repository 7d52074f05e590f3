/* facts.c - what is proven of every value: runs of neighbours, runs of equals, divisibility, ranges (passes.h).
 *
 * In: a Func. Out: a Fact per value. One walk in program order; a loop's carried values start as their initial ones and
 * are weakened until a round changes nothing (ranges at once to everything, so three rounds do).
 * All counts are powers of two. `divisible_at(x, d, n)`: what divides the elements of x at multiples of n along d.
 */
#include "passes/passes.h"

#include <string.h>

enum { MOST = 1 << 30 };

__extension__ typedef __int128 Wide; /* what no sum or product of two int64_t leaves */

struct Facts {
    Fact *at;
    uint32_t count;
};

static uint32_t min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static uint32_t max_u32(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

/* The power of two in a number, MOST at most (0 is divisible by everything). */
static uint32_t power_in(int64_t x) {
    if (x == 0) return MOST;
    int n = __builtin_ctzll((uint64_t)x);
    return n > 30 ? MOST : 1u << n;
}

static uint32_t product(uint32_t a, uint32_t b) {
    uint64_t p = (uint64_t)a * b;
    return p > MOST ? MOST : (uint32_t)p;
}

static uint32_t rank_of(const Value *v) {
    return v->type.shape.rank ? v->type.shape.rank : 1;
}

static uint32_t size_along(const Value *v, uint32_t d) {
    return v->type.shape.rank ? 1u << v->type.shape.log2[d] : 1;
}

static void full_range(const Value *v, Fact *r) {
    uint32_t bits = dtype_bits(v->type.dtype);
    r->lo = bits == 1 ? 0 : bits >= 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
    r->hi = bits == 1 ? 1 : bits >= 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
}

static Fact nothing(const Value *v) {
    Fact r = {0};
    for (uint32_t d = 0; d < 5; d++) r.contiguous[d] = r.constant[d] = r.divisible[d] = 1;
    full_range(v, &r);
    return r;
}

static uint32_t divisible_at(const Fact *f, uint32_t d, uint32_t n, uint32_t unit) {
    if (f->contiguous[d] == 1 || n >= f->contiguous[d]) return f->divisible[d];
    return min_u32(f->divisible[d], product(n, unit));
}

/* A range that the type cannot hold may wrap: then nothing is known. */
static void set_range(const Value *v, Fact *r, Wide lo, Wide hi) {
    full_range(v, r);
    if (lo < r->lo || hi > r->hi) return;
    r->lo = (int64_t)lo;
    r->hi = (int64_t)hi;
}

static uint32_t unit_of(const Value *v) {
    return v->type.dtype == DT_PTR ? type_bytes(type_scalar(v->type.pointee)) : 1;
}

/* ---- Ops ------------------------------------------------------------------------------------------------------------- */

/* a + b, a - b, pointer + b: one side may count, the other must stand still. */
static Fact fact_sum(const Op *op, const Fact *a, const Fact *b) {
    const Value *v = op->results[0];
    Fact r = nothing(v);
    uint32_t unit = unit_of(v);
    for (uint32_t d = 0; d < rank_of(v); d++) {
        uint32_t left = min_u32(a->contiguous[d], b->constant[d]);
        uint32_t right = op->kind == OP_SUB ? 1 : min_u32(a->constant[d], b->contiguous[d]);
        uint32_t run = max_u32(left, right);
        r.contiguous[d] = run;
        r.constant[d] = min_u32(a->constant[d], b->constant[d]);
        r.divisible[d] = min_u32(divisible_at(a, d, run, unit), product(divisible_at(b, d, run, 1), unit));
    }
    if (op->kind == OP_ADD) set_range(v, &r, (Wide)a->lo + b->lo, (Wide)a->hi + b->hi);
    if (op->kind == OP_SUB) set_range(v, &r, (Wide)a->lo - b->hi, (Wide)a->hi - b->lo);
    return r;
}

static Fact fact_product(const Op *op, const Fact *a, const Fact *b) {
    const Value *v = op->results[0];
    Fact r = nothing(v);
    for (uint32_t d = 0; d < rank_of(v); d++) {
        r.constant[d] = min_u32(a->constant[d], b->constant[d]);
        r.divisible[d] = product(divisible_at(a, d, 1, 1), divisible_at(b, d, 1, 1));
        if (b->lo == 1 && b->hi == 1) r.contiguous[d] = a->contiguous[d], r.divisible[d] = a->divisible[d];
        if (a->lo == 1 && a->hi == 1) r.contiguous[d] = b->contiguous[d], r.divisible[d] = b->divisible[d];
    }
    Wide corners[] = {(Wide)a->lo * b->lo, (Wide)a->lo * b->hi, (Wide)a->hi * b->lo, (Wide)a->hi * b->hi};
    Wide lo = corners[0], hi = corners[0];
    for (int i = 1; i < 4; i++) {
        if (corners[i] < lo) lo = corners[i];
        if (corners[i] > hi) hi = corners[i];
    }
    set_range(v, &r, lo, hi);
    return r;
}

/* a / b and a % b by a positive power of two known here, a not negative. */
static Fact fact_division(const Op *op, const Fact *a, const Fact *b) {
    const Value *v = op->results[0];
    Fact r = nothing(v);
    bool is_quotient = op->kind == OP_SDIV || op->kind == OP_UDIV;
    bool known = b->lo == b->hi && b->lo > 0 && (b->lo & (b->lo - 1)) == 0 && b->lo <= MOST && a->lo >= 0;
    for (uint32_t d = 0; d < rank_of(v); d++) {
        r.constant[d] = min_u32(a->constant[d], b->constant[d]);
        if (!known) continue;
        uint32_t k = (uint32_t)b->lo, run = min_u32(min_u32(a->contiguous[d], k), divisible_at(a, d, k, 1));
        if (is_quotient) {
            r.constant[d] = max_u32(r.constant[d], run);
        } else {
            r.contiguous[d] = run;
            r.divisible[d] = min_u32(divisible_at(a, d, run, 1), run > 1 ? MOST : k);
            if (run == 1) r.divisible[d] = min_u32(divisible_at(a, d, 1, 1), k);
        }
    }
    if (a->lo >= 0 && b->lo > 0) {
        if (is_quotient) set_range(v, &r, a->lo / b->hi, a->hi / b->lo);
        else set_range(v, &r, 0, b->hi - 1 < a->hi ? b->hi - 1 : a->hi);
    }
    return r;
}

static Fact fact_shift_left(const Op *op, const Fact *a, const Fact *b) {
    if (b->lo != b->hi || b->lo < 0 || b->lo > 30) return nothing(op->results[0]);
    Fact k = {.lo = (int64_t)1 << b->lo, .hi = (int64_t)1 << b->lo};
    for (uint32_t d = 0; d < 5; d++) {
        k.contiguous[d] = 1;
        k.constant[d] = b->constant[d];
        k.divisible[d] = 1u << b->lo;
    }
    return fact_product(op, a, &k);
}

/* max, min, and, or, xor, select …: equal where all operands are. */
static Fact fact_elementwise(const Op *op, const Facts *facts) {
    const Value *v = op->results[0];
    Fact r = nothing(v);
    for (uint32_t d = 0; d < rank_of(v); d++) {
        r.constant[d] = size_along(v, d);
        for (uint32_t i = 0; i < op->nargs; i++) {
            if (value_is_tile(op->args[i])) r.constant[d] = min_u32(r.constant[d], facts->at[op->args[i]->id].constant[d]);
        }
    }
    return r;
}

static void range_minmax(const Op *op, const Fact *a, const Fact *b, Fact *r) {
    bool is_max = op->kind == OP_SMAX || op->kind == OP_UMAX, is_signed = op->kind == OP_SMAX || op->kind == OP_SMIN;
    if (!is_signed && (a->lo < 0 || b->lo < 0)) return;
    r->lo = is_max ? (a->lo > b->lo ? a->lo : b->lo) : (a->lo < b->lo ? a->lo : b->lo);
    r->hi = is_max ? (a->hi > b->hi ? a->hi : b->hi) : (a->hi < b->hi ? a->hi : b->hi);
    for (uint32_t d = 0; d < 5; d++) r->divisible[d] = min_u32(divisible_at(a, d, 1, 1), divisible_at(b, d, 1, 1));
}

/* x < n: true … true false … false along the run that x counts; the same for the whole run where both ends are multiples
 * of its length. */
static Fact fact_compare(const Op *op, const Fact *a, const Fact *b, const Facts *facts) {
    Fact r = fact_elementwise(op, facts);
    Pred p = (Pred)op->attr.i;
    bool less = p == PRED_SLT || p == PRED_SLE || p == PRED_ULT || p == PRED_ULE;
    bool greater = p == PRED_SGT || p == PRED_SGE || p == PRED_UGT || p == PRED_UGE;
    if (!less && !greater) return r;
    bool strict = p == PRED_SLT || p == PRED_ULT || p == PRED_SGT || p == PRED_UGT;
    const Fact *x = less ? a : b, *n = less ? b : a;
    for (uint32_t d = 0; d < rank_of(op->results[0]); d++) {
        uint32_t run = min_u32(x->contiguous[d], n->constant[d]);
        if (run < 2) continue;
        r.contiguous[d] = run;
        r.prefix[d] = true;
        uint32_t whole = min_u32(run, min_u32(x->divisible[d], divisible_at(n, d, run, 1)));
        if (strict) r.constant[d] = max_u32(r.constant[d], whole);
    }
    return r;
}

/* The conjunction of prefixes is one; with something equal along the run, too. */
static Fact fact_and(const Op *op, const Fact *a, const Fact *b, const Facts *facts) {
    Fact r = fact_elementwise(op, facts);
    if (op->results[0]->type.dtype != DT_I1) {
        if (a->lo >= 0 || b->lo >= 0) set_range(op->results[0], &r, 0, a->lo < 0 ? b->hi : b->lo < 0 ? a->hi : a->hi < b->hi ? a->hi : b->hi);
        return r;
    }
    for (uint32_t d = 0; d < rank_of(op->results[0]); d++) {
        uint32_t left = a->prefix[d] ? max_u32(a->contiguous[d], a->constant[d]) : a->constant[d];
        uint32_t right = b->prefix[d] ? max_u32(b->contiguous[d], b->constant[d]) : b->constant[d];
        r.contiguous[d] = min_u32(left, right);
        r.prefix[d] = r.contiguous[d] > 1;
    }
    return r;
}

static Fact fact_expand(const Op *op, const Fact *a) {
    const Value *v = op->results[0];
    Fact r = nothing(v);
    uint32_t axis = (uint32_t)op->attr.i, rank = rank_of(v), least = MOST;
    for (uint32_t d = 0, from = 0; d < rank; d++) {
        if (d == axis) continue;
        r.contiguous[d] = a->contiguous[from];
        r.constant[d] = a->constant[from];
        r.divisible[d] = a->divisible[from];
        r.prefix[d] = a->prefix[from];
        least = min_u32(least, divisible_at(a, from, 1, unit_of(v)));
        from++;
    }
    r.divisible[axis] = op->args[0]->type.shape.rank ? least : a->divisible[0];
    r.lo = a->lo;
    r.hi = a->hi;
    return r;
}

static Fact fact_broadcast(const Op *op, const Fact *a) {
    Fact r = *a;
    Shape from = op->args[0]->type.shape, to = op->results[0]->type.shape;
    for (uint32_t d = 0; d < to.rank; d++) {
        if (from.log2[d] != to.log2[d]) r.constant[d] = 1u << to.log2[d];
    }
    return r;
}

static Fact fact_splat(const Op *op, const Fact *a) {
    const Value *v = op->results[0];
    Fact r = nothing(v);
    for (uint32_t d = 0; d < rank_of(v); d++) {
        r.constant[d] = size_along(v, d);
        r.divisible[d] = a->divisible[0];
    }
    r.lo = a->lo;
    r.hi = a->hi;
    return r;
}

static Fact fact_const(const Op *op) {
    const Value *v = op->results[0];
    Fact r = nothing(v);
    bool is_int = dtype_kind(v->type.dtype) != KIND_FLOAT;
    for (uint32_t d = 0; d < rank_of(v); d++) {
        r.constant[d] = size_along(v, d);
        r.divisible[d] = is_int ? power_in(op->attr.i) : 1;
    }
    if (is_int) r.lo = r.hi = op->attr.i;
    return r;
}

static Fact fact_width(const Op *op, const Fact *a) {
    const Value *v = op->results[0];
    Fact r = *a;
    bool fits = op->kind == OP_SEXT || (op->kind == OP_ZEXT && a->lo >= 0);
    if (op->args[0]->type.dtype == DT_I1) {
        r = nothing(v);
        memcpy(r.constant, a->constant, sizeof r.constant);
        set_range(v, &r, op->kind == OP_SEXT ? -1 : 0, op->kind == OP_SEXT ? 0 : 1);
        return r;
    }
    if (fits) return r;
    if (op->kind == OP_ZEXT) { /* negative ones become large: equal stay equal, runs may break */
        Fact z = nothing(v);
        memcpy(z.constant, a->constant, sizeof z.constant);
        set_range(v, &z, 0, ((Wide)1 << dtype_bits(op->args[0]->type.dtype)) - 1);
        return z;
    }
    set_range(v, &r, a->lo, a->hi); /* trunc */
    return r;
}

static Fact fact_of_op(const Op *op, const Facts *facts) {
    const Value *v = op->results[0];
    const Fact *a = op->nargs > 0 ? &facts->at[op->args[0]->id] : NULL, *b = op->nargs > 1 ? &facts->at[op->args[1]->id] : NULL;
    Fact r;
    switch (op->kind) {
    case OP_CONST: return fact_const(op);
    case OP_ARANGE:
        r = nothing(v);
        r.contiguous[0] = size_along(v, 0);
        r.divisible[0] = power_in(op->attr.i);
        r.lo = op->attr.i;
        r.hi = op->attr.j - 1;
        return r;
    case OP_SPLAT: return fact_splat(op, a);
    case OP_EXPAND: return fact_expand(op, a);
    case OP_BROADCAST: return fact_broadcast(op, a);
    case OP_CONVERT: return *a;
    case OP_PID: case OP_NPROG:
        r = nothing(v);
        r.lo = op->kind == OP_NPROG;
        return r;
    case OP_ADD: case OP_SUB: case OP_ADDPTR: return fact_sum(op, a, b);
    case OP_MUL: return fact_product(op, a, b);
    case OP_SDIV: case OP_UDIV: case OP_SREM: case OP_UREM: return fact_division(op, a, b);
    case OP_SHL: return fact_shift_left(op, a, b);
    case OP_SMAX: case OP_SMIN: case OP_UMAX: case OP_UMIN:
        r = fact_elementwise(op, facts);
        range_minmax(op, a, b, &r);
        return r;
    case OP_AND: return fact_and(op, a, b, facts);
    case OP_ICMP: return fact_compare(op, a, b, facts);
    case OP_SEXT: case OP_ZEXT: case OP_TRUNC: return fact_width(op, a);
    case OP_SELECT:
        r = fact_elementwise(op, facts);
        r.lo = facts->at[op->args[1]->id].lo < facts->at[op->args[2]->id].lo ? facts->at[op->args[1]->id].lo : facts->at[op->args[2]->id].lo;
        r.hi = facts->at[op->args[1]->id].hi > facts->at[op->args[2]->id].hi ? facts->at[op->args[1]->id].hi : facts->at[op->args[2]->id].hi;
        return r;
    default:
        return op_info[op->kind].effect == EFFECT_PURE && op->kind != OP_REDUCE && op->kind != OP_REDUCEWARP
                   ? fact_elementwise(op, facts)
                   : nothing(v);
    }
}

/* ---- Control flow ------------------------------------------------------------------------------------------------------ */

static Fact meet(const Value *v, const Fact *a, const Fact *b) {
    Fact r = nothing(v);
    for (uint32_t d = 0; d < rank_of(v); d++) {
        r.contiguous[d] = min_u32(a->contiguous[d], b->contiguous[d]);
        r.constant[d] = min_u32(a->constant[d], b->constant[d]);
        r.divisible[d] = min_u32(divisible_at(a, d, r.contiguous[d], unit_of(v)), divisible_at(b, d, r.contiguous[d], unit_of(v)));
    }
    if (a->lo == b->lo && a->hi == b->hi) r.lo = a->lo, r.hi = a->hi;
    return r;
}

static void walk(Facts *facts, const Block *b);

/* Weakens `to` by `from`; true if that changed it. */
static bool weaken(Facts *facts, const Value *to, const Value *from) {
    Fact now = meet(to, &facts->at[to->id], &facts->at[from->id]);
    bool changed = memcmp(&now, &facts->at[to->id], sizeof now) != 0;
    facts->at[to->id] = now;
    return changed;
}

static void clear(Fact *to, const Fact *from) {
    memset(to, 0, sizeof *to); /* padding too: facts are compared as bytes */
    memcpy(to->contiguous, from->contiguous, sizeof to->contiguous);
    memcpy(to->constant, from->constant, sizeof to->constant);
    memcpy(to->divisible, from->divisible, sizeof to->divisible);
    memcpy(to->prefix, from->prefix, sizeof to->prefix);
    to->lo = from->lo;
    to->hi = from->hi;
}

static void fact_iv(Facts *facts, const Op *op) {
    const Value *iv = op->regions[0]->args.at[0];
    const Fact *lo = &facts->at[op->args[0]->id], *hi = &facts->at[op->args[1]->id], *step = &facts->at[op->args[2]->id];
    Fact r = nothing(iv);
    r.divisible[0] = min_u32(lo->divisible[0], step->divisible[0]);
    if (step->lo > 0 && hi->hi > INT64_MIN) set_range(iv, &r, lo->lo, hi->hi - 1 < lo->lo ? lo->lo : hi->hi - 1);
    if (step->hi < 0 && hi->lo < INT64_MAX) set_range(iv, &r, hi->lo + 1 > lo->hi ? lo->hi : hi->lo + 1, lo->hi);
    clear(&facts->at[iv->id], &r);
}

static void walk_for(Facts *facts, const Op *op) {
    const Block *body = op->regions[0];
    fact_iv(facts, op);
    for (uint32_t i = 0; i < op->nresults; i++) clear(&facts->at[body->args.at[i + 1]->id], &facts->at[op->args[3 + i]->id]);
    for (bool changed = true; changed;) {
        walk(facts, body);
        changed = false;
        for (uint32_t i = 0; i < op->nresults; i++) changed |= weaken(facts, body->args.at[i + 1], body->last->args[i]);
    }
    for (uint32_t i = 0; i < op->nresults; i++) clear(&facts->at[op->results[i]->id], &facts->at[body->args.at[i + 1]->id]);
}

static void walk_while(Facts *facts, const Op *op) {
    const Block *test = op->regions[0], *body = op->regions[1];
    for (uint32_t i = 0; i < op->nargs; i++) clear(&facts->at[test->args.at[i]->id], &facts->at[op->args[i]->id]);
    for (bool changed = true; changed;) {
        walk(facts, test);
        for (uint32_t i = 0; i < op->nresults; i++) {
            clear(&facts->at[body->args.at[i]->id], &facts->at[test->last->args[i + 1]->id]);
            clear(&facts->at[op->results[i]->id], &facts->at[test->last->args[i + 1]->id]);
        }
        walk(facts, body);
        changed = false;
        for (uint32_t i = 0; i < op->nargs; i++) changed |= weaken(facts, test->args.at[i], body->last->args[i]);
    }
}

static void walk(Facts *facts, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        if (op->kind == OP_FOR) {
            walk_for(facts, op);
        } else if (op->kind == OP_WHILE) {
            walk_while(facts, op);
        } else if (op->kind == OP_IF) {
            for (int r = 0; r < 2; r++) walk(facts, op->regions[r]);
            for (uint32_t i = 0; i < op->nresults; i++) {
                const Value *v = op->results[i];
                Fact both = meet(v, &facts->at[op->regions[0]->last->args[i]->id], &facts->at[op->regions[1]->last->args[i]->id]);
                clear(&facts->at[v->id], &both);
            }
        } else if (op->nresults == 1) {
            Fact r = fact_of_op(op, facts);
            clear(&facts->at[op->results[0]->id], &r);
        }
    }
}

/* ---- Questions ----------------------------------------------------------------------------------------------------------- */

Facts *facts_compute(const Func *f, Arena *scratch) {
    Facts *facts = NEW(scratch, Facts);
    facts->count = f->next_value;
    facts->at = NEW_ARRAY(scratch, Fact, f->next_value + 1);
    for (uint32_t i = 0; i < f->body->args.len; i++) {
        const Value *v = f->body->args.at[i];
        const Param *p = &f->params.at[i];
        Fact r = nothing(v);
        r.divisible[0] = p->divisible ? p->divisible & (0u - p->divisible) : 1;
        if (p->is_nonnegative) r.lo = 0;
        clear(&facts->at[v->id], &r);
    }
    walk(facts, f->body);
    return facts;
}

const Fact *fact_of(const Facts *facts, const Value *v) {
    if (v->id >= facts->count) bug("facts: value %%%u is newer than the facts", v->id);
    return &facts->at[v->id];
}

uint32_t facts_vector(const Facts *facts, const Value *ptr, uint32_t axis, uint32_t max_bytes) {
    const Fact *p = fact_of(facts, ptr);
    uint32_t unit = unit_of(ptr), n = 1, log2 = 0;
    while (2 * n <= p->contiguous[axis] && 2 * n * unit <= max_bytes && divisible_at(p, axis, 2 * n, unit) >= 2 * n * unit) {
        n *= 2;
        log2++;
    }
    return log2;
}

MaskKind facts_mask(const Facts *facts, const Value *mask, uint32_t axis, uint32_t vec_log2) {
    const Fact *m = fact_of(facts, mask);
    uint32_t n = 1u << vec_log2;
    if (m->constant[axis] >= n) return MASK_UNIFORM;
    return m->prefix[axis] && m->contiguous[axis] >= n ? MASK_PREFIX : MASK_ANY;
}
