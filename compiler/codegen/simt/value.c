/* value.c - tiles as arrays of LLVM values; creation and elementwise ops.
 *
 * In: ops without memory or control. Out: their result tiles.
 * Method: index arithmetic stays in the form base + constant as far as wrapping allows, so that the registers of a tile
 * share their bases; equal operands within one op are computed once.
 */
#include "codegen/simt/simt.h"

/* ---- base + constant --------------------------------------------------------------------------------------------- */

/* Small memory of what this op has built already: tiles repeat few bases. */
typedef struct Memo {
    V x[8], y[8], z[8], result[8];
    uint32_t n, next;
} Memo;

static V memo_find(const Memo *m, V x, V y, V z) {
    for (uint32_t i = 0; i < m->n; i++)
        if (m->x[i] == x && m->y[i] == y && m->z[i] == z) return m->result[i];
    return NULL;
}

static V memo_keep(Memo *m, V x, V y, V z, V result) {
    uint32_t i = m->next++ % COUNT(m->x);
    if (m->n < COUNT(m->x)) m->n++;
    m->x[i] = x;
    m->y[i] = y;
    m->z[i] = z;
    m->result[i] = result;
    return result;
}

/* Offsets wrap as the values they belong to do. */
static int64_t wrap_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* A constant slot as base 0 and an offset. */
static Slot slot_split(Slot x) {
    if (!LLVMIsAConstantInt(x.base)) return x;
    Slot r = {llvm_int(LLVMTypeOf(x.base), 0), wrap_add(x.offset, LLVMConstIntGetSExtValue(x.base)), x.is_apart};
    return r;
}

static int64_t add_or_limit(int64_t a, int64_t b, int64_t limit) {
    if (a == INT64_MIN || b == INT64_MIN || a == INT64_MAX || b == INT64_MAX) return limit;
    bool past = b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b;
    return past ? limit : a + b;
}

/* Bounds that a type of `bits` cannot hold are no bounds: the base may have wrapped. */
static void set_bounds(Tile *t, int64_t lo, int64_t hi, uint32_t bits) {
    bool known = lo != INT64_MIN && hi != INT64_MAX && fits_bits(lo, bits) && fits_bits(hi, bits);
    t->lo = known ? lo : INT64_MIN;
    t->hi = known ? hi : INT64_MAX;
}

static Slot slot_add(Simt *s, Memo *memo, Slot x, Slot y) {
    x = slot_split(x);
    y = slot_split(y);
    V base = memo_find(memo, x.base, y.base, NULL);
    if (!base) base = memo_keep(memo, x.base, y.base, NULL, LLVMBuildAdd(s->m->at, x.base, y.base, ""));
    Slot r = {base, wrap_add(x.offset, y.offset), x.is_apart || y.is_apart};
    return r;
}

/* x scaled by a constant: base and offset apart. */
static Slot slot_scale(Simt *s, Memo *memo, Slot x, int64_t by) {
    x = slot_split(x);
    V base = memo_find(memo, x.base, NULL, NULL);
    if (!base) {
        LLVMTypeRef t = LLVMTypeOf(x.base);
        bool power = by > 0 && !(by & (by - 1));
        V made = power ? LLVMBuildShl(s->m->at, x.base, llvm_int(t, __builtin_ctzll((uint64_t)by)), "")
                       : LLVMBuildMul(s->m->at, x.base, llvm_int(t, by), "");
        base = memo_keep(memo, x.base, NULL, NULL, made);
    }
    Slot r = {base, (int64_t)((uint64_t)x.offset * (uint64_t)by), x.is_apart};
    return r;
}

/* The widening of base + offset is widen(base) + offset only where neither wraps: the tile's bounds say. */
static Slot slot_widen(Simt *s, Memo *memo, const Tile *t, Slot x, LLVMTypeRef to, bool is_signed) {
    uint32_t bits = LLVMGetIntTypeWidth(LLVMTypeOf(x.base));
    x = slot_split(x);
    bool constant = LLVMIsAConstantInt(x.base) != NULL;
    int64_t lo = constant ? x.offset : add_or_limit(t->lo, x.offset, INT64_MIN);
    int64_t hi = constant ? x.offset : add_or_limit(t->hi, x.offset, INT64_MAX);
    int64_t base_lo = constant ? 0 : t->lo;
    bool is_bounded = lo != INT64_MIN && hi != INT64_MAX && fits_bits(lo, bits) && fits_bits(hi, bits);
    bool known = is_bounded && bits > 1 && !x.is_apart;
    bool split = known && (is_signed || (lo >= 0 && base_lo >= 0));
    V narrow = split ? x.base : slot_value(s, x);
    V base = memo_find(memo, narrow, NULL, NULL);
    if (!base) {
        V wide = is_signed ? LLVMBuildSExt(s->m->at, narrow, to, "") : LLVMBuildZExt(s->m->at, narrow, to, "");
        base = memo_keep(memo, narrow, NULL, NULL, wide);
    }
    Slot r = {base, split ? x.offset : 0, x.is_apart};
    return r;
}

