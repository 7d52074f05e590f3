/* matrix_test.c - the emulator's matrix instructions by themselves: what they compute, against the PTX ISA,
 * and what is found wrong.
 *
 * In: thread functions written in C on the emulator's calls; every row of mma.def with small numbers,
 * whose sums are exact.
 */
#include "hostfix.h"

#include "runtime/base/hooks.h"
#include "tests/unit/mma_isa.h"

enum { WARPS = 2, SHARED = 4096, AT_A = 0, AT_B = 1, AT_C = 2, MOST = 64 };

static fsc_device *device;
static const fsc_site sites[] = {{"k.dsl", 10, 1}, {"k.dsl", 20, 1}, {"k.dsl", 30, 1}};

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

static fsc_status launch(fsc_thread_entry *entry) {
    fsc_host_code code = {.thread = entry, .sites = sites, .num_sites = 3};
    fsc_module *m = NULL;
    fsc_kernel *k = NULL;
    Record *r = record_create("k");
    record_set_target(r, "emu", "0.1.0", "k.dsl");
    record_add_launch(r, "k", 32 * WARPS, 1, 1, SHARED);
    assert_int_equal(fsc_module_host(device, r, &code, &m), FSC_OK);
    assert_int_equal(fsc_kernel_create(m, NULL, &k), FSC_OK);
    fsc_module_unload(m);
    fsc_status status = fsc_launch(k, (int64_t[]){1, 1, 1}, NULL, 0, NULL);
    fsc_kernel_destroy(k);
    record_free(r);
    return status;
}

