/* code.c - code on device "cuda": images through the driver, what their kernels need, and how many of their blocks fit.
 *
 * In: PTX, cubins and fatbins whose records are read. Out: functions to launch, reports. Method: what a launch would
 * ask the driver for is asked once here (functions, shared-memory opt-in), so that a launch only checks its arguments
 * and calls.
 */
#include "runtime/cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Images ------------------------------------------------------------------------------------------------------ */

enum { LOG_SIZE = 8192, LOG_SHOWN = 1600 };

/* What the driver said to the image, in one sentence; text: NULL where it is no PTX. */
static fsc_status fail_load(const fsc_module *m, CUresult r, const char *text, const char *log) {
    fsc_device *d = m->device;
    const char *kernel = m->num_records == 1 ? m->records[0]->kernel : NULL;
    fsc_status s = driver_check_for(d, r, "cuModuleLoadDataEx", kernel);
    char error[ERROR_SIZE], why[ERROR_SIZE];
    bool is_old = text && r == CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    snprintf(why, sizeof why, "%s", driver_advice(r));
    if (is_old) ptx_explain(text, d->props.driver_version, why, sizeof why);
    if (!is_old && !*log) return s;
    return status_fail(d, s, "%s: cuModuleLoadDataEx gives %s%s%s; %s%s%.*s", fsc_status_text(s),
                       driver_error(r, error, sizeof error), kernel ? " for kernel " : "", kernel ? kernel : "", why,
                       *log ? "; the driver's log: " : "", LOG_SHOWN, log);
}

static fsc_status load_code(fsc_module *m, const void *image, const char *text) {
    fsc_device *d = m->device;
    char *log = calloc(1, LOG_SIZE);
    if (!log) return status_memory(d);
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE};
    void *values[] = {log, (void *)(uintptr_t)LOG_SIZE};
    CUmodule module = NULL;
    bool pushed = false;
    fsc_status s = device_enter(d, &pushed);
    if (s == FSC_OK) {
        CUresult r = CU_CALL(cuModuleLoadDataEx, &module, image, 2, options, values);
        m->own = module;
        log[LOG_SIZE - 1] = '\0';
        size_t n = strlen(log);
        while (n && (log[n - 1] == '\n' || log[n - 1] == ' ')) log[--n] = '\0';
        if (r != CUDA_SUCCESS) s = fail_load(m, r, text, log);
    }
    device_leave(d, pushed);
    free(log);
    return s;
}

typedef struct Needs {
    int registers, spills; /* of a thread; spills in bytes */
} Needs;

static bool find_needs(CUmodule module, const char *entry, Needs *n) {
    CUfunction f;
    return CU_CALL(cuModuleGetFunction, &f, module, entry) == CUDA_SUCCESS &&
           CU_CALL(cuFuncGetAttribute, &n->registers, CU_FUNC_REGISTERS, f) == CUDA_SUCCESS &&
           CU_CALL(cuFuncGetAttribute, &n->spills, CU_FUNC_LOCAL_BYTES, f) == CUDA_SUCCESS && n->registers > 0;
}

/* The code is replaced where asking for one more block on a multiprocessor pays (residency.c). What fails on the way
 * leaves what is there. */
static void raise_residency(fsc_module *m, const char *text, size_t size) {
    fsc_device *d = m->device;
    const Record *r = m->num_records == 1 ? m->records[0] : NULL;
    const RecordLaunch *l = r && r->num_launches == 1 ? &r->launches[0] : NULL;
    Needs before, after;
    size_t n = 0;
    bool pushed = false;
    if (!l || !l->resident || device_enter(d, &pushed) != FSC_OK) return;
    uint32_t blocks =
        find_needs(m->own, l->entry, &before) ? residency_wanted(&d->props, l, (uint32_t)before.registers) : 0;
    char *asking = blocks ? residency_ask(text, size, blocks, &n) : NULL;
    CUmodule module = NULL;
    if (asking && CU_CALL(cuModuleLoadDataEx, &module, asking, 0, NULL, NULL) == CUDA_SUCCESS) {
        bool pays = find_needs(module, l->entry, &after) &&
                    residency_pays(blocks, (uint32_t)before.spills, (uint32_t)after.spills);
        CU_QUIET(d, cuModuleUnload, pays ? m->own : module);
        if (pays) m->own = module;
    }
    device_leave(d, pushed);
    free(asking);
}

fsc_status cuda_load(fsc_module *m, const void *image, size_t size) {
    if (image_kind(image, size) != IMAGE_TEXT) return load_code(m, image, NULL);
    char *text = malloc(size + 1); /* the driver wants a NUL behind it */
    if (!text) return status_memory(m->device);
    memcpy(text, image, size);
    text[size] = '\0';
    fsc_status s = load_code(m, text, text);
    if (s == FSC_OK) raise_residency(m, text, size);
    free(text);
    return s;
}

