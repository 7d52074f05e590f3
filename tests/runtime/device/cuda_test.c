/* cuda_test.c - the CUDA paths on the fake driver: contexts, memory, modules, launches, kept rules. */
#include "fakefix.h"

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static void devices(void **state) {
    (void)state;
    fsc_device *d = NULL;
    fsc_props p;
    int n = 0;
    assert_int_equal(fsc_device_count(FSC_CUDA, &n), FSC_OK);
    assert_int_equal(n, 2);
    assert_int_equal(fsc_device_open("cuda:1", &d), FSC_OK);
    assert_int_equal(fsc_device_props(d, &p), FSC_OK);
    assert_string_equal(p.name, "Fake H100 1");
    assert_string_equal(p.arch, "sm_90");
    assert_true(p.kind == FSC_CUDA && p.ordinal == 1 && p.sms == 132 && p.shared_per_block_optin == 232448);
    assert_true(p.bandwidth == 2619000ull * 250 * 5120 && p.driver_version == 13000 &&
                p.memory_bytes == (uint64_t)80 << 30);
    fsc_device_close(d);
    assert_int_equal(fsc_device_open("cuda:2", &d), FSC_NO_DEVICE);
    assert_non_null(strstr(fsc_last_message(), "there is no device cuda:2; the driver sees 2"));
    fake.devices = 0;
    assert_int_equal(fsc_device_open("cuda", &d), FSC_NO_DEVICE);
    assert_int_equal(fsc_device_open("auto", &d), FSC_OK);
    assert_int_equal(fsc_device_props(d, &p), FSC_OK);
    assert_int_equal(p.kind, FSC_CPU);
    fsc_device_close(d);
}

static void contexts(void **state) {
    (void)state;
    fsc_device *d = open_cuda(); /* no current context: the primary one, and nothing stays current */
    void *p = NULL;
    assert_int_equal(fake.retained, 1);
    assert_int_equal(fsc_memory_alloc(d, 16, &p), FSC_OK);
    assert_int_equal(fsc_memory_free(d, p), FSC_OK);
    assert_int_equal(fake_calls("cuCtxPushCurrent_v2"), 2);
    assert_false(fake_current_is_own());
    fsc_device_close(d);

    fake_set_current(1); /* the caller's context, on the second device */
    fsc_props props;
    d = open_cuda();
    assert_int_equal(fake.retained, 0);
    assert_int_equal(fsc_device_props(d, &props), FSC_OK);
    assert_int_equal(props.ordinal, 1);
    assert_int_equal(fsc_memory_alloc(d, 16, &p), FSC_OK);
    assert_int_equal(fake_calls("cuCtxPushCurrent_v2"), 2); /* it was current already */
    fsc_device *other = NULL;
    assert_int_equal(fsc_device_open("cuda:0", &other), FSC_OK); /* another device than the current context's */
    assert_int_equal(fake.retained, 1);
    assert_int_equal(fsc_device_wait(other), FSC_OK);
    assert_int_equal(fake_calls("cuCtxPushCurrent_v2"), 3);
    assert_true(fake_current_is_own());
    fake_set_current(-1); /* the caller made it no longer current */
    assert_int_equal(fsc_memory_free(d, p), FSC_OK);
    assert_int_equal(fake_calls("cuCtxPushCurrent_v2"), 4);
    fsc_device_close(d);
    fsc_device_close(other);
}

static void memory(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    void *p = NULL;
    char text[4] = "";
    assert_int_equal(fsc_memory_alloc(d, 0, &p), FSC_OK);
    assert_null(p);
    assert_int_equal(fsc_memory_alloc(d, 3, &p), FSC_OK);
    assert_int_equal(fsc_memory_fill(d, p, 'x', 3), FSC_OK);
    assert_int_equal(fsc_memory_write(d, p, "ab", 2), FSC_OK);
    assert_int_equal(fsc_memory_read(d, text, p, 3), FSC_OK);
    assert_string_equal(text, "abx");
    fake.memory = 1000;
    void *q = NULL;
    assert_int_equal(fsc_memory_alloc(d, 998, &q), FSC_ERROR_DEVICE_MEMORY);
    assert_non_null(strstr(fsc_device_message(d), "Fake H100 0 for a buffer of 998 bytes"));
    assert_null(q);
    assert_int_equal(fsc_memory_free(d, p), FSC_OK);
    fsc_device_close(d);
}

