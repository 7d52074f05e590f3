/* chunk.c - the pass chunk: tiles beyond what a program's registers hold are walked in chunks.
 *
 * In: stage TILE. Out: no row is larger than a program of the target; what was one reduction or store of all of it is a loop
 * over its chunks, and what such a loop needs of the row, loads included, is computed anew in it.
 * Method: reductions are gathered until something waits for them, stores as long as no other effect follows; one walk does each lot, in the
 * source's order within a chunk. All is planned first; where walks would not do the same (an op that knows more than its own element, a
 * load that would see a later store) the function stays as it is, or, between two parameters, their buffers must differ (Func.apart).
 */
#include "passes/private.h"

#include <math.h>
#include <string.h>

typedef VEC(Op *) OpList;

/* A loop over the chunks. */
typedef struct Walk {
    Op *before;    /* where it stands */
    OpList ends;   /* reductions and stores */
    OpList copied; /* with what they need, in program order */
    OpList late;   /* stores of single elements, which move behind it */
} Walk;

/* What lies between two effects that are not stores. */
typedef struct Segment {
    OpList reductions;   /* those of the walk that is gathered */
    OpList stores, late; /* of rows and of single elements: all at the segment's end */
    VEC(Walk) walks;
} Segment;

typedef struct Chunk {
    Func *f;
    Arena *scratch;
    uint64_t row, size; /* elements of what is walked, and of a chunk */
    uint32_t wide;      /* bytes of the row's widest element in a register */
    bool sound;
    uint32_t *order;    /* by op id: its place in the program */
    uint32_t places;
    bool *marked;       /* by op id: the walk at hand copies it */
    VEC(Walk) walks;
    VEC(Apart) apart;
} Chunk;

/* ---- What is walked ------------------------------------------------------------------------------------------------------ */

static bool is_row(const Chunk *k, const Value *v) {
    return value_is_tile(v) && shape_elements(v->type.shape) == k->row;
}

static bool touches_row(const Chunk *k, const Op *op) {
    for (uint32_t i = 0; i < op->nargs; i++)
        if (is_row(k, op->args[i])) return true;
    for (uint32_t i = 0; i < op->nresults; i++)
        if (is_row(k, op->results[i])) return true;
    return false;
}

static void note_largest(void *context, Op *op) {
    Chunk *k = context;
    for (uint32_t i = 0; i < op->nresults; i++) {
        uint64_t n = value_is_tile(op->results[i]) ? shape_elements(op->results[i]->type.shape) : 1;
        if (n > k->row) k->row = n;
    }
}

/* Each element of a result comes of the same elements of the operands, or there is no result but a reduction's. */
static void check_op(void *context, Op *op) {
    Chunk *k = context;
    k->order[op->id] = k->places++;
    if (!touches_row(k, op)) return;
    for (uint32_t i = 0; i < op->nargs; i++) k->sound &= op->args[i]->type.shape.rank < 2;
    for (uint32_t i = 0; i < op->nresults; i++) {
        k->sound &= op->results[i]->type.shape.rank < 2;
        if (op->results[i]->type.dtype != DT_PTR && type_bytes(op->results[i]->type) > k->wide) k->wide = type_bytes(op->results[i]->type);
    }
    switch (op->kind) {
    case OP_CONST: case OP_ARANGE: case OP_SPLAT: case OP_REDUCE: return;
    case OP_LOAD: case OP_STORE: k->sound &= !op->attr.mem.is_volatile; return;
    default: k->sound &= op_is_elementwise(op);
    }
}

/* ---- The plan ------------------------------------------------------------------------------------------------------------ */

/* The order of the two is not kept: their memory must not be the same. */
static void keep_apart(Chunk *k, const Op *a, const Op *b) {
    const Value *p = access_parameter(k->f, a), *q = access_parameter(k->f, b);
    if (!p || !q || p == q) {
        k->sound = false;
        return;
    }
    for (uint32_t i = 0; i < k->apart.len; i++)
        if (k->apart.at[i].a == p->index && k->apart.at[i].b == q->index) return;
    vec_push(k->scratch, &k->apart, ((Apart){p->index, q->index}));
}

