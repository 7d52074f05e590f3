/* The emulator by itself: thread functions written in C on its calls, right ones and wrong ones. Each wrong one must be
 * found, by kind, place and thread, and each right one must pass with checks on.
 */
#include "emufix.h"

/* ---- Right kernels ----------------------------------------------------------------------------------------------- */

/* The sum over the block, through shuffles and shared memory; every thread stores it. */
static void sum_thread(EmuThread *t, const void *const *args) {
    uint32_t n = 1, block = block_of(t);
    int32_t v = load(t, address_of(args, 1) + 4 * (block * 1024 + t->tid) % sizeof x, word, AT_B);
    for (uint32_t m = 16; m; m >>= 1) v += (int32_t)t->calls->shuffle_xor(t, (uint32_t)v, m, AT_A, n++);
    if (t->tid % 32 == 0) store_shared(t, 4 * (t->tid / 32), v, AT_C);
    t->calls->barrier_block(t, AT_A, n++);
    v = load_shared(t, 4 * (t->tid % 32), AT_C);
    for (uint32_t m = 16; m; m >>= 1) v += (int32_t)t->calls->shuffle_xor(t, (uint32_t)v, m, AT_A, n++);
    uint32_t first = t->calls->shuffle_lane(t, (uint32_t)v, 0, AT_A, n++);
    if (t->tid == 7) store(t, address_of(args, 0) + 4 * block, (int32_t)first, AT_D);
}

static void test_sum(void **state) {
    (void)state;
    Setup s = {1024, 1, 128, {4, 1, 1}};
    assert_int_equal(launch(&s, sum_thread), FSC_OK);
    for (int b = 0; b < 4; b++) {
        int32_t want = 0;
        for (int i = 0; i < 1024; i++) want += x[b * 1024 + i];
        assert_int_equal(y[b], want);
    }
}

/* Program and block indices along three axes; the blocks of a cluster hand on through global memory. */
static void cluster_thread(EmuThread *t, const void *const *args) {
    uint32_t block = block_of(t), n = t->nctaid[0] * t->nctaid[1] * t->nctaid[2];
    store(t, address_of(args, 0) + 4 * (block * 64 + t->tid), (int32_t)(block * 100 + t->rank), AT_A);
    t->calls->barrier_cluster(t, AT_B, 0);
    uint32_t peer = block / 16 * 16 + (t->rank + 1) % 16;
    int32_t v = load(t, address_of(args, 0) + 4 * (peer * 64 + t->tid), word, AT_C);
    t->calls->barrier_cluster(t, AT_B, 1);
    store(t, address_of(args, 0) + 4 * (block * 64 + t->tid), v + (int32_t)n, AT_D);
}

static void test_cluster(void **state) {
    (void)state;
    Setup s = {64, 16, 0, {2, 2, 1}};
    assert_int_equal(launch(&s, cluster_thread), FSC_OK);
    for (int b = 0; b < 64; b++) {
        int peer = b / 16 * 16 + (b + 1) % 16;
        for (int i = 0; i < 64; i++) assert_int_equal(y[b * 64 + i], peer * 100 + peer % 16 + 64);
    }
}

/* Program 0 waits for the last one, which may not have begun: each waits for its successor. */
static void chain_thread(EmuThread *t, const void *const *args) {
    uint32_t block = block_of(t), n = t->nctaid[0];
    uint64_t flags = address_of(args, 0);
    if (t->tid == 0 && block + 1 < n)
        while (load(t, flags + 4 * (block + 1), spin_word, AT_A) != 5) continue;
    t->calls->barrier_block(t, AT_B, 0);
    if (t->tid == 0) {
        if (block + 1 < n) (void)load(t, flags + 4 * (100 + block + 1), word, AT_D);
        store(t, flags + 4 * (100 + block), (int32_t)block, AT_C); /* what the flag guards */
        store(t, flags + 4 * block, 5, AT_C);
    }
}

static void test_spin(void **state) {
    (void)state;
    Setup s = {32, 1, 0, {60, 1, 1}};
    assert_int_equal(launch(&s, chain_thread), FSC_OK);
    for (int i = 0; i < 60; i++) assert_int_equal(y[i], 5);
}

