/* layout_text_test.c - layouts as text: the one-line form both ways, bad text, the tables of --layout, and misuse.
 *
 * In: seeded random layouts (random_layout.h), damaged text, layouts that no caller may make.
 * What is written reads back as the same pointer. Bad text is refused at the right byte and never read past its end.
 */
#include "random_layout.h"

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

static void test_round_trip(void **state) {
    (void)state;
    Random r = {31};
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        const Layout *l = random_layout(&r, layouts);
        Text t = {0};
        layout_write(l, &t);
        size_t end = t.len;
        text_printf(&t, " rest");
        const char *at = t.at, *why = "unset";
        require(layout_read(layouts, &at, &why) == l && why == NULL, l, "round trip");
        require(at == t.at + end, l, "the reader stops elsewhere");
        text_free(&t);
    }
}

static void test_spaces(void **state) {
    (void)state;
    const char *text = "  #layout<[ 4 x\t8 ] reg = [1, 2]lane=[ 4,8 ,16] warp=[] cta=[ 0 ] >|";
    const char *at = text, *why;
    const Layout *l = layout_read(layouts, &at, &why);
    assert_non_null(l);
    assert_string_equal(at, "|");
    assert_int_equal(l->shape.log2[1], 3);
    assert_int_equal(l->bits[IN_CTA], 1);
    assert_int_equal(layout_free(l, IN_CTA), 1);
}

static void test_bad_text(void **state) {
    (void)state;
    static const struct {
        const char *good, *bad, *why; /* `good` is read, the complaint is at `bad` and has `why` in it */
    } cases[] = {
        {"", "", "begins with #layout<"},
        {"", "#layot<[4]", "begins with #layout<"},
        {"#layout<", "4] reg", "begins with its shape"},
        {"#layout<[", "3] reg=[1,2]", "powers of two"},
        {"#layout<[", "0] reg=[1,2]", "powers of two"},
        {"#layout<[] ", "lane=[]", "reg= lane= warp= cta="},
        {"#layout<[4x", "]", "number"},
        {"#layout<[2x2x2x2x2x2x2x", "2]", "at most 7"},
        {"#layout<[65536x", "65536]", "2^31"},
        {"#layout<[", "4294967296]", "2^31"},
        {"#layout<[", "99999999999999999999]", "number"},
        {"#layout<[4", ",4]", "ends with ]"},
        {"#layout<[4] ", "lane=[]", "reg= lane= warp= cta="},
        {"#layout<[4] reg", " [1]", "reg= lane= warp= cta="},
        {"#layout<[4] reg=", "1", "stand in"},
        {"#layout<[4] reg=[1,", "4]", "beyond its shape"},
        {"#layout<[4] reg=[1,", "]", "number"},
        {"#layout<[4] reg=[1,", "-1]", "number"},
        {"#layout<[4] reg=[1", " 2]", "separated by commas"},
        {"#layout<[4] reg=[1,2] lane=[", "", "number"},
        {"#layout<[4] reg=[1,2] lane=[0,0,0,0,0,0,0,0,0,0,", "0]", "no so many bits"},
        {"#layout<[4] reg=[1,2] lane=[] warp=[] cta=[]", "", "ends with >"},
        {"", "#layout<[4] reg=[1] lane=[1] warp=[] cta=[]>", "without an owner"},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        char *text = arena_printf(arena, "%s%s", cases[i].good, cases[i].bad);
        const char *at = text, *why = NULL;
        assert_null(layout_read(layouts, &at, &why));
        if (!strstr(why, cases[i].why)) fail_msg("%s: %s", text, why);
        const char *wanted = cases[i].bad + strspn(cases[i].bad, " ");
        if (strcmp(at, wanted) != 0) fail_msg("%s: at '%s', wanted '%s'", text, at, wanted);
        at = text;
        assert_null(layout_read(layouts, &at, NULL));
    }
}

/* Cut off anywhere, or with a byte changed: refused or sound, never past the end (the text is exactly allocated). */
static void test_damaged_text(void **state) {
    (void)state;
    Random r = {32};
    uint32_t sound = 0;
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        Text t = {0}, again = {0};
        layout_write(random_layout(&r, layouts), &t);
        size_t len = random_below(&r, 2) ? t.len : random_below(&r, (uint32_t)t.len);
        char *copy = malloc(len + 1);
        memcpy(copy, t.at, len);
        copy[len] = 0;
        if (len == t.len) copy[random_below(&r, (uint32_t)len)] = "0123456789,[]x=> rlw#"[random_below(&r, 21)];
        const char *at = copy;
        const Layout *l = layout_read(layouts, &at, NULL);
        assert_true(at >= copy && at <= copy + len);
        if (l) {
            assert_int_equal(len, t.len);
            assert_true(layout_is_surjective(l));
            layout_write(l, &again);
            at = again.at;
            assert_ptr_equal(layout_read(layouts, &at, NULL), l);
            sound++;
        }
        free(copy);
        text_free(&t);
        text_free(&again);
    }
    assert_true(sound > 0 && sound < LAYOUTS / 2);
}

