/* outcome.c - the second half of a record: what the passes decided.
 *
 * In: a function behind its passes. Out: its compilation's record, whole, and its text.
 */
#include "driver.h"

#include "passes/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The record's parameter for one of the function's; -1: it has none. */
static int32_t record_param(const fsc_compilation *c, uint32_t index) {
    const char *name = c->func->params.at[index].name;
    for (uint32_t i = 0; i < c->record->num_params; i++) {
        if (strcmp(c->record->params[i].name, name) == 0) return (int32_t)i;
    }
    return -1;
}

/* The parameter of the record that a pointer comes from, through address arithmetic; -1 where control flow hides it. */
static int32_t pointer_param(const fsc_compilation *c, const Value *v) {
    while (v->def && v->def->nargs && !v->def->nregions && !op_is_access(v->def->kind)) v = v->def->args[0];
    return v->def || v->block != c->func->body ? -1 : record_param(c, v->index);
}

static void note_bulk(fsc_compilation *c, const Op *op) {
    const BoxMap *m = &c->func->maps.at[op->attr.map];
    const Buffer *b = &c->func->buffers.at[op->attr.buffer];
    Place p = diag_place(c->diag, op->span);
    enum { BULK_ALIGN_LOG2 = 4 };
    bool is_store = op->kind == OP_BULKSTORE;
    RecordAccess *a =
        record_add_access(c->record, is_store, p.line, p.col, m->span, dtype_name(b->dtype), BULK_ALIGN_LOG2);
    a->param = record_param(c, m->param);
}

static void note_access(void *context, Op *op) {
    fsc_compilation *c = context;
    if (op_has_map(op->kind) && !op->attr.is_begin) note_bulk(c, op); /* those before the loop are the same */
    if (!op_is_access(op->kind) || (op->kind == OP_COPYASYNC && !op->attr.is_prefetch)) return;
    const Value *ptr = op->args[0];
    Place p = diag_place(c->diag, op->span);
    uint32_t bytes = type_bytes(type_scalar(ptr->type.pointee)) << op->attr.mem.vec_log2;
    for (int is_store = 0; is_store < 2; is_store++) { /* an atomic is both */
        if (!op_is_atomic(op->kind) && is_store != (op->kind == OP_STORE)) continue;
        RecordAccess *a = record_add_access(c->record, is_store, p.line, p.col, bytes, dtype_name(ptr->type.pointee),
                                            op->attr.mem.align_log2);
        a->param = pointer_param(c, ptr);
    }
}

/* Of two parameters whose buffers must differ; null, as of empty arrays, is no buffer. */
static void note_apart(fsc_compilation *c, Apart apart) {
    int32_t a = record_param(c, apart.a), b = record_param(c, apart.b);
    char code[64], text[256];
    if (a < 0 || b < 0) return;
    snprintf(code, sizeof code, "$%d $%d != $%d not or", a, b, a);
    snprintf(text, sizeof text, "%s and %s to be different buffers (rows of this size are read more than once)",
             c->record->params[a].name, c->record->params[b].name);
    record_add_require(c->record, code, text);
}

/* A number times parameters, as a code. */
static const char *map_code(const fsc_compilation *c, int64_t number, const uint32_t *params, uint32_t n) {
    const char *code = arena_printf(c->arena, "%lld", (long long)number);
    for (uint32_t i = 0; i < n && params[i] != MAP_NO_PARAM; i++)
        code = i == 0 && number == 1 ? arena_printf(c->arena, "$%d", record_param(c, params[i]))
                                     : arena_printf(c->arena, "%s $%d *", code, record_param(c, params[i]));
    return code;
}

_Static_assert((int)MAPS_MOST == (int)RECORD_MAPS && (int)MAP_DIMS == (int)RECORD_BOXES,
               "a record has room for a function's maps");

static void note_map(fsc_compilation *c, const BoxMap *m) {
    int32_t param = record_param(c, m->param);
    if (param < 0) bug("the record has no parameter for a tensor map");
    record_add_map(c->record, (uint32_t)param, m->span);
    for (uint32_t d = 0; d < m->rank; d++) {
        const MapDim *dim = &m->dims[d];
        int64_t most = dim->extent == MAP_NO_PARAM ? dim->most : 1;
        record_add_box(c->record, dim->box, map_code(c, most, &dim->extent, 1),
                       d ? map_code(c, dim->scale, dim->stride, COUNT(dim->stride)) : NULL);
    }
}

/* Which lines the launch's needs come from: the number of warps is the source's own, or the largest tile's. */
static void note_needs(const fsc_compilation *c, const fsc_compile_options *o, RecordLaunch *l) {
    FuncLargest largest = func_largest(c->func);
    l->tile_line = diag_place(c->diag, largest.tile).line;
    l->threads_line = o->num_warps || c->record->num_warps ? diag_place(c->diag, c->func->span).line : l->tile_line;
    l->shared_line = l->shared_dynamic ? diag_place(c->diag, largest.shared).line : 0;
}

/* A launch whose programs wait for those ahead may begin before these end. Not if blocks meet over the grid: they have
 * to be on the device at once. */
static bool overlaps(const fsc_compilation *c) {
    const Op *op = target_has(c->target, FEATURE_CLUSTERS) ? c->func->body->first : NULL;
    while (op && op->kind != OP_GDCWAIT) op = op->next;
    return op && c->func->scope != SCOPE_GRID;
}

void driver_finish_record(fsc_compilation *c, const fsc_compile_options *o, bool threads) {
    if (!c->record) return;
    Func *f = c->func;
    record_set_target(c->record, c->target->name, FSC_VERSION, o->file);
    func_walk(f, note_access, c);
    for (uint32_t i = 0; i < f->apart.len; i++) note_apart(c, f->apart.at[i]);
    for (uint32_t i = 0; i < f->maps.len; i++) note_map(c, &f->maps.at[i]);
    uint32_t programs = f->programs_per_block ? f->programs_per_block : 1,
             blocks = f->blocks_per_program ? f->blocks_per_program : 1;
    RecordLaunch *l =
        record_add_launch(c->record, f->name, threads ? f->threads_per_program * f->programs_per_block : 0, programs,
                          blocks, f->shared_bytes);
    if (l && f->scope == SCOPE_GRID)
        l->scope = SCOPE_GRID, l->most_programs = f->grid_programs ? f->grid_programs : GRID_PROGRAMS;
    if (l && threads) note_needs(c, o, l);
    if (l && threads) l->resident = f->resident, l->overlaps = overlaps(c);
    size_t n = 0;
    char *text = record_write(c->record, &n);
    if (!text) bug("out of memory for the record of %s", f->name);
    text_write(&c->record_text, text, n);
    free(text);
}