static void streams_and_events(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    void *stream = NULL;
    fsc_event *a = NULL, *b = NULL;
    double ms = 0;
    assert_int_equal(fsc_stream_create(d, &stream), FSC_OK);
    assert_non_null(stream);
    assert_int_equal(fsc_event_create(d, &a), FSC_OK);
    assert_int_equal(fsc_event_create(d, &b), FSC_OK);
    assert_int_equal(fsc_event_record(a, stream), FSC_OK);
    assert_int_equal(fsc_event_elapsed(a, b, &ms), FSC_ERROR_USAGE);
    assert_int_equal(fsc_event_record(b, stream), FSC_OK);
    assert_int_equal(fsc_event_elapsed(a, b, &ms), FSC_OK);
    assert_true(ms == 0.5);
    assert_int_equal(fsc_stream_wait(d, stream), FSC_OK);
    assert_int_equal(fsc_stream_destroy(d, stream), FSC_OK);
    fsc_event_destroy(a);
    fsc_event_destroy(b);
    fsc_device_close(d);
}

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

static void modules(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    fsc_module *m = NULL;
    Record *r = sample_record("sm_80", "1024", RECORD_RULE, 16);
    assert_int_equal(load(d, r, "99.0", &m), FSC_ERROR_DRIVER_OLD);
    assert_non_null(strstr(fsc_device_message(d), "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"));
    assert_non_null(strstr(fsc_device_message(d), "the driver's log: ptxas fatal   : Unsupported .version 99.0"));
    static const struct {
        int cuda, ptx;
        const char *version, *says;
    } old[] = {
        {12040, 84, "8.7",
         "the PTX is of version 8.7, and the driver supports CUDA 12.4, which takes PTX up to 8.4: install one of CUDA "
         "12.8 or newer"},
        {11080, 78, "8.0",
         "of version 8.0, and the driver supports CUDA 11.8, which takes PTX up to 7.8: install one of CUDA 12.0 or "
         "newer"},
        {12060, 85, "8.6",
         "the driver supports CUDA 12.6, which takes PTX up to 8.5: install one of CUDA 12.7 or newer"},
        {9020, 60, "6.3", "the driver supports CUDA 9.2: install one of CUDA 10.0 or newer"},
        {13000, 90, "99.0", "which takes PTX up to 9.0: install a newer driver, or load a cubin (--emit=cubin)"},
    };
    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++) {
        fsc_device *other = NULL;
        fake.version = old[i].cuda;
        fake.ptx = old[i].ptx;
        assert_int_equal(fsc_device_open("cuda:1", &other), FSC_OK);
        assert_int_equal(load(other, r, old[i].version, &m), FSC_ERROR_DRIVER_OLD);
        if (!strstr(fsc_last_message(), old[i].says)) fail_msg("%s", fsc_last_message());
        fsc_device_close(other);
    }
    assert_int_equal(load(d, r, "7.0 // not ptx", &m), FSC_ERROR_IMAGE);
    assert_non_null(strstr(fsc_device_message(d), "line 3; fatal"));
    static const struct {
        const char *target;
        fsc_status status;
    } targets[] = {{"sm_75", FSC_OK},          {"sm_90", FSC_OK},          {"sm_90a", FSC_OK},
                   {"sm_80a", FSC_ERROR_ARCH}, {"sm_100", FSC_ERROR_ARCH}, {"cpu", FSC_ERROR_ARCH},
                   {"sm_", FSC_ERROR_ARCH},    {"sm_80xx", FSC_ERROR_ARCH}};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        record_set_target(r, targets[i].target, "0.1.0", "x.dsl");
        assert_int_equal(load(d, r, "7.0", &m), targets[i].status);
        if (targets[i].status == FSC_OK) fsc_module_unload(m);
    }
    assert_int_equal(fsc_module_load(d, "// just a comment, no kernel\n", 28, &m), FSC_ERROR_RECORD);
    assert_non_null(strstr(fsc_last_message(), "it was not made by fsc"));
    assert_int_equal(fsc_module_load(d, "\0\1\2\3\4\5\6\7", 8, &m), FSC_ERROR_IMAGE);
    assert_int_equal(fsc_module_load(d, "", 0, &m), FSC_ERROR_IMAGE);
    assert_int_equal(fsc_module_load(d, NULL, 9, &m), FSC_ERROR_USAGE);
    char *ptx = sample_ptx(r, "7.0"); /* a damaged record */
    char *digit = strstr(ptx, "= {102, 115") + 12;
    *digit = '9';
    assert_int_equal(fsc_module_load(d, ptx, strlen(ptx), &m), FSC_ERROR_RECORD);
    free(ptx);
    record_free(r);
    fsc_device_close(d);
}

