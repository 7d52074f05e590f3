/* jitcall_test.c - launches of arrays through the JIT: what contracts name is filled in from shapes and strides, and
 * what does not fit is said; handles from settings as text; what a kernel's parameters are.
 *
 * In: small kernels on the CPU. Out: what they wrote, compared with the formula; messages, word by word.
 */
#define _DEFAULT_SOURCE
#include "jitfix.h"

#include <pthread.h>

/* y[r, c] = x[r, c] * f; the second row's length is an expression. */
static const char rows[] =
    "@kernel(grid=(n,), B=next_power_of_2(m))\n"
    "def rows(y: *fp32[n:sy, m], x: *T[n:sx, m], w: *const fp32[m], n: i32, m: i32, sy: i32, sx: i32,\n"
    "         f: fp32 = 0.5, B: constexpr = 64, T: dtype = fp32):\n"
    "    r = program_id(0)\n"
    "    c = arange(0, B)\n"
    "    v = load(x + r * sx + c, mask=c < m) * load(w + c, mask=c < m)\n"
    "    store(y + r * sy + c, v * f, mask=c < m)\n";
static const char pairs[] = "@kernel(grid=(n,))\n"
                            "def pairs(y: *fp32[n], x: *fp32[n, 2], n: i32):\n"
                            "    i = program_id(0)\n"
                            "    store(y + i, load(x + 2 * i) + load(x + 2 * i + 1))\n";

static fsc_value missing(void) {
    return (fsc_value){.arg = {.kind = FSC_ARG_MISSING}};
}

static fsc_value matrix(const void *p, int64_t r, int64_t c, int64_t stride) {
    return (fsc_value){fsc_pointer(p, 0, FSC_FP32), {2, {r, c}, {stride, 1}}};
}

static fsc_value row(const void *p, int64_t n) {
    return (fsc_value){fsc_pointer(p, 0, FSC_FP32), {1, {n}, {1}}};
}

static fsc_value integer(int64_t i) {
    return (fsc_value){.arg = fsc_int(i)};
}

static fsc_device *device;

static fsc_jit *open_jit(const char *source) {
    fsc_jit *j = NULL;
    if (fsc_jit_open(device, "t.dsl", source, strlen(source), NULL, NULL, 0, &j) != FSC_OK)
        fail_msg("%s", fsc_jit_message(j));
    return j;
}

static void refused(fsc_jit *j, const fsc_value *v, size_t n, fsc_status status, const char *why) {
    assert_int_equal(fsc_jit_call(j, NULL, v, n, NULL), status);
    assert_string_equal(fsc_last_message(), why);
}

enum { ROWS = 3, COLS = 5, WIDE = 8 };
static float x[ROWS * WIDE], y[ROWS * WIDE], w[COLS];

static void prepare(void) {
    for (int i = 0; i < ROWS * WIDE; i++) x[i] = (float)i, y[i] = -1;
    for (int i = 0; i < COLS; i++) w[i] = (float)(i + 2);
}

static void names_are_filled_in(void **state) {
    fsc_jit *j = open_jit(rows);
    (void)state;
    for (int factor = 0; factor < 2; factor++) {
        fsc_value v[] = {matrix(y, ROWS, COLS, WIDE),
                         matrix(x, ROWS, COLS, COLS),
                         row(w, COLS),
                         missing(),
                         missing(),
                         missing(),
                         missing(),
                         missing()};
        prepare();
        if (factor) v[7].arg = fsc_float(4);
        assert_int_equal(fsc_jit_call(j, NULL, v, 8, NULL), FSC_OK);
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < WIDE; c++) {
                float want = c < COLS ? x[r * COLS + c] * w[c] * (factor ? 4.0f : 0.5f) : -1;
                if (y[r * WIDE + c] != want)
                    fail_msg("y[%d, %d] is %g, not %g", r, c, (double)y[r * WIDE + c], (double)want);
            }
    }
    fsc_jit_destroy(j);
}

