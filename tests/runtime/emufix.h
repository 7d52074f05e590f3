/* emufix.h - kernels as thread functions in C on the emulator's calls: what they are written in, and their launch. */
#ifndef EMUFIX_H
#define EMUFIX_H

#include "hostfix.h"

#include "runtime/base/hooks.h"

enum { N = 4096 };

static struct { /* what lies beside the buffers is no buffer */
    _Alignas(64) int32_t before[16];
    int32_t y[N], between[16], x[N], after[16];
} memory;
#define x memory.x
#define y memory.y

typedef struct Setup {
    uint32_t threads, blocks, shared;
    int64_t grid[3];
} Setup;

/* ---- What kernels are written in --------------------------------------------------------------------------------- */

enum { AT_A = 0, AT_B = 1, AT_C = 2, AT_D = 3 }; /* sites: lines 10, 20, 30, 40 */

static uint64_t address_of(const void *const *args, int param) {
    return (uint64_t)(uintptr_t)*(int32_t *const *)args[param];
}

static const uint32_t word = 1 | 4 << 8, spin_word = 1 | 4 << 8 | 1 << 16, vector = 4 | 4 << 8;

static inline int32_t load(EmuThread *t, uint64_t address, uint32_t access, int32_t site) {
    uint64_t data[4] = {77, 77, 77, 77};
    t->calls->load_global(t, address, 1, data, access, site);
    return (int32_t)data[0];
}

static void store(EmuThread *t, uint64_t address, int32_t value, int32_t site) {
    uint64_t data[4] = {(uint32_t)value, 1, 2, 3};
    t->calls->store_global(t, address, 1, data, word, site);
}

static int32_t load_shared(EmuThread *t, uint64_t offset, int32_t site) {
    uint64_t data[4] = {77};
    t->calls->load_shared(t, offset, 1, data, word, site);
    return (int32_t)data[0];
}

static inline void store_shared(EmuThread *t, uint64_t offset, int32_t value, int32_t site) {
    uint64_t data[4] = {(uint32_t)value};
    t->calls->store_shared(t, offset, 1, data, word, site);
}

static inline uint32_t block_of(const EmuThread *t) {
    return t->ctaid[0] + t->nctaid[0] * (t->ctaid[1] + t->nctaid[1] * t->ctaid[2]);
}

/* ---- Launching --------------------------------------------------------------------------------------------------- */

static fsc_device *device;
static const fsc_site sites[] = {{"k.dsl", 10, 1}, {"k.dsl", 20, 1}, {"k.dsl", 30, 1}, {"k.dsl", 40, 1}};

static Record *record_of(const Setup *s) {
    Record *r = record_create("k");
    record_set_target(r, "emu", "0.1.0", "k.dsl");
    record_add_param(r, RECORD_POINTER, "y", "i32");
    record_add_param(r, RECORD_POINTER, "x", "i32");
    record_add_launch(r, "k", s->threads, 1, s->blocks, s->shared);
    record_add_access(r, true, 10, 1, 4, "i32", 2)->param = 0;
    record_add_access(r, false, 20, 1, 4, "i32", 2)->param = 1;
    return r;
}

static fsc_status launch_record(const Setup *s, Record *r, fsc_thread_entry *entry, uint64_t bytes) {
    fsc_host_code code = {.thread = entry, .sites = sites, .num_sites = 4};
    fsc_module *m = NULL;
    fsc_kernel *k = NULL;
    assert_int_equal(fsc_module_host(device, r, &code, &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_OK);
    fsc_module_unload(m);
    for (int i = 0; i < N; i++) x[i] = i * 3 + 1, y[i] = -1;
    fsc_arg args[] = {fsc_pointer(y, bytes, FSC_I32), fsc_pointer(x, bytes, FSC_I32)};
    fsc_status status = fsc_launch(k, s->grid, args, 2, NULL);
    fsc_kernel_destroy(k);
    record_free(r);
    return status;
}

static Record *(*launched_record)(const Setup *s) = record_of; /* of `launch` */

static fsc_status launch(const Setup *s, fsc_thread_entry *entry) {
    return launch_record(s, launched_record(s), entry, sizeof x);
}

/* The launch finds this, at this line, perhaps among others, and the text has these words. */
static inline void finds(const Setup *s, fsc_thread_entry *entry, const char *kind, uint32_t line, const char *words) {
    fsc_status status = launch(s, entry);
    if (status != FSC_ERROR_CHECK) fail_msg("%s at line %u, '%s': %s", kind, line, words, fsc_status_name(status));
    for (uint32_t i = 0; i < fsc_device_findings(device); i++) {
        fsc_finding f = {0};
        assert_int_equal(fsc_device_finding(device, i, &f), FSC_OK);
        if (!strcmp(f.kind, kind) && f.line == line && strstr(f.text, words)) return;
        print_message("%s at line %u: %s\n", f.kind, f.line, f.text);
    }
    fail_msg("no %s at line %u with '%s'", kind, line, words);
}

/* The launch finds exactly this, at this line, and the text has these words. */
static fsc_finding found(const Setup *s, fsc_thread_entry *entry, const char *kind, uint32_t line, const char *words) {
    fsc_finding f = {0};
    assert_int_equal(launch(s, entry), FSC_ERROR_CHECK);
    assert_int_equal(fsc_device_findings(device), 1);
    assert_int_equal(fsc_device_finding(device, 0, &f), FSC_OK);
    assert_string_equal(f.kind, kind);
    assert_int_equal(f.line, line);
    if (!strstr(f.text, words)) fail_msg("no '%s' in: %s", words, f.text);
    return f;
}

static int open_device(void **state) {
    (void)state;
    int s = fsc_device_open("emu:2", &device);
    return s == FSC_OK ? (int)fsc_device_check(device, true) : s;
}

static int close_device(void **state) {
    (void)state;
    fsc_device_close(device);
    return 0;
}

#endif
