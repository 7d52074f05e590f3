/* jitlocale_test.c - a host program's locale with a decimal comma changes no number and no text of ours.
 *
 * In: a locale made here with localedef, which needs nothing but the C library's own program; kernels and calls with
 * numbers in every place that takes one. Out: every text of a compile, message and result as in the C locale, and as
 * the formula.
 */
#define _DEFAULT_SOURCE
#include "jitfix.h"

#include <locale.h>
#include <math.h>

/* ---- The locale -------------------------------------------------------------------------------------------------- */

static const char comma_source[] =
    "comment_char %\nescape_char /\nLC_NUMERIC\n"
    "decimal_point \"<U002C>\"\nthousands_sep \"<U002E>\"\ngrouping 3;3\nEND LC_NUMERIC\n";

static void write_file(const char *name, const char *text, bool with_ascii) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    for (unsigned c = 0; with_ascii && c < 128; c++) fprintf(f, "<U%04X> /x%02x NAME\n", c, c);
    if (with_ascii) fputs("END CHARMAP\n", f);
    assert_int_equal(fclose(f), 0);
}

/* localedef's exit code tells of the categories that are not there, too: what counts is that the locale works. */
static int make_locale(void **state) {
    char command[1200];
    if (folder_open(state) != 0) return -1;
    write_file("comma.source", comma_source, false);
    write_file("ascii", "<code_set_name> ANSI_X3.4-1968\n<comment_char> %\n<escape_char> /\nCHARMAP\n", true);
    snprintf(command, sizeof command,
             "PATH=$PATH:/usr/bin:/usr/sbin localedef -c -f %s/ascii -i %s/comma.source %s/comma 2>/dev/null", folder,
             folder, folder);
    (void)!system(command);
    setenv("LOCPATH", folder, 1);
    if (!setlocale(LC_ALL, "comma") || strcmp(localeconv()->decimal_point, ",") != 0) {
        print_error("localedef has made no locale with a decimal comma\n");
        return -1;
    }
    setlocale(LC_ALL, "C");
    return 0;
}

static void use_comma(bool on) {
    assert_non_null(setlocale(LC_ALL, on ? "comma" : "C"));
    assert_int_equal(strtod("0.5", NULL) == 0.5, !on); /* it is in force */
}

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

static const char numbers[] =
    "@kernel(grid=(n,), B=(3 if n * 0.75 > 2.5 else 1))\n"
    "def numbers(y: *fp32[n, 8], s: fp32 = 1.5, n: i32 = 1, c: constexpr = 0.25, B: constexpr = 1):\n"
    "    i = program_id(0) * 8\n"
    "    store(y + i, 0.75)\n"
    "    store(y + i + 1, s)\n"
    "    store(y + i + 2, 2.5e-1 * s)\n"
    "    store(y + i + 3, exp(s - 0.5))\n"
    "    store(y + i + 4, c)\n"
    "    store(y + i + 5, float('-12.5'))\n"
    "    store(y + i + 6, 1_000.125)\n"
    "    store(y + i + 7, B * 1.0)\n";

enum { ROWS = 4, RESULTS = 8 };

static void expect_numbers(fsc_jit *j, double s, double c) {
    static float y[ROWS][RESULTS];
    const double want[RESULTS] = {0.75, s, 0.25 * s, exp(s - 0.5), c, -12.5, 1000.125, 3};
    fsc_value v[3] = {{.arg = fsc_pointer(y, sizeof y, FSC_FP32), .array = {2, {ROWS, RESULTS}, {RESULTS, 1}}}};
    v[1].arg = s == 1.5 ? (fsc_arg){.kind = FSC_ARG_MISSING} : fsc_float(s);
    v[2].arg.kind = FSC_ARG_MISSING;
    memset(y, 0x7f, sizeof y);
    if (fsc_jit_call(j, NULL, v, 3, NULL) != FSC_OK) fail_msg("%s", fsc_jit_message(j));
    for (int i = 0; i < ROWS * RESULTS; i++) {
        double got = (double)y[i / RESULTS][i % RESULTS], is = want[i % RESULTS];
        if (fabs(got - is) > 3e-7 * fabs(is)) fail_msg("result %d is %a, not %a", i, got, is);
    }
}

