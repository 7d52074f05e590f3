/* simt.h - from a Func at STAGE_SIMT to a per-thread LLVM module: what one thread of the block does.
 *
 * In: a Func whose tiles all have layouts, in which cross-warp exchange is explicit. Out: a module with one function
 * (the kernel; pointers are i64 addresses) whose only calls besides LLVM's target-free intrinsics are the declared
 * primitives of prims.def.
 * Method: a tile is an array of LLVM values, one per register of its layout, each held as base + constant, so that all
 * addresses of a tile share one computation. Ops become instructions in program order; regions become basic blocks.
 */
#ifndef FSC_CODEGEN_SIMT_H
#define FSC_CODEGEN_SIMT_H

#include "base/plant.h"
#include "codegen/math.h"
#include "passes/passes.h"

typedef enum Prim {
#define PRIM(e, ...) PRIM_##e,
#include "codegen/prims.def"
#undef PRIM
    PRIM_COUNT
} Prim;

typedef struct PrimInfo {
    const char *name, *result, *operands;
} PrimInfo;

extern const PrimInfo prim_info[PRIM_COUNT];

/* The words of one memory access: 1, 2 or 4 of 8, 16, 32 or 64 bits. */
typedef struct Access {
    uint32_t words, bits;
} Access;

/* Which primitive (and access) a declared function is; false for any other function. */
bool prim_find(const char *function_name, Prim *p, Access *a);
/* A call of a primitive, under the builder, becomes what this gives: its value; NULL: there is none,
 * or an error was told. */
typedef LLVMValueRef PrimLowering(void *context, Prim p, Access a, LLVMValueRef call, LLVMValueRef *operands,
                                  uint32_t n);
/* Each call of each primitive in the module; then nothing calls fsc.*. */
void prim_lower_all(Llvm *m, PrimLowering *lower, void *context);

/* What the policy operand of global accesses holds: MemAttr's cache, evict, volatile and line. */
uint32_t policy_pack(const MemAttr *m);
MemAttr policy_unpack(uint64_t policy);

/* What an atomic primitive does, as its last operand but one holds it: AtomicOp (none of a compare-and-swap),
 * Order, Reach. */
typedef struct AtomicCode {
    uint8_t op, order, reach;
    bool is_dropped; /* nobody reads the result */
    bool is_bf16;    /* 16-bit floats: which */
} AtomicCode;
uint32_t atomic_pack(AtomicCode a);
AtomicCode atomic_unpack(uint64_t x);

/* What ldmatrix and stmatrix move, as their last operand but one holds it: 1, 2 or 4 matrices,
 * transposed or as they lie. */
typedef struct MatrixCode {
    uint8_t matrices;
    bool is_transposed;
} MatrixCode;
uint32_t matrix_pack(MatrixCode c);

/* What wgmma does, likewise: which instruction, of which operands the rows lie across k, and whether c is 0, whatever
 * its registers hold. */
typedef struct GroupCode {
    Mma instr;
    bool is_across_a, is_across_b, is_first;
} GroupCode;
uint32_t group_pack(GroupCode c);
GroupCode group_unpack(uint64_t x);

MatrixCode matrix_unpack(uint64_t x);

/* f as a per-thread module in m, not yet verified; the target's features say which conversions are single instructions.
 * Its parameters are the kernel's, behind a pointer to the thread where the backend has_thread. NULL after an error:
 * the code of a thread is too long. Runs inside llvm_guard(). */
LLVMValueRef simt_build(Llvm *m, const Func *f, const Target *t);
/* False with an error: one thread's code is too long to compile, by its elements or (built) by its instructions. A
 * warning where the target's assembler will take long for what LLVM does not. */
bool simt_fits(const Llvm *m, const Func *f, const Target *t, LLVMValueRef built);

/* ---- Within simt/ ------------------------------------------------------------------------------------------------ */

typedef LLVMValueRef V;
typedef struct Simt Simt;
typedef struct Move Move; /* a load or store taken apart (access/move.h) */

/* base + offset; the offset is zero unless the element is an integer or a pointer. */
typedef struct Slot {
    V base;
    int64_t offset;
    bool is_apart; /* the tile's bounds say nothing of this base */
} Slot;

