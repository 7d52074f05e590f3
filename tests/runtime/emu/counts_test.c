/* Counted launches: thread functions in C whose requests, sectors, wavefronts and lines are known beforehand. */
#include "hostfix.h"

#include "runtime/base/hooks.h"

enum { WORDS = 8192, LINES = 2 };

static _Alignas(128) int32_t x[WORDS], y[WORDS];
static fsc_device *device;
static fsc_kernel *kernel; /* of the last launch: the counts live as long as its module */
static uint64_t counters[2];
static const CodeLine lines[LINES] = {{.block = 0, .line = 10, .counts[COUNT_FLOPS] = 3, .counts[COUNT_SHUFFLE] = 1},
                                      {.block = 1, .line = 20, .counts[COUNT_FLOPS] = 1}};
static const fsc_site sites[] = {{"k.dsl", 10, 1}, {"k.dsl", 20, 1}, {"other.dsl", 10, 1}};

/* ---- What kernels are written in --------------------------------------------------------------------------------- */

static uint64_t base(const void *const *args) {
    return (uint64_t)(uintptr_t) * (int32_t *const *)args[0];
}

static void access_global(EmuThread *t, uint32_t number, bool is_store, uint64_t address, bool takes_part,
                          uint32_t words, int32_t site) {
    uint64_t data[4] = {1, 2, 3, 4};
    uint32_t access = emu_access_pack((EmuAccess){.words = (uint8_t)words, .bytes = 4});
    t->access = number;
    (is_store ? t->calls->store_global : t->calls->load_global)(t, address, takes_part, data, access, site);
}

static void access_shared(EmuThread *t, uint32_t number, uint64_t offset, uint32_t words) {
    uint64_t data[4] = {1, 2, 3, 4};
    t->access = number;
    t->calls->store_shared(t, offset, 1, data, emu_access_pack((EmuAccess){.words = (uint8_t)words, .bytes = 4}), 0);
}

/* ---- Launching --------------------------------------------------------------------------------------------------- */

static fsc_counts launch(fsc_thread_entry *entry, uint32_t threads, uint32_t blocks, int64_t programs,
                         fsc_status expected) {
    fsc_host_code code = {.thread = entry,
                          .sites = sites,
                          .num_sites = 3,
                          .counters = counters,
                          .num_counters = 2,
                          .lines = lines,
                          .num_lines = LINES};
    Record *r = record_create("k");
    record_set_target(r, "emu", "0.1.0", "k.dsl");
    record_add_param(r, RECORD_POINTER, "x", "i32");
    record_add_param(r, RECORD_POINTER, "y", "i32");
    record_add_map(r, 0, 128); /* 20 rows of 38 elements, 64 apart */
    record_add_box(r, 32, "38", NULL);
    record_add_box(r, 8, "20", "64");
    record_add_launch(r, "k", threads, 1, blocks, 1 << 14);
    fsc_module *m = NULL;
    fsc_kernel_destroy(kernel);
    kernel = NULL;
    assert_int_equal(fsc_module_host(device, r, &code, &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &kernel), FSC_OK);
    fsc_module_unload(m);
    record_free(r);
    fsc_arg args[] = {fsc_pointer(x, sizeof x, FSC_I32), fsc_pointer(y, sizeof y, FSC_I32)};
    assert_int_equal(fsc_launch(kernel, (const int64_t[]){programs, 1, 1}, args, 2, NULL), expected);
    fsc_counts out;
    assert_int_equal(fsc_device_counts(device, &out), FSC_OK);
    return out;
}

static const fsc_traffic *traffic(const fsc_counts *c, uint32_t line, fsc_traffic_kind k) {
    for (size_t i = 0; i < c->num_lines; i++)
        if (c->lines[i].line == line) return &c->lines[i].traffic[k];
    fail_msg("no line %u", line);
    return NULL;
}

/* ---- Global memory ----------------------------------------------------------------------------------------------- */

static void strides_thread(EmuThread *t, const void *const *args) {
    access_global(t, 0, false, base(args) + 4 * t->tid, true, 1, 0);
    access_global(t, 1, false, base(args) + 4 + 4 * t->tid, true, 1, 0);
    access_global(t, 2, false, base(args) + 32 * t->tid, true, 1, 1);
    access_global(t, 3, true, base(args) + 16 * t->tid, t->tid % 2 == 0, 4, 2);
    access_global(t, 4, false, base(args), false, 1, -1);
    if (t->tid == 3) access_global(t, 5, false, base(args), true, 1, 1);
}

