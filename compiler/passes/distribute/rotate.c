/* rotate.c - rotates tiles of misaligned rows, so that vectors lie on multiples of 16 bytes.
 *
 * In: a function at stage TILE and its facts. Out: each arange of the rows' size is arange_rotated or arange_moved, and
 * the rows' accesses are marked.
 * Method: an access through `splat P + arange` is contiguous, but P is aligned to an element only. Let s be the number
 * of elements by which P lies beyond a multiple of 16 bytes. Place k of every tile of that size then holds element (k -
 * s) mod size, and all vectors but the first are aligned. Where masks leave out the row's last places anyway, the first
 * vector begins below zero instead of wrapping, and an unsigned comparison masks it there (arange_moved).
 * A rotation moves no element between tiles. So it is sound where ops go element by element or combine in any order.
 * One access, the leader, decides s; the others test at run time whether their rows have the same misalignment.
 */
#include "passes/private.h"

/* Tiles are rotated from LEAST_PLACES on, or from LEAST_WEIGHED where weights outweigh rows: the rotation misaligns
 * weights. A weight of less than 32 bits needs NARROW_ROWS accesses of rows beside it, another one WIDE_ROWS. */
enum {
    MOST_SCALARS = 32,
    LEAST_PLACES = 1024,
    LEAST_WEIGHED = 2048,
    NARROW_ROWS = 4,
    WIDE_ROWS = 2,
};

typedef struct Rotate {
    Func *f;
    const Facts *facts;
    const Votes *votes;
    uint32_t bytes;    /* of the target's longest vector */
    uint32_t least;    /* rotation_least() */
    Op *leader;        /* the access whose misalignment is the rotation */
    const Value *root; /* what its addresses are multiples of a vector away from */
    uint32_t size;     /* of the tiles that are rotated */
    bool sound;
    uint32_t budget;
} Rotate;

/* ---- Which accesses ---------------------------------------------------------------------------------------------- */

static uint32_t element_bytes(const Value *ptr) {
    return type_bytes(type_scalar(ptr->type.pointee));
}

typedef struct RowCount {
    const Func *f;
    uint32_t rows, wanted;
} RowCount;

static void count_row(void *context, Op *op) {
    RowCount *r = context;
    Shape s = op->nargs ? op->args[0]->type.shape : (Shape){0};
    if ((op->kind != OP_LOAD && op->kind != OP_STORE) || s.rank != 1 || shape_elements(s) < LEAST_PLACES) return;
    bool is_weight = op->kind == OP_LOAD && op_loads_constant(r->f, op);
    if (is_weight) r->wanted += element_bytes(op->args[0]) < 4 ? NARROW_ROWS : WIDE_ROWS;
    else r->rows++;
}

uint32_t rotation_least(Func *f) {
    RowCount r = {.f = f};
    func_walk(f, count_row, &r);
    return r.rows >= r.wanted ? LEAST_PLACES : LEAST_WEIGHED;
}

/* P of `splat P + arange` where that is as contiguous as the tile is long; else NULL. */
static Value *row_of(const Facts *facts, const Op *op, uint32_t bytes, uint32_t least) {
    const Value *ptr = op->args[0];
    if ((op->kind != OP_LOAD && op->kind != OP_STORE) || ptr->type.shape.rank != 1) return NULL;
    const Op *add = ptr->def;
    if (!add || add->kind != OP_ADDPTR || !add->args[0]->def || add->args[0]->def->kind != OP_SPLAT) return NULL;
    const Op *index = add->args[1]->def;
    if (index && index->kind == OP_SEXT) index = index->args[0]->def;
    if (!index || index->kind != OP_ARANGE || index->attr.start * element_bytes(ptr) % bytes) return NULL;
    uint64_t size = shape_elements(ptr->type.shape), vector = bytes / element_bytes(ptr);
    if (vector < 2 || size < least || fact_of(facts, ptr)->contiguous[0] < size) return NULL;
    return add->args[0]->def->args[0];
}

bool row_may_rotate(const Facts *facts, const Op *op, const Target *t, uint32_t least) {
    return row_of(facts, op, t->max_vector_bytes, least) != NULL;
}

/* What p is a whole number of vectors beyond. */
static const Value *strip_vectors(const Rotate *s, const Value *p, uint32_t unit) {
    while (p->def && p->def->kind == OP_ADDPTR &&
           (uint64_t)fact_of(s->facts, p->def->args[1])->divisible[0] * unit >= s->bytes)
        p = p->def->args[0];
    return p;
}