typedef struct Tile {
    uint32_t n; /* registers; 1 for a scalar */
    Slot *at;
    V *words;   /* of what is packed in words of 32 bits: these; else NULL */
    struct Demand *demand; /* how a slot is built that has no base yet; NULL: all have one */
    int64_t lo, hi; /* signed bounds of every base, so that sign extension may be split; INT64_MIN/MAX: not known */
} Tile;

/* A slot of a tile that is built on demand. It may set the base of others, too. */
typedef V SlotMaker(Simt *s, const Tile *t, uint32_t reg);

typedef struct Demand {
    const Op *op;
    SlotMaker *make;
    uint32_t *same;      /* by register: the first one that has the same slot */
    uint32_t per_word;   /* of packed tiles: elements in a word of 32 bits */
    V *words, zero;      /* of `opaque_copy`: what it is made of, a zero of its own; else NULL */
    Divisor *divisors;   /* of a division by few divisors, by register; else NULL */
    struct Spill *spill; /* of `spill_shared` and of what waits there; else NULL */
    Move *move;          /* of a deferred load; else NULL */
} Demand;

/* A linear function of the thread, computed once at the function's start. */
typedef struct ThreadMap {
    uint32_t thread[LAYOUT_BITS]; /* what bit i of the thread index flips */
    uint32_t cta[LAYOUT_BITS];
    bool is_uniform; /* in each warp, and so that the machine sees it */
    V value; /* i32 */
} ThreadMap;

typedef struct OwnerTest {
    uint32_t thread, cta; /* bits that must be zero */
    V value;              /* i1 */
} OwnerTest;

/* A round of words between the blocks of a program (grid.c), and a store of it that is still to be waited for. */
typedef struct Meeting {
    V number, base, site; /* base: where its words begin, in its half of them */
} Meeting;

typedef struct OpenStore {
    Meeting round;
    const Op *op;
} OpenStore;

/* Of a program that reaches over the grid (grid.c). */
typedef struct Rounds {
    uint32_t words;  /* of each half */
    const Op *last;  /* the last exchange; NULL: it stands in a region */
    V round, owner;  /* rounds so far, a variable in memory; what the launch's first word was for it */
    bool has_begun;  /* an exchange has happened for certain */
    bool is_last;    /* the last exchange was the one built last */
    bool has_left;
    bool is_reading; /* since the last round was waited for, the block's threads have not met */
    Meeting next;    /* while stores are open: where the round's next one goes */
    OpenStore open[8];
    uint32_t num_open;
} Rounds;

struct Simt {
    Llvm *m;
    Math math;
    const Func *f;
    const Target *t;
    const Op *op; /* being built */
    uint32_t reg, registers; /* of the op: which are being built; 0, 0: all */
    uint32_t op_site; /* of s->op among m->sites, if it has one already; UINT32_MAX */
    LLVMValueRef function;
    LLVMBasicBlockRef entry; /* computed-once values; falls into the body when the function is done */
    Tile *values;            /* by value id */
    V tid, cta;              /* NULL until used */
    V program;               /* of packed programs: the index along x; else NULL */
    V grid;                  /* and how many there are: a parameter */
    struct Late *late;       /* loads whose parts are not loaded yet (load.c) */
    const Op *reduced;       /* a reduction that is built together with the next one; NULL */
    bool is_aside;           /* the builder stands where later code does not always come by */
    bool records;            /* code tells what it makes (record.c) */
    Rounds *rounds;          /* NULL: the program is a block, or a cluster */
    VEC(ThreadMap) maps;
    V *maps_at;              /* addresses of the function's tensor maps: parameters */
    VEC(OwnerTest) tests;
};

