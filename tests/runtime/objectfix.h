/* objectfix.h - objects as the compiler makes them, over the fake driver. */
#ifndef OBJECTFIX_H
#define OBJECTFIX_H

#include "fakefix.h"

#include <stdatomic.h>

enum { MOST = 12 };

/* Entries are named by what they are: "sm_90_c_16_512" is a cubin for sm_90, pointers assumed aligned to 16,
 * BLOCK 512. */
typedef struct Made {
    fsc_object object;
    fsc_object_variant variants[MOST];
    char *codes[MOST];
} Made;

static Record *variant_record(const char *arch, const char *entry, uint32_t divisible, const char *block) {
    Record *r = sample_record(arch, block, RECORD_RULE, divisible);
    r->num_launches = 0;
    record_add_launch(r, entry, 128, 1, 1, 0);
    return r;
}

/* Headers of an ELF file with one section, the record, and what the fake driver looks for. */
static char *fake_cubin(const Record *r, size_t *size) {
    static const unsigned char magic[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    size_t n = 0;
    char *text = record_write(r, &n), *image = calloc(1, FAKE_ELF + n + 256);
    memcpy(image, magic, sizeof magic);
    image[40] = 64; /* the section's header lies there, is so large, and there is one */
    image[58] = 64;
    image[60] = 1;
    image[64 + 4] = 8; /* SHT_NOBITS */
    memcpy(image + FAKE_ELF, text, n);
    *size = FAKE_ELF + n + (size_t)sprintf(image + FAKE_ELF + n, ".entry %s()", r->launches[0].entry) + 1;
    free(text);
    return image;
}

static inline void add(Made *m, const char *arch, bool is_cubin, uint32_t divisible, const char *block,
                       uint64_t number) {
    char entry[64];
    snprintf(entry, sizeof entry, "%s_%s_%u_%s", arch, is_cubin ? "c" : "p", divisible, block);
    Record *r = variant_record(arch, entry, divisible, block);
    size_t n = m->object.num_variants++, size = 0;
    m->codes[n] = is_cubin ? fake_cubin(r, &size) : sample_ptx(r, "7.0");
    if (!is_cubin) size = strlen(m->codes[n]);
    m->variants[n] = (fsc_object_variant){.arch = arch, .code = m->codes[n], .size = size, .number = number};
    record_free(r);
}

static void begin(Made *m) {
    *m = (Made){.object = {.abi = FSC_OBJECT_ABI, .kernel = "softmax"}};
    m->object.variants = m->variants;
}

static void end(Made *m) {
    fsc_object_unload(&m->object);
    for (size_t i = 0; i < m->object.num_variants; i++) free(m->codes[i]);
}

/* The CPU version's programs, and what they saw. */
static atomic_int programs;
static float seen;

static void cpu_entry(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch) {
    (void)pid, (void)nprog, (void)scratch;
    seen = **(const float *const *)args[1];
    atomic_fetch_add(&programs, 1);
}

static inline void add_cpu(Made *m, const char *block, uint64_t number) {
    Record *r = variant_record("cpu", "softmax", 1, block);
    size_t n = m->object.num_variants++, size = 0;
    m->codes[n] = record_write(r, &size);
    m->variants[n] =
        (fsc_object_variant){.arch = "cpu", .code = m->codes[n], .size = size, .entry = cpu_entry, .number = number};
    record_free(r);
}

/* softmax of 3 rows of n_cols; misaligned: by one element. */
static fsc_status launch(Made *m, fsc_stream stream, int32_t n_cols, bool misaligned) {
    static float x[4] = {42.0f, 42.0f};
    const void *y = (const char *)NULL + 0x7000000000, *from = stream == FSC_STREAM_CPU || fake.devices == 0 ? x : y;
    if (misaligned) from = (const char *)from + 4;
    int32_t stride = 4096, rows = 3;
    const void *const values[] = {&y, &from, &stride, &stride, &rows, &n_cols};
    return fsc_object_launch(&m->object, stream, NULL, values);
}

static const char *last_entry(void) {
    static FakeLaunch l;
    l = fake_launch(fake.launches - 1);
    return l.entry;
}

static inline void takes(Made *m, int32_t n_cols, bool misaligned, const char *entry) {
    assert_int_equal(launch(m, NULL, n_cols, misaligned), FSC_OK);
    assert_string_equal(last_entry(), entry);
}

#endif
