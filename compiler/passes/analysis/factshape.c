/* factshape.c - the rules of facts for ops that move elements and compute nothing: reshape, trans, join, split, gather.
 *
 * In: an op and the facts of its operands. Out: the fact of its result.
 * Method: an axis is a field of bits of the flat index. An axis of the result whose lowest bit is the lowest bit of an
 * axis of the operand has that axis' runs, as far as both reach; one that begins within an axis takes strides along it,
 * and has only what the runs of equal elements leave.
 */
#include "passes/analysis/factop.h"

/* What is known of every element is known of each run's first. */
static Fact of_elements(Type t, const Fact *a, uint32_t divisible) {
    Fact r = fact_bottom(t);
    for (uint32_t d = 0; d < axes_of(t); d++) r.divisible[d] = divisible;
    r.lo = a->lo;
    r.hi = a->hi;
    return r;
}

/* Axis d of the result is axis s of the operand, or as much of it as `size` elements. */
static void take_axis(Fact *r, uint32_t d, const Fact *a, uint32_t s, uint32_t size, Type t) {
    uint32_t run = least(a->contiguous[s], size);
    r->contiguous[d] = run;
    r->constant[d] = least(a->constant[s], size);
    if (t.dtype != DT_I1) r->divisible[d] = start_divisible(a, s, run, unit_of(t));
    r->prefix[d] = a->prefix[s] && run > r->constant[d];
    if (t.dtype == DT_I1 && !r->prefix[d]) r->contiguous[d] = 1;
}

/* The axis of s that holds this bit of the flat index. */
static uint32_t axis_at(Shape s, uint32_t bit) {
    uint32_t d = s.rank - 1u;
    while (shape_offset(s, d) + s.log2[d] <= bit) d--;
    return d;
}

Fact fact_reshape(const Op *op, const Fact *a) {
    Type t = op->results[0]->type, from = op->args[0]->type;
    Fact r = of_elements(t, a, all_divisible(a, from));
    for (uint32_t d = 0; d < t.shape.rank; d++) {
        if (t.shape.log2[d] == 0) continue;
        uint32_t begin = shape_offset(t.shape, d), s = axis_at(from.shape, begin);
        uint32_t skipped = begin - shape_offset(from.shape, s);
        if (skipped == 0)
            take_axis(&r, d, a, s, axis_size(t, d), t);
        else
            r.constant[d] = least(most(a->constant[s] >> skipped, 1), axis_size(t, d));
    }
    return r;
}

Fact fact_trans(const Op *op, const Fact *a) {
    Type t = op->results[0]->type;
    Fact r = *a;
    uint8_t perm[SHAPE_RANK];
    attr_perm_read(op->attr, perm);
    for (uint32_t d = 0; d < t.shape.rank; d++) {
        r.contiguous[d] = a->contiguous[perm[d]];
        r.constant[d] = a->constant[perm[d]];
        r.divisible[d] = a->divisible[perm[d]];
        r.prefix[d] = a->prefix[perm[d]];
    }
    return r;
}

/* Along an axis without a bit of the mask all is as it was; along others, runs of equal elements stay runs. */
Fact fact_flip(const Op *op, const Fact *a) {
    Type t = op->results[0]->type;
    Fact r = of_elements(t, a, all_divisible(a, t));
    for (uint32_t d = 0; d < t.shape.rank; d++) {
        r.constant[d] = a->constant[d];
        if (!(shape_field(t.shape, d) & op->attr.flip)) take_axis(&r, d, a, d, axis_size(t, d), t);
    }
    return r;
}

Fact fact_join_halves(const Op *op, const Fact *a, const Fact *b) {
    const Value *half = op->args[0];
    uint32_t last = op->results[0]->type.shape.rank - 1u;
    Fact r = fact_join(half, a, b);
    r.contiguous[last] = r.constant[last] = 1;
    r.divisible[last] = least(all_divisible(a, half->type), all_divisible(b, half->type));
    r.prefix[last] = false;
    return r;
}

Fact fact_split(const Op *op, const Fact *a) {
    Type t = op->results[0]->type, from = op->args[0]->type;
    Fact r = of_elements(t, a, all_divisible(a, from));
    for (uint32_t d = 0; d < t.shape.rank; d++) take_axis(&r, d, a, d, axis_size(t, d), t);
    return r;
}

/* Along the axis an index that stands still takes one element again and again. */
Fact fact_gather(const Op *op, const Fact *a, const Fact *index) {
    Fact r = of_elements(op->results[0]->type, a, all_divisible(a, op->args[0]->type));
    r.constant[op->attr.axis] = index->constant[op->attr.axis];
    return r;
}
