/* record_test.c - a record's text: round trip, every truncation, every damaged byte, finding it in images. */
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "runtime/fsc_runtime.h"
#include "runtime/record/recordtext.h"

static void full_round_trip(void **state) {
    (void)state;
    Record *r = sample_record("sm_90", "1024", RECORD_RULE, 16);
    record_add_grid(r, "$5 8 cdiv");
    record_set_num_stages(r, "max_shared 200000 > 4 2 sel");
    record_set_num_ctas(r, "1");
    record_add_param(r, RECORD_SCALAR, "s", "i64")->equals_one = true;
    RecordParam *bounded = record_add_param(r, RECORD_SCALAR, "bounded", "i32");
    bounded->least = 3;
    bounded->most = UINT32_MAX;
    record_add_param(r, RECORD_SCALAR, "scale", "fp16");
    record_add_constexpr(r, "EPS", RECORD_FLOAT, "1e-05", RECORD_OPTION, NULL);
    record_add_constexpr(r, "CAUSAL", RECORD_BOOL, "0", RECORD_SIGNATURE, NULL);
    record_add_constexpr(r, "FORMAT", RECORD_WORD, "'tf32 \"x\"'", RECORD_OPTION, NULL);
    assert_non_null(record_add_map(r, P_X, 128));
    record_add_box(r, 32, "$5", NULL);
    record_add_box(r, 256, "2147483647", "$3");
    assert_non_null(record_add_map(r, P_Y, 64));
    record_add_box(r, 16, "$5 $4 *", NULL);
    record_add_require(r, "$5 0 >", "n_cols > 0 and \"quoted\" \\ back\nslash\t\x01");
    RecordLaunch *second = record_add_launch(r, "softmax$second", 1024, 2, 8, 232448);
    second->resident = 1280, second->overlaps = true;
    r->scratch_bytes = (uint64_t)5 << 32;
    size_t n = 0, m = 0;
    char *text = record_write(r, &n), err[256] = "";
    assert_non_null(text);
    assert_int_equal(strlen(text), n);
    Record *back = record_parse(text, n, err, sizeof err);
    assert_string_equal(err, "");
    assert_non_null(back);
    char *again = record_write(back, &m);
    assert_int_equal(n, m);
    assert_memory_equal(text, again, n);

    assert_string_equal(back->file, "dir/soft max.dsl");
    assert_int_equal(back->num_params, 14);
    assert_int_equal(back->params[P_X].divisible, 16);
    assert_true(back->params[P_X].is_const);
    assert_false(back->params[P_Y].is_const);
    assert_int_equal(back->params[P_X].num_dims, 2);
    assert_string_equal(back->params[P_X].dims[0].stride, "$3");
    assert_int_equal(back->params[P_BLOCK].origin, RECORD_RULE);
    assert_string_equal(back->params[P_BLOCK].rule, "$5 npow2");
    assert_null(back->params[P_T].rule);
    assert_string_equal(back->requires[1].text, r->requires[1].text);
    assert_int_equal(back->num_maps, 2);
    Record *copy = record_copy(back);
    assert_int_equal(copy->num_maps, 2);
    record_free(copy);
    assert_true(back->maps[0].param == P_X && back->maps[0].swizzle == 128 && back->maps[0].num_boxes == 2);
    assert_true(back->maps[0].boxes[0].elements == 32 && !back->maps[0].boxes[0].stride);
    assert_string_equal(back->maps[0].boxes[1].extent, "2147483647");
    assert_string_equal(back->maps[0].boxes[1].stride, "$3");
    assert_string_equal(back->maps[1].boxes[0].extent, "$5 $4 *");
    assert_int_equal(back->launches[1].blocks_per_program, 8);
    assert_true(back->launches[1].resident == 1280 && back->launches[1].overlaps && !back->launches[0].overlaps);
    assert_int_equal(back->launches[0].shared_static, 16);
    assert_int_equal(back->accesses[1].param, P_Y);
    assert_int_equal(back->accesses[1].align, 16);
    assert_true(back->accesses[1].is_store);
    assert_true(back->scratch_bytes == (uint64_t)5 << 32);
    RuleValue v;
    assert_true(record_value(&back->params[11], &v) && v.is_float && v.f == 1e-5);
    assert_true(record_value(&back->params[P_T], &v) && v.is_dtype);
    assert_string_equal(back->params[13].value, "'tf32 \"x\"'");
    free(text);
    free(again);
    record_free(back);
    record_free(r);
}