/* Can v be computed at the function's beginning? */
static bool is_early(Rotate *s, const Value *v) {
    if (!v->def) return v->block == s->f->body;
    if (!op_is_pure(v->def->kind) || value_is_tile(v) || s->budget++ > MOST_SCALARS) return false;
    for (uint32_t i = 0; i < v->def->nargs; i++)
        if (value_is_tile(v->def->args[i]) || !is_early(s, v->def->args[i])) return false;
    return true;
}

/* Stores lead, since single elements cost them most; then the narrower elements, whose misalignment says more. */
static bool leads(const Op *op, const Op *leader) {
    if (!leader || op->kind != leader->kind) return !leader || op->kind == OP_STORE;
    return element_bytes(op->args[0]) < element_bytes(leader->args[0]);
}

static void find_leader(void *context, Op *op) {
    Rotate *s = context;
    const Value *row = op_is_access(op->kind) ? row_of(s->facts, op, s->bytes, s->least) : NULL;
    if (!row) return;
    Vote vote = vote_of(s->votes, op);
    uint32_t unit = element_bytes(op->args[0]), run = facts_vector(s->facts, op->args[0], 0, s->bytes);
    if (run >= vote.vec_log2 || run >= vote.run_log2) return; /* aligned as it is */
    const Value *root = strip_vectors(s, row, unit);
    s->budget = 0;
    if (!is_early(s, root) || !leads(op, s->leader)) return;
    s->leader = op;
    s->root = root;
    s->size = (uint32_t)shape_elements(op->args[0]->type.shape);
}

/* ---- Whether it is sound ----------------------------------------------------------------------------------------- */

/* Places mean nothing to it, or they are all of one axis. */
static void check_sound(void *context, Op *op) {
    Rotate *s = context;
    if (!op_touches_tile(op)) return;
    for (uint32_t i = 0; i < op->nargs; i++) s->sound &= op->args[i]->type.shape.rank < 2;
    for (uint32_t i = 0; i < op->nresults; i++) s->sound &= op->results[i]->type.shape.rank < 2;
    OpKind k = op->kind;
    bool is_axis = op_class(k) == CLASS_REDUCE || k == OP_SPREADWARP || op_is_shared(k);
    s->sound &= op_is_local(k) || is_axis || op_class(k) == CLASS_MEMORY || op_is_control(k);
}

/* ---- The rotation ------------------------------------------------------------------------------------------------ */

/* Before: a vector is what it was along the whole row; beyond the first place masks are cut anywhere. */
static void mark(void *context, Op *op) {
    Rotate *s = context;
    const Value *row = op_is_access(op->kind) ? row_of(s->facts, op, s->bytes, s->least) : NULL;
    if (!row || shape_elements(op->args[0]->type.shape) != s->size) return;
    uint32_t at = op->kind == OP_LOAD ? 1 : 2, unit = element_bytes(op->args[0]);
    MemAttr *m = &op->attr.mem;
    const Value *mask = op->nargs > at ? op->args[at] : NULL;
    const Fact *f = mask ? fact_of(s->facts, mask) : NULL;
    bool is_lead = unit == element_bytes(s->leader->args[0]) && strip_vectors(s, row, unit) == s->root;
    m->is_rotated = true;
    m->vec_log2 = (uint8_t)log2_floor(s->bytes / unit);
    m->align_log2 = (uint8_t)log2_floor(is_lead ? s->bytes : unit);
    m->mask_kind = !mask                                        ? MASK_NONE
                   : f->constant[0] >= s->size                  ? MASK_UNIFORM
                   : f->prefix[0] && f->contiguous[0] >= s->size ? MASK_PREFIX
                                                                : MASK_ANY;
}

static Value *copy_early(Builder *b, Value *v) {
    Value *args[8];
    const Op *op = v->def;
    if (!op) return v;
    for (uint32_t i = 0; i < op->nargs; i++) args[i] = copy_early(b, op->args[i]);
    return op_build(b, op->kind, args, op->nargs, op->attr, v->type)->results[0];
}

