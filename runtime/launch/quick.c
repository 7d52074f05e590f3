/* quick.c - a launch's short way.
 *
 * In: a variant's record, once; then arguments, at every launch. Out: a Call that is checked and ready, or the word
 * that the long way (check.c) is to find out. Method: each rule becomes a short program over the call's integers,
 * constants folded, each parameter a range and a mask of low bits. Whatever overflows, divides by 0 or -1, or is no
 * integer ends the short way, so it need not know how to say what is wrong.
 */
#include "runtime/launch/quick.h"
#include "runtime/base/number.h"
#include "runtime/record/rulecode.h"

#include <stdlib.h>
#include <string.h>

enum { STACK = 16 };

typedef enum QuickResult {
    QUICK_FITS,   /* variant, values and grid are in the Call, everything is checked */
    QUICK_MISFIT, /* an assumption of the variant does not hold: another one may fit */
    QUICK_UNSURE, /* something is wrong, or beyond integers: check.c has the last word */
} QuickResult;

typedef struct QuickOp {
    RuleOp op; /* RULE_NUMBER, RULE_PARAM: value is the number, the slot */
    int64_t value;
} QuickOp;

/* ops[first] … ops[first + count - 1] */
typedef struct Code {
    uint32_t first, count;
} Code;

/* What an argument must be. */
typedef struct QuickSlot {
    fsc_arg_kind kind; /* POINTER, INT, or FLOAT for parameters of floating point, which take integers as well */
    fsc_dtype dtype;
    uint64_t assumed;    /* bits that are 0 in what the variant assumes to be divisible */
    uint64_t natural;    /* pointer: bits that are 0 at an element's beginning */
    int64_t low, high;   /* integer: what the type holds */
    int64_t least, most; /* integer: what the variant assumes */
    uint32_t first_dim, num_dims;
} QuickSlot;

typedef struct QuickTest {
    Code code;
    int64_t value; /* that it must have */
} QuickTest;

struct Quick {
    QuickSlot *slots;
    QuickOp *ops;
    QuickTest *constants; /* the rules of constexpr parameters */
    Code *requires, *dims, *maps, grid[3]; /* dims, maps: extent, stride, extent, … */
    uint32_t num_slots, num_ops, num_constants, num_requires, num_dims, num_grid;
};

/* ---- Evaluation -------------------------------------------------------------------------------------------------- */

static bool divide(RuleOp op, int64_t a, int64_t b, int64_t *out) {
    if (b == 0 || b == -1) return false;
    int64_t q = a / b, r = a % b;
    bool negative = (a < 0) != (b < 0);
    if (op == RULE_CDIV) *out = q + (r != 0 && !negative);
    else if (op == RULE_FLOORDIV) *out = q - (r != 0 && negative);
    else *out = r != 0 && negative ? r + b : r;
    return true;
}

static bool next_power(int64_t a, int64_t *out) {
    if (a > (int64_t)1 << 62) return false;
    *out = a <= 1 ? 1 : (int64_t)1 << (64 - __builtin_clzll((uint64_t)a - 1));
    return true;
}

/* s: the operands; the result goes to s[0]. */
static bool apply(RuleOp op, int64_t *s) {
    switch (op) {
    case RULE_ADD: return !__builtin_add_overflow(s[0], s[1], s);
    case RULE_SUB: return !__builtin_sub_overflow(s[0], s[1], s);
    case RULE_MUL: return !__builtin_mul_overflow(s[0], s[1], s);
    case RULE_FLOORDIV:
    case RULE_MOD:
    case RULE_CDIV: return divide(op, s[0], s[1], s);
    case RULE_NEG: return !__builtin_sub_overflow(0, s[0], s);
    case RULE_LT: return s[0] = s[0] < s[1], true;
    case RULE_LE: return s[0] = s[0] <= s[1], true;
    case RULE_GT: return s[0] = s[0] > s[1], true;
    case RULE_GE: return s[0] = s[0] >= s[1], true;
    case RULE_EQ: return s[0] = s[0] == s[1], true;
    case RULE_NE: return s[0] = s[0] != s[1], true;
    case RULE_AND: return s[0] = s[0] ? s[1] : s[0], true;
    case RULE_OR: return s[0] = s[0] ? s[0] : s[1], true;
    case RULE_NOT: return s[0] = !s[0], true;
    case RULE_SEL: return s[0] = s[0] ? s[1] : s[2], true;
    case RULE_MIN: return s[0] = s[1] < s[0] ? s[1] : s[0], true;
    case RULE_MAX: return s[0] = s[1] > s[0] ? s[1] : s[0], true;
    case RULE_NPOW2: return next_power(s[0], s);
    case RULE_BITS: return rule_dtype_bits(s[0], s);
    default: return false;
    }
}

