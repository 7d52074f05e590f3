/* bulk_test.c - bulk copies of emulated threads: what comes where, and what is found wrong.
 *
 * In: thread functions written in C on the emulator's calls; programs of one block, with maps of x.
 */
#include "emufix.h"

#include <math.h>

/* The maps, and rows of x's 64 elements: 40 of each and 60 of them; all of them, in narrow rows; any number. */
enum { BOX, NARROW, OPEN, PITCH = 64, COLUMNS = 40, ROWS = 60 };
enum { BOX_ROW = 32, BOX_ROWS = 8, BOX_BYTES = 4 * BOX_ROW * BOX_ROWS, COUNTS = 4096, SHARED = COUNTS + 64 };

static Record *mapped(const Setup *s) {
    Record *r = record_of(s);
    record_add_map(r, 1, 128);
    record_add_box(r, BOX_ROW, "40", NULL);
    record_add_box(r, BOX_ROWS, "60", "64");
    record_add_map(r, 1, 32);
    record_add_box(r, 8, "64", NULL);
    record_add_box(r, 64, "64", "64");
    record_add_map(r, 1, 128);
    record_add_box(r, 32, "2147483647", NULL);
    record_add_box(r, 8, "2147483647", "64");
    return r;
}

static void bulk_load(EmuThread *t, const void *const *args, uint32_t map, int32_t col, int32_t row, uint32_t offset,
                      bool predicate) {
    uint64_t words[] = {(uint32_t)col, (uint32_t)row};
    t->calls->bulk_load(t, words, offset, COUNTS, predicate, (uint64_t)(uintptr_t)args[2 + map], AT_B);
}

/* Where the element of a box of rows of so many bytes lies. */
static uint32_t place(uint32_t offset, uint32_t span, uint32_t row, uint32_t col) {
    uint32_t at = offset + row * span + col * 4;
    return at ^ (at >> 7 & (span / 16 - 1)) << 4;
}

static void begin(EmuThread *t, uint32_t bytes) {
    t->calls->mbarrier_init(t, COUNTS, t->tid == 0, 1, AT_A);
    t->calls->barrier_block(t, AT_A, 1);
    t->calls->mbarrier_expect(t, COUNTS, t->tid == 0 && bytes, bytes, AT_A);
}

/* ---- What comes -------------------------------------------------------------------------------------------------- */

static const int32_t corners[][2] = {{0, 0}, {8, 52}, {-4, -3}, {4, 57}, {36, 59}, {40, 0}, {0, 60}, {-32, 0}};
enum { ROUNDS = sizeof corners / sizeof corners[0] };

/* A box a round, in places that take turns; each thread hands on a row's columns. */
static void rounds_thread(EmuThread *t, const void *const *args) {
    t->calls->mbarrier_init(t, COUNTS, t->tid == 0, 2, AT_A);
    t->calls->barrier_block(t, AT_A, 1);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t stage = round % 2, at = stage * BOX_BYTES, count = COUNTS + 8 * stage;
        uint64_t words[] = {(uint32_t)corners[round][0], (uint32_t)corners[round][1]};
        t->calls->mbarrier_expect(t, count, t->tid == 0, BOX_BYTES, AT_A);
        t->calls->bulk_load(t, words, at, count, t->tid == 0, (uint64_t)(uintptr_t)args[2 + BOX], AT_B);
        t->calls->mbarrier_wait(t, count, round / 2 % 2, AT_C);
        for (uint32_t row = t->tid / 32; row < BOX_ROWS; row += 2) {
            int32_t value = load_shared(t, place(at, 128, row, t->tid % 32), AT_D);
            uint32_t to = (round * BOX_ROWS + row) * BOX_ROW + t->tid % 32;
            store(t, address_of(args, 0) + 4 * to, value, AT_D);
        }
        t->calls->barrier_block(t, AT_A, 2 + round);
    }
}

static void test_boxes(void **state) {
    (void)state;
    Setup s = {64, 1, SHARED, {1, 1, 1}};
    assert_int_equal(launch(&s, rounds_thread), FSC_OK);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (int32_t i = 0; i < BOX_ROWS * BOX_ROW; i++) {
            int32_t row = corners[round][1] + i / BOX_ROW, col = corners[round][0] + i % BOX_ROW;
            bool is_inside = row >= 0 && row < ROWS && col >= 0 && col < COLUMNS;
            int32_t wanted = is_inside ? (row * PITCH + col) * 3 + 1 : 0;
            assert_int_equal(y[round * BOX_ROWS * BOX_ROW + (uint32_t)i], wanted);
        }
    }
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

