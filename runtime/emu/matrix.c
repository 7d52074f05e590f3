/* matrix.c - matrix instructions of emulated warps: ldmatrix, stmatrix, mma.
 *
 * In: what each lane brings. Out: what each lane gets; findings of the accesses of shared memory. Method: lanes meet as
 * at a shuffle, and the last one to come does the work of all while the others wait. Where elements lie is written here
 * once more from the PTX ISA ("Matrix fragments for mma"), apart from the compiler's layouts, so that a mistake in
 * either shows. Products and their sum with c are made in double (fp64: by fma along k; integers modulo 2^32) and
 * rounded to c's type once.
 */
#include "runtime/emu/emu.h"

#include <math.h>
#include <string.h>

enum { ROWS = 8, ROW = 16 /* bytes */, MOST_M = 16, MOST_N = 8, MOST_K = 32 };

static Thread *thread_of(EmuThread *t) {
    return (Thread *)t; /* its first member */
}

/* The lanes of its warp. */
static Thread *lanes_of(Thread *t, uint32_t *n) {
    uint32_t first = t->head.tid / WARP * WARP, left = t->block->team->threads_per_block - first;
    *n = left < WARP ? left : WARP;
    return &t->block->threads[first];
}

/* Do all others wait at this call already? A warp that is not whole has no such instructions. */
static bool is_last(Thread *t, uint32_t call) {
    uint32_t n;
    const Thread *lanes = lanes_of(t, &n);
    for (uint32_t i = 0; i < n; i++)
        if (&lanes[i] != t && (lanes[i].state != THREAD_AT_WARP || lanes[i].call != call)) return false;
    return n == WARP;
}

/* ---- Matrices in shared memory ----------------------------------------------------------------------------------- */

typedef unsigned char Matrix[ROWS][ROW];

/* The bytes of a lane's word. */
static unsigned char *byte_of(Matrix m, uint32_t lane, uint32_t i, bool is_transposed) {
    if (is_transposed) return &m[2 * (lane % 4) + i / 2][2 * (lane / 4) + i % 2];
    return &m[lane / 4][4 * (lane % 4) + i];
}

static void access_rows(Thread *lanes, uint32_t first, Matrix m, bool is_store, int32_t site) {
    for (uint32_t r = 0; r < ROWS; r++) {
        uint64_t data[2] = {0, 0};
        Thread *t = &lanes[first + r]; /* whose row it is */
        if (is_store) memcpy(data, m[r], ROW);
        shared_access(t, t->block, t->row, data, (EmuAccess){.words = 2, .bytes = 8},
                      is_store ? SHARED_STORE : SHARED_LOAD, site);
        if (!is_store) memcpy(m[r], data, ROW);
    }
}

static void move_matrices(Thread *lanes, uint32_t what, bool is_store, int32_t site) {
    for (uint32_t k = 0; k < emu_matrices(what); k++) {
        Matrix m;
        if (!is_store) access_rows(lanes, k * ROWS, m, false, site);
        for (uint32_t lane = 0; lane < WARP; lane++) {
            uint64_t *word = &lanes[lane].words[k];
            if (!is_store) *word = 0;
            for (uint32_t i = 0; i < 4; i++) {
                unsigned char *byte = byte_of(m, lane, i, emu_is_transposed(what));
                if (is_store) *byte = (unsigned char)(*word >> 8 * i);
                else *word |= (uint64_t)*byte << 8 * i;
            }
        }
        if (is_store) access_rows(lanes, k * ROWS, m, true, site);
    }
}

static void meet_at_matrices(Thread *t, uint64_t *words, uint32_t offset, uint32_t what, bool is_store, int32_t site,
                             uint32_t call) {
    uint32_t n;
    t->words = words;
    t->row = offset;
    if (is_last(t, call)) move_matrices(lanes_of(t, &n), what, is_store, site);
    thread_meet(t, THREAD_AT_WARP, false, site, call);
}

void emu_ldmatrix(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t matrices, int32_t site, uint32_t call) {
    meet_at_matrices(thread_of(t), words, offset, matrices, false, site, call);
}

