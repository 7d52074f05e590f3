/* types.c - element types, types of values, and the type rule of every op.
 *
 * In: the rows of dtype.def and ops.def; an op's operands, attribute and wanted type. Out: the result's type, or a
 * clause that says why the op is not sound.
 * Method: one infer_<x> per name in ops.def's infer column. In stage SIMT the same rules move layouts: elementwise
 * ops keep them, axis ops derive them, and ops that choose a layout take the wanted one.
 */
#include "ir/private.h"

#include <string.h>

/* ---- Element types ----------------------------------------------------------------------------------------------- */

typedef struct DTypeInfo {
    const char *name;
    uint32_t bits;
    DTypeKind kind;
} DTypeInfo;

static const DTypeInfo dtypes[DT_COUNT] = {
#define KIND_BOOL KIND_INT
#define KIND_SIGNED KIND_INT
#define DTYPE(e, name, bits, class, ...) [DT_##e] = {name, bits, KIND_##class},
#define UTYPE(...)
#include "runtime/base/dtype.def"
#undef DTYPE
#undef UTYPE
    [DT_PTR] = {"ptr", 64, KIND_POINTER},
};

static const DTypeInfo *dtype_info(DType d) {
    if ((uint32_t)d >= DT_COUNT) bug("dtype %d", (int)d);
    return &dtypes[d];
}

const char *dtype_name(DType d) { return dtype_info(d)->name; }
uint32_t dtype_bits(DType d) { return dtype_info(d)->bits; }
DTypeKind dtype_kind(DType d) { return dtype_info(d)->kind; }

bool dtype_find(const char *name, DType *out) {
    for (uint32_t i = 0; i < DT_COUNT; i++) {
        if (strcmp(dtypes[i].name, name) != 0) continue;
        *out = (DType)i;
        return true;
    }
    return false;
}

/* ---- Types of values --------------------------------------------------------------------------------------------- */

Type type_scalar(DType d) {
    return (Type){.dtype = d};
}

Type type_pointer(DType pointee) {
    return (Type){.dtype = DT_PTR, .pointee = pointee};
}

Type type_tile(DType d, Shape s) {
    return (Type){.dtype = d, .shape = s};
}

Type type_with_dtype(Type t, DType d) {
    t.dtype = d;
    t.pointee = (DType)0;
    return t;
}

Type type_with_shape(Type t, Shape s) {
    t.shape = s;
    t.layout = NULL;
    return t;
}

static bool same_element(Type a, Type b) {
    return a.dtype == b.dtype && (a.dtype != DT_PTR || a.pointee == b.pointee);
}

bool type_same_shape(Type a, Type b) {
    return shape_equal(a.shape, b.shape) && a.layout == b.layout;
}

bool type_equal(Type a, Type b) {
    return same_element(a, b) && type_same_shape(a, b);
}

void type_print(Type t, Text *out) {
    if (t.shape.rank) {
        text_printf(out, "tile<");
        shape_print(t.shape, out);
        text_printf(out, "x");
    }
    text_printf(out, "%s%s", t.dtype == DT_PTR ? "*" : "", dtype_name(t.dtype == DT_PTR ? t.pointee : t.dtype));
    if (t.layout) {
        text_printf(out, ", ");
        layout_write(t.layout, out);
    }
    if (t.shape.rank) text_printf(out, ">");
}

uint32_t type_bytes(Type t) {
    return (dtype_bits(t.dtype) + 7) / 8;
}

/* ---- Parts of the rules ------------------------------------------------------------------------------------------ */

static bool fail(Infer *in, const char *fmt, ...) PRINTF_LIKE(2, 3);

static bool fail(Infer *in, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(in->why, sizeof in->why, fmt, args);
    va_end(args);
    return false;
}

static Type arg(const Infer *in, uint32_t i) {
    return in->args[i]->type;
}

static bool is_int(Type t) {
    return dtype_kind(t.dtype) == KIND_INT;
}

static bool is_float(Type t) {
    return dtype_kind(t.dtype) == KIND_FLOAT;
}

/* fp8 is for memory: it has conversions, but no arithmetic. */
static bool is_computed_float(Type t) {
    return is_float(t) && dtype_bits(t.dtype) >= 16;
}

