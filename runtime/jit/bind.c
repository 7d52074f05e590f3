/* bind.c - from the arguments of a launch to its variant's specialisation, key and compile.
 *
 * In: a grid or none, arguments. Out: a Binding; the options of the compile that it calls for. Nothing is compiled.
 */
#include "runtime/jit/jit.h"

#include "runtime/device/device.h"

#include <stdlib.h>
#include <string.h>

bool jit_bind_open(fsc_jit *j) {
    const char **given = calloc(j->interface->num_params + 1u, sizeof *given);
    j->given = given;
    if (!given) return false;
    const SpecGiven g = variant_given(&j->options, j->interface, given);
    bool ok = specialiser_open(&j->specialiser, j->interface, &j->card, &g);
    j->specialiser.takes_maps &= j->device->takes_maps;
    return ok;
}

fsc_status jit_bind(fsc_jit *j, Binding *b, const int64_t *grid, const fsc_arg *args, size_t nargs) {
    const Record *r = j->interface;
    char why[384];
    if (r->num_params > JIT_PARAMS) return jit_fail(j, FSC_ERROR_USAGE, "a kernel may have 256 parameters at most");
    if (j->specialiser.num_arguments != nargs) {
        snprintf(why, sizeof why, "kernel %.200s takes %u run-time arguments (pointers and scalars), not %zu",
                 r->kernel, j->specialiser.num_arguments, nargs);
        return jit_fail(j, FSC_ERROR_ARGUMENT, why);
    }
    b->special.values = b->values;
    b->special.facts = b->facts;
    if (!specialise(&j->specialiser, grid, args, &b->special, why, sizeof why)) return jit_fail(j, FSC_ERROR_RULE, why);
    b->special.launch.maps &= !b->without_maps;
    variant_key(r, &j->card, &b->special, &b->key);
    if (b->special.launch.maps) text_printf(&b->key, "maps ");
    return FSC_OK;
}

fsc_compile_options jit_options(const fsc_jit *j, const Binding *b) {
    fsc_compile_options o = variant_options(b->arena, &j->options, j->interface, &j->card, &b->special);
    o.check = b->checked;
    o.count = b->counted;
    o.record = b->recorded;
    return o;
}