/* slot.c - tiles and their slots */
Tile tile_create(Simt *s, uint32_t n);
Tile *tile_of(Simt *s, const Value *v);        /* with all its slots */
Tile *tile_on_demand(Simt *s, const Value *v); /* slots may be missing: for those who ask by tile_slot */
uint32_t tile_registers(const Value *v);       /* 1 for a scalar */
LLVMTypeRef slot_type(const Simt *s, DType d);
Slot slot_at(const Tile *t, uint32_t reg);         /* of a tile that has it; a scalar's for every register */
V slot_value(Simt *s, Slot x);                     /* base + offset as one value, built here */
V tile_slot(Simt *s, const Tile *t, uint32_t reg); /* the value of slot_at, made if it is missing */
const void *slot_key(const Tile *t, uint32_t reg); /* equal slots have equal ones, built or not */
Demand *demand_create(Simt *s, const Op *op, uint32_t n, SlotMaker *make);
/* Instructions built from here on belong to the op, to all of its registers; to n from reg on. */
void simt_at_op(Simt *s, const Op *op);
void simt_at(Simt *s, uint32_t reg, uint32_t n);
V simt_i32(Simt *s, int64_t value);
LLVMBasicBlockRef simt_new_block(Simt *s, const char *name);
uint32_t deposit(uint32_t value, uint32_t mask); /* the low bits of value where the mask has ones */
bool fits_bits(int64_t x, uint32_t bits); /* a signed integer of so many? */

/* value.c - creation and elementwise ops */
void simt_elementwise(Simt *s, const Op *op);
/* pairs.c: of 16-bit floats, two elements an instruction. */
bool simt_is_pairs(const Simt *s, const Op *op);
V simt_pair(Simt *s, const Op *op, uint32_t reg); /* the word of registers reg and reg + 1 */
/* by register, of quotients that share them; else NULL */
Divisor *divisors_of(Simt *s, const Op *op, const Tile *y, uint32_t n);
void simt_create_op(Simt *s, const Op *op); /* const, arange, splat, expand, broadcast, convert */

/* Made vector by vector, as a store comes to them? */
static inline bool value_is_deferred(const Value *v) {
    return v->def && v->def->attr.when == WHEN_STORED;
}

/* on_demand.c - ops whose slots are built where they are needed first */
enum { SPILL_GROUP = 2 }; /* registers in a vector of what waits in shared memory */
bool tile_is_spilling(const Tile *t); /* its slots are best built by such groups */
void simt_elementwise_on_demand(Simt *s, const Op *op);
void simt_opaque_copy(Simt *s, const Op *op);
void simt_spill(Simt *s, const Op *op);

/* packed_max.c - packed reductions */
V reduce_words(Simt *s, const Op *op, uint32_t reg, uint32_t mask); /* of registers that differ from reg by the mask */

/* known.c - truth values that are known while code is built */
bool known_truth(V x, bool *truth); /* false: x is no constant */
V known_and(Simt *s, V x, V y);
V known_or(Simt *s, V x, V y);
V known_not(Simt *s, V x);
Range slot_range(const Tile *t, uint32_t reg, DType d); /* all numbers of d: nothing is known */
/* Is the mask `x < y`, and do bounds say that it holds for half of what x may be, and more? */
bool known_mostly(Simt *s, const Value *mask, uint32_t reg);
V known_compare(Simt *s, const Op *op, uint32_t reg);   /* NULL: op is no comparison, or not decided by bounds */
/* Do n registers from reg on hold one value? */
bool known_same(const Tile *t, uint32_t reg, uint32_t n);
/* Is a mask true at all of n registers from reg on? And may it be at one of them? */
V known_all(Simt *s, const Value *mask, uint32_t reg, uint32_t n);
V known_some(Simt *s, const Value *mask, uint32_t reg, uint32_t n);
/* At how many of n registers, of a mask that is true at the first ones only; NULL: each has to be asked. */
V known_first(Simt *s, const Value *mask, uint32_t reg, uint32_t n);
/* least <= x[reg], x[reg] + more <= most and <= end[reg], of i32 that do not wrap;
 * what bounds do not decide is built. */
V known_within(Simt *s, int64_t least, const Tile *x, uint32_t reg, int64_t more, int64_t most, const Tile *end);
V known_result(Simt *s, const Op *op, const V *args);   /* and, or, select with known operands; else NULL */