static void test_sectors(void **state) {
    (void)state;
    fsc_counts c = launch(strides_thread, 64, 1, 3, FSC_OK);
    const fsc_traffic *near = traffic(&c, 10, FSC_LOAD), *far = traffic(&c, 20, FSC_LOAD),
                      *other = traffic(&c, 0, FSC_STORE);
    assert_int_equal(near->requests, 3 * 4);
    assert_int_equal(near->units, 3 * 2 * (4 + 5)); /* beginning on a sector, and a word behind one */
    assert_int_equal(near->bytes, 3 * 2 * 64 * 4);
    assert_int_equal(far->requests, 3 * (2 + 1));
    assert_int_equal(far->units, 3 * (2 * 32 + 1));
    assert_int_equal(far->lanes, 3 * 65);
    assert_int_equal(other->requests, 3 * 2); /* a place in another file is no line of this one */
    assert_int_equal(other->units, 3 * 2 * 16);
    assert_int_equal(other->idle, 3 * 32);
    assert_int_equal(other->narrow, 16);
    assert_int_equal(traffic(&c, 0, FSC_LOAD)->requests, 0); /* no lane takes part: no request */
    assert_int_equal(traffic(&c, 0, FSC_LOAD)->idle, 3 * 64);
    assert_int_equal(c.params[0].read, 32 * (near->units + far->units));
    assert_int_equal(c.params[0].written, 32 * other->units);
    assert_int_equal(c.params[0].read_once, 64 * 32); /* one a lane of the widest stride; all else lies in them */
    assert_int_equal(c.params[0].written_once, 32 * 32);
    assert_int_equal(c.params[1].read + c.params[1].written, 0);
    assert_int_equal(c.programs, 3);
    assert_int_equal(c.threads_per_block, 64);
}

/* Lanes take turns: in each turn of the loop half of the warp comes to the load. */
static void turns_thread(EmuThread *t, const void *const *args) {
    for (uint32_t i = 0; i < 5000; i++) {
        t->turns++;
        if ((t->tid + i / 3) % 2 == 0) access_global(t, 0, false, base(args) + 4 * t->tid, true, 1, 0);
    }
    t->calls->barrier_block(t, 0, 1);
    if (t->tid % 2) access_global(t, 1, false, base(args) + 4 * t->tid, true, 1, 1);
    t->calls->shuffle_xor(t, 0, 1, 0, 2);
    if (t->tid % 2 == 0) access_global(t, 1, false, base(args) + 4 * t->tid, true, 1, 1);
}

static void test_turns(void **state) {
    (void)state;
    fsc_counts c = launch(turns_thread, 32, 1, 2, FSC_OK);
    const fsc_traffic *loop = traffic(&c, 10, FSC_LOAD), *after = traffic(&c, 20, FSC_LOAD);
    assert_int_equal(loop->requests, 2 * 5000);
    assert_int_equal(loop->lanes, 2 * 5000 * 16);
    assert_int_equal(loop->units, 2 * 5000 * 4);
    assert_int_equal(after->requests, 2 * 2); /* the warp met between the two */
}

/* ---- Shared memory ----------------------------------------------------------------------------------------------- */

static void banks_thread(EmuThread *t, const void *const *args) {
    static const uint32_t strides[] = {4, 8, 128, 132, 0};
    uint32_t call = 1;
    (void)args;
    for (uint32_t i = 0; i < 5; i++) {
        if (strides[i] || t->tid == 0) access_shared(t, i, strides[i] * t->tid, 1);
        t->calls->barrier_block(t, 0, call++);
    }
    access_shared(t, 5, 8 * t->tid, 2);
    t->calls->barrier_block(t, 0, call++);
    access_shared(t, 6, 16 * t->tid, 4);
    t->calls->barrier_block(t, 0, call++);
    access_shared(t, 7, 64 * t->tid, 4);
}

static void test_banks(void **state) {
    (void)state;
    fsc_counts c = launch(banks_thread, 32, 1, 1, FSC_OK);
    const fsc_traffic *s = traffic(&c, 10, FSC_SHARED_STORE);
    assert_int_equal(s->requests, 8);
    /* Strides of 1, 2, 32, 33 words; one lane alone; 8 bytes in halves of the warp, 16 in quarters;
     * quarters whose lanes share banks. */
    assert_int_equal(s->units, 1 + 2 + 32 + 1 + 1 + 2 + 4 + 4 * 4);
    assert_int_equal(s->least, 1 + 1 + 1 + 1 + 1 + 2 + 4 + 4);
}