/* A stride along one row says nothing: not in the array, and not of what is filled in. */
static void one_row_needs_no_stride(void **state) {
    fsc_jit *j = open_jit(rows);
    fsc_value v[] = {matrix(y, 1, COLS, 99),
                     matrix(x, 1, COLS, -7),
                     row(w, COLS),
                     missing(),
                     missing(),
                     missing(),
                     missing(),
                     missing()};
    (void)state;
    prepare();
    assert_int_equal(fsc_jit_call(j, NULL, v, 8, NULL), FSC_OK);
    for (int c = 0; c < COLS; c++) assert_true(y[c] == x[c] * w[c] * 0.5f);
    v[5] = integer(40);
    assert_int_equal(fsc_jit_call(j, NULL, v, 8, NULL), FSC_OK);
    v[0] = matrix(y, 0, COLS, COLS), v[1] = matrix(x, 0, COLS, COLS); /* an empty grid */
    y[0] = 7;
    assert_int_equal(fsc_jit_call(j, NULL, v, 8, NULL), FSC_OK);
    assert_true(y[0] == 7);
    for (int i = 0; i < 2; i++) v[i] = matrix(i ? x : y, ROWS, 0, 0), v[i].array.strides[1] = 0; /* as NumPy has them */
    v[2] = row(w, 0), v[5] = missing();
    assert_int_equal(fsc_jit_call(j, NULL, v, 8, NULL), FSC_OK);
    fsc_jit_destroy(j);
}

static void contradictions_are_said(void **state) {
    fsc_jit *j = open_jit(rows);
    const fsc_value good[] = {matrix(y, ROWS, COLS, WIDE),
                              matrix(x, ROWS, COLS, COLS),
                              row(w, COLS),
                              missing(),
                              missing(),
                              missing(),
                              missing(),
                              missing()};
    fsc_value v[8];
    (void)state;
    prepare();
#define WRONG(at, value, why)                                     \
    do {                                                          \
        memcpy(v, good, sizeof v);                                \
        v[at] = (value);                                          \
        refused(j, v, 8, FSC_ERROR_ARGUMENT, "kernel rows: " why); \
    } while (0)
    WRONG(1, matrix(x, 2, COLS, COLS), "n is 3 by the shape of y, and 2 by the shape of x");
    WRONG(2, row(w, 4), "m is 5 by the shape of y, and 4 by the shape of w");
    WRONG(3, integer(4), "n is 4 by n=4, and 3 by the shape of y");
    WRONG(5, integer(COLS), "sy is 5 by sy=5, and 8 by the stride of y");
    WRONG(0, row(y, ROWS * COLS), "y has 2 dimensions by its contract, and the array has 1");
    WRONG(0, missing(), "argument y is missing");
    WRONG(0, integer(1), "argument y is a pointer, not a number");
    WRONG(3, row(w, COLS), "argument n is a number, not a pointer");
    fsc_value turned = matrix(x, ROWS, COLS, 1);
    turned.array.strides[1] = ROWS;
    WRONG(1, turned,
          "dimension 1 of x has a stride of 3, and its contract wants 1: pass a contiguous copy, or name the stride in "
          "the contract");
    fsc_value gaps = matrix(w, 2, 2, 5);
    WRONG(2, gaps,
          "w is one row by its contract, and the elements of the array of 2 dimensions do not lie one behind the "
          "other: make a contiguous copy of it");
    refused(j, good, 7, FSC_ERROR_ARGUMENT, "kernel rows: it takes 8 run-time arguments of 256 at most, not 7");
    memcpy(v, good, sizeof v);
    for (int i = 0; i < 3; i++) v[i].array.rank = FSC_RANK_MAX + 1; /* only where they are is known */
    refused(j, v, 8, FSC_ERROR_ARGUMENT, "kernel rows: argument n is missing, and no array says what it is");
    for (int i = 0; i < ROWS * WIDE; i++) assert_true(y[i] == -1);
    fsc_jit_destroy(j);
}

