/* atomic.c - atomic operations of emulated threads on real memory.
 *
 * In: an aligned address and operands. Out: the word before, and the new one in its place.
 * Method: one loop of C's compare-and-exchange for every operation, so that programs on other host threads meet it.
 */
#include "runtime/emu/emu.h"

#include <string.h>

/* Sign extended from its bytes. */
static int64_t as_signed(uint64_t x, uint32_t bytes) {
    uint32_t up = 64 - 8 * bytes;
    return (int64_t)(x << up) >> up;
}

static uint64_t add_floats(uint64_t x, uint64_t y, uint32_t bytes) {
    if (bytes == 8) {
        double a, b;
        memcpy(&a, &x, 8);
        memcpy(&b, &y, 8);
        a += b;
        memcpy(&x, &a, 8);
        return x;
    }
    uint32_t xs = (uint32_t)x, ys = (uint32_t)y;
    float a, b;
    memcpy(&a, &xs, 4);
    memcpy(&b, &ys, 4);
    a += b;
    memcpy(&xs, &a, 4);
    return xs;
}

static uint64_t applied(EmuAtomic a, uint64_t old, const uint64_t *data) {
    uint64_t x = data[0];
    bool is_less = as_signed(old, a.bytes) < as_signed(x, a.bytes);
    switch ((EmuAtomicOp)a.op) {
    case EMU_ADD: return old + x;
    case EMU_FADD: return add_floats(old, x, a.bytes);
    case EMU_SMAX: return is_less ? x : old;
    case EMU_SMIN: return is_less ? old : x;
    case EMU_UMAX: return old < x ? x : old;
    case EMU_UMIN: return old < x ? old : x;
    case EMU_AND: return old & x;
    case EMU_OR: return old | x;
    case EMU_XOR: return old ^ x;
    case EMU_XCHG: return x;
    case EMU_CAS: return old == x ? data[1] : old;
    }
    return old;
}

bool atomic_perform(uint64_t address, uint64_t *data, EmuAtomic a) {
    void *at = (void *)(uintptr_t)address;
    _Atomic(uint16_t) *at2 = at;
    _Atomic(uint32_t) *at4 = at;
    _Atomic(uint64_t) *at8 = at;
    uint64_t old, next;
    uint32_t old4;
    uint16_t old2;
    bool done = false;
    do {
        old = a.bytes == 8 ? atomic_load(at8) : a.bytes == 4 ? atomic_load(at4) : atomic_load(at2);
        next = applied(a, old, data);
        old4 = (uint32_t)old;
        old2 = (uint16_t)old;
        done = a.bytes == 8   ? atomic_compare_exchange_strong(at8, &old, next)
               : a.bytes == 4 ? atomic_compare_exchange_strong(at4, &old4, (uint32_t)next)
                              : atomic_compare_exchange_strong(at2, &old2, (uint16_t)next);
    } while (!done);
    data[0] = old;
    uint64_t mask = a.bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * a.bytes) - 1;
    return ((next ^ old) & mask) != 0;
}
