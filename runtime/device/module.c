/* module.c - compiled code on a device: PTX, cubin and fatbin as the device loads them, host code as it is;
 * with its records.
 *
 * In: an image's bytes, or a host entry. Out: a module that its kernels share. Method: records are read first, then the
 * image's own sizes and target are checked, as the driver takes a bare pointer and would read past a truncated image.
 */
#include "runtime/device/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Sharing ----------------------------------------------------------------------------------------------------- */

void module_share(fsc_module *m) {
    atomic_fetch_add(&m->users, 1);
}

static void module_free(fsc_module *m) {
    if (m->device->kind->unload) m->device->kind->unload(m);
    for (size_t i = 0; i < m->num_records; i++) record_free(m->records[i]);
    free(m->records);
    free(m);
}

void module_release(fsc_module *m) {
    if (atomic_fetch_sub(&m->users, 1) != 1) return;
    void (*destroy)(void *) = m->code.destroy;
    void *owner = m->code.owner;
    module_free(m);
    if (destroy) destroy(owner);
}

void fsc_module_unload(fsc_module *m) {
    if (m) module_release(m);
}

static fsc_module *module_create(fsc_device *d) {
    fsc_module *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->device = d;
    atomic_init(&m->users, 1);
    return m;
}

static bool add_record(fsc_module *m, Record *r) {
    Record **more = realloc(m->records, (m->num_records + 1) * sizeof(Record *));
    if (!more) return false;
    m->records = more;
    more[m->num_records++] = r;
    return true;
}

/* ---- Images ------------------------------------------------------------------------------------------------------ */

ImageKind image_kind(const void *image, size_t size) {
    const unsigned char *at = image;
    static const unsigned char fatbin[] = {0x50, 0xed, 0x55, 0xba};
    if (size >= 4 && memcmp(at, "\177ELF", 4) == 0) return IMAGE_ELF;
    if (size >= 4 && memcmp(at, fatbin, 4) == 0) return IMAGE_FATBIN;
    return memchr(at, '\0', size < 16 ? size : 16) ? IMAGE_UNKNOWN : IMAGE_TEXT;
}

/* Little-endian number of n bytes. */
static uint64_t number_at(const unsigned char *at, size_t offset, size_t n) {
    uint64_t x = 0;
    while (n-- > 0) x = x << 8 | at[offset + n];
    return x;
}

static bool inside(uint64_t offset, uint64_t bytes, uint64_t size) {
    return offset <= size && bytes <= size - offset;
}

/* Both header tables and every section of a 64-bit ELF lie inside the image.
 * Offsets are those of the ELF specification. */
static bool elf_is_whole(const unsigned char *at, size_t size) {
    if (size < 64 || at[4] != 2 || at[5] != 1) return false;
    uint64_t segments = number_at(at, 32, 8), sections = number_at(at, 40, 8);
    uint64_t segment_size = number_at(at, 54, 2), num_segments = number_at(at, 56, 2);
    uint64_t section_size = number_at(at, 58, 2), num_sections = number_at(at, 60, 2);
    if (!inside(segments, segment_size * num_segments, size) || !inside(sections, section_size * num_sections, size))
        return false;
    if (num_sections == 0 || section_size < 64) return false;
    for (uint64_t i = 0; i < num_sections; i++) {
        size_t s = (size_t)(sections + i * section_size);
        bool has_bytes = number_at(at, s + 4, 4) != 8; /* SHT_NOBITS */
        if (has_bytes && !inside(number_at(at, s + 24, 8), number_at(at, s + 32, 8), size)) return false;
    }
    return true;
}

static bool fatbin_is_whole(const unsigned char *at, size_t size) {
    return size >= 16 && inside(number_at(at, 6, 2), number_at(at, 8, 8), size);
}

bool arch_read(const char *arch, unsigned *number, char *suffix) {
    int used = 0;
    *suffix = '\0';
    if (sscanf(arch, "sm_%3u%n", number, &used) != 1) return false;
    *suffix = arch[used];
    return *suffix == '\0' || arch[used + 1] == '\0';
}

bool arch_is_of(const char *arch, const char *card) {
    unsigned a = 0, b = 0;
    char suffix, ignored;
    return arch_read(arch, &a, &suffix) && arch_read(card, &b, &ignored) && a == b;
}

bool arch_fits(const char *target, const char *device, bool is_text) {
    unsigned want = 0, have = 0;
    char suffix, ignored;
    if (!arch_read(target, &want, &suffix) || !arch_read(device, &have, &ignored)) return false;
    if (suffix == 'a') return want == have;
    return want <= have && ((is_text && !suffix) || want / 10 == have / 10);
}

/* What record_parse() said. */
static fsc_status fail_record(const fsc_device *d, const char *why) {
    return *why ? status_fail(d, FSC_ERROR_RECORD, "%s", why) : status_memory(d);
}

static fsc_status read_records(fsc_module *m, const void *image, size_t size) {
    size_t offset = 0, length = 0;
    for (char *text; (text = record_find(image, size, &offset, &length));) {
        char why[256] = "";
        Record *r = record_parse(text, length, why, sizeof why);
        free(text);
        if (!r) return fail_record(m->device, why);
        if (add_record(m, r)) continue;
        record_free(r);
        return status_memory(m->device);
    }
    if (length == SIZE_MAX) return status_memory(m->device);
    if (m->num_records) return FSC_OK;
    return status_fail(m->device, FSC_ERROR_RECORD, "the image holds no kernel record: it was not made by fsc");
}

