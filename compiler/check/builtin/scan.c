/* scan.c - reduce and associative_scan with any combine function; cumsum, cumprod; where the maximum is.
 *
 * In: a bound Call. Out: a Sem, or a tuple of them where the input is one.
 * Method: the combine function is run once, on scalars, into the region of a reduce_fn or scan; what the library itself
 * combines by is built there as ops. Elements keep their order along the axis,
 * so the first of equal ones is on the left.
 */
#include "check/builtin/builtin.h"

typedef struct Tiles { /* of one shape */
    const Sem **at;
    uint32_t n;
    bool is_tuple;
} Tiles;

/* ---- The combine function ---------------------------------------------------------------------------------------- */

static bool is_scalar_code(const Block *b, Span *where) {
    for (const Op *op = b->first; op; op = op->next) {
        Effect e = op_info[op->kind].effect;
        *where = op->span;
        if (e != EFFECT_PURE && e != EFFECT_CONTROL) return false;
        for (uint32_t i = 0; i < op->nresults; i++)
            if (value_is_tile(op->results[i])) return false;
        for (uint32_t i = 0; i < op->nargs; i++)
            if (value_is_tile(op->args[i])) return false;
        for (uint32_t i = 0; i < op->nregions; i++)
            if (!is_scalar_code(op->regions[i], where)) return false;
    }
    return true;
}

/* The i-th value that the function returned, in the type of the tile's elements. */
static Value *combined(Checker *c, const Sem *s, const Sem *like, const Sem *fn, Span at) {
    if (sem_is_error(s)) return NULL;
    if (sem_is_number(s) && number_fits(s, like->type)) return const_value(c, s, like->type, shape_scalar());
    if (s->kind == SEM_RUN && !s->is_pointer && !sem_is_tile(s) && s->type == like->type) return s->v;
    diag(c->d, at, E_COMBINE_TYPE, fn->fn->name, type_text(c, like->type, false, shape_scalar()), sem_type_text(c, s));
    diag_note(c->d, fn->fn->span, "convert what it returns to the element's type, as in x.to(a.dtype)");
    return NULL;
}

bool function_takes(const Node *fn, uint32_t count) {
    uint32_t least = 0;
    for (uint32_t i = 0; i < fn->list.len; i++) {
        if (fn->list.at[i]->op) return true; /* *args */
        least += !fn->list.at[i]->b;
    }
    return least <= count && count <= fn->list.len;
}

/* Two arguments a tile, for `name`. */
static bool takes_pairs(Checker *c, const Tiles *t, const Sem *fn, const char *name, Span at) {
    uint32_t n = fn->fn->list.len;
    if (function_takes(fn->fn, 2 * t->n)) return true;
    diag(c->d, at, E_COMBINE_ARGUMENTS, fn->fn->name, n, n == 1 ? "" : "s", name, t->n, t->n == 1 ? "" : "s", 2 * t->n);
    diag_note(c->d, fn->fn->span,
              "it is defined here; what comes first stands before what comes later, as in (a0, b0, a1, b1)");
    return false;
}

