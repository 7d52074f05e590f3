/* factop.c - the rule of facts for each op: contiguity, constancy, divisibility, prefixes.
 *
 * In: an op and the facts of its operands. Out: the fact of its result.
 * Method: all counts are powers of two, so min is gcd. A value splits into aligned runs; an op keeps the runs that its
 * operands have in common. Counting is modulo the width: where a rule needs numbers that do not wrap (comparisons,
 * widening), a run counts as far as the range excludes the wrap, or as far as its divisibility keeps it off the border.
 */
#include "passes/analysis/factop.h"

enum { DIVISIBLE_MOST = 1 << 30 };

/* What one step of counting adds. */
uint32_t unit_of(Type t) {
    return t.dtype == DT_PTR ? type_bytes(type_scalar(t.pointee)) : 1;
}

uint32_t axis_size(Type t, uint32_t d) {
    return t.shape.rank ? (uint32_t)shape_size(t.shape, d) : 1;
}

static uint32_t low_bit(uint64_t x) {
    if (x == 0) return DIVISIBLE_MOST;
    uint64_t bit = x & (~x + 1);
    return bit > DIVISIBLE_MOST ? DIVISIBLE_MOST : (uint32_t)bit;
}

static uint32_t scale(uint32_t divisible, uint64_t by) {
    uint64_t r = (uint64_t)divisible * by;
    return r > DIVISIBLE_MOST ? DIVISIBLE_MOST : (uint32_t)r;
}

/* Divisibility of what begins each aligned group of `run` elements. */
uint32_t start_divisible(const Fact *a, uint32_t d, uint32_t run, uint32_t unit) {
    return run < a->contiguous[d] ? least(a->divisible[d], scale(run, unit)) : a->divisible[d];
}

/* Divisibility of every element. */
uint32_t all_divisible(const Fact *a, Type t) {
    uint32_t best = 1, unit = unit_of(t);
    for (uint32_t d = 0; d < axes_of(t); d++) best = most(best, start_divisible(a, d, 1, unit));
    return best;
}

/* What holds of every element holds of those that begin runs. */
static void fact_settle(Fact *r, Type t) {
    uint32_t all = all_divisible(r, t);
    for (uint32_t d = 0; d < axes_of(t); d++) {
        r->divisible[d] = most(r->divisible[d], all);
        if (!r->prefix[d] && t.dtype == DT_I1) r->contiguous[d] = 1;
    }
}

Fact fact_bottom(Type t) {
    Range full = range_full(t.dtype);
    Fact r = {.lo = full.lo, .hi = full.hi};
    for (uint32_t d = 0; d < COUNT(r.contiguous); d++) r.contiguous[d] = r.constant[d] = r.divisible[d] = 1;
    return r;
}

static void set_all_divisible(Fact *r, Type t, uint32_t divisible) {
    for (uint32_t d = 0; d < axes_of(t); d++)
        if (r->contiguous[d] == 1) r->divisible[d] = divisible;
}

/* How long true … true false … false runs are. */
static uint32_t prefix_run(const Fact *a, uint32_t d) {
    return most(a->constant[d], a->prefix[d] ? a->contiguous[d] : 1);
}

static void set_prefix(Fact *r, uint32_t d, uint32_t run) {
    r->prefix[d] = run > r->constant[d];
    r->contiguous[d] = r->prefix[d] ? run : 1;
}

Fact fact_join(const Value *v, const Fact *a, const Fact *b) {
    Fact r = fact_bottom(v->type);
    r.lo = a->lo < b->lo ? a->lo : b->lo;
    r.hi = a->hi > b->hi ? a->hi : b->hi;
    for (uint32_t d = 0; d < axes_of(v->type); d++) {
        r.constant[d] = least(a->constant[d], b->constant[d]);
        if (v->type.dtype == DT_I1) {
            set_prefix(&r, d, least(prefix_run(a, d), prefix_run(b, d)));
            continue;
        }
        uint32_t run = least(a->contiguous[d], b->contiguous[d]), unit = unit_of(v->type);
        r.contiguous[d] = run;
        r.divisible[d] = least(start_divisible(a, d, run, unit), start_divisible(b, d, run, unit));
    }
    fact_settle(&r, v->type);
    return r;
}

/* ---- Runs that do not wrap --------------------------------------------------------------------------------------- */

