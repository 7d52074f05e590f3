/* narrow.c - the pass narrow: 64-bit index arithmetic back to 32 bits where ranges prove that nothing wraps.
 *
 * In: stage TILE. Out: 64-bit comparisons of tiles are 32-bit ones where both sides fit, or where one side is a tile
 * that fits plus scalars, which then move to the other side; a pointer plus 64-bit offsets is scalars first, whole rows
 * next, a 32-bit tile last, so that a thread has one 64-bit base. Scalars stay as they are.
 * Method: new values are built beside the old ones, on the facts of the old ones, and take over in the end.
 */
#include "passes/scalar/narrow.h"

/* ---- A 64-bit value in 32 bits ----------------------------------------------------------------------------------- */

static bool fits(Range r) {
    return r.lo >= INT32_MIN && r.hi <= INT32_MAX;
}

Range narrow_range(const Narrow *n, const Value *v) {
    const Fact *f = fact_of(n->facts, v);
    return (Range){f->lo, f->hi};
}

/* Can the low half of v be had in 32-bit arithmetic? `budget` bounds the ops that takes. */
static bool has_low(const Narrow *n, const Value *v, uint32_t *budget) {
    const Op *op = v->def;
    if (!value_is_tile(v)) return true;
    if (!op || *budget == 0) return false;
    --*budget;
    switch (op->kind) {
    case OP_CONST:
    case OP_SPLAT: return true;
    case OP_SEXT:
    case OP_ZEXT: return true; /* from 32 bits or fewer: there is nothing between */
    case OP_SMAX:
    case OP_SMIN:
    case OP_SREM:
        return fits(narrow_range(n, op->args[0])) && fits(narrow_range(n, op->args[1])) &&
               has_low(n, op->args[0], budget) && has_low(n, op->args[1], budget);
    case OP_SELECT: return has_low(n, op->args[1], budget) && has_low(n, op->args[2], budget);
    default: break;
    }
    if (op_moves(op->kind) && op->nargs == 1) return has_low(n, op->args[0], budget);
    return op_is_modular(op->kind) && has_low(n, op->args[0], budget) && has_low(n, op->args[1], budget);
}

bool narrow_can(const Narrow *n, const Value *v) {
    uint32_t budget = 32;
    return v->type.dtype == DT_I32 || (v->type.dtype == DT_I64 && has_low(n, v, &budget));
}

Value *narrow_low(Builder *b, Value *v) {
    const Op *op = v->def;
    Type t = type_with_dtype(v->type, DT_I32);
    if (v->type.dtype == DT_I32) return v;
    if (op && op->kind == OP_CONST) return build_int(b, t, op->attr.bits);
    if (op && (op->kind == OP_SEXT || op->kind == OP_ZEXT))
        return dtype_bits(op->args[0]->type.dtype) == 32 ? op->args[0] : build1_to(b, op->kind, op->args[0], t);
    if (!value_is_tile(v)) return build1_to(b, OP_TRUNC, v, t);
    if (op_moves(op->kind))
        return op_build(b, op->kind, (Value *[]){narrow_low(b, op->args[0])}, 1, op->attr, t)->results[0];
    if (op->kind == OP_SELECT)
        return build3(b, OP_SELECT, op->args[0], narrow_low(b, op->args[1]), narrow_low(b, op->args[2]));
    return build2(b, op->kind, narrow_low(b, op->args[0]), narrow_low(b, op->args[1]));
}

enum { VISITS = 64 }; /* of ops in one sum: index expressions are short, and longer chains are not index expressions */

/* ---- A sum taken apart ------------------------------------------------------------------------------------------- */

static void term_add(Terms *t, Value *v, int64_t scale) {
    t->full |= t->len == COUNT(t->at);
    if (!t->full) t->at[t->len++] = (Term){v, scale};
}

/* A tile that is one scalar everywhere: that scalar. */
static Value *scalar_of(const Value *v) {
    while (v->def && (v->def->kind == OP_EXPAND || v->def->kind == OP_BROADCAST)) v = v->def->args[0];
    return v->def && v->def->kind == OP_SPLAT ? v->def->args[0] : NULL;
}

void narrow_terms(Value *v, int64_t scale, Terms *t) {
    Value *scalar = value_is_tile(v) ? scalar_of(v) : NULL;
    const Op *op = v->def;
    int64_t c;
    if (++t->visits > VISITS) t->full = true;
    if (t->full) return;
    if (op && op->kind == OP_CONST) {
        t->constant += (uint64_t)op->attr.bits * (uint64_t)scale;
    } else if (scalar || !op || v->type.dtype != DT_I64) {
        term_add(t, scalar ? scalar : v, scale);
    } else if (op->kind == OP_ADD || op->kind == OP_SUB) {
        narrow_terms(op->args[0], scale, t);
        narrow_terms(op->args[1], op->kind == OP_SUB ? -scale : scale, t);
    } else if (op->kind == OP_MUL && scale * scale == 1 && value_const(op->args[1], &c) && fits((Range){c, c})) {
        narrow_terms(op->args[0], scale * c, t);
    } else {
        term_add(t, v, scale);
    }
}

