/* mbarrier_test.c - stores of emulated threads that count their bytes where they arrive: what comes, and what is found
 * wrong.
 *
 * In: thread functions written in C on the emulator's calls; clusters of four blocks of a warp.
 */
#include "emufix.h"

/* Each block hands its number to all blocks, round after round, in places and phases of each that take turns; its
 * mbarriers lie behind them. Who waits has what every block handed out. Lanes that store go on when those that do not
 * have read, if they meet. */
enum { PLACES = 32, COUNTS = 64 };

static void count_rounds(EmuThread *t, const void *const *args, uint32_t stages, uint32_t rounds, uint32_t bytes,
                         bool meets) {
    uint64_t data[4] = {0};
    uint32_t sum = 0;
    t->calls->mbarrier_init(t, COUNTS, t->tid == 0, stages, AT_A);
    t->calls->barrier_cluster(t, AT_B, 0);
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t stage = round % stages, at = COUNTS + 8 * stage;
        data[0] = t->rank * 10 + round;
        t->calls->mbarrier_expect(t, at, t->tid == 0, bytes, AT_C);
        t->calls->store_async(t, PLACES * stage + 4 * t->rank, at, t->tid, t->tid < 4, data, word, AT_A);
        t->calls->mbarrier_wait(t, at, round / stages % 2, AT_C);
        sum += (uint32_t)load_shared(t, PLACES * stage + 4 * (t->tid % 4), AT_D);
        if (meets) (void)t->calls->shuffle_xor(t, sum, 1, AT_B, round + 1);
    }
    store(t, address_of(args, 0) + 4 * (block_of(t) * 32 + t->tid), (int32_t)sum, AT_D);
}

static void count_thread(EmuThread *t, const void *const *args) {
    count_rounds(t, args, 2, 5, 16, true);
}

/* The next round overwrites what a slower block has yet to read. */
static void count_one_thread(EmuThread *t, const void *const *args) {
    count_rounds(t, args, 1, 2, 16, true);
}

static void count_apart_thread(EmuThread *t, const void *const *args) {
    count_rounds(t, args, 2, 5, 16, false);
}

static void count_few_thread(EmuThread *t, const void *const *args) {
    count_rounds(t, args, 1, 1, 12, true);
}

static void count_many_thread(EmuThread *t, const void *const *args) {
    count_rounds(t, args, 1, 1, 20, true);
}

static void count_untold_thread(EmuThread *t, const void *const *args) {
    (void)args;
    t->calls->mbarrier_init(t, COUNTS, t->tid == 0, 1, AT_A);
    t->calls->barrier_cluster(t, AT_B, 0);
    t->calls->mbarrier_wait(t, COUNTS, 0, AT_C);
}

/* The others have begun, and the last one's mbarrier does not count. */
static void count_early_thread(EmuThread *t, const void *const *args) {
    uint64_t data[4] = {1};
    (void)args;
    if (t->rank < 3) t->calls->mbarrier_init(t, COUNTS, t->tid == 0, 1, AT_A);
    t->calls->barrier_cluster(t, AT_B, 0);
    t->calls->store_async(t, 0, COUNTS, 3, t->tid == 0 && t->rank == 0, data, word, AT_D);
}

/* Nobody waits in the block that is stored to. */
static void count_left_thread(EmuThread *t, const void *const *args) {
    uint64_t data[4] = {1};
    (void)args;
    t->calls->mbarrier_init(t, COUNTS, t->tid == 0, 1, AT_A);
    t->calls->barrier_cluster(t, AT_B, 0);
    t->calls->store_async(t, 0, COUNTS, 1, t->tid == 0 && t->rank == 0, data, word, AT_D);
}

/* Read without the wait. */
static void count_read_thread(EmuThread *t, const void *const *args) {
    uint64_t data[4] = {1};
    (void)args;
    t->calls->mbarrier_init(t, COUNTS, t->tid == 0, 1, AT_A);
    t->calls->barrier_cluster(t, AT_B, 0);
    t->calls->mbarrier_expect(t, COUNTS, t->tid == 0 && t->rank == 1, 4, AT_C);
    t->calls->store_async(t, 0, COUNTS, 1, t->tid == 0 && t->rank == 0, data, word, AT_A);
    t->calls->barrier_block(t, AT_B, 1);
    if (t->rank == 1) (void)load_shared(t, 0, AT_D);
    if (t->rank == 1) t->calls->mbarrier_wait(t, COUNTS, 0, AT_C);
}

static void test_counts(void **state) {
    (void)state;
    Setup s = {32, 4, 96, {2, 1, 1}};
    assert_int_equal(launch(&s, count_thread), FSC_OK);
    for (int i = 0; i < 256; i++) assert_int_equal(y[i], i % 4 * 50 + 10);
    finds(&s, count_one_thread, "shared-race", 10, "of shared memory");
    finds(&s, count_apart_thread, "shared-race", 10, "of shared memory");
    finds(&s, count_few_thread, "shared-count", 0, "");
    finds(&s, count_many_thread, "divergent", 30, "waits for bytes that nobody stores");
    (void)found(&s, count_untold_thread, "divergent", 30, "of which no thread of its block says how many");
    finds(&s, count_early_thread, "shared-count", 40, "does not count yet");
    finds(&s, count_left_thread, "shared-count", 0, "ends while bytes come to it");
    finds(&s, count_read_thread, "shared-race", 10, "byte 0 of shared memory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