static bool same_type(Infer *in, uint32_t i, uint32_t j) {
    if (type_equal(arg(in, i), arg(in, j))) return true;
    return fail(in, "operands %u and %u have different types", i, j);
}

static bool same_places(Infer *in, uint32_t i, uint32_t j) {
    if (type_same_shape(arg(in, i), arg(in, j))) return true;
    return fail(in, "operands %u and %u have different shapes or layouts", i, j);
}

/* `n` operands of one type, which is the result's too. */
static bool elementwise(Infer *in, uint32_t n) {
    for (uint32_t i = 1; i < n; i++)
        if (!same_type(in, 0, i)) return false;
    in->result = arg(in, 0);
    return true;
}

static bool floats(Infer *in, uint32_t n, uint32_t least_bits) {
    if (!elementwise(in, n)) return false;
    if (is_float(arg(in, 0)) && dtype_bits(arg(in, 0).dtype) >= least_bits) return true;
    return fail(in, "operand 0 is %s, no float of at least %u bits", dtype_name(arg(in, 0).dtype), least_bits);
}

/* The operand's shape and layout with the wanted element type. */
static bool converted(Infer *in) {
    if (!shape_equal(in->hint.shape, arg(in, 0).shape)) return fail(in, "a conversion keeps the shape");
    in->result = type_with_dtype(arg(in, 0), in->hint.dtype);
    in->result.pointee = in->hint.pointee;
    return true;
}

static bool axis_below(Infer *in, uint32_t axis, uint32_t end) {
    return axis < end || fail(in, "axis %u where there are %u", axis, end);
}

static bool fits_bits(DType d, int64_t bits) {
    if (dtype_kind(d) == KIND_INT) return int_wrap(d, bits) == bits;
    return dtype_bits(d) == 64 || (uint64_t)bits >> dtype_bits(d) == 0;
}

static bool mask_fits(Infer *in, uint32_t i) {
    if (arg(in, i).dtype != DT_I1) return fail(in, "the mask is %s, not i1", dtype_name(arg(in, i).dtype));
    return same_places(in, 0, i);
}

/* ---- Rules: creation --------------------------------------------------------------------------------------------- */

static bool infer_none0(Infer *in) {
    if (op_info[in->kind].attr != ATTR_SCOPE || in->attr.scope <= SCOPE_GRID) return true;
    return fail(in, "no such scope: %d", (int)in->attr.scope);
}

static bool infer_typed(Infer *in) {
    in->result = in->hint;
    if (fits_bits(in->hint.dtype, in->attr.bits)) return true;
    return fail(in, "bits %lld of no %s", (long long)in->attr.bits, dtype_name(in->hint.dtype));
}

static bool infer_arange(Infer *in) {
    int64_t start = in->attr.start, end = in->attr.end;
    if (start < INT32_MIN || end > (int64_t)INT32_MAX + 1 || end <= start || ((end - start) & (end - start - 1)) != 0)
        return fail(in, "the range %lld to %lld is no power of two of i32", (long long)start, (long long)end);
    uint32_t log2 = 0;
    while (INT64_C(1) << log2 < end - start) log2++;
    if (log2 > SHAPE_BITS) return fail(in, "a tile of 2^%u elements", log2);
    in->result = type_tile(DT_I32, shape_row(log2));
    if (in->hint.layout && shape_equal(in->hint.shape, in->result.shape)) in->result.layout = in->hint.layout;
    return true;
}

static bool infer_rotated(Infer *in) {
    if (in->args[0]->type.dtype != DT_I32 || in->args[0]->type.shape.rank) return fail(in, "the turn is no scalar i32");
    if (in->attr.end - in->attr.start < 16) return fail(in, "a turn of a tile of less than 16 elements");
    return infer_arange(in);
}

static bool infer_i32(Infer *in) {
    in->result = type_scalar(DT_I32);
    return axis_below(in, in->attr.axis, 3);
}

/* ---- Rules: arithmetic ------------------------------------------------------------------------------------------- */

static bool infer_bits2(Infer *in) {
    if (!elementwise(in, 2)) return false;
    return is_int(arg(in, 0)) || fail(in, "operand 0 is %s, no integer", dtype_name(arg(in, 0).dtype));
}

static bool infer_int2(Infer *in) {
    return infer_bits2(in) && (arg(in, 0).dtype != DT_I1 || fail(in, "no arithmetic on i1"));
}

