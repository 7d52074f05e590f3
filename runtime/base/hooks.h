/* hooks.h - what code compiled for the host calls back: the device primitives of emulated threads, and the checks of
 * the CPU target. The one place where compiled code and runtime agree; compiler/codegen/ builds calls by these structs'
 * offsets.
 */
#ifndef FSC_HOOKS_H
#define FSC_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

/* ---- What print and assert show (--device-debug) ----------------------------------------------------------------- */

/* A tile's shape in one word: the rank, then log2 of each size, five bits each. */
enum { DEBUG_RANK = 7 };
static inline uint64_t debug_shape_pack(uint32_t rank, const uint8_t *log2) {
    uint64_t x = rank;
    for (uint32_t d = 0; d < rank; d++) x |= (uint64_t)log2[d] << (3 + 5 * d);
    return x;
}
static inline uint32_t debug_shape_unpack(uint64_t x, uint8_t log2[DEBUG_RANK]) {
    for (uint32_t d = 0; d < DEBUG_RANK; d++) log2[d] = x >> (3 + 5 * d) & 31;
    return x & 7;
}

/* ---- Emulated threads (device "emu") ----------------------------------------------------------------------------- */

typedef struct fsc_emu_thread EmuThread;

/* One memory access: `words` words (1, 2 or 4) of `bytes` bytes (1, 2, 4 or 8) each. */
typedef struct EmuAccess {
    uint8_t words, bytes;
    bool is_volatile;
} EmuAccess;

/* Packed into one operand: words | bytes << 8 | is_volatile << 16. */
static inline uint32_t emu_access_pack(EmuAccess a) {
    return (uint32_t)a.words | (uint32_t)a.bytes << 8 | (uint32_t)a.is_volatile << 16;
}
static inline EmuAccess emu_access_unpack(uint32_t x) {
    return (EmuAccess){x & 255, x >> 8 & 255, x >> 16 & 1};
}

typedef enum EmuAtomicOp {
    EMU_ADD, EMU_FADD, EMU_SMAX, EMU_SMIN, EMU_UMAX, EMU_UMIN, EMU_AND, EMU_OR, EMU_XOR, EMU_XCHG, EMU_CAS,
} EmuAtomicOp;

/* One atomic operation on 2, 4 or 8 bytes. FADD is of fp32 or fp64. */
typedef struct EmuAtomic {
    uint8_t op, bytes;
    bool acquires, releases;
    bool is_block; /* atomic among the threads of one block only */
} EmuAtomic;

static inline uint32_t emu_atomic_pack(EmuAtomic a) {
    return (uint32_t)a.op | (uint32_t)a.bytes << 8 | (uint32_t)a.acquires << 16 | (uint32_t)a.releases << 17 |
           (uint32_t)a.is_block << 18;
}
static inline EmuAtomic emu_atomic_unpack(uint32_t x) {
    return (EmuAtomic){x & 255, x >> 8 & 255, x >> 16 & 1, x >> 17 & 1, x >> 18 & 1};
}

/* Elements of matrices. TF32 is fp32 of which the low 13 bits do not count. */
typedef enum EmuElement {
    EMU_F16,
    EMU_BF16,
    EMU_TF32,
    EMU_E4M3,
    EMU_E5M2,
    EMU_S8,
    EMU_U8,
    EMU_F64,
    EMU_F32,
    EMU_S32
} EmuElement;

/* A matrix instruction: element types of a, b, c, and how many elements: a is m x k, b is k x n,
 * c and the result m x n. */
typedef struct EmuMma {
    uint8_t a, b, c, m, n, k;
} EmuMma;

static inline uint32_t emu_mma_pack(EmuMma i) {
    return i.a | (uint32_t)i.b << 4 | (uint32_t)i.c << 8 | (uint32_t)i.m << 12 | (uint32_t)i.n << 18 |
           (uint32_t)i.k << 24;
}
static inline EmuMma emu_mma_unpack(uint32_t x) {
    return (EmuMma){x & 15, x >> 4 & 15, x >> 8 & 15, x >> 12 & 63, x >> 18 & 63, x >> 24 & 63};
}

/* One of four warps, m64nN, of 32 bytes along k: the types of a and b, N, of which operands the rows lie across k, and
 * whether c counts as 0, whatever it is. */
typedef struct EmuGroup {
    uint8_t a, b;
    uint16_t n;
    bool is_across_a, is_across_b, is_first;
} EmuGroup;

static inline uint32_t emu_group_pack(EmuGroup i) {
    return i.a | (uint32_t)i.n << 4 | (uint32_t)i.is_across_a << 16 | (uint32_t)i.is_across_b << 17 |
           (uint32_t)i.is_first << 18 | (uint32_t)i.b << 19;
}
static inline EmuGroup emu_group_unpack(uint32_t x) {
    return (EmuGroup){x & 15, x >> 19 & 15, (uint16_t)(x >> 4 & 0xfff), x >> 16 & 1, x >> 17 & 1, x >> 18 & 1};
}