enum { N_PRODUCT = 8, K_PRODUCT = 16, SPAN = 32 };

static void multiply(EmuThread *t, const void *const *args) {
    uint64_t words[N_PRODUCT / 2] = {0}, rest = UINT64_C(3) << 62 | (uint64_t)(8 * SPAN / 16) << 32;
    EmuGroup g = {.a = EMU_F16, .b = EMU_F16, .n = N_PRODUCT, .is_first = true};
    uint64_t at = t->calls->wgmma_at(t, 0, rest);
    t->calls->wgmma_fence(t);
    t->calls->wgmma(t, words, at, at, emu_group_pack(g), AT_C, 10);
    t->calls->wgmma_commit(t);
    t->calls->wgmma_wait(t, words, N_PRODUCT / 2, 0, AT_C, 11);
    for (uint32_t i = 0; i < N_PRODUCT / 2; i++) {
        uint32_t row = t->tid / 32 * 16 + t->tid % 32 / 4 + i / 2 * 8, col = t->tid % 4 * 2 + i % 2;
        store(t, address_of(args, 0) + 4 * (row * N_PRODUCT + col), (int32_t)words[i], AT_D);
    }
}

/* No fence: the copy is of the products' own proxy. */
static void product_thread(EmuThread *t, const void *const *args) {
    begin(t, 64 * SPAN);
    bulk_load(t, args, NARROW, 0, 0, 0, t->tid == 0);
    t->calls->mbarrier_wait(t, COUNTS, 0, AT_C);
    multiply(t, args);
}

/* A thread's own store behind the copy needs one. */
static void product_stored_thread(EmuThread *t, const void *const *args) {
    begin(t, 64 * SPAN);
    bulk_load(t, args, NARROW, 0, 0, 0, t->tid == 0);
    t->calls->mbarrier_wait(t, COUNTS, 0, AT_C);
    if (t->tid == 5) store_shared(t, 64, 1, AT_A);
    t->calls->barrier_block(t, AT_A, 2);
    multiply(t, args);
}

/* A copy begins where a product still reads. */
static void product_late_thread(EmuThread *t, const void *const *args) {
    uint64_t words[N_PRODUCT / 2] = {0}, rest = UINT64_C(3) << 62 | (uint64_t)(8 * SPAN / 16) << 32;
    EmuGroup g = {.a = EMU_F16, .b = EMU_F16, .n = N_PRODUCT, .is_first = true};
    begin(t, 64 * SPAN);
    bulk_load(t, args, NARROW, 0, 0, 0, t->tid == 0);
    t->calls->mbarrier_wait(t, COUNTS, 0, AT_C);
    uint64_t at = t->calls->wgmma_at(t, 0, rest);
    t->calls->wgmma_fence(t);
    t->calls->wgmma(t, words, at, at, emu_group_pack(g), AT_C, 10);
    t->calls->wgmma_commit(t);
    t->calls->barrier_block(t, AT_A, 2);
    t->calls->mbarrier_expect(t, COUNTS, t->tid == 0, 64 * SPAN, AT_A);
    bulk_load(t, args, NARROW, 0, 0, 0, t->tid == 0);
    t->calls->mbarrier_wait(t, COUNTS, 1, AT_C);
    t->calls->wgmma_wait(t, words, N_PRODUCT / 2, 0, AT_C, 11);
}

static double half(uint32_t bits) {
    uint32_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
    return exponent ? ldexp(1024 + mantissa, (int)exponent - 25) : ldexp(mantissa, -24);
}

/* ---- What is found ----------------------------------------------------------------------------------------------- */

static void finds_with(uint32_t threads, fsc_thread_entry *entry, const char *kind, uint32_t line, const char *words) {
    finds(&(Setup){threads, 1, SHARED, {2, 1, 1}}, entry, kind, line, words);
}

