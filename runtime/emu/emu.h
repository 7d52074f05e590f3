/* emu.h - device "emu": the per-thread code of a GPU kernel on fibers of this machine.
 *
 * In: a launch of a variant whose code is an fsc_thread_entry. Out: the same writes to memory as on a GPU, and with
 * checks the findings. Method: a worker per host core takes teams (the block, or cluster of blocks, of a program) from
 * one counter; each thread is a fiber that runs until it must meet others (warp, block, cluster), spins, or ends; the
 * scheduler of the worker lets those go on whose meeting is complete, and reports a meeting that can never be.
 */
#ifndef FSC_EMU_H
#define FSC_EMU_H

#include "runtime/base/hooks.h"
#include "runtime/debug/checks.h"
#include "runtime/debug/counts.h"
#include "runtime/emu/fiber.h"

enum {
    SECTOR = 32 /* bytes that global memory moves at least */,
    WORD = 8 /* bytes, between blocks: value and round */
};

/* ---- What the rest of the runtime calls -------------------------------------------------------------------------- */

typedef struct Emulator Emulator;

Emulator *emulator_create(uint32_t threads); /* host threads; NULL: out of memory */
void emulator_destroy(Emulator *e);
/* Runs all programs of the call, whose grid is not empty; with `checked` what is found goes to the device's findings.
 * FSC_ERROR_CHECK with a message: something was found, or some thread could not go on (seen without checks, too). */
fsc_status emulator_run(Emulator *e, Call *c, bool checked);

/* ---- shadow.c: who touched a cell of memory, and when ------------------------------------------------------------ */

typedef enum TouchKind {
    TOUCH_PLAIN,
    TOUCH_ATOMIC,       /* by programs of the whole GPU */
    TOUCH_ATOMIC_BLOCK, /* among the threads of one block */
} TouchKind;

/* What it did, in the words of a finding. */
typedef enum Deed { DEED_READS, DEED_WRITES, DEED_CHANGES } Deed;

/* One access. Times count barriers that the thread has passed. */
typedef struct Touch {
    uint64_t owner;     /* the program's number from 1; 0: nobody */
    uint32_t thread;    /* within the team: block rank * threads per block + tid */
    uint32_t clock;     /* of the program: how many accesses came before */
    uint32_t warp_time; /* warp barriers */
    uint16_t block_time, cluster_time;
    int32_t site;
    uint8_t atomic; /* TouchKind */
    uint8_t deed;   /* Deed */
    bool publishes; /* a write: who acquires from it knows what the program did before */
    bool is_other;  /* a store of another value than is there */
    bool is_async; /* a store that is there when an mbarrier has counted it */
    bool is_bulk;  /* such a one by a bulk copy: products see it without a fence */
    uint16_t mbarrier; /* that counts the copy, in its block, … */
    uint32_t phase;    /* … in this phase */
} Touch;

typedef struct Snapshot Snapshot;

typedef struct Cell {
    /* the last of each; other_reader by another thread, if it can be by another program */
    Touch writer, reader, other_reader;
    Snapshot *shown; /* what is known to who acquires from the cell, beside the writer itself; NULL: nothing */
    bool is_coming;  /* of shared memory: an asynchronous copy by the writer is on its way here */
} Cell;

typedef struct Thread Thread;

typedef enum Conflict {
    CONFLICT_NONE,
    CONFLICT_PROGRAMS,
    CONFLICT_THREADS,
    CONFLICT_ELEMENTS /* of one store */
} Conflict;

/* Is there an earlier touch of the cell that conflicts with this one? Then *with is it. Notes the touch in the cell. A
 * volatile load never conflicts with another program's store, and atomics not with each other. */
Conflict cell_touch(Cell *cell, const Thread *t, const Touch *now, bool is_store, bool is_volatile, Touch *with);

/* ---- known.c: what programs know of each other ------------------------------------------------------------------- */

/* What a program knows of another: all that it did up to this clock. */
typedef struct Known {
    uint64_t owner;
    uint32_t clock;
} Known;

typedef struct Knowledge {
    Known *at; /* sorted by owner */
    uint32_t n, cap;
} Knowledge;

typedef struct Team Team;

uint32_t knowledge_of(const Knowledge *k, uint64_t owner); /* the clock; 0: nothing */
void team_forget(Team *t); /* another program begins in it */
void cell_learn(const Cell *cell, Team *t, uint64_t owner); /* `owner`, of team t, acquires from the cell */
/* `now` has become the cell's writer instead of `old`. */
void cell_publish(Cell *cell, Team *t, const Touch *old, const Touch *now);
void snapshot_drop(Snapshot *s); /* may be NULL */

