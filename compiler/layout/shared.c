/* shared.c - where a tile's elements lie in shared memory, as layouts:
 * the register bits are those of an element's offset.
 *
 * In: shapes, element sizes, register layouts. Out: places; a register layout seen through places;
 * what an access costs.
 * Method: offsets of owners are compose(invert(places), registers). Vectors, banks and conflicts are ranks of that map.
 */
#include "layout/layout.h"

enum {
    WORD = 2,
    BANKS = 5,
    ROW = WORD + BANKS,
    VECTOR = 4 /* log2 of bytes: a bank's, of all banks', of the widest access */
};

static Layout places_of(Shape s) {
    return (Layout){.shape = s, .bits = {[IN_REGISTER] = (uint8_t)shape_log2(s)}};
}

const Layout *layout_flat(Layouts *ls, Shape s) {
    Layout l = places_of(s);
    for (uint32_t i = 0; i < l.bits[IN_REGISTER]; i++) l.basis[IN_REGISTER][i] = UINT32_C(1) << i;
    return layout_intern(ls, &l);
}

const Layout *layout_private(Layouts *ls, uint32_t threads_log2, uint32_t registers_log2, uint32_t run_log2) {
    Layout l = places_of(shape_make(2, (const uint8_t[]){(uint8_t)threads_log2, (uint8_t)registers_log2}));
    for (uint32_t i = 0; i < l.bits[IN_REGISTER]; i++) {
        bool is_run = i < run_log2, is_thread = !is_run && i < run_log2 + threads_log2;
        l.basis[IN_REGISTER][i] = UINT32_C(1) << (is_run      ? i
                                                  : is_thread ? i + registers_log2 - run_log2
                                                              : i - threads_log2);
    }
    return layout_intern(ls, &l);
}

const Layout *layout_threads(Layouts *ls, Shape s, uint32_t lanes_log2) {
    Layout l = {.shape = s, .bits = {s.log2[1], (uint8_t)lanes_log2, (uint8_t)(s.log2[0] - lanes_log2), 0}};
    for (uint32_t d = 0, bit = 0; d < IN_CTA; d++)
        for (uint32_t i = 0; i < l.bits[d]; i++) l.basis[d][i] = UINT32_C(1) << bit++;
    return layout_intern(ls, &l);
}

const Layout *layout_in(Layouts *ls, const Layout *places, const Layout *registers) {
    Linear inverse;
    Layout l = *registers;
    if (!layout_invert(places, &inverse) || inverse.in != shape_log2(registers->shape))
        bug("layout_in: places of another tile");
    l.shape = shape_row(inverse.in);
    for (InDim d = 0; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l.bits[d]; i++)
            l.basis[d][i] = (uint32_t)linear_apply(&inverse, registers->basis[d][i]);
    return layout_intern(ls, &l);
}

uint32_t layout_in_vector(const Layout *l, uint32_t bytes) {
    uint32_t v = 0;
    while (v < l->bits[IN_REGISTER] && l->basis[IN_REGISTER][v] == UINT32_C(1) << v && bytes << (v + 1) <= 1u << VECTOR)
        v++;
    for (InDim d = 0; d < IN_COUNT; d++) /* no other bit may reach into the vector */
        for (uint32_t i = d == IN_REGISTER ? v : 0; i < l->bits[d]; i++)
            while (v && l->basis[d][i] & ((UINT32_C(1) << v) - 1)) v--;
    return v;
}