/* A bulk copy is counted as if a warp made it, 16 bytes a lane: of a box that is whole in memory, and of its corner. */
static void bulk_thread(EmuThread *t, const void *const *args) {
    enum { BOX_BYTES = 1024, MBARRIER = 8192 };
    static const uint32_t corners[][2] = {{4, 2}, {20, 18}};
    t->calls->mbarrier_init(t, MBARRIER, t->tid == 0, 1, -1);
    t->calls->barrier_block(t, -1, 1);
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t words[] = {corners[i][0], corners[i][1]};
        t->calls->mbarrier_expect(t, MBARRIER, t->tid == 0, BOX_BYTES, -1);
        t->calls->bulk_load(t, words, 0, MBARRIER, t->tid == 0, (uint64_t)(uintptr_t)args[2], (int32_t)i);
        t->calls->mbarrier_wait(t, MBARRIER, i, -1);
        t->calls->barrier_block(t, -1, 2 + i);
    }
}

static void test_bulk_copies(void **state) {
    (void)state;
    fsc_counts c = launch(bulk_thread, 64, 1, 1, FSC_OK);
    const fsc_traffic *whole = traffic(&c, 10, FSC_LOAD), *corner = traffic(&c, 20, FSC_LOAD);
    assert_int_equal(whole->requests, 2);
    assert_int_equal(whole->bytes, 1024);
    assert_int_equal(whole->units, 8 * 5); /* rows begin in the middle of a sector */
    assert_int_equal(corner->bytes, 2 * 18 * 4);
    assert_int_equal(corner->units, 2 * 4);
    assert_int_equal(corner->narrow, 8);
    assert_int_equal(c.params[0].read, 32 * (whole->units + corner->units));
    for (uint32_t line = 10; line <= 20; line += 10) {
        const fsc_traffic *s = traffic(&c, line, FSC_SHARED_STORE);
        assert_true(s->requests == 2 && s->bytes == 1024 && s->units == 8 && s->least == 8);
    }
}

/* Which lanes take part, and which of the vectors lane l wants: index(l) = (l & keep) >> shift. Wavefronts and
 * conflicts as an H200's counters gave them for such a load of 8 and of 16 bytes. */
static const struct {
    uint32_t lanes, keep, shift, wavefronts[2], conflicts[2];
} joined[] = {
    {UINT32_MAX, 0, 0, {1, 2}, {0, 0}},  {UINT32_MAX, 1, 0, {1, 2}, {0, 0}},  {UINT32_MAX, 3, 0, {2, 4}, {0, 0}},
    {UINT32_MAX, 31, 1, {1, 2}, {0, 0}}, {UINT32_MAX, 31, 4, {1, 2}, {0, 0}}, {UINT32_MAX, 31, 0, {2, 4}, {0, 0}},
    {UINT32_MAX, 15, 0, {2, 4}, {0, 0}}, {UINT32_MAX, 29, 0, {2, 4}, {1, 2}}, {UINT32_MAX, 30, 0, {2, 4}, {1, 2}},
    {0x0000ffff, 31, 0, {1, 2}, {0, 0}}, {0x55555555, 31, 0, {2, 4}, {1, 2}}, {0x55555555, 31, 1, {1, 2}, {0, 0}},
    {0x33333333, 31, 0, {2, 4}, {1, 2}}, {0x0f0f0f0f, 31, 0, {2, 4}, {0, 0}}, {0x00010001, 31, 0, {2, 2}, {1, 0}},
    {0x00020001, 31, 0, {1, 2}, {0, 0}}, {0x00000101, 31, 0, {1, 2}, {0, 1}}, {0x00000201, 31, 0, {1, 1}, {0, 0}},
    {0x000f000f, 31, 0, {2, 2}, {0, 0}}, {0x00050005, 31, 0, {2, 2}, {1, 0}}, {0x00000001, 31, 0, {1, 1}, {0, 0}},
};

static uint32_t joined_row, joined_words;

static void joined_thread(EmuThread *t, const void *const *args) {
    uint32_t index = (t->tid & joined[joined_row].keep) >> joined[joined_row].shift;
    uint64_t data[4];
    (void)args;
    t->calls->load_shared(t, 4 * joined_words * index, joined[joined_row].lanes >> t->tid & 1, data,
                          emu_access_pack((EmuAccess){.words = (uint8_t)joined_words, .bytes = 4}), 0);
}

static void test_joined_groups(void **state) {
    (void)state;
    for (joined_row = 0; joined_row < sizeof joined / sizeof *joined; joined_row++) {
        for (uint32_t wide = 0; wide < 2; wide++) {
            joined_words = wide ? 4 : 2;
            fsc_counts c = launch(joined_thread, 32, 1, 1, FSC_OK);
            const fsc_traffic *s = traffic(&c, 10, FSC_SHARED_LOAD);
            assert_int_equal(s->units, joined[joined_row].wavefronts[wide]);
            assert_int_equal(s->units - s->least, joined[joined_row].conflicts[wide]);
        }
    }
}

