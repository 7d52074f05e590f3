/* wgmma.c - matrix instructions of four emulated warps, which go on while the program does.
 *
 * In: what each thread brings: descriptors of both operands, or words of the first one. Out: sums; findings.
 * Method: the 128 threads meet, and the last one to come does the work of all, as in matrix.c. Operands are read where
 * the bits of their descriptors say (PTX ISA, "Matrix descriptor format", "Strides"), not where the compiler has put
 * them. What a thread gets is no sum but a token, a NaN with a number; the sum lies here until a wait has its group. So
 * who takes it before computes NaN, and the next product looks through it. Bytes that were read may not be written
 * until the group's last thread has waited. What threads wrote is seen here if they have passed a proxy fence behind
 * it, and then a barrier; what a bulk copy wrote, if its mbarrier was waited for (shadow.c).
 */
#include "runtime/emu/emu.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 64, STEP = 32 /* elements at most */, COLUMNS = 256, UNIT = 16 /* bytes */ };

/* Of an operand: a step of k is of 32 bytes. */
static uint32_t bytes_of(EmuElement type) {
    return type == EMU_F16 || type == EMU_BF16 ? 2 : 1;
}

static uint32_t step_of(EmuElement type) {
    return 2 * UNIT / bytes_of(type);
}

static Thread *thread_of(EmuThread *t) {
    return (Thread *)t; /* its first member */
}

static Thread *first_of(const Thread *t) {
    return &t->block->threads[t->head.tid / GROUP * GROUP];
}

static void found(const Thread *t, FindingKind kind, int32_t site, uint64_t offset, const char *what) {
    Spot spot = thread_spot(t, site, offset);
    finding_add(t->block->team->launch->findings, kind, &spot, "%s", what);
}

/* ---- Proxies ----------------------------------------------------------------------------------------------------- */

/* By then a fence of the thread was, and behind it a barrier of its block. */
static uint32_t shown_by(const Thread *t) {
    return t->block->barriers != t->fence.barriers ? t->fence.last : t->fence.before;
}

void emu_proxy_fence(EmuThread *thread) {
    Thread *t = thread_of(thread);
    t->fence.before = shown_by(t);
    t->fence.last = ++t->block->team->clock;
    t->fence.barriers = t->block->barriers;
}

bool proxy_is_shown(const Block *b, uint32_t offset) {
    for (uint32_t i = offset; i < offset + UNIT; i++) {
        const Touch *w = &b->cells[i].writer;
        const Thread *by = &b->threads[w->thread % b->team->threads_per_block];
        if (w->owner && !w->is_bulk && shown_by(by) <= w->clock) return false;
    }
    return true;
}

/* ---- Operands ---------------------------------------------------------------------------------------------------- */

typedef struct Descriptor {
    uint32_t start, leading, stride, span; /* bytes */
    bool is_across;
} Descriptor;

static bool decode(uint64_t bits, bool is_across, Descriptor *d) {
    uint32_t mode = (uint32_t)(bits >> 62), base = bits >> 49 & 7;
    *d = (Descriptor){(bits & 0x3fff) * UNIT, (bits >> 16 & 0x3fff) * UNIT, (bits >> 32 & 0x3fff) * UNIT,
                      mode ? 256u >> mode : 0, is_across};
    return mode && !base;
}

/* Of the unit that holds the element of so many bytes at this place along m or n, and along k. */
static uint32_t unit_at(const Descriptor *d, uint32_t bytes, uint32_t place, uint32_t k) {
    uint32_t row = d->span / bytes, at = d->start;
    if (d->is_across) at += place / row * d->leading + place % row * bytes + k / 8 * d->stride + k % 8 * d->span;
    else at += place / 8 * d->stride + place % 8 * d->span + k * bytes;
    at &= ~(uint32_t)(UNIT - 1);
    return at ^ (at >> 7 & (d->span / UNIT - 1)) * UNIT;
}

/* Until this group of these four warps has been waited for, the bytes are read. */
static void note_read(Thread *t, uint32_t offset) {
    Block *b = t->block;
    uint32_t size = b->team->launch->shape->shared_static + b->team->launch->shape->shared_dynamic;
    uint32_t **reads = &b->products[t->head.tid / GROUP];
    if (!*reads) *reads = calloc(size, sizeof **reads);
    if (!*reads) atomic_store(&b->team->launch->out_of_memory, true);
    for (uint32_t i = 0; i < UNIT && *reads; i++) (*reads)[offset + i] = t->sums.groups + 1;
}

void products_begin(Block *b) {
    uint32_t size = b->team->launch->shape->shared_static + b->team->launch->shape->shared_dynamic;
    for (uint32_t i = 0; i < MOST_GROUPS; i++)
        if (b->products[i]) memset(b->products[i], 0, size * sizeof *b->products[i]);
}

