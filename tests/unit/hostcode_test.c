/* hostcode_test.c - the CPU target's code, run: what it touches, what it leaves alone,
 * and what every processor agrees on.
 *
 * In: tile IR as text, compiled for this processor and for plain x86-64, with and without passes.
 * Out: what the kernels stored, beside pages that cannot be touched and between guard bytes.
 * A planted access without a mask dies beside such a page, in a process of its own.
 */
#include "hostcode.h"

#include "codegen/processor.h"

/* ---- Pages that cannot be touched -------------------------------------------------------------------------------- */

typedef struct Fence {
    unsigned char *all, *open, *end; /* `open` to `end` can be used; what lies on both sides cannot */
} Fence;

static Fence fence_create(void) {
    Fence f = {.all = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};
    assert_true(f.all != MAP_FAILED);
    f.open = f.all + PAGE;
    f.end = f.open + PAGE;
    assert_int_equal(mprotect(f.open, PAGE, PROT_READ | PROT_WRITE), 0);
    return f;
}

static void fence_destroy(Fence *f) {
    assert_int_equal(munmap(f->all, 3 * PAGE), 0);
}

typedef struct Element {
    const char *name, *other; /* `other` has the bits of `fill` */
    size_t bytes;
    uint64_t fill;
} Element;

static const Element elements[] = {
    {"fp16", "1.0", 2, 0x3c00}, {"bf16", "1.0", 2, 0x3f80}, {"fp32", "1.0", 4, 0x3f800000},
    {"i8", "7", 1, 7},          {"i64", "7", 8, 7},         {"fp64", "1.0", 8, UINT64_C(0x3ff0000000000000)},
};

/* Element i of whatever kind: never the fill, never the mark. */
static uint64_t element_bits(const Element *e, uint32_t i) { return e->bytes == 1 ? 16 + i : 0x4000 + i; }

static void put_element(const Element *e, unsigned char *at, uint64_t bits) { memcpy(at, &bits, e->bytes); }

static uint64_t get_element(const Element *e, const unsigned char *at) {
    uint64_t bits = 0;
    memcpy(&bits, at, e->bytes);
    return bits;
}

/* y[i * stride] = x[i * stride] where i PRED n, and z[i] = what was loaded everywhere. */
static void copy_text(char *out, size_t room, const Element *e, uint32_t lanes, uint32_t stride, const char *pred) {
    snprintf(out, room,
             "func @k(%%y: *%s, %%x: *%s, %%z: *%s, %%n: i32) stage tile {\n"
             "  %%i = arange 0, %u : tile<%uxi32>\n"
             "  %%0 = splat %%n : tile<%uxi32>\n"
             "  %%m = icmp %s %%i, %%0 : tile<%uxi1>\n"
             "  %%s = const %u : tile<%uxi32>\n"
             "  %%j = %s : tile<%uxi32>\n"
             "  %%1 = splat %%x : tile<%ux*%s>\n"
             "  %%2 = addptr %%1, %%j : tile<%ux*%s>\n"
             "  %%o = const %s : tile<%ux%s>\n"
             "  %%v = load %%2, %%m, %%o : tile<%ux%s>\n"
             "  %%3 = splat %%y : tile<%ux*%s>\n"
             "  %%4 = addptr %%3, %%j : tile<%ux*%s>\n"
             "  store %%4, %%v, %%m\n"
             "  %%5 = splat %%z : tile<%ux*%s>\n"
             "  %%6 = addptr %%5, %%i : tile<%ux*%s>\n"
             "  store %%6, %%v\n"
             "  return\n}\n",
             e->name, e->name, e->name, lanes, lanes, lanes, pred, lanes, stride == 1 ? 0 : stride, lanes,
             stride == 1 ? "add %i, %s" : "mul %i, %s", lanes, lanes, e->name, lanes, e->name, e->other, lanes, e->name,
             lanes, e->name, lanes, e->name, lanes, e->name, lanes, e->name, lanes, e->name);
}

typedef struct Copy {
    const Element *e;
    uint32_t lanes, stride;
    bool from_below; /* lanes below n are on, and the fence lies above; else the other way round */
} Copy;