void emu_stmatrix(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t matrices, int32_t site, uint32_t call) {
    meet_at_matrices(thread_of(t), words, offset, matrices, true, site, call);
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

/* A float of so many bits of exponent and mantissa; the types of 8 bits with a mantissa of 3 have no infinity,
 * and one NaN. */
static double small_float(uint32_t x, uint32_t exponent_bits, uint32_t mantissa_bits) {
    uint32_t most = (1u << exponent_bits) - 1, exponent = x >> mantissa_bits & most,
             mantissa = x & ((1u << mantissa_bits) - 1);
    int bias = (int)(most >> 1), scale = (int)exponent - bias - (int)mantissa_bits;
    bool is_negative = x >> (exponent_bits + mantissa_bits) & 1, is_finite_only = mantissa_bits == 3;
    double value =
        exponent ? ldexp((double)(mantissa | 1u << mantissa_bits), scale) : ldexp((double)mantissa, scale + 1);
    if (exponent == most && !is_finite_only) value = mantissa ? (double)NAN : (double)INFINITY;
    if (exponent == most && is_finite_only && mantissa == 7) value = (double)NAN;
    return is_negative ? -value : value;
}

static uint32_t bits_of(EmuElement type) {
    switch (type) {
    case EMU_F16:
    case EMU_BF16: return 16;
    case EMU_E4M3:
    case EMU_E5M2:
    case EMU_S8:
    case EMU_U8: return 8;
    case EMU_F64: return 64;
    case EMU_TF32:
    case EMU_F32:
    case EMU_S32: break;
    }
    return 32;
}

double element_number(uint64_t bits, EmuElement type) {
    double wide;
    float f;
    uint32_t x = (uint32_t)bits;
    switch (type) {
    case EMU_F16: return small_float(x & 0xffff, 5, 10);
    case EMU_E4M3: return small_float(x & 0xff, 4, 3);
    case EMU_E5M2: return small_float(x & 0xff, 5, 2);
    case EMU_S8: return (int8_t)x;
    case EMU_U8: return (uint8_t)x;
    case EMU_S32: return (int32_t)x;
    case EMU_F64: memcpy(&wide, &bits, sizeof wide); return wide;
    case EMU_BF16: x <<= 16; break;
    case EMU_TF32: x &= ~UINT32_C(0x1fff); break;
    case EMU_F32: break;
    }
    memcpy(&f, &x, sizeof f);
    return f;
}

static uint64_t bits_from(double x, EmuElement type) {
    uint64_t wide;
    uint32_t bits;
    float f = (float)x;
    memcpy(&wide, &x, sizeof wide);
    memcpy(&bits, &f, sizeof bits);
    return type == EMU_F64 ? wide : bits;
}

typedef struct Product {
    EmuMma i;
    double a[MOST_M][MOST_K], b[MOST_K][MOST_N], c[MOST_M][MOST_N];
} Product;

/* Element e of a lane's fragment of the operand (0: a, 1: b, 2: c) lies at [*row, *col]. */
static void place_of(EmuMma i, uint32_t operand, uint32_t lane, uint32_t e, uint32_t *row, uint32_t *col) {
    EmuElement type = (EmuElement)(operand == 0 ? i.a : i.b);
    uint32_t group = lane / 4, in_group = lane % 4;
    if (operand == 2) {
        *row = group + 8 * (e / 2);
        *col = 2 * in_group + e % 2;
        return;
    }
    uint32_t per_word = bits_of(type) < 32 ? 32 / bits_of(type) : 1, word = e / per_word;
    bool has_halves = operand == 0 && i.m == 16; /* rows 8 to 15 are every second word */
    uint32_t k = in_group * per_word + e % per_word + 4 * per_word * (has_halves ? word / 2 : word);
    *row = operand == 0 ? group + (has_halves ? 8 * (word % 2) : 0) : k;
    *col = operand == 0 ? k : group;
}

static double *element(Product *p, uint32_t operand, uint32_t lane, uint32_t e) {
    uint32_t row, col;
    place_of(p->i, operand, lane, e, &row, &col);
    return operand == 0 ? &p->a[row][col] : operand == 1 ? &p->b[row][col] : &p->c[row][col];
}

/* Elements that a lane has of the operand, and how many are a word. */
static uint32_t elements_of(EmuMma i, uint32_t operand, uint32_t *per_word) {
    uint32_t sizes[3] = {(uint32_t)i.m * i.k, (uint32_t)i.k * i.n, (uint32_t)i.m * i.n},
             bits = bits_of((EmuElement)(operand == 0   ? i.a
                                         : operand == 1 ? i.b
                                                        : i.c));
    *per_word = bits < 32 ? 32 / bits : 1;
    return sizes[operand] / WARP;
}

static void gather(Product *p, const Thread *lanes) {
    const uint8_t types[3] = {p->i.a, p->i.b, p->i.c};
    for (uint32_t operand = 0, first = 0; operand < 3; operand++) {
        uint32_t per_word, n = elements_of(p->i, operand, &per_word), bits = bits_of((EmuElement)types[operand]);
        for (uint32_t lane = 0; lane < WARP; lane++)
            for (uint32_t e = 0; e < n; e++)
                *element(p, operand, lane, e) =
                    element_number(lanes[lane].words[first + e / per_word] >> (e % per_word * (bits & 31)),
                              (EmuElement)types[operand]);
        first += n / per_word;
    }
}

static double summed(const Product *p, uint32_t row, uint32_t col) {
    double sum = p->c[row][col];
    for (uint32_t k = 0; k < p->i.k; k++) sum = fma(p->a[row][k], p->b[k][col], sum);
    if (p->i.c == EMU_S32) sum = (double)(int32_t)(uint32_t)(int64_t)sum;
    return sum;
}

static void multiply(Thread *lanes, EmuMma i) {
    Product p = {.i = i};
    uint32_t per_word, n = elements_of(i, 2, &per_word);
    gather(&p, lanes);
    for (uint32_t lane = 0; lane < WARP; lane++) {
        for (uint32_t e = 0; e < n; e++) {
            uint32_t row, col;
            place_of(i, 2, lane, e, &row, &col);
            double sum = summed(&p, row, col);
            lanes[lane].words[e] = i.c == EMU_S32 ? (uint32_t)(int32_t)sum : bits_from(sum, (EmuElement)i.c);
        }
    }
}

void emu_mma(EmuThread *thread, uint64_t *words, uint32_t mma, int32_t site, uint32_t call) {
    Thread *t = thread_of(thread);
    uint32_t n;
    t->words = words;
    if (is_last(t, call)) multiply(lanes_of(t, &n), emu_mma_unpack(mma));
    thread_meet(t, THREAD_AT_WARP, false, site, call);
}