/* The function into the region; false after an error. */
static bool fill_region(Checker *c, Op *op, const Tiles *t, const Sem *fn, const char *name, Span at) {
    Block *region = op->regions[0];
    Builder saved = c->b;
    Span where = at;
    bool ok = true;
    const Sem **args = NEW_ARRAY(c->a, const Sem *, 2 * t->n);
    Value **out = NEW_ARRAY(c->a, Value *, t->n);
    c->b = builder_at_end(c->f, region);
    c->b.span = at;
    if (!takes_pairs(c, t, fn, name, at)) return false;
    for (uint32_t i = 0; i < 2 * t->n; i++) args[i] = sem_run(c, t->at[i % t->n]->type, region->args.at[i], NULL);
    bool outside = c->combines;
    c->combines = true;
    const Sem *r = call_function(c, fn, args, 2 * t->n, at);
    c->combines = outside;
    bool is_tuple = r->kind == SEM_TUPLE;
    if (!sem_is_error(r) && (is_tuple ? r->count : 1) != t->n) {
        diag(c->d, at, E_COMBINE_COUNT, fn->fn->name, t->n, t->n == 1 ? "" : "s", sem_type_text(c, r));
        diag_note(c->d, fn->fn->span, "it takes %u arguments, those that come first before those that come later, and "
                  "returns %u", 2 * t->n, t->n);
        r = &sem_error;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        out[i] = sem_is_error(r) ? NULL : combined(c, is_tuple ? r->items[i] : r, t->at[i], fn, at);
        ok &= out[i] != NULL;
        if (!out[i]) out[i] = region->args.at[i];
    }
    c->b.span = at;
    build_yield(&c->b, out, t->n);
    c->b = saved;
    prune_unused(c->f, region); /* tiles whose type alone was asked for */
    if (!ok || is_scalar_code(region, &where)) return ok;
    diag(c->d, where, E_COMBINE_MEMORY);
    diag_note(c->d, at, "'%s' is the combine function here", fn->fn->name);
    return false;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

/* Where the first and the i-th come from, of a tuple that the call spells out. */
static void note_items(Checker *c, const Call *call, const Tiles *t, uint32_t i) {
    const Node *n = call->node->list.len && !call->is_method ? call->node->list.at[0] : NULL;
    if (!n || n->kind != NODE_TUPLE || n->list.len != t->n) return;
    Operands o = {(Span[]){n->list.at[0]->span, n->list.at[i]->span}, (const Sem *[]){t->at[0], t->at[i]}, 2, NULL,
                  NULL};
    note_origins(c, 0, &o);
}

static bool read_tiles(Checker *c, Call *call, Tiles *t) {
    const Sem *x = call->arg[0];
    t->is_tuple = x->kind == SEM_TUPLE;
    t->n = t->is_tuple ? x->count : 1;
    t->at = NEW_ARRAY(c->a, const Sem *, t->n + 1);
    if (!t->n) diag(c->d, call->at[0], E_TAKES_SOME_TILE, call->builtin->name);
    for (uint32_t i = 0; i < t->n; i++) {
        const Sem *s = t->is_tuple ? x->items[i] : x;
        if (sem_is_error(s)) return false;
        if (!sem_is_tile(s) || s->is_pointer) {
            diag(c->d, call->at[0], E_TAKES_TILES, call->builtin->name, sem_type_text(c, s));
            return false;
        }
        t->at[i] = s;
        if (shape_equal(sem_shape(s), sem_shape(t->at[0]))) continue;
        diag(c->d, call->at[0], E_ONE_SHAPE, call->builtin->name, sem_type_text(c, t->at[0]), sem_type_text(c, s));
        note_items(c, call, t, i);
        return false;
    }
    return t->n > 0;
}

static bool read_function(Checker *c, Call *call, uint32_t arg) {
    const Sem *fn = call->arg[arg];
    if (fn->kind == SEM_FUNCTION) return true;
    if (!sem_is_error(fn)) {
        diag(c->d, call->at[arg], E_COMBINE_FUNCTION, sem_type_text(c, fn));
        diag_note(c->d, call->at[arg], "define it in the file, under @jit");
    }
    return false;
}

static Op *build_over(Checker *c, OpKind k, const Tiles *t, int64_t axis, uint32_t flags) {
    Value **args = NEW_ARRAY(c->a, Value *, t->n);
    for (uint32_t i = 0; i < t->n; i++) args[i] = t->at[i]->v;
    return build_combine(&c->b, k, args, t->n, (Attr){.axis = (uint32_t)axis, .flags = flags}, NULL);
}

/* Results of op typed as the tiles. */
static Tiles results_of(Checker *c, const Tiles *t, const Op *op) {
    Tiles r = {NEW_ARRAY(c->a, const Sem *, t->n), t->n, t->is_tuple};
    for (uint32_t i = 0; i < t->n; i++) r.at[i] = sem_run(c, t->at[i]->type, op->results[i], NULL);
    return r;
}

static const Sem *as_sem(Checker *c, const Tiles *t) {
    return t->is_tuple ? sem_tuple(c, t->at, t->n) : t->at[0];
}

/* ---- reduce, associative_scan ------------------------------------------------------------------------------------ */

const Sem *builtin_reduce(Checker *c, Call *call) {
    Tiles t;
    int64_t axis;
    bool keep = call_flag(call, 3, false);
    if (!read_tiles(c, call, &t) || !read_reduced_axis(c, call, 1, t.at[0], &axis) || !read_function(c, call, 2))
        return &sem_error;
    Shape from = sem_shape(t.at[0]);
    int64_t first = axis == ALL_AXES ? from.rank - 1 : axis, last = axis == ALL_AXES ? 0 : axis;
    for (int64_t a = first; a >= last; a--) {
        Op *op = build_over(c, OP_REDUCEFN, &t, a, 0);
        if (!fill_region(c, op, &t, call->arg[2], call->builtin->name, call->at[2])) return &sem_error;
        t = results_of(c, &t, op);
    }
    for (uint32_t i = 0; keep && i < t.n; i++) t.at[i] = restore_axes(c, t.at[i], axis, from);
    return as_sem(c, &t);
}

const Sem *builtin_associative_scan(Checker *c, Call *call) {
    Tiles t;
    int64_t axis;
    bool reverse = call_flag(call, 3, false);
    if (!read_tiles(c, call, &t) || !read_reduced_axis(c, call, 1, t.at[0], &axis) || !read_function(c, call, 2))
        return &sem_error;
    Op *op = build_over(c, OP_SCAN, &t, axis, reverse ? COMBINE_REVERSE : 0);
    if (!fill_region(c, op, &t, call->arg[2], call->builtin->name, call->at[2])) return &sem_error;
    t = results_of(c, &t, op);
    return as_sem(c, &t);
}

/* ---- cumsum, cumprod --------------------------------------------------------------------------------------------- */

static void yield_op(Checker *c, const Op *op, OpKind k) {
    Builder b = builder_at_end(c->f, op->regions[0]);
    b.span = c->b.span;
    Value *v = build2(&b, k, op->regions[0]->args.at[0], op->regions[0]->args.at[1]);
    build_yield(&b, &v, 1);
}

const Sem *builtin_cumsum(Checker *c, Call *call) {
    Tiles t;
    int64_t axis = 0;
    bool reverse = call_flag(call, 2, false), product = call->builtin->aux == 1;
    if (!read_tiles(c, call, &t)) return &sem_error;
    if (t.is_tuple) {
        diag(c->d, call->at[0], E_TAKES_ONE_TILE, call->builtin->name, sem_type_text(c, call->arg[0]));
        return &sem_error;
    }
    if (call->arg[1] && !read_reduced_axis(c, call, 1, t.at[0], &axis)) return &sem_error;
    const Sem *dtype = result_type(call, 3);
    SType type = dtype ? dtype->type : sum_type(c, t.at[0]->type);
    bool is_float = stype_is_float(type);
    t.at[0] = convert_to(c, t.at[0], is_float && stype_bits(type) < 32 ? ST_FP32 : type, call->span);
    c->b.span = call->span;
    Op *op = build_over(c, OP_SCAN, &t, axis, reverse ? COMBINE_REVERSE : 0);
    OpKind times = is_float ? OP_FMUL : type == ST_I1 ? OP_AND : OP_MUL;
    yield_op(c, op, product ? times : sum_op(c, type));
    t = results_of(c, &t, op);
    return convert_to(c, t.at[0], type, call->span);
}

/* ---- max and min with their index -------------------------------------------------------------------------------- */

/* The row-major index of each element: along one axis, or of the whole tile. */
static Value *index_tile(Checker *c, Shape s, int64_t axis) {
    Builder *b = &c->b;
    Value *sum = NULL;
    for (uint32_t d = 0; d < s.rank; d++) {
        if (axis != ALL_AXES && axis != (int64_t)d) continue;
        Value *v = build_arange(b, 0, (int64_t)shape_size(s, d));
        for (uint32_t k = 0; k < s.rank; k++)
            if (k != d) v = build_expand(b, v, k);
        if (!shape_equal(v->type.shape, s)) v = build_broadcast(b, v, s);
        int64_t stride = axis == ALL_AXES ? INT64_C(1) << shape_offset(s, d) : 1;
        if (stride > 1) v = build2(b, OP_MUL, v, build_int(b, v->type, stride));
        sum = sum ? build2(b, OP_ADD, sum, v) : v;
    }
    return sum;
}

/* Does the later element y beat x? Equal ones do not, so that the left one stays, unless the right one is asked for. */
static Value *beats(Builder *b, const Extreme *e, SType t, Value *x, Value *y) {
    bool is_max = e->which == TAKE_MAX;
    if (!stype_is_float(t)) {
        static const Pred preds[2][2][2] = {{{PRED_SLT, PRED_SLE}, {PRED_SGT, PRED_SGE}},
                                            {{PRED_ULT, PRED_ULE}, {PRED_UGT, PRED_UGE}}};
        return build_compare(b, OP_ICMP, preds[stype_is_unsigned(t)][is_max][e->takes_last], y, x);
    }
    static const Pred preds[2][2] = {{PRED_SLT, PRED_SLE}, {PRED_SGT, PRED_SGE}};
    Value *better = build_compare(b, OP_FCMP, preds[is_max][e->takes_last], y, x);
    Value *lost = e->propagate_nan ? y : x, *kept = e->propagate_nan ? x : y;
    Value *is_nan = build_compare(b, OP_FCMP, PRED_NE, lost, lost);
    if (e->takes_last) return build2(b, OP_OR, better, is_nan);
    Value *is_number = build_compare(b, OP_FCMP, PRED_EQ, kept, kept);
    return build2(b, OP_OR, better, build2(b, OP_AND, is_nan, is_number));
}

static void yield_extreme(Checker *c, const Op *op, const Extreme *e, SType t) {
    Value **args = op->regions[0]->args.at, *out[2];
    Builder b = builder_at_end(c->f, op->regions[0]);
    b.span = c->b.span;
    Value *later = beats(&b, e, t, args[0], args[2]);
    for (int i = 0; i < 2; i++) out[i] = build3(&b, OP_SELECT, later, args[2 + i], args[i]);
    build_yield(&b, out, 2);
}

const Sem *extreme_pair(Checker *c, const Extreme *e, const Sem *x, Span at) {
    Shape from = sem_shape(x);
    const Sem **pair = NEW_ARRAY(c->a, const Sem *, 2); /* of a scalar it is the result */
    pair[0] = x;
    c->b.span = at;
    pair[1] = from.rank ? sem_run(c, ST_I32, index_tile(c, from, e->axis), NULL)
                        : sem_run(c, ST_I32, build_int(&c->b, type_scalar(DT_I32), 0), NULL);
    Tiles t = {pair, 2, true};
    int64_t last = e->axis == ALL_AXES ? 0 : e->axis;
    for (int64_t a = e->axis == ALL_AXES ? from.rank - 1 : e->axis; a >= last && from.rank; a--) {
        Op *op = build_over(c, OP_REDUCEFN, &t, a, 0);
        yield_extreme(c, op, e, x->type);
        t = results_of(c, &t, op);
    }
    for (uint32_t i = 0; e->keep_dims && i < 2; i++) t.at[i] = restore_axes(c, t.at[i], e->axis, from);
    return sem_tuple(c, t.at, 2);
}
