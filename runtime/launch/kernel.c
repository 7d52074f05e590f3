/* kernel.c - kernel handles: a table of compiled variants, each made ready for launching; the warm-up report.
 *
 * In: modules and names. Out: variants, reports. Method: what a launch would ask the driver for is asked once here
 * (functions, shared-memory opt-in), so that a launch only checks its arguments and calls.
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
    return true;
}

enum { PORTABLE_CLUSTER = 8, LARGEST_CLUSTER = 16 };

/* "; softmax.dsl:9 takes most of it": the line that a need comes from, if the record has it. */
static const char *line_of(const Variant *v, uint32_t line, const char *does, char *out, size_t size) {
    *out = '\0';
    if (line) snprintf(out, size, "; %.120s:%u %s", v->record->file, line, does);
    return out;
}

/* Whether the device can run this launch at all. */
static fsc_status check_launch(const Variant *v, const RecordLaunch *l) {
    fsc_device *d = v->module->device;
    const FscDeviceProps *p = &d->props;
    char where[200];
    uint64_t shared = (uint64_t)l->shared_static + l->shared_dynamic;
    if (l->threads_per_block == 0 || l->threads_per_block > p->max_threads_per_block)
        return status_fail(d, FSC_ERROR_RESOURCE, "kernel %s has %u threads a block; %s takes 1 to %u%s",
                           v->record->kernel, l->threads_per_block, p->name, p->max_threads_per_block,
                           line_of(v, l->threads_line, "asks for them (num_warps)", where, sizeof where));
    if (shared > p->shared_per_block_optin)
        return status_fail(d, FSC_ERROR_RESOURCE, "kernel %s needs %llu bytes of shared memory a block; %s has %u%s",
                           v->record->kernel, (unsigned long long)shared, p->name, p->shared_per_block_optin,
                           line_of(v, l->shared_line, "takes most of it", where, sizeof where));
    if (l->blocks_per_program > LARGEST_CLUSTER && !l->together)
        return status_fail(d, FSC_ERROR_RESOURCE, "kernel %s has %u blocks a program; %s takes 1 to %d",
                           v->record->kernel, l->blocks_per_program, p->name, LARGEST_CLUSTER);
    if (l->blocks_per_program > 1 && !device_is_host(d) && !cuda.cuLaunchKernelEx)
        return status_fail(d, FSC_ERROR_DRIVER_OLD, "kernel %s needs %s, and the CUDA driver has no cuLaunchKernelEx",
                           v->record->kernel, l->together ? "a cooperative launch" : "clusters");
    return FSC_OK;
}

/* Whether its registers let a block have so many threads: what the driver made of the PTX says. */
static fsc_status check_registers(const Variant *v, const RecordLaunch *l, CUfunction function) {
    fsc_device *d = v->module->device;
    const FscDeviceProps *p = &d->props;
    int most = 0, registers = 0;
    char where[200];
    fsc_status s = CU_FOR(d, v->record->kernel, cuFuncGetAttribute, &most, CU_FUNC_MAX_THREADS_PER_BLOCK, function);
    if (s != FSC_OK || most >= (int)l->threads_per_block) return s;
    s = CU_FOR(d, v->record->kernel, cuFuncGetAttribute, &registers, CU_FUNC_REGISTERS, function);
    if (s != FSC_OK) return s;
    return status_fail(
        d, FSC_ERROR_RESOURCE,
        "kernel %s needs %d registers for each of %u threads a block, %lld in all; %s has %u, enough for %d threads%s",
        v->record->kernel, registers, l->threads_per_block, (long long)registers * l->threads_per_block, p->name,
        p->registers_per_block, most, line_of(v, l->tile_line, "makes the largest tile", where, sizeof where));
}

static fsc_status load_function(Variant *v, uint32_t i) {
    fsc_device *d = v->module->device;
    const RecordLaunch *l = &v->record->launches[i];
    fsc_status s = check_launch(v, l);
    if (s == FSC_OK) s = CU_FOR(d, v->record->kernel, cuModuleGetFunction, &v->functions[i], v->module->cu, l->entry);
    if (s == FSC_OK) s = check_registers(v, l, v->functions[i]);
    if (s == FSC_OK && (uint64_t)l->shared_static + l->shared_dynamic > d->props.shared_per_block)
        s = CU_FOR(d, v->record->kernel, cuFuncSetAttribute, v->functions[i], CU_FUNC_MAX_DYNAMIC_SHARED,
                   (int)l->shared_dynamic);
    if (s == FSC_OK && l->blocks_per_program > PORTABLE_CLUSTER && !l->together)
        s = CU_FOR(d, v->record->kernel, cuFuncSetAttribute, v->functions[i], CU_FUNC_NON_PORTABLE_CLUSTER, 1);
    return s;
}