/* A contract of one dimension takes a matrix; one with a number in it is compared. */
static void expressions_are_compared(void **state) {
    fsc_jit *j = open_jit(pairs);
    fsc_value v[] = {matrix(y, 2, 2, 2), matrix(x, 4, 2, 2), missing()};
    (void)state;
    prepare();
    assert_int_equal(fsc_jit_call(j, NULL, v, 3, NULL), FSC_OK);
    for (int i = 0; i < 4; i++) assert_true(y[i] == x[2 * i] + x[2 * i + 1]);
    v[1] = matrix(x, 4, 2, 3);
    refused(j, v, 3, FSC_ERROR_ARGUMENT,
            "kernel pairs: dimension 0 of x has a stride of 3, and its contract wants 2: pass a contiguous copy, or "
            "name the stride in the contract");
    v[1] = matrix(x, 4, 1, 2);
    refused(j, v, 3, FSC_ERROR_ARGUMENT, "kernel pairs: dimension 1 of x has 1 elements, and its contract wants 2");
    fsc_jit_destroy(j);
}

/* Of dimensions of one element the strides say nothing, wherever they are. */
static void columns_are_rows(void **state) {
    fsc_jit *j = open_jit("@kernel(grid=(n,))\n"
                          "def column(y: *fp32[n], x: *fp32[n:s], n: i32, s: i32):\n"
                          "    i = program_id(0)\n"
                          "    store(y + i, load(x + i * s))\n");
    fsc_value v[] = {matrix(y, 1, 4, 9), matrix(x, 4, 1, 2), missing(), missing()};
    (void)state;
    prepare();
    assert_int_equal(fsc_jit_call(j, NULL, v, 4, NULL), FSC_OK);
    for (int i = 0; i < 4; i++) assert_true(y[i] == x[2 * i]);
    v[1] = matrix(x, 2, 2, 0), v[1].array.strides[1] = 0; /* four times the same element */
    assert_int_equal(fsc_jit_call(j, NULL, v, 4, NULL), FSC_OK);
    for (int i = 0; i < 4; i++) assert_true(y[i] == x[0]);
    v[1] = matrix(x, 2, 2, -1), v[1].array.strides[1] = 0;
    refused(j, v, 4, FSC_ERROR_ARGUMENT,
            "kernel column: x is one row by its contract, and the elements of the array of 2 dimensions do not lie one "
            "behind the other: make a contiguous copy of it");
    fsc_jit_destroy(j);
}

/* ---- Handles that are none --------------------------------------------------------------------------------------- */

static void unusable(fsc_jit *j) {
    const fsc_value v = missing();
    fsc_kernel *kernel = NULL;
    fsc_param p;
    bool reads, writes;
    refused(j, &v, 1, FSC_ERROR_USAGE, "fsc_jit_call: the handle is not usable: what made it has failed");
    assert_int_equal(fsc_jit_launch(j, NULL, &v.arg, 1, NULL), FSC_ERROR_USAGE);
    assert_int_equal(fsc_jit_prepare(j, &v.arg, 1, &kernel), FSC_ERROR_USAGE);
    assert_int_equal(fsc_jit_param(j, 0, &p), FSC_ERROR_USAGE);
    assert_int_equal(fsc_jit_access(j, 0, &reads, &writes), FSC_ERROR_USAGE);
    assert_int_equal(fsc_jit_launch_checked(j, NULL, NULL, 0, NULL), FSC_ERROR_USAGE);
}

static void handles_of_failures_are_refused(void **state) {
    static const fsc_name_value wrong = {"num_warps", "two"};
    fsc_jit *j = NULL;
    (void)state;
    unusable(NULL);
    assert_string_equal(fsc_jit_kernel(NULL), "");
    assert_string_equal(fsc_jit_message(NULL), "");
    assert_int_equal(fsc_jit_open(device, "t.dsl", "def f(:\n", 8, NULL, NULL, 0, &j), FSC_ERROR_SOURCE);
    unusable(j);
    assert_string_equal(fsc_jit_kernel(j), "");
    assert_non_null(strstr(fsc_jit_message(j), "t.dsl:1:"));
    fsc_jit_destroy(j);
    assert_int_equal(fsc_jit_open(device, "t.dsl", pairs, strlen(pairs), NULL, &wrong, 1, &j), FSC_ERROR_USAGE);
    unusable(j);
    fsc_jit_destroy(j);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            fsc_jit_open(device, i ? NULL : "t.dsl", i ? pairs : NULL, i ? strlen(pairs) : 0, NULL, NULL, 0, &j),
            FSC_ERROR_USAGE);
        assert_string_equal(fsc_jit_message(j), "there is no source, or it has no file name: both are needed");
        unusable(j);
        fsc_jit_destroy(j);
    }
}

