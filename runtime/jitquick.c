/* jitquick.c - a launch through the JIT whose variant is there: found by the short way, without lock, key or allocation.
 *
 * In: arguments. Out: a launch, or "take the long way". Method: of the variants whose assumptions hold (quick.c) the one that
 * is meant assumes all that can be assumed of these arguments, as jitbind.c would: the divisible and the equal to 1, types that
 * the source leaves open, the range of a row's length. What this file does not know for certain goes the long way.
 */
#include "runtime/jit.h"

#include "runtime/bucket.h"
#include "runtime/quick.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNED = 16 /* bytes */ };

static bool uses_arguments(const Record *r, const char *code) {
    for (uint32_t i = 0; code && i < r->num_params; i++)
        if (r->params[i].kind == RECORD_SCALAR && rule_uses(code, i)) return true;
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
    j->ruled = calloc(r->num_params + 1u, sizeof *j->ruled);
    bool rules = (!o->num_warps && uses_arguments(r, r->num_warps)) || (!o->num_stages && uses_arguments(r, r->num_stages)) ||
                 (!o->num_ctas && uses_arguments(r, r->num_ctas));
    j->has_rows = j->props.kind != FSC_CPU && !o->num_ctas && !r->num_ctas && bucket_rows(r, &j->rows);
    j->is_steady = j->ruled && !rules && !o->signature;
    for (size_t i = 0; i < o->num_defines; i++) j->is_steady &= is_of_constexpr(r, o->defines[i].name);
    for (uint32_t i = 0; i < r->num_params && j->ruled; i++)
        if (r->params[i].kind == RECORD_CONSTEXPR && r->params[i].rule) j->ruled[j->num_ruled++] = i;
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

/* The range that a scalar of value i is compiled for in this variant: as bucket_find(), whose rules are settled here. */
static bool range_of(const fsc_jit *j, const Record *r, uint32_t index, int64_t i, uint32_t unit, Bucket *out) {
    if (i < 2 || i > INT32_MAX / 2) return false;
    int64_t tile = (int64_t)1 << (64 - __builtin_clzll((uint64_t)i - 1));
    for (uint32_t k = 0; k < j->num_ruled; k++) {
        const RecordParam *p = &r->params[j->ruled[k]];
        RuleValue v;
        if (!p->rule || !record_value(p, &v) || !rule_is_int(v) || v.i != tile || !rule_uses(p->rule, index)) continue;
        *out = bucket_of((uint32_t)i, unit);
        return true;
    }
    return false;
}

/* The range of the number of programs, where there are few of them and their rows are long. */
static Bucket few_of(const fsc_jit *j, const Call *c, const Variant *v, uint32_t unit) {
    uint32_t longest = 0;
    int64_t rows = 0;
    Bucket range, few = {0, 0};
    for (uint32_t i = 0; i < v->num_slots; i++) {
        if (v->slots[i].param == j->rows && c->args[i].kind == FSC_ARG_INT) rows = c->args[i].u.integer;
    }
    if (rows < 1 || rows >= (int64_t)j->props.sms) return few;
    for (uint32_t i = 0; i < v->num_slots; i++) {
        bool is_long = c->args[i].kind == FSC_ARG_INT && range_of(j, v->record, v->slots[i].param, c->args[i].u.integer, unit, &range);
        if (is_long && range.most > longest) longest = range.most;
    }
    (void)bucket_of_rows(rows, j->props.sms, longest, &few);
    return few;
}

static bool is_all_of_int(const fsc_jit *j, const Variant *v, uint32_t index, int64_t i, uint32_t unit, Bucket few) {
    const RecordParam *p = &v->record->params[index];
    Bucket range = {0, 0};
    bool is_row = j->props.kind != FSC_CPU && range_of(j, v->record, index, i, unit, &range);
    if (!is_row && j->has_rows && index == j->rows) range = few;
    bool is_open = j->interface->params[index].dtype[0] == '\0';
    if (is_open && strcmp(p->dtype, i == (int32_t)i ? "i32" : "i64") != 0) return false;
    return p->least == range.least && p->most == range.most && p->equals_one == (i == 1) &&
           (p->divisible >= unit) == bucket_is_whole(i, unit);
}

/* As jitbind.c has it: each array's type is known here. */
static uint32_t unit_of(const Variant *v) {
    uint32_t unit = BUCKET_NO_UNIT;
    for (uint32_t i = 0; i < v->num_slots; i++) {
        bool is_array = v->record->params[v->slots[i].param].kind == RECORD_POINTER;
        if (is_array) unit = bucket_unit(unit, fsc_dtype_size(v->slots[i].dtype));
    }
    return unit;
}

/* Whether the variant, which fits, assumes all that the JIT would. */
static bool is_meant(void *context, const Call *c, const Variant *v) {
    const fsc_jit *j = context;
    Bucket few = {0, 0};
    uint32_t unit = unit_of(v);
    if (v->module->code.checked || v->module->code.counters) return false;
    if (j->has_rows) few = few_of(j, c, v, unit);
    for (uint32_t i = 0; i < v->num_slots; i++) {
        const Slot *s = &v->slots[i];
        const RecordParam *p = &v->record->params[s->param];
        const FscArg *a = &c->args[i];
        bool ok;
        if (a->kind == FSC_ARG_POINTER) ok = a->dtype == s->dtype && (p->divisible >= ALIGNED) == ((uintptr_t)a->u.pointer % ALIGNED == 0);
        else if (a->kind == FSC_ARG_INT) ok = p->dtype[0] != 'f' && is_all_of_int(j, v, s->param, a->u.integer, unit, few);
        else ok = j->interface->params[s->param].dtype[0] != '\0' || s->dtype == FSC_FP32;
        if (!ok) return false;
    }
    return true;
}

bool jit_quick_launch(fsc_jit *j, const int64_t *grid, const FscArg *args, size_t nargs, void *stream, fsc_status *s) {
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
