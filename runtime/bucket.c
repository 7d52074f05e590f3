/* bucket.c - the ranges of an integer argument that variants are compiled for.
 *
 * In: a record before specialisation, the values of a launch. Out: a range around one of them, or none.
 * Method: the upper half of a tile of 2^k places is cut into equal steps, about what a row of vectors over a program's threads
 * holds: an eighth of it, 256 at least, twice that for rows that are not multiples of 16.
 */
#include "runtime/bucket.h"

enum { ALIGNED = 16, FINEST = 256, STEPS = 16 /* of a whole tile */ };

static uint32_t next_power(uint32_t x) {
    uint32_t p = 1;
    while (p < x) p *= 2;
    return p;
}

Bucket bucket_of(uint32_t value) {
    uint32_t tile = next_power(value), half = tile / 2, step = tile / STEPS > FINEST ? tile / STEPS : FINEST;
    if (value % ALIGNED) step *= 2;
    if (step >= tile - half) return (Bucket){half + 1, tile};
    uint32_t below = (value - half - 1) / step * step;
    return (Bucket){half + below + 1, half + below + step};
}

/* Is the constexpr parameter the next power of two of `value`, for a reason that is parameter `index`? */
static bool is_tile_of(const RecordParam *p, const RuleBinding *now, uint32_t index, uint32_t value, const RuleEnv *env) {
    RuleValue v = now->value;
    if (p->kind != RECORD_CONSTEXPR || !p->rule || !rule_uses(p->rule, index)) return false;
    if (!now->known && rule_eval(p->rule, env, &v, NULL, 0) != RULE_OK) return false;
    return !v.is_float && v.i == (int64_t)next_power(value);
}

bool bucket_find(const Record *interface, uint32_t index, const RuleEnv *env, Bucket *out) {
    const RuleBinding *b = &env->values[index];
    if (interface->params[index].kind != RECORD_SCALAR || !b->known || b->value.is_float) return false;
    if (b->value.i < 2 || b->value.i > INT32_MAX / 2) return false;
    for (uint32_t i = 0; i < interface->num_params; i++) {
        if (!is_tile_of(&interface->params[i], &env->values[i], index, (uint32_t)b->value.i, env)) continue;
        *out = bucket_of((uint32_t)b->value.i);
        return true;
    }
    return false;
}
