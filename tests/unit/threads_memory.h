/* threads_memory.h - the global memory of threads.h: what is loaded comes of the address; what is stored is kept. */
#ifndef THREADS_MEMORY_H
#define THREADS_MEMORY_H

#include "machine.h"

enum { CELLS = 1 << 14, NOBODY = -1, MANY = -2 };

/* The addresses of the two parameters that are pointers. */
static const int64_t P = INT64_C(1) << 40, Q = INT64_C(1) << 44;

typedef struct Memory {
    int64_t address[CELLS], value[CELLS];
    bool taken[CELLS];
} Memory;

static inline int64_t loaded(int64_t address) {
    Random r = {(uint64_t)address};
    return (int64_t)random_below(&r, 2000) - 1000;
}

static inline void memory_set(Memory *m, int64_t address, int64_t value) {
    Random r = {(uint64_t)address};
    uint32_t i = (uint32_t)random_bits(&r) & (CELLS - 1);
    while (m->taken[i] && m->address[i] != address) i = (i + 1) & (CELLS - 1);
    m->taken[i] = true;
    m->address[i] = address;
    m->value[i] = value;
}

static inline uint32_t memory_differs(const Memory *x, const Memory *y) {
    uint32_t n = 0, cells[2] = {0, 0};
    for (uint32_t i = 0; i < CELLS; i++) {
        cells[0] += x->taken[i];
        cells[1] += y->taken[i];
        if (!x->taken[i]) continue;
        Memory *z = (Memory *)(uintptr_t)y;
        Random r = {(uint64_t)x->address[i]};
        uint32_t k = (uint32_t)random_bits(&r) & (CELLS - 1);
        while (z->taken[k] && z->address[k] != x->address[i]) k = (k + 1) & (CELLS - 1);
        n += !z->taken[k] || z->value[k] != x->value[i];
    }
    return n + (cells[0] > cells[1] ? cells[0] - cells[1] : cells[1] - cells[0]);
}

#endif
