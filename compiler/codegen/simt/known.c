/* known.c - truth values that are known while code is built: slots beyond every bound cost nothing.
 *
 * In: the slots of an op's operands. Out: a constant or one of the operands, where the op gives that.
 * Method: a slot is base + constant, and its tile knows bounds of the bases. So the mask of a register that lies beyond
 * the bound of a comparison is false. What depends on such a mask folds here; equal slots are computed once (value.c).
 */
#include "codegen/simt/simt.h"

bool known_truth(V x, bool *truth) {
    if (!LLVMIsAConstantInt(x)) return false;
    *truth = LLVMConstIntGetZExtValue(x) != 0;
    return true;
}

V known_and(Simt *s, V x, V y) {
    bool truth;
    if (known_truth(x, &truth)) return truth ? y : x;
    if (known_truth(y, &truth)) return truth ? x : y;
    return x == y ? x : LLVMBuildAnd(s->m->at, x, y, "");
}

V known_or(Simt *s, V x, V y) {
    bool truth;
    if (known_truth(x, &truth)) return truth ? x : y;
    if (known_truth(y, &truth)) return truth ? y : x;
    return x == y ? x : LLVMBuildOr(s->m->at, x, y, "");
}

V known_not(Simt *s, V x) {
    bool truth;
    return known_truth(x, &truth) ? llvm_int(s->m->i1, !truth) : LLVMBuildNot(s->m->at, x, "");
}

/* ---- Bounds ------------------------------------------------------------------------------------------------------ */

/* False where nothing is known, or base + offset may wrap. */
static bool slot_bounds(const Tile *t, Slot x, uint32_t bits, Range *out) {
    bool constant = LLVMIsAConstantInt(x.base) != NULL;
    int64_t lo = constant ? LLVMConstIntGetSExtValue(x.base) : t->lo, hi = constant ? lo : t->hi;
    if (!constant && x.is_apart) return false;
    if (!constant && (lo == INT64_MIN || hi == INT64_MAX)) return false;
    if (__builtin_add_overflow(lo, x.offset, &out->lo) || __builtin_add_overflow(hi, x.offset, &out->hi)) return false;
    return fits_bits(out->lo, bits) && fits_bits(out->hi, bits);
}

Range slot_range(const Tile *t, uint32_t reg, DType d) {
    Range r;
    bool is_known = dtype_kind(d) == KIND_INT && slot_bounds(t, slot_at(t, reg), dtype_bits(d), &r);
    return is_known ? r : range_full(d);
}

/* Is x < y (or x <= y) always, or never? */
static bool less_known(Range x, Range y, bool or_equal, bool *truth) {
    bool always = or_equal ? x.hi <= y.lo : x.hi < y.lo, never = or_equal ? x.lo > y.hi : x.lo >= y.hi;
    *truth = always;
    return always || never;
}