static fsc_status load_functions(Variant *v) {
    const Record *r = v->record;
    fsc_device *d = v->module->device;
    if (d->props.kind == FSC_CPU) return FSC_OK;
    if (r->num_launches == 0)
        return status_fail(d, FSC_ERROR_RECORD, "the record of kernel %s has no launch", r->kernel);
    if (r->scratch_bytes)
        return status_fail(d, FSC_ERROR_RECORD,
                           "kernel %s wants scratch memory, which this version gives on the CPU only", r->kernel);
    if (d->props.kind == FSC_EMU && r->num_launches > 1)
        return status_fail(d, FSC_ERROR_RECORD, "kernel %s takes %u launches, and the emulator runs kernels of one",
                           r->kernel, r->num_launches);
    if (d->props.kind == FSC_EMU) return check_launch(v, &r->launches[0]);
    if (!v->functions) v->functions = calloc(r->num_launches, sizeof *v->functions);
    if (!v->functions) return status_memory(d);
    bool pushed = false;
    fsc_status s = device_enter(d, &pushed);
    for (uint32_t i = 0; i < r->num_launches && s == FSC_OK; i++) s = load_function(v, i);
    device_leave(d, pushed);
    return s;
}

fsc_status variant_ready(Variant *v) {
    fsc_device *d = v->module->device;
    if (atomic_load_explicit(&v->ready, memory_order_acquire)) return FSC_OK;
    HOLD_FORKS;
    pthread_mutex_lock(&d->loading);
    bool is_ready = atomic_load_explicit(&v->ready, memory_order_relaxed);
    fsc_status s = is_ready ? FSC_OK : module_load_now(v->module);
    if (s == FSC_OK && !is_ready) s = load_functions(v);
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

const struct Record *fsc_kernel_record(const fsc_kernel *k, size_t variant) {
    Variant *v = k ? variant_at(k, variant) : NULL;
    return v ? v->record : NULL;
}

fsc_device *fsc_kernel_device(const fsc_kernel *k) {
    return k ? k->device : NULL;
}

/* ---- Occupancy and the report ------------------------------------------------------------------------------------ */

static fsc_status blocks_per_sm(Variant *v, uint32_t launch, int *blocks) {
    const RecordLaunch *l = &v->record->launches[launch];
    return CU_FOR(v->module->device, v->record->kernel, cuOccupancyMaxActiveBlocksPerMultiprocessor, blocks,
                  v->functions[launch], (int)l->threads_per_block, l->shared_dynamic);
}

fsc_status variant_programs_per_sm(Variant *v, int64_t *programs) {
    fsc_device *d = v->module->device;
    *programs = device_is_host(d) ? 1 : atomic_load_explicit(&v->programs_per_sm, memory_order_relaxed);
    if (*programs) return FSC_OK;
    bool pushed = false;
    int blocks = 0;
    const RecordLaunch *l = &v->record->launches[v->record->num_launches - 1];
    fsc_status s = variant_ready(v);
    if (s != FSC_OK) return s;
    s = device_enter(d, &pushed);
    if (s == FSC_OK) s = blocks_per_sm(v, v->record->num_launches - 1, &blocks);
    device_leave(d, pushed);
    if (s != FSC_OK) return s;
    *programs = (int64_t)blocks * l->programs_per_block / l->blocks_per_program;
    if (*programs < 1) *programs = 1; /* a cluster larger than a multiprocessor's share still runs */
    atomic_store_explicit(&v->programs_per_sm, *programs, memory_order_relaxed);
    return FSC_OK;
}

static fsc_status read_attributes(Variant *v, uint32_t launch, FscKernelReport *o) {
    static const int attributes[] = {CU_FUNC_REGISTERS,    CU_FUNC_LOCAL_BYTES,
                                     CU_FUNC_SHARED_BYTES, CU_FUNC_MAX_THREADS_PER_BLOCK,
                                     CU_FUNC_PTX_VERSION,  CU_FUNC_BINARY_VERSION};
    uint32_t *fields[] = {&o->registers,   &o->spill_bytes,   &o->shared_static, &o->max_threads_per_block,
                          &o->ptx_version, &o->binary_version};
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        int value = 0;
        fsc_status s = CU_FOR(v->module->device, v->record->kernel, cuFuncGetAttribute, &value, attributes[i],
                              v->functions[launch]);
        if (s != FSC_OK) return s;
        *fields[i] = (uint32_t)(value < 0 ? 0 : value);
    }
    return FSC_OK;
}

