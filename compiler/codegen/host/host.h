/* host.h - the CPU target's inside: one kernel under construction.
 *
 * A scalar of the IR is an LLVM value. A tile is either lazy - recomputed, chunk by chunk, inside the loop of whoever
 * needs it - or stored in a buffer of the program's scratch memory (plan.c decides). A chunk is `width` neighbours
 * along the flat element index, one LLVM vector (or one scalar where width is 1), that never crosses a row.
 */
#ifndef FSC_CODEGEN_HOST_H
#define FSC_CODEGEN_HOST_H

#include "codegen/llvm.h"
#include "codegen/math.h"
#include "passes/passes.h"

enum {
    HOST_WIDTH = 32,    /* lanes of a chunk at most */
    HOST_REGISTER = 64, /* bytes of the longest, which AVX-512 has */
    HOST_NEXT_ROW = 1 << 17, /* bytes: of a row up to this, the next one is asked for: the second cache has both */
};

/* Ops that share a loop over one shape: loads, stores, reductions along rows; and the lazy tiles that it keeps. */
typedef struct Group {
    Shape shape;
    const Op *last; /* where the loop stands */
    VEC(const Op *) ops;
    VEC(const Value *) kept;
    VEC(const Op *) ahead; /* loads of which it asks for what comes next */
    const Value *ends; /* the mask that ends its rows: behind the first chunk that it leaves out; or NULL */
    bool loads, stores;
} Group;

typedef struct Host {
    Llvm *m;
    const Processor *processor;
    Math math;
    const Func *f;
    const Facts *facts;
    Arena *arena;
    LLVMValueRef function, args, pid, nprog, scratch;
    LLVMValueRef *scalars; /* by value id */
    LLVMValueRef *memo;    /* by value id: the chunk of a tile computed last … */
    uint32_t *stamps;      /* … and the stamp of that chunk */
    uint32_t stamp;
    int64_t *buffers;      /* by value id: byte offset into scratch, -1 where the tile is lazy or the value a scalar */
    LLVMValueRef programs; /* of the grid, i64; NULL where stores have no way past the caches */
    uint64_t scratch_bytes;
    Group **groups;        /* by op id; NULL: of none */
    const Group **keepers; /* by value id: the group that computes and stores the lazy tile, or NULL */
    const Group *now;      /* whose loop is being built, or NULL */
    uint32_t vector_bytes; /* of the target's registers */
    uint32_t width;        /* most lanes of a chunk: two registers of fp32, at most HOST_WIDTH */
} Host;

/* Where a chunk lies: the flat index of its first element, within a tile of `shape`. */
typedef struct Chunk {
    Shape shape;
    LLVMValueRef index; /* i64 */
    uint32_t width;
    uint32_t stamp; /* which entries of Host.memo are this chunk's */
} Chunk;

/* plan.c: which ops share a loop, which tiles get buffers, and where. */
void host_plan(Host *h);
bool host_is_lazy(const Op *op); /* computed in the loops that need it, and maybe kept by the first of them */
/* ends.c: which of its loops end where their rows end. */
void host_ends(Host *h);

/* tile.c */
uint32_t host_inner(Shape s);                  /* elements along the innermost dimension that is not 1 (1: all are) */
uint32_t host_width(const Host *h, Shape s);   /* lanes of a chunk of such a tile */
bool host_is_prefix(const Host *h, const Value *mask, Shape s, uint32_t run); /* true, then false, in each such run */
bool host_runs_along(Shape from, Shape to);    /* has `from` the dimension that chunks of `to` run along? */
LLVMTypeRef host_type(const Host *h, DType d, uint32_t width);
Chunk host_chunk(Host *h, Shape s, LLVMValueRef index, uint32_t width);
LLVMValueRef host_eval(Host *h, Chunk *c, const Value *v); /* the tile's elements in the chunk */
void host_remember(Host *h, const Chunk *c, const Value *v, LLVMValueRef x); /* that these are the tile's elements */
LLVMValueRef host_scalar(Host *h, const Value *v);
LLVMValueRef host_compute(Host *h, Chunk *c, const Op *op); /* likewise, of the result of a lazy op */

/* shape.c: elements that change their places */
bool host_crosses(const Host *h, const Value *v, uint32_t width); /* can a chunk cross v's rows? */
bool host_takes_lanes(const Host *h, const Op *op); /* would a chunk of the result take the first operand lane by
                                                     * lane? */
/* does an element of the lazy v need others than its own place? */
bool host_reads_elsewhere(const Host *h, const Value *v);
LLVMValueRef host_move(Host *h, Chunk *c, const Op *op); /* reshape, trans, split */
LLVMValueRef host_join(Host *h, const Chunk *c, const Op *op);
LLVMValueRef host_flip(Host *h, const Chunk *c, const Op *op);
LLVMValueRef host_gather(Host *h, Chunk *c, const Op *op);