/* Matrices of 8 rows of 16 bytes in shared memory: how many, and whether transposed;
 * packed as n | is_transposed << 8. */
static inline uint32_t emu_matrices(uint32_t x) {
    return x & 255;
}
static inline bool emu_is_transposed(uint32_t x) {
    return x >> 8 & 1;
}

/* The emulator's side of each primitive that is no plain field. `data` holds one word per element, zero-extended; a
 * load whose predicate is false, or that is refused, leaves it as it is. Sites index the module's list of places, -1:
 * none. `call` names the call instruction within the kernel: threads that meet must meet at the same one. */
typedef struct EmuCalls {
    void (*load_global)(EmuThread *t, uint64_t address, uint32_t predicate, uint64_t *data, uint32_t access,
                        int32_t site);
    void (*store_global)(EmuThread *t, uint64_t address, uint32_t predicate, uint64_t *data, uint32_t access,
                         int32_t site);
    void (*load_shared)(EmuThread *t, uint64_t offset, uint32_t predicate, uint64_t *data, uint32_t access,
                        int32_t site);
    void (*store_shared)(EmuThread *t, uint64_t offset, uint32_t predicate, uint64_t *data, uint32_t access,
                         int32_t site);
    /* Into the shared memory of that block of the cluster. */
    void (*store_cluster)(EmuThread *t, uint64_t offset, uint32_t block, uint32_t predicate, uint64_t *data,
                          uint32_t access, int32_t site);
    /* The same, and its bytes count at the mbarrier there. One counts from init on; in each phase it is told once how
     * many bytes to expect. */
    void (*store_async)(EmuThread *t, uint64_t offset, uint32_t mbarrier, uint32_t block, uint32_t predicate,
                        uint64_t *data, uint32_t access, int32_t site);
    void (*mbarrier_init)(EmuThread *t, uint32_t mbarrier, uint32_t predicate, uint32_t n, int32_t site);
    void (*mbarrier_expect)(EmuThread *t, uint32_t mbarrier, uint32_t predicate, uint32_t bytes, int32_t site);
    void (*mbarrier_wait)(EmuThread *t, uint32_t mbarrier, uint32_t parity, int32_t site);
    /* Words where threads take turns, `all` of them in each: how many have yet to come, this one among them (0: the
     * predicate is false). */
    void (*turn_init)(EmuThread *t, uint32_t word, uint32_t predicate, uint32_t n, int32_t site);
    uint32_t (*turn)(EmuThread *t, uint32_t word, uint32_t predicate, uint32_t all, int32_t site);
    /* Begins to copy a box of a map's memory to shared memory; its bytes count at the mbarrier. words: the coordinates,
     * fastest first, as signed 32 bits. map: the host's address of what the runtime made of it. */
    void (*bulk_load)(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t mbarrier, uint32_t predicate,
                      uint64_t map, int32_t site);
    /* The other way: a box of shared memory to the map's memory. The thread's since its last commit are a group; wait:
     * all its groups are in memory, or, with is_read, have been read. */
    void (*bulk_store)(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t predicate, uint64_t map, int32_t site);
    void (*bulk_commit)(EmuThread *t);
    void (*bulk_wait)(EmuThread *t, uint32_t is_read);
    /* data: the value, or what is expected and the value; then the word before (0: the predicate is false,
     * or refused). */
    void (*atomic)(EmuThread *t, uint64_t address, uint32_t predicate, uint64_t *data, uint32_t atomic, int32_t site);
    /* Begins to copy `bytes` bytes to shared memory, and zeros behind them up to `all`; what came before commit belongs
     * together; wait lets all arrive but for the last `pending` of these groups. */
    void (*copy_async)(EmuThread *t, uint32_t offset, uint64_t address, uint32_t predicate, uint32_t bytes,
                       uint32_t all, int32_t site);
    void (*copy_commit)(EmuThread *t);
    void (*copy_wait)(EmuThread *t, uint32_t pending);
    uint32_t (*shuffle_xor)(EmuThread *t, uint32_t value, uint32_t mask, int32_t site, uint32_t call);
    uint32_t (*shuffle_lane)(EmuThread *t, uint32_t value, uint32_t lane, int32_t site, uint32_t call);
    /* Lanes bring a word for each value and have their own back: of stmatrix and ldmatrix one of each matrix, of mma
     * those of a, b, c, and then from the first word on those of the result. */
    void (*ldmatrix)(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t matrices, int32_t site, uint32_t call);
    void (*stmatrix)(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t matrices, int32_t site, uint32_t call);
    void (*mma)(EmuThread *t, uint64_t *words, uint32_t mma, int32_t site, uint32_t call);
    /* Threads of four warps: their registers are in order; a descriptor; c (and held words of a behind it), then what
     * the sum is known by until a wait gives it; the products begun are a group; of n words those that are done; what
     * was stored is seen by products. */
    void (*wgmma_fence)(EmuThread *t);
    uint64_t (*wgmma_at)(EmuThread *t, uint32_t offset, uint64_t rest);
    void (*wgmma)(EmuThread *t, uint64_t *words, uint64_t a, uint64_t b, uint32_t group, int32_t site, uint32_t call);
    void (*wgmma_held)(EmuThread *t, uint64_t *words, uint64_t b, uint32_t group, int32_t site, uint32_t call);
    void (*wgmma_commit)(EmuThread *t);
    void (*wgmma_wait)(EmuThread *t, uint64_t *words, uint32_t n, uint32_t pending, int32_t site, uint32_t call);
    void (*proxy_fence)(EmuThread *t);
    void (*barrier_warp)(EmuThread *t, int32_t site, uint32_t call);
    void (*barrier_block)(EmuThread *t, int32_t site, uint32_t call);
    void (*barrier_cluster)(EmuThread *t, int32_t site, uint32_t call);
    /* Words between the blocks of a program of scope grid: this one is `value` of round `round`; its value as soon as
     * it is of that round; the block is done with them. */
    void (*grid_store)(EmuThread *t, uint32_t word, uint32_t predicate, uint32_t value, uint32_t round, int32_t site);
    uint32_t (*grid_wait)(EmuThread *t, uint32_t word, uint32_t predicate, uint32_t round, int32_t site);
    void (*grid_leave)(EmuThread *t, uint32_t tid, int32_t site);
    void (*print_begin)(EmuThread *t);
    /* format: C's of `value` as long long, or as double where it ends in g; NULL: the text alone. */
    void (*print)(EmuThread *t, const char *text, const char *format, uint64_t shape, uint32_t element, uint64_t value);
    /* never returns */
    void (*assertion)(EmuThread *t, const char *text, uint64_t shape, uint32_t element, int32_t site);
    /* Code that records: an op of the function begins; what the thread holds of a value in one of its registers. */
    void (*record_step)(EmuThread *t, uint32_t op);
    void (*record_value)(EmuThread *t, uint32_t value, uint32_t reg, uint64_t bits);
    float (*ex2)(float x);
    float (*lg2)(float x);
    float (*rcp)(float x);
    float (*rsqrt)(float x);
    float (*sqrt)(float x);
    float (*div)(float x, float y);
    int32_t (*to_s32)(float x);
    int32_t (*nearest_s32)(float x);
    uint32_t (*to_u32)(float x);
    uint32_t (*to_e4m3)(float x, float y);
    uint32_t (*from_e4m3)(uint32_t pair);
} EmuCalls;

