/* optable.c - the op table, and what is asked of it.
 *
 * In: a kind of op. Out: what its row in ops.def says, and what follows from that.
 */
#include "ir/private.h"

#include <math.h>
#include <string.h>

const OpInfo op_info[OP_COUNT] = {
#define OP(e, name, nargs, nresults, attr, class, effect, stage, cost, algebra, neutral, infer, fold, meaning)         \
    [OP_##e] = {name,          nargs,       nresults,          ATTR_##attr,       CLASS_##class, EFFECT_##effect,      \
                STAGE_##stage, COST_##cost, ALGEBRA_##algebra, NEUTRAL_##neutral, meaning},
#include "ir/ops.def"
#undef OP
};

#define OP(e, name, nargs, nresults, attr, class, effect, ...)                                                         \
    _Static_assert((CLASS_##class != CLASS_ELEMENT && CLASS_##class != CLASS_COPY) ||                                  \
                       (EFFECT_##effect == EFFECT_PURE && (nresults) == 1),                                            \
                   name " is elementwise: pure, with one result");
#include "ir/ops.def"
#undef OP

bool op_find(const char *name, OpKind *out) {
    for (uint32_t i = 0; i < OP_COUNT; i++) {
        if (strcmp(op_info[i].name, name) != 0) continue;
        *out = (OpKind)i;
        return true;
    }
    return false;
}

bool op_is_atomic(OpKind k) {
    return k == OP_ATOMICRMW || k == OP_ATOMICCAS;
}

bool op_is_read(OpKind k) {
    return k == OP_LOAD || k == OP_COPYASYNC;
}

bool op_has_map(OpKind k) {
    return k == OP_BULKLOAD || k == OP_BULKSTORE;
}

bool op_is_copy(OpKind k) {
    return k == OP_COPYASYNC || k == OP_BULKLOAD;
}

bool op_is_access(OpKind k) {
    return op_class(k) == CLASS_MEMORY || k == OP_COPYASYNC;
}

bool op_has_memory(OpKind k) {
    return op_info[k].attr == ATTR_MEM || op_info[k].attr == ATTR_COPY;
}

bool op_is_combine(OpKind k) {
    return op_class(k) == CLASS_COMBINE;
}

bool op_is_tile_maker(const Op *op) {
    return op_cost(op) == COST_FREE && op_class(op->kind) != CLASS_MOVE && value_is_tile(op->results[0]);
}

OpCost op_cost(const Op *op) {
    return op->attr.accuracy ? COST_RELAXED : op_info[op->kind].cost;
}

/* What the attribute of a pure op says, in two numbers. */
typedef struct AttrKey {
    uint64_t a, b;
} AttrKey;

static AttrKey key_of(const Op *op) {
    const Attr *x = &op->attr;
    switch (op_info[op->kind].attr) {
    case ATTR_NONE: return (AttrKey){0, 0};
    case ATTR_BITS: return (AttrKey){(uint64_t)x->bits, 0};
    case ATTR_AXIS: return (AttrKey){x->axis, 0};
    case ATTR_PERM: return (AttrKey){x->perm, 0};
    case ATTR_HALF: return (AttrKey){x->half, 0};
    case ATTR_BITMASK: return (AttrKey){x->flip, 0};
    case ATTR_RANGE: return (AttrKey){(uint64_t)x->start, (uint64_t)x->end};
    case ATTR_PRED: return (AttrKey){x->pred, (uint64_t)x->axis << 8 | x->run_log2};
    case ATTR_ROUND: return (AttrKey){x->round, 0};
    case ATTR_ACCURACY: return (AttrKey){x->accuracy, 0};
    case ATTR_DOT:
        return (AttrKey){x->imprecise,
                         (uint64_t)x->precision << 2 | (uint64_t)x->is_unsigned[1] << 1 | x->is_unsigned[0]};
    case ATTR_MMA: return (AttrKey){x->instr, x->warps_m_log2};
    case ATTR_SHARED: return (AttrKey){x->buffer, 0};
    case ATTR_REDUCE:
        return (AttrKey){x->axis, (uint64_t)x->combine << 3 | (uint64_t)x->is_paired << 2 |
                                     (uint64_t)x->is_packed << 1 | x->is_scattered};
    case ATTR_MEM: case ATTR_COPY: case ATTR_BULK: case ATTR_PENDING: case ATTR_COMBINE:
    case ATTR_SCOPE: case ATTR_TEXT: case ATTR_LOOP: break;
    }
    bug("op_key: %s is not pure", op_info[op->kind].name);
}

bool op_same(const Op *x, const Op *y) {
    if (x->kind != y->kind || x->attr.when != y->attr.when) return false;
    AttrKey a = key_of(x), b = key_of(y);
    return a.a == b.a && a.b == b.b;
}

uint64_t op_key(const Op *op) {
    AttrKey k = key_of(op);
    return (k.a * 31 + k.b) * OP_COUNT + op->kind;
}

int64_t op_neutral(OpKind k, DType d) {
    int64_t sign = (int64_t)(UINT64_C(1) << (dtype_bits(d) - 1)), least = int_wrap(d, sign);
    switch (op_info[k].neutral) {
    case NEUTRAL_ZERO: return 0; /* of floats the positive one */
    case NEUTRAL_ONE: return dtype_kind(d) == KIND_FLOAT ? float_to_bits(d, 1) : 1;
    case NEUTRAL_ONES: return int_wrap(d, -1);
    case NEUTRAL_LEAST: return least;
    case NEUTRAL_MOST: return ~least;
    case NEUTRAL_NEG_ZERO: return float_to_bits(d, -0.0);
    case NEUTRAL_QUIET_NAN: return float_nan(d);
    case NEUTRAL_NEG_INF: return float_to_bits(d, -(double)INFINITY);
    case NEUTRAL_POS_INF: return float_to_bits(d, (double)INFINITY);
    case NEUTRAL_NONE: break;
    }
    bug("op_neutral: %s", op_info[k].name);
}