static bool infer_icmp(Infer *in) {
    if (!same_type(in, 0, 1)) return false;
    if (is_float(arg(in, 0))) return fail(in, "operand 0 is a float");
    if (in->attr.pred > PRED_UGE) return fail(in, "no such predicate: %d", (int)in->attr.pred);
    if (arg(in, 0).dtype == DT_I1 && in->attr.pred >= PRED_SLT && in->attr.pred <= PRED_SGE)
        return fail(in, "a signed order on i1");
    if (in->attr.run_log2 && in->attr.axis >= arg(in, 0).shape.rank)
        return fail(in, "runs along axis %u, of which there is none", in->attr.axis);
    in->result = type_with_dtype(arg(in, 0), DT_I1);
    return true;
}

static bool infer_fcmp(Infer *in) {
    if (!floats(in, 2, 16)) return false;
    if (in->attr.pred > PRED_SGE) return fail(in, "no such predicate: %d", (int)in->attr.pred);
    in->result = type_with_dtype(arg(in, 0), DT_I1);
    return true;
}

static bool infer_opaque(Infer *in) {
    return elementwise(in, 1);
}

static bool infer_spill(Infer *in) {
    return elementwise(in, 1);
}

static bool infer_float1(Infer *in) {
    return floats(in, 1, 16);
}

static bool infer_float2(Infer *in) {
    return floats(in, 2, 16);
}

static bool infer_float3(Infer *in) {
    return floats(in, 3, 16);
}

static bool infer_math1(Infer *in) {
    if (in->attr.accuracy > ACCURACY_TERM) return fail(in, "no such accuracy: %d", (int)in->attr.accuracy);
    return floats(in, 1, 32);
}

/* ---- Rules: conversions ------------------------------------------------------------------------------------------ */

static bool resize(Infer *in, DTypeKind kind, bool wider) {
    Type from = arg(in, 0), to = in->hint;
    if (dtype_kind(from.dtype) != kind || dtype_kind(to.dtype) != kind)
        return fail(in, "%s to %s", dtype_name(from.dtype), dtype_name(to.dtype));
    uint32_t a = dtype_bits(from.dtype), b = dtype_bits(to.dtype);
    if (wider ? a >= b : a <= b)
        return fail(in, "%s is not %s than %s", dtype_name(to.dtype), wider ? "wider" : "narrower",
                    dtype_name(from.dtype));
    return converted(in);
}

static bool infer_widen(Infer *in) {
    return resize(in, KIND_INT, true);
}

static bool infer_narrow(Infer *in) {
    return resize(in, KIND_INT, false);
}

static bool infer_fwiden(Infer *in) {
    return resize(in, KIND_FLOAT, true);
}

static bool infer_fnarrow(Infer *in) {
    if (in->attr.round != ROUND_NEAREST && in->attr.round != ROUND_ZERO)
        return fail(in, "no such rounding: %d", (int)in->attr.round);
    return resize(in, KIND_FLOAT, false);
}

static bool infer_itof(Infer *in) {
    if (!is_int(arg(in, 0)) || !is_computed_float(in->hint))
        return fail(in, "%s to %s", dtype_name(arg(in, 0).dtype), dtype_name(in->hint.dtype));
    return converted(in);
}

static bool infer_ftoi(Infer *in) {
    if (!is_computed_float(arg(in, 0)) || !is_int(in->hint) || in->hint.dtype == DT_I1)
        return fail(in, "%s to %s", dtype_name(arg(in, 0).dtype), dtype_name(in->hint.dtype));
    return converted(in);
}

static bool infer_bitcast(Infer *in) {
    uint32_t from = dtype_bits(arg(in, 0).dtype), to = dtype_bits(in->hint.dtype);
    if (from != to) return fail(in, "%u bits to %u bits", from, to);
    return converted(in);
}

/* ---- Rules: choice and memory ------------------------------------------------------------------------------------ */

static bool infer_select(Infer *in) {
    if (arg(in, 0).dtype != DT_I1) return fail(in, "the condition is %s, not i1", dtype_name(arg(in, 0).dtype));
    if (!same_type(in, 1, 2)) return false;
    in->result = arg(in, 1);
    return arg(in, 0).shape.rank == 0 || same_places(in, 0, 1);
}

