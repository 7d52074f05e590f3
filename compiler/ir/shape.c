/* shape.c - type rules and builders of the ops that move elements and compute nothing: splat, broadcast, reshape, ….
 *
 * In: an op's operands, attribute and wanted type. Out: the result's type,
 * or a clause that says why the op is not sound.
 * Method: an element's flat index decides where it goes, and a layout is a linear map onto flat indexes: reshape keeps
 * its bases, trans permutes their bits, join and split add and drop a register bit. So in registers these are free;
 * gather goes through shared memory.
 */
#include "ir/private.h"

static Type operand(const Infer *in) {
    return in->args[0]->type;
}

bool infer_splat(Infer *in) {
    if (operand(in).shape.rank) return infer_fail(in, "operand 0 is no scalar");
    if (!in->hint.shape.rank) return infer_fail(in, "the result is no tile");
    in->result = operand(in);
    in->result.shape = in->hint.shape;
    in->result.layout = in->hint.layout;
    return true;
}

bool infer_expand(Infer *in) {
    Type t = operand(in);
    if (in->attr.axis > t.shape.rank)
        return infer_fail(in, "axis %u where there are %u", in->attr.axis, t.shape.rank + 1u);
    if (t.shape.rank == 0 || t.shape.rank == SHAPE_RANK) return infer_fail(in, "operand 0 has rank %u", t.shape.rank);
    in->result = type_with_shape(t, shape_insert(t.shape, in->attr.axis));
    if (t.layout) in->result.layout = layout_expand(in->layouts, t.layout, in->attr.axis);
    return true;
}

bool infer_broadcast(Infer *in) {
    Type t = operand(in);
    const Layout *to = in->hint.layout;
    if (!t.shape.rank || !shape_broadcasts(t.shape, in->hint.shape))
        return infer_fail(in, "operand 0 does not broadcast to the result");
    if (!t.layout != !to) return infer_fail(in, "operand and result do not both have a layout");
    in->result = type_with_shape(t, in->hint.shape);
    in->result.layout = to;
    if (!to || layout_project(in->layouts, to, t.shape) == t.layout) return true;
    ConvertPlan plan;
    if (!layout_same_threads(t.layout, to)) return infer_fail(in, "the layouts are of different threads");
    convert_broadcast(t.layout, to, &plan);
    return plan.kind <= CONVERT_REGISTERS ||
           infer_fail(in, "a thread does not hold what the result's layout asks of it");
}

/* ---- Elements that stay in their thread -------------------------------------------------------------------------- */

Attr attr_perm(const uint8_t *perm, uint32_t rank) {
    Attr a = {0};
    for (uint32_t i = 0; i < rank; i++) a.perm |= (uint32_t)perm[i] << (4 * i);
    return a;
}

void attr_perm_read(Attr a, uint8_t perm[SHAPE_RANK]) {
    for (uint32_t i = 0; i < SHAPE_RANK; i++) perm[i] = (uint8_t)(a.perm >> (4 * i) & 15);
}

const Layout *op_moved_layout(Layouts *ls, OpKind k, Attr a, const Layout *from, Shape to) {
    uint8_t perm[SHAPE_RANK];
    switch (k) {
    case OP_RESHAPE: return layout_reshape(ls, from, to);
    case OP_TRANS: attr_perm_read(a, perm); return layout_transpose(ls, from, perm);
    case OP_JOIN: return layout_join(ls, from);
    case OP_SPLIT: return layout_split(ls, from, NULL);
    default: bug("op_moved_layout: %s", op_info[k].name);
    }
}

/* The result has the shape `to`, and the wanted layout if that only names the registers anew. */
static bool moved(Infer *in, Shape to) {
    Type t = operand(in);
    in->result = type_with_shape(t, to);
    if (!t.layout || !to.rank) return true;
    const Layout *own = op_moved_layout(in->layouts, in->kind, in->attr, t.layout, to), *wanted = in->hint.layout;
    if (!own) return infer_fail(in, "the last axis does not lie along one register bit");
    in->result.layout = own;
    if (!wanted || wanted == own || !shape_equal(in->hint.shape, to)) return true;
    in->result.layout = wanted;
    if (!layout_same_threads(own, wanted)) return infer_fail(in, "the layouts are of different threads");
    return convert_kind(own, wanted) <= CONVERT_REGISTERS ||
           infer_fail(in, "a thread does not hold what the result's layout asks of it");
}

