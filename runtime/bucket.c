/* bucket.c - the ranges of an integer argument that variants are compiled for.
 *
 * In: a record before specialisation, the values of a launch. Out: a range around one of them, or none.
 * Method: the upper half of a tile of 2^k places is cut into equal steps, about what a row of vectors over a program's threads
 * holds: a sixteenth of the tile, 256 at least, twice that for rows that are not whole vectors. The steps of
 * these end 16 places early, since a turned row (passes/shift.c) is up to 15 places longer; the last 15 lengths stand alone. Tiles below
 * 1024 are one range, but up to 256 a step of 32 for rows that are not whole vectors: their accesses go one by one, and few lanes have them.
 */
#include "runtime/bucket.h"

#include <stdlib.h>

enum { VECTOR = 16 /* bytes */, ROOM = 16 /* places */, FINEST = 256, LONG = 4096, SHORT = 256, SHORT_STEP = 32 };

static uint32_t next_power(uint32_t x) {
    uint32_t p = 1;
    while (p < x) p *= 2;
    return p;
}

uint32_t bucket_unit(uint32_t so_far, uint32_t bytes) {
    uint32_t own = bytes ? VECTOR / bytes : VECTOR;
    return own > so_far ? own : so_far;
}

bool bucket_is_whole(int64_t value, uint32_t unit) {
    return value % unit == 0 && (value == 0 || value / ROOM != 0);
}

Bucket bucket_of(uint32_t value, uint32_t unit) {
    uint32_t tile = next_power(value), half = tile / 2, step = tile / (tile > LONG ? 16 : 8), room = 0;
    bool is_whole = bucket_is_whole(value, unit), is_short = tile <= SHORT && !is_whole;
    if (tile < 4 * FINEST && !is_short) return (Bucket){half + 1, tile};
    if (step < FINEST) step = is_short ? SHORT_STEP : FINEST;
    if (!is_whole && !is_short) {
        step *= 2;
        room = ROOM;
    }
    uint32_t before = (value + room - half - 1) / step * step, least = half + 1 + before, most = half + before + step;
    least = before ? least - room : least;
    most -= room;
    return (Bucket){least, most < tile ? most : tile};
}

/* Is the constexpr parameter the next power of two of `value`, for a reason that is parameter `index`? */
static bool is_tile_of(const RecordParam *p, const RuleBinding *now, uint32_t index, uint32_t value, const RuleEnv *env) {
    RuleValue v = now->value;
    if (p->kind != RECORD_CONSTEXPR || !p->rule || !rule_uses(p->rule, index)) return false;
    if (!now->known && rule_eval(p->rule, env, &v, NULL, 0) != RULE_OK) return false;
    return rule_is_int(v) && v.i == (int64_t)next_power(value);
}

bool bucket_find(const Record *interface, uint32_t index, const RuleEnv *env, uint32_t unit, Bucket *out) {
    const RuleBinding *b = &env->values[index];
    if (interface->params[index].kind != RECORD_SCALAR || !b->known || b->value.is_float) return false;
    if (b->value.i < 2 || b->value.i > INT32_MAX / 2) return false;
    for (uint32_t i = 0; i < interface->num_params; i++) {
        if (!is_tile_of(&interface->params[i], &env->values[i], index, (uint32_t)b->value.i, env)) continue;
        *out = bucket_of((uint32_t)b->value.i, unit);
        return true;
    }
    return false;
}

/* ---- Few programs -------------------------------------------------------------------------------------------------------------- */

/* LEAST_ROW: shorter rows are one block's, however few they are. FINE_ROW: longer ones may be shared by more blocks than a cluster has, the more the fewer
 * they are; of so few programs, FINE_PROGRAMS, each power of two is a range. */
enum { LEAST_ROW = 8192, FINE_ROW = 32768, FINE_PROGRAMS = 8 };

/* "$4" alone. */
static bool is_parameter(const char *code, uint32_t count, uint32_t *index) {
    char *end = NULL;
    if (code[0] != '$') return false;
    *index = (uint32_t)strtoul(code + 1, &end, 10);
    return *end == '\0' && *index < count;
}

bool bucket_rows(const Record *interface, uint32_t *index) {
    return interface->num_grid == 1 && is_parameter(interface->grid[0], interface->num_params, index) &&
           interface->params[*index].kind == RECORD_SCALAR;
}

bool bucket_of_rows(int64_t rows, uint32_t sms, uint32_t longest, Bucket *out) {
    if (longest <= LEAST_ROW || rows < 1 || rows > (int64_t)sms) return false;
    uint32_t power = next_power((uint32_t)rows);
    *out = (Bucket){1, sms};
    if (longest <= FINE_ROW) return true;
    *out = power <= FINE_PROGRAMS && power <= sms ? (Bucket){power / 2 + 1, power} : (Bucket){FINE_PROGRAMS + 1, sms};
    if (out->least > (uint32_t)rows) *out = (Bucket){1, sms}; /* a device of few multiprocessors */
    return true;
}

bool bucket_few(const Record *interface, const RuleEnv *env, uint32_t sms, uint32_t longest, uint32_t *index, Bucket *out) {
    if (!bucket_rows(interface, index)) return false;
    const RuleBinding *b = &env->values[*index];
    return b->known && !b->value.is_float && bucket_of_rows(b->value.i, sms, longest, out);
}
