/* needs.c - what compiled code takes of a GPU, and how many of its blocks fit: for `fsc info` and `fsc profile`.
 *
 * In: a card (--gpu's row of published properties, the driver's device, or a card of the arch), a compilation to PTX.
 * Out: registers, shared memory, occupancy.
 * Registers come from the driver where there is one of that arch, else from ptxas -v, else they are an interval from
 * the compiler's own liveness and are called an estimate. --registers and --shared replace them for what-if questions.
 */
#include "tool/info/needs.h"

#include "driver.h"
#include "runtime/device/code.h"

#include <string.h>

/* ---- Which GPU --------------------------------------------------------------------------------------------------- */

static bool gpu_by_name(Needs *r, const ToolOptions *o) {
    const fsc_props *p = fsc_gpu_find(o->gpu);
    if (p) {
        r->gpu = *p;
        return true;
    }
    fprintf(stderr, "%s: no GPU '%s' in the table; known are", tool_name, o->gpu);
    const char *key = NULL;
    for (size_t i = 0; fsc_gpu_at(i, &key); i++) fprintf(stderr, "%s %s", i ? "," : "", key);
    fprintf(stderr, "\n");
    return false;
}

/* The driver's first device, if it has this arch (any, where none was asked for). */
static bool gpu_by_driver(Needs *r, const ToolOptions *o) {
    fsc_device *device = NULL;
    bool found = fsc_device_open("cuda", &device) == FSC_OK && fsc_device_props(device, &r->gpu) == FSC_OK &&
                 (!o->has_arch || arch_is_of(o->compile.arch, r->gpu.arch));
    fsc_device_close(device);
    return found;
}

static bool gpu_by_arch(Needs *r, const ToolOptions *o) {
    const fsc_props *p = card_of_arch(o->compile.arch);
    if (p) r->gpu = *p;
    else fprintf(stderr, "%s: no card of arch %s in the table; name one with --gpu\n", tool_name, o->compile.arch);
    return p != NULL;
}

bool needs_gpu(Needs *r, ToolOptions *o) {
    bool found = o->gpu ? gpu_by_name(r, o) : gpu_by_driver(r, o) || gpu_by_arch(r, o);
    if (found && !o->has_arch) o->compile.arch = arena_printf(o->arena, "%s", target_own(r->gpu.arch));
    return found;
}

/* ---- Registers --------------------------------------------------------------------------------------------------- */

static bool registers_by_driver(Needs *r, const ToolOptions *o, const char *ptx, size_t n) {
    fsc_device *device = NULL;
    fsc_module *module = NULL;
    fsc_kernel *kernel = NULL;
    fsc_props props;
    fsc_kernel_report k;
    bool ok = fsc_device_open("cuda", &device) == FSC_OK && fsc_device_props(device, &props) == FSC_OK &&
              arch_is_of(o->compile.arch, props.arch) && fsc_module_load(device, ptx, n, &module) == FSC_OK &&
              fsc_kernel_create(module, NULL, &kernel) == FSC_OK && fsc_kernel_warmup(kernel, 0, &k) == FSC_OK;
    if (ok) {
        r->registers = r->registers_high = k.registers;
        r->spill_bytes = k.spill_bytes;
        r->registers_from = "driver";
    }
    fsc_kernel_destroy(kernel);
    fsc_module_unload(module);
    fsc_device_close(device);
    return ok;
}

static bool registers_by_ptxas(Needs *r, const ToolOptions *o, const char *ptx, size_t n) {
    Assembled a = {0};
    const Target *t = target_find(o->compile.arch);
    bool ok = assemble_best(t, (Bytes){ptx, n}, o->compile.opt_level, &a) && a.registers;
    if (ok) {
        r->registers = r->registers_high = a.registers;
        r->spill_bytes = a.spill_bytes;
        r->registers_from = "ptxas";
    }
    assembled_free(&a);
    return ok;
}

static void find_registers(Needs *r, const ToolOptions *o, const fsc_compilation *c) {
    size_t n = 0;
    const char *ptx = fsc_compilation_output(c, &n);
    if (o->has_registers) {
        r->registers = r->registers_high = o->registers;
        r->registers_from = "--registers";
    } else if (!registers_by_driver(r, o, ptx, n) && !registers_by_ptxas(r, o, ptx, n)) {
        fsc_compilation_registers(c, &r->registers, &r->registers_high);
        r->registers_from = "estimate";
    }
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

ExitCode needs_find(Needs *r, const ToolOptions *o, const fsc_compilation *c, const RecordLaunch *l) {
    find_registers(r, o, c);
    r->threads = l->threads_per_block;
    r->shared = o->has_shared ? o->shared : l->shared_static + l->shared_dynamic;
    fsc_status s = fsc_occupancy(&r->gpu, r->registers_high, r->threads, r->shared, &r->occupancy);
    if (s == FSC_OK) return EXIT_DONE;
    fprintf(stderr, "%s: %s\n", tool_name, fsc_last_message());
    return (ExitCode)fsc_status_exit_code(s);
}