bool infer_reshape(Infer *in) {
    if (!operand(in).shape.rank) return infer_fail(in, "operand 0 is no tile");
    if (shape_log2(operand(in).shape) != shape_log2(in->hint.shape))
        return infer_fail(in, "another number of elements");
    return moved(in, in->hint.shape);
}

/* Is the attribute one of so many axes? */
static bool permutes(Infer *in, uint32_t rank, uint8_t perm[SHAPE_RANK]) {
    uint32_t seen = 0;
    attr_perm_read(in->attr, perm);
    for (uint32_t i = 0; i < rank; i++) seen |= 1u << perm[i];
    bool rest = in->attr.perm >> (4 * rank) == 0;
    return (seen == (1u << rank) - 1 && rest && rank) || infer_fail(in, "no permutation of %u axes", rank);
}

bool infer_trans(Infer *in) {
    Shape s = operand(in).shape;
    uint8_t perm[SHAPE_RANK];
    return permutes(in, s.rank, perm) && moved(in, shape_permute(s, perm));
}

bool infer_flip(Infer *in) {
    Shape s = operand(in).shape;
    if (!s.rank || in->attr.flip >= shape_elements(s))
        return infer_fail(in, "mask %u of %u dimensions", in->attr.flip, s.rank);
    in->result = operand(in);
    return true;
}

bool infer_join(Infer *in) {
    Type t = operand(in);
    if (!type_equal(t, in->args[1]->type)) return infer_fail(in, "operands 0 and 1 have different types");
    if (!t.shape.rank || t.shape.rank == SHAPE_RANK) return infer_fail(in, "operand 0 has rank %u", t.shape.rank);
    if (shape_log2(t.shape) == SHAPE_BITS) return infer_fail(in, "a tile of 2^%d elements", SHAPE_BITS + 1);
    return moved(in, shape_join_halves(t.shape));
}

bool infer_split(Infer *in) {
    Shape s = operand(in).shape;
    if (in->attr.half > 1) return infer_fail(in, "no such half: %u", in->attr.half);
    if (s.rank < 2 || s.log2[s.rank - 1] != 1)
        return infer_fail(in, "operand 0 has no last axis of size 2 behind another");
    return moved(in, shape_remove(s, s.rank - 1u));
}

/* ---- Elements chosen by an index --------------------------------------------------------------------------------- */

/* The index decides where the result is held; the operand may be held anywhere. */
bool infer_gather(Infer *in) {
    Type from = operand(in), index = in->args[1]->type;
    Shape s = from.shape;
    if (in->attr.axis >= s.rank) return infer_fail(in, "axis %u where there are %u", in->attr.axis, s.rank);
    s.log2[in->attr.axis] = index.shape.rank == s.rank ? index.shape.log2[in->attr.axis] : 0;
    if (index.dtype != DT_I32) return infer_fail(in, "the index is %s, not i32", dtype_name(index.dtype));
    if (!shape_equal(s, index.shape)) return infer_fail(in, "operands 0 and 1 differ along other axes than the axis");
    if (!from.layout != !index.layout) return infer_fail(in, "operands 0 and 1 do not both have a layout");
    in->result = type_with_shape(from, index.shape);
    in->result.layout = index.layout;
    return true;
}

bool infer_shgather(Infer *in) {
    Type index = operand(in);
    if (!index.layout || index.dtype != DT_I32) return infer_fail(in, "operand 0 is no tile of i32 with a layout");
    if (in->attr.axis >= index.shape.rank)
        return infer_fail(in, "axis %u where there are %u", in->attr.axis, index.shape.rank);
    in->result = in->hint;
    return type_same_shape(in->hint, index) || infer_fail(in, "the result has another shape or layout than the index");
}

/* ---- Parts of a tile --------------------------------------------------------------------------------------------- */

static bool is_index(Infer *in, uint32_t i) {
    Type t = in->args[i]->type;
    return (t.dtype == DT_I32 && !t.shape.rank) || infer_fail(in, "operand %u is no scalar i32", i);
}

bool infer_slice(Infer *in) {
    Type t = operand(in);
    Shape s = in->hint.shape;
    if (in->attr.axis >= t.shape.rank) return infer_fail(in, "axis %u where there are %u", in->attr.axis, t.shape.rank);
    if (!is_index(in, 1)) return false;
    bool is_part = s.rank == t.shape.rank && s.log2[in->attr.axis] <= t.shape.log2[in->attr.axis];
    s.log2[in->attr.axis] = t.shape.log2[in->attr.axis];
    if (!is_part || !shape_equal(s, t.shape))
        return infer_fail(in, "the result is no part of operand 0 along the axis");
    if (!t.layout != !in->hint.layout) return infer_fail(in, "operand and result do not both have a layout");
    in->result = type_with_shape(t, in->hint.shape);
    in->result.layout = in->hint.layout;
    return true;
}