/* ---- global.c: global memory ------------------------------------------------------------------------------------- */

typedef struct Launch Launch;
typedef struct Touched Touched;
typedef struct Shadow Shadow; /* of all regions of a launch */

Shadow *shadow_create(const Regions *r, uint64_t limit); /* of its bytes; NULL: out of memory */
bool shadow_is_full(const Shadow *s); /* an access needed more than the limit */
void shadow_destroy(Shadow *s);
void global_access(Thread *t, uint64_t address, uint64_t *data, EmuAccess a, bool is_store, int32_t site);
void global_atomic(Thread *t, uint64_t address, uint64_t *data, EmuAtomic a, int32_t site);

/* atomic.c: does it, for all host threads at once; data as EmuCalls says. True: memory has changed. */
bool atomic_perform(uint64_t address, uint64_t *data, EmuAtomic a);
/* Elements of output contracts that nobody wrote become findings. */
fsc_status global_unwritten(Launch *l);

/* ---- shared.c: shared memory ------------------------------------------------------------------------------------- */

struct Block;

typedef enum SharedAccess { SHARED_LOAD, SHARED_STORE, SHARED_STORE_ASYNC, SHARED_STORE_BULK } SharedAccess;

void shared_access(Thread *t, struct Block *in, uint64_t offset, uint64_t *data, EmuAccess a, SharedAccess how,
                   int32_t site);

bool shared_within(Thread *t, uint64_t offset, uint32_t bytes, bool is_store, int32_t site); /* false: a finding */
/* With checks: a copy to the own block begins (marks its bytes as coming) or has arrived. */
void shared_coming(Thread *t, uint32_t offset, uint32_t bytes, bool is_coming, int32_t site);

/* ---- copy.c: asynchronous copies into shared memory -------------------------------------------------------------- */

/* One on its way. */
typedef struct AsyncCopy {
    uint32_t offset, bytes, group;
    int32_t site;
    uint64_t address; /* in global memory */
    unsigned char data[16];
} AsyncCopy;

typedef struct AsyncCopies {
    AsyncCopy *at;
    uint32_t n, cap;
    uint32_t groups; /* committed so far */
} AsyncCopies;

void copy_begin(Thread *t, uint32_t offset, uint64_t address, uint32_t bytes, uint32_t all, int32_t site);
/* with the wait for all but `pending` groups */
bool copy_arrives(const AsyncCopies *c, const AsyncCopy *copy, uint32_t pending);
void copy_arrive(Thread *t, uint32_t pending);

/* ---- team.c: the threads of a program, scheduled ----------------------------------------------------------------- */

typedef enum ThreadState {
    THREAD_READY,
    THREAD_AT_WARP,    /* waits for the lanes of its warp */
    THREAD_AT_GROUP,   /* for those of its four warps */
    THREAD_AT_BLOCK,   /* for the threads of its block */
    THREAD_AT_CLUSTER, /* for the threads of all blocks of the cluster */
    THREAD_AT_COUNT,   /* for bytes that its block's mbarrier counts */
    THREAD_SPINS,      /* let others go first */
    THREAD_STOPPED, /* for good, in the middle of its program */
    THREAD_ENDED,
} ThreadState;

/* What the blocks of a program of scope grid hand each other. */
typedef struct Word {
    uint32_t round, value, readers; /* readers: threads that have seen it, one a block */
} Word;

/* A register of a sum that products make (wgmma.c): what it is by now, and the last group that adds to it, from 1. */
typedef struct Sum {
    uint32_t bits, group;
} Sum;

typedef struct Sums {
    Sum *at;
    uint32_t n, cap, live; /* live: that no wait has given yet */
    uint32_t groups, done; /* committed, and waited for */
    bool is_fenced;        /* registers are in order before the next product */
} Sums;

/* A thread's proxy fences: the team's clock at the last one, how many barriers of the block were before it, and the
 * clock at the last one with a barrier behind it. */
typedef struct Fence {
    uint32_t last, before;
    uint16_t barriers;
} Fence;

enum { GROUP = 4 * WARP /* threads of a product */, MOST_GROUPS = 8 /* of a block */ };

typedef struct Block Block;
typedef struct CountedWarp CountedWarp;
typedef struct Mbarrier Mbarrier;

/* A box that a bulk store reads. */
typedef struct BulkStore {
    uint64_t map;
    uint64_t places[RECORD_BOXES];
    uint32_t offset, group; /* the group's number, from 0, */
    const Thread *by;       /* of this thread's */
    bool is_read;           /* who overwrites what it read may do so; it may not be in memory yet */
    int32_t site;
} BulkStore;

