/* checks_test.c - what checked launches stand on: the list of findings, the buffers of a launch, the CPU's question
 * before each access, and what devices refuse. Kernels are C functions that ask as compiled code does.
 */
#include "hostfix.h"

#include "runtime/base/hooks.h"
#include "runtime/debug/checks.h"

/* ---- The list of findings ---------------------------------------------------------------------------------------- */

static const fsc_site sites[] = {{"k.dsl", 10, 5}, {"k.dsl", 20, 9}, {"k.dsl", 15, 1}};

static fsc_module module_of_sites = {.code = {.sites = sites, .num_sites = 3}};

static Spot spot(int32_t site, int32_t other, int64_t x, int64_t y, int64_t thread) {
    return (Spot){.site = site, .other_site = other, .program = {x, y, 0}, .thread = thread, .address = 64};
}

static void add(fsc_device *d, FindingKind kind, int32_t site, int32_t other, int64_t x, int64_t thread) {
    Spot s = spot(site, other, x, 0, thread);
    finding_add(d->findings, kind, &s, "does thing %lld", (long long)x);
}

static fsc_finding finding(const fsc_device *d, size_t i) {
    fsc_finding f;
    assert_int_equal(fsc_device_finding(d, i, &f), FSC_OK);
    return f;
}

static void same_place_counts(void **state) {
    (void)state;
    fsc_device *d = open_cpu("cpu:1");
    findings_reset(d->findings, &module_of_sites, "k");
    assert_int_equal(fsc_device_findings(d), 0);
    assert_int_equal(findings_status(d), FSC_OK);
    add(d, FINDING_BOUNDS, 0, -1, 7, 3);
    add(d, FINDING_BOUNDS, 0, -1, 2, 9); /* the lowest program, and of it the lowest thread */
    add(d, FINDING_BOUNDS, 0, -1, 2, 4);
    add(d, FINDING_BOUNDS, 0, -1, 5, 0);
    add(d, FINDING_ALIGN, 0, -1, 1, 1); /* another kind is another finding */
    add(d, FINDING_BOUNDS, 1, -1, 1, -1);
    assert_int_equal(findings_status(d), FSC_ERROR_CHECK);
    assert_int_equal(fsc_device_findings(d), 3);
    const fsc_finding f = finding(d, 0);
    assert_string_equal(f.kind, "out-of-bounds");
    assert_string_equal(f.file, "k.dsl");
    assert_int_equal(f.line, 10);
    assert_int_equal(f.col, 5);
    assert_int_equal(f.program[0], 2);
    assert_int_equal(f.thread, 4);
    assert_int_equal(f.address, 64);
    assert_int_equal(f.count, 4);
    assert_string_equal(f.text, "k.dsl:10:5: out-of-bounds: program (2, 0, 0), thread 4: does thing 2 (4 times)");
    assert_string_equal(finding(d, 1).kind, "misaligned");
    assert_string_equal(finding(d, 2).text, "k.dsl:20:9: out-of-bounds: program (1, 0, 0): does thing 1");
    assert_non_null(strstr(fsc_last_message(), "does thing 2 (4 times)\nk.dsl:10:5: misaligned"));
    findings_reset(d->findings, &module_of_sites, "k");
    assert_int_equal(fsc_device_findings(d), 0);
    fsc_device_close(d);
}

/* Places of both sides; no place; programs compare by z, then y, then x. */
static void places(void **state) {
    (void)state;
    fsc_device *d = open_cpu("cpu:1");
    findings_reset(d->findings, &module_of_sites, "kernel_name");
    Spot late = {.site = 0, .other_site = 2, .program = {0, 1, 0}, .thread = 1};
    Spot early = {.site = 0, .other_site = 2, .program = {9, 0, 0}, .thread = 1};
    Spot nowhere = {.site = -1, .other_site = -1, .thread = -1}, beyond = {.site = 3, .other_site = -1, .thread = 2};
    finding_add(d->findings, FINDING_RACE, &late, "late");
    finding_add(d->findings, FINDING_RACE, &early, "early");
    finding_add(d->findings, FINDING_UNWRITTEN, &nowhere, "nobody wrote y");
    finding_add(d->findings, FINDING_DIVERGENT, &beyond, "no such site");
    assert_int_equal(findings_status(d), FSC_ERROR_CHECK);
    assert_int_equal(fsc_device_findings(d), 3);
    bool seen = false;
    for (size_t i = 0; i < 3; i++) {
        fsc_finding f = finding(d, i);
        if (strcmp(f.kind, "race") == 0) {
            seen = true;
            assert_int_equal(f.program[0], 9);
            assert_non_null(strstr(f.text, "early"));
            assert_non_null(strstr(f.text, "k.dsl:15:1"));
        } else {
            assert_string_equal(f.file, "");
            assert_int_equal(f.line, 0);
            assert_non_null(strstr(f.text, "kernel_name: "));
        }
    }
    assert_true(seen);
    fsc_device_close(d);
}