static bool operand(const Call *c, const Variant *v, const QuickOp *o, int64_t *out) {
    if (o->op == RULE_NUMBER) *out = o->value;
    else if (o->op == RULE_PARAM) *out = c->args[o->value].u.integer;
    /* occupancy(); 0: the driver was not asked yet */
    else *out = atomic_load_explicit(&v->programs_per_sm, memory_order_relaxed);
    return o->op != RULE_OCCUPANCY || *out;
}

static bool run(const Call *c, const Variant *v, Code code, int64_t *out) {
    const QuickOp *o = &v->quick->ops[code.first], *end = o + code.count;
    if (code.count == 1) return operand(c, v, o, out);
    int64_t stack[STACK];
    for (int depth = 0; o < end; o++) {
        int n = o->op < RULE_COUNT ? (int)o->value : 0; /* of an operation: how many it takes */
        bool ok = n ? apply(o->op, stack + depth - n) : operand(c, v, o, stack + depth);
        if (!ok) return false;
        depth += 1 - n;
    }
    *out = stack[0];
    return true;
}

/* ---- A launch ---------------------------------------------------------------------------------------------------- */

static uint64_t float_bits(double x, fsc_dtype t) {
    if (t != FSC_FP32) return number_float_bits(x, t);
    float narrow = (float)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

/* One argument's value as the kernel reads it. */
static QuickResult take(const QuickSlot *s, const fsc_arg *a, uint64_t *bits) {
    if (s->kind == FSC_ARG_POINTER) {
        *bits = (uintptr_t)a->u.pointer;
        if (a->kind != FSC_ARG_POINTER) return QUICK_UNSURE;
        if ((a->dtype != FSC_DTYPE_NONE && a->dtype != s->dtype) || (*bits & s->assumed)) return QUICK_MISFIT;
        return *bits & s->natural ? QUICK_UNSURE : QUICK_FITS;
    }
    if (s->kind == FSC_ARG_FLOAT) {
        *bits = float_bits(a->kind == FSC_ARG_FLOAT ? a->u.real : (double)a->u.integer, s->dtype);
        return a->kind == FSC_ARG_FLOAT || a->kind == FSC_ARG_INT ? QUICK_FITS : QUICK_UNSURE;
    }
    int64_t i = a->u.integer;
    *bits = (uint64_t)i;
    if (a->kind != FSC_ARG_INT || i < s->low || i > s->high) return QUICK_UNSURE;
    return i < s->least || i > s->most || (*bits & s->assumed) ? QUICK_MISFIT : QUICK_FITS;
}

/* Does the buffer hold its contract? As contract_bytes() of check.c. */
static bool holds(const Call *c, const Variant *v, const QuickSlot *s, const fsc_arg *a) {
    const Code *dim = &v->quick->dims[2 * s->first_dim];
    uint64_t last = 0, step = 0;
    bool empty = false;
    for (uint32_t i = 0; i < s->num_dims; i++, dim += 2) {
        int64_t extent, stride;
        if (!run(c, v, dim[0], &extent) || !run(c, v, dim[1], &stride) || extent < 0 || stride < 0) return false;
        empty |= extent == 0;
        if (extent && (__builtin_mul_overflow((uint64_t)(extent - 1), (uint64_t)stride, &step) ||
                       __builtin_add_overflow(last, step, &last)))
            return false;
    }
    if (empty || s->num_dims == 0) return true;
    if (a->bytes == 0 || !a->u.pointer) return a->u.pointer != NULL;
    return !__builtin_add_overflow(last, 1u, &last) &&
           !__builtin_mul_overflow(last, (uint64_t)fsc_dtype_size(s->dtype), &last) && last <= a->bytes;
}

static bool grid_fits(Call *c, const Variant *v, const int64_t *grid) {
    const Quick *q = v->quick;
    if (!grid && q->num_grid == 0) return false;
    for (uint32_t i = 0; i < 3; i++) {
        c->grid[i] = grid ? grid[i] : 1;
        if (!grid && i < q->num_grid && !run(c, v, q->grid[i], &c->grid[i])) return false;
        if (c->grid[i] < 0 || c->grid[i] > (i ? GRID_YZ_MOST : INT32_MAX)) return false;
    }
    return true;
}

static QuickResult take_maps(Call *c, const Variant *v) {
    const Code *box = v->quick->maps;
    for (uint32_t i = 0; i < v->record->num_maps; i++) {
        MapSizes *s = map_begin(c, v, i);
        for (uint32_t k = 0; k < v->record->maps[i].num_boxes; k++, box += 2)
            if (!run(c, v, box[0], &s->extents[k]) || !run(c, v, box[1], &s->strides[k])) return QUICK_UNSURE;
        if (!map_fits(v, i, s, NULL, 0)) return QUICK_MISFIT;
    }
    return QUICK_FITS;
}

static QuickResult try_variant(Call *c, Variant *v, const int64_t *grid) {
    const Quick *q = v->quick;
    if (!q || c->nargs != q->num_slots) return QUICK_UNSURE;
    c->bits = c->small_bits;
    c->pointers = c->small_pointers;
    for (uint32_t i = 0; i < q->num_slots; i++) {
        QuickResult r = take(&q->slots[i], &c->args[i], &c->bits[i]);
        if (r != QUICK_FITS) return r;
        c->pointers[i] = &c->bits[i];
    }
    for (uint32_t i = 0; i < q->num_constants; i++) {
        int64_t value;
        if (!run(c, v, q->constants[i].code, &value)) return QUICK_UNSURE;
        if (value != q->constants[i].value) return QUICK_MISFIT;
    }
    QuickResult maps = take_maps(c, v);
    if (maps != QUICK_FITS) return maps;
    for (uint32_t i = 0; i < q->num_requires; i++) {
        int64_t value;
        if (!run(c, v, q->requires[i], &value) || !value) return QUICK_UNSURE;
    }
    for (uint32_t i = 0; i < q->num_slots; i++)
        if (q->slots[i].num_dims && !holds(c, v, &q->slots[i], &c->args[i])) return QUICK_UNSURE;
    if (!grid_fits(c, v, grid)) return QUICK_UNSURE;
    if (v->record->num_launches && !launch_takes(&v->record->launches[0], c->grid)) return QUICK_MISFIT;
    c->variant = v;
    return QUICK_FITS;
}

bool quick_maps_fit(Call *c, const Variant *v) {
    return !v->quick || take_maps(c, v) == QUICK_FITS;
}

bool call_quick(Call *c, const int64_t *grid, bool (*accept)(void *context, Call *c, const Variant *v), void *context) {
    fsc_device *d = c->kernel->device;
    bool is_watched = atomic_load_explicit(&d->checked, memory_order_relaxed) ||
                      atomic_load_explicit(&d->counted, memory_order_relaxed);
    if (c->nargs > CALL_ARGS || !d->kind->takes_quick || is_watched) return false;
    if (c->variant && try_variant(c, c->variant, grid) == QUICK_FITS && accept(context, c, c->variant)) return true;
    for (size_t i = 0; i < c->table->count; i++) {
        Variant *v = c->table->closest[i];
        QuickResult r = try_variant(c, v, grid);
        if (r == QUICK_UNSURE && !accept) return false; /* else it is one of other types, or no other is accepted */
        if (r == QUICK_FITS && (!accept || accept(context, c, v))) return true;
    }
    return false;
}

/* ---- Making it ready --------------------------------------------------------------------------------------------- */

typedef struct Maker {
    const Variant *v;
    Quick *q;
    uint32_t cap;
} Maker;

static bool put(Maker *m, RuleOp op, int64_t value) {
    if (m->q->num_ops == m->cap) {
        uint32_t cap = m->cap ? 2 * m->cap : 32;
        QuickOp *more = realloc(m->q->ops, cap * sizeof *more);
        if (!more) return false;
        m->q->ops = more;
        m->cap = cap;
    }
    m->q->ops[m->q->num_ops++] = (QuickOp){op, value};
    return true;
}

/* A parameter: a constexpr's integer, or the slot of an argument that is one, or an address. */
static bool put_param(Maker *m, int64_t index) {
    const Variant *v = m->v;
    const RuleBinding *b = &v->constants[index];
    if (v->record->params[index].kind == RECORD_CONSTEXPR)
        return b->known && !b->value.is_float && put(m, RULE_NUMBER, b->value.i);
    for (uint32_t i = 0; i < v->num_slots; i++)
        if (v->slots[i].param == (uint64_t)index) return m->q->slots[i].kind != FSC_ARG_FLOAT && put(m, RULE_PARAM, i);
    return false;
}

static bool put_fact(Maker *m, RuleOp op) {
    const fsc_props *p = &m->v->module->device->props;
    int64_t value = 0;
    switch (op) {
    case RULE_NUM_SMS: value = p->sms; break;
    case RULE_MAX_SHARED: value = p->shared_per_block_optin; break;
    case RULE_NUM_REGS: value = p->registers_per_sm; break;
    case RULE_WARP_SIZE: value = p->warp_size; break;
    default: return m->v->module->device->kind->blocks_per_sm ? put(m, RULE_OCCUPANCY, 0) : put(m, RULE_NUMBER, 1);
    }
    return value && put(m, RULE_NUMBER, value);
}

/* Whether the token's value is a type, or its operands of which is_type tells are what it takes: two types or none. */
static bool takes_types(const Maker *m, const RuleToken *t, bool *is_type) {
    int n = rule_operands(t), types = 0;
    for (int i = 0; i < n; i++) types += is_type[i];
    is_type[0] = n == 0 && (t->op == RULE_PARAM ? m->v->constants[t->value.i].value.is_dtype : t->value.is_dtype);
    return types == 0 ? t->op != RULE_BITS
                      : t->op == RULE_BITS || (types == 2 && (t->op == RULE_EQ || t->op == RULE_NE));
}

/* A well-formed code (record_parse has checked it) as ops. */
static bool make_code(Maker *m, const char *text, Code *out) {
    RuleToken t;
    bool is_type[STACK + 1];
    int depth = 0;
    out->first = m->q->num_ops;
    for (const char *p = text; rule_token(&p, &t);) {
        int n = rule_operands(&t);
        bool ok;
        if (t.op == RULE_NUMBER) ok = !t.value.is_float && put(m, RULE_NUMBER, t.value.i);
        else if (t.op == RULE_PARAM) ok = (uint64_t)t.value.i < m->v->record->num_params && put_param(m, t.value.i);
        else ok = t.op < RULE_COUNT && (n ? put(m, t.op, n) : put_fact(m, t.op));
        depth += 1 - n;
        if (!ok || depth < 1 || depth > STACK || !takes_types(m, &t, &is_type[depth - 1])) return false;
    }
    out->count = m->q->num_ops - out->first;
    return depth == 1 && !is_type[0];
}

static bool low_bits(uint32_t divisible, uint64_t *mask) {
    *mask = divisible ? divisible - 1 : 0;
    return (divisible & (divisible - 1)) == 0;
}

/* The integers of a type, by asking for each power of two. */
static void integer_range(fsc_dtype t, int64_t *low, int64_t *high) {
    bool is_signed = number_int_fits(-1, t);
    *low = is_signed ? INT64_MIN : 0;
    *high = INT64_MAX;
    while (!number_int_fits(*high, t)) *high /= 2;
    while (is_signed && !number_int_fits(*low, t)) *low /= 2;
}

static bool make_slot(Maker *m, uint32_t i) {
    const Slot *from = &m->v->slots[i];
    const RecordParam *p = &m->v->record->params[from->param];
    QuickSlot *s = &m->q->slots[i];
    *s = (QuickSlot){.kind = p->kind == RECORD_POINTER     ? FSC_ARG_POINTER
                             : dtype_is_float(from->dtype) ? FSC_ARG_FLOAT
                                                           : FSC_ARG_INT,
                     .dtype = from->dtype,
                     .least = p->equals_one ? 1
                              : p->least    ? p->least
                                            : INT64_MIN,
                     .most = p->equals_one ? 1
                             : p->most     ? p->most
                                           : INT64_MAX};
    if (from->dtype == FSC_DTYPE_NONE || !low_bits(p->divisible, &s->assumed)) return false;
    if (s->kind == FSC_ARG_INT) integer_range(s->dtype, &s->low, &s->high);
    if (p->equals_one && p->least > 1) return false;
    /* An integer for a parameter of floating point is asked what a variant assumes of it: nothing, in what is quick. */
    if (s->kind == FSC_ARG_FLOAT && (s->assumed || s->least != INT64_MIN || s->most != INT64_MAX)) return false;
    return s->kind != FSC_ARG_POINTER || low_bits(fsc_dtype_size(s->dtype), &s->natural);
}

static bool make_dims(Maker *m, uint32_t i) {
    const RecordParam *p = &m->v->record->params[m->v->slots[i].param];
    Quick *q = m->q;
    q->slots[i].first_dim = q->num_dims;
    for (uint32_t d = 0; d < p->num_dims; d++) {
        Code *to = &q->dims[2 * q->num_dims++];
        if (!make_code(m, p->dims[d].extent, &to[0]) || !make_code(m, p->dims[d].stride, &to[1])) return false;
    }
    q->slots[i].num_dims = p->kind == RECORD_POINTER ? p->num_dims : 0;
    return true;
}

/* As fits_constexpr() of check.c: the user's own choices are not compared. */
static bool make_constant(Maker *m, uint32_t index) {
    const RecordParam *p = &m->v->record->params[index];
    const RuleBinding *b = &m->v->constants[index];
    if (p->kind != RECORD_CONSTEXPR || !p->rule || !b->known || p->origin == RECORD_OPTION ||
        p->origin == RECORD_SIGNATURE || p->origin == RECORD_CONFIG)
        return true;
    QuickTest *t = &m->q->constants[m->q->num_constants++];
    t->value = b->value.i;
    return rule_is_int(b->value) && make_code(m, p->rule, &t->code);
}

/* As fits_compiled() of check.c. */
static bool make_compiled(Maker *m, int i) {
    const Record *r = m->v->record;
    const char *const codes[] = {r->num_warps, r->num_stages, r->num_ctas};
    if (r->compiled[i] < 0 || m->v->module->device->props.kind == FSC_CPU) return true;
    QuickTest *t = &m->q->constants[m->q->num_constants++];
    t->value = r->compiled[i];
    return make_code(m, codes[i], &t->code);
}

static bool make_maps(Maker *m) {
    const Record *r = m->v->record;
    Code *to = m->q->maps;
    for (uint32_t i = 0; i < r->num_maps; i++) {
        const RecordMap *map = &r->maps[i];
        for (uint32_t k = 0; k < map->num_boxes; k++, to += 2)
            if (!make_code(m, map->boxes[k].extent, &to[0]) || !make_code(m, k ? map->boxes[k].stride : "1", &to[1]))
                return false;
    }
    return true;
}

static bool make_all(Maker *m) {
    const Record *r = m->v->record;
    Quick *q = m->q;
    size_t dims = 0;
    for (uint32_t i = 0; i < r->num_params; i++) dims += r->params[i].num_dims;
    q->slots = calloc(m->v->num_slots + 1u, sizeof *q->slots);
    q->constants = calloc(r->num_params + 3u, sizeof *q->constants);
    q->requires = calloc(r->num_requires + 1u, sizeof *q->requires);
    q->dims = calloc(2 * dims + 1, sizeof *q->dims);
    q->maps = calloc(2 * RECORD_BOXES * (size_t)r->num_maps + 1, sizeof *q->maps);
    bool ok = q->slots && q->constants && q->requires && q->dims && q->maps && m->v->num_slots <= CALL_ARGS;
    q->num_slots = ok ? m->v->num_slots : 0;
    for (uint32_t i = 0; ok && i < q->num_slots; i++) ok = make_slot(m, i);
    for (uint32_t i = 0; ok && i < q->num_slots; i++) ok = make_dims(m, i);
    for (uint32_t i = 0; ok && i < r->num_params; i++) ok = make_constant(m, i);
    for (int i = 0; ok && i < 3; i++) ok = make_compiled(m, i);
    if (ok) ok = make_maps(m);
    for (; ok && q->num_requires < r->num_requires; q->num_requires++)
        ok = make_code(m, r->requires[q->num_requires].code, &q->requires[q->num_requires]);
    for (; ok && q->num_grid < r->num_grid; q->num_grid++)
        ok = make_code(m, r->grid[q->num_grid], &q->grid[q->num_grid]);
    return ok;
}

Quick *quick_create(const Variant *v) {
    Maker m = {.v = v, .q = calloc(1, sizeof(Quick))};
    if (m.q && make_all(&m)) return m.q;
    quick_free(m.q);
    return NULL;
}

void quick_free(Quick *q) {
    if (!q) return;
    free(q->slots);
    free(q->ops);
    free(q->constants);
    free(q->requires);
    free(q->dims);
    free(q->maps);
    free(q);
}
