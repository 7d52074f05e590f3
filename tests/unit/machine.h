/* machine.h - tile IR run element by element, random numbers, and random values to build functions from.
 *
 * In: a function at stage TILE and its parameters. Out: every element of every value, in every iteration of its loops.
 * The interpreter knows nothing of passes: op_evaluate per element, structured control flow by recursion. Memory is the
 * test's.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "passes/passes.h"

enum { POOL = 96 };

static Arena *arena; /* of the test: functions and their text */

/* ---- Random numbers ---------------------------------------------------------------------------------------------- */

typedef struct Random {
    uint64_t state;
} Random;

static inline uint64_t random_bits(Random *r) { /* splitmix64 */
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint32_t random_below(Random *r, uint32_t n) {
    return (uint32_t)(random_bits(r) % n);
}

/* Small, round, or at the ends of 32 and 64 bits: where rules go wrong. */
static inline int64_t random_number(Random *r) {
    int64_t near = (int64_t)random_below(r, 9) - 4;
    switch (random_below(r, 7)) {
    case 0: return near;
    case 1: return (int64_t)(UINT64_C(1) << random_below(r, 31)) + near;
    case 2: return INT32_MAX - (int64_t)random_below(r, 70);
    case 3: return INT32_MIN + (int64_t)random_below(r, 70);
    case 4: return 16 * near;
    case 5: return (int64_t)random_bits(r);
    default: return (int64_t)random_below(r, 2000) - 1000;
    }
}

static inline uint32_t elements_of(Type t) {
    return t.shape.rank ? (uint32_t)shape_elements(t.shape) : 1;
}

static inline int64_t unit_of(Type t) {
    return t.dtype == DT_PTR ? type_bytes(type_scalar(t.pointee)) : 1;
}

static inline int64_t wrapped(Type t, uint64_t x) {
    return t.dtype == DT_PTR ? (int64_t)x : int_wrap(t.dtype, (int64_t)x);
}

/* ---- The interpreter --------------------------------------------------------------------------------------------- */

typedef struct Machine {
    const Func *f;
    Arena *scratch;
    int64_t **of; /* by value id: its elements */
    int64_t pid;
    /* Called for every value that is set, in every iteration; may be NULL. */
    void (*seen)(const struct Machine *m, const Value *v, const int64_t *elements);
    /* Loads (which set their result) and stores; NULL: there are none. */
    void (*access)(struct Machine *m, const Op *op);
    void *context;
} Machine;

static inline Machine machine_create(const Func *f, Arena *scratch) {
    Machine m = {.f = f, .scratch = scratch};
    m.of = NEW_ARRAY(scratch, int64_t *, f->next_value + 1);
    return m;
}

static inline void set_value(Machine *m, const Value *v, const int64_t *elements) {
    m->of[v->id] = NEW_ARRAY(m->scratch, int64_t, elements_of(v->type));
    memcpy(m->of[v->id], elements, elements_of(v->type) * sizeof *elements);
    if (m->seen) m->seen(m, v, elements);
}

static inline int64_t element(const Machine *m, const Value *v, uint32_t flat) {
    return m->of[v->id][v->type.shape.rank ? flat : 0];
}

static inline bool is_move(OpKind k) {
    return k == OP_RESHAPE || k == OP_TRANS || k == OP_JOIN || k == OP_SPLIT;
}

/* Where the element `flat` of the result comes from: its index in the operand, by coordinates. */
static inline uint32_t moved_from(const Op *op, uint32_t flat, const Value **from) {
    uint32_t coords[SHAPE_RANK] = {0};
    Shape to = op->results[0]->type.shape;
    *from = op->args[op->kind == OP_JOIN ? flat % 2 : 0];
    if (op->kind == OP_JOIN) return flat / 2;
    if (op->kind == OP_SPLIT) return 2 * flat + op->attr.half;
    for (uint32_t d = 0; d < to.rank && op->kind == OP_TRANS; d++)
        coords[op->attr.perm >> (4 * d) & 15] = shape_coord(to, flat, d);
    return op->kind == OP_TRANS ? shape_flat((*from)->type.shape, coords) : flat;
}

/* The element's index in the operand of gather; `s` is the operand's shape, `index` wraps. */
static inline uint32_t gathered_from(Shape to, Shape s, uint32_t axis, uint32_t flat, int64_t index) {
    uint32_t coords[SHAPE_RANK] = {0};
    for (uint32_t d = 0; d < to.rank; d++) coords[d] = shape_coord(to, flat, d);
    coords[axis] = (uint32_t)((uint64_t)index % shape_size(s, axis));
    return shape_flat(s, coords);
}

static inline int64_t compute(const Machine *m, const Op *op, uint32_t flat) {
    Type t = op->results[0]->type;
    int64_t args[3] = {0}, r = 0;
    const Value *x = op->nargs ? op->args[0] : NULL;
    switch (op->kind) {
    case OP_CONST: return op->attr.bits;
    case OP_ARANGE: return op->attr.start + flat;
    case OP_ROTATED: return op->attr.start + ((flat - element(m, x, 0)) & (op->attr.end - op->attr.start - 1));
    case OP_MOVED: return op->attr.start + flat - element(m, x, 0);
    case OP_PID: return m->pid;
    case OP_NPROG: return INT32_MAX;
    case OP_SPLAT: return element(m, x, 0);
    case OP_EXPAND: return element(m, x, flat);
    case OP_BROADCAST: return element(m, x, shape_project(t.shape, x->type.shape, flat));
    case OP_ADDPTR:
        return (int64_t)((uint64_t)element(m, x, flat) +
                         (uint64_t)element(m, op->args[1], flat) * (uint64_t)unit_of(t));
    case OP_RESHAPE:
    case OP_TRANS:
    case OP_JOIN:
    case OP_SPLIT: {
        const Value *from;
        uint32_t at = moved_from(op, flat, &from);
        return element(m, from, at);
    }
    case OP_FLIP: return element(m, x, flat ^ op->attr.flip);
    case OP_GATHER: {
        uint32_t at = gathered_from(t.shape, x->type.shape, op->attr.axis, flat, element(m, op->args[1], flat));
        return element(m, x, at);
    }
    default: break;
    }
    for (uint32_t i = 0; i < op->nargs; i++) args[i] = element(m, op->args[i], flat);
    if (!op_evaluate(op, args, &r)) fail_msg("%s has no value", op_info[op->kind].name);
    return r;
}

static inline int64_t reduced(const Machine *m, const Op *op, uint32_t flat) {
    Shape s = op->args[0]->type.shape;
    uint32_t axis = op->attr.axis, low = shape_offset(s, axis);
    uint32_t base = (flat & ((1u << low) - 1)) | (flat >> low) << (low + s.log2[axis]);
    int64_t sum = element(m, op->args[0], base);
    Op step = {.kind = op->attr.combine,
               .results = op->results,
               .args = (Value *[]){op->results[0], op->results[0]},
               .nargs = 2,
               .nresults = 1};
    for (uint32_t i = 1; i < shape_size(s, axis); i++) {
        int64_t pair[2] = {sum, element(m, op->args[0], base + (i << low))};
        assert_true(op_evaluate(&step, pair, &sum));
    }
    return sum;
}

static inline void run_block(Machine *m, const Block *b);

/* so_far becomes it and the elements x through the region, n values of each. */
static inline void run_region(Machine *m, const Block *region, int64_t *so_far, const int64_t *x, uint32_t n) {
    for (uint32_t i = 0; i < 2 * n; i++) set_value(m, region->args.at[i], i < n ? &so_far[i] : &x[i - n]);
    run_block(m, region);
    for (uint32_t i = 0; i < n; i++) so_far[i] = element(m, region->last->args[i], 0);
}

/* reduce_fn and scan of stage TILE: one element after another. */
static inline void run_combine(Machine *m, const Op *op) {
    Shape s = op->args[0]->type.shape;
    uint32_t axis = op->attr.axis, low = shape_offset(s, axis), size = (uint32_t)shape_size(s, axis), n = op->nargs;
    uint32_t lines = (uint32_t)shape_elements(s) / size;
    int64_t **r = NEW_ARRAY(m->scratch, int64_t *, n), *sum = NEW_ARRAY(m->scratch, int64_t, n),
            *x = NEW_ARRAY(m->scratch, int64_t, n);
    for (uint32_t k = 0; k < n; k++) r[k] = NEW_ARRAY(m->scratch, int64_t, lines * size);
    for (uint32_t line = 0; line < lines; line++) {
        uint32_t base = (line & ((1u << low) - 1)) | (line >> low) << (low + s.log2[axis]);
        for (uint32_t i = 0; i < size; i++) {
            uint32_t flat = base + ((op->attr.flags & COMBINE_REVERSE ? size - 1 - i : i) << low);
            for (uint32_t k = 0; k < n; k++) (i ? x : sum)[k] = element(m, op->args[k], flat);
            if (i) run_region(m, op->regions[0], sum, x, n);
            for (uint32_t k = 0; k < n; k++) r[k][op->kind == OP_SCAN ? flat : line] = sum[k];
        }
    }
    for (uint32_t k = 0; k < n; k++) set_value(m, op->results[k], r[k]);
}

static inline void pass_on(Machine *m, Value *const *to, Value *const *from, uint32_t n) {
    int64_t **elements = NEW_ARRAY(m->scratch, int64_t *, n + 1);
    for (uint32_t i = 0; i < n; i++) elements[i] = m->of[from[i]->id];
    for (uint32_t i = 0; i < n; i++) set_value(m, to[i], elements[i]);
}

static inline void run_for(Machine *m, const Op *op) {
    const Block *body = op->regions[0];
    int64_t iv = element(m, op->args[0], 0), hi = element(m, op->args[1], 0), step = element(m, op->args[2], 0);
    pass_on(m, body->args.at + 1, op->args + 3, op->nresults);
    for (int trip = 0; trip < 200 && (step > 0 ? iv < hi : iv > hi); trip++) {
        set_value(m, body->args.at[0], &iv);
        run_block(m, body);
        pass_on(m, body->args.at + 1, body->last->args, op->nresults);
        iv = int_wrap(op->args[0]->type.dtype, (int64_t)((uint64_t)iv + (uint64_t)step));
    }
    pass_on(m, op->results, body->args.at + 1, op->nresults);
}

static inline void run_while(Machine *m, const Op *op) {
    const Block *test = op->regions[0], *body = op->regions[1];
    pass_on(m, test->args.at, op->args, op->nargs);
    for (int trip = 0; trip < 200; trip++) {
        run_block(m, test);
        pass_on(m, op->results, test->last->args + 1, op->nresults);
        if (!element(m, test->last->args[0], 0)) return;
        pass_on(m, body->args.at, test->last->args + 1, op->nresults);
        run_block(m, body);
        pass_on(m, test->args.at, body->last->args, op->nargs);
    }
}

static inline void run_op(Machine *m, const Op *op) {
    if (op->kind == OP_LOAD || op->kind == OP_STORE) {
        if (m->access) m->access(m, op);
        return;
    }
    if (op->kind == OP_FOR) run_for(m, op);
    if (op->kind == OP_WHILE) run_while(m, op);
    if (op_is_combine(op->kind)) run_combine(m, op);
    if (op->kind == OP_IF) {
        const Block *arm = op->regions[element(m, op->args[0], 0) ? 0 : 1];
        run_block(m, arm);
        pass_on(m, op->results, arm->last->args, op->nresults);
    }
    if (op->nresults != 1 || op->nregions) return;
    uint32_t n = elements_of(op->results[0]->type);
    int64_t *r = NEW_ARRAY(m->scratch, int64_t, n);
    for (uint32_t i = 0; i < n; i++) r[i] = op->kind == OP_REDUCE ? reduced(m, op, i) : compute(m, op, i);
    set_value(m, op->results[0], r);
}

static inline void run_block(Machine *m, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) run_op(m, op);
}