/* The longest aligned part of a's runs in which counting never passes from the largest to the smallest number. */
static uint32_t run_signed(const Fact *a, Type t, uint32_t d) {
    Range full = range_full(t.dtype);
    if (a->lo > full.lo || a->hi < full.hi) return a->contiguous[d];
    return least(a->contiguous[d], a->divisible[d]);
}

static uint32_t run_unsigned(const Fact *a, uint32_t d) {
    if (a->lo >= 0 || a->hi < 0) return a->contiguous[d];
    return least(a->contiguous[d], a->divisible[d]);
}

/* a with runs of at most `run` elements. */
static void cut_runs(Fact *a, uint32_t d, uint32_t run, uint32_t unit) {
    if (run >= a->contiguous[d]) return;
    a->divisible[d] = start_divisible(a, d, run, unit);
    a->contiguous[d] = run;
}

/* ---- Creation and shape ------------------------------------------------------------------------------------------ */

static void same_everywhere(Fact *r, Type t, uint32_t divisible) {
    for (uint32_t d = 0; d < axes_of(t); d++) {
        r->constant[d] = axis_size(t, d);
        r->divisible[d] = divisible;
    }
}

static Fact fact_const(const Op *op) {
    Type t = op->results[0]->type;
    Fact r = fact_bottom(t);
    bool is_float = dtype_kind(t.dtype) == KIND_FLOAT;
    same_everywhere(&r, t, is_float ? 1 : low_bit((uint64_t)op->attr.bits));
    if (!is_float) r.lo = r.hi = op->attr.bits;
    return r;
}

static Fact fact_arange(const Op *op) {
    Fact r = fact_bottom(op->results[0]->type);
    r.contiguous[0] = axis_size(op->results[0]->type, 0);
    r.divisible[0] = low_bit((uint64_t)op->attr.start);
    r.lo = op->attr.start;
    r.hi = op->attr.end - 1;
    return r;
}

/* Begins anywhere, and a rotated one goes on at its beginning. */
static Fact fact_rotated(const Op *op) {
    bool wraps = op->kind == OP_ROTATED;
    Fact r = fact_bottom(op->results[0]->type);
    if (!wraps) r.contiguous[0] = axis_size(op->results[0]->type, 0);
    r.lo = op->attr.start - (wraps ? 0 : MOST_ROTATION);
    r.hi = op->attr.end - 1;
    return r;
}

static Fact fact_splat(const Op *op, const Fact *a) {
    Fact r = fact_bottom(op->results[0]->type);
    same_everywhere(&r, op->results[0]->type, a->divisible[0]);
    r.lo = a->lo;
    r.hi = a->hi;
    return r;
}

static Fact fact_expand(const Op *op, const Fact *a) {
    Type t = op->results[0]->type, from = op->args[0]->type;
    Fact r = fact_bottom(t);
    uint32_t axis = op->attr.axis;
    r.divisible[axis] = all_divisible(a, from);
    for (uint32_t d = 0; d < t.shape.rank; d++) {
        if (d == axis) continue;
        uint32_t s = d < axis ? d : d - 1;
        r.contiguous[d] = a->contiguous[s];
        r.constant[d] = a->constant[s];
        r.divisible[d] = a->divisible[s];
        r.prefix[d] = a->prefix[s];
    }
    r.lo = a->lo;
    r.hi = a->hi;
    return r;
}

static Fact fact_broadcast(const Op *op, const Fact *a) {
    Type t = op->results[0]->type, from = op->args[0]->type;
    Fact r = *a;
    for (uint32_t d = 0; d < t.shape.rank; d++) {
        if (axis_size(from, d) == axis_size(t, d)) continue;
        r.constant[d] = axis_size(t, d);
        r.contiguous[d] = 1;
        r.prefix[d] = false;
    }
    return r;
}

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

/* a + b, or a - b; b counts in steps of `unit` (the pointee's bytes for addresses). */
static Fact fact_add(Type t, const Fact *a, const Fact *b, bool negate) {
    Fact r = fact_bottom(t);
    uint32_t unit = unit_of(t);
    for (uint32_t d = 0; d < axes_of(t); d++) {
        uint32_t run = least(a->contiguous[d], b->constant[d]);
        if (!negate) run = most(run, least(a->constant[d], b->contiguous[d]));
        r.contiguous[d] = run;
        r.constant[d] = least(a->constant[d], b->constant[d]);
        r.divisible[d] = least(start_divisible(a, d, run, unit), scale(start_divisible(b, d, run, 1), unit));
    }
    return r;
}