/* With a map of x. */
static Record *mapped_record(void) {
    Record *r = sample_record("sm_80", "1024", RECORD_DEFAULT, 16);
    record_add_map(r, P_X, 64);
    record_add_box(r, 16, "$5", NULL);
    record_add_box(r, 128, "$4", "$3");
    return r;
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    Record *r = mapped_record();
    size_t n = 0;
    char *text = record_write(r, &n);
    for (size_t i = 0; i < n; i++) {
        char err[256] = "", *part = malloc(i ? i : 1); /* exact size: a read beyond it is seen */
        memcpy(part, text, i);
        assert_null(record_parse(part, i, err, sizeof err));
        assert_true(strlen(err) > 10);
        free(part);
    }
    Record *whole = record_parse(text, n, NULL, 0);
    assert_non_null(whole);
    record_free(whole);
    free(text);
    record_free(r);
}

static void every_damaged_byte_is_refused(void **state) {
    (void)state;
    Record *r = mapped_record();
    size_t n = 0;
    char *text = record_write(r, &n);
    for (size_t i = 0; i < n; i++) {
        for (int bit = 0; bit < 8; bit++) {
            text[i] = (char)(text[i] ^ 1 << bit);
            Record *damaged = record_parse(text, n, NULL, 0);
            assert_null(damaged);
            text[i] = (char)(text[i] ^ 1 << bit);
        }
    }
    free(text);
    record_free(r);
}

/* A text with a right hash and `line` in the place of the line that begins as it does, or added. */
static char *with_line(const char *text, const char *line, size_t *length) {
    size_t head = strcspn(line, " "), n = 0, added = strlen(line);
    char *out = malloc(strlen(text) + added + 32);
    bool placed = false;
    if (!out) abort();
    for (const char *p = text; strncmp(p, "end ", 4) != 0;) {
        size_t size = strcspn(p, "\n") + 1;
        bool same = !placed && strncmp(p, line, head) == 0 && p[head] == ' ';
        memcpy(out + n, same ? line : p, same ? added : size);
        n += same ? added : size;
        if (same) out[n++] = '\n';
        placed |= same;
        p += size;
    }
    if (!placed) {
        memcpy(out + n, line, added);
        n += added;
        out[n++] = '\n';
    }
    *length = n + (size_t)snprintf(out + n, 14, "end %08x\n", record_hash(out, n));
    return out;
}