/* A counted loop from 0 to `count` in steps of `step`; between the two calls the builder is in its body. */
typedef struct Loop {
    LLVMValueRef index; /* i64 */
    LLVMBasicBlockRef head, body, done;
    LLVMValueRef count, step;
    LLVMValueRef goes_on; /* i1: false ends it before its count; NULL: always true */
} Loop;
Loop host_loop_begin(Host *h, LLVMValueRef count, uint64_t step, const char *name);
void host_loop_end(Host *h, Loop *l);

/* Buffers are byte offsets into scratch. */
int64_t host_allocate(Host *h, Type t);
void host_put(Host *h, int64_t buffer, DType d, LLVMValueRef index, LLVMValueRef x); /* one chunk */
LLVMValueRef host_get(Host *h, int64_t buffer, DType d, LLVMValueRef index, uint32_t width);
void host_store_tile(Host *h, const Value *v, int64_t buffer); /* all of v, chunk by chunk */
void host_copy(Host *h, int64_t from, int64_t to, Type t);

/* One access of memory, about to be built. */
typedef struct HostAccess {
    LLVMTypeRef bits;  /* the elements as integers: <W x i16> for fp16 */
    LLVMTypeRef value; /* as the IR's type */
    LLVMValueRef ptr;  /* one pointer (neighbours, or width 1) or a vector of them */
    LLVMValueRef mask; /* NULL: all */
    LLVMValueRef all;  /* i1: the mask lets all through; NULL: nobody asks */
    uint32_t align;
    bool is_vector; /* gather or scatter */
    bool is_volatile; /* a load that may find something else each time */
} HostAccess;

/* check.c: with o->check, asks the launch about every element; those refused are masked off. Else nothing. */
void host_check(Host *h, HostAccess *a, const Op *op, uint32_t width);
/* memory.c */
void host_load(Host *h, const Op *op); /* of a scalar */
void host_store(Host *h, const Op *op);
void host_load_chunk(Host *h, const Op *op, Chunk *c); /* of a tile */
LLVMValueRef host_load_again(Host *h, const Op *op, Chunk *c); /* in another loop, of a tile that is not kept */
/* Asks for the same place of the next row, which is the next program's; of a long row, for a place further on. */
void host_prefetch(Host *h, const Op *load, const Chunk *c);
void host_store_chunk(Host *h, const Op *op, Chunk *c);
bool host_is_run(const Host *h, const Value *ptr); /* a chunk's pointers are neighbours: the first one says all */
HostAccess host_access(Host *h, Chunk *c, const Value *ptr, const Value *mask); /* c NULL: of scalars */
LLVMValueRef host_as(Host *h, LLVMValueRef x, LLVMTypeRef t); /* the same bits */
/* atomic.c */
void host_atomic(Host *h, const Op *op);
/* debug.c */
void host_print(Host *h, const Op *op);
void host_assert(Host *h, const Op *op);
/* group.c */
void host_group(Host *h, const Group *g);
void host_reduce(Host *h, const Op *op); /* that is in no group */
/* dot.c */
void host_dot(Host *h, const Op *op);
/* avx512.c: Math's `scale`, `minmax`, `to_bf16` and `from_bf16`, of HOST_WIDTH lanes */
LLVMValueRef host_scale(const Math *k, LLVMValueRef x, LLVMValueRef n, LLVMValueRef keep);
LLVMValueRef host_minmax(const Math *k, bool is_max, LLVMValueRef x, LLVMValueRef y);
LLVMValueRef host_to_bf16(const Math *k, LLVMValueRef x);
LLVMValueRef host_from_bf16(const Math *k, LLVMValueRef bits);
/* Is it no signalling NaN? What accumulates is none: a vector that crosses blocks, as tiles cross them in memory. */
bool host_is_quiet(LLVMValueRef x);
/* arm.c: Math's `minmax` */
LLVMValueRef host_minmax_arm(const Math *k, bool is_max, LLVMValueRef x, LLVMValueRef y);
/* select.c: before code is emitted */
void host_mend_selection(Llvm *m);
/* combine.c */
void host_combine(Host *h, const Op *op);
/* kernel.c: the ops of a block in order. */
void host_block(Host *h, const Block *b);
LLVMBasicBlockRef host_new_block(Host *h, const char *name); /* at the function's end */
/* kernel.c: the whole function into h->m; false with an error in the diagnostics. */
bool host_kernel(Host *h);

#endif
