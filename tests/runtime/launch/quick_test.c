/* quick_test.c - a launch's short way (quick.c) against the long one (check.c): they may never differ.
 *
 * In: random records - types, assumptions, rules over every operation -, kernels of one to three variants,
 * random arguments.
 * Out: status, variant, grid and the values as the kernel reads them, by call_begin with and without the short way.
 */
#include "hostfix.h"

#include "runtime/launch/quick.h"

enum { RECORDS = 4000, CALLS = 12, MOST_PARAMS = 7 };

static uint64_t state64;

static uint32_t draw(uint32_t n) { /* 0 … n - 1 */
    state64 = state64 * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state64 >> 33) % n;
}

static void nothing(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch) {
    (void)args, (void)pid, (void)nprog, (void)scratch;
}

/* ---- Random records ---------------------------------------------------------------------------------------------- */

static const char *const types[] = {"i32", "i64", "i8", "u8", "u32", "u64", "i1", "i16", "fp32", "fp16"};
enum { INTEGERS = 8, TYPES = 10 };

typedef struct Shape {
    bool pointer[MOST_PARAMS];
    const char *type[MOST_PARAMS];
    uint32_t num;
} Shape;

static const char *number_text(void) {
    static const char *const some[] = {"0",
                                       "1",
                                       "2",
                                       "3",
                                       "16",
                                       "-1",
                                       "-7",
                                       "64",
                                       "1000",
                                       "2147483647",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "4611686018427387904",
                                       "0.5"};
    return some[draw(draw(30) ? 9 : 14)];
}

/* An expression in postfix; mostly over integers that are there. */
static void expression(const Shape *s, uint32_t depth, char *out) {
    static const struct {
        const char *token;
        int operands;
    } ops[] = {{"+", 2},   {"-", 2},   {"*", 2},   {"//", 2},  {"%", 2},    {"neg", 1},  {"<", 2},
               {"<=", 2},  {">", 2},   {">=", 2},  {"==", 2},  {"!=", 2},   {"and", 2},  {"or", 2},
               {"not", 1}, {"sel", 3}, {"min", 2}, {"max", 2}, {"cdiv", 2}, {"npow2", 1}};
    if (depth == 0 || draw(3) == 0) {
        static const char *const facts[] = {"num_sms", "warp_size", "max_shared", "num_regs", "occupancy"};
        uint32_t kind = draw(12), i = draw(s->num + 1); /* the constexpr parameter comes last */
        bool is_int = i == s->num || s->pointer[i] || s->type[i][0] != 'f'; /* an address is one, too */
        static const char *const asked[] = {"$%u bf16 == ", "fp16 $%u != ", "$%u bits ", "$%u "};
        /* T, behind it */
        if (kind == 10 && draw(2)) sprintf(out + strlen(out), asked[draw(draw(20) ? 3 : 4)], s->num + 1);
        else if (kind < 7 && (is_int || draw(20) == 0)) sprintf(out + strlen(out), "$%u ", i);
        else if (kind == 11) sprintf(out + strlen(out), "%s ", facts[draw(5)]);
        else sprintf(out + strlen(out), "%s ", number_text());
        return;
    }
    uint32_t op = draw(sizeof ops / sizeof ops[0]);
    for (int i = 0; i < ops[op].operands; i++) expression(s, depth - 1, out);
    sprintf(out + strlen(out), "%s ", ops[op].token);
}

static const char *code(const Shape *s, uint32_t depth) {
    static char text[4096];
    text[0] = '\0';
    expression(s, depth, text);
    return text;
}

static Shape random_shape(void) {
    Shape s = {.num = 1 + draw(MOST_PARAMS)};
    for (uint32_t i = 0; i < s.num; i++) {
        s.pointer[i] = draw(3) == 0;
        s.type[i] = types[s.pointer[i] || draw(8) == 0 ? draw(TYPES) : draw(INTEGERS)];
    }
    return s;
}