void cuda_unload(fsc_module *m) {
    bool pushed = false;
    if (!m->own) return;
    if (device_enter(m->device, &pushed) == FSC_OK) CU_QUIET(m->device, cuModuleUnload, m->own);
    device_leave(m->device, pushed);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

enum { PORTABLE_CLUSTER = 8 };

static CUfunction function_of(const Variant *v, uint32_t launch) {
    return ((CUfunction *)v->functions)[launch];
}

/* Whether its registers let a block have so many threads: what the driver made of the PTX says. */
static fsc_status check_registers(const Variant *v, const RecordLaunch *l, CUfunction function) {
    fsc_device *d = v->module->device;
    const fsc_props *p = &d->props;
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
        p->registers_per_block, most, variant_line(v, l->tile_line, "makes the largest tile", where, sizeof where));
}

static fsc_status load_function(const Variant *v, const RecordLaunch *l, CUfunction *function) {
    fsc_device *d = v->module->device;
    fsc_status s = launch_fits(v, l);
    if (s == FSC_OK && l->scope != SCOPE_BLOCK && !cuda.cuLaunchKernelEx)
        s = status_fail(d, FSC_ERROR_DRIVER_OLD, "kernel %s needs %s, and the CUDA driver has no cuLaunchKernelEx",
                        v->record->kernel, l->scope == SCOPE_GRID ? "a cooperative launch" : "clusters");
    if (s == FSC_OK) s = CU_FOR(d, v->record->kernel, cuModuleGetFunction, function, v->module->own, l->entry);
    if (s == FSC_OK) s = check_registers(v, l, *function);
    if (s == FSC_OK && (uint64_t)l->shared_static + l->shared_dynamic > d->props.shared_per_block)
        s = CU_FOR(d, v->record->kernel, cuFuncSetAttribute, *function, CU_FUNC_MAX_DYNAMIC_SHARED,
                   (int)l->shared_dynamic);
    if (s == FSC_OK && l->scope == SCOPE_CLUSTER && l->blocks_per_program > PORTABLE_CLUSTER)
        s = CU_FOR(d, v->record->kernel, cuFuncSetAttribute, *function, CU_FUNC_NON_PORTABLE_CLUSTER, 1);
    return s;
}

fsc_status cuda_ready(Variant *v) {
    const Record *r = v->record;
    fsc_device *d = v->module->device;
    fsc_status s = variant_check(v);
    if (s != FSC_OK) return s;
    if (!v->functions) v->functions = calloc(r->num_launches, sizeof(CUfunction));
    if (!v->functions) return status_memory(d);
    CUfunction *functions = v->functions;
    bool pushed = false;
    s = device_enter(d, &pushed);
    for (uint32_t i = 0; i < r->num_launches && s == FSC_OK; i++) s = load_function(v, &r->launches[i], &functions[i]);
    device_leave(d, pushed);
    return s;
}

/* ---- Occupancy and the report ------------------------------------------------------------------------------------ */

fsc_status cuda_blocks_per_sm(Variant *v, uint32_t launch, int *blocks) {
    const RecordLaunch *l = &v->record->launches[launch];
    return CU_FOR(v->module->device, v->record->kernel, cuOccupancyMaxActiveBlocksPerMultiprocessor, blocks,
                  function_of(v, launch), (int)l->threads_per_block, l->shared_dynamic);
}

static fsc_status read_attributes(Variant *v, uint32_t launch, fsc_kernel_report *o) {
    static const int attributes[] = {CU_FUNC_REGISTERS,    CU_FUNC_LOCAL_BYTES,
                                     CU_FUNC_SHARED_BYTES, CU_FUNC_MAX_THREADS_PER_BLOCK,
                                     CU_FUNC_PTX_VERSION,  CU_FUNC_BINARY_VERSION};
    uint32_t *fields[] = {&o->registers,   &o->spill_bytes,   &o->shared_static, &o->max_threads_per_block,
                          &o->ptx_version, &o->binary_version};
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        int value = 0;
        fsc_status s = CU_FOR(v->module->device, v->record->kernel, cuFuncGetAttribute, &value, attributes[i],
                              function_of(v, launch));
        if (s != FSC_OK) return s;
        *fields[i] = (uint32_t)(value < 0 ? 0 : value);
    }
    return FSC_OK;
}

/* What binds, by our own count: the driver's call tells only how many. */
static fsc_limit limit_of(const fsc_props *p, const fsc_kernel_report *o) {
    fsc_residency occupancy;
    uint64_t shared = (uint64_t)o->shared_static + o->shared_dynamic;
    if (shared > UINT32_MAX) return FSC_LIMIT_SHARED;
    fsc_status s = fsc_occupancy(p, o->registers, o->threads_per_block, (uint32_t)shared, &occupancy);
    return s == FSC_OK ? occupancy.limit : FSC_LIMIT_NONE;
}

fsc_status cuda_report(Variant *v, fsc_kernel_report *o) {
    fsc_device *d = v->module->device;
    uint32_t last = v->record->num_launches - 1;
    const RecordLaunch *l = &v->record->launches[last];
    o->threads_per_block = l->threads_per_block;
    o->shared_dynamic = l->shared_dynamic;
    int blocks = 0;
    fsc_status s = read_attributes(v, last, o);
    if (s == FSC_OK) s = cuda_blocks_per_sm(v, last, &blocks);
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
                       variant_line(v, is_shared ? l->shared_line : l->tile_line,
                                    is_shared ? "takes most of that" : "makes the largest tile", where, sizeof where));
}