static void open_and_expect(const char *device, const fsc_name_value *settings, size_t n, double s, double c,
                            uint32_t from_disk) {
    fsc_device *d = device_of(device);
    fsc_jit *j = NULL;
    if (fsc_jit_open(d, "numbers.dsl", numbers, strlen(numbers), NULL, settings, n, &j) != FSC_OK)
        fail_msg("%s", fsc_jit_message(j));
    expect_numbers(j, s, c);
    fsc_variant_counts counts;
    fsc_jit_counts(j, &counts);
    expect(counts, !from_disk, from_disk);
    fsc_jit_destroy(j);
    fsc_device_close(d);
}

/* Compiled under one locale, kept on disk, and loaded under the other; both ways. */
static void test_numbers_and_cache(void **state) {
    static const fsc_name_value settings[] = {{"c", "0.125"}};
    (void)state;
    for (int comma_first = 0; comma_first < 2; comma_first++) {
        char cache[300];
        snprintf(cache, sizeof cache, "%s/cache%d", folder, comma_first);
        setenv("FSC_CACHE_DIR", cache, 1);
        for (int second = 0; second < 2; second++) {
            use_comma(comma_first != second);
            open_and_expect("cpu", NULL, 0, 1.5, 0.25, (uint32_t)second);
            open_and_expect("emu", NULL, 0, 1.5, 0.25, (uint32_t)second);
            open_and_expect("cpu", settings, 1, 2.75, 0.125, (uint32_t)second);
        }
        use_comma(false);
    }
}

/* ---- Texts ------------------------------------------------------------------------------------------------------- */

/* A float in each place that prints one: masked-off elements, a rule's literal, the text of a print, an f-string,
 * a constant's error. */
static const char texts[] = "@kernel(grid=(2 if n * 1.5 > 3.5 else 1,))\n"
                            "def texts(y: *fp32, h: *fp16, n: i32, c: constexpr = 2.5e-7):\n"
                            "    i = arange(0, 64)\n"
                            "    x = load(y + i, mask=i < n, other=0.5)\n"
                            "    static_assert(c < 1.5, f'c is {c}')\n"
                            "    device_print('x', x)\n"
                            "    store(y + i, x * 1e-30 + min(x) + c, mask=i < n)\n"
                            "    store(h + i, 0.1)\n";
static const char wrong[] = "@kernel(grid=(1,))\n"
                            "def wrong(y: *fp32, c: constexpr = 2.5e-7):\n"
                            "    static_assert(c > 1.5, f'c is {c}')\n"
                            "    store(y, load(0.5))\n";

static char *text_of_compile(const char *source, fsc_emit emit, const char *arch) {
    static const fsc_name_value defines[] = {{"c", "1.25"}};
    fsc_compile_options o;
    fsc_compilation *c = NULL;
    fsc_compile_options_init(&o);
    o.emit = emit;
    o.arch = arch;
    o.defines = defines;
    o.num_defines = 1;
    o.device_debug = emit != FSC_EMIT_PTX; /* LLVM numbers the calls of all of a machine's compiles */
    o.print_after = "all";
    fsc_status s = fsc_compile(&o, source, strlen(source), &c);
    if (s != (source == wrong && emit != FSC_EMIT_AST ? FSC_ERROR_SOURCE : FSC_OK))
        fail_msg("%s: %s", fsc_status_name(s), fsc_compilation_diagnostics(c));
    const char *record = fsc_compilation_record(c), *dumps = fsc_compilation_dumps(c);
    const char *output = fsc_compilation_output(c, NULL), *said = fsc_compilation_diagnostics(c);
    size_t n = strlen(record) + strlen(dumps) + strlen(output) + strlen(said) + 1;
    char *all = malloc(n);
    assert_non_null(all);
    snprintf(all, n, "%s%s%s%s", record, dumps, output, said);
    assert_null(strstr(fsc_compilation_times(c), ","));
    fsc_compilation_destroy(c);
    return all;
}

static void test_texts_of_compiles(void **state) {
    static const struct {
        fsc_emit emit;
        const char *arch;
    } ways[] = {{FSC_EMIT_AST, "sm_80"},     {FSC_EMIT_TILE, "sm_80"}, {FSC_EMIT_SIMT, "sm_80"},
                {FSC_EMIT_THREADS, "sm_80"}, {FSC_EMIT_LLVM, "sm_80"}, {FSC_EMIT_PTX, "sm_80"},
                {FSC_EMIT_ASM, "cpu"},       {FSC_EMIT_LLVM, "cpu"},   {FSC_EMIT_ASM, "emu"}};
    static const char *const sources[] = {texts, wrong, numbers};
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        for (size_t k = 0; k < sizeof sources / sizeof sources[0]; k++) {
            char *plain = text_of_compile(sources[k], ways[i].emit, ways[i].arch);
            use_comma(true);
            char *comma = text_of_compile(sources[k], ways[i].emit, ways[i].arch);
            use_comma(false);
            assert_true(strlen(plain) > 40);
            size_t same = 0;
            while (plain[same] && plain[same] == comma[same]) same++;
            if (plain[same] || comma[same])
                fail_msg("way %zu of source %zu: %.80s\nis, with a comma: %.80s", i, k, plain + same, comma + same);
            free(plain);
            free(comma);
        }
}