/* ---- Settings and parameters ------------------------------------------------------------------------------------- */

static void settings_are_told_apart(void **state) {
    static const fsc_name_value good[] = {{"B", "128"},          {"T", "fp16"},      {"num_warps", "2"},
                                          {"fast_math", "true"}, {"opt_level", "1"}, {"cpu", "native"}};
    static const struct {
        fsc_name_value setting;
        const char *why;
    } bad[] = {{{"num_warps", "two"}, "option num_warps is a whole number, not 'two'"},
               {{"opt_level", "4"}, "option opt_level is 0, 1, 2 or 3, not '4'"},
               {{"debug", "yes"}, "option debug is true or false, not 'yes'"},
               {{"n", "4"}, "'n' of kernel rows is an argument of each launch, not fixed for all of them"},
               {{"BB", "4"},
                "kernel rows has no parameter 'BB', and there is no such option; its parameters are y, x, w, n, m, sy, "
                "sx, f, B, T; "
                "options are num_warps, num_stages, num_ctas, split, overlap, config, opt_level, debug, fast_math, "
                "device_debug, no_cache, remarks, "
                "arch, cpu, signature, passes, include, tuned"}};
    fsc_jit *j = NULL;
    (void)state;
    assert_int_equal(fsc_jit_open(device, "t.dsl", rows, strlen(rows), "rows", good, COUNT(good), &j), FSC_OK);
    assert_int_equal(j->options.num_defines, 1);
    assert_string_equal(j->options.types[0].value, "fp16");
    assert_int_equal(j->options.num_warps, 2);
    assert_int_equal(j->options.opt_level, 1);
    assert_true(j->options.fast_math);
    fsc_jit_destroy(j);
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(fsc_jit_open(device, "t.dsl", rows, strlen(rows), NULL, &bad[i].setting, 1, &j),
                         FSC_ERROR_USAGE);
        assert_string_equal(fsc_jit_message(j), bad[i].why);
        fsc_jit_destroy(j);
    }
    assert_int_equal(fsc_jit_open(device, "t.dsl", rows, strlen(rows), "none", good, COUNT(good), &j), FSC_ERROR_USAGE);
    fsc_jit_destroy(j);
}

/* Names before anything is compiled; what a list leaves undone when a variant is. */
static void lists_of_passes_are_checked(void **state) {
    static const struct {
        const char *list, *at_open, *at_call;
    } lists[] = {{"dce,flod", "unknown pass 'flod'", NULL},
                 {"-licm,-layout", "pass 'layout' may not be left out", NULL},
                 {"dce", NULL, "the list leaves out fold, which the target's code needs"},
                 {"fold,dce", NULL, NULL},
                 {"-licm,-cse", NULL, NULL}};
    fsc_value v[] = {matrix(y, ROWS, COLS, WIDE),
                     matrix(x, ROWS, COLS, WIDE),
                     row(w, COLS),
                     missing(),
                     missing(),
                     missing(),
                     missing(),
                     missing()};
    (void)state;
    for (size_t i = 0; i < COUNT(lists); i++) {
        fsc_name_value passes = {"passes", lists[i].list};
        fsc_jit *j = NULL;
        prepare();
        fsc_status s = fsc_jit_open(device, "t.dsl", rows, strlen(rows), NULL, &passes, 1, &j);
        assert_int_equal(s, lists[i].at_open ? FSC_ERROR_USAGE : FSC_OK);
        if (lists[i].at_open) {
            assert_non_null(strstr(fsc_jit_message(j), lists[i].at_open));
        } else if (lists[i].at_call) {
            assert_int_equal(fsc_jit_call(j, NULL, v, COUNT(v), NULL), FSC_ERROR_USAGE);
            assert_non_null(strstr(fsc_last_message(), lists[i].at_call));
        } else {
            assert_int_equal(fsc_jit_call(j, NULL, v, COUNT(v), NULL), FSC_OK);
            assert_float_equal(y[WIDE + 2], x[WIDE + 2] * w[2] * 0.5f, 0);
        }
        fsc_jit_destroy(j);
    }
}