/* index.c - who and where a thread is */
V simt_tid(Simt *s);
void simt_begin_cluster(Simt *s); /* at the function's start: this thread has begun */
V simt_map(Simt *s, const ThreadMap *map); /* map->value is ignored */
/* The part of the flat element index that the thread decides; register bits add the rest by XOR. */
V simt_thread_index(Simt *s, const Layout *l);
uint32_t layout_register_index(const Layout *l, uint32_t reg); /* the part that the register decides */
uint32_t layout_thread_bits(const Layout *l);                  /* of the index: those that lanes,
                                                                * warps or ctas decide */
bool layout_adds(const Layout *l); /* both parts have no bit in common: XOR is addition */
uint32_t layout_thread_most(const Layout *l); /* of layouts that add: the largest part that a thread decides */
V simt_cta_rank(Simt *s); /* of the block among its program's */
V simt_owner(Simt *s, const Layout *l); /* is this thread a canonical owner? l NULL (a scalar): is it the first? */
/* or one that differs from it in these bits of its index alone */
V simt_owner_among(Simt *s, const Layout *l, uint32_t threads);
V simt_owner_in_block(Simt *s, const Layout *l); /* the same among the threads of its block */
V simt_program(Simt *s, uint32_t axis, bool count);
/* Of packed programs: computes the index along x, and leaves the kernel where it is beyond the grid's edge. */
void simt_begin_packed(Simt *s);

/* access/, reduce.c, combine.c, shared.c, convert.c, debug.c, flow.c - op families */
void simt_load(Simt *s, const Op *op);
void simt_load_late(Simt *s, const Op *op); /* before op: what loads that it waits for still miss */
void simt_load_deferred(Simt *s, const Op *op);
void simt_store(Simt *s, const Op *op);
void simt_store_deferred(Simt *s, const Op *op); /* of what is made as the store comes to it */
void simt_atomic(Simt *s, const Op *op);
void simt_reduce(Simt *s, const Op *op);
void simt_broadcast_warp(Simt *s, const Op *op);
void simt_combine(Simt *s, const Op *op);
void simt_scan_apply(Simt *s, const Op *op);
/* Where the registers of a tile of type t lie in the buffer that op names; stage NULL: in the only one (shared.c). */
typedef struct BufferView {
    const Buffer *buffer;
    const Layout *layout;  /* over the elements of a stage; NULL: of a scalar */
    uint32_t bytes, n;     /* of an element; elements of an access */
    uint8_t bits[VECTOR_BITS]; /* register bits that tell these apart, the lowest first */
    uint32_t inside;       /* the same as a mask */
    uint32_t flip, begin;  /* of the offset; of a part that begins at a constant */
    MatrixRows matrices;   /* of what instructions for matrices move: `layout` is that of the rows */
    Access access;
    V stage;               /* its first byte; NULL: 0 */
} BufferView;
BufferView buffer_view(Simt *s, const Op *op, Type t, const Value *stage);
V view_offset(Simt *s, const BufferView *p, uint32_t reg); /* the byte of the vector that begins at this register */
void simt_shared_store(Simt *s, const Op *op);
void simt_shared_load(Simt *s, const Op *op);
void simt_shared_gather(Simt *s, const Op *op);
void simt_print(Simt *s, const Op *op);
void simt_assert(Simt *s, const Op *op);
void simt_shared_wait(Simt *s, const Op *op);
/* Of a counted buffer: where the stage's bytes (NULL: it has one) are counted; who says that the round has a stage's,
 * each of which comes once. Of a buffer that bulk copies fill, also where the warps are counted that have read it. */
V simt_count_of(Simt *s, const Buffer *b, V stage);
V simt_readers_of(Simt *s, const Buffer *b, V stage);
void simt_expect(Simt *s, const Buffer *b, V count, V predicate);
void simt_barrier(Simt *s, const Op *op);
void simt_launch_order(Simt *s, const Op *op);

/* grid.c - exchanges of programs that reach over the grid */
uint32_t simt_grid_words(const Func *f); /* that a program needs at once; 0: none */
void simt_grid_begin(Simt *s);           /* at the function's start */
void simt_grid_end(Simt *s);
void simt_grid_store(Simt *s, const Op *op);
void simt_grid_end_region(Simt *s); /* and at the end of one */
void simt_grid_wait(Simt *s); /* for all that was stored, before a barrier or another region */
void simt_grid_meet(Simt *s, const Op *op);   /* in front of a barrier of the grid */
void simt_grid_passed(Simt *s, const Op *op); /* behind any barrier */