/* Those of a block that nobody has waited for. */
typedef struct BulkStores {
    BulkStore *at;
    uint32_t n, cap;
} BulkStores;

struct Thread {
    EmuThread head; /* what compiled code sees: the first member */
    Fiber fiber;
    Block *block;
    ThreadState state;
    bool is_barrier;      /* the meeting: a barrier, not a shuffle */
    uint32_t call;        /* its instruction */
    int32_t site;         /* its place */
    uint32_t exchange[2]; /* what the lane shows at a shuffle; in turn, so that one meeting is enough */
    uint32_t turn;
    uint64_t *words;      /* what the lane brings to a matrix instruction and takes from it, … */
    uint32_t row;         /* … and the byte offset of its row */
    uint64_t looked_at; /* the team's progress when it last looked, … */
    uint32_t looks;     /* … how often since, … */
    int32_t look_site;  /* … and where */
    uint64_t prints;    /* begun */
    bool is_idle;       /* its last atomic changed nothing */
    int32_t store_site;    /* of its last store to global memory: the op, … */
    uint32_t store_turns;  /* … the turns of loops by then, … */
    uint32_t store_begins; /* … and the team's clock at that op's first element in this turn */
    struct RecordedProgram *recorded; /* record.c: of its program, if that is recorded, … */
    struct RecordedExtent *outline;   /* … how far its program's accesses reach, … */
    uint32_t step;                    /* … and how many ops it has begun */
    uint16_t bulk;       /* its bulk copy under way is counted by this mbarrier of its block, … */
    uint32_t bulk_phase; /* … in this phase */
    AsyncCopies copies;
    uint32_t store_groups; /* of bulk stores, that it has committed */
    Sums sums;
    Fence fence;
    uint64_t operands[2]; /* descriptors that the thread brings to a product */
    uint32_t request, meetings; /* count.c: where it found its last request, and how often it has met others */
};

struct Block {
    Team *team;
    Thread *threads;
    uint32_t rank;
    uint16_t barriers;       /* passed */
    uint32_t *warp_barriers; /* passed, per warp */
    unsigned char *shared;   /* the launch's shared bytes */
    Cell *cells;             /* one a byte; NULL without checks */
    uint32_t *products[MOST_GROUPS]; /* by four warps, one a byte: the last group that reads it; NULL: none did */
    BulkStores stores;
    Mbarrier *mbarriers;     /* that count in this program, and room for more */
    uint32_t num_mbarriers, cap_mbarriers;
    CountedWarp *counted;    /* one a warp; NULL unless the launch is counted */
    bool has_left;           /* it exchanges no more words with the program's others */
};

struct Team {
    Launch *launch;
    Fiber *home; /* the scheduler that runs it */
    Block *blocks;
    uint32_t num_blocks, threads_per_block;
    void *stacks; /* of all threads */
    uint64_t number; /* the team's index in the launch */
    uint16_t barriers;
    uint32_t clock;  /* accesses so far, of all programs of the team */
    bool is_active;
    uint32_t *learnt; /* mbarrier.c: what each warp knows of each, times of clock; NULL: nothing was counted yet */
    Knowledge known;
    Snapshot *shown; /* of what it knows; NULL: none taken since that changed */
    uint64_t progress; /* changes of memory: a thread that looks again and again in between waits for another program */
    bool is_waiting;
    Word *words;
    uint32_t num_words, turns; /* turns: of the scheduler, while there are words */
    Tally *tallies;            /* of this team, added to the launch's when it is destroyed;
                                * NULL unless the launch is counted */
    fsc_param_counts *params;  /* likewise */
};

/* Everything about the grid that runs. */
struct Launch {
    Call *call;
    EmuEntry *entry;
    const void *const *args;
    const RecordLaunch *shape;
    uint32_t blocks[3]; /* the grid of blocks */
    uint64_t teams;
    atomic_ullong next;     /* the first team that nobody has taken */
    atomic_ullong progress; /* stores and ends: nothing more for long while all spin is a hang */
    bool checked;
    atomic_bool out_of_memory;
    atomic_bool is_ended; /* by an assertion */
    Regions regions; /* with checks */
    Shadow *shadow;
    Findings *findings;
    DebugLog *log;
    const EmuCalls *calls;
    Counts *counts; /* NULL unless the launch is counted */
    Touched *touched; /* likewise */
    struct Recording *recording; /* NULL unless the launch is recorded */
    pthread_mutex_t lock; /* of the counts */
};

typedef enum TeamStep { TEAM_RAN, TEAM_SPUN, TEAM_ENDED } TeamStep;