/* Lanes of a warp hand on through shared and global memory with warp barriers alone. */
static void warp_thread(EmuThread *t, const void *const *args) {
    store_shared(t, 4 * t->tid, (int32_t)t->tid, AT_A);
    store(t, address_of(args, 0) + 4 * t->tid, (int32_t)t->tid, AT_A);
    t->calls->barrier_warp(t, AT_B, 0);
    int32_t v = load_shared(t, 4 * (t->tid ^ 1), AT_C) + load(t, address_of(args, 0) + 4 * (t->tid ^ 2), word, AT_C);
    t->calls->barrier_warp(t, AT_B, 1);
    store(t, address_of(args, 0) + 4 * t->tid, v, AT_D);
}

static void test_warp_barrier(void **state) {
    (void)state;
    Setup s = {64, 1, 256, {1, 1, 1}};
    assert_int_equal(launch(&s, warp_thread), FSC_OK);
    for (int i = 0; i < 64; i++) assert_int_equal(y[i], (i ^ 1) + (i ^ 2));
}

/* ---- Wrong kernels ----------------------------------------------------------------------------------------------- */

static void beyond_thread(EmuThread *t, const void *const *args) {
    if (block_of(t) == 2 && t->tid == 9) {
        uint64_t data[4] = {1, 1, 1, 1};
        t->calls->store_global(t, address_of(args, 0) + sizeof y, 1, data, word, AT_B);
        t->calls->store_global(t, address_of(args, 0) + sizeof y, 0, data, word, AT_C); /* masked off */
    }
}

static void test_bounds(void **state) {
    (void)state;
    Setup s = {32, 1, 0, {5, 1, 1}};
    fsc_finding f =
        found(&s, beyond_thread, "out-of-bounds", 20, "4 bytes at y[4096], beyond the end of y (4096 elements");
    assert_int_equal(f.program[0], 2);
    assert_int_equal(f.thread, 9);
    assert_true(f.address == (uintptr_t)y + sizeof y);
    assert_int_equal(f.count, 1);
}

static void misaligned_thread(EmuThread *t, const void *const *args) {
    if (t->tid == 1) assert_int_equal(load(t, address_of(args, 1) + 4, vector, AT_C), 77); /* not performed */
}

static void test_misaligned(void **state) {
    (void)state;
    Setup s = {32, 1, 0, {1, 1, 1}};
    (void)found(&s, misaligned_thread, "misaligned", 30, "x[1]");
}

static void program_race_thread(EmuThread *t, const void *const *args) {
    if (t->tid == 3) store(t, address_of(args, 0) + 4 * 11, 1, AT_A);
}

static void read_race_thread(EmuThread *t, const void *const *args) {
    if (block_of(t) == 0 && t->tid == 3) store(t, address_of(args, 1) + 4 * 11, 1, AT_A);
    if (block_of(t) == 1 && t->tid == 3) (void)load(t, address_of(args, 1) + 4 * 11, word, AT_A);
}

static void test_program_races(void **state) {
    (void)state;
    Setup s = {32, 1, 0, {2, 1, 1}};
    (void)found(&s, program_race_thread, "race", 10, "y[11]");
    (void)found(&s, read_race_thread, "race", 10, "x[11]");
}

static void unordered_thread(EmuThread *t, const void *const *args) {
    store(t, address_of(args, 0) + 4 * t->tid, 1, AT_A);
    (void)t->calls->shuffle_xor(t, 1, 1, AT_B, 0); /* orders no memory */
    if (t->tid == 5) (void)load(t, address_of(args, 0) + 4 * 6, word, AT_C);
}

static void test_thread_race(void **state) {
    (void)state;
    Setup s = {32, 1, 0, {1, 1, 1}};
    fsc_finding f = found(&s, unordered_thread, "unordered", 10,
                          "y[6], with no barrier between it and thread 5, which reads it at k.dsl:30:1");
    assert_int_equal(f.thread, 6);
}

/* In one store: thread 7 what thread 6 has stored, thread 3 its own element again; other values at equal addresses,
 * and then equal ones. */
static void collision_thread(EmuThread *t, const void *const *args) {
    const uint64_t at = address_of(args, 0);
    if (t->tid == 6 || t->tid == 7) store(t, at + 4 * 6, (int32_t)t->tid, AT_A);
    if (t->tid == 3) store(t, at + 4 * 3, 1, AT_A);
    if (t->tid == 3) store(t, at + 4 * 3, 2, AT_A);
    store(t, at + 4 * 9, 5, AT_B);
}

