/* atomic.c - the rules of atomic ops: which element types and operands they take.
 *
 * In: an atomic op's operands and attribute. Out: the result's type, or a clause that says why the op is not sound.
 * Method: one infer_<x> for each of the two ops, as in types.c.
 */
#include "ir/private.h"

typedef enum Elements { ELEMENTS_INT, ELEMENTS_FLOAT, ELEMENTS_ANY } Elements;

static const Elements elements[] = {
#define ATOMIC(e, name, kind, ...) [ATOMIC_##e] = ELEMENTS_##kind,
#include "ir/atomic.def"
#undef ATOMIC
};

static bool fail(Infer *in, const char *why) {
    snprintf(in->why, sizeof in->why, "%s", why);
    return false;
}

/* Pointer, `values` operands of what it points to, and perhaps a mask. */
static bool atomic_operands(Infer *in, uint32_t values) {
    Type p = in->args[0]->type, t = type_with_dtype(p, p.pointee);
    if (p.dtype != DT_PTR) return fail(in, "operand 0 is no pointer");
    if (in->attr.mem.order > ORDER_ACQ_REL || in->attr.mem.reach > REACH_SYS) return fail(in, "no such order or reach");
    if (in->attr.mem.vec_log2) return fail(in, "an atomic of several elements at once");
    for (uint32_t i = 1; i <= values; i++)
        if (!type_equal(in->args[i]->type, t)) return fail(in, "a value is not of the type that operand 0 points to");
    in->result = t;
    if (in->nargs == values + 1) return true;
    Type mask = in->args[values + 1]->type;
    if (mask.dtype != DT_I1) return fail(in, "the mask is not i1");
    return mask.shape.rank == 0 || type_same_shape(mask, p) || fail(in, "the mask has another shape or layout");
}

bool infer_atomicrmw(Infer *in) {
    if (in->nargs < 2 || in->nargs > 3) return fail(in, "not ptr, value[, mask]");
    if (in->attr.mem.atomic >= ATOMIC_COUNT) return fail(in, "no such atomic operation");
    if (!atomic_operands(in, 1)) return false;
    DType d = in->result.dtype;
    Elements kind = elements[in->attr.mem.atomic];
    uint32_t bits = dtype_bits(d);
    bool is_float = dtype_kind(d) == KIND_FLOAT, is_wide = bits == 32 || bits == 64;
    bool good =
        kind == ELEMENTS_FLOAT ? is_float && bits >= 16 : is_wide && d != DT_PTR && (kind == ELEMENTS_ANY || !is_float);
    return good || fail(in, "the operation is not for this element type");
}

bool infer_atomiccas(Infer *in) {
    if (in->nargs < 3 || in->nargs > 4) return fail(in, "not ptr, compare, value[, mask]");
    if (!atomic_operands(in, 2)) return false;
    uint32_t bits = dtype_bits(in->result.dtype);
    return bits >= 16 || fail(in, "an element of less than 16 bits");
}