static bool compare_known(Pred p, Range x, Range y, bool *truth) {
    bool has_sign = x.lo < 0 || y.lo < 0;
    switch (p) {
    case PRED_ULT: case PRED_ULE: case PRED_UGT: case PRED_UGE:
        if (has_sign) return false;
        break;
    default: break;
    }
    switch (p) {
    case PRED_SLT: case PRED_ULT: return less_known(x, y, false, truth);
    case PRED_SLE: case PRED_ULE: return less_known(x, y, true, truth);
    case PRED_SGT: case PRED_UGT: return less_known(y, x, false, truth);
    case PRED_SGE: case PRED_UGE: return less_known(y, x, true, truth);
    case PRED_EQ: case PRED_NE:
        *truth = p == PRED_NE;
        return x.hi < y.lo || y.hi < x.lo;
    }
    return false;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

/* base + offset < y of a rotated row's places, x and y as bounded: by the base alone, so that no register of a vector
 * keeps an index of its own. What lies below zero is beyond every end, unsigned. NULL: it may wrap. */
static V rotated_compare(Simt *s, const Op *op, Slot x, Range a, V end, Range b) {
    OpKind index = op->args[0]->def ? op->args[0]->def->kind : OP_COUNT;
    bool is_unsigned = op->attr.pred == PRED_ULT, is_less = is_unsigned || op->attr.pred == PRED_SLT;
    if ((index != OP_MOVED && index != OP_ROTATED) || !is_less || b.lo < 0 || LLVMIsAConstantInt(x.base)) return NULL;
    LLVMTypeRef t = LLVMTypeOf(x.base);
    bool below = a.lo < 0 && is_unsigned;
    if (below && a.hi >= b.lo) return NULL;
    if (below) return LLVMBuildICmp(s->m->at, LLVMIntSGE, x.base, llvm_int(t, -x.offset), "");
    if (!x.offset || !fits_bits(b.lo - x.offset, LLVMGetIntTypeWidth(t)) ||
        !fits_bits(b.hi - x.offset, LLVMGetIntTypeWidth(t)))
        return NULL;
    return LLVMBuildICmp(s->m->at, LLVMIntSLT, x.base, LLVMBuildSub(s->m->at, end, llvm_int(t, x.offset), ""), "");
}

V known_compare(Simt *s, const Op *op, uint32_t reg) {
    if (op->kind != OP_ICMP || dtype_kind(op->args[0]->type.dtype) != KIND_INT) return NULL;
    const Tile *x = tile_of(s, op->args[0]), *y = tile_of(s, op->args[1]);
    DType d = op->args[0]->type.dtype;
    Range a, b;
    bool truth;
    if (dtype_bits(d) < 8) return NULL;
    if (!slot_bounds(x, slot_at(x, reg), dtype_bits(d), &a) || !slot_bounds(y, slot_at(y, reg), dtype_bits(d), &b))
        return NULL;
    if (compare_known(op->attr.pred, a, b, &truth)) return llvm_int(s->m->i1, truth);
    return rotated_compare(s, op, slot_at(x, reg), a, slot_value(s, slot_at(y, reg)), b);
}

bool known_mostly(Simt *s, const Value *mask, uint32_t reg) {
    const Op *op = mask->def;
    bool is_below = op && op->kind == OP_ICMP && (op->attr.pred == PRED_SLT || op->attr.pred == PRED_ULT);
    Range x, y;
    if (!is_below || op->args[0]->type.dtype != DT_I32) return false;
    const Tile *a = tile_of(s, op->args[0]), *b = tile_of(s, op->args[1]);
    if (!slot_bounds(a, slot_at(a, reg), 32, &x) || !slot_bounds(b, slot_at(b, reg), 32, &y)) return false;
    return y.lo - x.lo > x.hi - y.lo;
}

/* x <= y, of i32; built where the bounds do not tell. */
static V at_most(Simt *s, bool is_known, Range x, Range y, V a, V b) {
    bool truth;
    if (is_known && less_known(x, y, true, &truth)) return llvm_int(s->m->i1, truth);
    return LLVMBuildICmp(s->m->at, LLVMIntSLE, a, b, "");
}

V known_within(Simt *s, int64_t least, const Tile *x, uint32_t reg, int64_t more, int64_t most, const Tile *end) {
    Slot low = slot_at(x, reg), high = low, last = slot_at(end, reg);
    Range from = {0, 0}, to = from, ends = from, first = {least, least}, all = {most, most};
    high.offset += more;
    bool is_low = slot_bounds(x, low, 32, &from), is_high = slot_bounds(x, high, 32, &to),
         is_end = slot_bounds(end, last, 32, &ends);
    V begins = at_most(s, is_low, first, from, llvm_int(s->m->i32, least), slot_value(s, low));
    V fits = at_most(s, is_high, to, all, slot_value(s, high), llvm_int(s->m->i32, most));
    return known_and(s, known_and(s, begins, fits),
                     at_most(s, is_high && is_end, to, ends, slot_value(s, high), slot_value(s, last)));
}

/* ---- Truth over registers that follow each other ----------------------------------------------------------------- */

bool known_same(const Tile *t, uint32_t reg, uint32_t n) {
    for (uint32_t i = 1; i < n; i++)
        if (slot_at(t, reg + i).base != slot_at(t, reg).base || slot_at(t, reg + i).offset != slot_at(t, reg).offset)
            return false;
    return true;
}

/* Each one more than the register before, and none has wrapped. */
static bool counts_up(const Tile *t, uint32_t reg, uint32_t n, DType d) {
    Slot x = slot_at(t, reg);
    Range r;
    for (uint32_t i = 0; i < n; i++) {
        Slot y = slot_at(t, reg + i);
        if (y.base != x.base || y.offset != x.offset + i || !slot_bounds(t, y, dtype_bits(d), &r)) return false;
    }
    return true;
}

/* Does op compare what counts up with one number, or that with it? Then its truth turns once at most. */
static bool turns_once(Simt *s, const Op *op, uint32_t reg, uint32_t n) {
    Pred p = op && op->kind == OP_ICMP ? op->attr.pred : PRED_EQ;
    if (p != PRED_SLT && p != PRED_SLE && p != PRED_SGT && p != PRED_SGE) return false;
    DType d = op->args[0]->type.dtype;
    if (dtype_kind(d) != KIND_INT || dtype_bits(d) < 8) return false;
    const Tile *x = tile_of(s, op->args[0]), *y = tile_of(s, op->args[1]);
    return (counts_up(x, reg, n, d) && known_same(y, reg, n)) || (known_same(x, reg, n) && counts_up(y, reg, n, d));
}

/* A broadcast's registers that follow each other and are such registers of its operand: the operand, and the first of
 * them. Else the mask itself. */
static const Value *source_of(const Value *mask, uint32_t n, uint32_t *reg) {
    const Op *op = mask->def;
    ConvertPlan plan;
    if (!op || op->kind != OP_BROADCAST) return mask;
    convert_broadcast(op->args[0]->type.layout, mask->type.layout, &plan);
    if (plan.kind > CONVERT_REGISTERS) return mask;
    uint32_t first = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from = convert_source(&plan, (Owner){{[IN_REGISTER] = *reg + i}}).at[IN_REGISTER];
        if (i == 0) first = from;
        if (from != first + i) return mask;
    }
    *reg = first;
    return op->args[0];
}

