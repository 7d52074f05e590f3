/* variant_test.c - a specialisation as the options of a compile and as a key: the caller's own choices come first, and
 * the key tells all variants apart, those of few programs also by the multiprocessors that they are split over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "variant.h"

enum { Y, ROWS, N, BLOCK, T, PARAMS };

/* def k(y: *T, rows: i32, n: i32, BLOCK = next_power_of_2(n), T: dtype = fp32), grid (rows,) */
static Record *interface_of_k(void) {
    Record *r = record_create("k");
    record_add_param(r, RECORD_POINTER, "y", "T");
    record_add_param(r, RECORD_SCALAR, "rows", "i32");
    record_add_param(r, RECORD_SCALAR, "n", "i32");
    record_add_constexpr(r, "BLOCK", RECORD_INT, "", RECORD_DEFAULT, "$2 npow2");
    record_add_constexpr(r, "T", RECORD_DTYPE, "fp32", RECORD_DEFAULT, NULL);
    record_add_grid(r, "$1");
    return r;
}

typedef struct Compile {
    fsc_compile_options options;
    Text key;
} Compile;

static Compile compile_of(Arena *a, const fsc_compile_options *own, uint32_t sms, const fsc_arg *args) {
    fsc_props device = {.kind = FSC_CUDA, .arch = "sm_90", .sms = sms, .warp_size = 32};
    Record *r = interface_of_k();
    Specialiser s;
    Specialisation out = {.values = NEW_ARRAY(a, RuleBinding, PARAMS), .facts = NEW_ARRAY(a, SpecFact, PARAMS)};
    char err[384];
    Compile c = {.key = {0}};
    const SpecGiven given = variant_given(own, r, NEW_ARRAY(a, const char *, PARAMS));
    assert_true(specialiser_open(&s, r, &device, &given));
    assert_true(specialise(&s, NULL, args, &out, err, sizeof err));
    c.options = variant_options(a, own, r, NULL, &out);
    variant_key(r, &device, &out, &c.key);
    specialiser_close(&s);
    record_free(r);
    return c;
}

static const char *value_of(const fsc_name_value *pairs, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(pairs[i].name, name) == 0) return pairs[i].value;
    return "none";
}

static void own_choices_come_first(void **state) {
    Arena *a = arena_create();
    const fsc_arg args[] = {fsc_pointer((void *)64, 0, FSC_BF16), fsc_int(1000), fsc_int(1000)};
    const fsc_name_value defines[] = {{"n<", "1024"}, {"BLOCK:", "1024"}}, types[] = {{"T", "fp16"}};
    fsc_compile_options own;
    (void)state;
    fsc_compile_options_init(&own);
    Compile plain = compile_of(a, &own, 132, args);
    assert_string_equal(value_of(plain.options.defines, plain.options.num_defines, "n<"), "1024");
    assert_string_equal(value_of(plain.options.defines, plain.options.num_defines, "n>"), "769");
    assert_string_equal(value_of(plain.options.types, plain.options.num_types, "T"), "bf16");
    assert_string_equal(value_of(plain.options.divisible, plain.options.num_divisible, "n"), "8");
    assert_string_equal(value_of(plain.options.divisible, plain.options.num_divisible, "y"), "16");
    assert_string_equal(value_of(plain.options.known, plain.options.num_known, "rows"), "1000");
    assert_non_null(strstr(plain.key.at, "BLOCK=1024 T:bf16 "));
    own.defines = defines, own.num_defines = COUNT(defines);
    own.types = types, own.num_types = COUNT(types);
    Compile given = compile_of(a, &own, 132, args);
    assert_string_equal(value_of(given.options.defines, given.options.num_defines, "BLOCK:"), "1024");
    /* of the tile that was given */
    assert_string_equal(value_of(given.options.defines, given.options.num_defines, "n>"), "769");
    assert_string_equal(value_of(given.options.types, given.options.num_types, "T"), "fp16");
    assert_null(strstr(given.key.at, "T:"));
    text_free(&plain.key);
    text_free(&given.key);
    arena_destroy(a);
}

static void few_programs_know_the_multiprocessors(void **state) {
    Arena *a = arena_create();
    const fsc_arg few[] = {fsc_pointer((void *)64, 0, FSC_FP32), fsc_int(2), fsc_int(1 << 20)};
    const fsc_arg many[] = {fsc_pointer((void *)64, 0, FSC_FP32), fsc_int(2000), fsc_int(1 << 20)};
    fsc_compile_options own;
    (void)state;
    fsc_compile_options_init(&own);
    Compile large = compile_of(a, &own, 132, few), small = compile_of(a, &own, 16, few);
    assert_true(large.options.few_programs && large.options.most_programs == 2);
    /* code split over 128 blocks would not start on 16 multiprocessors */
    assert_string_not_equal(large.key.at, small.key.at);
    Compile here = compile_of(a, &own, 132, many), there = compile_of(a, &own, 16, many);
    assert_false(here.options.few_programs);
    assert_string_equal(here.key.at, there.key.at);
    text_free(&large.key), text_free(&small.key), text_free(&here.key), text_free(&there.key);
    arena_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_choices_come_first),
        cmocka_unit_test(few_programs_know_the_multiprocessors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