static void test_products(void **state) {
    (void)state;
    Setup s = {128, 1, SHARED, {1, 1, 1}};
    assert_int_equal(launch(&s, product_thread), FSC_OK);
    for (uint32_t i = 0; i < 64 * N_PRODUCT; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < K_PRODUCT / 2; k++) /* the upper halves are 0 */
            sum += half((uint32_t)x[i / N_PRODUCT * PITCH + k]) * half((uint32_t)x[i % N_PRODUCT * PITCH + k]);
        float wanted = (float)sum;
        assert_memory_equal(&y[i], &wanted, sizeof wanted);
    }
    finds_with(128, product_stored_thread, "shared-proxy", 30, "no proxy fence and barrier");
    finds_with(128, product_late_thread, "shared-late", 20, "which a product still reads");
}

static void early_thread(EmuThread *t, const void *const *args) {
    bulk_load(t, args, BOX, 0, 0, 0, t->tid == 0);
}

static void misplaced_thread(EmuThread *t, const void *const *args) {
    begin(t, BOX_BYTES);
    bulk_load(t, args, BOX, 0, 0, 512, t->tid == 0);
    t->calls->mbarrier_wait(t, COUNTS, 0, AT_C);
}

/* The card takes places along a row that are multiples of 16 bytes. */
static void beside_thread(EmuThread *t, const void *const *args) {
    begin(t, BOX_BYTES);
    bulk_load(t, args, BOX, 3, 0, 0, t->tid == 0);
    t->calls->mbarrier_wait(t, COUNTS, 0, AT_C);
}

static void beyond_thread(EmuThread *t, const void *const *args) {
    begin(t, BOX_BYTES);
    bulk_load(t, args, BOX, 0, 0, 4096, t->tid == 0);
    t->calls->mbarrier_wait(t, COUNTS, 0, AT_C);
}

static void few_thread(EmuThread *t, const void *const *args) {
    begin(t, BOX_BYTES / 2);
    bulk_load(t, args, BOX, 0, 0, 0, t->tid == 0);
}

/* Beside the extents it counts whole: nothing is missing. */
static void left_thread(EmuThread *t, const void *const *args) {
    begin(t, BOX_BYTES);
    bulk_load(t, args, BOX, 100, 100, 0, t->tid == 0);
}

static void none_thread(EmuThread *t, const void *const *args) {
    begin(t, 0);
    bulk_load(t, args, BOX, 0, 0, 0, false);
}

static void outside_thread(EmuThread *t, const void *const *args) {
    begin(t, BOX_BYTES);
    bulk_load(t, args, OPEN, 0, 60, 0, t->tid == 0);
    t->calls->mbarrier_wait(t, COUNTS, 0, AT_C);
}

static void read_early_thread(EmuThread *t, const void *const *args) {
    begin(t, BOX_BYTES);
    bulk_load(t, args, BOX, 0, 0, 0, t->tid == 0);
    t->calls->barrier_block(t, AT_A, 2);
    (void)load_shared(t, 16, AT_D);
    t->calls->mbarrier_wait(t, COUNTS, 0, AT_C);
}

/* Waits for the other one's mbarrier; with `waits` for both. */
static void read_other(EmuThread *t, const void *const *args, bool waits) {
    t->calls->mbarrier_init(t, COUNTS, t->tid == 0, 2, AT_A);
    t->calls->barrier_block(t, AT_A, 1);
    for (uint32_t i = 0; i < 2; i++) {
        t->calls->mbarrier_expect(t, COUNTS + 8 * i, t->tid == 0, BOX_BYTES, AT_A);
        t->calls->bulk_load(t, (uint64_t[]){0, 0}, i * BOX_BYTES, COUNTS + 8 * i, t->tid == 0,
                            (uint64_t)(uintptr_t)args[2 + BOX], AT_B);
    }
    if (t->tid < 32) t->calls->mbarrier_wait(t, COUNTS + 8, 0, AT_C);
    if (t->tid < 32 && waits) t->calls->mbarrier_wait(t, COUNTS, 0, AT_C);
    t->calls->barrier_block(t, AT_A, 2);
    (void)load_shared(t, BOX_BYTES, AT_C); /* warp 1 knows it from warp 0 */
    (void)load_shared(t, 0, AT_D);
    t->calls->mbarrier_wait(t, COUNTS, 0, AT_C);
}