/* A cubin in miniature: ELF header, one section table of two, the record in a section. */
static unsigned char *make_elf(const char *text, size_t *size) {
    size_t n = strlen(text), sections = 64 + n;
    unsigned char *at = calloc(1, sections + 2 * 64);
    memcpy(at, "\177ELF\2\1\1", 7);
    memcpy(at + 64, text, n);
    memcpy(at + 40, &sections, 8);
    at[58] = 64, at[60] = 2;
    unsigned char *s = at + sections + 64;
    uint64_t offset = 64, bytes = n;
    s[4] = 1;
    memcpy(s + 24, &offset, 8);
    memcpy(s + 32, &bytes, 8);
    *size = sections + 2 * 64;
    return at;
}

static void cut_cubins_never_reach_the_driver(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    fsc_module *m = NULL;
    Record *r = sample_record("sm_90", "1024", RECORD_RULE, 16);
    char *text = record_write(r, NULL);
    size_t size = 0;
    unsigned char *elf = make_elf(text, &size);
    for (size_t i = 0; i < size; i++) {
        unsigned char *part = malloc(i ? i : 1);
        memcpy(part, elf, i);
        assert_int_equal(fsc_module_load(d, part, i, &m), i == 0 || i >= 4 ? FSC_ERROR_IMAGE : FSC_ERROR_RECORD);
        free(part);
    }
    static const struct {
        size_t at;
        unsigned char byte, good;
    } damage[] = {{58, 8, 64}, {60, 0, 2}, {60, 3, 2}, {4, 1, 2}, {47, 0x80, 0}, {56, 1, 0}};
    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) { /* sizes and counts in the header that cannot be */
        elf[damage[i].at] = damage[i].byte;
        if (damage[i].at == 56) elf[54] = 255, elf[55] = 255;
        assert_int_equal(fsc_module_load(d, elf, size, &m), FSC_ERROR_IMAGE);
        elf[damage[i].at] = damage[i].good;
    }
    elf[54] = elf[55] = 0;
    assert_int_equal(fake_calls("cuModuleLoadDataEx"), 0);
    assert_int_equal(fsc_module_load(d, elf, size, &m), FSC_OK);
    assert_string_equal(fsc_module_kernel_name(m, 0), "softmax");
    fsc_module_unload(m);
    record_set_target(r, "sm_80", "0.1.0", "x.dsl"); /* machine code of another major version */
    free(text);
    free(elf);
    text = record_write(r, NULL);
    elf = make_elf(text, &size);
    assert_int_equal(fsc_module_load(d, elf, size, &m), FSC_ERROR_ARCH);
    free(text);
    free(elf);
    record_free(r);
    fsc_device_close(d);
}