static bool holds(const OpList *l, const Op *op) {
    for (uint32_t i = 0; i < l->len; i++)
        if (l->at[i] == op) return true;
    return false;
}

/* Are the ops of its regions without effect? */
static bool is_quiet(const Op *op) {
    for (uint32_t r = 0; r < op->nregions; r++)
        for (const Op *o = op->regions[r]->first; o; o = o->next)
            if ((op_info[o->kind].effect != EFFECT_PURE && o->kind != OP_YIELD && o->kind != OP_IF) || !is_quiet(o)) return false;
    return true;
}

/* What is behind a load and not in the segment's own lists has happened when the load is repeated. */
static void check_unchanged(Chunk *k, const Op *load, const Walk *w, const Segment *s) {
    for (const Op *op = load->next; op && op != w->before; op = op->next) {
        if (op_is_atomic(op->kind) || !is_quiet(op)) k->sound = false; /* seldom, and not looked into */
        bool has_happened = op->kind == OP_STORE && !holds(&s->stores, op) && !holds(&s->late, op);
        if (has_happened && accesses_meet(k->f, load, op)) k->sound = false;
    }
}

static void copy_value(Chunk *k, Walk *w, const Segment *s, const Value *v) {
    if (!is_row(k, v)) return;
    Op *op = v->def;
    if (k->marked[op->id]) return;
    k->marked[op->id] = true;
    for (uint32_t i = 0; i < op->nargs; i++) copy_value(k, w, s, op->args[i]);
    k->sound &= op->kind != OP_LOAD || op->parent == w->before->parent;
    if (op->kind == OP_LOAD && k->sound) check_unchanged(k, op, w, s);
    vec_push(k->scratch, &w->copied, op);
}

/* A segment's stores happen behind all of its loads, and one chunk's behind another's loads. */
static void check_store(Chunk *k, const Op *store, const Op *op, bool same_walk) {
    bool is_row_store = is_row(k, store->args[0]);
    bool is_early = op->kind == OP_LOAD && k->order[op->id] < k->order[store->id];
    if (store == op || !op_is_access(op->kind) || !accesses_meet(k->f, store, op)) return;
    if (is_early && !(is_row_store && same_walk)) return;
    if (is_row_store && same_walk && !accesses_cross(k->f, store, op, false)) return;
    keep_apart(k, store, op);
}

static void sort_by_place(const Chunk *k, OpList *l) {
    for (uint32_t i = 1; i < l->len; i++) {
        Op *op = l->at[i];
        uint32_t at = i;
        for (; at > 0 && k->order[l->at[at - 1]->id] > k->order[op->id]; at--) l->at[at] = l->at[at - 1];
        l->at[at] = op;
    }
}

static void close_walk(Chunk *k, Segment *s, Op *before, bool with_stores) {
    Walk w = {.before = before, .ends = s->reductions};
    for (uint32_t i = 0; i < s->stores.len && with_stores; i++) vec_push(k->scratch, &w.ends, s->stores.at[i]);
    if (with_stores) w.late = s->late;
    s->reductions = (OpList){0};
    if (!w.ends.len && !w.late.len) return;
    sort_by_place(k, &w.ends);
    memset(k->marked, 0, k->f->next_op * sizeof *k->marked);
    for (uint32_t i = 0; i < w.ends.len; i++) {
        for (uint32_t a = 0; a < w.ends.at[i]->nargs; a++) copy_value(k, &w, s, w.ends.at[i]->args[a]);
        vec_push(k->scratch, &w.copied, w.ends.at[i]);
    }
    sort_by_place(k, &w.copied);
    vec_push(k->scratch, &s->walks, w);
}

static void close_segment(Chunk *k, Segment *s, Op *before) {
    close_walk(k, s, before, true);
    for (uint32_t i = 0; i < s->walks.len; i++) {
        const Walk *w = &s->walks.at[i];
        bool is_last = i + 1 == s->walks.len;
        for (uint32_t c = 0; c < w->copied.len; c++) {
            for (uint32_t j = 0; j < s->stores.len; j++) check_store(k, s->stores.at[j], w->copied.at[c], is_last);
            for (uint32_t j = 0; j < s->late.len; j++) check_store(k, s->late.at[j], w->copied.at[c], is_last);
        }
        vec_push(k->scratch, &k->walks, *w);
    }
    *s = (Segment){0};
}

