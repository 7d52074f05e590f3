/* linear.c - linear maps over F2: apply, compose, rank, solve, invert.
 *
 * In: Linear, a matrix stored as columns of at most 64 bits. Out: numbers, masks, new maps.
 * Everything but apply and compose goes through one echelon form: columns enter in order, each reduced by those before
 * it; a column that vanishes is free. Rows are kept under their highest bit, with the columns that they are made of.
 */
#include "layout/layout.h"

typedef struct Echelon {
    uint64_t row[64];  /* row[b] has b as its highest bit, or is 0 */
    uint64_t made[64]; /* row[b] is the XOR of these columns, none of them free */
    uint64_t free;
    uint32_t rank;
} Echelon;

static uint32_t highest_bit(uint64_t x) {
    uint32_t bit = 0;
    while (x >>= 1) bit++;
    return bit;
}

/* y with the highest bit of every row cleared: the least of its coset. `made` gains the columns that were used. */
static uint64_t echelon_reduce(const Echelon *e, uint64_t y, uint64_t *made) {
    for (uint64_t rest = y; rest;) {
        uint32_t bit = highest_bit(rest);
        if (e->row[bit]) {
            y ^= e->row[bit];
            *made ^= e->made[bit];
        }
        rest = y & ((UINT64_C(1) << bit) - 1);
    }
    return y;
}

static Echelon echelon_make(const Linear *m) {
    Echelon e = {0};
    for (uint32_t i = 0; i < m->in; i++) {
        uint64_t made = UINT64_C(1) << i;
        uint64_t row = echelon_reduce(&e, m->column[i], &made);
        if (!row) {
            e.free |= UINT64_C(1) << i;
            continue;
        }
        uint32_t bit = highest_bit(row);
        e.row[bit] = row;
        e.made[bit] = made;
        e.rank++;
    }
    return e;
}

uint64_t linear_apply(const Linear *m, uint64_t x) {
    uint64_t y = 0;
    for (uint32_t i = 0; i < m->in; i++)
        if (x >> i & 1) y ^= m->column[i];
    return y;
}

Linear linear_identity(uint32_t bits) {
    if (bits > 64) bug("linear_identity: %u bits", bits);
    Linear m = {.in = (uint8_t)bits, .out = (uint8_t)bits};
    for (uint32_t i = 0; i < bits; i++) m.column[i] = UINT64_C(1) << i;
    return m;
}

Linear linear_compose(const Linear *outer, const Linear *inner) {
    if (inner->out > outer->in) bug("linear_compose: %u bits into %u", inner->out, outer->in);
    Linear m = {.in = inner->in, .out = outer->out};
    for (uint32_t i = 0; i < m.in; i++) m.column[i] = linear_apply(outer, inner->column[i]);
    return m;
}

uint32_t linear_rank(const Linear *m) {
    return echelon_make(m).rank;
}

uint64_t linear_free(const Linear *m) {
    return echelon_make(m).free;
}

bool linear_solve(const Linear *m, uint64_t y, uint64_t *x) {
    Echelon e = echelon_make(m);
    *x = 0;
    return echelon_reduce(&e, y, x) == 0;
}

bool linear_solve_bits(const Linear *m, uint64_t bits, uint64_t x[64]) {
    Echelon e = echelon_make(m);
    bool all = true;
    for (uint32_t i = 0; i < 64; i++) {
        x[i] = 0;
        if (bits >> i & 1) all &= echelon_reduce(&e, UINT64_C(1) << i, &x[i]) == 0;
    }
    return all;
}

uint64_t linear_least(const Linear *m, uint64_t y) {
    Echelon e = echelon_make(m);
    uint64_t made = 0;
    return echelon_reduce(&e, y, &made);
}

bool linear_invert(const Linear *m, Linear *right) {
    Echelon e = echelon_make(m);
    *right = (Linear){.in = m->out, .out = m->in};
    if (e.rank < m->out) return false;
    for (uint32_t i = 0; i < m->out; i++) echelon_reduce(&e, UINT64_C(1) << i, &right->column[i]);
    return true;
}