static Fact fact_addptr(const Op *op, const Fact *a, const Fact *b) {
    Type t = op->results[0]->type, offset = op->args[1]->type;
    Fact o = *b;
    for (uint32_t d = 0; d < axes_of(t); d++) cut_runs(&o, d, run_signed(b, offset, d), 1);
    return fact_add(t, a, &o, false);
}

static Fact fact_mul(const Op *op, const Fact *a, const Fact *b) {
    Type t = op->results[0]->type;
    Fact r = fact_bottom(t);
    for (uint32_t d = 0; d < axes_of(t); d++) r.constant[d] = least(a->constant[d], b->constant[d]);
    set_all_divisible(&r, t, scale(all_divisible(a, t), all_divisible(b, t)));
    return r;
}

/* The amount of a shift by, or the log2 of a division by, one known power of two; false for any other. */
static bool known_power(const Op *op, const Fact *b, uint32_t *log2) {
    if (b->lo != b->hi || b->lo < 0) return false;
    uint32_t bits = dtype_bits(op->results[0]->type.dtype);
    if (op->kind == OP_SHL || op->kind == OP_LSHR || op->kind == OP_ASHR) {
        *log2 = (uint32_t)b->lo;
        return b->lo < 30 && b->lo < (int64_t)bits;
    }
    *log2 = log2_floor((uint64_t)b->lo);
    return b->lo > 0 && b->lo <= DIVISIBLE_MOST && (b->lo & (b->lo - 1)) == 0;
}

static Fact fact_shl(const Op *op, const Fact *a, const Fact *b) {
    uint32_t log2 = 0;
    Type t = op->results[0]->type;
    Fact r = fact_mul(op, a, b);
    bool known = known_power(op, b, &log2);
    set_all_divisible(&r, t, scale(all_divisible(a, t), known ? UINT64_C(1) << log2 : 1));
    return r;
}

/* a / 2^k and a >> k: a run that begins at a multiple of its length, which divides 2^k, has one quotient. */
static Fact fact_div(const Op *op, const Fact *a, const Fact *b) {
    Type t = op->results[0]->type;
    Fact r = fact_bottom(t);
    uint32_t log2 = 0;
    bool known = known_power(op, b, &log2);
    for (uint32_t d = 0; d < axes_of(t); d++) {
        uint32_t run = known ? least(least(a->contiguous[d], a->divisible[d]), 1u << log2) : 1;
        if (op->kind == OP_SDIV && a->lo < 0) run = 1; /* it rounds to zero, from both sides */
        r.constant[d] = most(least(a->constant[d], b->constant[d]), run);
    }
    if (known) set_all_divisible(&r, t, most(1, all_divisible(a, t) >> log2));
    return r;
}

/* a % b: where a run of a >= 0 begins at a multiple of its length, and b is one, too, so does what is left of it,
 * and it ends before b. */
static Fact fact_rem(const Op *op, const Fact *a, const Fact *b) {
    Type t = op->results[0]->type;
    Fact r = fact_bottom(t);
    uint32_t log2 = 0;
    bool known = known_power(op, b, &log2), counts_up = op->kind == OP_UREM || a->lo >= 0;
    for (uint32_t d = 0; d < axes_of(t); d++) {
        uint32_t divides = start_divisible(b, d, 1, 1), run = least(a->contiguous[d], a->divisible[d]);
        r.constant[d] = least(a->constant[d], b->constant[d]);
        r.contiguous[d] = counts_up ? least(run, least(divides, b->constant[d])) : 1;
        r.divisible[d] = least(start_divisible(a, d, r.contiguous[d], 1), divides);
        if (known && r.divisible[d] >= 1u << log2) r.divisible[d] = DIVISIBLE_MOST; /* every start is 0 */
    }
    return r;
}

static Fact fact_and(const Op *op, const Fact *a, const Fact *b) {
    Type t = op->results[0]->type;
    Fact r = fact_bottom(t);
    for (uint32_t d = 0; d < axes_of(t); d++) {
        r.constant[d] = least(a->constant[d], b->constant[d]);
        if (t.dtype == DT_I1) set_prefix(&r, d, least(prefix_run(a, d), prefix_run(b, d)));
    }
    if (t.dtype != DT_I1) set_all_divisible(&r, t, most(all_divisible(a, t), all_divisible(b, t)));
    return r;
}

/* or of truth values keeps prefixes as and does; of numbers, and all that chooses:
 * what divides both divides the result. */