enum { NO_REGISTER = 0x7fffffff /* of record_value: what is no tile */ };

/* What a thread is, for the code; the emulator keeps more behind it. */
struct fsc_emu_thread {
    const EmuCalls *calls;
    uint32_t tid, ntid;         /* within the block, of how many */
    uint32_t ctaid[3], nctaid[3]; /* of the block within the grid of blocks, and that grid */
    uint32_t rank;              /* of the block within its cluster */
    uint32_t access; /* written by code that counts: which access comes next, its number within the kernel */
    uint32_t turns;  /* of loops so far */
};

/* One thread of a kernel; args[i] points at the value of the i-th run-time parameter, behind them at the maps. */
typedef void EmuEntry(EmuThread *t, const void *const *args);

/* ---- Code that counts (either device) ---------------------------------------------------------------------------- */

typedef enum Count {
#define COUNTED(e, ...) COUNT_##e,
#include "runtime/base/counts.def"
#undef COUNTED
    COUNT_KINDS
} Count;

/* What a basic block holds of one line of the source. How often it ran is counter `block`,
 * a word that the code adds to. */
typedef struct fsc_code_line {
    uint32_t block, line; /* line 0: of no line of the kernel's file */
    uint32_t counts[COUNT_KINDS];
} CodeLine;

/* ---- Checks of the CPU target ------------------------------------------------------------------------------------ */

/* Code compiled with checks asks before every access of an element and leaves the access out where the answer is false.
 * It finds the hook behind its arguments: args[number of run-time parameters]. pid is the program's index. An element
 * that is masked off comes with 0 bytes: the answer is false and nothing is reported. */
typedef struct AccessHook {
    uint32_t (*access)(struct AccessHook *h, const int64_t *pid, uint64_t address, uint32_t bytes, uint32_t is_store,
                       int32_t site);
} AccessHook;

/* Code compiled with --device-debug finds it behind the access hook: args[number of run-time parameters + 1]. Elements
 * of a program come in order. assertion hears of all elements of a chunk in which one is false; then the program
 * ends. */
typedef struct DebugHook {
    void (*print)(struct DebugHook *h, const int64_t *pid, const char *text, const char *format, uint64_t shape,
                  uint64_t element, uint64_t value);
    void (*assertion)(struct DebugHook *h, const int64_t *pid, uint32_t holds, const char *text, uint64_t shape,
                      uint64_t element, int32_t site);
} DebugHook;

#endif
