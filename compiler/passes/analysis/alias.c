/* alias.c - may two accesses of global memory, by different threads of one program, touch one element?
 *
 * In: two loads or stores behind layouts. Out: no, where it is proven.
 * Method: an address is a pointer plus a sum of leaves. Two accesses whose sums match, in one layout without replicas,
 * give each element to the same thread. Rules:
 *   1  nobody writes memory that a const pointer names
 *   2  pointers of different parameters either are equal, with elements of one type, or name memory that a program does
 *      not touch through both, with strides of its own each; scalar products (the rows' offsets) then say nothing
 *   3  a leaf of fewer axes is the same only along the same axes
 *   4  nothing before a release or behind an acquire crosses it; two atomics of one commuting operation may change
 *      places
 *   5  of one pointer every leaf must match; a leaf that changes between rounds of a loop must do so by whole tiles
 *   6  of tiles side by side whole tiles do not count
 */
#include "passes/private.h"

enum { MOST_LEAVES = 24, MOST_DEPTH = 12 };

/* Which axes a value of lower rank lies along: the axes of expand_dims above it, outermost first, eight to a digit. */
typedef uint32_t Path;

typedef struct Leaf {
    const Value *v;
    Path path;
} Leaf;

typedef struct Sum {
    Leaf leaves[MOST_LEAVES];
    uint32_t n;
    int64_t constant;
    bool is_known; /* else there were too many */
} Sum;

static bool is_transparent(OpKind k) {
    return op_class(k) == CLASS_REPEAT || k == OP_CONVERT || k == OP_SEXT || k == OP_ZEXT || k == OP_BITCAST;
}

/* What lies below; a scalar lies along all axes. */
static const Value *strip_path(const Value *v, Path *path) {
    for (; v->def && is_transparent(v->def->kind); v = v->def->args[0]) {
        if (v->def->kind == OP_EXPAND) *path = *path * 8 + (Path)v->def->attr.axis + 1;
        if (v->def->kind == OP_SPLAT) *path = 0;
    }
    return v;
}

static const Value *strip(const Value *v) {
    Path path = 0;
    return strip_path(v, &path);
}

static void add_leaves(Sum *s, const Value *v, Path path, uint32_t depth) {
    v = strip_path(v, &path);
    const Op *op = v->def;
    if (op && op->kind == OP_CONST) {
        s->constant += op->attr.bits;
    } else if (op && op->kind == OP_ADD && depth < MOST_DEPTH) {
        add_leaves(s, op->args[0], path, depth + 1);
        add_leaves(s, op->args[1], path, depth + 1);
    } else if (s->n < MOST_LEAVES) {
        s->leaves[s->n++] = (Leaf){v, path};
    } else {
        s->is_known = false;
    }
}

/* The parameter that the pointer comes from, NULL where control flow hides it; the elements added to it go into s. */
static const Value *take_apart(const Func *f, const Value *ptr, Sum *s) {
    Path path = 0;
    *s = (Sum){.is_known = true};
    ptr = strip_path(ptr, &path);
    while (ptr->def && ptr->def->kind == OP_ADDPTR) {
        add_leaves(s, ptr->def->args[1], path, 0);
        ptr = strip_path(ptr->def->args[0], &path);
    }
    return !ptr->def && ptr->block == f->body ? ptr : NULL;
}

/* The same value, by construction: as each layout has its own copy of what is cheap. */
static bool is_same(const Value *a, const Value *b, uint32_t depth) {
    Path path = 0, other = 0;
    a = strip_path(a, &path);
    b = strip_path(b, &other);
    if (path != other) return false;
    if (a == b) return true;
    const Op *x = a->def, *y = b->def;
    if (!x || !y || depth == MOST_DEPTH || x->nargs != y->nargs) return false;
    if (!op_is_pure(x->kind) || !op_same(x, y)) return false;
    if (x->kind == OP_RESHAPE && !shape_equal(a->type.shape, b->type.shape)) return false;
    for (uint32_t i = 0; i < x->nargs; i++)
        if (!is_same(x->args[i], y->args[i], depth + 1)) return false;
    return true;
}