/* Other values of one op at one address in two rounds of a loop, by two ops in turn, behind a barrier:
 * each has its order. */
static void rounds_thread(EmuThread *t, const void *const *args) {
    const uint64_t at = address_of(args, 0);
    for (int32_t i = 0; i < 3; i++) {
        t->turns++;
        store(t, at + 4 * t->tid, i, AT_A);
        store(t, at + 4 * t->tid, i + 1, AT_B);
        t->calls->barrier_warp(t, AT_C, 0);
        store(t, at + 4 * 32, i, AT_A);
    }
}

static void test_collision(void **state) {
    (void)state;
    Setup s = {32, 1, 0, {1, 1, 1}};
    fsc_finding f = found(&s, collision_thread, "collision", 10,
                          "writes y[3], to which thread 3 writes another value in the same store");
    assert_int_equal(f.count, 2);
    assert_int_equal(launch(&s, rounds_thread), FSC_OK);
}

/* Thread 3 stores what thread 2 has read and what thread 5 will read: one pair of places, whichever came first. */
static void either_order_thread(EmuThread *t, const void *const *args) {
    if (t->tid == 2) (void)load(t, address_of(args, 0) + 4 * 1, word, AT_B);
    if (t->tid == 3) store(t, address_of(args, 0) + 4 * 1, 1, AT_A);
    if (t->tid == 3) store(t, address_of(args, 0) + 4 * 2, 1, AT_A);
    if (t->tid == 5) (void)load(t, address_of(args, 0) + 4 * 2, word, AT_B);
}

/* Each of two programs reads the other's word and writes its own: seen twice, by the load or by the store. */
static void crossed_thread(EmuThread *t, const void *const *args) {
    uint64_t at = address_of(args, 0), self = block_of(t);
    if (t->tid != 0) return;
    (void)load(t, at + 4 * (1 - self), word, AT_B);
    store(t, at + 4 * self, 1, AT_A);
}

static void test_either_order(void **state) {
    (void)state;
    Setup s = {32, 1, 0, {1, 1, 1}}, two = {32, 1, 0, {2, 1, 1}};
    fsc_finding f =
        found(&s, either_order_thread, "unordered", 10, "writes y[1], with no barrier between it and thread 2");
    assert_int_equal(f.count, 2);
    f = found(&two, crossed_thread, "race", 10, "which reads it at k.dsl:20:1");
    assert_int_equal(f.count, 2);
    assert_non_null(strstr(f.advice, "atomic"));
}

static void shared_race_thread(EmuThread *t, const void *const *args) {
    (void)args;
    store_shared(t, 4 * t->tid, 1, AT_A);
    t->calls->barrier_warp(t, AT_B, 0); /* not enough between warps */
    (void)load_shared(t, 4 * (t->tid ^ (t->tid == 40 ? 32 : 1)), AT_C);
}

static void write_after_read_thread(EmuThread *t, const void *const *args) {
    (void)args;
    if (t->tid == 0) store_shared(t, 0, 1, AT_A);
    t->calls->barrier_block(t, AT_B, 0);
    (void)load_shared(t, 0, AT_C);
    if (t->tid == 63) store_shared(t, 0, 2, AT_D);
}

static void unwritten_thread(EmuThread *t, const void *const *args) {
    (void)args;
    if (t->tid < 31) store_shared(t, 4 * t->tid, 1, AT_A);
    t->calls->barrier_warp(t, AT_B, 0);
    (void)load_shared(t, 4 * t->tid, AT_C);
}

static void shared_beyond_thread(EmuThread *t, const void *const *args) {
    (void)args;
    if (t->tid == 8) store_shared(t, 256, 1, AT_D);
}

/* In x, at a multiple of 16. */
static uint64_t source_of(const void *const *args) {
    return (address_of(args, 1) + 15) / 16 * 16;
}

