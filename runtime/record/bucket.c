/* bucket.c - the ranges of an integer argument that variants are compiled for.
 *
 * In: a value of a launch. Out: a range around it, or none.
 * Method: the upper half of a tile of 2^k places is cut into equal steps, about what a row of vectors over a program's
 * threads holds: a sixteenth of the tile, 256 at least, twice that for rows that are not whole vectors. The steps of
 * these end 16 places early, since a rotated row (passes/distribute/rotate.c) is up to 15 places longer; the last 15
 * lengths stand alone. Tiles below 1024 are one range, but up to 256 a step of 32 for rows that are not whole vectors:
 * their accesses go one by one, and few lanes have them.
 */
#include "runtime/record/bucket.h"

enum { VECTOR = 16 /* bytes */, ROOM = 16 /* places */, FINEST = 256, LONG = 4096, SHORT = 256, SHORT_STEP = 32 };

static uint32_t next_power(uint32_t x) {
    uint32_t p = 1;
    while (p < x) p *= 2;
    return p;
}

uint32_t bucket_unit(uint32_t bytes) {
    return bytes ? (uint32_t)VECTOR >> __builtin_ctz(bytes) : (uint32_t)VECTOR; /* of an element: a power of two */
}

bool bucket_is_whole(int64_t value, uint32_t unit) {
    return (value & (int64_t)(unit - 1)) == 0 && (value == 0 || value / ROOM != 0); /* no division: every launch asks */
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

/* ---- Few programs ------------------------------------------------------------------------------------------------ */

/* LEAST_ROW: shorter rows are one block's, however few they are. FINE_ROW: longer ones may be shared by more blocks
 * than a cluster has, the more the fewer they are; of so few programs, FINE_PROGRAMS, each power of two is a range.
 * FINE_PROGRAMS alone are another one, as clusters of 16 blocks for each would not all be on a device of 132
 * multiprocessors at once (docs/lab/few-rows.md). */
enum { LEAST_ROW = 8192, FINE_ROW = 32768, FINE_PROGRAMS = 8 };

bool bucket_of_rows(int64_t rows, uint32_t sms, uint32_t longest, Bucket *out) {
    if (longest <= LEAST_ROW || rows < 1 || rows > (int64_t)sms) return false;
    uint32_t power = next_power((uint32_t)rows);
    *out = (Bucket){1, sms};
    if (longest <= FINE_ROW) return true;
    *out = power <= FINE_PROGRAMS && power <= sms ? (Bucket){power / 2 + 1, power} : (Bucket){FINE_PROGRAMS + 1, sms};
    if (out->most == FINE_PROGRAMS)
        *out = rows == FINE_PROGRAMS ? (Bucket){FINE_PROGRAMS, FINE_PROGRAMS} : (Bucket){out->least, FINE_PROGRAMS - 1};
    if (out->least > (uint32_t)rows) *out = (Bucket){1, sms}; /* a device of few multiprocessors */
    return true;
}
