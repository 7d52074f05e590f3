/* ir_random.h - random functions of tile IR, made of the samples of ir_sample.h. */
#ifndef IR_RANDOM_H
#define IR_RANDOM_H

#include "ir_sample.h"

/* ---- Random functions -------------------------------------------------------------------------------------------- */

enum { POOL = 4096 };

typedef struct RandomFunc {
    Random *r;
    Sample s;
    Value *pool[POOL]; /* in scope */
    uint32_t n;
} RandomFunc;

static inline void pool_add(RandomFunc *g, Value *v) {
    if (g->n < POOL) g->pool[g->n++] = v;
}

/* Something in scope of this type, now and then a constant with a value that identities like. */
static inline Value *random_operand(RandomFunc *g, Type t) {
    static const double floats[] = {0.0, -0.0, 1, -1, 2, 0.25, HUGE_VAL, -HUGE_VAL, 3};
    static const int64_t ints[] = {0, 1, -1, 2, 7, 63, INT64_MIN, INT64_MAX, 127, -128};
    for (uint32_t tries = 0; tries < 12 && random_below(g->r, 4); tries++) {
        Value *v = g->pool[random_below(g->r, g->n)];
        if (type_equal(v->type, t)) return v;
    }
    if (dtype_kind(t.dtype) != KIND_FLOAT) return build_int(&g->s.b, t, ints[random_below(g->r, COUNT(ints))]);
    if (random_below(g->r, 12) == 0) return build_float(&g->s.b, t, (double)NAN);
    return build_float(&g->s.b, t, floats[random_below(g->r, COUNT(floats))]);
}

/* Types that most ops take, scalar or tile. */
static inline Type random_type(RandomFunc *g, bool is_float, bool scalar) {
    static const DType ints[] = {DT_I8, DT_I16, DT_I32, DT_I64}, floats[] = {DT_FP16, DT_BF16, DT_FP32, DT_FP64};
    DType d = is_float ? floats[random_below(g->r, 4)] : ints[random_below(g->r, 4)];
    return type_tile(d, scalar || random_below(g->r, 2) ? shape_scalar() : g->s.row);
}

static inline void random_cast(RandomFunc *g, bool scalar) {
    bool from_float = random_below(g->r, 2), to_float = random_below(g->r, 2);
    Type from = random_type(g, from_float, scalar), to = type_with_dtype(from, random_type(g, to_float, true).dtype);
    uint32_t a = dtype_bits(from.dtype), c = dtype_bits(to.dtype);
    static const OpKind to_int[] = {OP_FPTOSI, OP_FPTOSIRN, OP_FPTOUI};
    OpKind k = from_float              ? to_int[random_below(g->r, 3)]
               : random_below(g->r, 2) ? OP_SITOFP
                                       : OP_UITOFP;
    if (from_float == to_float && a == c)
        k = OP_BITCAST;
    else if (from_float && to_float)
        k = c > a ? OP_FPEXT : OP_FPTRUNC;
    else if (!from_float && !to_float)
        k = c < a ? OP_TRUNC : random_below(g->r, 2) ? OP_SEXT : OP_ZEXT;
    Value *x = random_operand(g, from);
    Attr attr = {.round = k == OP_FPTRUNC ? (Round)random_below(g->r, 2) : ROUND_NEAREST};
    pool_add(g, op_build(&g->s.b, k, &x, 1, attr, to)->results[0]);
}

static inline void random_choice(RandomFunc *g, bool scalar) {
    static const OpKind bits[] = {OP_AND, OP_OR, OP_XOR};
    bool is_float = random_below(g->r, 2);
    Type t = random_type(g, is_float, scalar);
    Value *x = random_operand(g, t), *y = random_operand(g, t);
    Pred p = (Pred)random_below(g->r, is_float ? 6 : 10);
    Value *c = build_compare(&g->s.b, is_float ? OP_FCMP : OP_ICMP, p, x, y);
    pool_add(g, c);
    if (random_below(g->r, 2)) c = random_operand(g, c->type);
    pool_add(g, build3(&g->s.b, OP_SELECT, c, y, x));
    pool_add(g, build2(&g->s.b, bits[random_below(g->r, COUNT(bits))], c, random_operand(g, c->type)));
}