/* Does it keep its value from round to round of every loop? */
static bool is_steady(const Func *f, const Value *v, uint32_t depth) {
    v = strip(v);
    if (!v->def) return v->block == f->body;
    if (!op_is_pure(v->def->kind) || depth == MOST_DEPTH) return false;
    for (uint32_t i = 0; i < v->def->nargs; i++)
        if (!is_steady(f, v->def->args[i], depth + 1)) return false;
    return true;
}

static bool is_constant_from(const Value *v, int64_t least) {
    v = strip(v);
    return v->def && v->def->kind == OP_CONST && (v->def->attr.bits >= least || v->def->attr.bits <= -least);
}

/* A scalar whose values in two rounds are the same or at least a tile apart: then so are the tiles. */
static bool steps_over(const Value *v, int64_t elements) {
    if (value_is_tile(v)) return false;
    if (v->def)
        return v->def->kind == OP_MUL &&
               (is_constant_from(v->def->args[0], elements) || is_constant_from(v->def->args[1], elements));
    const Op *loop = v->block->owner;
    return loop && loop->kind == OP_FOR && v->index == 0 && is_constant_from(loop->args[2], elements);
}

/* row * stride: where one row begins. */
static bool is_row(const Value *v) {
    return !value_is_tile(v) && v->def && (v->def->kind == OP_MUL || v->def->kind == OP_SHL || v->def->kind == OP_PID);
}

/* What two accesses are to each other: of two rounds of a loop; of two parts of a tile. */
typedef struct Relation {
    bool is_round, is_part;
} Relation;

/* rows * stride: the rows; else the leaf. */
static Leaf less_stride(Leaf leaf) {
    const Op *op = value_is_tile(leaf.v) ? leaf.v->def : NULL;
    for (uint32_t i = 0; op && op->kind == OP_MUL && i < 2; i++) {
        if (value_is_tile(strip(op->args[i]))) continue;
        Leaf rows = {.path = leaf.path};
        rows.v = strip_path(op->args[1 - i], &rows.path);
        return rows;
    }
    return leaf;
}

static bool drop_match(Sum *s, Leaf leaf, bool has_strides) {
    if (!has_strides) leaf = less_stride(leaf);
    for (uint32_t i = 0; i < s->n; i++) {
        Leaf other = has_strides ? s->leaves[i] : less_stride(s->leaves[i]);
        if (other.path != leaf.path || !is_same(other.v, leaf.v, 0)) continue;
        s->leaves[i] = s->leaves[--s->n];
        return true;
    }
    return false;
}

static void drop_rows(Sum *s) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (!is_row(s->leaves[i].v)) s->leaves[n++] = s->leaves[i];
    s->n = n;
}

/* Does the loop variable go by whole tiles, from one on? */
static bool goes_by_tiles(const Value *v, int64_t elements) {
    const Op *loop = v->block && !v->def ? v->block->owner : NULL;
    int64_t first, step;
    return loop && loop->kind == OP_FOR && v->index == 0 && value_const(loop->args[0], &first) &&
           value_const(loop->args[2], &step) && first % elements == 0 && step % elements == 0;
}

/* Tiles of elements side by side that lie whole tiles apart are one or have no element in common. */
static void drop_tiles(Sum *s, int64_t elements) {
    uint32_t n = 0, tiles = 0, runs = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const Value *v = s->leaves[i].v;
        tiles += value_is_tile(v);
        bool is_index = v->def && op_info[v->def->kind].attr == ATTR_RANGE; /* each of so many, perhaps turned */
        runs += is_index && (int64_t)shape_elements(v->type.shape) == elements;
    }
    if (tiles != 1 || runs != 1) return;
    for (uint32_t i = 0; i < s->n; i++)
        if (!goes_by_tiles(s->leaves[i].v, elements)) s->leaves[n++] = s->leaves[i];
    s->n = n;
    s->constant = (s->constant % elements + elements) % elements;
}

