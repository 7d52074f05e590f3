/* named.c - launches of the JIT for those who debug. Part of libfsc.
 *
 * In: arguments with names. Out: fsc_launch_checked of the variant that they call for. Method: the source's own
 * parameters are looked at first, so that a wrong call is refused before anything is compiled for it.
 */
#include "runtime/jit/jit.h"

#include "runtime/launch/named.h"

#include <stdlib.h>

static fsc_status prepare_named(fsc_jit *j, const fsc_named_arg *args, size_t nargs, fsc_kernel **out) {
    fsc_arg *plain = calloc(nargs + 1, sizeof *plain);
    if (!plain) return status_memory(j->device);
    for (size_t i = 0; i < nargs; i++) plain[i] = args[i].arg;
    fsc_status s = fsc_jit_prepare(j, plain, nargs, out);
    free(plain);
    return s;
}

fsc_status fsc_jit_launch_checked(fsc_jit *j, const int64_t grid[3], const fsc_named_arg *args, size_t nargs,
                                  void *stream) {
    fsc_kernel *kernel = NULL;
    if (!j || !j->is_usable || (!args && nargs))
        return status_fail(NULL, FSC_ERROR_USAGE,
                           "fsc_jit_launch_checked: the handle is not usable, or the arguments are NULL");
    fsc_status s = named_check(j->device, j->interface, args, nargs);
    if (s == FSC_OK) s = named_check_types(j->device, j->interface, args, nargs);
    if (s != FSC_OK) return jit_fail(j, s, fsc_last_message());
    s = prepare_named(j, args, nargs, &kernel);
    if (s != FSC_OK) return s;
    s = fsc_launch_checked(kernel, grid, args, nargs, stream);
    return s == FSC_OK ? s : jit_fail(j, s, fsc_last_message());
}