/* Room for the blocks of a launch; false: out of memory. team_destroy in any case. */
bool team_create(Team *t, Launch *l);
void team_destroy(Team *t);
void team_begin(Team *t, uint64_t number, Fiber *home); /* program `number` of the launch starts in it */
TeamStep team_step(Team *t);                            /* every thread that can run does so once */
void team_hang(Team *t);                                /* it spins and nothing will ever change: a finding; stopped */

uint64_t thread_owner(const Thread *t); /* its program's number from 1 */
uint32_t thread_index(const Thread *t); /* within the team */
void thread_spin(Thread *t);            /* lets others go first, and looks */
void thread_pause(Thread *t);           /* lets others go first */
/* waits there for the others */
void thread_meet(Thread *t, ThreadState where, bool is_barrier, int32_t site, uint32_t call);
/* Its warp holds several programs, and its own is one that the grid does not have: nobody waits for it. */
bool thread_is_beyond(const Thread *t);
void team_progress(Team *t);            /* a thread of it has changed memory, or has ended */

/* ---- words.c: words between blocks ------------------------------------------------------------------------------- */

void words_begin(Team *t); /* another program begins in it */

void emu_grid_store(EmuThread *t, uint32_t word, uint32_t predicate, uint32_t value, uint32_t round, int32_t site);
uint32_t emu_grid_wait(EmuThread *t, uint32_t word, uint32_t predicate, uint32_t round, int32_t site);
void emu_grid_leave(EmuThread *t, uint32_t tid, int32_t site);

/* ---- mbarrier.c: stores that count their bytes ------------------------------------------------------------------- */

void mbarriers_begin(Team *t); /* another program begins in it */
void mbarriers_end(const Team *t); /* all of its threads have ended */
void mbarriers_destroy(Team *t);
void mbarriers_meet(Block *b); /* its threads have met */
bool mbarriers_know(const Team *t, const Touch *old, const Touch *now); /* did now's warp wait for what followed old? */

void emu_mbarrier_init(EmuThread *t, uint32_t mbarrier, uint32_t predicate, uint32_t n, int32_t site);
void emu_mbarrier_expect(EmuThread *t, uint32_t mbarrier, uint32_t predicate, uint32_t bytes, int32_t site);
void emu_turn_init(EmuThread *t, uint32_t word, uint32_t predicate, uint32_t n, int32_t site);
uint32_t emu_turn(EmuThread *t, uint32_t word, uint32_t predicate, uint32_t all, int32_t site);
void emu_mbarrier_wait(EmuThread *t, uint32_t mbarrier, uint32_t parity, int32_t site);
void emu_store_async(EmuThread *t, uint64_t offset, uint32_t mbarrier, uint32_t block, uint32_t predicate,
                       uint64_t *data, uint32_t access, int32_t site);

/* The mbarrier there, of that block; NULL with a finding: it does not count. */
Mbarrier *mbarrier_find(const Thread *t, const Block *in, uint32_t offset, int32_t site);
void mbarrier_begin_bulk(Thread *t, const Mbarrier *m); /* of its block; it counts the thread's copy */
/* So many bytes of the thread's have arrived there. */
void mbarrier_count(Thread *t, Block *in, Mbarrier *m, uint32_t bytes, int32_t site);

/* ---- bulk.c: copies of boxes of global memory, by one thread ----------------------------------------------------- */

/* What a tensor map is on this device. */
typedef struct EmuMap {
    uint64_t base;
    int64_t extents[RECORD_BOXES], strides[RECORD_BOXES]; /* elements, bytes; the fastest first */
    uint32_t rank, element_bytes, box[RECORD_BOXES], swizzle;
} EmuMap;

/* 16 bytes of shared memory that a copy writes. */
typedef struct BulkUnit {
    uint32_t offset;
    uint32_t first, end; /* of its bytes: what is in the map's memory; the others become 0. first == end: none is */
    uint64_t address;    /* of byte `first` */
} BulkUnit;

fsc_status emu_encode_map(const Call *c, uint32_t map, const MapSizes *sizes, TensorMap *out);
uint32_t bulk_bytes(const EmuMap *m); /* of a box */
/* Unit number i of the box at these coordinates. */
BulkUnit bulk_unit(const EmuMap *m, const uint64_t *words, uint32_t offset, uint32_t i);

void emu_bulk_load(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t mbarrier, uint32_t predicate, uint64_t map,
                   int32_t site);
void emu_bulk_store(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t predicate, uint64_t map, int32_t site);
void emu_bulk_commit(EmuThread *t);
void emu_bulk_wait(EmuThread *t, uint32_t is_read);
void stores_end(const Block *b); /* all of its threads have ended */
bool stores_read(const Block *b, uint64_t offset); /* bulk stores that nobody has waited for read the byte */