/* ---- Index arithmetic -------------------------------------------------------------------------------------------- */

static bool uniform_constant(const Tile *t, int64_t *value) {
    Slot first = slot_split(t->at[0]);
    for (uint32_t i = 0; i < t->n; i++) {
        Slot x = slot_split(t->at[i]);
        if (!LLVMIsAConstantInt(x.base) || x.offset != first.offset) return false;
    }
    *value = first.offset;
    return true;
}

static void index_add(Simt *s, const Tile *x, const Tile *y, Tile *r, DType d) {
    Memo memo = {.n = 0};
    for (uint32_t i = 0; i < r->n; i++) r->at[i] = slot_add(s, &memo, slot_at(x, i), slot_at(y, i));
    set_bounds(r, add_or_limit(x->lo, y->lo, INT64_MIN), add_or_limit(x->hi, y->hi, INT64_MAX), dtype_bits(d));
}

/* x - y where y's bases are constant: only the offset changes. */
static bool index_sub(Simt *s, const Tile *x, const Tile *y, Tile *r) {
    (void)s;
    int64_t c = 0;
    if (!uniform_constant(y, &c)) return false;
    for (uint32_t i = 0; i < r->n; i++) {
        r->at[i] = slot_at(x, i);
        r->at[i].offset = wrap_add(r->at[i].offset, (int64_t)(0 - (uint64_t)c));
    }
    r->lo = x->lo;
    r->hi = x->hi;
    return true;
}

static bool index_scale(Simt *s, const Tile *x, int64_t by, Tile *r, DType d) {
    Memo memo = {.n = 0};
    for (uint32_t i = 0; i < r->n; i++) r->at[i] = slot_scale(s, &memo, slot_at(x, i), by);
    bool small = x->lo >= INT32_MIN && x->hi <= INT32_MAX && by >= 0 && by <= INT32_MAX;
    set_bounds(r, small ? x->lo * by : INT64_MIN, small ? x->hi * by : INT64_MAX, dtype_bits(d));
    return true;
}

static void index_addptr(Simt *s, const Op *op, const Tile *p, const Tile *i, Tile *r) {
    const Value *index = op->args[1];
    Tile wide = tile_create(s, i->n), bytes = tile_create(s, i->n);
    Memo memo = {.n = 0};
    for (uint32_t k = 0; k < i->n; k++)
        wide.at[k] =
            dtype_bits(index->type.dtype) == 64 ? i->at[k] : slot_widen(s, &memo, i, i->at[k], s->m->i64, true);
    index_scale(s, &wide, type_bytes(type_scalar(op->args[0]->type.pointee)), &bytes, DT_I64);
    for (uint32_t k = 0; k < i->n && plant(PLANT_NARROW_OFFSET); k++) {
        V low = LLVMBuildTrunc(s->m->at, slot_value(s, bytes.at[k]), s->m->i32, "");
        bytes.at[k] = (Slot){LLVMBuildSExt(s->m->at, low, s->m->i64, ""), 0, bytes.at[k].is_apart};
    }
    index_add(s, p, &bytes, r, DT_I64);
}

static void index_widen(Simt *s, const Op *op, const Tile *x, Tile *r) {
    Memo memo = {.n = 0};
    LLVMTypeRef to = slot_type(s, op->results[0]->type.dtype);
    bool is_signed = op->kind == OP_SEXT;
    bool apart = true; /* a base that took its offset in has other bounds */
    for (uint32_t i = 0; i < r->n; i++) {
        r->at[i] = slot_widen(s, &memo, x, slot_at(x, i), to, is_signed);
        apart &= r->at[i].offset == slot_split(slot_at(x, i)).offset;
    }
    if (apart && (is_signed || x->lo >= 0)) set_bounds(r, x->lo, x->hi, dtype_bits(op->results[0]->type.dtype));
}