static bool sums_match(const Func *f, Sum *a, Sum *b, bool is_one_pointer, Relation how, int64_t elements) {
    if (!a->is_known || !b->is_known) return false;
    drop_tiles(a, elements);
    drop_tiles(b, elements);
    if (a->constant != b->constant) return false;
    if (!is_one_pointer) {
        drop_rows(a);
        drop_rows(b);
    }
    if (a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++) {
        if (how.is_round && !is_steady(f, a->leaves[i].v, 0) && !steps_over(a->leaves[i].v, elements)) return false;
        if (!drop_match(b, a->leaves[i], is_one_pointer || !how.is_part)) return false;
    }
    return true;
}

/* Two that can change places unseen: of one commuting operation, and nobody looks at what was there before. */
static bool atomics_commute(const Op *a, const Op *b) {
    if (a->kind != OP_ATOMICRMW || b->kind != OP_ATOMICRMW || a->attr.mem.atomic != b->attr.mem.atomic) return false;
    return a->attr.mem.atomic != ATOMIC_XCHG && !value_used(a->results[0]) && !value_used(b->results[0]);
}

static bool has_replicas(const Value *ptr) {
    const Layout *l = ptr->type.layout;
    if (!l) return !value_is_tile(ptr);
    return layout_free(l, IN_LANE) || layout_free(l, IN_WARP) || layout_free(l, IN_CTA);
}

static bool is_parameter_const(const Func *f, const Value *p) {
    return p && f->params.at[p->index].is_const;
}

const Value *access_parameter(const Func *f, const Op *access) {
    Sum sum;
    return take_apart(f, access->args[0], &sum);
}

bool accesses_meet(const Func *f, const Op *a, const Op *b) {
    const Value *from = access_parameter(f, a), *to = access_parameter(f, b);
    if (is_parameter_const(f, from) || is_parameter_const(f, to)) return false;
    return a->args[0]->type.pointee == b->args[0]->type.pointee || !from || !to || from == to;
}

bool accesses_cross_if_one(const Func *f, const Op *a, const Op *b) {
    const Value *from = access_parameter(f, a), *to = access_parameter(f, b);
    return from && to && from != to && !op_is_atomic(a->kind) && !op_is_atomic(b->kind);
}

static bool cross(const Func *f, const Op *a, const Op *b, Relation how) {
    const Value *p = a->args[0], *q = b->args[0];
    bool stores = !op_is_read(a->kind) && !op_is_read(b->kind);
    bool is_ordered = (op_is_atomic(a->kind) && order_acquires(a->attr.mem.order)) ||
                      (op_is_atomic(b->kind) && order_releases(b->attr.mem.order));
    Sum x, y;
    if (op_is_read(a->kind) && op_is_read(b->kind)) return false;
    const Value *from = take_apart(f, p, &x), *to = take_apart(f, q, &y);
    if (is_parameter_const(f, from) || is_parameter_const(f, to)) return false;
    if (is_ordered) return true;
    if (atomics_commute(a, b)) return false;
    if (p->type.pointee != q->type.pointee) return !from || !to || from == to;
    if (stores && !value_is_tile(p) && !value_is_tile(q)) return false; /* both by the first thread */
    if (value_is_tile(p) != value_is_tile(q)) return true;
    if (!stores && (has_replicas(p) || has_replicas(q))) return true;
    if (value_is_tile(p) && p->type.layout != q->type.layout) return true;
    return !from || !to || !sums_match(f, &x, &y, from == to, how, (int64_t)shape_elements(p->type.shape));
}

bool accesses_cross(const Func *f, const Op *a, const Op *b, bool is_round) {
    return cross(f, a, b, (Relation){.is_round = is_round});
}

bool accesses_cross_in_parts(const Func *f, const Op *a, const Op *b) {
    return cross(f, a, b, (Relation){.is_part = true});
}
