/* kernel.c - kernel handles: a table of compiled variants, each made ready for launching; the warm-up report.
 *
 * In: modules and names. Out: variants, reports. Method: a table is replaced, never changed; a variant's code is made
 * ready by its device, once.
 */
#include "runtime/base/process.h"
#include "runtime/launch/quick.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Variants ---------------------------------------------------------------------------------------------------- */

static void variant_free(Variant *v) {
    if (!v) return;
    free(v->slots);
    free(v->constants);
    free(v->names);
    free(v->functions);
    quick_free(v->quick);
    variant_free_maps(v);
    module_release(v->module);
    free(v);
}

static bool fill_parameters(Variant *v) {
    const Record *r = v->record;
    size_t n = r->num_params ? r->num_params : 1;
    v->slots = calloc(n, sizeof *v->slots);
    v->constants = calloc(n, sizeof *v->constants);
    v->names = calloc(n, sizeof *v->names);
    if (!v->slots || !v->constants || !v->names) return false;
    for (uint32_t i = 0; i < r->num_params; i++) {
        const RecordParam *p = &r->params[i];
        RuleBinding *b = &v->constants[i];
        b->name = v->names[i] = p->name;
        if (p->kind == RECORD_CONSTEXPR) {
            b->known = record_value(p, &b->value);
            continue;
        }
        v->slots[v->num_slots++] = (Slot){.param = i, .dtype = fsc_dtype_find(p->dtype)};
        v->assumptions += (uint32_t)(p->divisible > 1) + (uint32_t)p->equals_one + (uint32_t)(p->least || p->most);
    }
    v->assumptions += r->num_maps;
    return variant_add_maps(v);
}

fsc_status variant_ready(Variant *v) {
    fsc_device *d = v->module->device;
    if (atomic_load_explicit(&v->ready, memory_order_acquire)) return FSC_OK;
    HOLD_FORKS;
    pthread_mutex_lock(&d->loading);
    bool is_ready = atomic_load_explicit(&v->ready, memory_order_relaxed);
    fsc_status s = is_ready ? FSC_OK : module_load_now(v->module);
    if (s == FSC_OK && !is_ready && d->kind->ready) s = d->kind->ready(v);
    if (s == FSC_OK) atomic_store_explicit(&v->ready, true, memory_order_release);
    pthread_mutex_unlock(&d->loading);
    return s;
}

static fsc_status find_record(const fsc_module *m, const char *name, const Record **out) {
    if (!name && m->num_records != 1)
        return status_fail(m->device, FSC_ERROR_USAGE, "the module has %zu kernels: name one of them", m->num_records);
    for (size_t i = 0; i < m->num_records; i++) {
        if (name && strcmp(m->records[i]->kernel, name) != 0) continue;
        *out = m->records[i];
        return FSC_OK;
    }
    return status_fail(m->device, FSC_ERROR_USAGE, "the module has no kernel %.200s", name);
}

static fsc_status variant_create(fsc_module *m, const char *name, Variant **out) {
    const Record *r = NULL;
    fsc_status s = find_record(m, name, &r);
    if (s != FSC_OK) return s;
    Variant *v = calloc(1, sizeof *v);
    if (!v) return status_memory(m->device);
    v->module = m;
    v->record = r;
    module_share(m);
    s = fill_parameters(v) ? FSC_OK : status_memory(m->device);
    if (s == FSC_OK && module_is_loaded(m)) s = variant_ready(v);
    if (s == FSC_OK) {
        v->quick = quick_create(v);
        *out = v;
    } else {
        variant_free(v);
    }
    return s;
}

/* ---- Handles ----------------------------------------------------------------------------------------------------- */

/* A variant is of the same kernel if its run-time parameters have the same names in the same order. */
static bool same_call(const Variant *a, const Variant *b) {
    if (a->num_slots != b->num_slots || strcmp(a->record->kernel, b->record->kernel) != 0) return false;
    for (uint32_t i = 0; i < a->num_slots; i++) {
        const RecordParam *p = &a->record->params[a->slots[i].param], *q = &b->record->params[b->slots[i].param];
        if (p->kind != q->kind || strcmp(p->name, q->name) != 0) return false;
    }
    return true;
}

/* The table and one more; NULL: out of memory. */
static VariantTable *table_with(const VariantTable *old, Variant *v) {
    size_t n = old ? old->count : 0, place = 0;
    VariantTable *t = calloc(1, sizeof *t + 2 * (n + 1) * sizeof t->at[0]);
    if (!t) return NULL;
    t->older = (VariantTable *)(uintptr_t)old;
    t->count = n + 1;
    t->closest = t->at + n + 1;
    if (n) memcpy(t->at, old->at, n * sizeof t->at[0]);
    t->at[n] = v;
    /* of equal ones the older comes first */
    while (place < n && old->closest[place]->assumptions >= v->assumptions) place++;
    for (size_t i = 0; i < n; i++) t->closest[i + (i >= place)] = old->closest[i];
    t->closest[place] = v;
    return t;
}