/* Reads, or overwrites, what it copies, before its own wait; the other waits first. */
static void early_thread(EmuThread *t, const void *const *args) {
    t->calls->copy_async(t, 16 * t->tid, source_of(args), 1, 16, 16, AT_A);
    t->calls->copy_commit(t);
    if (t->tid != 7) t->calls->copy_wait(t, 0);
    (void)load_shared(t, 16 * t->tid, AT_C);
    t->calls->copy_wait(t, 0);
}

static void copied_twice_thread(EmuThread *t, const void *const *args) {
    for (uint32_t i = 0; i < 2; i++) {
        t->calls->copy_async(t, 16 * t->tid, source_of(args), 1, 16, 16, i ? AT_D : AT_B);
        t->calls->copy_commit(t);
    }
}

/* Another thread's copy is there behind its wait and a barrier. */
static void unmet_copy_thread(EmuThread *t, const void *const *args) {
    if (t->tid == 40) t->calls->copy_async(t, 0, source_of(args), 1, 16, 16, AT_A);
    t->calls->copy_commit(t);
    t->calls->barrier_block(t, AT_B, 0);
    t->calls->copy_wait(t, 0);
    if (t->tid == 63) (void)load_shared(t, 0, AT_C);
}

static void copy_beyond_thread(EmuThread *t, const void *const *args) {
    (void)args;
    if (t->tid == 3) t->calls->copy_async(t, 0, 64, 1, 16, 16, AT_D);
}

/* What is cut behind 12 bytes asks for the alignment of 16. */
static void misaligned_copy_thread(EmuThread *t, const void *const *args) {
    t->calls->copy_async(t, 16 * t->tid, source_of(args) + (t->tid == 5 ? 4 : 0), 1, 12, 16, AT_B);
}

/* Groups arrive in order, with zeros behind what is copied; a false predicate copies nothing. */
static void ring_thread(EmuThread *t, const void *const *args) {
    uint64_t words[2] = {0, 0};
    for (uint32_t i = 0; i < 3; i++) {
        t->calls->copy_async(t, 16 * i, source_of(args) + 16 * i, i < 2, i ? 12 : 16, 16, AT_A);
        t->calls->copy_commit(t);
    }
    for (uint32_t i = 0; i < 2; i++) {
        t->calls->copy_wait(t, 2 - i);
        t->calls->load_shared(t, 16 * i, 1, words, emu_access_pack((EmuAccess){2, 8, false}), AT_B);
        for (uint32_t k = 0; k < 4; k++)
            store(t, address_of(args, 0) + 16 * i + 4 * k, (int32_t)(words[k / 2] >> 32 * (k % 2)), AT_C);
    }
}

static void test_copies(void **state) {
    (void)state;
    Setup s = {64, 1, 1024, {1, 1, 1}};
    (void)found(&s, early_thread, "shared-early", 30,
                "reads byte 112 of shared memory before the wait for the copy that writes it, begun at k.dsl:10:1");
    (void)found(&s, copied_twice_thread, "shared-early", 40,
                "writes byte 0 of shared memory before the wait for the copy that writes it, begun at k.dsl:20:1");
    (void)found(&s, unmet_copy_thread, "shared-race", 10, "byte 0 of shared memory, with no barrier");
    (void)found(&s, copy_beyond_thread, "out-of-bounds", 40, "");
    (void)found(&s, misaligned_copy_thread, "misaligned", 20,
                "copies 12 bytes from an address that is no multiple of 16");
    Setup one = {1, 1, 64, {1, 1, 1}};
    assert_int_equal(launch(&one, ring_thread), FSC_OK);
    const int32_t *from = (const int32_t *)(((uintptr_t)x + 15) / 16 * 16);
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(y[i], i == 7 ? 0 : from[i]);
}

static void test_shared(void **state) {
    (void)state;
    Setup s = {64, 1, 256, {1, 1, 1}};
    (void)found(&s, shared_race_thread, "shared-race", 10,
                "byte 32 of shared memory, with no barrier between it and thread 40, which reads it at k.dsl:30:1");
    (void)found(
        &s, write_after_read_thread, "shared-race", 30,
        "reads byte 0 of shared memory, with no barrier between it and thread 63, which writes it at k.dsl:40:1");
    Setup one = {32, 1, 256, {3, 1, 1}};
    fsc_finding f = found(&one, unwritten_thread, "shared-unwritten", 30, "byte 124");
    assert_int_equal(f.count, 3); /* once in each program: nothing stays from one to the next */
    (void)found(&one, shared_beyond_thread, "shared-bounds", 40, "256");
}

