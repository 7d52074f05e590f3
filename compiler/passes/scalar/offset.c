/* offset.c - of the pass narrow: a pointer plus offsets, in the order that costs a thread least.
 *
 * In: an addptr of tiles. Out: the same addresses as root + scalars + rows + 32-bit tile, each part as small as it can
 * be: scalars move the scalar pointer, rows (64-bit tiles that were broadcast) move a pointer per row.
 * Method: offsets of the whole chain of addptr are one sum; addresses are modulo 2^64, so any order gives the same.
 */
#include "passes/scalar/narrow.h"

/* The chain taken apart: what all offsets are added to, and their sum. */
typedef struct Address {
    Value *root; /* a scalar pointer; a tile where there is none below */
    Shape shape;
    Terms sum;
    uint32_t links; /* addptr ops of tiles */
} Address;

static Value *scalar_pointer(Value *p) {
    while (p->def && (p->def->kind == OP_EXPAND || p->def->kind == OP_BROADCAST)) p = p->def->args[0];
    return p->def && p->def->kind == OP_SPLAT ? p->def->args[0] : NULL;
}

static Address take_apart(const Op *op) {
    Address a = {.root = op->results[0], .shape = op->results[0]->type.shape};
    while (a.root->def && a.root->def->kind == OP_ADDPTR && a.links < 8) {
        narrow_terms(a.root->def->args[1], 1, &a.sum);
        a.root = a.root->def->args[0];
        a.links++;
    }
    Value *scalar = scalar_pointer(a.root);
    if (scalar) a.root = scalar;
    return a;
}

/* i64 tiles that are broadcasts of smaller ones, and fit no 32 bits: out of the sum, into `rows`. */
static void part_rows(const Narrow *n, Terms *sum, Terms *rows) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sum->len; i++) {
        const Value *v = sum->at[i].v;
        const Op *op = v->def;
        Range r = narrow_range(n, v);
        bool is_row = value_is_tile(v) && v->type.dtype == DT_I64 && op && op->kind == OP_BROADCAST &&
                      !(r.lo >= INT32_MIN && r.hi <= INT32_MAX && narrow_can(n, v));
        if (is_row)
            rows->at[rows->len++] = sum->at[i];
        else
            sum->at[kept++] = sum->at[i];
    }
    sum->len = kept;
}

static bool has_scalars(const Terms *t) {
    bool any = t->constant != 0;
    for (uint32_t i = 0; i < t->len; i++) any |= !value_is_tile(t->at[i].v);
    return any;
}

static bool has_wide_tile(const Terms *t) {
    for (uint32_t i = 0; i < t->len; i++)
        if (value_is_tile(t->at[i].v) && t->at[i].v->type.dtype == DT_I64) return true;
    return false;
}

static Value *move_pointer(Builder *b, Value *p, Value *offset) {
    return build2(b, OP_ADDPTR, p, offset);
}

/* p, a scalar or a tile, moved by a row: the row is added before it is broadcast, wherever p allows. */
static Value *move_by_row(Builder *b, Value *p, const Term *row, Shape shape) {
    Value *v = row->v->def->args[0];
    if (row->scale != 1) v = build2(b, OP_MUL, v, build_int(b, v->type, row->scale));
    const Op *below = p->def && p->def->kind == OP_BROADCAST ? p->def : NULL;
    if (value_is_tile(p) && !(below && shape_equal(below->args[0]->type.shape, v->type.shape)))
        return move_pointer(b, p, build_broadcast(b, v, shape));
    Value *base = value_is_tile(p) ? below->args[0] : build_splat(b, p, v->type.shape);
    return build_broadcast(b, move_pointer(b, base, v), shape);
}

/* The tiles of the sum one by one, as they are. */
static Value *move_by_tiles(Builder *b, Value *p, const Terms *t) {
    for (uint32_t i = 0; i < t->len; i++) {
        Value *v = t->at[i].v;
        if (!value_is_tile(v)) continue;
        /* Only the factors of a 64-bit sum have a scale, so that nothing wraps here. */
        if (t->at[i].scale != 1) v = build2(b, OP_MUL, v, build_int(b, v->type, t->at[i].scale));
        p = move_pointer(b, p, v);
    }
    return p;
}

Value *narrow_addptr(Narrow *n, Builder *b, const Op *op) {
    if (!value_is_tile(op->results[0])) return NULL;
    Address a = take_apart(op);
    Terms rows = {0};
    Range range;
    if (a.sum.full) return NULL;
    part_rows(n, &a.sum, &rows);
    bool tiles_fit = narrow_tiles_fit(n, &a.sum, &range), is_scalar_root = !value_is_tile(a.root);
    bool scalars_move = has_scalars(&a.sum) && is_scalar_root;
    bool tiles_shrink = tiles_fit && (has_wide_tile(&a.sum) || a.links > 1);
    if (!scalars_move && !tiles_shrink && !rows.len) return NULL;
    Value *p = a.root;
    if (has_scalars(&a.sum)) {
        Value *by = narrow_scalar_sum(b, &a.sum);
        p = move_pointer(b, p, value_is_tile(p) ? build_splat(b, by, a.shape) : by);
    }
    for (uint32_t i = 0; i < rows.len; i++) p = move_by_row(b, p, &rows.at[i], a.shape);
    if (!value_is_tile(p)) p = build_splat(b, p, a.shape);
    if (tiles_fit) return move_pointer(b, p, narrow_tile_sum(b, &a.sum));
    return move_by_tiles(b, p, &a.sum);
}