static void resources(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    fsc_module *m = NULL;
    fsc_kernel *k = NULL;
    Record *r = sample_record("sm_90", "1024", RECORD_RULE, 16);
    r->launches[0].shared_dynamic = 232448 - 16;
    assert_int_equal(load(d, r, "7.0", &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_OK);
    assert_int_equal(fake_attribute("softmax"), 232448 - 16);
    fsc_kernel_destroy(k);
    fsc_module_unload(m);
    r->launches[0].shared_dynamic++; /* one byte over */
    assert_int_equal(load(d, r, "7.0", &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_ERROR_RESOURCE);
    assert_non_null(strstr(
        fsc_device_message(d),
        "needs 232449 bytes of shared memory a block; Fake H100 0 has 232448; dir/soft max.dsl:10 takes most of it"));
    fsc_module_unload(m);
    r->launches[0].shared_dynamic = 0;
    r->launches[0].threads_per_block = 1056;
    assert_int_equal(load(d, r, "7.0", &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_ERROR_RESOURCE);
    assert_non_null(
        strstr(fsc_device_message(d),
               "has 1056 threads a block; Fake H100 0 takes 1 to 1024; dir/soft max.dsl:7 asks for them (num_warps)"));
    fsc_module_unload(m);
    r->launches[0].threads_per_block = 512;
    fake.registers = 168;
    fake.threads = 384;
    assert_int_equal(load(d, r, "7.0", &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_ERROR_RESOURCE);
    assert_non_null(strstr(
        fsc_device_message(d),
        "kernel softmax needs 168 registers for each of 512 threads a block, 86016 in all; Fake H100 0 has 65536, "
        "enough for 384 threads; dir/soft max.dsl:9 makes the largest tile"));
    fsc_module_unload(m);
    fake.registers = 64;
    fake.threads = 1024;
    r->launches[0].threads_per_block = 128;
    char *ptx = sample_ptx(r, "7.0"); /* the entry that the record names is not there */
    memcpy(strstr(ptx, ".entry softmax") + 7, "hardmax", 7);
    assert_int_equal(fsc_module_load(d, ptx, strlen(ptx), &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_ERROR_IMAGE);
    assert_non_null(strstr(fsc_device_message(d), "cuModuleGetFunction gives CUDA_ERROR_NOT_FOUND"));
    fsc_module_unload(m);
    free(ptx);
    record_free(r);
    fsc_device_close(d);
}

static void warm_up(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    fsc_kernel *k = load_kernel(d, sample_record("sm_80", "1024", RECORD_RULE, 16));
    fsc_kernel_report o;
    fake.blocks = 8;
    assert_int_equal(fsc_kernel_warmup(k, 0, &o), FSC_OK);
    assert_true(o.registers == 64 && o.spill_bytes == 8 && o.shared_static == 16 && o.shared_dynamic == 0);
    assert_true(o.threads_per_block == 128 && o.max_threads_per_block == 1024 && o.ptx_version == 70 &&
                o.binary_version == 90);
    assert_true(o.blocks_per_sm == 8 && o.resident_blocks == 8 * 132 && o.resident_programs == 8 * 132);
    assert_int_equal(o.limit, FSC_LIMIT_REGISTERS);
    fake.blocks = 0;
    assert_int_equal(fsc_kernel_warmup(k, 0, &o), FSC_ERROR_RESOURCE);
    assert_non_null(strstr(
        fsc_device_message(d),
        "not one block of kernel softmax fits a multiprocessor of Fake H100 0, which has 2048 threads, 65536 registers "
        "and 233472 bytes of shared memory: 128 threads of 64 registers, 16 bytes of shared memory; "
        "what binds is registers; dir/soft max.dsl:9 makes the largest tile"));
    assert_int_equal(fake.launches, 0);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static void launches(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    fsc_kernel *k = load_kernel(d, sample_record("sm_80", "1024", RECORD_RULE, 16));
    fsc_arg args[6];
    int here = 0;
    good_args(args);
    fake.params = 6;
    assert_int_equal(fsc_launch(k, NULL, args, 6, &here), FSC_OK);
    assert_int_equal(fake.launches, 1);
    FakeLaunch l = fake_launch(0);
    assert_string_equal(l.entry, "softmax");
    assert_true(l.grid[0] == 4096 && l.grid[1] == 1 && l.grid[2] == 1);
    assert_true(l.block[0] == 128 && l.block[1] == 1 && l.block[2] == 1 && l.shared == 0 && l.cluster == 0);
    assert_ptr_equal(l.stream, &here);
    assert_true(l.params[0] == 0x7000000000 && l.params[1] == 0x7100000000);
    assert_true((uint32_t)l.params[2] == 1024 && (uint32_t)l.params[3] == 800 && (uint32_t)l.params[5] == 781);
    static const int64_t own[3] = {2147483647, 65535, 65535}, empty[3] = {0, 1, 1}, beyond[3] = {2147483648, 1, 1};
    assert_int_equal(fsc_launch(k, own, args, 6, NULL), FSC_OK);
    assert_int_equal(fsc_launch(k, empty, args, 6, NULL), FSC_OK);
    assert_int_equal(fake.launches, 2); /* the empty grid launched nothing */
    assert_int_equal(fsc_launch(k, beyond, args, 6, NULL), FSC_ERROR_GRID);
    args[4] = fsc_int(0);
    assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_OK);
    assert_int_equal(fake.launches, 2);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

static void packed_clustered_and_several(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    Record *r = sample_record("sm_90", "1024", RECORD_RULE, 1);
    r->launches[0].programs_per_block = 4;
    record_add_launch(r, "softmax_rest", 512, 1, 16, 1000);
    fsc_kernel *k = load_kernel(d, r);
    fsc_arg args[6];
    good_args(args);
    args[4] = fsc_int(4097);
    fake.params = 9;
    assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_OK);
    assert_int_equal(fake.launches, 2);
    FakeLaunch a = fake_launch(0), b = fake_launch(1);
    assert_true(a.grid[0] == 1025 && a.cluster == 0);
    assert_true((uint32_t)a.params[6] == 4097 && (uint32_t)a.params[7] == 1 && (uint32_t)a.params[8] == 1);
    assert_true(b.grid[0] == 4097 * 16 && b.cluster == 16 && b.block[0] == 512 && b.shared == 1000);
    static const int64_t wide[3] = {134217728, 1, 1}; /* × 16 is one block over */
    assert_int_equal(fsc_launch(k, wide, args, 6, NULL), FSC_ERROR_GRID);
    assert_non_null(strstr(fsc_device_message(d), "2147483648 blocks along x"));
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

/* Launches whose programs wait for the launches ahead, of blocks and of clusters. A driver that cannot capture them
 * launches without. */
static void overlapping(void **state) {
    (void)state;
    for (int version = 12030; version <= 13000; version += 970) {
        fake.version = version;
        fsc_device *d = open_cuda();
        Record *r = sample_record("sm_90", "1024", RECORD_RULE, 1);
        r->launches[0].overlaps = true;
        record_add_launch(r, "softmax_rest", 512, 1, 4, 1000)->overlaps = true;
        record_add_launch(r, "softmax_last", 512, 1, 1, 0);
        fsc_kernel *k = load_kernel(d, r);
        fsc_arg args[6];
        good_args(args);
        args[4] = fsc_int(3);
        assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_OK);
        assert_int_equal(fake.launches, 3);
        FakeLaunch a = fake_launch(0), b = fake_launch(1), c = fake_launch(2);
        fake.launches = 0;
        unsigned overlaps = version == 13000;
        assert_true(a.grid[0] == 3 && a.cluster == 0 && a.overlaps == overlaps);
        assert_true(b.grid[0] == 12 && b.cluster == 4 && b.overlaps == overlaps && b.shared == 1000);
        assert_true(c.grid[0] == 3 && c.cluster == 0 && c.overlaps == 0);
        fsc_kernel_destroy(k);
        fsc_device_close(d);
    }
}

/* Blocks that wait for each other: a cooperative launch, its number behind the arguments,
 * and no more programs than the record says. */
static void split_programs(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    Record *r = sample_record("sm_80", "1024", RECORD_RULE, 1);
    r->launches[0].blocks_per_program = 64;
    r->launches[0].scope = SCOPE_GRID;
    r->launches[0].most_programs = 8;
    fsc_kernel *k = load_kernel(d, r);
    fsc_arg args[6];
    good_args(args);
    args[4] = fsc_int(3);
    fake.params = 7;
    for (int i = 0; i < 2; i++) assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_OK);
    FakeLaunch a = fake_launch(0), b = fake_launch(1);
    assert_true(a.grid[0] == 192 && a.cluster == 1 && a.block[0] == 128);
    assert_true((uint32_t)a.params[6] != 0 && (uint32_t)b.params[6] != 0 &&
                (uint32_t)a.params[6] != (uint32_t)b.params[6]);
    args[4] = fsc_int(9);
    assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_ERROR_GRID);
    assert_non_null(strstr(fsc_device_message(d), "a grid of up to 8 programs along x alone, each shared by 64 blocks "
                                                  "that wait for each other, not for 9 x 1 x 1"));
    static const int64_t flat[3] = {2, 2, 1};
    assert_int_equal(fsc_launch(k, flat, args, 6, NULL), FSC_ERROR_GRID);
    args[4] = fsc_int(8); /* 512 blocks are not on the device at once: refused, never waited for */
    assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_ERROR_RESOURCE);
    assert_non_null(strstr(fsc_device_message(d), "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"));
    assert_int_equal(fake.launches, 2);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

static void persistent_grids_ask_the_driver_once(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    Record *r = sample_record("sm_80", "1024", RECORD_RULE, 16);
    r->num_grid = 0;
    record_add_grid(r, "$4 num_sms occupancy * min");
    fsc_kernel *k = load_kernel(d, r);
    fsc_arg args[6];
    good_args(args);
    for (int i = 0; i < 3; i++) assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_OK);
    assert_int_equal(fake_launch(2).grid[0], 396);
    assert_int_equal(fake_calls("cuOccupancyMaxActiveBlocksPerMultiprocessor"), 1);
    args[4] = fsc_int(7);
    assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_OK);
    assert_int_equal(fake_launch(3).grid[0], 7);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

static void a_fault_sticks(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    fsc_kernel *k = load_kernel(d, sample_record("sm_80", "1024", RECORD_RULE, 16));
    fsc_arg args[6];
    good_args(args);
    assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_OK);
    fake_fail("cuStreamSynchronize", 1, 700);
    assert_int_equal(fsc_stream_wait(d, NULL), FSC_ERROR_FAULT);
    assert_non_null(strstr(fsc_device_message(d), "cuStreamSynchronize gives CUDA_ERROR_ILLEGAL_ADDRESS"));
    int before = fake_calls("cuLaunchKernel");
    assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_ERROR_FAULT);
    assert_int_equal(fake_calls("cuLaunchKernel"), before); /* not even tried */
    assert_non_null(strstr(fsc_device_message(d), "an earlier kernel faulted: CUDA_ERROR_ILLEGAL_ADDRESS"));
    void *p = NULL;
    assert_int_equal(fsc_memory_alloc(d, 16, &p), FSC_ERROR_FAULT);
    assert_int_equal(fsc_device_wait(d), FSC_ERROR_FAULT);
    fsc_kernel_destroy(k);
    fsc_device_close(d);
    assert_int_equal(fake.modules, 1); /* lost with its context */
}

