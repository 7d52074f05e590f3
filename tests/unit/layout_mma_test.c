/* layout_mma_test.c - the layouts of matrix instructions' operands, against the PTX ISA (mma_isa.h) and by hand.
 *
 * In: every row of mma.def, tiles of one fragment and of many, warps along m and n.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "layout/mma.h"
#include "mma_isa.h"

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

static Shape shape_of(uint32_t rows, uint32_t cols) {
    return shape_make(2, (const uint8_t[]){(uint8_t)__builtin_ctz(rows), (uint8_t)__builtin_ctz(cols)});
}

/* The operand's tile of an m x n x k product. */
static Shape operand_shape(uint32_t m, uint32_t n, uint32_t k, MmaOperand which) {
    return which == MMA_A ? shape_of(m, k) : which == MMA_B ? shape_of(k, n) : shape_of(m, n);
}

static void expect_text(const Layout *l, const char *want) {
    Text t = {0};
    layout_write(l, &t);
    assert_string_equal(t.at, want);
    text_free(&t);
}

/* Register by register, lane by lane. */
static void test_fragments(void **state) {
    (void)state;
    for (Mma i = 0; i < MMA_COUNT; i++) {
        const MmaInfo *info = &mma_info[i];
        for (MmaOperand which = MMA_A; which <= MMA_C && !mma_is_grouped(i); which++) {
            Shape s = operand_shape(info->m, info->n, info->k, which);
            const Layout *l = layout_mma(layouts, s, i, 0, 0, which);
            assert_int_equal(layout_registers(l), mma_fragment(i, which));
            assert_int_equal(layout_registers(l) * 32, shape_elements(s));
            for (uint32_t lane = 0; lane < 32; lane++)
                for (uint32_t reg = 0; reg < layout_registers(l); reg++) {
                    uint32_t row, col, flat = layout_apply(l, (Owner){{[IN_REGISTER] = reg, [IN_LANE] = lane}});
                    isa_place(info->m, info->k, mma_bits(info->types[MMA_A]), which, lane, reg, &row, &col);
                    if (shape_coord(s, flat, 0) != row || shape_coord(s, flat, 1) != col)
                        fail_msg("%s operand %d lane %u register %u: [%u, %u], not [%u, %u]", info->name, (int)which,
                                 lane, reg, shape_coord(s, flat, 0), shape_coord(s, flat, 1), row, col);
                }
        }
    }
}

/* Further fragments: every one is whole, in order, and the three operands of one product meet in one warp. */
static void test_tiles(void **state) {
    (void)state;
    for (Mma i = 0; i < MMA_COUNT; i++) {
        const MmaInfo *info = &mma_info[i];
        uint32_t m = (4u * info->m) >> info->warps_log2, n = 4u * info->n, k = 2u * info->k;
        for (uint32_t wm = 0; wm < 3; wm++)
            for (uint32_t wn = 0; wn < 3; wn++) {
                const Layout *a = layout_mma(layouts, shape_of(m, k), i, wm, wn, MMA_A),
                             *b = layout_mma(layouts, shape_of(k, n), i, wm, wn, MMA_B),
                             *c = layout_mma(layouts, shape_of(m, n), i, wm, wn, MMA_C);
                assert_true(layout_is_surjective(a) && layout_is_surjective(b) && layout_is_surjective(c));
                assert_true(layout_same_threads(a, b) && layout_same_threads(a, c));
                assert_int_equal(c->bits[IN_WARP], wm + wn);
                uint32_t of_a = mma_fragment(i, MMA_A), of_b = mma_fragment(i, MMA_B), of_c = mma_fragment(i, MMA_C);
                uint32_t tiles_m = 4u >> wm, tiles_n = 4u >> wn;
                assert_int_equal(layout_registers(a), of_a * 2 * tiles_m);
                assert_int_equal(layout_registers(b), of_b * 2 * tiles_n);
                assert_int_equal(layout_registers(c), of_c * tiles_n * tiles_m);
                for (uint32_t warp = 0; warp < 1u << (wm + wn); warp++)
                    for (uint32_t x = 0; x < tiles_m; x++)
                        for (uint32_t y = 0; y < tiles_n; y++)
                            for (uint32_t z = 0; z < 2; z++) {
                                uint32_t at_a =
                                    layout_apply(a, (Owner){{[IN_REGISTER] = (x * 2 + z) * of_a, [IN_WARP] = warp}});
                                uint32_t at_b =
                                    layout_apply(b, (Owner){{[IN_REGISTER] = (y * 2 + z) * of_b, [IN_WARP] = warp}});
                                uint32_t at_c = layout_apply(
                                    c, (Owner){{[IN_REGISTER] = (x * tiles_n + y) * of_c, [IN_WARP] = warp}});
                                assert_int_equal(shape_coord(a->shape, at_a, 0), shape_coord(c->shape, at_c, 0));
                                assert_int_equal(shape_coord(b->shape, at_b, 1), shape_coord(c->shape, at_c, 1));
                                assert_int_equal(shape_coord(a->shape, at_a, 1), z * info->k);
                                assert_int_equal(shape_coord(b->shape, at_b, 0), z * info->k);
                            }
            }
    }
}