static fsc_status check_arch(const fsc_module *m, bool is_text) {
    for (size_t i = 0; i < m->num_records; i++) {
        const Record *r = m->records[i];
        const fsc_props *p = &m->device->props;
        if (!arch_fits(r->target, p->arch, is_text))
            return status_fail(m->device, FSC_ERROR_ARCH, "kernel %s is compiled for %s, and %s is %s", r->kernel,
                               r->target, p->name, p->arch);
    }
    return FSC_OK;
}

/* The text of a record that lies beside the image. */
static fsc_status read_known(fsc_module *m, const char *text, size_t length) {
    char why[256] = "";
    Record *r = record_parse(text, length, why, sizeof why);
    if (!r) return fail_record(m->device, why);
    if (add_record(m, r)) return FSC_OK;
    record_free(r);
    return status_memory(m->device);
}

/* record: its text; NULL: it is searched in the image. */
static fsc_status module_read(fsc_device *d, const void *image, size_t size, const char *record, size_t length,
                              fsc_module **out) {
    if (!d->kind->load)
        return status_fail(d, FSC_ERROR_USAGE, "PTX and cubins are for CUDA devices, not for the host");
    ImageKind kind = size ? image_kind(image, size) : IMAGE_UNKNOWN;
    if (kind == IMAGE_UNKNOWN)
        return status_fail(d, FSC_ERROR_IMAGE, "the image is neither PTX nor a cubin nor a fatbin");
    if ((kind == IMAGE_ELF && !elf_is_whole(image, size)) || (kind == IMAGE_FATBIN && !fatbin_is_whole(image, size)))
        return status_fail(d, FSC_ERROR_IMAGE, "the image is cut off or damaged: its own sizes go beyond its %zu bytes",
                           size);
    fsc_module *m = module_create(d);
    if (!m) return status_memory(d);
    m->image = image;
    m->image_size = size;
    fsc_status s = record ? read_known(m, record, length) : read_records(m, image, size);
    if (s == FSC_OK) s = check_arch(m, kind == IMAGE_TEXT);
    if (s == FSC_OK)
        *out = m;
    else
        module_free(m);
    return s;
}

fsc_status module_load_later(fsc_device *d, const void *image, size_t size, fsc_module **out) {
    return module_read(d, image, size, NULL, 0, out);
}

fsc_status module_load_now(fsc_module *m) {
    if (!m->image) return FSC_OK;
    fsc_status s = m->device->kind->load(m, m->image, m->image_size);
    if (s == FSC_OK) m->image = NULL;
    return s;
}

bool module_is_loaded(const fsc_module *m) {
    return !m->image;
}

fsc_status module_load_known(fsc_device *d, const void *image, size_t size, const char *record, size_t length,
                             fsc_module **out) {
    if (!d || !image || !out)
        return status_fail(d, FSC_ERROR_USAGE, "fsc_module_load: device, image or result is NULL");
    fsc_module *m = NULL;
    fsc_status s = module_read(d, image, size, record, length, &m);
    if (s == FSC_OK) s = module_load_now(m);
    if (s == FSC_OK)
        *out = m;
    else
        fsc_module_unload(m);
    return s;
}

fsc_status fsc_module_load(fsc_device *d, const void *image, size_t size, fsc_module **out) {
    return module_load_known(d, image, size, NULL, 0, out);
}

/* The code is of the device's kind, and so says its record. */
static fsc_status check_host(const fsc_device *d, const Record *r, const fsc_host_code *code) {
    if (!d->kind->has_entry)
        return status_fail(d, FSC_ERROR_USAGE, "host code is for devices cpu and emu, not for %s", d->props.name);
    if (!d->kind->has_entry(code))
        return status_fail(d, FSC_ERROR_USAGE, "the host code has no entry for device %s", d->props.name);
    if (strcmp(r->target, d->props.arch) != 0)
        return status_fail(d, FSC_ERROR_ARCH, "kernel %s is compiled for %s, not for %s", r->kernel, r->target,
                           d->props.arch);
    return FSC_OK;
}

fsc_status fsc_module_host(fsc_device *d, const struct fsc_record *record, const fsc_host_code *code,
                           fsc_module **out) {
    if (!d || !record || !code || !out)
        return status_fail(d, FSC_ERROR_USAGE, "fsc_module_host: device, record, code or result is NULL");
    fsc_status s = check_host(d, record, code);
    if (s != FSC_OK) return s;
    fsc_module *m = module_create(d);
    size_t length = 0;
    char why[256] = "", *text = record_write(record, &length);
    Record *copy = text ? record_parse(text, length, why, sizeof why) : NULL;
    free(text);
    if (!m || !copy || !add_record(m, copy)) {
        record_free(copy);
        free(m);
        return fail_record(d, why);
    }
    m->code = *code;
    *out = m;
    return FSC_OK;
}

/* ---- Looking in -------------------------------------------------------------------------------------------------- */

size_t fsc_module_kernels(const fsc_module *m) {
    return m ? m->num_records : 0;
}

const char *fsc_module_kernel_name(const fsc_module *m, size_t index) {
    return index < fsc_module_kernels(m) ? m->records[index]->kernel : NULL;
}

const struct fsc_record *fsc_module_record(const fsc_module *m, size_t index) {
    return index < fsc_module_kernels(m) ? m->records[index] : NULL;
}