/* (address / element) mod (vector / element), at the function's beginning. */
static Value *build_rotation(const Rotate *s) {
    Builder b = builder_at_end(s->f, s->f->body);
    b.before = s->f->body->first;
    b.span = s->leader->span;
    uint32_t unit = element_bytes(s->leader->args[0]);
    Type wide = type_scalar(DT_I64);
    Value *at = build1_to(&b, OP_BITCAST, copy_early(&b, (Value *)(uintptr_t)s->root), wide);
    at = build2(&b, OP_LSHR, at, build_int(&b, wide, log2_floor(unit)));
    at = build1_to(&b, OP_TRUNC, at, type_scalar(DT_I32));
    return build2(&b, OP_AND, at, build_int(&b, type_scalar(DT_I32), s->bytes / unit - 1));
}

/* ---- What never meets the row's end ------------------------------------------------------------------------------ */

/* A mask that leaves out all that a rotation brings to the beginning. */
static bool leaves_room(const Rotate *s, const Value *mask) {
    return mask && facts_live(s->facts, mask, 0) + MOST_ROTATION < s->size;
}

/* arange < n: what lies below zero is beyond n, unsigned, as what lies at the row's end is. */
static bool is_row_mask(const Rotate *s, const Op *op, const Op *arange) {
    bool is_row = op->kind == OP_ICMP && op->attr.pred == PRED_SLT && op->args[0] == arange->results[0] &&
                  arange->attr.start == 0;
    return is_row && fact_of(s->facts, op->args[1])->lo >= 0 && leaves_room(s, op->results[0]);
}

/* Addresses that nobody uses but accesses under such masks. */
static bool is_row_address(const Rotate *s, const Op *op, const Op *arange) {
    if (op->kind != OP_ADDPTR || op->args[1] != arange->results[0]) return false;
    for (const Use *u = op->results[0]->uses; u; u = u->next) {
        uint32_t at = u->op->kind == OP_LOAD ? 1 : 2;
        bool is_marked = op_is_access(u->op->kind) && u->index == 0 && u->op->attr.mem.is_rotated;
        if (!is_marked || !leaves_room(s, u->op->nargs > at ? u->op->args[at] : NULL)) return false;
    }
    return true;
}

typedef struct RotatedRange {
    Op *arange;
    VEC(Op *) rows; /* users for which it may begin below zero instead of going on at the beginning */
} RotatedRange;

typedef struct RotatedRanges {
    const Rotate *s;
    Arena *scratch;
    VEC(RotatedRange) at;
} RotatedRanges;

static void find_ranges(void *context, Op *op) {
    RotatedRanges *t = context;
    if (op->kind != OP_ARANGE || shape_elements(op->results[0]->type.shape) != t->s->size) return;
    RotatedRange made = {.arange = op};
    for (const Use *u = op->results[0]->uses; u; u = u->next)
        if (is_row_mask(t->s, u->op, op) || is_row_address(t->s, u->op, op)) vec_push(t->scratch, &made.rows, u->op);
    vec_push(t->scratch, &t->at, made);
}

static Value *build_rotated(const Rotate *s, OpKind kind, Op *arange, Value *by) {
    Builder b = builder_before(s->f, arange);
    Value *v = op_build(&b, kind, &by, 1, arange->attr, arange->results[0]->type)->results[0];
    v->name = arange->results[0]->name;
    return v;
}

static void rotate(const Rotate *s, const RotatedRange *t, Value *by) {
    Value *moved = t->rows.len ? build_rotated(s, OP_MOVED, t->arange, by) : NULL;
    for (uint32_t i = 0; i < t->rows.len; i++) {
        Op *op = t->rows.at[i];
        op_set_arg(s->f, op, op->kind == OP_ICMP ? 0 : 1, moved);
        if (op->kind == OP_ICMP) op->attr.pred = PRED_ULT;
    }
    if (value_used(t->arange->results[0]))
        value_replace(s->f, t->arange->results[0], build_rotated(s, OP_ROTATED, t->arange, by));
}

bool rotate_rows(Func *f, const Facts *facts, const PassContext *c) {
    Rotate s = {.f = f, .facts = facts, .bytes = c->target->max_vector_bytes, .sound = true};
    s.least = rotation_least(f);
    s.votes = votes_take(f, facts, c->target, true, c->scratch);
    func_walk(f, find_leader, &s);
    if (s.leader) func_walk(f, check_sound, &s);
    if (!s.leader || !s.sound) return false;
    func_walk(f, mark, &s);
    RotatedRanges t = {.s = &s, .scratch = c->scratch};
    func_walk(f, find_ranges, &t);
    Value *by = build_rotation(&s);
    for (uint32_t i = 0; i < t.at.len; i++) rotate(&s, &t.at.at[i], by);
    return true;
}