static void check_copy(const Kernel *k, const Copy *c, Fence *x, Fence *y, uint32_t n) {
    const Element *e = c->e;
    uint32_t first = c->from_below ? 0 : n, last = c->from_below ? n : c->lanes; /* lanes that are on */
    size_t step = c->stride * e->bytes, span = last > first ? (last - first - 1) * step + e->bytes : 0;
    unsigned char *from_x = c->from_below ? x->end - span : x->open, *from_y = c->from_below ? y->end - span : y->open;
    memset(x->open, MARK, PAGE);
    memset(y->open, MARK, PAGE);
    for (uint32_t i = first; i < last; i++) put_element(e, from_x + (i - first) * step, element_bits(e, i));
    const unsigned char *px = from_x - first * step, *py = from_y - first * step;
    static unsigned char z[64 * 8];
    const unsigned char *pz = z;
    int32_t bound = (int32_t)n;
    kernel_run(k, (const void *const[]){&py, &px, &pz, &bound});
    assert_memory_equal(x->open, y->open, PAGE); /* the elements that are on, and every mark between and around them */
    for (uint32_t i = 0; i < c->lanes; i++) {
        bool on = i >= first && i < last;
        assert_int_equal(get_element(e, z + i * e->bytes), on ? element_bits(e, i) : e->fill);
    }
}

static void check_copies(const Copy *c) {
    char text[2048];
    copy_text(text, sizeof text, c->e, c->lanes, c->stride, c->from_below ? "slt" : "sge");
    bool gathers = code_has(text, "@llvm.masked.gather"), masked = code_has(text, "@llvm.masked.load");
    assert_int_equal(gathers, c->lanes > 1 && c->stride > 1);
    assert_int_equal(masked, c->lanes > 1 && c->stride == 1);
    Fence x = fence_create(), y = fence_create();
    for (size_t p = 0; p < COUNT(processors); p++) {
        for (size_t l = 0; l < COUNT(levels); l++) {
            Kernel k = kernel_compile(text, processors[p], levels[l]);
            for (uint32_t n = 0; n <= c->lanes; n++) check_copy(&k, c, &x, &y, n);
            kernel_destroy(&k);
        }
    }
    fence_destroy(&x);
    fence_destroy(&y);
}

static void check_all_copies(uint32_t lanes, uint32_t stride) {
    for (size_t i = 0; i < COUNT(elements); i++) {
        check_copies(&(Copy){&elements[i], lanes, stride, true});
        check_copies(&(Copy){&elements[i], lanes, stride, false});
    }
}

static void test_masked_neighbours(void **state) {
    (void)state;
    check_all_copies(64, 1);
    check_all_copies(8, 1);
}

static void test_masked_gather(void **state) {
    (void)state;
    check_all_copies(32, 3);
    check_all_copies(4, 5);
}

static void test_masked_one(void **state) {
    (void)state;
    check_all_copies(1, 1);
}

/* Scalars: the pointer itself lies in the page when the mask is off. */
static void test_masked_scalar(void **state) {
    (void)state;
    Fence f = fence_create();
    for (size_t i = 0; i < COUNT(elements) * COUNT(processors) * COUNT(levels); i++) {
        const Element *e = &elements[i % COUNT(elements)];
        const char *cpu = processors[i / COUNT(elements) % COUNT(processors)];
        int level = levels[i / COUNT(elements) / COUNT(processors)];
        char text[512];
        snprintf(text, sizeof text,
                 "func @k(%%y: *%s, %%x: *%s, %%z: *%s, %%n: i32) stage tile {\n"
                 "  %%0 = const 0 : i32\n  %%m = icmp sgt %%n, %%0 : i1\n  %%o = const %s : %s\n"
                 "  %%v = load %%x, %%m, %%o : %s\n  store %%y, %%v, %%m\n  store %%z, %%v\n  return\n}\n",
                 e->name, e->name, e->name, e->other, e->name, e->name);
        Kernel k = kernel_compile(text, cpu, level);
        uint64_t z = 0;
        unsigned char *px = f.end, *py = f.end;
        const void *pz = &z;
        int32_t n = 0;
        kernel_run(&k, (const void *const[]){&py, &px, &pz, &n});
        assert_int_equal(get_element(e, (const unsigned char *)&z), e->fill);
        n = 1;
        px -= e->bytes;
        py -= 2 * e->bytes;
        put_element(e, px, element_bits(e, 3));
        kernel_run(&k, (const void *const[]){&py, &px, &pz, &n});
        assert_int_equal(get_element(e, (const unsigned char *)&z), element_bits(e, 3));
        assert_int_equal(get_element(e, py), element_bits(e, 3));
        kernel_destroy(&k);
    }
    fence_destroy(&f);
}

