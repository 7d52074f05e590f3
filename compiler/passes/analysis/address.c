/* address.c - an address as its pointer and a sum: what warnings and remarks read off it.
 *
 * In: a pointer or an integer, scalar or tile. Out: the parameter below, and scale * by * v for every part of the
 * offset. Conversions and changes of shape are looked through; a part is whatever else is no sum, no product by a
 * constant or a parameter. Exact but for values that wrap, which is enough for a message.
 */
#include "passes/private.h"

enum { MOST_DEPTH = 16, MOST_VISITS = 200 };

static const Value *strip(const Value *v) {
    while (v->def) {
        OpKind k = v->def->kind;
        bool converts = k == OP_SEXT || k == OP_ZEXT || k == OP_TRUNC || k == OP_BITCAST;
        if (!converts && op_class(k) != CLASS_REPEAT && k != OP_CONVERT) break;
        v = v->def->args[0];
    }
    return v;
}

bool value_is_param(const Value *v) {
    return !v->def && v->block && !v->block->owner;
}

/* x * y + z modulo 2^64. */
static int64_t wrap(int64_t x, int64_t y, int64_t z) {
    return (int64_t)((uint64_t)x * (uint64_t)y + (uint64_t)z);
}

static void add_part(Parts *p, const Value *v, const Value *by, int64_t scale) {
    for (uint32_t i = 0; i < p->len; i++) {
        if (p->at[i].v == v && p->at[i].by == by) {
            p->at[i].scale = wrap(p->at[i].scale, 1, scale);
            return;
        }
    }
    if (p->len == COUNT(p->at)) p->is_known = false;
    else p->at[p->len++] = (Part){v, by, scale};
}

static void add_value(Parts *p, const Value *v, const Value *by, int64_t scale, uint32_t depth) {
    if (++p->visits > MOST_VISITS) p->is_known = false;
    if (!p->is_known) return;
    v = strip(v);
    const Op *op = v->def;
    OpKind k = op && depth ? op->kind : OP_COUNT;
    int64_t c;
    if (op && !by && value_const(v, &c)) {
        p->constant = wrap(scale, c, p->constant);
    } else if (k == OP_ADD || k == OP_SUB) {
        add_value(p, op->args[0], by, scale, depth - 1);
        add_value(p, op->args[1], by, k == OP_ADD ? scale : wrap(scale, -1, 0), depth - 1);
    } else if (k == OP_MUL && (value_const(op->args[0], &c) || value_const(op->args[1], &c))) {
        add_value(p, op->args[value_const(op->args[0], &c)], by, wrap(scale, c, 0), depth - 1);
    } else if (k == OP_MUL && !by && value_is_param(strip(op->args[1]))) {
        add_value(p, op->args[0], strip(op->args[1]), scale, depth - 1);
    } else if (k == OP_MUL && !by && value_is_param(strip(op->args[0]))) {
        add_value(p, op->args[1], strip(op->args[0]), scale, depth - 1);
    } else {
        add_part(p, v, by, scale);
    }
}

Parts parts_of(const Value *v) {
    Parts p = {.is_known = true};
    add_value(&p, v, NULL, 1, MOST_DEPTH);
    return p;
}

const Value *address_parts(const Value *ptr, Parts *p) {
    *p = (Parts){.is_known = true};
    for (ptr = strip(ptr); ptr->def && ptr->def->kind == OP_ADDPTR; ptr = strip(ptr->def->args[0])) {
        add_value(p, ptr->def->args[1], NULL, 1, MOST_DEPTH);
    }
    return value_is_param(ptr) ? ptr : NULL;
}