bool slice_in_registers(Layouts *ls, const Op *op, ConvertPlan *plan, uint32_t *begin) {
    Type whole = op->args[0]->type, part = op->results[0]->type;
    uint32_t axis = op->attr.axis;
    int64_t at;
    if (!whole.layout || !value_const(op->args[1], &at) || at < 0 || (uint64_t)at >= shape_size(whole.shape, axis))
        return false;
    Owner first = layout_owner(whole.layout, (uint32_t)at << shape_offset(whole.shape, axis));
    convert_plan(whole.layout, layout_within(ls, part.layout, axis, whole.shape.log2[axis]), plan);
    *begin = first.at[IN_REGISTER];
    return !first.at[IN_LANE] && !first.at[IN_WARP] && !first.at[IN_CTA] && plan->kind <= CONVERT_REGISTERS &&
           !plan->nselect;
}

bool infer_shslice(Infer *in) {
    Type t = in->result = in->hint;
    uint8_t perm[SHAPE_RANK];
    if (in->attr.axis >= t.shape.rank) return infer_fail(in, "axis %u where there are %u", in->attr.axis, t.shape.rank);
    if (in->nargs < 1 || in->nargs > 2) return infer_fail(in, "%u operands, not at[, stage]", in->nargs);
    return is_index(in, 0) && (in->nargs < 2 || is_index(in, 1)) &&
           (!in->attr.perm || permutes(in, t.shape.rank, perm));
}

/* ---- Builders ---------------------------------------------------------------------------------------------------- */

Value *build_splat(Builder *b, Value *scalar, Shape s) {
    return build1_to(b, OP_SPLAT, scalar, type_with_shape(scalar->type, s));
}

Value *build_broadcast(Builder *b, Value *v, Shape s) {
    return build1_to(b, OP_BROADCAST, v, type_with_shape(v->type, s));
}

Value *build_expand(Builder *b, Value *v, uint32_t axis) {
    return op_build(b, OP_EXPAND, &v, 1, (Attr){.axis = axis}, v->type)->results[0];
}

Value *build_reshape(Builder *b, Value *v, Shape s) {
    return build1_to(b, OP_RESHAPE, v, type_with_shape(v->type, s));
}

Value *build_trans(Builder *b, Value *v, const uint8_t *perm) {
    Type t = type_with_shape(v->type, v->type.shape);
    return op_build(b, OP_TRANS, &v, 1, attr_perm(perm, v->type.shape.rank), t)->results[0];
}

Value *build_flip(Builder *b, Value *v, uint32_t mask) {
    return op_build(b, OP_FLIP, &v, 1, (Attr){.flip = mask}, v->type)->results[0];
}

Value *build_join(Builder *b, Value *x, Value *y) {
    Type t = type_with_shape(x->type, x->type.shape);
    return op_build(b, OP_JOIN, (Value *[]){x, y}, 2, (Attr){0}, t)->results[0];
}

Value *build_split(Builder *b, Value *v, uint32_t half) {
    Type t = type_with_shape(v->type, v->type.shape);
    return op_build(b, OP_SPLIT, &v, 1, (Attr){.half = half}, t)->results[0];
}

Value *build_gather(Builder *b, Value *v, Value *index, uint32_t axis) {
    return op_build(b, OP_GATHER, (Value *[]){v, index}, 2, (Attr){.axis = axis}, v->type)->results[0];
}

Value *build_slice(Builder *b, Value *v, Value *at, uint32_t axis, uint32_t size_log2) {
    Type t = type_with_shape(v->type, v->type.shape);
    t.shape.log2[axis] = (uint8_t)size_log2;
    return op_build(b, OP_SLICE, (Value *[]){v, at}, 2, (Attr){.axis = axis}, t)->results[0];
}

Value *value_row(Value *v, uint32_t axis) {
    while (v->def) {
        OpKind k = v->def->kind;
        if (k != OP_SPLAT && k != OP_BROADCAST && !(k == OP_EXPAND && v->def->attr.axis == axis)) break;
        v = v->def->args[0];
    }
    return v;
}