/* ---- matrix.c: matrix instructions, as EmuCalls has them --------------------------------------------------------- */

void emu_ldmatrix(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t matrices, int32_t site, uint32_t call);
void emu_stmatrix(EmuThread *t, uint64_t *words, uint32_t offset, uint32_t matrices, int32_t site, uint32_t call);
void emu_mma(EmuThread *t, uint64_t *words, uint32_t mma, int32_t site, uint32_t call);

double element_number(uint64_t bits, EmuElement type); /* exact for every type */

/* ---- wgmma.c: those of four warps, as EmuCalls has them ---------------------------------------------------------- */

void products_begin(Block *b);                        /* another program begins in it */
bool products_read(const Block *b, uint64_t offset);  /* products that nobody has waited for read the byte */
/* Has who wrote these 16 bytes shown them to who reads by another proxy? */
bool proxy_is_shown(const Block *b, uint32_t offset);

void emu_wgmma_fence(EmuThread *t);
uint64_t emu_wgmma_at(EmuThread *t, uint32_t offset, uint64_t rest);
void emu_wgmma(EmuThread *t, uint64_t *words, uint64_t a, uint64_t b, uint32_t what, int32_t site, uint32_t call);
void emu_wgmma_held(EmuThread *t, uint64_t *words, uint64_t b, uint32_t what, int32_t site, uint32_t call);
void emu_wgmma_commit(EmuThread *t);
void emu_wgmma_wait(EmuThread *t, uint64_t *words, uint32_t n, uint32_t pending, int32_t site, uint32_t call);
void emu_proxy_fence(EmuThread *t);

extern const EmuCalls emu_calls;

/* ---- touched.c: sectors of global memory, in counted launches ---------------------------------------------------- */

Touched *touched_create(const Regions *r); /* NULL: out of memory */
void touched_destroy(Touched *t);
void touched_add(Touched *t, const Region *r, uint64_t sector, bool reads, bool writes); /* sector: address / SECTOR */
void touched_end(const Touched *t, fsc_param_counts *params); /* by parameter of the record */

/* The calls that count.c and record.c each put their own in front of: WATCHED(f) is f(name) for each. */
#define WATCHED(f)                                                                                                     \
    f(load_global) f(store_global) f(load_shared) f(store_shared) f(store_cluster) f(store_async) f(copy_async)        \
    f(bulk_load) f(bulk_store) f(atomic) f(grid_store) f(grid_wait)                                                    \
    f(shuffle_xor) f(shuffle_lane) f(barrier_warp) f(barrier_block) f(barrier_cluster)
#define WATCH(name) calls.name = name;

/* ---- count.c: what warps access, in counted launches ------------------------------------------------------------- */

EmuCalls count_calls(void); /* emu_calls, each counted first */
bool count_create(Team *t); /* room in the team and its blocks; false: out of memory */
void count_begin(Team *t);  /* another program begins: what the last one left open is counted */
void count_destroy(Team *t); /* adds to the launch's counts */

/* ---- record.c: recorded launches --------------------------------------------------------------------------------- */

EmuCalls record_calls(void); /* emu_calls, each noted first */
bool record_launch(const Launch *l); /* l->recording begins anew; false: out of memory */
void record_begin(Team *t);  /* a program begins */

/* ---- report.c: what findings say --------------------------------------------------------------------------------- */

const char *deed_text(Deed d); /* "reads" */
/* Where a thread stands. */
Spot thread_spot(const Thread *t, int32_t site, uint64_t address);
/* Two touches of `what`, of which one stores and which nothing orders. `owners`: their programs' numbers from 1. */
void report_conflict(const Launch *l, FindingKind kind, const Touch *now, const Touch *old, const uint64_t owners[2],
                     uint64_t address, const char *what);
/* The first thread that waits for one that will not come. */
void report_divergence(const Team *t);
/* No program wrote `missing` of the `all` elements of a parameter; `first` names one. */
void report_unwritten(const Launch *l, uint32_t param, uint64_t missing, uint64_t all, const char *first);

/* approx.c: prims.def's fp32 approximations, and its conversions. */
float emu_ex2(float x), emu_lg2(float x), emu_rcp(float x), emu_rsqrt(float x), emu_sqrt(float x),
    emu_div(float x, float y);
int32_t emu_to_s32(float x), emu_nearest_s32(float x);
uint32_t emu_to_u32(float x), emu_to_e4m3(float x, float y), emu_from_e4m3(uint32_t pair);

#endif
