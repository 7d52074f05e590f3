/* copy.c - the rules of asynchronous copies into shared memory and of what threads keep there.
 *
 * In: operands and attribute of copy_async, copy_read, staged_store or staged_load. Out: the result's type, or a clause
 * that says why the op is not sound.
 * Method: one infer_<x> for each op, as in types.c.
 */
#include "ir/private.h"

/* Vectors of 4, 8 or 16 bytes, no more of them than registers hold. */
static bool vectors_fit(Infer *in, Type t, DType element) {
    uint64_t bytes = (uint64_t)type_bytes(type_scalar(element)) << in->attr.mem.vec_log2;
    if (!t.shape.rank || !t.layout) return infer_fail(in, "no tile with a layout");
    if (bytes != 4 && bytes != 8 && bytes != 16)
        return infer_fail(in, "vectors of %llu bytes", (unsigned long long)bytes);
    uint64_t most = layout_registers(t.layout) >> in->attr.mem.vec_log2;
    if (in->attr.vectors < 1 || in->attr.vectors > most)
        return infer_fail(in, "%u vectors of %llu", in->attr.vectors, (unsigned long long)most);
    return in->attr.mem.mask_kind <= MASK_PREFIX || infer_fail(in, "no such mask");
}

static bool is_scalar_of(const Infer *in, uint32_t i, DType d) {
    Type t = in->args[i]->type;
    return t.dtype == d && !t.shape.rank;
}

bool infer_copyasync(Infer *in) {
    if (in->nargs < 3 || in->nargs > 4) return infer_fail(in, "%u operands, not ptr, at, issue[, mask]", in->nargs);
    Type p = in->args[0]->type;
    if (p.dtype != DT_PTR || p.pointee == DT_I1 || p.pointee == DT_PTR)
        return infer_fail(in, "operand 0 points to nothing in memory");
    if (!is_scalar_of(in, 1, DT_I32)) return infer_fail(in, "the place is no scalar i32");
    if (!is_scalar_of(in, 2, DT_I1)) return infer_fail(in, "whether to issue is no scalar i1");
    if (in->nargs > 3 && (in->args[3]->type.dtype != DT_I1 || !type_same_shape(in->args[3]->type, p)))
        return infer_fail(in, "the mask is not i1 of the pointers' shape and layout");
    return vectors_fit(in, p, p.pointee);
}

bool infer_copyread(Infer *in) {
    if (in->nargs != 1 && in->nargs != 3) return infer_fail(in, "%u operands, not at[, mask, other]", in->nargs);
    if (!is_scalar_of(in, 0, DT_I32)) return infer_fail(in, "the place is no scalar i32");
    in->result = in->hint;
    if (in->nargs == 3 && (in->args[1]->type.dtype != DT_I1 || !type_same_shape(in->args[1]->type, in->hint)))
        return infer_fail(in, "the mask is not i1 of the result's shape and layout");
    if (in->nargs == 3 && !type_equal(in->args[2]->type, in->hint))
        return infer_fail(in, "operand 2 is not of the result's type");
    return vectors_fit(in, in->hint, in->hint.dtype);
}

/* ---- What threads keep for themselves ---------------------------------------------------------------------------- */

static bool keeps(Infer *in, Type t) {
    if (in->attr.start < 0 || in->attr.end <= in->attr.start)
        return infer_fail(in, "bytes %lld to %lld", (long long)in->attr.start, (long long)in->attr.end);
    if (!is_scalar_of(in, 0, DT_I32)) return infer_fail(in, "the place is no scalar i32");
    return (t.shape.rank && t.dtype != DT_PTR) || infer_fail(in, "no tile of elements");
}

bool infer_stagestore(Infer *in) {
    return keeps(in, in->args[1]->type);
}

bool infer_stageload(Infer *in) {
    in->result = in->hint;
    return keeps(in, in->hint);
}