static void parameters_are_shown(void **state) {
    static const struct {
        const char *text;
        fsc_param_kind kind;
        bool is_optional, reads, writes;
    } want[] = {{"y: *fp32[n:sy, m]", FSC_PARAM_POINTER, false, false, true},
                {"x: *T[n:sx, m]", FSC_PARAM_POINTER, false, true, false},
                {"w: *const fp32[m]", FSC_PARAM_POINTER, false, true, false},
                {"n: i32", FSC_PARAM_SCALAR, true, false, false},
                {"m: i32", FSC_PARAM_SCALAR, true, false, false},
                {"sy: i32", FSC_PARAM_SCALAR, true, false, false},
                {"sx: i32", FSC_PARAM_SCALAR, true, false, false},
                {"f: fp32 = 0.5", FSC_PARAM_SCALAR, true, false, false},
                {"B: constexpr = next_power_of_2(m)", FSC_PARAM_CONSTEXPR, true, false, false},
                {"T: dtype = fp32", FSC_PARAM_DTYPE, true, false, false}};
    fsc_jit *j = open_jit(rows);
    fsc_param p;
    (void)state;
    assert_string_equal(fsc_jit_kernel(j), "rows");
    for (size_t i = 0; i < COUNT(want); i++) {
        bool reads = true, writes = true;
        assert_int_equal(fsc_jit_param(j, i, &p), FSC_OK);
        assert_string_equal(p.text, want[i].text);
        assert_int_equal(p.kind, want[i].kind);
        assert_int_equal(p.is_optional, want[i].is_optional);
        assert_int_equal(fsc_jit_access(j, i, &reads, &writes), FSC_OK);
        assert_int_equal(reads, want[i].reads);
        assert_int_equal(writes, want[i].writes);
    }
    assert_int_equal(fsc_jit_param(j, COUNT(want), &p), FSC_ERROR_USAGE);
    assert_int_equal(fsc_jit_access(j, COUNT(want), &(bool){0}, &(bool){0}), FSC_ERROR_USAGE);
    fsc_jit_destroy(j);
    j = open_jit("@kernel\ndef f(p, q: *const fp32, n):\n    store(p, load(q) * n)\n"); /* of no types */
    for (size_t i = 0; i < 2; i++) {
        bool reads = false, writes = i != 0;
        assert_int_equal(fsc_jit_access(j, i, &reads, &writes), FSC_ERROR_SOURCE);
        assert_true(reads && writes == (i == 0));
        assert_non_null(strstr(fsc_last_message(), "t.dsl:2:"));
    }
    fsc_jit_destroy(j);
}

