/* launch.c - launching: a call that was checked goes to its device.
 *
 * In: kernel, grid or none, arguments, stream. Out: a queued launch. Method: call_begin checks and converts;
 * the device's table launches.
 */
#include "runtime/base/process.h"
#include "runtime/device/code.h"

fsc_status call_launch(Call *c, void *stream) {
    if (c->grid[0] == 0 || c->grid[1] == 0 || c->grid[2] == 0) return FSC_OK;
    fsc_status s = variant_ready(c->variant);
    if (s != FSC_OK) return s;
    return c->kernel->device->kind->launch(c, stream);
}

fsc_status fsc_launch(fsc_kernel *k, const int64_t grid[3], const fsc_arg *args, size_t nargs, void *stream) {
    if (!k || (!args && nargs))
        return status_fail(NULL, FSC_ERROR_USAGE, "fsc_launch: the kernel or its arguments are NULL");
    OWN_FLOATS;
    Call c;
    fsc_status s = call_begin(&c, k, grid, args, nargs);
    if (s == FSC_OK) s = call_launch(&c, stream);
    call_end(&c);
    return s;
}

fsc_status fsc_launch_grid(fsc_kernel *k, const fsc_arg *args, size_t nargs, int64_t grid[3], size_t *variant) {
    if (!k || !grid || (!args && nargs))
        return status_fail(NULL, FSC_ERROR_USAGE, "fsc_launch_grid: the kernel, its arguments or the result are NULL");
    OWN_FLOATS;
    Call c;
    fsc_status s = call_begin(&c, k, NULL, args, nargs);
    for (int i = 0; s == FSC_OK && i < 3; i++) grid[i] = c.grid[i];
    for (size_t i = 0; s == FSC_OK && variant && i < fsc_kernel_variants(k); i++) {
        if (fsc_kernel_record(k, i) == c.variant->record) *variant = i;
    }
    call_end(&c);
    return s;
}
