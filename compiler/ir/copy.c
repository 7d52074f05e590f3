/* copy.c - the rules of stores, loads and asynchronous copies of shared buffers.
 *
 * In: operands and attribute of shared_store, shared_load, shared_wait, copy_async, copy_read. Out: the result's type,
 * or a clause that says why the op is not sound.
 * Method: one infer_<x> for each op, as in types.c. Whether the buffer fits is the verifier's to ask (buffer.c).
 */
#include "ir/private.h"

static bool vectors_fit(Infer *in, Type t) {
    if (!t.shape.rank || !t.layout) return infer_fail(in, "no tile with a layout");
    if (in->attr.mem.vec_log2 > t.layout->bits[IN_REGISTER])
        return infer_fail(in, "vectors of more elements than a thread has");
    return in->attr.mem.mask_kind <= MASK_PREFIX || infer_fail(in, "no such mask");
}

static bool is_scalar_of(const Infer *in, uint32_t i, DType d) {
    Type t = in->args[i]->type;
    return t.dtype == d && !t.shape.rank;
}

bool infer_copyasync(Infer *in) {
    if (in->nargs < 3 || in->nargs > 4) return infer_fail(in, "%u operands, not ptr, stage, issue[, mask]", in->nargs);
    Type p = in->args[0]->type;
    if (p.dtype != DT_PTR || p.pointee == DT_I1 || p.pointee == DT_PTR)
        return infer_fail(in, "operand 0 points to nothing in memory");
    if (!is_scalar_of(in, 1, DT_I32)) return infer_fail(in, "the stage is no scalar i32");
    if (!is_scalar_of(in, 2, DT_I1)) return infer_fail(in, "whether to issue is no scalar i1");
    if (in->nargs > 3 && (in->args[3]->type.dtype != DT_I1 || !type_same_shape(in->args[3]->type, p)))
        return infer_fail(in, "the mask is not i1 of the pointers' shape and layout");
    return vectors_fit(in, p);
}

bool infer_copyread(Infer *in) {
    if (in->nargs != 1 && in->nargs != 3) return infer_fail(in, "%u operands, not stage[, mask, other]", in->nargs);
    if (!is_scalar_of(in, 0, DT_I32)) return infer_fail(in, "the stage is no scalar i32");
    in->result = in->hint;
    if (in->nargs == 3 && (in->args[1]->type.dtype != DT_I1 || !type_same_shape(in->args[1]->type, in->hint)))
        return infer_fail(in, "the mask is not i1 of the result's shape and layout");
    if (in->nargs == 3 && !type_equal(in->args[2]->type, in->hint))
        return infer_fail(in, "operand 2 is not of the result's type");
    return vectors_fit(in, in->hint);
}

static bool stage_fits(Infer *in, uint32_t stage) {
    if (in->nargs > stage + 1) return infer_fail(in, "%u operands", in->nargs);
    if (in->nargs > stage && !is_scalar_of(in, stage, DT_I32)) return infer_fail(in, "the stage is no scalar i32");
    return true;
}

bool infer_shstore(Infer *in) {
    if (!in->nargs) return infer_fail(in, "no operand");
    return stage_fits(in, 1);
}

bool infer_shload(Infer *in) {
    in->result = in->hint;
    return stage_fits(in, 0);
}

bool infer_shwait(Infer *in) {
    if (in->nargs && in->nargs != 2) return infer_fail(in, "%u operands, not stage, phase", in->nargs);
    for (uint32_t i = 0; i < in->nargs; i++)
        if (!is_scalar_of(in, i, DT_I32)) return infer_fail(in, "operand %u is no scalar i32", i);
    return true;
}