static void a_failed_launch_does_not_stick(void **state) {
    (void)state;
    fsc_device *d = open_cuda();
    fsc_kernel *k = load_kernel(d, sample_record("sm_80", "1024", RECORD_RULE, 16));
    fsc_arg args[6];
    good_args(args);
    fake_fail("cuLaunchKernel", 1, 701);
    assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_ERROR_RESOURCE);
    assert_non_null(strstr(fsc_device_message(d), "cuLaunchKernel gives CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (text of"));
    assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_OK);
    fake_fail("cuLaunchKernel", 1, 12345);
    assert_int_equal(fsc_launch(k, NULL, args, 6, NULL), FSC_ERROR_DRIVER);
    assert_non_null(strstr(fsc_device_message(d), "error 12345"));
    fsc_kernel_destroy(k);
    fsc_device_close(d);
}

int main(void) {
#define TEST(f)       cmocka_unit_test_setup_teardown(f, fresh, nothing_left)
#define TEST_LOSES(f) cmocka_unit_test_setup(f, fresh)
    const struct CMUnitTest tests[] = {
        TEST(devices),
        TEST(contexts),
        TEST(memory),
        TEST(streams_and_events),
        TEST(modules),
        TEST(cut_cubins_never_reach_the_driver),
        TEST(resources),
        TEST(warm_up),
        TEST(launches),
        TEST(packed_clustered_and_several),
        TEST(overlapping),
        TEST(split_programs),
        TEST(persistent_grids_ask_the_driver_once),
        TEST(a_failed_launch_does_not_stick),
        TEST_LOSES(a_fault_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, fresh);
}
