/* spans.c - where instructions of four warps find an operand in shared memory: its places as a matrix descriptor.
 *
 * In: places. Out: the constructor that made them, as what a descriptor says.
 * Method: PTX ISA, "Matrix descriptor format", "Strides": an operand is of rows of 128, 64 or 32 bytes that lie along
 * one of its dimensions. 8 of them are an atom, in which units of 16 bytes change places. Atoms follow each other along
 * the rows' other dimension, then comes the next span of each row. These are the places of layout_swizzled, no others.
 * Of 8 bits rows lie along k.
 */
#include "layout/layout.h"

enum { ROWS = 8 /* of an atom */, SPAN = 128, LEAST = 32 };

bool layout_spans(Layouts *ls, const Layout *places, uint32_t bits, uint32_t axis_of_k, MatrixSpans *s) {
    if (places->shape.rank != 2 || (bits != 16 && bits != 8)) return false;
    for (uint32_t major = 0; major < 2; major++)
        for (uint32_t span = SPAN; span >= LEAST; span /= 2) {
            uint32_t row = (bits / 8) << places->shape.log2[major], rows = 1u << places->shape.log2[1 - major];
            if (bits == 8 && major != axis_of_k) continue;
            if (row < span || rows < ROWS || layout_swizzled(ls, places->shape, major, bits, span) != places) continue;
            *s = (MatrixSpans){.span = span, .is_across = major != axis_of_k, .stride = ROWS * span};
            s->leading = s->is_across ? rows * span : 0;
            return true;
        }
    return false;
}

uint64_t spans_descriptor(const MatrixSpans *s) {
    enum { UNIT_LOG2 = 4, LEADING = 16, STRIDE = 32, MODE = 62 };
    uint64_t mode = s->span == SPAN ? 1 : s->span == SPAN / 2 ? 2 : 3;
    /* of rows along k nothing asks for it */
    uint64_t leading = s->is_across ? s->leading >> UNIT_LOG2 : 1;
    return leading << LEADING | (uint64_t)(s->stride >> UNIT_LOG2) << STRIDE | mode << MODE;
}

uint32_t layout_offset(const Layout *places, uint32_t flat) {
    Linear inverse;
    if (!layout_invert(places, &inverse)) bug("layout_offset: places of no tile");
    return (uint32_t)linear_apply(&inverse, flat);
}