/* A value for parameter i that keeps its promises. `small`: for loops that should end soon. */
static inline int64_t random_argument(Random *r, const Func *f, uint32_t i, bool small) {
    const Value *v = f->body->args.at[i];
    int64_t x = small && v->type.dtype != DT_PTR ? (int64_t)random_below(r, 300) - 20 : random_number(r);
    const Param *p = &f->params.at[i];
    x = wrapped(v->type, (uint64_t)x - (uint64_t)x % p->divisible);
    if (p->most) { /* multiples of what divides it: Param's maker sees to that */
        uint32_t steps = (p->most - p->least) / p->divisible;
        return p->least + (int64_t)p->divisible * random_below(r, steps + 1);
    }
    return f->params.at[i].is_nonnegative && x < 0 ? 0 : x;
}

/* ---- Random expressions ------------------------------------------------------------------------------------------ */

typedef struct Maker {
    Random *r;
    Builder b;
    Shape shape;
    Value *pool[POOL];
    uint32_t n;
} Maker;

static inline void keep(Maker *k, Value *v) {
    if (k->n < POOL) k->pool[k->n++] = v;
}

/* A value of this element type, tile or scalar, or NULL after a few tries. */
static inline Value *pick(Maker *k, DType d, bool is_tile) {
    for (int i = 0; i < 60; i++) {
        Value *v = k->pool[random_below(k->r, k->n)];
        if (v->type.dtype == d && value_is_tile(v) == is_tile && (!is_tile || shape_equal(v->type.shape, k->shape)))
            return v;
    }
    return NULL;
}