/* True where the op could be done on base and offset apart. */
static bool simt_index_op(Simt *s, const Op *op, Tile *r) {
    const Tile *x = tile_of(s, op->args[0]), *y = op->nargs > 1 ? tile_of(s, op->args[1]) : NULL;
    DType d = op->results[0]->type.dtype;
    int64_t c = 0;
    switch (op->kind) {
    case OP_ADDPTR: index_addptr(s, op, x, y, r); return true;
    case OP_ADD:
        if (d == DT_I1) return false;
        index_add(s, x, y, r, d);
        return true;
    case OP_SUB: return d != DT_I1 && index_sub(s, x, y, r);
    case OP_MUL:
        if (uniform_constant(y, &c)) return index_scale(s, x, c, r, d);
        return uniform_constant(x, &c) && index_scale(s, y, c, r, d);
    case OP_SHL:
        return uniform_constant(y, &c) && c >= 0 && c < dtype_bits(d) && c < 62 &&
               index_scale(s, x, INT64_C(1) << c, r, d);
    case OP_SEXT:
    case OP_ZEXT: index_widen(s, op, x, r); return true;
    case OP_BITCAST: /* pointers are integers here */
        if ((op->args[0]->type.dtype == DT_PTR) == (d == DT_PTR) && d != op->args[0]->type.dtype) return false;
        if (slot_type(s, d) != slot_type(s, op->args[0]->type.dtype)) return false;
        *r = *x;
        return true;
    default: return false;
    }
}

/* ---- Elementwise ------------------------------------------------------------------------------------------------- */

Divisor *divisors_of(Simt *s, const Op *op, const Tile *y, uint32_t n) {
    if (op->kind != OP_FDIV || op->results[0]->type.dtype != DT_FP32 || s->math.fast || n < 2) return NULL;
    V divisors[8];
    Divisor made[8], *by = NEW_ARRAY(s->m->o->arena, Divisor, n);
    uint32_t count = 0, *which = NEW_ARRAY(s->m->o->arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        V d = tile_slot(s, y, i);
        uint32_t k = 0;
        while (k < count && divisors[k] != d) k++;
        if (k == COUNT(divisors) || 2 * k >= n) return NULL;
        if (k == count) divisors[count++] = d;
        which[i] = k;
    }
    for (uint32_t k = 0; k < count; k++) made[k] = math_divisor(&s->math, divisors[k]);
    for (uint32_t i = 0; i < n; i++) by[i] = made[which[i]];
    return by;
}

/* fp32 quotients that share their divisor: one reciprocal each, if there are few divisors. */
static bool divide_shared(Simt *s, const Op *op, const Tile *x, const Tile *y, Tile *r) {
    const Divisor *by = divisors_of(s, op, y, r->n);
    for (uint32_t i = 0; i < r->n && by; i++) {
        simt_at(s, i, 1);
        r->at[i].base = math_divide(&s->math, tile_slot(s, x, i), by[i]);
    }
    return by != NULL;
}

/* The first register that has the same truth as `reg`. */
static uint32_t run_begin(const Op *op, uint32_t reg) {
    uint32_t run = op->attr.run_log2;
    if (!run) return reg;
    uint32_t held = layout_vector(op->results[0]->type.layout, op->attr.axis);
    return reg & ~((1u << (run < held ? run : held)) - 1);
}

/* Bounds of a scalar that is no sum of a base and a constant, from those of what it is made of. */
static void scalar_bounds(Simt *s, const Op *op, Tile *r) {
    Range of[3] = {{0, 0}};
    DType d = op->results[0]->type.dtype;
    if (value_is_tile(op->results[0]) || dtype_kind(d) != KIND_INT || op->nargs > COUNT(of)) return;
    for (uint32_t k = 0; k < op->nargs; k++)
        of[k] = slot_range(tile_of(s, op->args[k]), 0, op->args[k]->type.dtype);
    Range range = range_of(op, of);
    set_bounds(r, range.lo, range.hi, dtype_bits(d));
}

void simt_elementwise(Simt *s, const Op *op) {
    Value *v = op->results[0];
    Tile r = tile_create(s, tile_registers(v));
    bool done = simt_index_op(s, op, &r);
    if (!done) scalar_bounds(s, op, &r);
    if (!done && op->nargs == 2) done = divide_shared(s, op, tile_of(s, op->args[0]), tile_of(s, op->args[1]), &r);
    bool by_pairs = !done && simt_is_pairs(s, op);
    for (uint32_t i = 0; i < r.n && by_pairs; i += 2) {
        simt_at(s, i, 2);
        V word = simt_pair(s, op, i);
        for (uint32_t k = 0; k < 2; k++) r.at[i + k].base = element_of_word(s, v->type.dtype, word, k);
    }
    Memo memo = {.n = 0};
    for (uint32_t i = 0; i < r.n && !done && !by_pairs; i++) {
        uint32_t first = run_begin(op, i);
        if (first < i) {
            r.at[i] = r.at[first];
            continue;
        }
        V a[3] = {NULL, NULL, NULL};
        simt_at(s, i, 1);
        for (uint32_t k = 0; k < op->nargs; k++) a[k] = tile_slot(s, tile_of(s, op->args[k]), i);
        V x = known_compare(s, op, i);
        if (!x) x = known_result(s, op, a);
        if (!x) x = memo_find(&memo, a[0], a[1], a[2]);
        r.at[i].base = x ? x : memo_keep(&memo, a[0], a[1], a[2], math_op(&s->math, op, a));
    }
    s->values[v->id] = r;
}

