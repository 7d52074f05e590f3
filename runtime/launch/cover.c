/* cover.c - a call that no variant of an object takes: which --variants would have covered it.
 *
 * In: a call on an object's kernel. Out: a sentence about the first constexpr parameter whose value, as the launch rule
 * gives it for these arguments, is compiled nowhere. Method: the rule is evaluated with the first variant's values; a
 * range where all values are powers of two, else a list.
 */
#include "runtime/device/code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_VALUES = 64 };

typedef struct Values {
    int64_t at[MOST_VALUES]; /* in order, each once */
    size_t count;
} Values;

static bool values_have(const Values *v, int64_t x) {
    for (size_t i = 0; i < v->count; i++) {
        if (v->at[i] == x) return true;
    }
    return false;
}

static void values_add(Values *v, int64_t x) {
    if (values_have(v, x) || v->count == MOST_VALUES) return;
    size_t i = v->count++;
    for (; i > 0 && v->at[i - 1] > x; i--) v->at[i] = v->at[i - 1];
    v->at[i] = x;
}

static bool is_power_of_two(int64_t x) {
    return x > 0 && (x & (x - 1)) == 0;
}

/* "256..2048", or "100, 300" with this between two. */
static char *values_print(const Values *v, const char *between, bool as_range, char *out, size_t size) {
    bool are_powers = as_range && v->count > 1;
    for (size_t i = 0; i < v->count; i++) are_powers &= is_power_of_two(v->at[i]);
    if (are_powers) {
        snprintf(out, size, "%lld..%lld", (long long)v->at[0], (long long)v->at[v->count - 1]);
        return out;
    }
    size_t used = 0;
    *out = '\0';
    for (size_t i = 0; i < v->count && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%lld", i ? between : "", (long long)v->at[i]);
    return out;
}

/* The value of an integer constexpr parameter in each variant. */
static Values compiled_values(const fsc_kernel *k, uint32_t param) {
    Values v = {0};
    const VariantTable *t = kernel_table(k);
    for (size_t i = 0; i < t->count; i++) {
        const RuleBinding *b = &t->at[i]->constants[param];
        if (b->known && rule_is_int(b->value)) values_add(&v, b->value.i);
    }
    return v;
}

/* A parameter that the launch rule decides, with another value than any variant has. */
static bool explain_param(Call *c, uint32_t param, char *out, size_t size) {
    const fsc_kernel *k = c->kernel;
    const RecordParam *p = &c->variant->record->params[param];
    char rule[160], have[200], would[200];
    int64_t wanted = 0;
    bool is_ruled = p->kind == RECORD_CONSTEXPR && p->rule && (p->origin == RECORD_RULE || p->origin == RECORD_DEFAULT);
    if (!is_ruled || rule_eval_int(p->rule, &c->env, &wanted, NULL, 0) != RULE_OK) return false;
    Values v = compiled_values(k, param);
    if (values_have(&v, wanted)) return false;
    values_print(&v, ", ", false, have, sizeof have);
    values_add(&v, wanted);
    values_print(&v, ",", true, would, sizeof would);
    rule_print(p->rule, c->variant->names, c->variant->record->num_params, rule, sizeof rule);
    snprintf(out, size,
             "the launch rule %s = %s gives %lld, and the object has variants for %s: --variants %s=%s would cover it",
             p->name, rule, (long long)wanted, have, p->name, would);
    return true;
}

bool cover_explain(Call *c, char *out, size_t size) {
    call_bind(c, c->table->at[0]);
    for (uint32_t i = 0; i < c->variant->record->num_params; i++) {
        if (explain_param(c, i, out, size)) return true;
    }
    return false;
}
