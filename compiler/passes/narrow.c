/* narrow.c - 64-bit index arithmetic back to 32 bits, where ranges prove that nothing can wrap.
 *
 * The front end evaluates what is compared or added to a pointer in 64 bits. Most of it is small: this pass
 *   1. does sums, differences, products and comparisons of sign-extended values in 32 bits, and extends the result;
 *   2. splits an offset `splat(s) + tile`: the 64-bit scalar moves the pointer once, the tile stays 32 bits wide;
 *   3. turns `splat(s) + tile < splat(n)` into `tile < splat(n - s)`, the bound clamped to 32 bits.
 */
#include "passes/passes.h"

typedef struct Narrow {
    Func *f;
    const Facts *facts;
    uint32_t known; /* values that the facts cover */
    bool changed;
} Narrow;

static bool fits32(int64_t lo, int64_t hi) {
    return lo >= INT32_MIN && hi <= INT32_MAX;
}

/* The value as i32, if it is one that was extended; built in front of b where it must be. NULL otherwise. */
static Value *narrowed(Narrow *n, Builder *b, Value *v) {
    Type t = type_with_dtype(v->type, DT_I32);
    int64_t bits;
    if (v->type.dtype != DT_I64) return NULL;
    if (value_const(v, &bits)) return fits32(bits, bits) ? build_int(b, t, bits) : NULL;
    const Op *op = v->def;
    if (!op) return NULL;
    DType from = op->nargs ? op->args[0]->type.dtype : DT_I64;
    if (op->kind == OP_SEXT) return from == DT_I32 ? op->args[0] : dtype_bits(from) < 32 ? build1_to(b, OP_SEXT, op->args[0], t) : NULL;
    if (op->kind == OP_ZEXT && dtype_bits(from) < 32) return build1_to(b, OP_ZEXT, op->args[0], t);
    if (op->kind == OP_SPLAT || op->kind == OP_BROADCAST || op->kind == OP_EXPAND) {
        Value *a = narrowed(n, b, op->args[0]);
        if (!a) return NULL;
        return op->kind == OP_SPLAT       ? build_splat(b, a, v->type.shape)
               : op->kind == OP_BROADCAST ? build_broadcast(b, a, v->type.shape)
                                          : build_expand(b, a, (uint32_t)op->attr.i);
    }
    return NULL;
}

static void replace(Narrow *n, Op *op, Value *with) {
    value_replace(n->f, op->results[0], with);
    op_erase(n->f, op);
    n->changed = true;
}

/* Rule 1, for + - *: only where the result fits as well. */
static void narrow_arithmetic(Narrow *n, Op *op) {
    Value *v = op->results[0];
    if (v->type.dtype != DT_I64 || v->id >= n->known) return;
    const Fact *fact = fact_of(n->facts, v);
    if (!fits32(fact->lo, fact->hi)) return;
    Builder b = builder_before(n->f, op);
    Value *x = narrowed(n, &b, op->args[0]), *y = x ? narrowed(n, &b, op->args[1]) : NULL;
    if (y) replace(n, op, build1_to(&b, OP_SEXT, build2(&b, op->kind, x, y), v->type));
}

/* splat(s) + t with t an extended i32: the two parts. */
static bool split_sum(Narrow *n, Builder *b, const Value *v, Value **scalar, Value **tile) {
    const Op *op = v->def;
    if (!op || op->kind != OP_ADD || !value_is_tile(v) || v->type.dtype != DT_I64) return false;
    for (int side = 0; side < 2; side++) {
        const Op *splat = op->args[side]->def;
        if (!splat || splat->kind != OP_SPLAT) continue;
        *scalar = splat->args[0];
        *tile = narrowed(n, b, op->args[1 - side]);
        if (*tile) return true;
    }
    return false;
}