static void read_other_thread(EmuThread *t, const void *const *args) {
    read_other(t, args, false);
}

static void read_both_thread(EmuThread *t, const void *const *args) {
    read_other(t, args, true);
}

/* Another thread has stored there, and the two have not met; with `meets` they have. */
static void overwrite(EmuThread *t, const void *const *args, bool meets) {
    begin(t, BOX_BYTES);
    if (t->tid == 40) store_shared(t, 16, 1, AT_A);
    if (meets) t->calls->barrier_block(t, AT_A, 2);
    bulk_load(t, args, BOX, 0, 0, 0, t->tid == 63);
    t->calls->mbarrier_wait(t, COUNTS, 0, AT_C);
}

static void overwrites_thread(EmuThread *t, const void *const *args) {
    overwrite(t, args, false);
}

static void follows_thread(EmuThread *t, const void *const *args) {
    overwrite(t, args, true);
}

/* Both warps read a box, then say so; the last one to come fills it anew. */
static void turns_thread(EmuThread *t, const void *const *args) {
    enum { READ = COUNTS + 8, WARPS = 2, TURNS = 5 };
    t->calls->turn_init(t, READ, t->tid == 0, 1, AT_A);
    begin(t, BOX_BYTES);
    bulk_load(t, args, BOX, 0, 0, 0, t->tid == 0);
    for (uint32_t round = 0; round < TURNS; round++) {
        t->calls->mbarrier_wait(t, COUNTS, round % 2, AT_C);
        (void)load_shared(t, t->tid * 4, AT_D);
        t->calls->barrier_warp(t, AT_D, 3);
        bool fills = t->calls->turn(t, READ, t->tid % 32 == 0, WARPS, AT_C) == 1 && round + 1 < TURNS;
        t->calls->mbarrier_expect(t, COUNTS, fills, BOX_BYTES, AT_B);
        bulk_load(t, args, BOX, 0, (int32_t)round, 0, fills);
    }
}

/* The second warp fills what the first one has read, which does not say so. */
static void greedy_thread(EmuThread *t, const void *const *args) {
    begin(t, BOX_BYTES);
    bulk_load(t, args, BOX, 0, 0, 0, t->tid == 0);
    t->calls->mbarrier_wait(t, COUNTS, 0, AT_C);
    (void)load_shared(t, t->tid * 4, AT_D);
    t->calls->barrier_warp(t, AT_D, 3);
    t->calls->mbarrier_expect(t, COUNTS, t->tid == 32, BOX_BYTES, AT_B);
    bulk_load(t, args, BOX, 0, 0, 0, t->tid == 32);
    t->calls->mbarrier_wait(t, COUNTS, 1, AT_C);
}

/* One of two warps never says that it has read. */
static void unread_thread(EmuThread *t, const void *const *args) {
    (void)args;
    t->calls->turn_init(t, COUNTS, t->tid == 0, 1, AT_A);
    t->calls->barrier_block(t, AT_A, 1);
    (void)t->calls->turn(t, COUNTS, t->tid == 0, 2, AT_C);
}

/* ---- To memory --------------------------------------------------------------------------------------------------- */

static void bulk_store(EmuThread *t, const void *const *args, uint32_t map, int32_t col, int32_t row) {
    uint64_t words[] = {(uint32_t)col, (uint32_t)row};
    t->calls->bulk_store(t, words, 0, t->tid == 0, (uint64_t)(uintptr_t)args[2 + map], AT_B);
}

/* A box whose element at (row, col) is 100 row + col, in place for the map BOX. */
static void fill(EmuThread *t) {
    for (uint32_t i = t->tid; i < BOX_ROW * BOX_ROWS; i += 64)
        store_shared(t, place(0, 128, i / BOX_ROW, i % BOX_ROW), (int32_t)(i / BOX_ROW * 100 + i % BOX_ROW), AT_A);
}

/* Within x, and over its ends; apart. */
static const int32_t homes[][2] = {{0, 0}, {8, 53}, {-4, 16}, {36, 30}};