/* Of what turns once the first register and the last say it. */
static V known_over(Simt *s, const Value *mask, uint32_t reg, uint32_t n, bool at_one) {
    mask = source_of(mask, n, &reg);
    const Op *op = mask->def;
    if (op && op->kind == OP_AND)
        return known_and(s, known_over(s, op->args[0], reg, n, at_one), known_over(s, op->args[1], reg, n, at_one));
    const Tile *t = tile_of(s, mask);
    uint32_t step = n > 1 && turns_once(s, op, reg, n) ? n - 1 : 1;
    V truth = tile_slot(s, t, reg);
    for (uint32_t i = step; i < n; i += step) {
        V x = tile_slot(s, t, reg + i);
        truth = at_one ? known_or(s, truth, x) : known_and(s, truth, x);
    }
    return truth;
}

V known_all(Simt *s, const Value *mask, uint32_t reg, uint32_t n) {
    return known_over(s, mask, reg, n, false);
}

V known_some(Simt *s, const Value *mask, uint32_t reg, uint32_t n) {
    return known_over(s, mask, reg, n, true);
}

V known_first(Simt *s, const Value *mask, uint32_t reg, uint32_t n) {
    mask = source_of(mask, n, &reg);
    const Op *op = mask->def;
    if (op && op->kind == OP_AND) {
        V a = known_first(s, op->args[0], reg, n), b = a ? known_first(s, op->args[1], reg, n) : NULL;
        return b ? llvm_binary(s->m, "llvm.smin", a, b) : NULL;
    }
    const Tile *t = tile_of(s, mask);
    if (known_same(t, reg, n))
        return LLVMBuildSelect(s->m->at, tile_slot(s, t, reg), simt_i32(s, n), simt_i32(s, 0), "");
    if (!turns_once(s, op, reg, n) || op->attr.pred != PRED_SLT || op->args[0]->type.dtype != DT_I32) return NULL;
    const Tile *x = tile_of(s, op->args[0]), *y = tile_of(s, op->args[1]);
    Range a, b;
    bool fits = counts_up(x, reg, n, DT_I32) && slot_bounds(x, slot_at(x, reg), 32, &a) &&
                slot_bounds(y, slot_at(y, reg), 32, &b) && fits_bits(b.hi - a.lo, 32) && fits_bits(b.lo - a.hi, 32);
    if (!fits) return NULL;
    V left = LLVMBuildSub(s->m->at, tile_slot(s, y, reg), tile_slot(s, x, reg), "");
    return llvm_binary(s->m, "llvm.smax", llvm_binary(s->m, "llvm.smin", left, simt_i32(s, n)), simt_i32(s, 0));
}

V known_result(Simt *s, const Op *op, const V *a) {
    bool truth, is_truth = op->results[0]->type.dtype == DT_I1;
    if (op->kind == OP_SELECT && known_truth(a[0], &truth)) return truth ? a[1] : a[2];
    if (!is_truth || (op->kind != OP_AND && op->kind != OP_OR)) return NULL;
    return op->kind == OP_AND ? known_and(s, a[0], a[1]) : known_or(s, a[0], a[1]);
}