/* ---- Creation ---------------------------------------------------------------------------------------------------- */

static V constant_of(Simt *s, const Op *op) {
    DType d = op->results[0]->type.dtype;
    return d == DT_PTR ? llvm_int(s->m->i64, op->attr.bits) : llvm_bits(s->m, d, op->attr.bits);
}

static void arange(Simt *s, const Op *op, Tile *r) {
    const Layout *l = op->results[0]->type.layout;
    Layout reversed = *l;
    for (uint32_t i = 0; plant(PLANT_REVERSED_BASIS) && i < l->bits[IN_LANE]; i++)
        reversed.basis[IN_LANE][i] = l->basis[IN_LANE][l->bits[IN_LANE] - 1 - i];
    V thread = simt_thread_index(s, &reversed);
    bool adds = layout_adds(l);
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t part = layout_register_index(l, i);
        r->at[i].base = adds || !part ? thread : LLVMBuildXor(s->m->at, thread, simt_i32(s, part), "");
        r->at[i].offset = op->attr.start + (adds ? part : 0);
    }
    r->lo = 0;
    r->hi = adds ? layout_thread_most(l) : op->attr.end - op->attr.start - 1;
}

/* Registers that no rotation brings over the beginning are base + constant; the others wrap one by one. */
static void arange_rotated(Simt *s, const Op *op, const Tile *by, Tile *r) {
    const Layout *l = op->results[0]->type.layout;
    LLVMBuilderRef at = s->m->at;
    V thread = simt_thread_index(s, l), rotation = tile_slot(s, by, 0), base = LLVMBuildSub(at, thread, rotation, "");
    bool adds = layout_adds(l);
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t part = layout_register_index(l, i);
        if (adds && (part > MOST_ROTATION || op->kind == OP_MOVED)) {
            r->at[i] = (Slot){.base = base, .offset = op->attr.start + part};
            continue;
        }
        V mask = simt_i32(s, op->kind == OP_MOVED ? -1 : op->attr.end - op->attr.start - 1);
        V place = part ? LLVMBuildXor(at, thread, simt_i32(s, part), "") : thread;
        V wrapped = LLVMBuildAnd(at, LLVMBuildSub(at, place, rotation, ""), mask, "");
        r->at[i] = (Slot){.base = LLVMBuildAdd(at, wrapped, simt_i32(s, op->attr.start), ""), .is_apart = true};
    }
    r->lo = -MOST_ROTATION;
    r->hi = layout_thread_most(l);
}

void simt_create_op(Simt *s, const Op *op) {
    Value *v = op->results[0];
    Tile r = tile_create(s, tile_registers(v));
    const Tile *x = op->nargs ? tile_of(s, op->args[0]) : NULL;
    switch (op->kind) {
    case OP_CONST:
        r.at[0].base = constant_of(s, op);
        for (uint32_t i = 1; i < r.n; i++) r.at[i] = r.at[0];
        break;
    case OP_ARANGE: arange(s, op, &r); break;
    case OP_ROTATED:
    case OP_MOVED: arange_rotated(s, op, x, &r); break;
    case OP_SPLAT:
        for (uint32_t i = 0; i < r.n; i++) r.at[i] = x->at[0];
        r.lo = x->lo;
        r.hi = x->hi;
        break;
    case OP_EXPAND:
        if (layout_expand(s->f->layouts, op->args[0]->type.layout, op->attr.axis) != v->type.layout)
            bug("expand_dims: the layouts differ");
        r = *x;
        break;
    case OP_PID:
    case OP_NPROG:
        r.at[0].base = simt_program(s, op->attr.axis, op->kind == OP_NPROG);
        r.lo = 0;
        r.hi = INT32_MAX;
        break;
    default: bug("simt_create_op: %s", op_info[op->kind].name);
    }
    s->values[v->id] = r;
}