/* What binds, by our own count: the driver's call tells only how many. */
static FscLimit limit_of(const FscDeviceProps *p, const FscKernelReport *o) {
    FscOccupancy occupancy;
    uint64_t shared = (uint64_t)o->shared_static + o->shared_dynamic;
    if (shared > UINT32_MAX) return FSC_LIMIT_SHARED;
    fsc_status s = fsc_occupancy(p, o->registers, o->threads_per_block, (uint32_t)shared, &occupancy);
    return s == FSC_OK ? occupancy.limit : FSC_LIMIT_NONE;
}

static fsc_status report_cuda(Variant *v, FscKernelReport *o) {
    fsc_device *d = v->module->device;
    uint32_t last = v->record->num_launches - 1;
    const RecordLaunch *l = &v->record->launches[last];
    o->threads_per_block = l->threads_per_block;
    o->shared_dynamic = l->shared_dynamic;
    int blocks = 0;
    fsc_status s = read_attributes(v, last, o);
    if (s == FSC_OK) s = blocks_per_sm(v, last, &blocks);
    if (s != FSC_OK) return s;
    o->blocks_per_sm = (uint32_t)(blocks < 0 ? 0 : blocks);
    o->limit = limit_of(&d->props, o);
    o->resident_blocks = (uint64_t)d->props.sms * o->blocks_per_sm;
    o->resident_programs = o->resident_blocks * l->programs_per_block / l->blocks_per_program;
    if (blocks > 0) return FSC_OK;
    char where[200];
    bool is_shared = o->limit == FSC_LIMIT_SHARED;
    return status_fail(d, FSC_ERROR_RESOURCE,
                       "not one block of kernel %s fits a multiprocessor of %s, which has %u threads, %u registers and "
                       "%u bytes of shared memory: "
                       "%u threads of %u registers, %u bytes of shared memory; what binds is %s%s",
                       v->record->kernel, d->props.name, d->props.max_threads_per_sm, d->props.registers_per_sm,
                       d->props.shared_per_sm, o->threads_per_block, o->registers, o->shared_static + o->shared_dynamic,
                       fsc_limit_name(o->limit),
                       line_of(v, is_shared ? l->shared_line : l->tile_line,
                               is_shared ? "takes most of that" : "makes the largest tile", where, sizeof where));
}

fsc_status fsc_kernel_warmup(fsc_kernel *k, size_t variant, FscKernelReport *out) {
    if (!k || !out) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_kernel_warmup: kernel or result is NULL");
    Variant *v = variant_at(k, variant);
    fsc_device *d = k->device;
    if (!v) return status_fail(d, FSC_ERROR_USAGE, "the kernel has no variant %zu", variant);
    FscKernelReport o = {0};
    if (device_is_host(d)) {
        const RecordLaunch *l = d->props.kind == FSC_EMU ? &v->record->launches[0] : NULL;
        o.threads_per_block = l ? l->threads_per_block : 1;
        o.max_threads_per_block = d->props.max_threads_per_block;
        o.shared_static = l ? l->shared_static : 0;
        o.shared_dynamic = l ? l->shared_dynamic : 0;
        o.resident_blocks = o.resident_programs = d->props.sms;
        *out = o;
        return FSC_OK;
    }
    bool pushed = false;
    fsc_status s = variant_ready(v);
    if (s != FSC_OK) return s;
    s = device_enter(d, &pushed);
    if (s == FSC_OK) s = report_cuda(v, &o);
    device_leave(d, pushed);
    if (s == FSC_OK) *out = o;
    return s;
}