/* PTX ISA, "Matrix fragments for wgmma": the sum of 64 rows and 256 columns, which of each warp is as that of mma. */
static void test_groups(void **state) {
    (void)state;
    for (Mma i = 0; i < MMA_COUNT; i++) {
        if (!mma_is_grouped(i)) continue;
        Shape s = shape_of(64, 256);
        const Layout *l = layout_mma(layouts, s, i, 2, 0, MMA_C);
        assert_false(mma_fits(i, shape_of(32, 256), MMA_C));
        for (uint32_t t = 0; t < 128; t++)
            for (uint32_t reg = 0; reg < 128; reg++) {
                Owner o = {{[IN_REGISTER] = reg, [IN_LANE] = t % 32, [IN_WARP] = t / 32}};
                uint32_t flat = layout_apply(l, o);
                assert_int_equal(shape_coord(s, flat, 0), t / 32 * 16 + t % 32 / 4 + 8 * (reg / 2 % 2));
                assert_int_equal(shape_coord(s, flat, 1), reg / 4 * 8 + t % 4 * 2 + reg % 2);
            }
    }
}

static void test_bases(void **state) {
    (void)state;
    expect_text(layout_mma(layouts, shape_of(128, 256), MMA_M16N8K16_BF16, 3, 0, MMA_C),
                "#layout<[128x256] reg=[1,2048,8,16,32,64,128] lane=[2,4,256,512,1024] warp=[4096,8192,16384] cta=[]>");
    expect_text(layout_mma(layouts, shape_of(32, 64), MMA_M16N8K32_S8, 1, 1, MMA_A),
                "#layout<[32x64] reg=[1,2,512,16,32] lane=[4,8,64,128,256] warp=[1024,0] cta=[]>");
    expect_text(layout_mma(layouts, shape_of(16, 64), MMA_M16N8K8_TF32, 1, 2, MMA_B),
                "#layout<[16x64] reg=[256,512,8] lane=[64,128,1,2,4] warp=[0,16,32] cta=[]>");
    /* More warps than fragments: they hold the same. */
    expect_text(layout_mma(layouts, shape_of(8, 8), MMA_M8N8K4_F64, 1, 1, MMA_C),
                "#layout<[8x8] reg=[1] lane=[2,4,8,16,32] warp=[0,0] cta=[]>");
}

/* What one product gives is, in 16 bits, the operand of the next: one layout. */
static void test_chained(void **state) {
    (void)state;
    for (uint32_t warps = 0; warps < 4; warps++)
        for (Mma i = MMA_M16N8K16_F16; i <= MMA_M16N8K16_BF16; i++) {
            Shape s = shape_of(256, 64);
            assert_ptr_equal(layout_mma(layouts, s, i, warps, 0, MMA_C), layout_mma(layouts, s, i, warps, 0, MMA_A));
        }
    Shape s = shape_of(64, 64);
    const Layout *c = layout_mma(layouts, s, MMA_M16N8K32_S8, 2, 0, MMA_C);
    assert_int_equal(convert_kind(c, layout_mma(layouts, s, MMA_M16N8K32_S8, 2, 0, MMA_A)), CONVERT_SHUFFLE);
}