static void kernels_are_listed(void **state) {
    static const char nested[] =
        "def make():\n    @jit\n    def inner(x): helper(x)\n@jit\ndef helper(x): store(x, 1.0)\n"
        "@jit\ndef outer(x): helper(x)\ndef plain(x): helper(x)\nmade = triton.jit(plain)\n";
    char both[sizeof rows + sizeof pairs];
    fsc_compilation *c = NULL;
    (void)state;
    snprintf(both, sizeof both, "%s%s", rows, pairs);
    assert_int_equal(fsc_source_kernels("t.dsl", both, strlen(both), &c), FSC_OK);
    assert_string_equal(fsc_compilation_output(c, NULL), "rows\npairs\n");
    fsc_compilation_destroy(c);
    assert_int_equal(fsc_source_functions("t.py", nested, strlen(nested), &c), FSC_OK);
    assert_string_equal(fsc_compilation_output(c, NULL), "inner\nhelper\nouter\nmade\n");
    fsc_compilation_destroy(c);
    assert_int_equal(fsc_source_kernels("t.py", nested, strlen(nested), &c), FSC_OK);
    assert_string_equal(fsc_compilation_output(c, NULL), "outer\nmade\n");
    fsc_compilation_destroy(c);
    assert_int_equal(fsc_source_functions("t.dsl", "def f(:\n", 8, &c), FSC_ERROR_SOURCE);
    fsc_compilation_destroy(c);
    assert_int_equal(fsc_source_functions("t.py", "\0", 1, &c), FSC_ERROR_SOURCE);
    fsc_compilation_destroy(c);
    assert_int_equal(fsc_source_kernels("t.dsl", "def f(:\n", 8, &c), FSC_ERROR_SOURCE);
    assert_non_null(strstr(fsc_compilation_diagnostics(c), "t.dsl:1:"));
    fsc_compilation_destroy(c);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static void *call_often(void *context) {
    fsc_jit *j = context;
    float out[ROWS * COLS], in[ROWS * COLS];
    for (int i = 0; i < 60; i++) {
        int64_t r = 1 + i % ROWS, c = 1 + i % COLS;
        const fsc_value v[] = {matrix(out, r, c, c),
                               matrix(in, r, c, c),
                               row(w, c),
                               missing(),
                               missing(),
                               missing(),
                               missing(),
                               missing()};
        bool reads = true, writes = false;
        fsc_param p;
        for (int k = 0; k < ROWS * COLS; k++) in[k] = (float)(k + i);
        if (fsc_jit_call(j, NULL, v, 8, NULL) != FSC_OK || fsc_jit_param(j, 1, &p) != FSC_OK) return context;
        if (fsc_jit_access(j, 0, &reads, &writes) != FSC_OK || reads || !writes || strcmp(p.name, "x") != 0)
            return context;
        for (int k = 0; k < r * c; k++)
            if (out[k] != in[k] * w[k % c] * 0.5f) return context;
    }
    return NULL;
}

static void threads_share_a_handle(void **state) {
    fsc_jit *j = open_jit(rows);
    pthread_t threads[4];
    void *wrong = NULL;
    (void)state;
    prepare();
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, call_often, j), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    fsc_jit_destroy(j);
}

typedef struct Failing {
    fsc_jit *j;
    fsc_dtype type;
} Failing;

/* A source error that names the element type, again and again: the message is this thread's own, to its end. */
static void *fail_often(void *context) {
    const Failing *f = context;
    fsc_arg args[] = {fsc_pointer(y, sizeof y, f->type), fsc_int(1)};
    char first[4096] = "", want[32];
    snprintf(want, sizeof want, "tile<4x%s>", fsc_dtype_name(f->type));
    for (int i = 0; i < 40; i++) {
        if (fsc_jit_launch(f->j, NULL, args, 2, NULL) != FSC_ERROR_SOURCE) return context;
        if (i == 0) snprintf(first, sizeof first, "%s", fsc_jit_message(f->j));
        if (!strstr(first, want) || strcmp(fsc_jit_message(f->j), first) != 0) {
            print_error("%s: %s", want, fsc_jit_message(f->j));
            return context;
        }
    }
    return NULL;
}

static void each_thread_has_its_message(void **state) {
    static const fsc_dtype types[] = {FSC_FP16, FSC_BF16, FSC_FP32, FSC_FP64};
    fsc_jit *j = open_jit("@kernel(grid=(1,))\n"
                          "def wrong(y: *T, n: i32, T: dtype = fp32):\n"
                          "    store(y + arange(0, 4), load(y + arange(0, 4)) % load(y + arange(0, 8)))\n");
    Failing failing[COUNT(types)];
    pthread_t threads[COUNT(types)];
    void *wrong = NULL;
    (void)state;
    for (size_t i = 0; i < COUNT(types); i++) {
        failing[i] = (Failing){j, types[i]};
        assert_int_equal(pthread_create(&threads[i], NULL, fail_often, &failing[i]), 0);
    }
    for (size_t i = 0; i < COUNT(types); i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    fsc_jit_destroy(j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_filled_in),
        cmocka_unit_test(one_row_needs_no_stride),
        cmocka_unit_test(contradictions_are_said),
        cmocka_unit_test(expressions_are_compared),
        cmocka_unit_test(settings_are_told_apart),
        cmocka_unit_test(parameters_are_shown),
        cmocka_unit_test(kernels_are_listed),
        cmocka_unit_test(threads_share_a_handle),
        cmocka_unit_test(lists_of_passes_are_checked),
        cmocka_unit_test(columns_are_rows),
        cmocka_unit_test(handles_of_failures_are_refused),
        cmocka_unit_test(each_thread_has_its_message),
    };
    device = device_of("cpu:1");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fsc_device_close(device);
    return failed;
}