static bool waits_for(const Op *op, const OpList *reductions) {
    for (uint32_t i = 0; i < op->nargs; i++)
        if (op->args[i]->def && holds(reductions, op->args[i]->def)) return true;
    for (uint32_t r = 0; r < op->nregions; r++)
        for (const Op *o = op->regions[r]->first; o; o = o->next)
            if (waits_for(o, reductions)) return true;
    return false;
}

/* Stores wait to the end of a segment: where something else has an effect, or reads what they may have written. */
static bool ends_segment(const Op *op, const Segment *s) {
    switch (op_info[op->kind].effect) {
    case EFFECT_PURE: return false;
    case EFFECT_READ: return s->stores.len + s->late.len > 0;
    default: return op->kind != OP_IF || !is_quiet(op);
    }
}

static void plan_block(Chunk *k, Block *b) {
    Segment s = {0};
    for (Op *op = b->first; op && k->sound; op = op->next) {
        bool is_walked = touches_row(k, op), is_store = op->kind == OP_STORE && !op->attr.mem.is_volatile;
        if (!is_walked && !is_store && ends_segment(op, &s)) close_segment(k, &s, op);
        else if (waits_for(op, &s.reductions)) close_walk(k, &s, op, false);
        if (is_walked && op->kind == OP_REDUCE) vec_push(k->scratch, &s.reductions, op);
        if (is_store) vec_push(k->scratch, is_walked ? &s.stores : &s.late, op);
        for (uint32_t r = 0; r < op->nregions; r++) plan_block(k, op->regions[r]);
    }
}

/* ---- The loops ----------------------------------------------------------------------------------------------------------- */

/* combine(identity, x) is x, for a NaN too. */
static Value *build_identity(Builder *b, Type t, OpKind combine) {
    uint32_t bits = dtype_bits(t.dtype);
    int64_t least = bits == 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1));
    switch (combine) {
    case OP_MUL: return build_int(b, t, 1);
    case OP_AND: case OP_UMIN: return build_int(b, t, -1);
    case OP_SMAX: return build_int(b, t, least);
    case OP_SMIN: return build_int(b, t, ~least);
    case OP_FADD: return build_float(b, t, -0.0);
    case OP_FMUL: return build_float(b, t, 1);
    case OP_FMAX: case OP_FMIN: return build_float(b, t, (double)NAN);
    case OP_FMAXNAN: return build_float(b, t, -(double)INFINITY);
    case OP_FMINNAN: return build_float(b, t, (double)INFINITY);
    default: return build_int(b, t, 0);
    }
}

/* P of `splat P + arange`: what the chunk's place is added to, so that the sum stays as simple. */
static Value *row_start(const Op *op) {
    bool is_plain = op->kind == OP_ADDPTR && op->args[1]->def->kind == OP_ARANGE && op->args[0]->def->kind == OP_SPLAT;
    return is_plain ? op->args[0]->def->args[0] : NULL;
}

static Value *copy_op(const Chunk *k, Builder *b, const Op *op, const ValueMap *map, Value *place) {
    Value *args[8], *start = row_start(op);
    Shape shape = op->nresults ? op->results[0]->type.shape : (Shape){0};
    if (shape.rank) shape.log2[0] = (uint8_t)log2_floor(k->size);
    if (op->kind == OP_ARANGE) {
        Value *first = build_arange(b, op->attr.i, op->attr.i + (int64_t)k->size);
        return build2(b, OP_ADD, first, build_splat(b, place, shape));
    }
    if (start) {
        int64_t first = op->args[1]->def->attr.i;
        return build2(b, OP_ADDPTR, build_splat(b, build2(b, OP_ADDPTR, start, place), shape), build_arange(b, first, first + (int64_t)k->size));
    }
    if (op->nargs > COUNT(args)) bug("chunk: %s has %u operands", op_info[op->kind].name, op->nargs);
    for (uint32_t i = 0; i < op->nargs; i++) args[i] = valuemap_get(map, op->args[i]);
    Type t = op->nresults ? type_with_shape(op->results[0]->type, shape) : type_scalar(DT_I32);
    Op *copy = op_build(b, op->kind, args, op->nargs, op->attr, t);
    return copy->nresults ? copy->results[0] : NULL;
}