static void found(fsc_thread_entry *entry, const char *kind, uint32_t line, const char *words) {
    fsc_finding f = {0};
    assert_int_equal(launch(entry), FSC_ERROR_CHECK);
    assert_int_equal(fsc_device_finding(device, 0, &f), FSC_OK);
    assert_string_equal(f.kind, kind);
    assert_int_equal(f.line, line);
    if (!strstr(f.text, words)) fail_msg("no '%s' in: %s", words, f.text);
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

static const struct Row {
    const char *name;
    EmuMma i;
} rows[] = {
#define MMA(e, name, a, b, c, m, n, k, ...) {name, {EMU_##a, EMU_##b, EMU_##c, m, n, k}},
#define WGMMA(...)
#include "compiler/layout/mma.def"
#undef MMA
#undef WGMMA
};

static const struct Row *row;                /* that is tested */
static int64_t results[WARPS][16][8];        /* what the lanes got, as 64-bit integers */
static bool has_seen[WARPS][16][8];

static uint32_t bits_of(uint32_t type) {
    return type == EMU_F64                                          ? 64
           : type == EMU_F16 || type == EMU_BF16                    ? 16
           : type == EMU_TF32 || type == EMU_F32 || type == EMU_S32 ? 32
                                                                    : 8;
}

/* Small integers; a and b have signs where their types do. */
static int64_t number_at(uint32_t operand, uint32_t type, uint32_t warp, uint32_t r, uint32_t c) {
    static const int64_t primes[] = {2, 3, 5, 7, 11, 13};
    int64_t x = primes[(r * 7 + c * 5 + operand + warp) % 6] % 8 - (type == EMU_U8 ? 0 : 3);
    return operand == 2 ? 1000 * (int64_t)r + 10 * (int64_t)c - 77 : x;
}

/* An integer of at most three bits, as the type has it, by hand: fp8 in a table. */
static uint64_t encode(int64_t x, uint32_t type) {
    static const uint8_t e4m3[] = {0x00, 0x38, 0x40, 0x44, 0x48, 0x4a, 0x4c, 0x4e},
                         e5m2[] = {0x00, 0x3c, 0x40, 0x42, 0x44, 0x45, 0x46, 0x47};
    static const uint16_t half[] = {0x0000, 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700};
    uint32_t size = (uint32_t)(x < 0 ? -x : x), sign = x < 0;
    float f = (float)x;
    double d = (double)x;
    uint32_t wide;
    uint64_t whole;
    memcpy(&wide, &f, sizeof wide);
    memcpy(&whole, &d, sizeof whole);
    switch (type) {
    case EMU_E4M3: return e4m3[size] | sign << 7;
    case EMU_E5M2: return e5m2[size] | sign << 7;
    case EMU_F16: return half[size] | sign << 15;
    case EMU_BF16: return wide >> 16;
    case EMU_TF32: return wide | 0x1fff; /* these bits do not count */
    case EMU_F32: return wide;
    case EMU_F64: return whole;
    default: return (uint32_t)x & (bits_of(type) == 8 ? 0xff : UINT32_MAX);
    }
}

static int64_t decode(uint64_t bits, uint32_t type) {
    float f;
    double d;
    uint32_t wide = (uint32_t)bits;
    memcpy(&f, &wide, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return type == EMU_F64 ? (int64_t)d : type == EMU_F32 ? (int64_t)f : (int32_t)wide;
}

static void product_thread(EmuThread *t, const void *const *args) {
    EmuMma i = row->i;
    uint32_t sizes[] = {(uint32_t)i.m * i.k, (uint32_t)i.k * i.n, (uint32_t)i.m * i.n}, lane = t->tid % 32,
             warp = t->tid / 32, first = 0;
    const uint8_t types[] = {i.a, i.b, i.c};
    uint64_t words[MOST] = {0};
    (void)args;
    for (uint32_t operand = 0; operand < 3; operand++) {
        uint32_t bits = bits_of(types[operand]), per_word = bits < 32 ? 32 / bits : 1, n = sizes[operand] / 32;
        for (uint32_t e = 0; e < n; e++) {
            uint32_t r, c;
            isa_place(i.m, i.k, bits_of(i.a), operand, lane, e, &r, &c);
            words[first + e / per_word] |= encode(number_at(operand, types[operand], warp, r, c), types[operand])
                                           << (e % per_word * bits) % 64;
        }
        first += n / per_word;
    }
    t->calls->mma(t, words, emu_mma_pack(i), AT_A, 0);
    for (uint32_t e = 0; e < sizes[2] / 32; e++) {
        uint32_t r, c;
        isa_place(i.m, i.k, bits_of(i.a), 2, lane, e, &r, &c);
        results[warp][r][c] = decode(words[e], i.c);
        has_seen[warp][r][c] = true;
    }
}

static void test_products(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        row = &rows[k];
        EmuMma i = row->i;
        memset(has_seen, 0, sizeof has_seen);
        assert_int_equal(launch(product_thread), FSC_OK);
        for (uint32_t warp = 0; warp < WARPS; warp++)
            for (uint32_t r = 0; r < i.m; r++)
                for (uint32_t c = 0; c < i.n; c++) {
                    int64_t want = number_at(2, i.c, warp, r, c);
                    for (uint32_t q = 0; q < i.k; q++)
                        want += number_at(0, i.a, warp, r, q) * number_at(1, i.b, warp, q, c);
                    if (!has_seen[warp][r][c] || results[warp][r][c] != want)
                        fail_msg("%s [%u, %u] of warp %u: %lld, not %lld", row->name, r, c, warp,
                                 (long long)results[warp][r][c], (long long)want);
                }
    }
}

static uint32_t special_words[8];

/* One lane's a is what no integer is, and b is 1 in its row; c is 0. */
static void special_thread(EmuThread *t, const void *const *args) {
    uint64_t words[MOST] = {0};
    (void)args;
    if (t->tid == 0) words[0] = special_words[0];
    if (t->tid % 32 == 0) words[4] = special_words[1];
    t->calls->mma(t, words, special_words[2], AT_A, 0);
    if (t->tid == 0) special_words[3] = (uint32_t)words[0];
}

static uint32_t special(uint32_t a, uint32_t b, EmuElement type, uint32_t k) {
    special_words[0] = a, special_words[1] = b;
    special_words[2] = emu_mma_pack((EmuMma){(uint8_t)type, (uint8_t)type, EMU_F32, 16, 8, (uint8_t)k});
    assert_int_equal(launch(special_thread), FSC_OK);
    return special_words[3];
}

/* Subnormals, infinities and NaN of the small floats, times 1, as fp32; integers wrap. */
static void test_special_numbers(void **state) {
    (void)state;
    assert_int_equal(special(0x0001, 0x3c00, EMU_F16, 16), 0x33800000);              /* 2^-24 */
    assert_int_equal(special(0x7c00, 0x3c00, EMU_F16, 16), 0x7f800000);              /* inf */
    assert_int_equal(special(0x7e00, 0x3c00, EMU_F16, 16) & 0x7fffffff, 0x7fc00000); /* NaN */
    assert_int_equal(special(0x0001, 0x3f80, EMU_BF16, 16), 0x00010000);
    assert_int_equal(special(0x01, 0x38, EMU_E4M3, 32), 0x3b000000);                 /* 2^-9 */
    assert_int_equal(special(0x7e, 0x38, EMU_E4M3, 32), 0x43e00000);                 /* 448 */
    assert_int_equal(special(0x7f, 0x38, EMU_E4M3, 32) & 0x7fffffff, 0x7fc00000);
    assert_int_equal(special(0xfc, 0x3c, EMU_E5M2, 32), 0xff800000);                 /* -inf */
    assert_int_equal(special(0x01, 0x3c, EMU_E5M2, 32), 0x37800000);                 /* 2^-16 */
    assert_int_equal(special(0x3f801fff, 0x3f801fff, EMU_TF32, 8), 0x3f800000);
}

/* ---- Matrices in shared memory ----------------------------------------------------------------------------------- */

static const uint32_t access = 1 | 4 << 8;
static uint64_t loaded[32][4];
static uint32_t how_many, is_turned;

static uint32_t matrices(void) {
    return how_many | is_turned << 8;
}

/* Row r of matrix k lies at (k * 8 + r) * 32; its elements of 16 bits are k * 100 + r * 8 + column. */
static void write_rows(EmuThread *t) {
    for (uint32_t word = 0; word < 4; word++) {
        uint32_t low = t->tid / 8 * 100 + t->tid % 8 * 8 + 2 * word;
        uint64_t data[4] = {low | (low + 1) << 16};
        if (t->tid < 8 * how_many) t->calls->store_shared(t, 32 * t->tid + 4 * word, 1, data, access, AT_A);
    }
}

static void load_thread(EmuThread *t, const void *const *args) {
    uint64_t words[4] = {0};
    (void)args;
    write_rows(t);
    t->calls->barrier_block(t, AT_B, 0);
    if (t->tid >= 32) return;
    /* The offsets of lanes that give no row are beyond all bounds. */
    t->calls->ldmatrix(t, words, t->tid < 8 * how_many ? 32 * t->tid : 1 << 20, matrices(), AT_C, 1);
    memcpy(loaded[t->tid], words, sizeof words);
}

static void test_load_matrices(void **state) {
    (void)state;
    for (how_many = 1; how_many <= 4; how_many *= 2)
        for (is_turned = 0; is_turned < 2; is_turned++) {
            assert_int_equal(launch(load_thread), FSC_OK);
            for (uint32_t lane = 0; lane < 32; lane++)
                for (uint32_t k = 0; k < how_many; k++)
                    for (uint32_t e = 0; e < 2; e++) {
                        uint32_t r = lane / 4, c = 2 * (lane % 4) + e,
                                 want = k * 100 + (is_turned ? c * 8 + r : r * 8 + c);
                        assert_int_equal(loaded[lane][k] >> 16 * e & 0xffff, want);
                    }
        }
}

/* What ldmatrix brings, stmatrix takes back to where it was, in the same way; then every byte is as before. */
static void store_thread(EmuThread *t, const void *const *args) {
    uint64_t words[4] = {0}, data[4];
    uint32_t offset = 32 * t->tid;
    (void)args;
    write_rows(t);
    t->calls->barrier_block(t, AT_B, 0);
    if (t->tid >= 32) return;
    t->calls->ldmatrix(t, words, offset, matrices(), AT_C, 1);
    t->calls->barrier_warp(t, AT_B, 2);
    t->calls->stmatrix(t, words, offset + 1024, matrices(), AT_C, 3);
    t->calls->barrier_warp(t, AT_B, 4);
    for (uint32_t word = 0; word < 4 && t->tid < 8 * how_many; word++) {
        t->calls->load_shared(t, offset + 1024 + 4 * word, 1, data, access, AT_C);
        loaded[t->tid][word] = data[0];
    }
}

static void test_store_matrices(void **state) {
    (void)state;
    for (how_many = 1; how_many <= 4; how_many *= 2)
        for (is_turned = 0; is_turned < 2; is_turned++) {
            assert_int_equal(launch(store_thread), FSC_OK);
            for (uint32_t r = 0; r < 8 * how_many; r++)
                for (uint32_t word = 0; word < 4; word++) {
                    uint32_t low = r / 8 * 100 + r % 8 * 8 + 2 * word;
                    assert_int_equal(loaded[r][word], low | (low + 1) << 16);
                }
        }
}

/* ---- Wrong kernels ----------------------------------------------------------------------------------------------- */

/* The second warp reads what the first wrote, and nothing lies between. */
static void race_thread(EmuThread *t, const void *const *args) {
    uint64_t words[4] = {0};
    (void)args;
    if (t->tid < 32) write_rows(t);
    else t->calls->ldmatrix(t, words, 32 * (t->tid % 32), matrices(), AT_C, 1);
}

/* A lane's own warp: the meeting of ldmatrix orders no memory. */
static void own_race_thread(EmuThread *t, const void *const *args) {
    uint64_t words[4] = {0};
    (void)args;
    if (t->tid >= 32) return;
    write_rows(t);
    t->calls->ldmatrix(t, words, 32 * (t->tid ^ 1), matrices(), AT_C, 1);
}

static void unwritten_thread(EmuThread *t, const void *const *args) {
    uint64_t words[4] = {0};
    (void)args;
    t->calls->ldmatrix(t, words, 2048, matrices(), AT_C, 1);
}

static void beyond_thread(EmuThread *t, const void *const *args) {
    uint64_t words[4] = {0};
    (void)args;
    t->calls->stmatrix(t, words, t->tid == 5 ? SHARED : 16 * t->tid, matrices(), AT_C, 1);
}

static void misaligned_thread(EmuThread *t, const void *const *args) {
    uint64_t words[4] = {0};
    (void)args;
    t->calls->stmatrix(t, words, t->tid == 6 ? 8 : 16 * t->tid, matrices(), AT_C, 1);
}

static void store_race_thread(EmuThread *t, const void *const *args) {
    uint64_t words[4] = {t->tid};
    (void)args;
    t->calls->stmatrix(t, words, 16 * (t->tid % 32), matrices(), AT_C, 1);
}

static void left_thread(EmuThread *t, const void *const *args) {
    uint64_t words[MOST] = {0};
    (void)args;
    if (t->tid == 40) return;
    t->calls->mma(t, words, emu_mma_pack(rows[0].i), AT_A, 0);
}

static void apart_thread(EmuThread *t, const void *const *args) {
    uint64_t words[MOST] = {0};
    (void)args;
    t->calls->mma(t, words, emu_mma_pack(rows[0].i), t->tid % 2 ? AT_A : AT_B, t->tid % 2);
}

static void test_findings(void **state) {
    (void)state;
    how_many = 4;
    is_turned = 0;
    found(race_thread, "shared-race", 10,
          "of shared memory, with no barrier between it and thread 32, which reads it at k.dsl:30:1");
    found(own_race_thread, "shared-race", 10, "of shared memory, with no barrier between it and thread");
    found(unwritten_thread, "shared-unwritten", 30, "byte 2048 of shared memory, which nobody wrote");
    found(beyond_thread, "shared-bounds", 30, "writes 16 bytes at byte 4096 of 4096 bytes");
    found(misaligned_thread, "shared-bounds", 30, "writes 16 bytes at byte 8");
    found(store_race_thread, "shared-race", 30, "byte 0 of shared memory");
    found(left_thread, "divergent", 10, "thread 40 has ended");
    found(apart_thread, "divergent", 20, "waits for something else");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),      cmocka_unit_test(test_special_numbers),
        cmocka_unit_test(test_load_matrices), cmocka_unit_test(test_store_matrices),
        cmocka_unit_test(test_findings),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