/* A variant of the kernel of this shape. */
static Record *random_record(const Shape *s) {
    char name[16];
    Record *r = record_create("k");
    record_set_target(r, "cpu", "0.1.0", "k.dsl");
    for (uint32_t i = 0; i < s->num; i++) {
        snprintf(name, sizeof name, "p%u", i);
        RecordParam *p = record_add_param(r, s->pointer[i] ? RECORD_POINTER : RECORD_SCALAR, name, s->type[i]);
        if (draw(4) == 0) p->divisible = draw(10) ? 16 : 12;
        if (!s->pointer[i] && draw(8) == 0) p->equals_one = true;
        if (!s->pointer[i] && draw(8) == 0) p->least = 1 + draw(20);
        if (!s->pointer[i] && draw(8) == 0) p->most = 16 + draw(2000);
        for (uint32_t d = s->pointer[i] ? draw(3) : 0; d > 0; d--) {
            char extent[4096];
            strcpy(extent, code(s, draw(2)));
            record_add_dim(r, i, extent, code(s, draw(2)));
        }
    }
    static const char *const values[] = {"1", "16", "64", "1024"};
    static const RecordOrigin origins[] = {RECORD_RULE, RECORD_DEFAULT, RECORD_OPTION};
    const char *rule = draw(2) ? code(s, draw(3)) : NULL;
    record_add_constexpr(r, "B", RECORD_INT, values[draw(4)], origins[draw(3)], rule);
    record_add_constexpr(r, "T", RECORD_DTYPE, draw(2) ? "bf16" : "fp32", RECORD_OPTION, NULL);
    for (uint32_t n = draw(2); n > 0; n--) record_add_require(r, code(s, draw(3)), "it");
    for (uint32_t n = draw(4); n > 0; n--) record_add_grid(r, code(s, draw(4)));
    record_add_launch(r, "k", 1, 1, 1, 0);
    return r;
}

/* ---- Random arguments -------------------------------------------------------------------------------------------- */

static int64_t random_integer(void) {
    static const int64_t some[] = {0,
                                   1,
                                   16,
                                   17,
                                   32,
                                   100,
                                   781,
                                   1024,
                                   -1,
                                   -16,
                                   127,
                                   128,
                                   255,
                                   256,
                                   32768,
                                   INT32_MAX,
                                   (int64_t)INT32_MAX + 1,
                                   INT64_MAX,
                                   INT64_MIN,
                                   65536};
    return some[draw(draw(3) ? 8 : 20)];
}

static fsc_arg random_arg(const Shape *s, uint32_t i) {
    fsc_dtype t = fsc_dtype_find(s->type[i]);
    uint32_t odd = draw(40);
    if (odd == 0) return fsc_float((double)random_integer() + 0.5);
    if (odd == 1) return fsc_pointer((void *)(uintptr_t)0x1000, 0, 0);
    if (!s->pointer[i])
        return t >= FSC_FP8E4NV && draw(4) ? fsc_float((double)random_integer() * 0.3) : fsc_int(random_integer());
    static const uint64_t sizes[] = {0, 0, 1, 64, 4096, 1 << 20};
    uint64_t address = 0x10000 + 16 * draw(4) + (draw(6) ? 0 : draw(17));
    return fsc_pointer((void *)(uintptr_t)address, sizes[draw(6)], draw(3) ? t : draw(8) ? FSC_DTYPE_NONE : FSC_FP64);
}