static void build_loop(const Chunk *k, const Walk *w) {
    Builder b = builder_before(k->f, w->before);
    b.span = w->ends.at[0]->span;
    VEC(Value *) carried = {0};
    for (uint32_t i = 0; i < w->ends.len; i++) {
        const Op *end = w->ends.at[i];
        if (end->kind == OP_REDUCE) vec_push(k->scratch, &carried, build_identity(&b, end->results[0]->type, (OpKind)end->attr.j));
    }
    Type i32 = type_scalar(DT_I32);
    Value *from = build_int(&b, i32, 0), *to = build_int(&b, i32, (int64_t)k->row), *step = build_int(&b, i32, (int64_t)k->size);
    Op *loop = build_for(&b, from, to, step, carried.at, carried.len, (LoopAttr){0});
    Block *body = loop->regions[0];
    Builder inner = builder_at_end(k->f, body);
    ValueMap map = valuemap_create(k->f);
    for (uint32_t i = 0, n = 0; i < w->copied.len; i++) {
        const Op *op = w->copied.at[i];
        inner.span = op->span;
        Value *copy = copy_op(k, &inner, op, &map, body->args.at[0]);
        if (op->kind == OP_REDUCE) {
            carried.at[n] = build2(&inner, (OpKind)op->attr.j, body->args.at[n + 1], copy);
            n++;
        } else if (copy) {
            copy->name = op->results[0]->name;
            valuemap_set(k->f, &map, op->results[0], copy);
        }
    }
    build_yield(&inner, carried.at, carried.len);
    for (uint32_t i = 0, n = 0; i < w->ends.len; i++) {
        if (w->ends.at[i]->kind != OP_REDUCE) continue;
        loop->results[n]->name = w->ends.at[i]->results[0]->name;
        value_replace(k->f, w->ends.at[i]->results[0], loop->results[n++]);
    }
    for (uint32_t i = 0; i < w->ends.len; i++) op_erase(k->f, w->ends.at[i]);
}

static void build_walk(const Chunk *k, const Walk *w) {
    if (w->ends.len) build_loop(k, w);
    for (uint32_t i = 0; i < w->late.len; i++) op_move_before(w->late.at[i], w->before);
}

/* ---- The pass ------------------------------------------------------------------------------------------------------------ */

static bool plan(Chunk *k, const PassTarget *t) {
    func_walk(k->f, note_largest, k);
    k->order = NEW_ARRAY(k->scratch, uint32_t, k->f->next_op);
    k->marked = NEW_ARRAY(k->scratch, bool, k->f->next_op);
    func_walk(k->f, check_op, k);
    if (k->sound) k->size = distribute_chunk(k->f, facts_compute(k->f, k->scratch), t, k->wide);
    if (!k->size) return false;
    plan_block(k, k->f->body);
    return k->sound && k->walks.len;
}

bool pass_chunk(Func *f, PassContext *c) {
    if (f->stage == STAGE_SIMT) return false;
    Chunk k = {.f = f, .scratch = arena_create(), .row = 1, .wide = 4, .sound = true};
    uint32_t warps = f->num_warps, ctas = f->num_ctas;
    bool changed = plan(&k, &c->target);
    if (!changed) {
        f->num_warps = warps;
        f->num_ctas = ctas;
    }
    for (uint32_t i = 0; i < k.walks.len && changed; i++) build_walk(&k, &k.walks.at[i]);
    for (uint32_t i = 0; i < k.apart.len && changed; i++) vec_push(f->arena, &f->apart, k.apart.at[i]);
    arena_destroy(k.scratch);
    if (changed) pass_dce(f, c); /* what made the whole row */
    return changed;
}
