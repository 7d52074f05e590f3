/* quick.c - a launch through the JIT whose variant is there: found by the short way, without lock, key or allocation.
 *
 * In: arguments. Out: a launch, or "take the long way". Method: of the variants whose assumptions hold (quick.c) the
 * one that is meant assumes of these arguments just what specialise.c says. What this file does not know for certain
 * goes the long way.
 */
#include "runtime/jit/jit.h"

#include "runtime/launch/quick.h"

#include <string.h>

static bool uses_arguments(const Record *r, const char *code) {
    for (uint32_t i = 0; code && i < r->num_params; i++)
        if (r->params[i].kind != RECORD_CONSTEXPR && rule_uses(code, i)) return true;
    return false;
}

/* -D of a constexpr parameter is the same for every variant; that of a scalar, or bounds of one, is not this file's. */
static bool is_of_constexpr(const Record *r, const char *name) {
    for (uint32_t i = 0; i < r->num_params; i++)
        if (r->params[i].kind == RECORD_CONSTEXPR && strcmp(r->params[i].name, name) == 0) return true;
    return false;
}

void jit_quick_open(fsc_jit *j) {
    const Record *r = j->interface;
    const fsc_compile_options *o = &j->options;
    bool rules = (!o->num_warps && uses_arguments(r, r->num_warps)) ||
                 (!o->num_stages && uses_arguments(r, r->num_stages)) ||
                 (!o->num_ctas && uses_arguments(r, r->num_ctas));
    if (r->tuned_line && *r->tuned_line != '-') rules = false; /* launches compare them */
    j->is_steady = !rules && !o->signature;
    for (size_t i = 0; i < o->num_defines; i++) j->is_steady &= is_of_constexpr(r, o->defines[i].name);
}

void jit_quick_add(fsc_jit *j, fsc_kernel *kernel) {
    fsc_module *m = kernel_table(kernel)->at[0]->module;
    fsc_kernel *all = j->all;
    if (!j->is_steady) return;
    if (all) {
        (void)fsc_kernel_add_variant(all, m, NULL); /* without it launches take the long way */
    } else if (fsc_kernel_create(m, NULL, &all) == FSC_OK) {
        j->all = all;
    }
}

static bool is_watched(const Variant *v) {
    return v->module->code.checked || v->module->code.counters;
}

/* `maps`: as if it were compiled so. */
static bool says_the_launch(const fsc_jit *j, const Call *c, const Variant *v, bool maps) {
    const SpecVariant compiled = {v->record, v->slots, v->num_slots, v->constants, maps};
    return !is_watched(v) && specialise_is(&j->specialiser, &compiled, c->grid, c->args);
}

/* Is there a variant with maps that is meant, whose maps cannot be made? Then one without them is. */
static bool lacks_maps(const fsc_jit *j, Call *c) {
    for (size_t i = 0; i < c->table->count; i++) {
        const Variant *v = c->table->at[i];
        if (v->record->num_maps && says_the_launch(j, c, v, true) && !quick_maps_fit(c, v)) return true;
    }
    return false;
}

/* Whether the variant, which fits, is the one that the JIT would compile. */
static bool is_meant(void *context, Call *c, const Variant *v) {
    const fsc_jit *j = context;
    if (says_the_launch(j, c, v, v->module->maps)) return true;
    return !v->module->maps && says_the_launch(j, c, v, true) && lacks_maps(j, c);
}

bool jit_quick_launch(fsc_jit *j, const int64_t *grid, const fsc_arg *args, size_t nargs, void *stream, fsc_status *s) {
    Call c;
    c.kernel = atomic_load_explicit(&j->all, memory_order_acquire);
    if (!c.kernel) return false;
    c.table = kernel_table(c.kernel);
    c.args = args;
    c.nargs = nargs;
    c.heap = NULL;
    Variant *last = atomic_load_explicit(&j->last, memory_order_acquire);
    c.variant = last;
    if (!call_quick(&c, grid, is_meant, j)) return false;
    if (c.variant != last) atomic_store_explicit(&j->last, c.variant, memory_order_release);
    *s = call_launch(&c, stream);
    return true;
}
