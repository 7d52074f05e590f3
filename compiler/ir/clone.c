/* clone.c - copies of ops with their regions, operands mapped.
 *
 * In: an op anywhere in the function, a map from values to values. Out: the copy at the builder's place; the map gains
 * what the copy defines. The map grows with the function, so copies of copies need no new one.
 */
#include "ir/private.h"

#include <string.h>

ValueMap valuemap_create(Func *f) {
    return (ValueMap){NEW_ARRAY(f->arena, Value *, f->next_value), f->next_value};
}

void valuemap_set(Func *f, ValueMap *m, const Value *from, Value *to) {
    if (from->id >= m->len) {
        uint32_t len = f->next_value > 2 * m->len ? f->next_value : 2 * m->len;
        Value **at = NEW_ARRAY(f->arena, Value *, len);
        if (m->len) memcpy(at, m->at, m->len * sizeof *at);
        *m = (ValueMap){at, len};
    }
    m->at[from->id] = to;
}

Value *valuemap_get(const ValueMap *m, Value *from) {
    Value *to = from->id < m->len ? m->at[from->id] : NULL;
    return to ? to : from;
}

static void clone_results(Func *f, const Op *from, Op *to, ValueMap *map) {
    if (op_info[from->kind].nresults == 1) {
        Infer in = {f->layouts, to->kind, to->args, to->nargs, to->attr, from->results[0]->type, {0}, ""};
        if (!op_infer(&in)) bug("op_clone: %s in %s: %s", op_info[to->kind].name, f->name, in.why);
        valuemap_set(f, map, from->results[0], op_add_result(f, to, in.result, from->results[0]->name));
        return;
    }
    for (uint32_t i = 0; i < from->nresults; i++) {
        const Value *v = from->results[i];
        valuemap_set(f, map, v, op_add_result(f, to, v->type, v->name));
    }
}

static void clone_region(Builder *b, const Block *from, Op *owner, ValueMap *map) {
    Block *to = op_add_region(b->f, owner);
    for (uint32_t i = 0; i < from->args.len; i++) {
        const Value *v = from->args.at[i];
        valuemap_set(b->f, map, v, block_add_arg(b->f, to, v->type, v->name));
    }
    Builder inner = builder_at_end(b->f, to);
    for (const Op *op = from->first; op; op = op->next) op_clone(&inner, op, map);
}

Op *op_clone(Builder *b, const Op *op, ValueMap *map) {
    Op *copy = op_create(b->f, op->kind, op->args, op->nargs, op->attr, op->span);
    for (uint32_t i = 0; i < op->nargs; i++) op_set_arg(b->f, copy, i, valuemap_get(map, op->args[i]));
    for (uint32_t i = 0; i < op->nregions; i++) clone_region(b, op->regions[i], copy, map);
    clone_results(b->f, op, copy, map);
    op_link(b, copy);
    return copy;
}
