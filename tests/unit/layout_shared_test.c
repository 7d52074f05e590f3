/* layout_shared_test.c - places in shared memory: swizzles against their formula, private places, vectors, and the
 * count of wavefronts against counting the words of every bank.
 *
 * In: seeded random layouts (random_layout.h) and cases worked out by hand.
 */
#include "random_layout.h"

#include <string.h>

enum { BANKS = 32, WARP = 32 };

static Arena *arena;
static Layouts *layouts;

static int set_up(void **state) {
    (void)state;
    arena = arena_create();
    layouts = layouts_create(arena);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_destroy(arena);
    return 0;
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* Where TMA puts row r, column c of a tile of so many rows, in elements:
 * units of 16 bytes change places within 8 rows. */
static uint32_t swizzled(uint32_t rows, uint32_t r, uint32_t c, uint32_t bytes, uint32_t span) {
    uint32_t inside = span / bytes, at = c / inside * rows * inside + r * inside + c % inside;
    uint32_t byte = at * bytes, line = byte >> 7 & (span / 16 - 1);
    return (byte ^ line << 4) / bytes;
}

static void check_swizzle(uint32_t rows_log2, uint32_t cols_log2, uint32_t bytes, uint32_t span, uint32_t major) {
    Shape s = shape_make(2, (const uint8_t[]){(uint8_t)rows_log2, (uint8_t)cols_log2});
    if (major == 0) s = shape_permute(s, (const uint8_t[]){1, 0});
    const Layout *l = layout_swizzled(layouts, s, major, 8 * bytes, span);
    for (uint32_t r = 0; r < 1u << rows_log2; r++) {
        for (uint32_t c = 0; c < 1u << cols_log2; c++) {
            uint32_t at = swizzled(1u << rows_log2, r, c, bytes, span);
            uint32_t flat = shape_flat(s, major ? (const uint32_t[]){r, c} : (const uint32_t[]){c, r});
            assert_int_equal(layout_apply(l, (Owner){{at}}), flat);
        }
    }
}

static void test_swizzled(void **state) {
    (void)state;
    for (uint32_t major = 0; major < 2; major++) {
        check_swizzle(7, 6, 2, 128, major);
        check_swizzle(4, 7, 2, 128, major);
        check_swizzle(5, 5, 2, 64, major);
        check_swizzle(3, 4, 2, 32, major);
        check_swizzle(6, 7, 1, 128, major);
        check_swizzle(3, 5, 4, 128, major);
    }
    Shape s = shape_make(2, (const uint8_t[]){3, 5});
    assert_ptr_equal(layout_swizzled(layouts, s, 1, 16, 0), layout_flat(layouts, s));
}

/* What a descriptor says leads to each element, by the ISA's strides; before units change places. */
static void check_spans(Shape s, uint32_t major, uint32_t bits, uint32_t span, uint32_t axis_of_k) {
    MatrixSpans x;
    uint32_t bytes = bits / 8;
    const Layout *l = layout_swizzled(layouts, s, major, bits, span);
    assert_true(layout_spans(layouts, l, bits, axis_of_k, &x));
    assert_int_equal(x.span, span);
    assert_int_equal(x.is_across, major != axis_of_k);
    for (uint32_t flat = 0; flat < shape_elements(s); flat++) {
        uint32_t at[2] = {flat >> s.log2[1], flat & ((1u << s.log2[1]) - 1)}, row = at[1 - major], col = at[major];
        uint32_t beyond = x.is_across ? x.leading : span << s.log2[1 - major];
        uint32_t byte = row / 8 * x.stride + row % 8 * span + col * bytes / span * beyond + col * bytes % span;
        assert_int_equal(layout_offset(l, flat) * bytes, byte ^ (byte >> 7 & (span / 16 - 1)) << 4);
    }
}

static void test_spans(void **state) {
    (void)state;
    MatrixSpans x;
    for (uint32_t i = 0; i < 8; i++) {
        Shape s = shape_make(2, i & 1 ? (const uint8_t[]){7, 6} : (const uint8_t[]){6, 7});
        for (uint32_t span = 32; span <= 128; span *= 2) check_spans(s, i >> 1 & 1, 16, span, i >> 2);
        for (uint32_t span = 32; span <= 64; span *= 2) check_spans(s, i >> 1 & 1, 8, span, i >> 1 & 1);
        assert_false(layout_spans(layouts, layout_flat(layouts, s), 16, 0, &x));
    }
    Shape s = shape_make(2, (const uint8_t[]){6, 6});
    assert_false(layout_spans(layouts, layout_swizzled(layouts, s, 1, 8, 64), 8, 0, &x)); /* bytes: along k alone */
    assert_false(layout_spans(layouts, layout_swizzled(layouts, s, 1, 32, 128), 32, 1, &x));
    /* PTX ISA: units of 16 bytes; addresses in bits 0 to 13, leading 16 to 29, stride 32 to 45, swizzle 62 and 63 */
    x = (MatrixSpans){.span = 64, .is_across = true, .stride = 512, .leading = 4096};
    assert_int_equal(spans_descriptor(&x), UINT64_C(2) << 62 | UINT64_C(32) << 32 | UINT64_C(256) << 16);
    x.is_across = false;
    assert_int_equal(spans_descriptor(&x), UINT64_C(2) << 62 | UINT64_C(32) << 32 | UINT64_C(1) << 16);
}

static void test_private(void **state) {
    (void)state;
    const Layout *places = layout_private(layouts, 7, 4, 2), *own = layout_threads(layouts, places->shape, 5);
    const Layout *in = layout_in(layouts, places, own);
    uint8_t bits[VECTOR_BITS];
    assert_int_equal(layout_in_vector(in, 4, bits), 2);
    for (uint32_t t = 0; t < 128; t++)
        for (uint32_t r = 0; r < 16; r++)
            assert_int_equal(layout_apply(in, (Owner){{r, t % 32, t / 32}}), (r / 4 * 128 + t) * 4 + r % 4);
}

/* ---- Wavefronts -------------------------------------------------------------------------------------------------- */

/* As the emulator counts one request: words of each bank that the lanes of a group want. */
static uint32_t worst_bank(const uint32_t *address, uint32_t lanes, uint32_t bytes) {
    uint32_t words[WARP * 4], n = 0, of_bank[BANKS] = {0}, worst = 0;
    for (uint32_t i = 0; i < lanes; i++) {
        for (uint32_t at = address[i] / 4; at <= (address[i] + bytes - 1) / 4; at++) {
            uint32_t k = 0;
            while (k < n && words[k] != at) k++;
            if (k == n) words[n++] = at;
        }
    }
    for (uint32_t i = 0; i < n; i++)
        if (++of_bank[words[i] % BANKS] > worst) worst = of_bank[words[i] % BANKS];
    return worst;
}

/* Of a layout over offsets in which every element has one owner. */
static uint32_t counted(const Layout *in, uint32_t bytes) {
    uint8_t bits[VECTOR_BITS];
    uint32_t v = layout_in_vector(in, bytes, bits), size = bytes << v, inside = 0, sum = 0;
    uint32_t group = size > 8 ? WARP / 4 : size > 4 ? WARP / 2 : WARP;
    for (uint32_t i = 0; i < v; i++) inside |= 1u << bits[i];
    for (uint32_t warp = 0; warp < 1u << in->bits[IN_WARP]; warp++) {
        for (uint32_t reg = 0; reg < 1u << in->bits[IN_REGISTER]; reg++) {
            if (reg & inside) continue;
            for (uint32_t first = 0; first < WARP; first += group) {
                uint32_t address[WARP];
                for (uint32_t i = 0; i < group; i++) {
                    address[i] = layout_apply(in, (Owner){{reg, first + i, warp}}) * bytes;
                    assert_int_equal(address[i] % size, 0);
                }
                sum += worst_bank(address, group, size);
            }
        }
    }
    return sum;
}

/* One element an owner, in any order. */
static const Layout *shuffled(Random *r, Shape s, uint32_t warps) {
    Layout l = {.shape = s, .bits = {(uint8_t)(shape_log2(s) - 5 - warps), 5, (uint8_t)warps, 0}};
    uint32_t bits[SHAPE_BITS], n = shape_log2(s);
    for (uint32_t i = 0; i < n; i++) bits[i] = 1u << i;
    for (uint32_t i = n; i-- > 1;) {
        uint32_t k = random_below(r, i + 1), x = bits[i];
        bits[i] = bits[k];
        bits[k] = x;
    }
    for (InDim d = 0, at = 0; d < IN_CTA; d++)
        for (uint32_t i = 0; i < l.bits[d]; i++) l.basis[d][i] = bits[at++];
    return layout_intern(layouts, &l);
}

static void test_wavefronts(void **state) {
    (void)state;
    Random r = {7};
    for (uint32_t n = 0; n < 400; n++) {
        Shape s =
            shape_make(2, (const uint8_t[]){(uint8_t)(3 + random_below(&r, 3)), (uint8_t)(4 + random_below(&r, 3))});
        const Layout *from = shuffled(&r, s, 2), *to = shuffled(&r, s, 2), *flat = layout_flat(layouts, s);
        uint32_t bytes = 1u << random_below(&r, 4);
        const Layout *between = layout_between(layouts, from, to, bytes);
        uint32_t sums[2] = {0};
        const Layout *all[] = {flat, between};
        for (uint32_t i = 0; i < 2; i++) {
            const Layout *store = layout_in(layouts, all[i], from), *load = layout_in(layouts, all[i], to);
            assert_int_equal(layout_wavefronts(store, bytes, false), counted(store, bytes));
            assert_int_equal(layout_wavefronts(load, bytes, true), counted(load, bytes));
            sums[i] = counted(store, bytes) + counted(load, bytes);
        }
        assert_true(sums[1] <= sums[0] && (between == flat || sums[1] < sums[0]));
    }
}

/* A tile and its transpose: each access moves 32 words. */
static void test_transpose(void **state) {
    (void)state;
    for (uint32_t bytes = 2; bytes <= 8; bytes *= 2) {
        Shape s = shape_make(2, (const uint8_t[]){6, 6});
        uint32_t vec = bytes == 2 ? 3 : bytes == 4 ? 2 : 1;
        const Layout *l = layout_blocked(layouts, s, NULL, vec, 5, 2, 0);
        l = layout_rotate(layouts, l, 0, 1, 5 - vec);
        const Layout *t = layout_transpose(layouts, l, (const uint8_t[]){1, 0}),
                     *between = layout_between(layouts, t, l, bytes);
        uint32_t least = 64 * 64 * bytes / 128;
        assert_int_equal(counted(layout_in(layouts, between, t), bytes), least);
        assert_int_equal(counted(layout_in(layouts, between, l), bytes), least);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_swizzled), cmocka_unit_test(test_spans),
                                       cmocka_unit_test(test_private), cmocka_unit_test(test_wavefronts),
                                       cmocka_unit_test(test_transpose)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