static void wrong_lines_are_named(void **state) {
    (void)state;
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"param pointer y fp31", "'fp31' is no element type"},
        {"param thing y fp32", "no kind of parameter"},
        {"param pointer y fp32 divisible=0", "divisible=0"},
        {"param pointer y fp32 divisible=x", "'x' is no count"},
        {"param scalar n i32 least=x", "'x' is no count"},
        {"param scalar n i32 most=-1", "'-1' is no count"},
        {"param pointer y fp32 aligned=4", "where 'divisible=' must stand"},
        {"param pointer", "has 2 words"},
        {"param constexpr B int 1.5 rule", "'1.5' is no value"},
        {"param constexpr B int 12 guess", "no origin"},
        {"param constexpr B int 99999999999999999999 rule", "is no value"},
        {"param constexpr B dtype fp33 rule", "no element type"},
        {"dim \"$4\"", "has 2 words"},
        {"grid \"$4 +\"", "not well formed at '+'"},
        {"grid \"$44\"", "'$44' is beyond the 8 parameters"},
        {"grid \"$4 frob\"", "'frob' is no launch-rule operation"},
        {"num_warps \"1 2\"", "leaves 2 values"},
        {"launch softmax threads=1 programs=1 blocks=1 static=0", "has 6 words"},
        {"launch softmax threads=1 programs=1 blocks=1 static=0 dynamic=0 line=3", "where 'shared_line=' must stand"},
        {"launch softmax threads=1 programs=1 blocks=1 static=0 dynamic=0 tile_line=x", "'x' is no count"},
        {"launch softmax threads=1 programs=1 blocks=1 static=0 dynamic=0 resident=x", "'x' is no count"},
        {"map 9 swizzle=64", "a map of parameter 9, which is no pointer"},
        {"map 4 swizzle=64", "a map of parameter 4, which is no pointer"},
        {"map 1 swizzle=8", "swizzled by 8 bytes"},
        {"map 1 swizzle=16\nbox 2 \"$4\"", "rows of 2 elements of 4 bytes in a map swizzled by 16"},
        {"map 1 64", "where 'swizzle=' must stand"},
        {"map 1 swizzle=64", "has a map without dimensions"},
        {"map 1 swizzle=64\nbox 16 \"$4 +\"", "not well formed at '+'"},
        {"map 1 swizzle=64\nbox 16 \"$4\"\nbox 8 \"$5\"", "has 3 words"},
        {"map 1 swizzle=64\nbox 16 \"$4\" \"1\"", "has 4 words"},
        {"map 1 swizzle=64\nbox 8 \"$4\"", "rows of 8 elements of 4 bytes in a map swizzled by 64"},
        {"map 1 swizzle=64\nbox 0 \"$4\"", "a box of 0 elements"},
        {"map 1 swizzle=64\nbox 16 \"$4\"\nbox 512 \"$5\" \"$3\"", "a box of 512 elements"},
        {"map 1 swizzle=64\nbox 16 \"$4\"\nbox 3 \"$5\" \"$3\"", "a box of 3 elements"},
        {"box 16 \"$4\"", "a box with no map before it"},
        {"require \"\" \"nothing\"", "leaves 0 values"},
        {"require \"$5\" \"open", "not well formed"},
        {"require \"$5\" \"bad \\q escape\"", "not well formed"},
        {"require \"$5\" \"a\"b", "follows a closing quote"},
        {"launch softmax threads=128 programs=0 blocks=1 static=0 dynamic=0", "no programs"},
        {"launch softmax threads=128 programs=1 blocks=1 static=0 dynamic=4294967296", "is no count"},
        {"launch softmax blocks=1", "words"},
        {"scratch -1", "no size"},
        {"access peek 1 1 bytes=4 fp32", "no access"},
        {"access load 1 1 bytes=4 fp32 param=8", "parameter 8, which is not there"},
        {"kernel \"\"", "no name"},
        {"colour blue", "'colour' is no line of a record"},
        {"access load 1 1 a b c d e f g h i j k l m n", "too many words"},
    };
    Record *r = sample_record("sm_80", "1024", RECORD_DEFAULT, 16);
    char *text = record_write(r, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char err[256] = "";
        size_t n = 0;
        char *wrong = with_line(text, cases[i].line, &n);
        assert_null(record_parse(wrong, n, err, sizeof err));
        if (!strstr(err, cases[i].says)) fail_msg("%s: got '%s'", cases[i].line, err);
        free(wrong);
    }
    free(text);
    record_free(r);
}

static void other_versions_are_refused(void **state) {
    (void)state;
    char err[128];
    assert_null(record_parse("fsc-record 2\nend 00000000\n", 26, err, sizeof err));
    assert_non_null(strstr(err, "version"));
    assert_null(record_parse("", 0, err, sizeof err));
    assert_non_null(strstr(err, "magic"));
    assert_null(record_parse("fsc-record 1\n", 13, err, sizeof err));
    assert_non_null(strstr(err, "cut off"));
}

static void found_in_ptx(void **state) {
    (void)state;
    Record *r = sample_record("sm_80", "1024", RECORD_DEFAULT, 16);
    char *ptx = sample_ptx(r, "7.0"), *text = record_write(r, NULL);
    size_t offset = 0, n = 0, size = strlen(ptx);
    char *found = record_find(ptx, size, &offset, &n);
    assert_non_null(found);
    assert_string_equal(found, text);
    free(found);
    assert_null(record_find(ptx, size, &offset, &n));
    found = fsc_image_record(ptx, size, 0);
    assert_string_equal(found, text);
    free(found);
    assert_null(fsc_image_record(ptx, size, 1));
    for (size_t i = 0; i < size; i++) { /* cut anywhere: nothing, or something that the parser refuses */
        char *part = malloc(i ? i : 1);
        memcpy(part, ptx, i);
        offset = 0;
        found = record_find(part, i, &offset, &n);
        Record *parsed = found ? record_parse(found, n, NULL, 0) : NULL;
        assert_true(parsed == NULL || i > size - 4); /* only the closing "};" may be missing */
        record_free(parsed);
        free(found);
        free(part);
    }
    free(ptx);
    free(text);
    record_free(r);
}

