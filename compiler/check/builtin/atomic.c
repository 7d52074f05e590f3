/* atomic.c - atomic_add and its kin, atomic_cas.
 *
 * In: a bound Call. Out: what was in memory before, of the pointer's shape; 0 where masked off.
 * Method: the value converts to the pointer's element type, as a store's does. Maxima and minima of floats are those of
 * their bits: as signed integers where the value is positive, as unsigned ones, the other way round, where it is
 * negative.
 */
#include "check/builtin/builtin.h"

/* What the language's names do, per class of element type; ATOMIC_COUNT: not for it. */
typedef struct AtomicRow {
    AtomicOp of_signed, of_unsigned, of_float;
} AtomicRow;

static const AtomicRow rows[] = {
    [ATOMIC_ADD] = {ATOMIC_ADD, ATOMIC_ADD, ATOMIC_FADD},    [ATOMIC_SMAX] = {ATOMIC_SMAX, ATOMIC_UMAX, ATOMIC_SMAX},
    [ATOMIC_SMIN] = {ATOMIC_SMIN, ATOMIC_UMIN, ATOMIC_SMIN}, [ATOMIC_AND] = {ATOMIC_AND, ATOMIC_AND, ATOMIC_COUNT},
    [ATOMIC_OR] = {ATOMIC_OR, ATOMIC_OR, ATOMIC_COUNT},      [ATOMIC_XOR] = {ATOMIC_XOR, ATOMIC_XOR, ATOMIC_COUNT},
    [ATOMIC_XCHG] = {ATOMIC_XCHG, ATOMIC_XCHG, ATOMIC_XCHG},
};

static const Word orders[] = {{"acq_rel", ORDER_ACQ_REL}, {"relaxed", ORDER_RELAXED}, {"acquire", ORDER_ACQUIRE},
                              {"release", ORDER_RELEASE}, {NULL, 0}};
static const Word reaches[] = {{"gpu", REACH_GPU}, {"cta", REACH_CTA}, {"sys", REACH_SYS}, {NULL, 0}};

static bool read_order(Checker *c, Call *call, uint32_t sem, uint32_t scope, MemAttr *mem) {
    bool ok = word_argument(c, call, sem, E_MEMORY_OPTION, "sem", orders, &mem->order);
    return word_argument(c, call, scope, E_MEMORY_OPTION, "scope", reaches, &mem->reach) && ok;
}

/* `values` of the call, each to be put in memory of the pointer's type, and the mask. */
static bool read_values(Checker *c, Call *call, uint32_t values, uint32_t mask_at, const Sem **out, Value **mask) {
    const Sem *p = call->arg[0];
    if (!check_pointer(c, call)) return false;
    if (p->is_const) {
        diag(c->d, call->at[0], E_CONST_ATOMIC, call->builtin->name);
        return false;
    }
    for (uint32_t i = 0; i < values; i++) {
        out[i] = to_memory(c, call->arg[1 + i], p->type, call->at[1 + i]);
        if (!sem_is_error(out[i])) out[i] = fit_pointer(c, call, 1 + i, out[i]);
        if (sem_is_error(out[i])) return false;
    }
    return read_mask(c, call, mask_at, mask);
}

static const Sem *not_for(Checker *c, Call *call, const char *types) {
    diag(c->d, call->at[0], E_ATOMIC_TYPE, call->builtin->name, stype_name(call->arg[0]->type));
    diag_note(c->d, call->at[0], "it is compiled for %s", types);
    return &sem_error;
}

static Value *and_values(Checker *c, Value *x, Value *y) {
    if (!x) return y;
    if (!value_is_tile(x) && value_is_tile(y)) x = build_splat(&c->b, x, y->type.shape);
    return build2(&c->b, OP_AND, x, y);
}

/* A float x is below y where their bits are, as signed integers, if x or y is positive; else the other way round. */
static const Sem *float_minmax(Checker *c, Call *call, const Sem *value, Value *mask, MemAttr mem) {
    const Sem *p = call->arg[0];
    SType t = p->type, bits = stype_bits(t) == 64 ? ST_I64 : ST_I32;
    const Sem *words = bitcast_to(c, p, bits, true, call->span), *x = bitcast_to(c, value, bits, false, call->span);
    Value *zero = build_int(&c->b, x->v->type, 0), *ones = build_int(&c->b, type_with_dtype(x->v->type, DT_I1), 1);
    Value *negative = build_compare(&c->b, OP_ICMP, PRED_SLT, x->v, zero),
          *positive = build2(&c->b, OP_XOR, negative, ones);
    bool is_max = mem.atomic == ATOMIC_SMAX;
    Value *up = build_atomic(&c->b, words->v, x->v, and_values(c, mask, positive), mem);
    mem.atomic = is_max ? ATOMIC_UMIN : ATOMIC_UMAX;
    mem.site = add_site(c, call->span);
    Value *down = build_atomic(&c->b, words->v, x->v, and_values(c, mask, negative), mem);
    return bitcast_to(c, sem_run(c, bits, build3(&c->b, OP_SELECT, negative, down, up), NULL), t, false, call->span);
}

const Sem *builtin_atomic(Checker *c, Call *call) {
    MemAttr mem = {0};
    Value *mask = NULL;
    const Sem *value;
    if (!read_values(c, call, 1, 2, &value, &mask) || !read_order(c, call, 3, 4, &mem)) return &sem_error;
    SType t = call->arg[0]->type;
    const AtomicRow *row = &rows[call->builtin->aux];
    bool is_float = stype_is_float(t), is_wide = stype_bits(t) >= 32;
    AtomicOp op = is_float ? row->of_float : stype_is_unsigned(t) ? row->of_unsigned : row->of_signed;
    if (op == ATOMIC_COUNT) return not_for(c, call, "i32, u32, i64, u64");
    if (op == ATOMIC_FADD && stype_bits(t) < 16) return not_for(c, call, "i32, u32, i64, u64, fp16, bf16, fp32, fp64");
    if (op != ATOMIC_FADD && !is_wide) return not_for(c, call, "i32, u32, i64, u64, fp32, fp64");
    mem.atomic = (uint8_t)op;
    mem.site = add_site(c, call->span);
    c->b.span = call->span;
    if (is_float && op != ATOMIC_FADD && op != ATOMIC_XCHG) return float_minmax(c, call, value, mask, mem);
    return sem_run(c, t, build_atomic(&c->b, call->arg[0]->v, value->v, mask, mem), NULL);
}

const Sem *builtin_atomic_cas(Checker *c, Call *call) {
    MemAttr mem = {0};
    Value *mask = NULL;
    const Sem *values[2];
    if (!read_values(c, call, 2, 5, values, &mask) || !read_order(c, call, 3, 4, &mem)) return &sem_error;
    SType t = call->arg[0]->type;
    if (stype_bits(t) < 16) return not_for(c, call, "types of 16, 32 and 64 bits");
    mem.site = add_site(c, call->span);
    c->b.span = call->span;
    return sem_run(c, t, build_atomic_cas(&c->b, call->arg[0]->v, values[0]->v, values[1]->v, mask, mem), NULL);
}
