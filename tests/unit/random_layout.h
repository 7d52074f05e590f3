/* random_layout.h - seeded random layouts for the property tests, and each layout's own table of elements.
 *
 * In: a seed. Out: surjective layouts of every rank, with and without replication, small enough for brute force.
 * The bases are an invertible matrix (a permutation, or that mixed by random column additions), extra columns that
 * repeat, and a random deal of all columns to register, lane, warp and cta bits.
 */
#ifndef RANDOM_LAYOUT_H
#define RANDOM_LAYOUT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "layout/layout.h"

enum {
    LAYOUTS = 6000,  /* random layouts per property */
    MAX_TILE = 7,    /* log2 of a random tile's elements */
    MAX_OWNERS = 11, /* log2 of a random layout's owners */
};

/* ---- Random numbers ---------------------------------------------------------------------------------------------- */

typedef struct Random {
    uint64_t state;
} Random;

static inline uint64_t random_bits(Random *r) { /* splitmix64 */
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline uint32_t random_below(Random *r, uint32_t n) {
    return (uint32_t)(random_bits(r) % n);
}

static inline void random_shuffle(Random *r, uint32_t *at, uint32_t n) {
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = random_below(r, i), t = at[i - 1];
        at[i - 1] = at[j];
        at[j] = t;
    }
}

/* ---- Random layouts ---------------------------------------------------------------------------------------------- */

static inline Shape random_shape(Random *r) {
    uint8_t log2[SHAPE_RANK] = {0};
    uint32_t rank = random_below(r, SHAPE_RANK + 1);
    for (uint32_t i = random_below(r, MAX_TILE + 1); i > 0 && rank > 0; i--) log2[random_below(r, rank)]++;
    return shape_make(rank, log2);
}

/* How many lane, warp and cta bits; registers[0] gets what `total` leaves. */
static inline void random_threads(Random *r, uint32_t total, uint8_t bits[IN_COUNT]) {
    static const uint32_t most[IN_COUNT] = {0, 5, 3, 2};
    uint32_t left = total;
    for (InDim d = IN_LANE; d < IN_COUNT; d++) {
        uint32_t n = random_below(r, most[d] + 1);
        bits[d] = (uint8_t)(n < left ? n : left);
        left -= bits[d];
    }
    bits[IN_REGISTER] = (uint8_t)left;
}

static inline void random_columns(Random *r, uint32_t tile, uint32_t total, uint32_t *column) {
    for (uint32_t i = 0; i < tile; i++) column[i] = 1u << i;
    if (random_below(r, 2)) {
        for (uint32_t i = 0; i < 3 * tile; i++) {
            uint32_t a = random_below(r, tile), b = random_below(r, tile);
            if (a != b) column[a] ^= column[b];
        }
    }
    bool zeros = random_below(r, 2);
    for (uint32_t i = tile; i < total; i++) column[i] = zeros ? 0 : random_below(r, 1u << tile);
    random_shuffle(r, column, total);
}

static inline Layout random_layout_of(Random *r, Shape s, const uint8_t *bits) {
    uint32_t column[MAX_OWNERS], at = 0, total = 0;
    for (InDim d = 0; d < IN_COUNT; d++) total += bits[d];
    random_columns(r, shape_log2(s), total, column);
    Layout l = {.shape = s};
    for (InDim d = 0; d < IN_COUNT; d++) {
        l.bits[d] = bits[d];
        for (uint32_t i = 0; i < bits[d]; i++) l.basis[d][i] = column[at++];
    }
    return l;
}

static inline const Layout *random_layout(Random *r, Layouts *ls) {
    Shape s = random_shape(r);
    uint8_t bits[IN_COUNT];
    random_threads(r, shape_log2(s) + (random_below(r, 2) ? random_below(r, MAX_OWNERS - MAX_TILE + 1) : 0), bits);
    Layout l = random_layout_of(r, s, bits);
    return layout_intern(ls, &l);
}

/* ---- The table of a layout --------------------------------------------------------------------------------------- */

/* The element of every packed owner, made by adding one column after the other and without a look at layout_apply. */
typedef struct Table {
    uint32_t owners, registers, threads; /* owner = thread * registers + register */
    uint32_t element[1u << MAX_OWNERS];
} Table;

static inline Table table_make(const Layout *l) {
    Table t = {.owners = 1};
    for (InDim d = 0; d < IN_COUNT; d++) {
        for (uint32_t i = 0; i < l->bits[d]; i++) {
            for (uint32_t k = 0; k < t.owners; k++) t.element[t.owners + k] = t.element[k] ^ l->basis[d][i];
            t.owners *= 2;
        }
    }
    t.registers = 1u << l->bits[IN_REGISTER];
    t.threads = t.owners / t.registers;
    return t;
}

/* The element's coordinate, by division. */
static inline uint32_t coord_of(Shape s, uint32_t flat, uint32_t dim) {
    for (uint32_t i = s.rank; i-- > dim + 1;) flat /= 1u << s.log2[i];
    return flat % (1u << s.log2[dim]);
}

/* ---- Failing ----------------------------------------------------------------------------------------------------- */

static inline void require(bool ok, const Layout *l, const char *what) {
    if (ok) return;
    Text t = {0};
    layout_write(l, &t);
    print_error("%s: %s\n", what, t.at);
    text_free(&t);
    fail();
}

#endif