static Fact fact_either(const Op *op, const Fact *a, const Fact *b) {
    if (op->results[0]->type.dtype == DT_I1 && op->kind == OP_OR) return fact_and(op, a, b);
    Type t = op->results[0]->type;
    Fact r = fact_bottom(t);
    for (uint32_t d = 0; d < axes_of(t); d++) r.constant[d] = least(a->constant[d], b->constant[d]);
    if (t.dtype != DT_I1) set_all_divisible(&r, t, least(all_divisible(a, t), all_divisible(b, t)));
    return r;
}

/* ---- Comparison and choice --------------------------------------------------------------------------------------- */

/* Where a counts and b stands still: `edge` says that the truth value turns only at multiples of what divides b. */
static void compare_runs(Fact *r, const Fact *a, Type t, const Fact *b, uint32_t d, Pred p, bool falls, bool edge) {
    bool is_unsigned = p >= PRED_ULT;
    uint32_t run = least(is_unsigned ? run_unsigned(a, d) : run_signed(a, t, d), b->constant[d]);
    if (run == 1) return;
    if (falls && run > r->contiguous[d]) r->contiguous[d] = run;
    uint32_t same = least(run, least(a->divisible[d], b->divisible[d]));
    if (edge) r->constant[d] = most(r->constant[d], same);
}

static Fact fact_icmp(const Op *op, const Fact *a, const Fact *b) {
    Type t = op->args[0]->type;
    Pred p = op->attr.pred;
    Fact r = fact_bottom(op->results[0]->type);
    bool less = p == PRED_SLT || p == PRED_SLE || p == PRED_ULT || p == PRED_ULE;
    bool greater = p == PRED_SGT || p == PRED_SGE || p == PRED_UGT || p == PRED_UGE;
    bool edge_left = p == PRED_SLT || p == PRED_SGE || p == PRED_ULT || p == PRED_UGE;
    for (uint32_t d = 0; d < axes_of(t); d++) {
        r.constant[d] = least(a->constant[d], b->constant[d]);
        if (dtype_kind(t.dtype) == KIND_INT && (less || greater)) {
            compare_runs(&r, a, t, b, d, p, less, edge_left);
            compare_runs(&r, b, t, a, d, p, greater, !edge_left);
        }
        set_prefix(&r, d, r.contiguous[d]);
    }
    return r;
}

static Fact fact_select(const Op *op, const Fact *c, const Fact *a, const Fact *b) {
    Type t = op->results[0]->type;
    bool is_scalar = op->args[0]->type.shape.rank == 0;
    Fact r = fact_bottom(t);
    for (uint32_t d = 0; d < axes_of(t); d++) {
        uint32_t chosen = is_scalar ? UINT32_MAX : c->constant[d];
        r.constant[d] = least(chosen, least(a->constant[d], b->constant[d]));
        if (t.dtype == DT_I1) {
            set_prefix(&r, d, least(chosen, least(prefix_run(a, d), prefix_run(b, d))));
            continue;
        }
        uint32_t run = least(chosen, least(a->contiguous[d], b->contiguous[d])), unit = unit_of(t);
        r.contiguous[d] = run;
        r.divisible[d] = least(start_divisible(a, d, run, unit), start_divisible(b, d, run, unit));
    }
    return r;
}

/* ---- Conversions ------------------------------------------------------------------------------------------------- */

static Fact fact_resize(const Op *op, const Fact *a) {
    Type t = op->results[0]->type, from = op->args[0]->type;
    Fact r = *a;
    for (uint32_t d = 0; d < axes_of(t); d++) {
        r.prefix[d] = false;
        if (from.dtype == DT_I1 || t.dtype == DT_I1)
            r.contiguous[d] = r.divisible[d] = 1;
        else if (op->kind == OP_SEXT)
            cut_runs(&r, d, run_signed(a, from, d), 1);
        else if (op->kind == OP_ZEXT)
            cut_runs(&r, d, run_unsigned(a, d), 1);
    }
    return r;
}

/* Only what does not depend on the numbers: equal operands give equal results. */
static Fact fact_constancy(const Op *op, const Fact *const *a) {
    Type t = op->results[0]->type;
    Fact r = fact_bottom(t);
    for (uint32_t d = 0; d < axes_of(t) && op->nargs; d++) {
        r.constant[d] = axis_size(t, d);
        for (uint32_t i = 0; i < op->nargs; i++)
            if (op->args[i]->type.shape.rank == t.shape.rank) r.constant[d] = least(r.constant[d], a[i]->constant[d]);
    }
    return r;
}

