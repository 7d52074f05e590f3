/* anchor.c - the layouts that memory wants.
 *
 * In: the accesses of a function, facts about their pointers. Out: for each shape and axis one blocked layout, with the widest
 * vector that any of its accesses allows, so that what is loaded and stored together lies alike.
 */
#include "passes/assign.h"

uint32_t anchor_axis(const Assign *s, const Value *ptr) {
    const Fact *fact = fact_of(s->facts, ptr);
    uint32_t rank = ptr->type.shape.rank, best = rank - 1;
    for (uint32_t d = rank; d-- > 0;) {
        if (fact->contiguous[d] > fact->contiguous[best]) best = d;
    }
    return best;
}

static Anchor *anchor_of(Assign *s, Shape shape, uint32_t axis) {
    for (uint32_t i = 0; i < s->anchors.len; i++) {
        if (shape_equal(s->anchors.at[i].shape, shape) && s->anchors.at[i].axis == axis) return &s->anchors.at[i];
    }
    Anchor a = {.shape = shape, .axis = axis};
    vec_push(s->scratch, &s->anchors, a);
    return &s->anchors.at[s->anchors.len - 1];
}

void anchor_note(void *assign, Op *op) {
    Assign *s = assign;
    if (!op_is_access(op->kind) || !value_is_tile(op->args[0])) return;
    const Value *ptr = op->args[0];
    uint32_t axis = anchor_axis(s, ptr), vec = facts_vector(s->facts, ptr, axis, s->c->target.max_vector_bytes);
    if (op->attr.mem.is_shifted) vec = op->attr.mem.vec_log2;
    if (op_is_atomic(op->kind)) vec = 0;
    Anchor *a = anchor_of(s, ptr->type.shape, axis);
    if (vec > a->vec_log2) a->vec_log2 = vec;
}

const Layout *anchor_layout(Assign *s, Shape shape, uint32_t axis) {
    Anchor *a = anchor_of(s, shape, axis);
    if (a->layout) return a->layout;
    uint8_t order[5];
    uint32_t n = 0;
    order[n++] = (uint8_t)axis;
    for (uint32_t d = shape.rank; d-- > 0;) {
        if (d != axis) order[n++] = (uint8_t)d;
    }
    a->layout = layout_blocked(s->f->layouts, shape, order, a->vec_log2, 5, s->warps_log2, s->ctas_log2);
    return a->layout;
}

const Layout *anchor_default(Assign *s, Shape shape) {
    for (uint32_t i = 0; i < s->anchors.len; i++) {
        if (shape_equal(s->anchors.at[i].shape, shape)) return anchor_layout(s, shape, s->anchors.at[i].axis);
    }
    return anchor_layout(s, shape, shape.rank - 1u);
}

uint32_t anchor_shape_axis(const Assign *s, Shape shape) {
    for (uint32_t i = 0; i < s->anchors.len; i++) {
        if (shape_equal(s->anchors.at[i].shape, shape)) return s->anchors.at[i].axis;
    }
    return shape.rank - 1u;
}