bool products_read(const Block *b, uint64_t offset) {
    for (uint32_t i = 0; i < MOST_GROUPS; i++) {
        uint32_t group = b->products[i] ? b->products[i][offset] : 0;
        for (uint32_t k = 0; k < GROUP && group; k++)
            if (b->threads[i * GROUP + k].sums.done < group) return true;
    }
    return false;
}

static bool read_unit(Thread *t, uint32_t offset, unsigned char *out, int32_t site) {
    uint64_t words[2] = {0, 0};
    if (!shared_within(t, offset, UNIT, false, site)) return false;
    shared_access(t, t->block, offset, words, (EmuAccess){.words = 2, .bytes = 8}, SHARED_LOAD, site);
    memcpy(out, words, UNIT);
    if (!t->block->team->launch->checked) return true;
    note_read(t, offset);
    if (proxy_is_shown(t->block, offset)) return true;
    found(t, FINDING_SHARED_PROXY, site, offset,
          "a product reads shared memory that was stored, and no proxy fence and barrier stand in between");
    return false;
}

/* Rows of the operand's other dimension, each of all k. */
static bool read_operand(Thread *t, uint64_t bits, bool is_across, uint32_t n, EmuElement type, double out[][STEP],
                         int32_t site) {
    Descriptor d;
    if (!decode(bits, is_across, &d)) {
        found(t, FINDING_MATRIX, site, 0, "a descriptor says no places that rows of 32 to 128 bytes have");
        return false;
    }
    uint32_t bytes = bytes_of(type), in_unit = UNIT / bytes, step = step_of(type);
    uint32_t units = n * step / in_unit, ks = step / in_unit;
    for (uint32_t u = 0; u < units; u++) {
        unsigned char x[UNIT];
        uint32_t place = is_across ? u / step * in_unit : u / ks, k = is_across ? u % step : u % ks * in_unit;
        if (!read_unit(t, unit_at(&d, bytes, place, k), x, site)) return false;
        for (uint32_t i = 0; i < in_unit; i++) {
            uint16_t element = 0;
            memcpy(&element, x + i * bytes, bytes);
            out[is_across ? place + i : place][is_across ? k : k + i] = element_number(element, type);
        }
    }
    return true;
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

enum { TOKEN = 0x7fe00000, NUMBER = 0x1fffff };

/* The sum that a word stands for; NULL: it is a number. */
static Sum *under_way(const Sums *s, uint64_t word) {
    uint32_t number = (uint32_t)word & NUMBER;
    bool is_token = ((uint32_t)word & ~(uint32_t)NUMBER) == TOKEN && number < s->n;
    return is_token ? &s->at[number] : NULL;
}

static bool add_sum(Thread *t, uint64_t *word) {
    Sums *s = &t->sums;
    if (s->n == s->cap) {
        uint32_t cap = s->cap ? 2 * s->cap : 64;
        Sum *more = cap <= NUMBER ? realloc(s->at, cap * sizeof *more) : NULL;
        if (!more) return false;
        s->at = more, s->cap = cap;
    }
    s->at[s->n] = (Sum){.bits = (uint32_t)*word};
    *word = TOKEN | s->n++;
    s->live++;
    return true;
}

/* Row and column of a thread's register: PTX ISA, "Matrix fragments for wgmma". */
static void place_of(uint32_t thread, uint32_t reg, uint32_t *row, uint32_t *col) {
    uint32_t warp = thread / WARP, lane = thread % WARP;
    *row = warp * 16 + lane / 4 + 8 * (reg / 2 % 2);
    *col = reg / 4 * 8 + lane % 4 * 2 + reg % 2;
}

typedef struct Operands {
    double a[ROWS][STEP], b[COLUMNS][STEP];
} Operands;

/* Of integers the sum's low 32 bits. */
static uint32_t summed(const Operands *o, EmuGroup i, uint32_t row, uint32_t col, uint32_t bits) {
    bool is_integer = i.a == EMU_S8 || i.a == EMU_U8;
    double sum = element_number(bits, is_integer ? EMU_S32 : EMU_F32);
    for (uint32_t k = 0; k < step_of((EmuElement)i.a); k++) sum += o->a[row][k] * o->b[col][k];
    float f = (float)sum;
    if (is_integer) bits = (uint32_t)(int64_t)sum;
    else memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* A register's new sum, or the token that it was begun under. */
static void multiply(Thread *t, uint32_t index, uint32_t reg, EmuGroup i, const Operands *o, int32_t site) {
    if (i.is_first) t->words[reg] = 0;
    Sum *sum = under_way(&t->sums, t->words[reg]);
    uint32_t row, col;
    if (!sum && !t->sums.is_fenced)
        found(t, FINDING_MATRIX, site, 0, "a product takes registers that no fence has put in order before it");
    if (!sum && !add_sum(t, &t->words[reg])) {
        atomic_store(&t->block->team->launch->out_of_memory, true);
        return;
    }
    sum = under_way(&t->sums, t->words[reg]);
    place_of(index, reg, &row, &col);
    sum->bits = summed(o, i, row, col, sum->bits);
    sum->group = t->sums.groups + 1;
}

/* a from the words behind each thread's sums: PTX ISA, "Register fragments for wgmma". */
static bool read_held(const Thread *t, const Thread *g, EmuGroup i, double out[][STEP], int32_t site) {
    enum { WORDS = 4 };
    for (uint32_t k = 0; k < GROUP; k++) {
        uint32_t lane = k % WARP;
        if (!g[k].sums.is_fenced) {
            found(t, FINDING_MATRIX, site, 0, "a product takes registers that no fence has put in order before it");
            return false;
        }
        for (uint32_t e = 0; e < 2 * WORDS; e++) {
            uint32_t w = e / 2, row = k / WARP * 16 + lane / 4 + 8 * (w % 2), at = lane % 4 * 2 + 8 * (w / 2) + e % 2;
            uint16_t bits = (uint16_t)(g[k].words[i.n / 2u + w] >> 16 * (e % 2));
            out[row][at] = element_number(bits, (EmuElement)i.a);
        }
    }
    return true;
}

static bool are_alike(const Thread *g) {
    for (uint32_t i = 1; i < GROUP; i++)
        if (g[i].operands[0] != g[0].operands[0] || g[i].operands[1] != g[0].operands[1]) return false;
    return true;
}

static bool read_first(Thread *t, const Thread *g, EmuGroup i, bool is_held, Operands *o, int32_t site) {
    if (is_held) return read_held(t, g, i, o->a, site);
    return read_operand(t, g->operands[0], i.is_across_a, ROWS, (EmuElement)i.a, o->a, site);
}

static void multiply_all(Thread *t, EmuGroup i, bool is_held, int32_t site) {
    Thread *g = first_of(t);
    Operands *o = malloc(sizeof *o);
    if (!o) atomic_store(&t->block->team->launch->out_of_memory, true);
    else if (!are_alike(g)) found(t, FINDING_MATRIX, site, 0, "threads of one product bring different descriptors");
    else if (read_first(t, g, i, is_held, o, site) &&
             read_operand(t, g->operands[1], i.is_across_b, i.n, (EmuElement)i.b, o->b, site))
        for (uint32_t k = 0; k < GROUP; k++)
            for (uint32_t reg = 0; reg < i.n / 2u; reg++) multiply(&g[k], k, reg, i, o, site);
    free(o);
}

static bool is_last(const Thread *t, uint32_t call) {
    const Thread *g = first_of(t);
    if (t->head.tid / GROUP * GROUP + GROUP > t->block->team->threads_per_block) return false;
    for (uint32_t i = 0; i < GROUP; i++)
        if (&g[i] != t && (g[i].state != THREAD_AT_GROUP || g[i].call != call)) return false;
    return true;
}

/* ---- The primitives ---------------------------------------------------------------------------------------------- */

void emu_wgmma_fence(EmuThread *t) {
    thread_of(t)->sums.is_fenced = true;
}

uint64_t emu_wgmma_at(EmuThread *t, uint32_t offset, uint64_t rest) {
    (void)t;
    return (offset / UNIT & 0x3fff) | rest;
}

static void begin(Thread *t, uint64_t *words, bool is_held, uint32_t what, int32_t site, uint32_t call) {
    t->words = words;
    if (is_last(t, call)) multiply_all(t, emu_group_unpack(what), is_held, site);
    thread_meet(t, THREAD_AT_GROUP, false, site, call);
}

void emu_wgmma(EmuThread *thread, uint64_t *words, uint64_t a, uint64_t b, uint32_t what, int32_t site, uint32_t call) {
    Thread *t = thread_of(thread);
    t->operands[0] = a, t->operands[1] = b;
    begin(t, words, false, what, site, call);
}

void emu_wgmma_held(EmuThread *thread, uint64_t *words, uint64_t b, uint32_t what, int32_t site, uint32_t call) {
    Thread *t = thread_of(thread);
    t->operands[0] = 0, t->operands[1] = b;
    begin(t, words, true, what, site, call);
}

void emu_wgmma_commit(EmuThread *t) {
    thread_of(t)->sums.groups++;
}

void emu_wgmma_wait(EmuThread *thread, uint64_t *words, uint32_t n, uint32_t pending, int32_t site, uint32_t call) {
    Thread *t = thread_of(thread);
    Sums *s = &t->sums;
    uint32_t done = s->groups > pending ? s->groups - pending : 0;
    if (done > s->done) s->done = done;
    for (uint32_t i = 0; i < n; i++) {
        const Sum *sum = under_way(s, words[i]);
        if (!sum || sum->group > s->done) continue;
        words[i] = sum->bits;
        if (--s->live == 0) s->n = 0;
    }
    s->is_fenced = false;
    thread_meet(t, THREAD_AT_WARP, false, site, call);
}