static void left_thread(EmuThread *t, const void *const *args) {
    (void)args;
    if (t->tid != 33) t->calls->barrier_block(t, AT_C, 0);
}

static void lane_thread(EmuThread *t, const void *const *args) {
    (void)args;
    if (t->tid % 2) (void)t->calls->shuffle_xor(t, 1, 1, AT_A, 0);
    else (void)t->calls->shuffle_xor(t, 1, 1, AT_A, 1);
}

static void cluster_left_thread(EmuThread *t, const void *const *args) {
    (void)args;
    if (t->rank != 1) t->calls->barrier_cluster(t, AT_D, 0);
}

/* Each block hands its number to all blocks of the cluster, which are known to have begun, and reads its own copy. */
static void hand_out_thread(EmuThread *t, const void *const *args) {
    uint64_t data[4] = {t->rank * 10};
    t->calls->barrier_cluster(t, AT_B, 0);
    if (t->tid < 4) t->calls->store_cluster(t, 4 * t->rank, t->tid, 1, data, word, AT_A);
    t->calls->barrier_cluster(t, AT_B, 1);
    store(t, address_of(args, 0) + 4 * (block_of(t) * 32 + t->tid), load_shared(t, 4 * (t->tid % 4), AT_C), AT_D);
}

static void hand_early_thread(EmuThread *t, const void *const *args) {
    uint64_t data[4] = {1};
    (void)args;
    if (t->tid == 0) t->calls->store_cluster(t, 4 * t->rank, (t->rank + 1) % 4, 1, data, word, AT_A);
    t->calls->barrier_cluster(t, AT_B, 0);
}

static void hand_late_thread(EmuThread *t, const void *const *args) {
    uint64_t data[4] = {1};
    (void)args;
    t->calls->barrier_cluster(t, AT_B, 0);
    if (t->rank == 1) return;
    for (int i = 0; i < 3; i++) t->calls->barrier_block(t, AT_B, (uint32_t)i);
    if (t->tid == 0 && t->rank == 3) t->calls->store_cluster(t, 0, 1, 1, data, word, AT_D);
}

/* A barrier of the block orders nothing between blocks. */
static void hand_race_thread(EmuThread *t, const void *const *args) {
    uint64_t data[4] = {1};
    (void)args;
    t->calls->barrier_cluster(t, AT_B, 0);
    if (t->tid == 0) t->calls->store_cluster(t, 4 * t->rank, 0, 1, data, word, AT_A);
    t->calls->barrier_block(t, AT_B, 1);
    if (t->tid == 0 && t->rank == 0) (void)load_shared(t, 8, AT_C);
    t->calls->barrier_cluster(t, AT_B, 2);
    if (t->rank == 0) (void)load_shared(t, 8, AT_D);
}

static void test_cluster_memory(void **state) {
    (void)state;
    Setup s = {32, 4, 64, {2, 1, 1}};
    assert_int_equal(launch(&s, hand_out_thread), FSC_OK);
    for (int i = 0; i < 256; i++) assert_int_equal(y[i], i % 4 * 10);
    (void)found(&s, hand_early_thread, "shared-bounds", 10, "may not have begun");
    (void)found(&s, hand_late_thread, "shared-bounds", 40, "block 1 of the cluster, which has ended");
    (void)found(&s, hand_race_thread, "shared-race", 10, "byte 8 of shared memory");
}

/* Each block tells all others its number, twice as often as there are halves of the words. */
static void tell_thread(EmuThread *t, const void *const *args) {
    uint32_t sum = 0;
    for (uint32_t round = 1; round <= 4; round++) {
        uint32_t half = round % 2 * 4;
        t->calls->grid_store(t, half + t->rank, t->tid == 0, t->rank + round, round, AT_A);
        uint32_t got = t->calls->grid_wait(t, half + t->tid % 4, t->tid < 4, round, AT_B);
        for (uint32_t i = 1; i < 4; i *= 2) got += t->calls->shuffle_xor(t, got, i, AT_C, round * 8 + i);
        sum += t->tid < 4 ? got : 0;
        t->calls->barrier_block(t, AT_C, round);
    }
    t->calls->grid_leave(t, t->tid, -1);
    if (t->tid == 0) store(t, address_of(args, 0) + 4 * block_of(t), (int32_t)sum, AT_D);
}

