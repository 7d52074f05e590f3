/* range.c - the range of an integer op's result from the ranges of its operands.
 *
 * In: an op and [lo, hi] of each operand, as signed numbers. Out: [lo, hi] of the result.
 * Method: the exact interval where it is cheap to know; where it leaves the type, arithmetic may have wrapped, and the
 * answer is the whole type.
 */
#include "passes/private.h"

Range range_full(DType d) {
    if (dtype_kind(d) != KIND_INT || dtype_bits(d) == 64) return (Range){INT64_MIN, INT64_MAX};
    if (d == DT_I1) return (Range){0, 1};
    int64_t half = INT64_C(1) << (dtype_bits(d) - 1);
    return (Range){-half, half - 1};
}

static bool add_fits(int64_t a, int64_t b, int64_t *r) {
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) return false;
    *r = a + b;
    return true;
}

static bool mul_fits(int64_t a, int64_t b, int64_t *r) {
    *r = 0;
    if (a == 0 || b == 0) return true;
    if ((a == -1 && b == INT64_MIN) || (b == -1 && a == INT64_MIN)) return false;
    if (b == -1 || a == -1) {
        *r = a == -1 ? -b : -a;
        return true;
    }
    bool past = (a > 0) == (b > 0) ? (a > 0 ? a > INT64_MAX / b : a < INT64_MAX / b)
                                   : (a > 0 ? b < INT64_MIN / a : a < INT64_MIN / b);
    if (past) return false;
    *r = a * b;
    return true;
}