static void stores_thread(EmuThread *t, const void *const *args) {
    fill(t);
    t->calls->proxy_fence(t);
    t->calls->barrier_block(t, AT_A, 1);
    for (uint32_t i = 0; i < 4; i++) {
        bulk_store(t, args, BOX, homes[i][0], homes[i][1]);
        t->calls->bulk_commit(t);
    }
    t->calls->bulk_wait(t, 0);
}

/* Without a fence; written again before the wait, or by another thread behind it that has not met. */
static void store_shown(EmuThread *t, const void *const *args, bool shows, bool waits, bool meets) {
    fill(t);
    if (shows) t->calls->proxy_fence(t);
    t->calls->barrier_block(t, AT_A, 1);
    bulk_store(t, args, BOX, 0, 0);
    t->calls->bulk_commit(t);
    if (waits) t->calls->bulk_wait(t, 1);
    if (meets) t->calls->barrier_block(t, AT_A, 2);
    if (t->tid == 40) store_shared(t, 16, 1, AT_C);
    t->calls->barrier_block(t, AT_A, 3);
    t->calls->bulk_wait(t, 0);
}

static void store_hidden_thread(EmuThread *t, const void *const *args) {
    store_shown(t, args, false, true, true);
}

static void store_late_thread(EmuThread *t, const void *const *args) {
    store_shown(t, args, true, false, true);
}

static void store_apart_thread(EmuThread *t, const void *const *args) {
    store_shown(t, args, true, true, false);
}

static void store_sound_thread(EmuThread *t, const void *const *args) {
    store_shown(t, args, true, true, true);
}

static void test_stores(void **state) {
    (void)state;
    Setup s = {64, 1, SHARED, {1, 1, 1}};
    assert_int_equal(launch(&s, store_sound_thread), FSC_OK);
    assert_int_equal(launch(&s, stores_thread), FSC_OK);
    for (int32_t i = 0; i < ROWS * PITCH; i++) {
        int32_t wanted = i * 3 + 1;
        for (uint32_t k = 0; k < 4; k++) {
            int32_t row = i / PITCH - homes[k][1], col = i % PITCH - homes[k][0];
            bool is_inside = row >= 0 && row < BOX_ROWS && col >= 0 && col < BOX_ROW && i % PITCH < COLUMNS;
            if (is_inside) wanted = row * 100 + col;
        }
        assert_int_equal(x[i], wanted);
    }
    finds(&s, store_hidden_thread, "shared-proxy", 20, "a bulk store reads what was stored");
    finds(&s, store_late_thread, "shared-late", 30, "which a bulk store still reads that was not waited for");
    finds(&s, store_apart_thread, "shared-race", 20, "which writes it at k.dsl:30:1");
}

static void test_findings(void **state) {
    (void)state;
    Setup s = {64, 1, SHARED, {2, 1, 1}};
    (void)found(&s, early_thread, "shared-count", 20, "does not count yet");
    (void)found(&s, misplaced_thread, "shared-bounds", 20, "where its swizzled rows do not begin, at byte 512");
    (void)found(&s, beside_thread, "misaligned", 20, "begin beside multiples of 16 bytes, at byte 0");
    (void)found(&s, beyond_thread, "shared-bounds", 20, "beyond the block's shared memory, at byte 4096");
    finds_with(64, few_thread, "shared-count", 20, "stores more bytes than are expected");
    finds_with(64, left_thread, "shared-count", 0, "did not wait for all of them");
    finds_with(64, outside_thread, "out-of-bounds", 20, "");
    finds_with(64, read_early_thread, "shared-race", 20, "which reads it at k.dsl:40:1");
    finds_with(64, read_other_thread, "shared-race", 20, "which reads it at k.dsl:40:1");
    finds_with(64, overwrites_thread, "shared-race", 10, "which writes it at k.dsl:20:1");
    assert_int_equal(launch(&s, none_thread), FSC_OK);
    assert_int_equal(launch(&s, read_both_thread), FSC_OK);
    finds_with(64, greedy_thread, "shared-race", 20, "which reads it at k.dsl:40:1");
    finds_with(64, unread_thread, "shared-count", 0, "in the middle of a turn");
    assert_int_equal(launch(&s, follows_thread), FSC_OK);
    assert_int_equal(launch(&s, turns_thread), FSC_OK);
}

int main(void) {
    launched_record = mapped;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_findings),
        cmocka_unit_test(test_stores),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