static const int64_t FAR = INT64_C(1) << 58; /* two sums of all the terms there is room for do not wrap */

static Range range_scaled(Range r, int64_t scale) {
    if (r.lo < -FAR || r.hi > FAR || scale < INT32_MIN || scale > INT32_MAX) return (Range){INT64_MIN, INT64_MAX};
    int64_t bound = FAR / (scale == 0 ? 1 : scale < 0 ? -scale : scale);
    if (r.lo < -bound || r.hi > bound) return (Range){INT64_MIN, INT64_MAX};
    return scale >= 0 ? (Range){r.lo * scale, r.hi * scale} : (Range){r.hi * scale, r.lo * scale};
}

bool narrow_sum_range(const Narrow *n, const Terms *t, bool of_tiles, Range *sum) {
    *sum = (Range){0, 0};
    if (!of_tiles) {
        if ((int64_t)t->constant < -FAR || (int64_t)t->constant > FAR) return false;
        *sum = (Range){(int64_t)t->constant, (int64_t)t->constant};
    }
    for (uint32_t i = 0; i < t->len; i++) {
        if (value_is_tile(t->at[i].v) != of_tiles) continue;
        Range r = range_scaled(narrow_range(n, t->at[i].v), t->at[i].scale);
        if (r.lo == INT64_MIN) return false;
        sum->lo += r.lo;
        sum->hi += r.hi;
    }
    return true;
}

/* sum + scale * v, where sum may still be NULL. */
static Value *sum_step(Builder *b, Value *sum, Value *v, int64_t scale) {
    if (scale != 1 && scale != -1) {
        v = build2(b, OP_MUL, v, build_int(b, v->type, scale));
        scale = 1;
    }
    if (!sum && scale == 1) return v;
    if (!sum) sum = build_int(b, v->type, 0);
    return build2(b, scale == 1 ? OP_ADD : OP_SUB, sum, v);
}

static Value *to_i64(Builder *b, Value *v) {
    return v->type.dtype == DT_I64 ? v : build1_to(b, OP_SEXT, v, type_with_dtype(v->type, DT_I64));
}

Value *narrow_scalar_sum(Builder *b, const Terms *t) {
    Value *sum = NULL;
    for (int pass = 0; pass < 2; pass++) { /* what is added first, so that nothing is negated */
        for (uint32_t i = 0; i < t->len; i++) {
            const Term *x = &t->at[i];
            if (value_is_tile(x->v) || (x->scale == -1) != (pass == 1)) continue;
            sum = sum_step(b, sum, to_i64(b, x->v), x->scale);
        }
    }
    if (t->constant == 0 && sum) return sum;
    return sum_step(b, sum, build_int(b, type_scalar(DT_I64), (int64_t)t->constant), 1);
}

Value *narrow_tile_sum(Builder *b, const Terms *t) {
    Value *sum = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < t->len; i++) {
            const Term *x = &t->at[i];
            if (!value_is_tile(x->v) || (x->scale == -1) != (pass == 1)) continue;
            sum = sum_step(b, sum, narrow_low(b, x->v), x->scale);
        }
    }
    return sum;
}

/* The tiles of the sum, as one 32-bit tile that does not wrap. */
bool narrow_tiles_fit(const Narrow *n, const Terms *t, Range *sum) {
    uint32_t tiles = 0;
    for (uint32_t i = 0; i < t->len; i++) {
        if (!value_is_tile(t->at[i].v)) continue;
        tiles++;
        if (!narrow_can(n, t->at[i].v)) return false;
    }
    return tiles && narrow_sum_range(n, t, true, sum) && fits(*sum);
}

/* ---- Comparisons ------------------------------------------------------------------------------------------------- */

/* 1 where the ranges say that the comparison is true of all, 0 where false of all, else -1. */
static int decided(Pred p, Range x, Range y) {
    bool below = x.hi<y.lo, above = x.lo> y.hi, at_most = x.hi <= y.lo, at_least = x.lo >= y.hi;
    switch (p) {
    case PRED_EQ: return below || above ? 0 : -1;
    case PRED_NE: return below || above ? 1 : -1;
    case PRED_SLT: return below ? 1 : at_least ? 0 : -1;
    case PRED_SLE: return at_most ? 1 : above ? 0 : -1;
    case PRED_SGT: return above ? 1 : at_most ? 0 : -1;
    case PRED_SGE: return at_least ? 1 : below ? 0 : -1;
    default: return -1; /* unsigned orders: the front end uses them for unsigned numbers only */
    }
}

static Pred mirrored(Pred p) {
    static const Pred of[] = {PRED_EQ, PRED_NE, PRED_SGT, PRED_SGE, PRED_SLT, PRED_SLE};
    return of[p];
}

