/* scan.c - the order of an axis: which owner bit each of its bits is, and the layout of its runs.
 *
 * In: a layout and an axis. Out: AxisPlan; the layout with one element for each run.
 * What combines in order goes through the bits of an axis from the lowest up, so each must be one owner's bit alone.
 */
#include "layout/layout.h"

#include <string.h>

AxisPlan layout_axis_plan(const Layout *l, uint32_t axis) {
    AxisPlan p = {.bits = l->shape.log2[axis], .within = l->shape.log2[axis]};
    uint32_t field = shape_field(l->shape, axis), offset = shape_offset(l->shape, axis), seen = 0;
    for (InDim d = 0; d < IN_COUNT; d++) {
        for (uint32_t i = 0; i < l->bits[d]; i++) {
            uint32_t basis = l->basis[d][i], along = basis & field;
            if (!along) continue;
            if (basis != along || (along & (along - 1)) || (seen & along)) return p;
            uint32_t k = (uint32_t)__builtin_ctz(along) - offset;
            seen |= along;
            p.dim[k] = (uint8_t)d;
            p.bit[k] = (uint8_t)i;
            if (d >= IN_WARP && k < p.within) p.within = k;
        }
    }
    p.ordered = seen == field;
    return p;
}

const Layout *layout_coarsen(Layouts *ls, const Layout *l, uint32_t axis, uint32_t low) {
    uint32_t field = shape_field(l->shape, axis), offset = shape_offset(l->shape, axis), bits = l->shape.log2[axis];
    Layout r = *l;
    r.shape.log2[axis] = (uint8_t)(bits - low);
    memset(r.basis, 0, sizeof r.basis);
    r.bits[IN_REGISTER] = 0;
    for (InDim d = 0; d < IN_COUNT; d++) {
        for (uint32_t i = 0; i < l->bits[d]; i++) {
            uint32_t basis = l->basis[d][i], along = (basis & field) >> offset;
            uint64_t above = (uint64_t)basis >> (offset + bits) << (offset + bits - low);
            uint32_t moved = (basis & ((UINT32_C(1) << offset) - 1)) | along >> low << offset | (uint32_t)above;
            if (d != IN_REGISTER) r.basis[d][i] = moved;
            else if (!along || along >> low) r.basis[d][r.bits[d]++] = moved;
        }
    }
    return layout_intern(ls, &r);
}
