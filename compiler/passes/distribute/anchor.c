/* anchor.c - the layouts that memory wants.
 *
 * In: the accesses of a function, and what they voted for (vote.c). Out: a blocked layout for each shape, axis and
 * vector. So tiles that are loaded and stored together share a layout.
 */
#include "passes/distribute/assign.h"

enum {
    ROW_LANES = 3, /* log2: so many lanes with vectors of 16 bytes load 128 */
    RUN_LOG2 = 6   /* elements of a row that a warp moves at once beside those of other rows */
};

static Anchor *anchor_of(Assign *s, Shape shape, uint32_t axis) {
    for (uint32_t i = 0; i < s->anchors.len; i++) {
        if (shape_equal(s->anchors.at[i].shape, shape) && s->anchors.at[i].axis == axis) return &s->anchors.at[i];
    }
    vec_push(s->scratch, &s->anchors, ((Anchor){.shape = shape, .axis = axis}));
    return &s->anchors.at[s->anchors.len - 1];
}

/* As its accesses voted. */
static Anchor *anchor_of_access(Assign *s, const Op *op) {
    Vote vote = vote_of(s->votes, op);
    Shape shape = op->args[0]->type.shape;
    for (uint32_t i = 0; i < s->anchors.len; i++) {
        Anchor *a = &s->anchors.at[i];
        if (shape_equal(a->shape, shape) && a->axis == vote.axis && a->voted_log2 == vote.vec_log2) return a;
    }
    Anchor made = {.shape = shape, .axis = vote.axis, .voted_log2 = vote.vec_log2, .vec_log2 = vote.vec_log2};
    vec_push(s->scratch, &s->anchors, made);
    return &s->anchors.at[s->anchors.len - 1];
}

void anchor_note(void *assign, Op *op) {
    Assign *s = assign;
    s->transposes |= op->kind == OP_TRANS;
    if (op->kind == OP_MMA)
        vec_push(s->scratch, &s->sums,
                 mma_layout(s->f->layouts, op->attr, op->results[0]->type.shape, s->warps_log2, MMA_C));
    if (op_is_access(op->kind) && value_is_tile(op->args[0])) (void)anchor_of_access(s, op);
}

/* Where tiles are transposed, registers beyond the vector take the lowest bits along the next axis, as many as the
 * vector has: so a tile and its transpose have registers in common, which cross shared memory side by side. All but bit
 * 0: of rows that follow each other in memory two neighbours may be in one sector. Not where a row is less than the 128
 * bytes that lanes load at once. */
static const Layout *for_transpose(const Assign *s, const Layout *l, const uint8_t *order, uint32_t vec) {
    if (!s->transposes || l->shape.rank < 2 || s->ctas_log2 || l->shape.log2[order[0]] < vec + ROW_LANES) return l;
    uint32_t next = order[1], size = l->shape.log2[next], registers = l->bits[IN_REGISTER], n = 0;
    uint32_t top = shape_offset(l->shape, next) + size - 1;
    while (n + 1 < vec && n + 1 < size && n < registers && l->basis[IN_REGISTER][registers - 1 - n] == 1u << (top - n))
        n++;
    return n ? layout_rotate(s->f->layouts, l, next, 1, n) : l;
}

/* Of a product of that shape: does no thread hold parts along the axis? */
static bool lacks_parts(const Assign *s, Shape shape, uint32_t axis) {
    for (uint32_t i = 0; i < s->sums.len; i++)
        if (shape_equal(s->sums.at[i]->shape, shape)) return layout_parts_log2(s->sums.at[i], axis) == 0;
    return false;
}

/* Of what is as large as a product whose rows the warps share out among them: a warp takes runs of several rows, and
 * the rest of each row is registers. So it is cut into strips along the rows (strips.c). NULL: there are strips across
 * them, or the rows are too short, or too few. */
static const Layout *for_strips(const Assign *s, const Anchor *a) {
    uint32_t x = a->axis, other = x ^ 1;
    if (s->ctas_log2 || a->shape.rank != 2 || !lacks_parts(s, a->shape, other)) return NULL;
    if (a->shape.log2[x] <= RUN_LOG2 || a->vec_log2 > RUN_LOG2 ||
        a->shape.log2[other] + (uint32_t)RUN_LOG2 < a->vec_log2 + s->lanes_log2 + s->warps_log2)
        return NULL;
    Shape cut = {.rank = 3}; /* the row as runs */
    const uint8_t runs = (uint8_t)(a->shape.log2[x] - RUN_LOG2), size = a->shape.log2[other];
    cut.log2[0] = x == 0 ? runs : size;
    cut.log2[1] = x == 0 ? RUN_LOG2 : runs;
    cut.log2[2] = x == 0 ? size : RUN_LOG2;
    const uint8_t along_first[] = {1, 2, 0}, along_last[] = {2, 0, 1};
    const Layout *l = layout_blocked(s->f->layouts, cut, x == 0 ? along_first : along_last, a->vec_log2, s->lanes_log2,
                                     s->warps_log2, 0);
    return layout_reshape(s->f->layouts, l, a->shape);
}

static const Layout *build_layout(Assign *s, Anchor *a) {
    if (a->layout) return a->layout;
    a->layout = for_strips(s, a);
    if (a->layout) return a->layout;
    uint8_t order[SHAPE_RANK];
    uint32_t n = 0;
    order[n++] = (uint8_t)a->axis;
    for (uint32_t d = a->shape.rank; d-- > 0;) {
        if (d != a->axis) order[n++] = (uint8_t)d;
    }
    a->layout = layout_blocked(s->f->layouts, a->shape, order, a->vec_log2, s->lanes_log2, s->warps_log2, s->ctas_log2);
    a->layout = for_transpose(s, a->layout, order, a->vec_log2);
    return a->layout;
}

const Layout *anchor_layout(Assign *s, Shape shape, uint32_t axis) {
    return build_layout(s, anchor_of(s, shape, axis));
}

const Layout *anchor_access(Assign *s, const Op *op) {
    return build_layout(s, anchor_of_access(s, op));
}

/* A row of one element for each thread, or each warp, and the tile that it is made of. */
void anchor_note_warps(void *assign, Op *op) {
    Assign *s = assign;
    if (op->kind != OP_REDUCEWARP) return;
    Shape tile = op->args[0]->type.shape, few = op->results[0]->type.shape;
    uint32_t warps_log2 = s->warps_log2 + s->ctas_log2;
    bool is_of_warps = few.log2[0] == warps_log2;
    uint32_t each_log2 = tile.log2[0] - s->lanes_log2 - warps_log2; /* of a thread */
    for (uint32_t i = 0; i < s->anchors.len; i++) {
        if (shape_equal(s->anchors.at[i].shape, few)) return;
        if (shape_equal(s->anchors.at[i].shape, tile) && s->anchors.at[i].vec_log2 > each_log2)
            s->anchors.at[i].vec_log2 = each_log2;
    }
    const Layout *l = anchor_default(s, tile);
    l = is_of_warps ? layout_partial(s->f->layouts, l, 0) : layout_partial_threads(s->f->layouts, l, 0);
    if (!shape_equal(l->shape, few)) bug("layout: a chunk is not of the warps that it was made for");
    vec_push(s->scratch, &s->anchors, ((Anchor){.shape = l->shape, .layout = l, .is_warps = is_of_warps}));
}

bool anchor_is_warps(const Assign *s, Shape shape) {
    for (uint32_t i = 0; i < s->anchors.len; i++)
        if (s->anchors.at[i].is_warps && shape_equal(s->anchors.at[i].shape, shape)) return true;
    return false;
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