/* record.c - what recorded code tells; nothing unless s->records */
void simt_record_begin(Simt *s, const Op *op);  /* the op begins */
void simt_record_entry(Simt *s, const Block *b); /* a region begins, with its arguments */
void simt_record_end(Simt *s, const Op *op);    /* the op has made its results */

void simt_copy_async(Simt *s, const Op *op); /* copy.c */
void simt_begin_bulk(Simt *s);               /* index.c: at the function's start, what counts is ready for all */
void simt_bulk_load(Simt *s, const Op *op);
void simt_bulk_store(Simt *s, const Op *op);
void simt_bulk_wait(Simt *s, const Op *op);
void simt_copy_read(Simt *s, const Op *op);
void simt_copy_order(Simt *s, const Op *op); /* copy_commit, copy_wait */
void simt_convert(Simt *s, const Op *op, bool broadcast);
void simt_move(Simt *s, const Op *op); /* reshape, trans, join, split */
void simt_slice(Simt *s, const Op *op);
void simt_flip(Simt *s, const Op *op);
void simt_dot(Simt *s, const Op *op);
/* The k-th fragment of an operand of a matrix instruction, a tuple: further ones lie along k (of the sum: n), then
 * along the other dimension (matrix.c). */
V fragment_of(Simt *s, const Op *op, MmaOperand which, uint32_t k);
void simt_mma(Simt *s, const Op *op);
/* async.c */
void simt_shared_matrix(Simt *s, const Op *op);
void simt_proxy_fence(Simt *s, const Op *op);
void simt_dot_async(Simt *s, const Op *op);
void simt_dot_wait(Simt *s, const Op *op);
void simt_for(Simt *s, const Op *op);
void simt_while(Simt *s, const Op *op);
void simt_if(Simt *s, const Op *op);
void simt_block(Simt *s, const Block *b); /* the ops of a block but its terminator */

/* pack.c - elements in the words of an access */
Access access_of(uint32_t element_bytes, uint32_t elements);
LLVMTypeRef access_word(const Simt *s, Access a);
/* `n` elements of type d, lowest first, into the access's words, and back. */
void elements_pack(Simt *s, DType d, const V *elements, uint32_t n, Access a, V *words);
void elements_unpack(Simt *s, DType d, const V *words, Access a, V *elements, uint32_t n);
/* The words of a tile, `per_word` elements each: as it was loaded, else packed here. */
V *words_of_tile(Simt *s, const Value *v, uint32_t per_word);
bool tile_has_words(const Tile *x, uint32_t first, uint32_t n);
/* n elements in words of 32 bits; zero not NULL: in what xor with it makes of them, one by one. */
Tile tile_packed(Simt *s, const Op *op, uint32_t n, V *words, uint32_t per_word, V zero);
V element_of_word(Simt *s, DType d, V word, uint32_t i); /* the i-th from the lowest */
V element_bits(Simt *s, DType d, V x); /* as an integer of the memory width (i1: i8) */
V element_from_bits(Simt *s, DType d, V bits);

/* prim.c - calls of primitives */
V prim_call(Simt *s, Prim p, const V *args, uint32_t n);
V prim_access(Simt *s, Prim p, Access a, const V *args, uint32_t n);
/* With tuples among the operands (tuple_make), or as the result, of that type; NULL: it is none. */
V prim_tuple(Simt *s, Prim p, LLVMTypeRef result, const V *args, uint32_t n);
/* The i-th word of what prim_access returned. */
V access_result(Simt *s, Access a, V result, uint32_t i);
/* An element of any type through a shuffle: 64 bits take two. `how`: SHFL_BFLY with a mask or SHFL_IDX with a lane. */
V simt_shuffle(Simt *s, Prim how, DType d, V x, V operand);
V simt_site(Simt *s); /* of the op being built */

#endif