static bool infer_addptr(Infer *in) {
    DType d = arg(in, 1).dtype;
    if (arg(in, 0).dtype != DT_PTR) return fail(in, "operand 0 is no pointer");
    if (d != DT_I32 && d != DT_I64) return fail(in, "the offset is %s, not i32 or i64", dtype_name(d));
    in->result = arg(in, 0);
    return same_places(in, 0, 1);
}

static bool memory_fits(Infer *in) {
    const MemAttr *m = &in->attr.mem;
    Type t = arg(in, 0);
    if (t.dtype != DT_PTR) return fail(in, "operand 0 is no pointer");
    if (t.pointee == DT_I1 || t.pointee == DT_PTR) return fail(in, "%s does not lie in memory", dtype_name(t.pointee));
    if (m->cache > CACHE_CV || m->evict > EVICT_LAST || m->mask_kind > MASK_PREFIX) return fail(in, "no such policy");
    if (m->align_log2 > 31 || m->vec_log2 > SHAPE_BITS) return fail(in, "an alignment or a vector beyond all bounds");
    return true;
}

static bool infer_load(Infer *in) {
    if (in->nargs < 1 || in->nargs > 3) return fail(in, "%u operands, not ptr[, mask[, other]]", in->nargs);
    if (!memory_fits(in) || (in->nargs > 1 && !mask_fits(in, 1))) return false;
    in->result = type_with_dtype(arg(in, 0), arg(in, 0).pointee);
    if (in->nargs < 3 || type_equal(arg(in, 2), in->result)) return true;
    return fail(in, "operand 2 is not of the loaded type");
}

static bool infer_store(Infer *in) {
    if (in->nargs < 2 || in->nargs > 3) return fail(in, "%u operands, not ptr, value[, mask]", in->nargs);
    if (!memory_fits(in) || (in->nargs > 2 && !mask_fits(in, 2))) return false;
    if (type_equal(arg(in, 1), type_with_dtype(arg(in, 0), arg(in, 0).pointee))) return true;
    return fail(in, "operand 1 is not of the type that operand 0 points to");
}

/* ---- Rules: over an axis ----------------------------------------------------------------------------------------- */

/* By an op of two operands that has a neutral element, and takes such elements. */
static bool combine_fits(Infer *in) {
    OpKind k = in->attr.combine;
    if (k >= OP_COUNT || op_info[k].neutral == NEUTRAL_NONE)
        return fail(in, "it combines by no op that combines");
    Infer pair = {.layouts = in->layouts, .kind = k, .args = (Value *[]){in->args[0], in->args[0]}, .nargs = 2};
    return op_infer(&pair) || fail(in, "combining %s by %s", dtype_name(arg(in, 0).dtype), op_info[k].name);
}

static bool reduction(Infer *in, bool within_warp) {
    Type t = arg(in, 0);
    uint32_t axis = in->attr.axis;
    if (!axis_below(in, in->attr.axis, t.shape.rank) || !combine_fits(in)) return false;
    in->result = type_with_shape(t, shape_remove(t.shape, axis));
    if (!t.layout) return true;
    if (layout_is_mixed(t.layout, axis)) return fail(in, "the layout mixes the axis with others");
    const Layout *l =
        within_warp ? layout_partial(in->layouts, t.layout, axis) : layout_slice(in->layouts, t.layout, axis, false);
    in->result.shape = l->shape;
    in->result.layout = l->shape.rank ? l : NULL;
    return true;
}

static bool infer_reduce(Infer *in) {
    return reduction(in, false);
}

/* Before there are layouts: a row of one element a warp, or a thread. */
static bool row_of_warps(Infer *in, Type warps, Type tile) {
    bool is_one_row = tile.shape.rank == 1 && warps.shape.rank == 1 && warps.shape.log2[0] <= tile.shape.log2[0];
    return is_one_row || fail(in, "a tile without a layout, and no row of one element a warp or a thread");
}

/* The layout of what threads make of the tile on their own; NULL: `few` is not that. A row of one element a warp has
 * fewer. */
static const Layout *layout_of_threads(Infer *in, Type few, const Layout *tile, uint32_t axis) {
    const Layout *own = few.shape.rank ? layout_partial_threads(in->layouts, tile, axis) : NULL;
    return own && shape_equal(few.shape, own->shape) ? own : NULL;
}