/* Appends one elementwise op on what is in scope. */
static inline void random_elementwise(RandomFunc *g, bool scalar) {
    static const OpKind floats[] = {OP_FADD, OP_FSUB,    OP_FMUL,    OP_FDIV, OP_FREM, OP_FMAX,
                                    OP_FMIN, OP_FMAXNAN, OP_FMINNAN, OP_FNEG, OP_FABS, OP_FMA,
                                    OP_FDIVRN, OP_FLOOR, OP_CEIL, OP_FTRUNC, OP_RINT};
    static const OpKind ints[] = {OP_ADD, OP_SUB, OP_MUL, OP_UMULHI, OP_SDIV, OP_UDIV, OP_SREM, OP_UREM, OP_AND,
                                  OP_OR,  OP_XOR, OP_SHL, OP_ASHR,   OP_LSHR, OP_SMAX, OP_SMIN, OP_UMAX, OP_UMIN};
    uint32_t which = random_below(g->r, 4);
    if (which == 0) {
        random_cast(g, scalar);
    } else if (which == 1) {
        random_choice(g, scalar);
    } else {
        Type t = random_type(g, which == 2, scalar);
        OpKind k = which == 2 ? floats[random_below(g->r, COUNT(floats))]
                              : ints[random_below(g->r, COUNT(ints))];
        Value *args[] = {random_operand(g, t), random_operand(g, t), random_operand(g, t)};
        if (random_below(g->r, 8) == 0) args[1] = args[0];
        pool_add(g, op_build(&g->s.b, k, args, (uint32_t)op_info[k].nargs, (Attr){0}, t)->results[0]);
    }
    if (random_below(g->r, 5) == 0)
        g->pool[g->n - 1]->name = str_intern0(g->s.f->strings, random_below(g->r, 2) ? "v" : "v_1");
}

static inline void random_block(RandomFunc *g, uint32_t depth);

/* A region filled with ops, ending in what `end` builds. */
static inline void random_region(RandomFunc *g, Block *b, uint32_t depth) {
    Builder outer = g->s.b;
    uint32_t n = g->n;
    g->s.b = builder_at_end(g->s.f, b);
    g->s.b.span = outer.span;
    for (uint32_t i = 0; i < b->args.len; i++) pool_add(g, b->args.at[i]);
    random_block(g, depth + 1);
    Op *owner = b->owner;
    Value *values[4];
    uint32_t count = owner->kind == OP_IF ? owner->nresults : owner->nargs - (owner->kind == OP_FOR ? 3 : 0);
    for (uint32_t i = 0; i < count; i++) values[i] = random_operand(g, owner->results[i]->type);
    if (owner->kind == OP_WHILE && b == owner->regions[0])
        build_condition(&g->s.b, random_operand(g, type_scalar(DT_I1)), values, count);
    else
        build_yield(&g->s.b, values, count);
    g->s.b = outer;
    g->n = n;
}

static inline void random_control(RandomFunc *g, uint32_t depth) {
    Type t = type_scalar(random_below(g->r, 2) ? DT_I32 : DT_I64);
    Value *inits[3], *bounds[3];
    Type types[3];
    uint32_t n = random_below(g->r, 4), which = random_below(g->r, 3);
    for (uint32_t i = 0; i < n; i++) types[i] = (inits[i] = random_operand(g, random_type(g, i & 1, false)))->type;
    for (uint32_t i = 0; i < 3; i++) bounds[i] = random_operand(g, t);
    Op *op;
    if (which == 0)
        op = build_for(&g->s.b, bounds[0], bounds[1], bounds[2], inits, n, (LoopAttr){(int32_t)n, 0, n & 1, false});
    else if (which == 1)
        op = build_while(&g->s.b, inits, n);
    else
        op = build_if(&g->s.b, random_operand(g, type_scalar(DT_I1)), types, n);
    for (uint32_t i = 0; i < op->nregions; i++) random_region(g, op->regions[i], depth);
    for (uint32_t i = 0; i < op->nresults; i++) pool_add(g, op->results[i]);
}

static inline void random_block(RandomFunc *g, uint32_t depth) {
    for (uint32_t i = random_below(g->r, 12); i > 0; i--) {
        if (depth < 3 && random_below(g->r, 6) == 0)
            random_control(g, depth);
        else
            random_elementwise(g, false);
    }
}

static inline Func *random_func(Arena *a, Strings *names, Random *r) {
    RandomFunc g = {.r = r, .s = sample_create(a, names, STAGE_TILE)};
    for (uint32_t i = 0; i < g.s.f->body->args.len; i++) pool_add(&g, g.s.f->body->args.at[i]);
    random_block(&g, 0);
    random_control(&g, 0);
    op_build(&g.s.b, OP_RETURN, NULL, 0, (Attr){0}, g.s.n->type);
    return g.s.f;
}

#endif