/* tile pred bound, where the bound may lie anywhere: brought to where it decides nothing anew. */
static Value *compare_clamped(Builder *b, Pred p, Value *tile, Range range, Value *bound) {
    bool low_out = p == PRED_SLE || p == PRED_SGT || p == PRED_EQ || p == PRED_NE;
    bool high_out = p == PRED_SLT || p == PRED_SGE || p == PRED_EQ || p == PRED_NE;
    Type t = type_scalar(DT_I64);
    bound = build2(b, OP_SMIN, bound, build_int(b, t, range.hi + high_out));
    bound = build2(b, OP_SMAX, bound, build_int(b, t, range.lo - low_out));
    bound = build1_to(b, OP_TRUNC, bound, type_scalar(DT_I32));
    return build_compare(b, OP_ICMP, p, tile, build_splat(b, bound, tile->type.shape));
}

/* scalars + tiles pred scalars: the tiles alone against the difference of the scalars. */
static Value *compare_moved(const Narrow *n, Builder *b, Pred p, Value *x, Value *y) {
    Terms left = {0}, right = {0}, all;
    Range tiles, rx, ry;
    narrow_terms(x, 1, &left);
    narrow_terms(y, 1, &right);
    for (uint32_t i = 0; i < right.len; i++)
        if (value_is_tile(right.at[i].v)) return NULL;
    if (left.full || right.full || !narrow_tiles_fit(n, &left, &tiles)) return NULL;
    if (tiles.lo <= INT32_MIN || tiles.hi >= INT32_MAX) return NULL;
    if (!narrow_sum_range(n, &left, false, &rx) || !narrow_sum_range(n, &right, false, &ry)) return NULL;
    all = right;
    for (uint32_t i = 0; i < left.len; i++)
        if (!value_is_tile(left.at[i].v)) term_add(&all, left.at[i].v, -left.at[i].scale);
    all.constant -= left.constant;
    if (all.full) return NULL;
    Value *bound = narrow_scalar_sum(b, &all);
    return compare_clamped(b, p, narrow_tile_sum(b, &left), tiles, bound);
}

/* A sum that was given axes of size 1, against one scalar: compared without these. */
static Value *compare_expanded(const Narrow *n, Builder *b, Pred p, Value *x, Value *y) {
    const Op *expands[SHAPE_RANK];
    uint32_t len = 0;
    Value *scalar = scalar_of(y);
    while (scalar && x->def && x->def->kind == OP_EXPAND && len < SHAPE_RANK) {
        expands[len++] = x->def;
        x = x->def->args[0];
    }
    Value *made = len && value_is_tile(x) ? compare_moved(n, b, p, x, scalar) : NULL;
    while (made && len-- > 0) made = build_expand(b, made, expands[len]->attr.axis);
    return made;
}

static Pred as_signed(Pred p) {
    switch (p) {
    case PRED_ULT: return PRED_SLT;
    case PRED_ULE: return PRED_SLE;
    case PRED_UGT: return PRED_SGT;
    case PRED_UGE: return PRED_SGE;
    default: return p;
    }
}

static Value *narrow_compare(const Narrow *n, Builder *b, const Op *op) {
    Value *x = op->args[0], *y = op->args[1];
    if (dtype_kind(x->type.dtype) != KIND_INT || x->type.dtype == DT_I1) return NULL;
    bool is_nonnegative = narrow_range(n, x).lo >= 0 && narrow_range(n, y).lo >= 0;
    Pred p = is_nonnegative ? as_signed(op->attr.pred) : op->attr.pred;
    int known = decided(p, narrow_range(n, x), narrow_range(n, y));
    if (known >= 0) return build_int(b, op->results[0]->type, known);
    if (x->type.dtype != DT_I64 || !value_is_tile(x) || p >= PRED_ULT) return NULL;
    bool both_fit = fits(narrow_range(n, x)) && fits(narrow_range(n, y));
    if (both_fit && narrow_can(n, x) && narrow_can(n, y))
        return build_compare(b, OP_ICMP, p, narrow_low(b, x), narrow_low(b, y));
    Value *moved = compare_expanded(n, b, p, x, y);
    if (!moved) moved = compare_moved(n, b, p, x, y);
    return moved ? moved : compare_moved(n, b, mirrored(p), y, x);
}

/* ---- The walk ---------------------------------------------------------------------------------------------------- */

static void visit(void *context, Op *op) {
    Narrow *n = context;
    Value *with = NULL;
    if (op->id >= n->first_new) return;
    Builder b = builder_before(n->f, op);
    if (op->kind == OP_ICMP)
        with = narrow_compare(n, &b, op);
    else if (op->kind == OP_ADDPTR)
        with = narrow_addptr(n, &b, op);
    if (!with) return;
    if (!with->name) with->name = op->results[0]->name;
    vec_push(n->scratch, &n->made, ((Replacement){op->results[0], with}));
}

void pass_narrow(Func *f, PassContext *c) {
    if (f->stage != STAGE_TILE) return;
    Narrow n = {.f = f, .scratch = c->scratch, .first_new = f->next_op};
    n.facts = facts_compute(f, n.scratch);
    func_walk(f, visit, &n);
    for (uint32_t i = 0; i < n.made.len; i++) value_replace(f, n.made.at[i].old, n.made.at[i].with);
}