/* Both ways; returns whether the short one took it. */
static bool compare(fsc_kernel *k, const fsc_arg *args, size_t n, const int64_t *grid) {
    static Call quick, slow;
    const VariantTable *t = kernel_table(k);
    Quick *kept[3];
    bool taken = false;
    quick.env.context = NULL; /* the long way sets it */
    fsc_status a = call_begin(&quick, k, grid, args, n);
    taken = a == FSC_OK && quick.env.context == NULL;
    for (size_t i = 0; i < t->count; i++) kept[i] = t->at[i]->quick, t->at[i]->quick = NULL;
    fsc_status b = call_begin(&slow, k, grid, args, n);
    for (size_t i = 0; i < t->count; i++) t->at[i]->quick = kept[i];
    if (a != b)
        fail_msg("the short way: %s, the long one: %s, %s", fsc_status_name(a), fsc_status_name(b), fsc_last_message());
    if (a == FSC_OK) {
        assert_ptr_equal(quick.variant, slow.variant);
        assert_memory_equal(quick.grid, slow.grid, sizeof quick.grid);
        for (size_t i = 0; i < n; i++) {
            fsc_dtype type = slow.variant->slots[i].dtype; /* bytes beyond a number's own are nobody's */
            size_t bytes = slow.variant->record->params[slow.variant->slots[i].param].kind == RECORD_POINTER
                               ? 8
                               : fsc_dtype_size(type);
            if (memcmp(quick.pointers[i], slow.pointers[i], bytes) != 0) fail_msg("argument %zu differs", i);
        }
    }
    call_end(&quick);
    call_end(&slow);
    return taken;
}

static void ways_agree(void **state) {
    (void)state;
    fsc_device *d = open_cpu("cpu:1");
    int taken = 0, all = 0, fine = 0;
    for (int round = 0; round < RECORDS; round++) {
        state64 = (uint64_t)round * 0x9e3779b97f4a7c15u + 1;
        Shape s = random_shape();
        fsc_kernel *k = NULL;
        fsc_host_code host = {.entry = nothing};
        for (uint32_t n = 1 + draw(3); n > 0; n--) {
            fsc_module *m = NULL;
            Record *r = random_record(&s);
            if (fsc_module_host(d, r, &host, &m) != FSC_OK) fail_msg("%s", fsc_last_message());
            fsc_status status = k ? fsc_kernel_add_variant(k, m, NULL) : fsc_kernel_create(m, NULL, &k);
            assert_int_equal(status, FSC_OK);
            fsc_module_unload(m);
            record_free(r);
        }
        for (int i = 0; i < CALLS; i++) {
            fsc_arg args[MOST_PARAMS];
            const int64_t grid[3] = {draw(5), 1 + (draw(9) ? 0 : 70000 * draw(2)), draw(9) ? 1 : -1};
            for (uint32_t a = 0; a < s.num; a++) args[a] = random_arg(&s, a);
            bool was_taken = compare(k, args, draw(30) ? s.num : s.num - 1, draw(2) ? grid : NULL);
            taken += was_taken;
            fine += was_taken || fsc_launch_grid(k, args, s.num, (int64_t[3]){0}, NULL) == FSC_OK;
            all++;
        }
        fsc_kernel_destroy(k);
    }
    fsc_device_close(d);
    print_message("%d launches, %d of them fit, %d went the short way\n", all, fine, taken);
    assert_true(taken > all / 20);
}

/* What a launch of softmax takes is of the kind that goes the short way. */
static void common_launches_are_short(void **state) {
    (void)state;
    fsc_device *d = open_cpu("cpu:1");
    Record *r = sample_record("cpu", "1024", RECORD_RULE, 16);
    fsc_kernel *k = host_kernel(d, r, nothing, 0);
    const void *at = (const void *)0x10000;
    const fsc_arg args[] = {fsc_pointer(at, 781 * 1000 * 4, FSC_FP32),
                            fsc_pointer(at, 781 * 1000 * 4, FSC_FP32),
                            fsc_int(781),
                            fsc_int(781),
                            fsc_int(1000),
                            fsc_int(781)};
    assert_true(compare(k, args, 6, NULL));
    fsc_arg wrong[6];
    memcpy(wrong, args, sizeof args);
    wrong[5] = fsc_int(512); /* BLOCK would be another */
    assert_false(compare(k, wrong, 6, NULL));
    wrong[5] = fsc_int(782); /* beyond the buffers */
    assert_false(compare(k, wrong, 6, NULL));
    fsc_kernel_destroy(k);
    record_free(r);
    fsc_device_close(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(common_launches_are_short), cmocka_unit_test(ways_agree)};
    return cmocka_run_group_tests_name("quick", tests, NULL, NULL);
}