static void odd_ptx_arrays(void **state) {
    (void)state;
    static const char *const none[] = {
        ".extern .global .b8 fsc_record_k[12];\n",
        "ld.global.b8 %r1, [fsc_record_k];\n",
        ".b8 fsc_record_k[x] = {1};",
        ".b8 fsc_record_",
        ".b8 fsc_record_k[99999999999999999999] = {1}",
    };
    size_t offset, n = 0;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        offset = 0;
        assert_null(record_find(none[i], strlen(none[i]), &offset, &n));
    }
    const char *two = "// text first, long enough\n.b8 fsc_record_a[3]={65,\n 66 , 67};\n.b8 fsc_record_b[9] = {68};";
    offset = 0;
    char *a = record_find(two, strlen(two), &offset, &n), *b = record_find(two, strlen(two), &offset, NULL);
    assert_string_equal(a, "ABC");
    assert_int_equal(n, 3);
    assert_string_equal(b, "D");
    free(a);
    free(b);
    const char *beyond = "// text first, long enough\n.b8 fsc_record_a[2] = {65, 66, 67, 300};";
    offset = 0;
    a = record_find(beyond, strlen(beyond), &offset, &n);
    assert_string_equal(a, "AB");
    free(a);
}

static void found_in_bytes(void **state) {
    (void)state;
    Record *r = sample_record("sm_80", "1024", RECORD_DEFAULT, 16);
    size_t length = 0, n = 0, offset = 0, size = 0;
    char *text = record_write(r, &length), *image = calloc(1, 3 * length + 1000);
    memcpy(image, "\177ELF\2\1\1", 7);
    memcpy(image + 333, text, length);
    memcpy(image + 700 + length, text, length);
    size = 1000 + 2 * length;
    for (int i = 0; i < 2; i++) {
        char *found = record_find(image, size, &offset, &n);
        assert_int_equal(n, length);
        assert_memory_equal(found, text, n);
        free(found);
    }
    assert_null(record_find(image, size, &offset, &n));
    offset = 0;
    char *cut = record_find(image, 333 + length - 3, &offset, &n); /* found, and refused when parsed */
    assert_non_null(cut);
    assert_null(record_parse(cut, n, NULL, 0));
    free(cut);
    free(image);
    free(text);
    record_free(r);
}

static void copies_stand_alone(void **state) {
    (void)state;
    Record *r = sample_record("sm_80", "1024", RECORD_DEFAULT, 16), *copy = record_copy(r);
    char *a = record_write(r, NULL);
    record_free(r);
    char *b = record_write(copy, NULL);
    assert_string_equal(a, b);
    free(a);
    free(b);
    record_free(copy);
    record_free(NULL);
}

static void many_parameters(void **state) {
    (void)state;
    Record *r = record_create("wide");
    char name[16];
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "p%d", i);
        record_add_param(r, RECORD_POINTER, name, "bf16");
        record_add_dim(r, (uint32_t)i, "$0", "1");
    }
    Record *copy = record_copy(r);
    assert_int_equal(copy->num_params, 500);
    assert_string_equal(copy->params[499].name, "p499");
    record_free(copy);
    record_add_grid(r, "1"), record_add_grid(r, "1"), record_add_grid(r, "1"), record_add_grid(r, "1");
    assert_null(record_write(r, NULL)); /* four grid dimensions */
    record_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_round_trip),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(every_damaged_byte_is_refused),
        cmocka_unit_test(wrong_lines_are_named),
        cmocka_unit_test(other_versions_are_refused),
        cmocka_unit_test(found_in_ptx),
        cmocka_unit_test(odd_ptx_arrays),
        cmocka_unit_test(found_in_bytes),
        cmocka_unit_test(copies_stand_alone),
        cmocka_unit_test(many_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