static void test_print(void **state) {
    (void)state;
    const char *text = "#layout<[4x4] reg=[1] lane=[2,4] warp=[8,9] cta=[0]>", *at = text;
    const Layout *l = layout_read(layouts, &at, NULL);
    assert_non_null(l);
    Text t = {0};
    layout_print(l, &t);
    assert_string_equal(t.at, "#layout<[4x4] reg=[1] lane=[2,4] warp=[8,9] cta=[0]>\n"
                              "  4x4 over 2 registers x 4 lanes x 4 warps x 2 ctas\n"
                              "  reg  bit 0   (0, 1)\n"
                              "  lane bit 0   (0, 2)\n"
                              "  lane bit 1   (1, 0)\n"
                              "  warp bit 0   (2, 0)\n"
                              "  warp bit 1   (2, 1) repeats\n"
                              "  cta  bit 0   repeats\n"
                              "  element: cta:warp:lane:reg of it and the next\n"
                              "  (0, 0): 0:0:00:0 0:0:00:1 0:0:01:0 0:0:01:1\n"
                              "  (1, 0): 0:0:02:0 0:0:02:1 0:0:03:0 0:0:03:1\n"
                              "  (2, 0): 0:1:00:0 0:1:00:1 0:1:01:0 0:1:01:1\n"
                              "  (3, 0): 0:1:02:0 0:1:02:1 0:1:03:0 0:1:03:1\n");
    text_free(&t);
    layout_print(layout_blocked(layouts, shape_scalar(), NULL, 0, 0, 0, 0), &t);
    assert_string_equal(t.at, "#layout<[] reg=[] lane=[] warp=[] cta=[]>\n"
                              "  one element over 1 register x 1 lane x 1 warp x 1 cta\n"
                              "  element: warp:lane:reg\n"
                              "  (): 0:00:0\n");
    text_free(&t);
    layout_print(layout_blocked(layouts, shape_row(20), NULL, 2, 5, 2, 0), &t);
    assert_null(strstr(t.at, "element:")); /* too many owners to list */
    text_free(&t);
}

/* ---- Misuse is a bug of fsc -------------------------------------------------------------------------------------- */

static jmp_buf caught;

static void catch_bug(void *context, const char *message) {
    (void)context, (void)message;
    longjmp(caught, 1);
}

static void misuse(uint32_t which) {
    const Layout *l = layout_blocked(layouts, shape_row(7), NULL, 2, 5, 0, 0);
    Layout bad = *l;
    ConvertPlan plan;
    switch (which) {
    case 0: shape_insert(shape_make(SHAPE_RANK, (const uint8_t[SHAPE_RANK]){0}), 0); break;
    case 1: shape_size(shape_row(3), 1); break;
    case 2: shape_permute(l->shape, (const uint8_t[]){1}); break;
    case 3: layout_reshape(layouts, l, shape_row(6)); break;
    case 4: layout_project(layouts, l, shape_row(6)); break;
    case 5: layout_blocked(layouts, shape_make(2, (const uint8_t[]){16, 16}), NULL, 0, 0, 0, 0); break;
    case 6: layout_blocked(layouts, shape_make(2, (const uint8_t[]){2, 2}), (const uint8_t[]){1, 1}, 0, 0, 0, 0); break;
    case 7: convert_plan(l, layout_blocked(layouts, shape_row(7), NULL, 2, 4, 0, 0), &plan); break;
    case 8: convert_plan(l, layout_blocked(layouts, shape_row(6), NULL, 2, 5, 0, 0), &plan); break;
    case 9: bad.basis[IN_LANE][0] = 128, layout_intern(layouts, &bad); break;
    case 10: bad.basis[IN_WARP][0] = 1, layout_intern(layouts, &bad); break;
    default: bad.basis[IN_LANE][0] = 0, layout_owner(&bad, 4); break;
    }
}

static void test_misuse(void **state) {
    (void)state;
    bug_set_handler(catch_bug, NULL);
    for (volatile uint32_t which = 0; which < 12; which++) {
        if (setjmp(caught) != 0) continue;
        misuse(which);
        bug_set_handler(NULL, NULL);
        fail_msg("misuse %u went unseen", which);
    }
    bug_set_handler(NULL, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_spaces), cmocka_unit_test(test_bad_text),
        cmocka_unit_test(test_damaged_text), cmocka_unit_test(test_print),  cmocka_unit_test(test_misuse),
    };
    return cmocka_run_group_tests_name("layout text", tests, set_up, tear_down);
}
