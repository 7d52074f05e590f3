/* lint.c - warnings about memory: masks that do not cover their range, stores of tiles that overlap, padded reductions.
 *
 * In: a function as the checker left it, and the contracts of its record. Out: warnings, only where they are certain
 * but for the values of run-time scalars.
 *   a mask      an index along a contract's dimension that no mask and no `require` bounds,
 *               or that the mask bounds too late
 *   an overlap  a constant distance that is shorter than the tile; elements of one store with one address
 *   padding     a reduction over what a masked load left out, which is not neutral in it (pad.c)
 * Accesses in branches and loops, and indexes with parts that are not understood, are left alone.
 */
#include "passes/private.h"
#include "runtime/record/record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct Lint {
    const Func *f;
    const Record *r;
    const Facts *facts;
    Diag *d;
} Lint;

static bool is_arange(const Value *v) {
    return v->def && v->def->kind == OP_ARANGE && v->def->attr.end - v->def->attr.start > 1;
}

static bool same_index(const Value *a, const Value *b) {
    return a == b || (is_arange(a) && is_arange(b) && a->def->attr.start == b->def->attr.start &&
                      a->def->attr.end == b->def->attr.end);
}

static bool reaches(const Value *v, const Value *index, uint32_t *budget) {
    const Op *op = v->def;
    if (same_index(v, index) || !*budget) return true;
    --*budget;
    if (!op) return !value_is_param(v);
    if (!op_is_pure(op->kind)) return true;
    for (uint32_t i = 0; i < op->nargs; i++) {
        if (reaches(op->args[i], index, budget)) return true;
    }
    return false;
}

/* May the mask have to do with this index? What it loads or a loop hands it may, and what is too long to tell. */
static bool depends(const Value *mask, const Value *index) {
    uint32_t budget = 200;
    return mask && reaches(mask, index, &budget);
}

static const Value *mask_of(const Op *op) {
    uint32_t at = op->kind == OP_LOAD ? 1 : 2;
    return op->nargs > at ? op->args[at] : NULL;
}

/* ---- Contracts --------------------------------------------------------------------------------------------------- */

static const RecordParam *record_param(const Lint *l, const Value *param) {
    const char *name = l->f->params.at[param->index].name;
    for (uint32_t i = 0; l->r && i < l->r->num_params; i++) {
        if (strcmp(l->r->params[i].name, name) == 0) return &l->r->params[i];
    }
    return NULL;
}

/* "$4" → the parameter with that number; NULL: the code is something else. */
static const RecordParam *code_param(const Lint *l, const char *code) {
    char *end = NULL;
    if (code[0] != '$') return NULL;
    unsigned long n = strtoul(code + 1, &end, 10);
    return *end || n >= l->r->num_params ? NULL : &l->r->params[n];
}

static bool code_number(const Lint *l, const char *code, int64_t *n) {
    const RecordParam *p = code_param(l, code);
    const char *text = p && p->kind == RECORD_CONSTEXPR && p->value_kind == RECORD_INT ? p->value : code;
    char *end = NULL;
    *n = strtoll(text, &end, 10);
    return end != text && !*end;
}

/* Does the part move along the dimension with this stride? */
static bool has_stride(const Lint *l, const Part *part, const char *stride) {
    const RecordParam *p = code_param(l, stride);
    int64_t n;
    if (code_number(l, stride, &n)) return !part->by[0] && part->scale == n;
    return p && part->by[0] && part->scale == 1 && strcmp(l->f->params.at[part->by[0]->index].name, p->name) == 0;
}

/* Does a launch rule speak of this extent, so that sizes may fit by construction? */
static bool is_ruled(const Lint *l, const char *code) {
    size_t n = strlen(code);
    for (uint32_t i = 0; i < l->r->num_requires + l->r->num_params; i++) {
        const char *text = i < l->r->num_requires ? l->r->requires[i].code : l->r->params[i - l->r->num_requires].rule;
        for (const char *at = text ? strstr(text, code) : NULL; at; at = strstr(at + 1, code)) {
            if (at[n] == ' ' || at[n] == '\0') return true;
        }
    }
    return false;
}

/* ---- Masks ------------------------------------------------------------------------------------------------------- */

/* A comparison in the mask that lets index == extent through; or NULL. `index`: the one part along the dimension. */
static const Op *late_bound(const Lint *l, const Value *mask, const Part *index, const char *extent, uint32_t depth) {
    while (mask && mask->def && (mask->def->kind == OP_BROADCAST || mask->def->kind == OP_EXPAND))
        mask = mask->def->args[0];
    const Op *op = mask ? mask->def : NULL;
    if (op && op->kind == OP_AND && depth) {
        const Op *first = late_bound(l, op->args[0], index, extent, depth - 1);
        return first ? first : late_bound(l, op->args[1], index, extent, depth - 1);
    }
    bool less = op && op->kind == OP_ICMP && (op->attr.pred == PRED_SLT || op->attr.pred == PRED_SLE);
    if (!less) return NULL;
    Parts x = parts_of(op->args[0]), n = parts_of(op->args[1]);
    const RecordParam *p = code_param(l, extent);
    bool is_extent = p && n.len == 1 && n.at[0].scale == 1 && !n.at[0].by[0] && value_is_param(n.at[0].v) &&
                     strcmp(l->f->params.at[n.at[0].v->index].name, p->name) == 0;
    bool is_index = x.len == 1 && x.at[0].scale == 1 && !x.at[0].by[0] && same_index(x.at[0].v, index->v);
    int64_t beyond = (int64_t)((uint64_t)n.constant - (uint64_t)x.constant + (op->attr.pred == PRED_SLE));
    return is_extent && is_index && beyond > 0 ? op : NULL;
}

