/* combine.c - reduce_fn, scan and their kin: the ops whose combine is a region.
 *
 * In: operands, attribute, and for the verifier the whole op. Out: types of the results; what is wrong; built ops.
 * The region takes 2n scalars, those that come first along the axis before those that come later, and yields n. It
 * holds nothing but pure ops on scalars, and `if`, `for` and `while` of such.
 */
#include "ir/private.h"

uint32_t combine_width(const Op *op) {
    return op->kind == OP_SCANAPPLY ? op->nargs / 2 : op->nargs;
}

uint32_t combine_results(OpKind k, uint32_t nargs) {
    return k == OP_SCANWARP ? 2 * nargs : k == OP_SCANAPPLY ? nargs / 2 : nargs;
}

/* ---- Types ------------------------------------------------------------------------------------------------------- */

/* One element for each run of the axis that lies in one warp. */
static Type run_type(Layouts *ls, Type t, uint32_t axis) {
    const Layout *l = layout_coarsen(ls, t.layout, axis, layout_axis_plan(t.layout, axis).within);
    t.shape = l->shape;
    t.layout = l;
    return t;
}

Type combine_result(Layouts *ls, const Infer *in, uint32_t i) {
    uint32_t axis = in->attr.axis;
    Type t = in->args[i % in->nargs]->type, r = t;
    if (in->kind == OP_REDUCEFNWARP || (in->kind == OP_SCANWARP && i >= in->nargs)) return run_type(ls, t, axis);
    if (in->kind != OP_REDUCEFN) return t;
    r = type_with_shape(t, shape_remove(t.shape, axis));
    if (t.layout && r.shape.rank) r.layout = layout_slice(ls, t.layout, axis, false);
    return r;
}

static bool fail(Infer *in, const char *why) {
    snprintf(in->why, sizeof in->why, "%s", why);
    return false;
}

static bool layout_fits(Infer *in, Type t, bool has_runs) {
    if (!t.layout) return !has_runs || fail(in, "runs within warps without a layout");
    AxisPlan plan = layout_axis_plan(t.layout, in->attr.axis);
    if (!plan.ordered) return fail(in, "the layout does not hold the axis in order");
    return !has_runs || plan.within < plan.bits || fail(in, "the axis does not cross warps");
}

bool infer_combine(Infer *in) {
    bool applies = in->kind == OP_SCANAPPLY,
         has_runs = applies || in->kind == OP_REDUCEFNWARP || in->kind == OP_SCANWARP;
    if (in->nargs == 0 || (applies && in->nargs % 2)) return fail(in, "a wrong number of operands");
    Type t = in->args[0]->type;
    uint32_t n = applies ? in->nargs / 2 : in->nargs;
    if (in->attr.axis >= t.shape.rank) return fail(in, "no such axis");
    if (in->attr.flags >= COMBINE_FLAGS) return fail(in, "no such flags");
    if (!layout_fits(in, t, has_runs)) return false;
    for (uint32_t i = 0; i < in->nargs; i++) {
        Type x = in->args[i]->type, want = i < n ? t : run_type(in->layouts, t, in->attr.axis);
        if (x.dtype == DT_PTR) return fail(in, "pointers are not combined");
        if (!type_same_shape(x, want)) return fail(in, "operands of different shapes or layouts");
        if (x.dtype != in->args[i % n]->type.dtype) return fail(in, "operands of different types");
    }
    in->result = combine_result(in->layouts, in, 0);
    return true;
}

/* ---- The region -------------------------------------------------------------------------------------------------- */

static bool is_scalar_block(const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        Effect e = op_info[op->kind].effect;
        if (e != EFFECT_PURE && e != EFFECT_CONTROL) return false;
        for (uint32_t i = 0; i < op->nargs; i++)
            if (value_is_tile(op->args[i])) return false;
        for (uint32_t i = 0; i < op->nresults; i++)
            if (value_is_tile(op->results[i])) return false;
        for (uint32_t i = 0; i < op->nregions; i++)
            if (!is_scalar_block(op->regions[i])) return false;
    }
    return true;
}

const char *combine_wrong(Layouts *ls, const Op *op) {
    const Block *b = op->regions[0];
    const Op *end = b->last;
    uint32_t n = combine_width(op);
    Infer in = {.layouts = ls, .kind = op->kind, .args = op->args, .nargs = op->nargs, .attr = op->attr};
    if (op->nresults != combine_results(op->kind, op->nargs)) return "a wrong number of results";
    for (uint32_t i = 0; i < op->nresults; i++)
        if (!type_equal(op->results[i]->type, combine_result(ls, &in, i))) return "a result has the wrong type";
    if (b->args.len != 2 * n || end->nargs != n) return "the region does not combine two of each value into one";
    for (uint32_t i = 0; i < 2 * n; i++)
        if (!type_equal(b->args.at[i]->type, type_scalar(op->args[i % n]->type.dtype)))
            return "the region takes another type";
    for (uint32_t i = 0; i < n; i++)
        if (!type_equal(end->args[i]->type, b->args.at[i]->type)) return "the region yields another type";
    return is_scalar_block(b) ? NULL : "the region holds more than pure ops on scalars";
}

/* ---- Building ---------------------------------------------------------------------------------------------------- */

static void copy_region(Builder *b, const Block *from, Block *to) {
    ValueMap map = valuemap_create(b->f);
    for (uint32_t i = 0; i < from->args.len; i++) valuemap_set(b->f, &map, from->args.at[i], to->args.at[i]);
    Builder inner = builder_at_end(b->f, to);
    for (const Op *op = from->first; op; op = op->next) op_clone(&inner, op, &map);
}

Op *build_combine(Builder *b, OpKind k, Value **args, uint32_t nargs, Attr attr, const Op *like) {
    Infer in = {.layouts = b->f->layouts, .kind = k, .args = args, .nargs = nargs, .attr = attr};
    if (!op_infer(&in)) bug("build_combine: %s in %s: %s", op_info[k].name, b->f->name, in.why);
    Op *op = op_create(b->f, k, args, nargs, attr, b->span);
    for (uint32_t i = 0; i < combine_results(k, nargs); i++)
        op_add_result(b->f, op, combine_result(b->f->layouts, &in, i), NULL);
    Block *region = op_add_region(b->f, op);
    uint32_t n = combine_width(op);
    for (uint32_t i = 0; i < 2 * n; i++)
        block_add_arg(b->f, region, type_scalar(args[i % n]->type.dtype), NULL);
    op_link(b, op);
    if (like) copy_region(b, like->regions[0], region);
    return op;
}