/* One half for all rounds: who is first overwrites what the others have yet to read. */
static void tell_over_thread(EmuThread *t, const void *const *args) {
    (void)args;
    for (uint32_t round = 1; round <= 2; round++) {
        t->calls->grid_store(t, t->rank, t->tid == 0, 1, round, AT_A);
        if (t->rank == 0) (void)t->calls->grid_wait(t, t->tid, t->tid == 0, round, AT_B);
    }
}

static void tell_left_thread(EmuThread *t, const void *const *args) {
    (void)args;
    t->calls->grid_leave(t, t->tid, -1);
    if (t->rank == 2) t->calls->grid_store(t, 0, t->tid == 0, 1, 1, AT_D);
}

static void test_words(void **state) {
    (void)state;
    Setup s = {32, 4, 0, {2, 1, 1}};
    assert_int_equal(launch(&s, tell_thread), FSC_OK);
    for (int i = 0; i < 8; i++) assert_int_equal(y[i], 4 * 6 + 4 * 10);
    (void)found(&s, tell_over_thread, "word-order", 10,
                "overwrites word 0 of its program's, which 3 blocks have yet to read");
    (void)found(&s, tell_left_thread, "word-order", 40,
                "touches word 0 of its program's, which its block, number 2, has left");
}

static void test_divergence(void **state) {
    (void)state;
    Setup s = {64, 1, 0, {1, 1, 1}}, cluster = {32, 4, 0, {1, 1, 1}};
    (void)found(&s, left_thread, "divergent", 30, "thread 33 has ended");
    (void)found(&s, lane_thread, "divergent", 10, "waits for something else");
    (void)found(&cluster, cluster_left_thread, "divergent", 40, "has ended");
    assert_int_equal(fsc_device_check(device, false), FSC_OK);
    assert_int_equal(launch(&s, left_thread), FSC_ERROR_CHECK); /* with or without checks it cannot go on */
    assert_int_equal(launch(&s, warp_thread), FSC_ERROR_CHECK); /* no shared memory */
    assert_int_equal(fsc_device_check(device, true), FSC_OK);
}

static void half_thread(EmuThread *t, const void *const *args) {
    if (t->tid != 5) store(t, address_of(args, 0) + 4 * t->tid, 1, AT_A);
}

static void test_unwritten_output(void **state) {
    (void)state;
    Setup s = {32, 1, 0, {1, 1, 1}};
    Record *r = record_of(&s);
    record_add_dim(r, 0, "4", "8");
    record_add_dim(r, 0, "8", "1");
    fsc_finding f = {0};
    assert_int_equal(launch_record(&s, r, half_thread, sizeof x), FSC_ERROR_CHECK);
    assert_int_equal(fsc_device_findings(device), 1);
    assert_int_equal(fsc_device_finding(device, 0, &f), FSC_OK);
    assert_string_equal(f.kind, "unwritten");
    assert_non_null(strstr(f.text, "no program wrote 1 of the 32 elements of y, the first y[0, 5]"));
}

static void test_limits(void **state) {
    (void)state;
    Setup many = {1056, 1, 0, {1, 1, 1}}, large = {32, 1, 1 << 20, {1, 1, 1}};
    Setup *setups[] = {&many, &large};
    for (int i = 0; i < 2; i++) {
        Record *r = record_of(setups[i]);
        fsc_host_code code = {.thread = half_thread, .sites = sites, .num_sites = 4};
        fsc_module *m = NULL;
        fsc_kernel *k = NULL;
        assert_int_equal(fsc_module_host(device, r, &code, &m), FSC_OK);
        assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_ERROR_RESOURCE);
        fsc_module_unload(m);
        record_free(r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_cluster),
        cmocka_unit_test(test_spin),
        cmocka_unit_test(test_warp_barrier),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_misaligned),
        cmocka_unit_test(test_program_races),
        cmocka_unit_test(test_thread_race),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_unwritten_output),
        cmocka_unit_test(test_either_order),
        cmocka_unit_test(test_collision),
        cmocka_unit_test(test_cluster_memory),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