static Fact fact_bitcast(const Op *op, const Fact *const *a) {
    Type t = op->results[0]->type, from = op->args[0]->type;
    Fact r = fact_constancy(op, a);
    bool address = t.dtype == DT_PTR || from.dtype == DT_PTR;
    bool same_steps =
        dtype_kind(t.dtype) != KIND_FLOAT && dtype_kind(from.dtype) != KIND_FLOAT && unit_of(t) == unit_of(from);
    if (same_steps && !address) return *a[0];
    for (uint32_t d = 0; d < axes_of(t) && same_steps; d++) {
        r.contiguous[d] = a[0]->contiguous[d];
        r.divisible[d] = a[0]->divisible[d];
    }
    if (address && !same_steps) set_all_divisible(&r, t, all_divisible(a[0], from));
    return r;
}

/* ---- The ops ----------------------------------------------------------------------------------------------------- */

static Fact fact_shape(const Op *op, const Fact *const *a) {
    switch (op->kind) {
    case OP_CONST: return fact_const(op);
    case OP_ARANGE: return fact_arange(op);
    case OP_ROTATED:
    case OP_MOVED: return fact_rotated(op);
    case OP_SPLAT: return fact_splat(op, a[0]);
    case OP_EXPAND: return fact_expand(op, a[0]);
    case OP_BROADCAST: return fact_broadcast(op, a[0]);
    case OP_RESHAPE: return fact_reshape(op, a[0]);
    case OP_TRANS: return fact_trans(op, a[0]);
    case OP_FLIP: return fact_flip(op, a[0]);
    case OP_JOIN: return fact_join_halves(op, a[0], a[1]);
    case OP_SPLIT: return fact_split(op, a[0]);
    case OP_GATHER: return fact_gather(op, a[0], a[1]);
    case OP_ADD: return fact_add(op->results[0]->type, a[0], a[1], false);
    case OP_SUB: return fact_add(op->results[0]->type, a[0], a[1], true);
    case OP_ADDPTR: return fact_addptr(op, a[0], a[1]);
    case OP_MUL: return fact_mul(op, a[0], a[1]);
    case OP_SHL: return fact_shl(op, a[0], a[1]);
    case OP_SDIV:
    case OP_UDIV:
    case OP_ASHR:
    case OP_LSHR: return fact_div(op, a[0], a[1]);
    case OP_SREM:
    case OP_UREM: return fact_rem(op, a[0], a[1]);
    case OP_AND: return fact_and(op, a[0], a[1]);
    case OP_OR:
    case OP_XOR: return fact_either(op, a[0], a[1]);
    case OP_SMAX:
    case OP_SMIN:
    case OP_UMAX:
    case OP_UMIN: return fact_either(op, a[0], a[1]);
    case OP_ICMP: return fact_icmp(op, a[0], a[1]);
    case OP_SELECT: return fact_select(op, a[0], a[1], a[2]);
    case OP_SEXT:
    case OP_ZEXT:
    case OP_TRUNC: return fact_resize(op, a[0]);
    case OP_BITCAST: return fact_bitcast(op, a);
    case OP_CONVERT: return *a[0];
    default:
        if (op_class(op->kind) == CLASS_COPY) return *a[0];
        return op_is_elementwise(op->kind) ? fact_constancy(op, a) : fact_bottom(op->results[0]->type);
    }
}

Fact fact_of_op(const Op *op, const Fact *const *args) {
    Type t = op->results[0]->type;
    Fact r = fact_shape(op, args);
    Range range = range_full(t.dtype), of[3] = {{0, 0}};
    for (uint32_t i = 0; i < op->nargs && i < COUNT(of); i++) of[i] = (Range){args[i]->lo, args[i]->hi};
    if (op->kind == OP_CONST || op_class(op->kind) == CLASS_INDEX || op_moves(op->kind))
        range = (Range){r.lo, r.hi};
    else if (op_is_elementwise(op->kind))
        range = range_of(op, of);
    else if (op->kind == OP_REDUCE)
        range = range_of_reduce(op, of[0]);
    else if (op->kind == OP_PID || op->kind == OP_NPROG)
        range = (Range){op->kind == OP_NPROG, INT32_MAX};
    r.lo = range.lo;
    r.hi = range.hi;
    fact_settle(&r, t);
    return r;
}