/* Rule 2. */
static void split_addptr(Narrow *n, Op *op) {
    Builder b = builder_before(n->f, op);
    Value *ptr = op->args[0], *offset = op->args[1], *scalar = NULL, *tile = NULL;
    Shape shape = ptr->type.shape;
    if (!value_is_tile(offset)) return;
    if (split_sum(n, &b, offset, &scalar, &tile)) {
        const Op *splat = ptr->def;
        bool moves = splat && splat->kind == OP_SPLAT;
        Value *base = moves ? build_splat(&b, build2(&b, OP_ADDPTR, splat->args[0], scalar), shape)
                            : build2(&b, OP_ADDPTR, ptr, build_splat(&b, scalar, shape));
        replace(n, op, build2(&b, OP_ADDPTR, base, tile));
        return;
    }
    Value *small = narrowed(n, &b, offset);
    if (small) replace(n, op, build2(&b, OP_ADDPTR, ptr, small));
}

static Pred mirrored(Pred p) {
    switch (p) {
    case PRED_SLT: return PRED_SGT;
    case PRED_SLE: return PRED_SGE;
    case PRED_SGT: return PRED_SLT;
    case PRED_SGE: return PRED_SLE;
    default: return p;
    }
}

/* Rule 3. The tile never takes the clamped bound's extreme values, so a bound beyond 32 bits decides as it should. */
static Value *compare_shifted(Narrow *n, Builder *b, Pred p, const Value *sum, const Value *bound) {
    Value *scalar = NULL, *tile = NULL;
    const Op *splat = bound->def;
    if (!splat || splat->kind != OP_SPLAT || !split_sum(n, b, sum, &scalar, &tile)) return NULL;
    Value *limit = splat->args[0];
    const Value *wide = sum->def->args[0]->def->kind == OP_SPLAT ? sum->def->args[1] : sum->def->args[0];
    if (wide->id >= n->known || scalar->id >= n->known || limit->id >= n->known) return NULL;
    const Fact *t = fact_of(n->facts, wide), *s = fact_of(n->facts, scalar), *l = fact_of(n->facts, limit);
    int64_t lo, hi;
    bool wraps = __builtin_sub_overflow(l->lo, s->hi, &lo) || __builtin_sub_overflow(l->hi, s->lo, &hi);
    if (t->lo <= INT32_MIN || t->hi >= INT32_MAX || wraps) return NULL;
    Type wide_type = type_scalar(DT_I64);
    Value *rest = build2(b, OP_SUB, limit, scalar);
    rest = build2(b, OP_SMAX, rest, build_int(b, wide_type, INT32_MIN));
    rest = build2(b, OP_SMIN, rest, build_int(b, wide_type, INT32_MAX));
    rest = build1_to(b, OP_TRUNC, rest, type_scalar(DT_I32));
    return build_compare(b, OP_ICMP, p, tile, build_splat(b, rest, tile->type.shape));
}

static void narrow_compare(Narrow *n, Op *op) {
    Pred p = (Pred)op->attr.i;
    if (op->args[0]->type.dtype != DT_I64 || p > PRED_SGE) return;
    Builder b = builder_before(n->f, op);
    Value *x = narrowed(n, &b, op->args[0]), *y = x ? narrowed(n, &b, op->args[1]) : NULL;
    Value *with = y ? build_compare(&b, OP_ICMP, p, x, y) : NULL;
    if (!with && value_is_tile(op->args[0])) with = compare_shifted(n, &b, p, op->args[0], op->args[1]);
    if (!with && value_is_tile(op->args[0])) with = compare_shifted(n, &b, mirrored(p), op->args[1], op->args[0]);
    if (with) replace(n, op, with);
}

static void visit(void *context, Op *op) {
    Narrow *n = context;
    switch (op->kind) {
    case OP_ADD: case OP_SUB: case OP_MUL: narrow_arithmetic(n, op); return;
    case OP_ICMP: narrow_compare(n, op); return;
    case OP_ADDPTR: split_addptr(n, op); return;
    default: return;
    }
}

bool pass_narrow(Func *f, PassContext *c) {
    (void)c;
    Arena *scratch = arena_create();
    Narrow n = {.f = f, .known = f->next_value};
    n.facts = facts_compute(f, scratch);
    func_walk(f, visit, &n);
    arena_destroy(scratch);
    return n.changed;
}