static bool infer_reducewarp(Infer *in) {
    Type t = arg(in, 0);
    if (t.layout || !t.shape.rank) {
        if (!reduction(in, true)) return false;
        const Layout *own = t.layout ? layout_of_threads(in, in->hint, t.layout, in->attr.axis) : NULL;
        if (own) {
            in->result.layout = own;
            in->result.shape = own->shape;
        }
        if (in->attr.is_scattered && in->result.layout)
            in->result.layout = layout_scatter(in->layouts, in->result.layout);
        return true;
    }
    if (!reduction(in, false) || !row_of_warps(in, in->hint, t)) return false;
    in->result = type_with_shape(t, in->hint.shape);
    return true;
}

/* The operand is laid out as reduce_warp of the result's layout gives it,
 * and a thread's registers along the axis are its own. */
static bool infer_spreadwarp(Infer *in) {
    const Layout *l = in->hint.layout;
    if (!axis_below(in, in->attr.axis, in->hint.shape.rank)) return false;
    if (!l && arg(in, 0).layout) return fail(in, "the result has no layout");
    in->result = type_with_dtype(in->hint, arg(in, 0).dtype);
    if (!l) return row_of_warps(in, arg(in, 0), in->hint);
    ReducePlan plan = layout_reduce_plan(l, in->attr.axis);
    if (plan.mixed) return fail(in, "the layout mixes the axis with others");
    const Layout *own = layout_of_threads(in, arg(in, 0), l, in->attr.axis),
                 *partial = own ? own : layout_partial(in->layouts, l, in->attr.axis);
    if (arg(in, 0).layout != (partial->shape.rank ? partial : NULL))
        return fail(in, "operand 0 is not laid out as reduce_warp of the result would be");
    if (((own ? plan.keep_threads : plan.keep_partial) | plan.combine[IN_REGISTER]) + 1 != layout_registers(l))
        return fail(in, "registers repeat elements");
    return true;
}

/* ---- Rules: layouts and shared memory ---------------------------------------------------------------------------- */

static bool infer_convert(Infer *in) {
    Type t = arg(in, 0);
    if (!t.layout || !in->hint.layout) return fail(in, "operand and result do not both have a layout");
    if (!shape_equal(t.shape, in->hint.shape)) return fail(in, "a conversion keeps the shape");
    in->result = t;
    in->result.layout = in->hint.layout;
    return layout_same_threads(t.layout, in->hint.layout) || fail(in, "the layouts are of different threads");
}

/* ---- Rules: control flow, operands only -------------------------------------------------------------------------- */

static bool infer_for(Infer *in) {
    if (in->nargs < 3) return fail(in, "%u operands, not lo, hi, step, inits", in->nargs);
    if (in->attr.loop.num_stages < 0 || in->attr.loop.unroll_factor < 0) return fail(in, "a negative loop option");
    Type t = arg(in, 0);
    if (!same_type(in, 0, 1) || !same_type(in, 0, 2)) return false;
    return (is_int(t) && t.dtype != DT_I1 && !t.shape.rank) || fail(in, "the bounds are no integer scalars");
}

static bool infer_while(Infer *in) {
    (void)in;
    return true;
}

static bool infer_condition(Infer *in) {
    bool good = in->nargs > 0 && arg(in, 0).dtype == DT_I1 && !arg(in, 0).shape.rank;
    return good || fail(in, "the condition is no scalar i1");
}

static bool infer_if(Infer *in) {
    return infer_condition(in);
}

static bool infer_yield(Infer *in) {
    (void)in;
    return true;
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

bool op_infer(Infer *in) {
    const OpInfo *row = &op_info[in->kind];
    in->why[0] = '\0';
    if (row->nargs >= 0 && in->nargs != (uint32_t)row->nargs)
        return fail(in, "%u operands, not %d", in->nargs, row->nargs);
    switch (in->kind) {
#define OP(e, name, nargs, nresults, attr, class, effect, stage, cost, algebra, neutral, infer, fold, meaning)         \
    case OP_##e:                                                                                                       \
        return infer_##infer(in);
#include "ir/ops.def"
#undef OP
    case OP_COUNT: break;
    }
    bug("op_infer: op kind %d", (int)in->kind);
}