static void cluster_thread(EmuThread *t, const void *const *args) {
    uint64_t data[4] = {7};
    (void)args;
    t->calls->barrier_cluster(t, 0, 1);
    t->access = 0;
    t->calls->store_cluster(t, 4 * (t->tid + 32 * t->rank), 1 - t->rank, 1, data, 1 | 4 << 8, 0);
    t->calls->barrier_cluster(t, 0, 2);
}

static void test_clusters(void **state) {
    (void)state;
    fsc_counts c = launch(cluster_thread, 32, 2, 3, FSC_OK);
    assert_int_equal(traffic(&c, 10, FSC_CLUSTER_STORE)->requests, 3 * 2);
    assert_int_equal(traffic(&c, 10, FSC_CLUSTER_STORE)->bytes, 3 * 2 * 32 * 4);
    assert_int_equal(c.blocks, 6);
    assert_int_equal(c.blocks_per_program, 2);
}

/* ---- Lines, faults, states --------------------------------------------------------------------------------------- */

static void lines_thread(EmuThread *t, const void *const *args) {
    __atomic_fetch_add(&counters[0], 1, __ATOMIC_RELAXED);
    if (t->tid < 5) __atomic_fetch_add(&counters[1], 1, __ATOMIC_RELAXED);
    t->access = 0;
    uint64_t data[2] = {1};
    t->calls->atomic(t, base(args) + 4 * (t->tid % 2), 1, data, emu_atomic_pack((EmuAtomic){.op = EMU_ADD, .bytes = 4}),
                     0);
}

static void test_lines(void **state) {
    (void)state;
    for (int again = 0; again < 2; again++) { /* counters begin anew with each launch */
        fsc_counts c = launch(lines_thread, 32, 1, 4, FSC_OK);
        assert_int_equal(c.num_lines, 2);
        assert_int_equal(c.lines[0].line, 10);
        assert_int_equal(c.lines[0].runs, 128);
        assert_int_equal(c.lines[0].counts[COUNT_FLOPS], 3 * 128);
        assert_int_equal(c.lines[0].counts[COUNT_SHUFFLE], 128);
        assert_int_equal(c.lines[1].runs, 20);
        assert_int_equal(c.lines[1].counts[COUNT_FLOPS], 20);
        assert_int_equal(traffic(&c, 10, FSC_ATOMIC)->requests, 4);
        assert_int_equal(traffic(&c, 10, FSC_ATOMIC)->units, 4);
        assert_int_equal(c.params[0].changed, 4 * 32);
    }
    for (size_t i = 0; i < COUNT_KINDS; i++) assert_non_null(fsc_count_name(i));
    assert_null(fsc_count_name(COUNT_KINDS));
}

static void fault_thread(EmuThread *t, const void *const *args) {
    access_global(t, 0, false, base(args) + 4 * t->tid, true, 1, 0);
    access_global(t, 1, true, base(args) + 4 * WORDS + (1 << 20) + 4 * t->tid, true, 1, 1);
}

static void test_fault(void **state) {
    (void)state;
    assert_int_equal(fsc_device_check(device, true), FSC_OK);
    fsc_counts c = launch(fault_thread, 32, 1, 1, FSC_ERROR_CHECK);
    assert_int_equal(fsc_device_check(device, false), FSC_OK);
    assert_int_equal(traffic(&c, 10, FSC_LOAD)->requests, 1);
    assert_int_equal(traffic(&c, 20, FSC_STORE)->requests, 1); /* asked for, beyond every buffer */
    assert_int_equal(c.params[0].read, 128);
    assert_int_equal(c.params[0].written + c.params[1].written, 0);
}

static void test_states(void **state) {
    (void)state;
    fsc_device *fresh = NULL;
    fsc_counts c;
    assert_int_equal(fsc_device_open("emu:1", &fresh), FSC_OK);
    assert_false(fsc_device_counts_lines(fresh));
    assert_int_equal(fsc_device_counts(fresh, &c), FSC_ERROR_USAGE);
    assert_non_null(strstr(fsc_last_message(), "no launch of this device was counted"));
    assert_int_equal(fsc_device_count_lines(NULL, true), FSC_ERROR_USAGE);
    fsc_device_close(fresh);
}

static int open_device(void **state) {
    (void)state;
    int s = fsc_device_open("emu:2", &device);
    return s == FSC_OK ? (int)fsc_device_count_lines(device, true) : s;
}

static int close_device(void **state) {
    (void)state;
    fsc_kernel_destroy(kernel);
    fsc_device_close(device);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sectors),  cmocka_unit_test(test_turns), cmocka_unit_test(test_banks),
        cmocka_unit_test(test_bulk_copies), cmocka_unit_test(test_joined_groups),
        cmocka_unit_test(test_clusters), cmocka_unit_test(test_lines), cmocka_unit_test(test_fault),
        cmocka_unit_test(test_states),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