static void only_so_many_are_kept(void **state) {
    (void)state;
    enum { MANY = FINDINGS_KEPT + 10 };
    static fsc_site many[MANY];
    for (uint32_t i = 0; i < MANY; i++) many[i] = (fsc_site){"m.dsl", i + 1, 1};
    fsc_module m = {.code = {.sites = many, .num_sites = MANY}};
    fsc_device *d = open_cpu("cpu:1");
    findings_reset(d->findings, &m, "k");
    for (int32_t i = MANY; i-- > 0;) add(d, FINDING_BOUNDS, i, -1, 0, 0);
    assert_int_equal(findings_status(d), FSC_ERROR_CHECK);
    assert_int_equal(fsc_device_findings(d), FINDINGS_KEPT);
    for (size_t i = 1; i < FINDINGS_KEPT; i++) assert_true(finding(d, i).line > finding(d, i - 1).line);
    fsc_finding f;
    assert_int_equal(fsc_device_finding(d, FINDINGS_KEPT, &f), FSC_ERROR_USAGE);
    assert_int_equal(fsc_device_finding(d, 0, NULL), FSC_ERROR_USAGE);
    fsc_device_close(d);
}

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

static void regions(void **state) {
    (void)state;
    Record *record = count_record();
    Region at[] = {{1000, 1400, 0}, {1400, 1500, 0}, {9000, 9008, 0}};
    Regions r = {.record = record, .at = at, .n = 3};
    static const struct {
        uint64_t address, bytes;
        int in;
    } rows[] = {{1000, 4, 0},  {999, 1, -1},  {999, 4, -1},  {1396, 4, 0},  {1397, 4, -1}, {1400, 4, 1},
                {1496, 16, -1}, {1500, 1, -1}, {8999, 1, -1}, {9000, 8, 2},  {9000, 9, -1}, {9007, 1, 2},
                {9008, 1, -1}, {0, 1, -1},    {1000, UINT64_MAX, -1},       {UINT64_MAX, 8, -1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const Region *found = region_find(&r, rows[i].address, rows[i].bytes);
        assert_ptr_equal(found, rows[i].in < 0 ? NULL : &at[rows[i].in]);
    }
    char text[256];
    region_explain(&r, 1508, 4, true, text, sizeof text);
    assert_non_null(strstr(text, "beyond the end of out"));
    assert_non_null(strstr(text, "4 bytes"));
    region_explain(&r, 996, 4, false, text, sizeof text);
    assert_non_null(strstr(text, "before the beginning of out"));
    r.n = 0;
    region_explain(&r, 996, 4, false, text, sizeof text);
    assert_non_null(strstr(text, "no buffer"));
    record_free(record);
}

/* ---- The CPU's question ------------------------------------------------------------------------------------------ */

/* f(a: *i32, b: *i32): asks for what `asked` lists, and keeps the answers. */
typedef struct Question {
    uint64_t address;
    uint32_t bytes, answer;
} Question;

static Question asked[16];
static int num_asked;

static void asking_entry(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch) {
    AccessHook *hook = (AccessHook *)(uintptr_t)args[2];
    (void)nprog, (void)scratch;
    for (int i = 0; pid[0] == 1 && i < num_asked; i++)
        asked[i].answer = hook->access(hook, pid, asked[i].address, asked[i].bytes, (uint32_t)i % 2, i % 3);
}

static fsc_kernel *asking_kernel(fsc_device *d) {
    Record *r = record_create("ask");
    record_set_target(r, "cpu", "0.1.0", "ask.dsl");
    record_add_param(r, RECORD_POINTER, "a", "i32");
    record_add_param(r, RECORD_POINTER, "b", "i32");
    fsc_host_code code = {.entry = asking_entry, .checked = true, .sites = sites, .num_sites = 3};
    fsc_module *m = NULL;
    fsc_kernel *k = NULL;
    assert_int_equal(fsc_module_host(d, r, &code, &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_OK);
    fsc_module_unload(m);
    record_free(r);
    return k;
}

static fsc_status ask(fsc_kernel *k, const void *a, uint64_t a_bytes, const void *b, uint64_t b_bytes) {
    fsc_arg args[] = {fsc_pointer(a, a_bytes, FSC_I32), fsc_pointer(b, b_bytes, FSC_I32)};
    for (int i = 0; i < 16; i++) asked[i].answer = 7;
    return fsc_launch(k, (const int64_t[]){2, 1, 1}, args, 2, NULL);
}

static void question(int i, const char *at, uint32_t bytes) {
    asked[i] = (Question){.address = (uintptr_t)at, .bytes = bytes};
    num_asked = i + 1;
}

static void cpu_asks(void **state) {
    (void)state;
    static char memory[256] __attribute__((aligned(64)));
    fsc_device *d = open_cpu("cpu:2");
    assert_int_equal(fsc_device_check(d, true), FSC_OK);
    assert_true(fsc_device_checks(d));
    fsc_kernel *k = asking_kernel(d);
    question(0, memory, 4);
    question(1, memory + 96, 4);
    question(2, memory + 100, 4);  /* between the buffers */
    question(3, memory + 204, 4);  /* the last of b */
    question(4, memory + 208, 0);  /* masked off: asks with no bytes, and is no finding */
    assert_int_equal(ask(k, memory, 100, memory + 128, 80), FSC_ERROR_CHECK);
    assert_true(asked[0].answer && asked[1].answer && asked[3].answer);
    assert_int_equal(asked[2].answer, 0);
    assert_int_equal(asked[4].answer, 0);
    assert_int_equal(fsc_device_findings(d), 1);
    fsc_finding f = finding(d, 0);
    assert_int_equal(f.program[0], 1);
    assert_int_equal(f.thread, -1);
    assert_int_equal(f.line, 15);
    assert_true(f.address == (uintptr_t)memory + 100);
    assert_non_null(strstr(f.text, "beyond the end of a"));
    assert_int_equal(ask(k, memory, 208, memory + 128, 80), FSC_OK); /* a and b overlap: one buffer */
    assert_int_equal(ask(k, memory + 128, 80, memory, 208), FSC_OK);
    assert_int_equal(ask(k, NULL, 0, memory, 208), FSC_OK); /* NULL is no buffer */
    assert_int_equal(ask(k, memory, 208, NULL, 0), FSC_OK);
    assert_int_equal(ask(k, memory, UINT64_MAX, memory, 4), FSC_OK);
    assert_int_equal(fsc_device_check(d, false), FSC_OK); /* the code asks all the same, and all is allowed */
    assert_false(fsc_device_checks(d));
    assert_int_equal(ask(k, memory, 4, NULL, 0), FSC_OK);
    assert_int_equal(asked[2].answer, 1);
    assert_int_equal(asked[4].answer, 0);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

/* A size of 0 says "unknown": a checked launch then knows only what it allocated itself. */
static void unknown_sizes(void **state) {
    (void)state;
    static char foreign[64] __attribute__((aligned(64)));
    fsc_device *d = open_cpu("cpu:1");
    char *mine = NULL;
    assert_int_equal(fsc_device_check(d, true), FSC_OK);
    assert_int_equal(fsc_memory_alloc(d, 100, (void **)&mine), FSC_OK);
    fsc_kernel *k = asking_kernel(d);
    question(0, mine + 96, 4);
    assert_int_equal(ask(k, mine + 40, 0, NULL, 0), FSC_OK);
    question(0, mine + 100, 4);
    assert_int_equal(ask(k, mine + 40, 0, NULL, 0), FSC_ERROR_CHECK);
    question(0, mine + 36, 4); /* before the pointer: not its buffer */
    assert_int_equal(ask(k, mine + 40, 0, NULL, 0), FSC_ERROR_CHECK);
    assert_int_equal(ask(k, mine, 0, foreign, 0), FSC_ERROR_ARGUMENT);
    assert_non_null(strstr(fsc_last_message(), "argument b"));
    assert_int_equal(asked[0].answer, 7); /* nothing ran */
    assert_int_equal(fsc_device_check(d, false), FSC_OK);
    assert_int_equal(ask(k, mine, 0, foreign, 0), FSC_OK);
    assert_int_equal(fsc_device_check(d, true), FSC_OK);
    assert_int_equal(fsc_memory_free(d, mine), FSC_OK);
    assert_int_equal(ask(k, mine, 0, NULL, 0), FSC_ERROR_ARGUMENT);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

/* ---- What devices refuse ----------------------------------------------------------------------------------------- */

static void thread_entry(struct fsc_emu_thread *t, const void *const *args) {
    (void)t, (void)args;
}

static void emu_device(void **state) {
    (void)state;
    static const char *const wrong[] = {"emu:", "emu:0", "emu:-1", "emu:99999", "emux"};
    fsc_device *d = NULL;
    fsc_props p;
    int n = 0;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(fsc_device_open(wrong[i], &d), FSC_ERROR_USAGE);
    assert_non_null(strstr(fsc_last_message(), "emu"));
    assert_int_equal(fsc_device_count(FSC_EMU, &n), FSC_OK);
    assert_int_equal(n, 1);
    d = open_cpu("emu:3");
    assert_int_equal(fsc_device_props(d, &p), FSC_OK);
    assert_int_equal(p.kind, FSC_EMU);
    assert_string_equal(p.arch, "emu");
    assert_int_equal(p.sms, 3);
    assert_int_equal(p.max_threads_per_block, 1024);
    assert_int_equal(p.shared_per_block_optin, 232448);
    assert_int_equal(fsc_module_load(d, ".version 7.0", 12, &(fsc_module *){NULL}), FSC_ERROR_USAGE);
    assert_int_equal(fsc_device_findings(d), 0);
    assert_int_equal(fsc_device_check(NULL, true), FSC_ERROR_USAGE);
    assert_false(fsc_device_checks(NULL));
    assert_int_equal(fsc_device_findings(NULL), 0);
    void *memory = NULL, *stream = &n;
    assert_int_equal(fsc_memory_alloc(d, 16, &memory), FSC_OK);
    assert_int_equal(fsc_memory_free(d, memory), FSC_OK);
    assert_int_equal(fsc_stream_create(d, &stream), FSC_OK);
    assert_null(stream);
    assert_int_equal(fsc_device_wait(d), FSC_OK);
    fsc_device_close(d);
}

static void emu_modules(void **state) {
    (void)state;
    fsc_device *emu = open_cpu("emu:1"), *cpu = open_cpu("cpu:1"), *gpu = open_cpu("cuda");
    fsc_host_code code = {.thread = thread_entry}, host = {.entry = count_entry};
    fsc_module *m = NULL;
    fsc_kernel *k = NULL;
    Record *r = count_record();
    assert_int_equal(fsc_module_host(emu, r, &code, &m), FSC_ERROR_ARCH); /* the record is the CPU's */
    assert_int_equal(fsc_module_host(gpu, r, &host, &m), FSC_ERROR_USAGE);
    assert_int_equal(fsc_module_host(cpu, r, &code, &m), FSC_ERROR_USAGE); /* no entry */
    record_set_target(r, "emu", "0.1.0", "count.dsl");
    assert_int_equal(fsc_module_host(cpu, r, &host, &m), FSC_ERROR_ARCH);
    assert_int_equal(fsc_module_host(emu, r, &host, &m), FSC_ERROR_USAGE); /* no thread */
    assert_int_equal(fsc_module_host(emu, r, NULL, &m), FSC_ERROR_USAGE);
    assert_int_equal(fsc_module_host(emu, r, &code, &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_ERROR_RECORD); /* no launch */
    fsc_module_unload(m);
    record_add_launch(r, "count", 64, 1, 2, 1000);
    assert_int_equal(fsc_module_host(emu, r, &code, &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_OK);
    fsc_kernel_report report;
    assert_int_equal(fsc_kernel_warmup(k, 0, &report), FSC_OK);
    assert_int_equal(report.threads_per_block, 64);
    assert_int_equal(report.shared_dynamic, 1000);
    fsc_arg arg = fsc_pointer(NULL, 0, FSC_U32);
    /* of 2 blocks each */
    assert_int_equal(fsc_launch(k, (const int64_t[]){INT32_MAX, 1, 1}, &arg, 1, NULL), FSC_ERROR_GRID);
    assert_int_equal(fsc_launch(k, (const int64_t[]){3, 2, 1}, &arg, 1, NULL), FSC_OK);
    assert_int_equal(fsc_launch(k, (const int64_t[]){3, 0, 1}, &arg, 1, NULL), FSC_OK);
    fsc_kernel_destroy(k);
    fsc_module_unload(m);
    record_add_launch(r, "again", 64, 1, 1, 0);
    assert_int_equal(fsc_module_host(emu, r, &code, &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_ERROR_RECORD); /* two launches */
    fsc_module_unload(m);
    assert_int_equal(fsc_device_check(gpu, true), FSC_ERROR_USAGE);
    assert_non_null(strstr(fsc_last_message(), "compute-sanitizer"));
    assert_int_equal(fsc_device_findings(gpu), 0);
    fsc_device_close(gpu);
    fsc_device_close(cpu);
    fsc_device_close(emu);
    record_free(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_place_counts), cmocka_unit_test(places),     cmocka_unit_test(only_so_many_are_kept),
        cmocka_unit_test(regions),           cmocka_unit_test(cpu_asks),   cmocka_unit_test(unknown_sizes),
        cmocka_unit_test(emu_device),        cmocka_unit_test(emu_modules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