static Range within(DType d, Range r) {
    Range full = range_full(d);
    return r.lo < full.lo || r.hi > full.hi ? full : r;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static Range join(Range a, Range b) {
    return (Range){least(a.lo, b.lo), most(a.hi, b.hi)};
}

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

static Range range_add(DType d, Range a, Range b) {
    Range r;
    if (!add_fits(a.lo, b.lo, &r.lo) || !add_fits(a.hi, b.hi, &r.hi)) return range_full(d);
    return within(d, r);
}

static Range range_sub(DType d, Range a, Range b) {
    if (b.lo == INT64_MIN) return range_full(d);
    return range_add(d, a, (Range){-b.hi, -b.lo});
}

static Range range_mul(DType d, Range a, Range b) {
    int64_t p[4];
    if (!mul_fits(a.lo, b.lo, &p[0]) || !mul_fits(a.lo, b.hi, &p[1]) || !mul_fits(a.hi, b.lo, &p[2]) ||
        !mul_fits(a.hi, b.hi, &p[3]))
        return range_full(d);
    Range r = {least(least(p[0], p[1]), least(p[2], p[3])), most(most(p[0], p[1]), most(p[2], p[3]))};
    return within(d, r);
}

/* Division by b == 0 gives 0, which every case but the constant one holds. */
static Range range_div(DType d, Range a, Range b, bool is_signed) {
    if (!is_signed && (a.lo < 0 || b.lo < 0)) return range_full(d);
    if (b.lo == b.hi && b.lo > 0) return (Range){a.lo / b.lo, a.hi / b.lo};
    if (b.lo >= 0) return (Range){least(a.lo, 0), most(a.hi, 0)};
    return range_full(d);
}

/* The remainder is a itself where b == 0. */
static Range range_rem(DType d, Range a, Range b, bool is_signed) {
    if (!is_signed && a.lo < 0) return b.lo == b.hi && b.lo > 0 ? (Range){0, b.lo - 1} : range_full(d);
    Range r = {least(a.lo, 0), most(a.hi, 0)};
    if (b.lo > 0) r = (Range){most(r.lo, 1 - b.hi), least(r.hi, b.hi - 1)};
    return r;
}

/* ---- Bits -------------------------------------------------------------------------------------------------------- */

static Range range_and(DType d, Range a, Range b) {
    if (a.lo >= 0 && b.lo >= 0) return (Range){0, least(a.hi, b.hi)};
    if (a.lo >= 0) return (Range){0, a.hi};
    if (b.lo >= 0) return (Range){0, b.hi};
    return range_full(d);
}

/* or, xor: no bit above the highest of either */
static Range range_or(DType d, Range a, Range b) {
    if (a.lo < 0 || b.lo < 0) return range_full(d);
    uint32_t top = log2_floor((uint64_t)(a.hi | b.hi));
    return (Range){0, (a.hi | b.hi) == 0 ? 0 : (int64_t)((UINT64_C(2) << top) - 1)};
}

static int64_t shift_down(int64_t x, int64_t by) {
    return x >= 0 ? x >> by : ~(~x >> by);
}

static Range range_shift(const Op *op, DType d, Range a, Range b) {
    uint32_t bits = dtype_bits(d);
    bool known = b.lo == b.hi && b.lo >= 0 && b.lo < (int64_t)bits;
    if (op->kind == OP_SHL)
        return known && b.lo < 62 ? range_mul(d, a, (Range){INT64_C(1) << b.lo, INT64_C(1) << b.lo}) : range_full(d);
    if (op->kind == OP_ASHR)
        return known ? (Range){shift_down(a.lo, b.lo), shift_down(a.hi, b.lo)}
                     : (Range){least(a.lo, a.lo < 0 ? -1 : 0), most(a.hi, a.hi >= 0 ? 0 : -1)};
    if (a.lo >= 0) return known ? (Range){a.lo >> b.lo, a.hi >> b.lo} : (Range){0, a.hi};
    if (!known || b.lo == 0) return range_full(d);
    return (Range){0, (int64_t)((UINT64_MAX >> (64 - bits)) >> b.lo)};
}

/* ---- Conversions ------------------------------------------------------------------------------------------------- */

static Range range_zext(DType from, Range a) {
    if (a.lo >= 0) return a;
    return (Range){0, (int64_t)(UINT64_MAX >> (64 - dtype_bits(from)))};
}

static Range range_sext(DType from, Range a) {
    return from == DT_I1 ? (Range){-a.hi, -a.lo} : a;
}

/* ---- The ops ----------------------------------------------------------------------------------------------------- */

Range range_of(const Op *op, const Range *a) {
    DType d = op->results[0]->type.dtype, from = op->nargs ? op->args[0]->type.dtype : d;
    if (dtype_kind(d) != KIND_INT) return range_full(d);
    bool unsigned_is_signed = op->nargs == 2 && a[0].lo >= 0 && a[1].lo >= 0;
    switch (op->kind) {
    case OP_ADD: return range_add(d, a[0], a[1]);
    case OP_SUB: return range_sub(d, a[0], a[1]);
    case OP_MUL: return range_mul(d, a[0], a[1]);
    case OP_SDIV:
    case OP_UDIV: return range_div(d, a[0], a[1], op->kind == OP_SDIV);
    case OP_SREM:
    case OP_UREM: return range_rem(d, a[0], a[1], op->kind == OP_SREM);
    case OP_AND: return range_and(d, a[0], a[1]);
    case OP_OR:
    case OP_XOR: return d == DT_I1 ? range_full(d) : range_or(d, a[0], a[1]);
    case OP_SHL:
    case OP_ASHR:
    case OP_LSHR: return range_shift(op, d, a[0], a[1]);
    case OP_UMAX:
        if (!unsigned_is_signed) return range_full(d);
        /* fall through */
    case OP_SMAX: return (Range){most(a[0].lo, a[1].lo), most(a[0].hi, a[1].hi)};
    case OP_UMIN:
        if (!unsigned_is_signed) return range_full(d);
        /* fall through */
    case OP_SMIN: return (Range){least(a[0].lo, a[1].lo), least(a[0].hi, a[1].hi)};
    case OP_SEXT: return range_sext(from, a[0]);
    case OP_ZEXT: return range_zext(from, a[0]);
    case OP_TRUNC: return within(d, a[0]);
    case OP_BITCAST: return dtype_kind(from) == KIND_INT ? a[0] : range_full(d);
    case OP_SELECT: return join(a[1], a[2]);
    default: return range_full(d);
    }
}

Range range_of_reduce(const Op *op, Range a) {
    DType d = op->results[0]->type.dtype;
    int64_t n = (int64_t)shape_size(op->args[0]->type.shape, op->attr.axis);
    if (dtype_kind(d) != KIND_INT) return range_full(d);
    switch (op->attr.combine) {
    case OP_SMAX:
    case OP_SMIN: return a;
    case OP_UMAX:
    case OP_UMIN:
    case OP_AND: return a.lo >= 0 && d != DT_I1 ? a : range_full(d);
    case OP_ADD: return range_mul(d, a, (Range){n, n});
    default: return range_full(d);
    }
}