fsc_status fsc_kernel_add_variant(fsc_kernel *k, fsc_module *m, const char *name) {
    Variant *v = NULL;
    if (!k || !m) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_kernel_add_variant: kernel or module is NULL");
    if (m->device != k->device)
        return status_fail(k->device, FSC_ERROR_USAGE, "the module is on another device than the kernel");
    HOLD_FORKS;
    fsc_status s = variant_create(m, name, &v);
    if (s != FSC_OK) return s;
    pthread_mutex_lock(&k->lock);
    const VariantTable *t = kernel_table(k);
    VariantTable *more = NULL;
    if (t && !same_call(t->at[0], v))
        s = status_fail(k->device, FSC_ERROR_USAGE, "a variant of kernel %s has other run-time parameters",
                        v->record->kernel);
    else if (!(more = table_with(t, v)))
        s = status_memory(k->device);
    if (s == FSC_OK) atomic_store_explicit(&k->table, more, memory_order_release);
    pthread_mutex_unlock(&k->lock);
    if (s != FSC_OK) variant_free(v);
    return s;
}

fsc_status fsc_kernel_create(fsc_module *m, const char *name, fsc_kernel **out) {
    if (!m || !out) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_kernel_create: module or result is NULL");
    fsc_kernel *k = calloc(1, sizeof *k);
    if (!k) return status_memory(m->device);
    k->device = m->device;
    pthread_mutex_init(&k->lock, NULL);
    fsc_status s = fsc_kernel_add_variant(k, m, name);
    if (s == FSC_OK)
        *out = k;
    else
        fsc_kernel_destroy(k);
    return s;
}

void fsc_kernel_destroy(fsc_kernel *k) {
    if (!k) return;
    VariantTable *t = (VariantTable *)(uintptr_t)kernel_table(k);
    for (size_t i = 0; t && i < t->count; i++) variant_free(t->at[i]);
    while (t) {
        VariantTable *older = t->older;
        free(t);
        t = older;
    }
    pthread_mutex_destroy(&k->lock);
    free(k);
}

size_t fsc_kernel_variants(const fsc_kernel *k) {
    const VariantTable *t = k ? kernel_table(k) : NULL;
    return t ? t->count : 0;
}

static Variant *variant_at(const fsc_kernel *k, size_t index) {
    const VariantTable *t = kernel_table(k);
    return t && index < t->count ? t->at[index] : NULL;
}

const struct fsc_record *fsc_kernel_record(const fsc_kernel *k, size_t variant) {
    Variant *v = k ? variant_at(k, variant) : NULL;
    return v ? v->record : NULL;
}

fsc_device *fsc_kernel_device(const fsc_kernel *k) {
    return k ? k->device : NULL;
}

/* ---- Occupancy and the report ------------------------------------------------------------------------------------ */

fsc_status variant_programs_per_sm(Variant *v, int64_t *programs) {
    fsc_device *d = v->module->device;
    *programs = !d->kind->blocks_per_sm ? 1 : atomic_load_explicit(&v->programs_per_sm, memory_order_relaxed);
    if (*programs) return FSC_OK;
    bool pushed = false;
    int blocks = 0;
    const RecordLaunch *l = &v->record->launches[v->record->num_launches - 1];
    fsc_status s = variant_ready(v);
    if (s != FSC_OK) return s;
    s = device_enter(d, &pushed);
    if (s == FSC_OK) s = d->kind->blocks_per_sm(v, v->record->num_launches - 1, &blocks);
    device_leave(d, pushed);
    if (s != FSC_OK) return s;
    *programs = (int64_t)blocks * l->programs_per_block / l->blocks_per_program;
    if (*programs < 1) *programs = 1; /* a cluster larger than a multiprocessor's share still runs */
    atomic_store_explicit(&v->programs_per_sm, *programs, memory_order_relaxed);
    return FSC_OK;
}

fsc_status fsc_kernel_warmup(fsc_kernel *k, size_t variant, fsc_kernel_report *out) {
    if (!k || !out) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_kernel_warmup: kernel or result is NULL");
    Variant *v = variant_at(k, variant);
    fsc_device *d = k->device;
    if (!v) return status_fail(d, FSC_ERROR_USAGE, "the kernel has no variant %zu", variant);
    fsc_kernel_report o = {0};
    bool pushed = false;
    fsc_status s = d->kind->is_host ? FSC_OK : variant_ready(v);
    if (s != FSC_OK) return s;
    s = device_enter(d, &pushed);
    if (s == FSC_OK) s = d->kind->report(v, &o);
    device_leave(d, pushed);
    if (s == FSC_OK) *out = o;
    return s;
}