/* arange along one axis of the tile. */
static inline Value *random_arange(Maker *k) {
    uint32_t axis = random_below(k->r, k->shape.rank);
    int64_t size = (int64_t)shape_size(k->shape, axis), start = int_wrap(DT_I32, random_number(k->r));
    if (start > INT32_MAX - size + 1) start = INT32_MAX - size + 1;
    Value *v = build_arange(&k->b, start, start + size);
    for (uint32_t d = 0; d < k->shape.rank; d++)
        if (d != axis) v = build_expand(&k->b, v, d);
    return shape_equal(v->type.shape, k->shape) ? v : build_broadcast(&k->b, v, k->shape);
}

static inline Type type_of(const Maker *k, DType d, bool is_tile) {
    return is_tile ? type_tile(d, k->shape) : type_scalar(d);
}

static inline Value *random_const(Maker *k, DType d, bool is_tile) {
    int64_t x = random_below(k->r, 2) ? INT64_C(1) << random_below(k->r, 8) : random_number(k->r);
    return build_int(&k->b, type_of(k, d, is_tile), x);
}

static inline Value *random_binary(Maker *k, DType d, bool is_tile) {
    static const OpKind kinds[] = {OP_ADD, OP_ADD, OP_SUB, OP_MUL,  OP_SDIV, OP_UDIV, OP_SREM, OP_UREM, OP_AND,
                                   OP_OR,  OP_XOR, OP_SHL, OP_ASHR, OP_LSHR, OP_SMAX, OP_SMIN, OP_UMAX, OP_UMIN};
    Value *x = pick(k, d, is_tile), *y = random_below(k->r, 3) ? pick(k, d, is_tile) : random_const(k, d, is_tile);
    return x && y ? build2(&k->b, kinds[random_below(k->r, COUNT(kinds))], x, y) : NULL;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static inline Func *read_text(const char *text) {
    Diag *d = diag_create(arena, 0);
    Func *f = func_read(arena, strings_create(arena), d, diag_add_source(d, "text", text, strlen(text)));
    Text errors = {0};
    diag_print(d, &errors, false);
    if (!f) fail_msg("%s", errors.at);
    text_free(&errors);
    return f;
}

#endif