static void test_fits(void **state) {
    (void)state;
    assert_true(mma_fits(MMA_M16N8K16_F16, shape_of(16, 16), MMA_A));
    assert_false(mma_fits(MMA_M16N8K16_F16, shape_of(8, 16), MMA_A));
    assert_false(mma_fits(MMA_M16N8K16_F16, shape_of(16, 8), MMA_A));
    assert_true(mma_fits(MMA_M16N8K16_F16, shape_of(16, 8), MMA_B));
    assert_false(mma_fits(MMA_M16N8K16_F16, shape_row(8), MMA_C));
}

/* ---- ldmatrix ---------------------------------------------------------------------------------------------------- */

/* The offset of the element that register reg of a lane has after the instructions, by PTX ISA, "ldmatrix": row r of
 * matrix j begins where lane 8 j + r says. */
static uint32_t loaded_from(const MatrixRows *m, uint32_t bytes, uint32_t reg, uint32_t lane, uint32_t warp) {
    uint32_t in_word = reg & ((1u << m->word_log2) - 1), word = reg >> m->word_log2;
    uint32_t j = word & ((1u << m->count_log2) - 1), instruction = word >> m->count_log2;
    uint32_t byte = 4 * (lane % 4) + bytes * in_word, row = lane / 4;
    if (m->is_transposed) {
        row = 2 * (lane % 4) + in_word;
        byte = 2 * (lane / 4);
    }
    Owner o = {{[IN_REGISTER] = instruction << m->row_log2, [IN_LANE] = 8 * j + row, [IN_WARP] = warp}};
    uint32_t begin = layout_apply(m->rows, o) * bytes;
    assert_int_equal(begin % 16, 0);
    return (begin + byte) / bytes;
}

/* The parts of an operand in a swizzled tile. Along k bytes, halves and words of 32 bits come by ldmatrix, across k
 * halves alone; no row of a matrix meets another in a bank. */
static void check_matrices(Mma i, MmaOperand which, uint32_t major, uint32_t span) {
    const MmaInfo *info = &mma_info[i];
    uint32_t bytes = mma_bits(info->types[which]) / 8, k_axis = which == MMA_A ? 1 : 0;
    Shape whole = operand_shape(64, 64, 128, which), part = operand_shape(64, 64, info->k, which);
    const Layout *places = layout_swizzled(layouts, whole, major, 8 * bytes, span);
    const Layout *l = layout_within(layouts, layout_mma(layouts, part, i, 1, 1, which), k_axis, 7);
    const Layout *in = layout_in(layouts, places, l);
    MatrixRows m;
    bool fits = layout_matrices(layouts, in, bytes, &m);
    assert_int_equal(fits, bytes <= 4 && (major == k_axis || bytes == 2));
    if (!fits) return;
    assert_int_equal(m.is_transposed, major != k_axis);
    for (uint32_t warp = 0; warp < 4; warp++)
        for (uint32_t lane = 0; lane < 32; lane++)
            for (uint32_t reg = 0; reg < layout_registers(in); reg++) {
                Owner o = {{[IN_REGISTER] = reg, [IN_LANE] = lane, [IN_WARP] = warp}};
                assert_int_equal(loaded_from(&m, bytes, reg, lane, warp), layout_apply(in, o));
            }
    if (m.count_log2 == 2) /* 128 bytes a wavefront, of each warp what it holds */
        assert_int_equal(layout_wavefronts(m.rows, bytes, true), 4 * 32 * layout_registers(in) * bytes / 128);
}

static void test_matrices(void **state) {
    (void)state;
    for (Mma i = 0; i < MMA_COUNT; i++)
        for (MmaOperand which = MMA_A; which <= MMA_B; which++)
            for (uint32_t major = 0; major < 2; major++)
                for (uint32_t span = 32; span <= 128; span *= 2)
                    if ((major == (which == MMA_A) ? 128u : 64u) * mma_bits(mma_info[i].types[which]) / 8 >= span)
                        check_matrices(i, which, major, span);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fragments), cmocka_unit_test(test_tiles), cmocka_unit_test(test_bases),
        cmocka_unit_test(test_chained),   cmocka_unit_test(test_fits),  cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