/* The fence works: one element too many, and the process ends. */
static void test_fence(void **state) {
    (void)state;
    char text[2048];
    copy_text(text, sizeof text, &elements[2], 64, 1, "slt");
    Kernel k = kernel_compile(text, NULL, 2);
    Fence f = fence_create();
    for (int32_t extra = 0; extra < 2; extra++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            static unsigned char y[64 * 4], z[64 * 4];
            const void *px = f.end - 20 * 4, *py = y, *pz = z;
            int32_t n = 20 + extra;
            setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
            signal(SIGSEGV, SIG_DFL);
            kernel_run(&k, (const void *const[]){&py, &px, &pz, &n});
            _exit(0);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (extra) assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
        else assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    fence_destroy(&f);
    kernel_destroy(&k);
}

/* ---- Values that cross control flow ------------------------------------------------------------------------------ */

static const char rotate[] =
    "func @k(%y: *fp32, %x: *fp32, %n: i32) stage tile {\n"
    "  %i = arange 0, 32 : tile<32xi32>\n  %c = const 32 : tile<32xi32>\n"
    "  %j = add %i, %c : tile<32xi32>\n  %l = add %j, %c : tile<32xi32>\n"
    "  %p = splat %x : tile<32x*fp32>\n  %q = splat %y : tile<32x*fp32>\n"
    "  %p0 = addptr %p, %i : tile<32x*fp32>\n  %p1 = addptr %p, %j : tile<32x*fp32>\n  %p2 = addptr %p, %l : "
    "tile<32x*fp32>\n"
    "  %a = load %p0 : tile<32xfp32>\n  %b = load %p1 : tile<32xfp32>\n  %d = load %p2 : tile<32xfp32>\n"
    "  %lo = const 0 : i32\n  %st = const 1 : i32\n"
    "  %ra, %rb, %rd = for %s = %lo to %n step %st carry (%ca = %a, %cb = %b, %cd = %d)"
    " : (tile<32xfp32>, tile<32xfp32>, tile<32xfp32>) {\n"
    "    %sum = fadd %ca, %cb : tile<32xfp32>\n    yield %cb, %cd, %sum\n  }\n"
    "  %q0 = addptr %q, %i : tile<32x*fp32>\n  %q1 = addptr %q, %j : tile<32x*fp32>\n  %q2 = addptr %q, %l : "
    "tile<32x*fp32>\n"
    "  store %q0, %ra\n  store %q1, %rb\n  store %q2, %rd\n  return\n}\n";

static void test_carried(void **state) {
    (void)state;
    for (size_t p = 0; p < COUNT(processors); p++) {
        Kernel k = kernel_compile(rotate, processors[p], levels[p % COUNT(levels)]);
        for (int32_t n = -1; n < 8; n++) {
            float x[96], y[96], want[96];
            for (int i = 0; i < 96; i++) want[i] = x[i] = (float)(i * i + 1);
            for (int32_t s = 0; s < n; s++) {
                for (int i = 0; i < 32; i++) {
                    float sum = want[i] + want[32 + i];
                    want[i] = want[32 + i];
                    want[32 + i] = want[64 + i];
                    want[64 + i] = sum;
                }
            }
            const void *px = x, *py = y;
            kernel_run(&k, (const void *const[]){&py, &px, &n});
            assert_memory_equal(y, want, sizeof y);
        }
        kernel_destroy(&k);
    }
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

/* y = 2 x over a column: stored whole, and reduced along either axis. */
static void check_column(uint32_t rows) {
    char text[2048];
    snprintf(
        text, sizeof text,
        "func @k(%%y: *fp32, %%x: *fp32, %%z: *fp32, %%w: *fp32) stage tile {\n"
        "  %%i = arange 0, %u : tile<%uxi32>\n  %%e = expand_dims %%i {axis = 1} : tile<%ux1xi32>\n"
        "  %%0 = splat %%x : tile<%ux1x*fp32>\n  %%1 = addptr %%0, %%e : tile<%ux1x*fp32>\n"
        "  %%v = load %%1 : tile<%ux1xfp32>\n  %%d = fadd %%v, %%v : tile<%ux1xfp32>\n"
        "  %%2 = splat %%y : tile<%ux1x*fp32>\n  %%3 = addptr %%2, %%e : tile<%ux1x*fp32>\n  store %%3, %%d\n"
        "  %%r = reduce %%d {axis = 1, combine = fadd} : tile<%uxfp32>\n"
        "  %%4 = splat %%z : tile<%ux*fp32>\n  %%5 = addptr %%4, %%i : tile<%ux*fp32>\n  store %%5, %%r\n"
        "  %%c = reduce %%d {axis = 0, combine = fadd} : tile<1xfp32>\n  %%o = arange 0, 1 : tile<1xi32>\n"
        "  %%6 = splat %%w : tile<1x*fp32>\n  %%7 = addptr %%6, %%o : tile<1x*fp32>\n  store %%7, %%c\n  return\n}\n",
        rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows, rows);
    for (size_t i = 0; i < COUNT(processors) * COUNT(levels); i++) {
        float x[128], y[129], z[129], w[2] = {-1, -1}, sum = 0;
        for (uint32_t r = 0; r <= rows; r++) y[r] = z[r] = -1;
        for (uint32_t r = 0; r < rows; r++) sum += 2 * (x[r] = (float)(r + 1));
        const void *px = x, *py = y, *pz = z, *pw = w;
        run_once(text, processors[i / COUNT(levels)], levels[i % COUNT(levels)],
                 (const void *const[]){&py, &px, &pz, &pw});
        for (uint32_t r = 0; r < rows; r++) assert_true(y[r] == 2 * x[r] && z[r] == 2 * x[r]);
        assert_true(y[rows] == -1 && z[rows] == -1 && w[0] == sum && w[1] == -1);
    }
}

static void test_thin_shapes(void **state) {
    (void)state;
    check_column(1);
    check_column(2);
    check_column(128);
}

/* ---- Processors -------------------------------------------------------------------------------------------------- */

static void test_unknown_processor(void **state) {
    (void)state;
#if defined __x86_64__
    Kernel k = kernel_read(rotate, 2);
    Generated out;
    assert_false(generate(&k, "abacus", EMIT_CODE, &out));
    assert_int_equal(diag_errors(k.options.diag), 1);
    assert_false(generate(&k, "", EMIT_ASM, &out));
    assert_int_equal(diag_errors(k.options.diag), 2);
    Text text = {0};
    diag_print(k.options.diag, &text, false);
    assert_non_null(strstr(text.at, "unknown processor 'abacus'"));
    text_free(&text);
    assert_true(generate(&k, "x86-64", EMIT_CODE, &out)); /* and it goes on */
    k.code = out.code;
    kernel_destroy(&k);
#else
    skip();
#endif
}

/* LLVM has every processor of the table, but none of a kind that it was built without. */
static void check_processor(const char *name, bool is_known) {
    Kernel k = kernel_read("func @k() stage tile {\n  return\n}\n", 0);
    Generated out;
    if (generate(&k, name, EMIT_ASM, &out) != is_known) fail_with(k.options.diag, name);
    kernel_destroy(&k);
}

static bool has_family(CpuFamily family) {
#ifndef FSC_LLVM_X86
    if (family == FAMILY_X86_64) return false;
#endif
#ifndef FSC_LLVM_AARCH64
    if (family == FAMILY_AARCH64) return false;
#endif
    return family != FAMILY_OTHER;
}

static void test_processors(void **state) {
    (void)state;
#define PROCESSOR(name, level, features)                                                                               \
    check_processor(name, has_family(level_info[LEVEL_##level == LEVEL_NONE ? LEVEL_X86_64 : LEVEL_##level].family));
#define AT_LEVEL(level, cpu, features)                                                                                 \
    check_processor(level_info[LEVEL_##level].name, has_family(level_info[LEVEL_##level].family));
#include "codegen/processors.def"
#undef PROCESSOR
#undef AT_LEVEL
}

/* Code of a kind that is not this machine's is emitted, and not run. */
static void test_foreign_processor(void **state) {
    (void)state;
#if defined __x86_64__ && defined FSC_LLVM_AARCH64
    Kernel k = kernel_read(rotate, 2);
    Generated out;
    assert_true(generate(&k, "neoverse-v1", EMIT_ASM, &out));
    assert_false(generate(&k, "neoverse-v1", EMIT_CODE, &out));
    assert_int_equal(diag_errors(k.options.diag), 1);
    kernel_destroy(&k);
#else
    skip();
#endif
}

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* z[i] = OP of a[i], b[i], c[i], one program for 64 Ki elements of type `from`. */
static void op_text(char *out, size_t room, const char *op, const char *from, const char *to) {
    snprintf(out, room,
             "func @k(%%z: *%s, %%p: *%s, %%q: *%s, %%r: *%s) stage tile {\n"
             "  %%i = arange 0, 65536 : tile<65536xi32>\n"
             "  %%0 = splat %%p : tile<65536x*%s>\n  %%1 = addptr %%0, %%i : tile<65536x*%s>\n  %%a = load %%1 : "
             "tile<65536x%s>\n"
             "  %%2 = splat %%q : tile<65536x*%s>\n  %%3 = addptr %%2, %%i : tile<65536x*%s>\n  %%b = load %%3 : "
             "tile<65536x%s>\n"
             "  %%4 = splat %%r : tile<65536x*%s>\n  %%5 = addptr %%4, %%i : tile<65536x*%s>\n  %%c = load %%5 : "
             "tile<65536x%s>\n"
             "  %%v = %s : tile<65536x%s>\n"
             "  %%6 = splat %%z : tile<65536x*%s>\n  %%7 = addptr %%6, %%i : tile<65536x*%s>\n  store %%7, %%v\n  "
             "return\n}\n",
             to, from, from, from, from, from, from, from, from, from, from, from, from, op, to, to, to);
}

static size_t float_bytes(const char *type) {
    return strcmp(type, "fp32") == 0 ? 4 : strcmp(type, "fp64") == 0 ? 8 : 2;
}

static bool is_nan(const char *type, uint64_t x) {
    if (strcmp(type, "fp16") == 0) return (x & 0x7fff) > 0x7c00;
    if (strcmp(type, "bf16") == 0) return (x & 0x7fff) > 0x7f80;
    if (strcmp(type, "fp32") == 0) return (x & 0x7fffffff) > 0x7f800000;
    return (x & INT64_MAX) > UINT64_C(0x7ff0000000000000);
}

/* The same bits for this processor and for plain x86-64; of NaN, that it is one. */
static void compare_op(const char *op, const char *from, const char *to, unsigned char *const *memory) {
    char text[2048];
    op_text(text, sizeof text, op, from, to);
    size_t bytes = float_bytes(to);
    const void *p[3] = {memory[0], memory[1], memory[2]}, *z[2] = {memory[3], memory[4]};
    for (int i = 0; i < 2; i++) {
        memset(memory[3 + i], MARK + i, 65536 * 8);
        run_once(text, i ? "x86-64" : NULL, 2, (const void *const[]){&z[i], &p[0], &p[1], &p[2]});
    }
    for (size_t i = 0; i < 65536; i++) {
        uint64_t x = 0, y = 0;
        memcpy(&x, memory[3] + i * bytes, bytes);
        memcpy(&y, memory[4] + i * bytes, bytes);
        if (x != y && !(is_nan(to, x) && is_nan(to, y)))
            fail_msg("%s, %s to %s: element %zu is %#llx, for x86-64 %#llx", op, from, to, i, (unsigned long long)x,
                     (unsigned long long)y);
    }
}

static void test_same_bits(void **state) {
    (void)state;
#if defined __x86_64__
    static const char *const ops[] = {"fadd %a, %b", "fsub %a, %b",    "fmul %a, %b",
                                      "fdiv %a, %b", "fma %a, %b, %c", "fneg %a"};
    static const char *const types[] = {"fp16", "bf16", "fp32", "fp64"};
    unsigned char *memory[5];
    for (int i = 0; i < 5; i++) assert_non_null(memory[i] = malloc(65536 * 8));
    uint64_t random = 42;
    for (size_t i = 0; i < 3 * 65536; i++) {
        uint64_t x = next_random(&random);
        memcpy(memory[i / 65536] + i % 65536 * 8, &x, 8);
    }
    for (size_t t = 0; t < COUNT(types); t++) {
        for (size_t i = 0; i < COUNT(ops); i++) compare_op(ops[i], types[t], types[t], memory);
        for (size_t to = 0; to < COUNT(types); to++) {
            size_t wide = float_bytes(types[to]), narrow = float_bytes(types[t]);
            if (wide != narrow) compare_op(wide > narrow ? "fpext %a" : "fptrunc %a", types[t], types[to], memory);
        }
    }
    for (size_t i = 0; i < 65536; i++) memcpy(memory[0] + 2 * i, &(uint16_t){(uint16_t)i}, 2); /* every 16-bit float */
    compare_op("fpext %a", "fp16", "fp32", memory);
    compare_op("fpext %a", "bf16", "fp32", memory);
    for (size_t i = 0; i < 65536; i++) { /* around every fp16 and its halfway points, from below to above */
        uint32_t x = (uint32_t)(0x33000000 + (next_random(&random) % 0x15000) * 0x1000 + next_random(&random) % 3 - 1);
        memcpy(memory[0] + 4 * i, &x, 4);
    }
    compare_op("fptrunc %a", "fp32", "fp16", memory);
    compare_op("fptrunc %a", "fp32", "bf16", memory);
    for (int i = 0; i < 5; i++) free(memory[i]);
#else
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fence),         cmocka_unit_test(test_masked_neighbours),
        cmocka_unit_test(test_masked_gather), cmocka_unit_test(test_masked_one),
        cmocka_unit_test(test_masked_scalar), cmocka_unit_test(test_carried),
        cmocka_unit_test(test_thin_shapes),   cmocka_unit_test(test_unknown_processor),
        cmocka_unit_test(test_processors),    cmocka_unit_test(test_foreign_processor),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