/* One dimension of an access: `index` is its arange among the parts. */
static void check_dim(const Lint *l, const Op *op, const RecordParam *of, uint32_t dim, const Parts *p,
                      const Part *index) {
    const char *extent = of->dims[dim].extent;
    const RecordParam *n = code_param(l, extent);
    const Value *mask = mask_of(op);
    uint64_t shift = index->by[0] || index->scale != 1 ? 0 : (uint64_t)p->constant;
    int64_t size = 0, end = (int64_t)((uint64_t)index->v->def->attr.end + shift);
    bool is_alone = true, is_number = code_number(l, extent, &size);
    for (uint32_t i = 0; i < p->len; i++) {
        const Part *other = &p->at[i];
        if (other == index || !has_stride(l, other, of->dims[dim].stride)) continue;
        is_alone = false;
        bool is_plain = value_is_param(other->v) || (other->v->def && other->v->def->kind == OP_PID);
        if (!is_plain) return;
    }
    const char *what = is_number ? arena_printf(l->f->arena, "%" PRId64, size) : n ? n->name : NULL;
    if (!what || (is_number && (!is_alone || end <= size))) return;
    if (depends(mask, index->v)) {
        const Op *late = is_alone && !is_number ? late_bound(l, mask, index, extent, 6) : NULL;
        if (!late) return;
        diag(l->d, op->span, W_MASK_LATE, what, of->name, dim);
        diag_note(l->d, late->span, "the mask is made here; take index < %s", what);
    } else if (is_number || !is_ruled(l, extent)) {
        diag(l->d, op->span, W_MASK_MISSING, of->name, what, dim, index->v->def->attr.end - 1);
        diag_note(l->d, index->v->def->span,
                  "this index goes along the axis; a mask such as index < %s keeps it inside", what);
    }
}

static void check_masks(const Lint *l, const Op *op) {
    Parts p;
    const Value *param = address_parts(op->args[0], 1, &p);
    const RecordParam *of = param ? record_param(l, param) : NULL;
    if (!of || !of->num_dims || !p.is_known) return;
    for (uint32_t i = 0; i < p.len; i++) {
        for (uint32_t dim = 0; dim < of->num_dims && is_arange(p.at[i].v); dim++) {
            if (has_stride(l, &p.at[i], of->dims[dim].stride)) check_dim(l, op, of, dim, &p, &p.at[i]);
        }
    }
}

/* ---- Overlaps ---------------------------------------------------------------------------------------------------- */

/* A whole tile goes to fewer addresses: the axis along which they repeat, and the values do not; rank: none. */
static uint32_t repeated_axis(const Lint *l, const Op *op) {
    const Value *ptr = op->args[0], *value = op->args[1], *mask = mask_of(op);
    uint32_t d = 0;
    for (; d < ptr->type.shape.rank; d++) {
        uint32_t run = fact_of(l->facts, ptr)->constant[d];
        bool same_value =
            fact_of(l->facts, value)->constant[d] >= run ||
            (value->def && value->def->kind == OP_LOAD && fact_of(l->facts, value->def->args[0])->constant[d] >= run);
        if (run > 1 && !same_value && (!mask || fact_of(l->facts, mask)->constant[d] >= run)) break;
    }
    return d;
}

static void check_overlap(const Lint *l, const Op *op) {
    uint32_t axis = repeated_axis(l, op);
    if (axis < op->args[0]->type.shape.rank) {
        diag(l->d, op->span, W_STORE_REPEATED, axis);
        diag_note(l->d, op->span, "which of them stays is not said; reduce them first, or let the mask choose one");
        return;
    }
    Parts p;
    const Part *inner = NULL;
    if (!address_parts(op->args[0], 1, &p) || !p.is_known) return;
    for (uint32_t i = 0; i < p.len; i++) {
        const Value *v = p.at[i].v;
        if (!value_is_param(v) && !is_arange(v) && !(v->def && v->def->kind == OP_PID)) return;
        if (is_arange(v) && !p.at[i].by[0] && p.at[i].scale == 1) inner = &p.at[i];
    }
    if (!inner || depends(mask_of(op), inner->v)) return;
    int64_t size = inner->v->def->attr.end - inner->v->def->attr.start;
    for (uint32_t i = 0; i < p.len; i++) {
        const Part *outer = &p.at[i];
        int64_t step = outer->scale < 0 ? (int64_t)(0 - (uint64_t)outer->scale) : outer->scale;
        if (outer == inner || outer->by[0] || value_is_param(outer->v) || step <= 0 || step >= size) continue;
        diag(l->d, op->span, W_STORE_OVERLAP, is_arange(outer->v) ? "rows" : "programs", size, step);
        diag_note(l->d, outer->v->def->span,
                  "this counts in steps of %" PRId64 "; step by %" PRId64 ", or mask off the rest", step, size);
        return;
    }
}

static void check_op(void *context, Op *op) {
    const Lint *l = context;
    if (op->kind == OP_REDUCE) lint_reduction(op, l->facts, l->d);
    bool is_tile_access = (op->kind == OP_LOAD || op->kind == OP_STORE) && value_is_tile(op->args[0]);
    if (!is_tile_access || op->parent != l->f->body) return;
    check_masks(l, op);
    if (op->kind == OP_STORE) check_overlap(l, op);
}

void lint_function(Func *f, const Record *r, Diag *d) {
    Arena *scratch = arena_create();
    Lint l = {f, r, facts_compute(f, scratch), d};
    func_walk(f, check_op, &l);
    arena_destroy(scratch);
}
