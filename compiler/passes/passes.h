/* passes.h - the pass pipeline over the tile IR, and the facts that passes and code generators ask for.
 *
 * A pass is one file and one function `void pass_<name>(Func *f, PassContext *c)`. It leaves f sound. passes.def is the
 * pipeline in order. The runner prints, verifies and round-trips after each pass.
 */
#ifndef FSC_PASSES_H
#define FSC_PASSES_H

#include "ir/ir.h"
#include "base/target.h"

typedef struct PassContext {
    Arena *scratch;       /* of the pass that runs: empty when it begins, gone behind it */
    Diag *diag;           /* errors a pass finds in the user's program (too much shared memory, …) */
    const Target *target;
    /* Of the launch: */
    bool few_programs;      /* no more than multiprocessors */
    bool overlap;           /* it may begin before those ahead have ended */
    uint32_t grid_blocks;   /* blocks that a program may have all over the device; 1: one */
    bool clusters_wait;     /* so many of the largest clusters, a block to a multiprocessor, are not on it at once */
    uint32_t most_programs; /* there are no more; 0: not said */
    bool for_gpu;         /* walk the GPU rows too */
    bool to_code;         /* a back end takes the result: a list must leave nothing undone that it needs */
    int opt_level;        /* 0..3 */
    bool maps;            /* launches can tell the card how memory lies: bulk copies */
    bool remarks;         /* of performance: what a pass was asked for and did not do */
    bool verify_each;     /* verify and round trip through text after each pass; a failure is bug()
                           * with pass and function */
    const char *print_after; /* NULL, a pass's name or "all": dumps headed *** IR Dump After PASS on FN ***; "changed":
                              * of each pass that changed something the lines, headed *** IR Diff After … */
    const char *only;     /* comma-separated passes to run instead of the pipeline (--passes), or with "-" before each
                           * those to leave out of it; NULL: the pipeline */
    Text *dumps;          /* where print_after writes */
    void (*timer)(void *context, const char *pass, double seconds); /* may be NULL */
    void *timer_context;
    Text read_back;       /* of passes_run: the text that went the round last */
} PassContext;

/* Runs the pipeline. False if a pass reported an error in c->diag. */
bool passes_run(Func *f, PassContext *c);
bool pass_exists(const char *name);
/* Are the names of such a list passes'? Those that are not are errors. */
bool passes_known(Diag *d, const char *list);
typedef struct PassInfo {
    const char *name, *where, *why;
    int level; /* the lowest -O at which it runs */
} PassInfo;

/* The rows of passes.def in order. */
const PassInfo *pass_table(uint32_t *count);
/* The names in order, for messages and completion. */
const char *const *pass_names(uint32_t *count);

/* These run twice. */
#define pass_fold2 pass_fold
#define pass_cse2 pass_cse
#define pass_dce2 pass_dce
#define PASS(name, ...) void pass_##name(Func *f, PassContext *c);
#include "passes/passes.def"
#undef PASS

/* ---- Facts: what is proven of every value ------------------------------------------------------------------------ */

/* Along each axis of a tile (index 0 for a scalar):
 *   contiguous  the tile splits into aligned runs of this many elements (a power of two), each run counting up by one
 *               (pointers: by one element)
 *   constant    likewise runs of equal elements
 *   divisible   the first element of each contiguous run (every element, where contiguous is 1) is a multiple of this
 *               (pointers: the address in bytes); a power of two, 2^30 at most
 * and for integers the range [lo, hi] of every element, as signed numbers. */
typedef struct Fact {
    uint32_t contiguous[SHAPE_RANK], constant[SHAPE_RANK];
    uint32_t divisible[SHAPE_RANK];
    int64_t lo, hi;
    bool prefix[SHAPE_RANK]; /* an i1 tile: along this axis true … true false … false within every aligned run of
                              * `contiguous` elements of the compared index */
} Fact;

/* Signed numbers, both inclusive (analysis/range.c). */
typedef struct Range {
    int64_t lo, hi;
} Range;

Range range_full(DType d); /* all numbers of an integer type; of other types all of 64 bits */
/* The range of an elementwise integer op's result from those of its operands. */
Range range_of(const Op *op, const Range *args);

typedef struct Facts Facts;

Facts *facts_compute(const Func *f, Arena *scratch);
const Fact *fact_of(const Facts *facts, const Value *v);
/* log2 of the widest access (elements) that pointer tile `ptr` allows along axis `axis`: contiguity, divisibility and
 * max_bytes together. */
uint32_t facts_vector(const Facts *facts, const Value *ptr, uint32_t axis, uint32_t max_bytes);
/* How a mask behaves within aligned vectors of 2^vec_log2 elements along `axis`. */
MaskKind facts_mask(const Facts *facts, const Value *mask, uint32_t axis, uint32_t vec_log2);

/* log2 of how many aligned elements along `axis` have one value. */
uint32_t facts_run(const Facts *facts, const Value *v, uint32_t axis);

/* How many elements along `axis` the mask may let through: all that it is true of lie below this coordinate. The axis's
 * size where nothing is known. */
uint64_t facts_live(const Facts *facts, const Value *mask, uint32_t axis);

/* ---- What the user should know ----------------------------------------------------------------------------------- */

struct fsc_record;
/* Warnings about a function as the checker left it; the record (NULL: there is none) has the contracts. */
void lint_function(Func *f, const struct fsc_record *r, Diag *d);
/* The op that exchanges most bytes through shared memory, and the first that makes a tile as large as any;
 * f's own place: none. */
typedef struct FuncLargest {
    Span shared, tile;
} FuncLargest;
FuncLargest func_largest(const Func *f);
/* Remarks of performance about a function behind the pipeline for GPUs. */
void remark_function(const Func *f, const Target *t, Diag *d);

/* ---- Choice of distribution -------------------------------------------------------------------------------------- */

/* num_warps and blocks_per_program, where the source does not say, by what the masks leave of the largest tile
 * (distribute.c holds the one table). */
void distribute_program(Func *f, const Facts *facts, const PassContext *c);

#endif