/* The tile IR's text is read as it was written. */
static void test_ir_is_read(void **state) {
    fsc_compile_options o;
    fsc_compilation *made = NULL, *read = NULL;
    (void)state;
    fsc_compile_options_init(&o);
    o.emit = FSC_EMIT_TILE;
    assert_int_equal(fsc_compile(&o, texts, strlen(texts), &made), FSC_OK);
    const char *ir = fsc_compilation_output(made, NULL);
    assert_non_null(strstr(ir, "0.1"));
    use_comma(true);
    o.file = "texts.ir";
    o.passes = "dce";
    fsc_status s = fsc_compile(&o, ir, strlen(ir), &read);
    use_comma(false);
    if (s != FSC_OK) fail_msg("%s", fsc_compilation_diagnostics(read));
    assert_string_equal(fsc_compilation_output(read, NULL), ir);
    fsc_compilation_destroy(read);
    fsc_compilation_destroy(made);
}

/* ---- Sentences and prints ---------------------------------------------------------------------------------------- */

static const char prints[] = "@kernel(grid=(1,))\n"
                             "def prints(y: *fp32, f: fp32, n: i32):\n"
                             "    device_print('f', f)\n"
                             "    assert f < 1.5, 'f is small'\n";

/* What goes to standard output while `f` is launched with 1.25, then the sentences of calls that are refused. */
static void collect(char *out, size_t size) {
    fsc_device *d = device_of("cpu:1");
    fsc_compile_options o;
    fsc_compile_options_init(&o);
    o.device_debug = true;
    fsc_jit *j = jit_with(d, prints, &o);
    char path[300];
    float y = 0;
    fsc_arg args[] = {fsc_pointer(&y, 4, FSC_FP32), fsc_float(1.25), fsc_int(1)};
    snprintf(path, sizeof path, "%s/printed", folder);
    fflush(stdout);
    int kept = dup(1), file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(kept >= 0 && file >= 0 && dup2(file, 1) == 1);
    fsc_status s = fsc_jit_launch(j, NULL, args, 3, NULL);
    fflush(stdout);
    dup2(kept, 1);
    ssize_t n = pread(file, out, size - 1, 0);
    close(kept);
    close(file);
    assert_int_equal(s, FSC_OK);
    assert_true(n > 0);
    out[n] = '\0';
    args[2] = fsc_float(2.5);
    assert_int_equal(fsc_jit_launch(j, NULL, args, 3, NULL), FSC_ERROR_ARGUMENT);
    snprintf(out + n, size - (size_t)n, "%s", fsc_last_message());
    args[1] = fsc_float(2.5);
    args[2] = fsc_int(1);
    const fsc_named_arg named[] = {{"y", args[0]}, {"f", args[1]}, {"n", args[2]}};
    assert_int_equal(fsc_jit_launch_checked(j, NULL, named, 3, NULL), FSC_ERROR_ASSERT);
    n = (ssize_t)strlen(out);
    snprintf(out + n, size - (size_t)n, "%s", fsc_last_message());
    fsc_jit_destroy(j);
    fsc_device_close(d);
}

static void test_sentences_and_prints(void **state) {
    static char plain[4096], comma[4096];
    (void)state;
    setenv("FSC_CACHE_DIR", "off", 1);
    collect(plain, sizeof plain);
    use_comma(true);
    collect(comma, sizeof comma);
    use_comma(false);
    assert_non_null(strstr(plain, "1.25"));
    assert_non_null(strstr(plain, "f = 2.5"));
    assert_string_equal(comma, plain);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_and_cache),
        cmocka_unit_test(test_texts_of_compiles),
        cmocka_unit_test(test_ir_is_read),
        cmocka_unit_test(test_sentences_and_prints),
    };
    return cmocka_run_group_tests(tests, make_locale, folder_close);
}
