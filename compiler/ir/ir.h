/* ir.h - the tile IR: values, ops, blocks, functions; building, printing, reading, verifying, folding.
 *
 * SSA with structured control flow: `for`, `while`, `if` own regions, each one block; values come out by `yield`. There
 * are no branches and no phi nodes. A type is element type + shape + pointee + layout; the layout is NULL until the
 * layout pass, and that is what the two stages mean:
 *   STAGE_TILE  no value has a layout; the CPU target takes this
 *   STAGE_SIMT  every tile value has a layout; the GPU target takes this
 * All memory of a function is its arena's. Ops and values are never freed, only unlinked.
 * A value knows its uses; op_erase on an op whose results are used is a bug.
 */
#ifndef FSC_IR_H
#define FSC_IR_H

#include "ir/type.h"
#include "layout/mma.h"
#include "runtime/base/scope.h"

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

typedef enum Stage { STAGE_TILE, STAGE_SIMT } Stage;

typedef enum OpKind {
#define OP(e, ...) OP_##e,
#include "ir/ops.def"
#undef OP
    OP_COUNT
} OpKind;

/* Which fields of Attr an op of the kind has; the others are 0. */
typedef enum AttrKind {
    ATTR_NONE,
    ATTR_BITS,    /* bits */
    ATTR_AXIS,    /* axis */
    ATTR_PERM,    /* perm */
    ATTR_HALF,    /* half */
    ATTR_BITMASK, /* flip */
    ATTR_RANGE,   /* start, end; of a tile the size is a power of two */
    ATTR_PRED,    /* pred */
    ATTR_ROUND,   /* round */
    ATTR_ACCURACY, /* accuracy */
    ATTR_MEM,     /* mem; of load map */
    ATTR_COPY,    /* buffer, mem, is_begin, is_prefetch */
    ATTR_BULK,    /* buffer, map, is_begin, is_prefetch, is_across, ahead; of bulk_wait is_read */
    ATTR_PENDING, /* pending */
    ATTR_REDUCE,  /* axis, combine, is_packed; of reduce_warp is_scattered, is_paired */
    ATTR_COMBINE, /* axis, flags */
    ATTR_DOT,     /* precision, imprecise, is_unsigned */
    ATTR_MMA,     /* instr, warps_m_log2: of mma and dot_async */
    ATTR_SHARED,  /* buffer, is_matrices; of shared_store scope; of shared_load flip; of shared_gather and shared_slice
                   * axis; of shared_slice perm */
    ATTR_SCOPE,   /* scope, is_begin */
    ATTR_TEXT,    /* text; of print shown; of assert mem.site */
    ATTR_LOOP,    /* loop */
} AttrKind;

/* What an element of the result comes of. */
typedef enum OpClass {
    CLASS_CREATE,  /* of no operand, and the same in every place */
    CLASS_INDEX,   /* of its place */
    CLASS_REPEAT,  /* is one of the operand, which may stand in more places */
    CLASS_MOVE,    /* is one of an operand, in another place, register or thread */
    CLASS_COPY,    /* is the operand's of its place */
    CLASS_ELEMENT, /* of the operands' elements of its place (scalars on scalars); PURE, one result, at any stage */
    CLASS_REDUCE,  /* of those along an axis, by another op */
    CLASS_COMBINE, /* of those along an axis, by a region */
    CLASS_MATRIX,  /* of products of rows and columns */
    CLASS_MEMORY,  /* global memory */
    CLASS_SHARED,  /* shared memory */
    CLASS_DEBUG,
    CLASS_SYNC,
    CLASS_ORDER,   /* among launches: no element, and no other thread */
    CLASS_CONTROL, /* owns regions */
    CLASS_END,     /* ends one */
} OpClass;

/* Of one element on a GPU, in plain instructions. */
typedef enum OpCost {
    COST_FREE = 0,  /* known without computing, or a register's new name */
    COST_PLAIN = 1,
    COST_RELAXED = 2, /* an exponential that need not be exact */
    COST_EXP = 4,
    COST_DEAR = 16, /* divisions, roots, logarithms */
    COST_CROSS = 32 /* another thread, shared or global memory takes part */
} OpCost;

enum {
    ALGEBRA_NONE,
    ALGEBRA_C = 1,
    ALGEBRA_A = 2,
    ALGEBRA_I = 4,
    ALGEBRA_M = 8,
    ALGEBRA_CAI = 7,
    ALGEBRA_CAM = 11,
    ALGEBRA_CAIM = 15
};

/* The neutral element, of any element type that the op takes. */
typedef enum Neutral {
    NEUTRAL_NONE,
    NEUTRAL_ZERO,
    NEUTRAL_ONE,
    NEUTRAL_ONES, /* every bit */
    NEUTRAL_LEAST, /* signed */
    NEUTRAL_MOST,
    NEUTRAL_NEG_ZERO,
    NEUTRAL_QUIET_NAN,
    NEUTRAL_NEG_INF,
    NEUTRAL_POS_INF,
} Neutral;

enum { COMBINE_REVERSE = 1, COMBINE_EXCLUSIVE = 2, COMBINE_FLAGS = 4 /* beyond them all */ };
typedef enum Effect {
    EFFECT_PURE,
    EFFECT_READ,
    EFFECT_WRITE,
    EFFECT_SHARED,
    EFFECT_DEBUG,
    EFFECT_BARRIER,
    EFFECT_CONTROL
} Effect;
typedef enum Pred {
    PRED_EQ,
    PRED_NE,
    PRED_SLT,
    PRED_SLE,
    PRED_SGT,
    PRED_SGE,
    PRED_ULT,
    PRED_ULE,
    PRED_UGT,
    PRED_UGE
} Pred;
/* fcmp uses EQ NE SLT SLE SGT SGE, printed eq ne lt le gt ge */
typedef enum Round { ROUND_NEAREST, ROUND_ZERO } Round;
/* What an exponential may err by: its own bound; what 16 bits do not show;
 * what a sum does not show of which e^0 is a term. */
typedef enum Accuracy { ACCURACY_FULL, ACCURACY_RELAXED, ACCURACY_TERM } Accuracy;
/* What the fp32 operands of a dot may be rounded to: nothing; tf32;
 * sums of that many products of parts of that type. */
typedef enum Precision {
    PRECISION_IEEE,
    PRECISION_TF32,
    PRECISION_TF32X3,
    PRECISION_BF16X3,
    PRECISION_BF16X6
} Precision;

/* When the registers of an op's result are made (docs/design/schedule.md). */
typedef enum When {
    WHEN_HERE,   /* all of them, at the op's place */
    WHEN_NEEDED, /* each where it is needed first; a load unpacks its words there */
    WHEN_STORED, /* vector by vector, as a store comes to them; a load issues nothing before */
} When;

/* How print shows an element. */
typedef enum Shown {
#define SHOWN(e, ...) SHOWN_##e,
#include "ir/shown.def"
#undef SHOWN
    SHOWN_COUNT
} Shown;

const char *shown_format(int64_t shown); /* C's, of 64 bits or a double */
bool shown_is_float(int64_t shown);

typedef enum MaskKind {
    MASK_NONE,    /* no mask operand */
    MASK_ANY,     /* nothing known: every element is tested */
    MASK_UNIFORM, /* one truth value per vector */
    MASK_PREFIX,  /* within a vector true … true false … false: the last element decides "all", the first "any" */
} MaskKind;

typedef enum CachePolicy { CACHE_DEFAULT, CACHE_CA, CACHE_CG, CACHE_CS, CACHE_WB, CACHE_WT, CACHE_CV } CachePolicy;
typedef enum EvictPolicy { EVICT_DEFAULT, EVICT_FIRST, EVICT_LAST } EvictPolicy;

typedef enum AtomicOp {
#define ATOMIC(e, ...) ATOMIC_##e,
#include "ir/atomic.def"
#undef ATOMIC
    ATOMIC_COUNT
} AtomicOp;

/* What an atomic orders: with RELEASE what its program did before it is seen by whoever, with ACQUIRE,
 * reads from it. */
typedef enum Order { ORDER_RELAXED, ORDER_ACQUIRE, ORDER_RELEASE, ORDER_ACQ_REL } Order;
/* Among whom it is atomic: the threads of a block, of a GPU, of the whole machine. */
typedef enum Reach { REACH_CTA, REACH_GPU, REACH_SYS } Reach;

static inline bool order_acquires(uint8_t order) {
    return order & ORDER_ACQUIRE;
}
static inline bool order_releases(uint8_t order) {
    return order & ORDER_RELEASE;
}

typedef struct MemAttr {
    uint8_t cache;      /* CachePolicy */
    uint8_t evict;      /* EvictPolicy */
    bool is_volatile;   /* never merged, moved or dropped */
    bool wants_line;    /* of a load: the line's other bytes will be wanted, too */
    uint8_t align_log2; /* TILE: proven alignment of each vector's first byte is found by facts; SIMT: of each access */
    uint8_t vec_log2;   /* SIMT: elements per access */
    uint8_t mask_kind;  /* SIMT: MaskKind within a vector */
    bool is_rotated;    /* SIMT: the tile is rotated by its rows' misalignment */
    bool is_versioned;  /* SIMT: of a rotated load: rows with the leader's misalignment have code of their own */
    bool is_late;       /* SIMT: of a load: what its mask cuts is loaded at its first user, load_until */
    bool is_guarded;    /* SIMT: of a store: what a vector stores may be made where the vector moves at all */
    uint8_t atomic;     /* of atomic_rmw: AtomicOp */
    uint8_t order, reach; /* of atomics: Order, Reach */
    uint32_t site;      /* index into Func.sites: the span that reports name */
} MemAttr;

typedef struct LoopAttr {
    int32_t num_stages;    /* 0: not said */
    int32_t unroll_factor; /* 0: not said */
    bool flatten, disable_licm;
} LoopAttr;

enum { DOT_ANY_IMPRECISE = 1 << 30 };

typedef struct Attr {
    int64_t bits;       /* a constant's, sign extended from the element's width (floats: their IEEE bits,
                         * zero extended) */
    int64_t start, end; /* end exclusive */
    uint32_t buffer;    /* index into Func.buffers */
    uint32_t axis;
    uint32_t perm;      /* attr_perm */
    uint32_t half;      /* 0 or 1 */
    uint32_t flip;      /* element i is element i ^ flip of the operand, or of what was stored; i the row-major index */
    uint32_t pending;   /* how many groups */
    uint32_t map;       /* of bulk_load: index into Func.maps. Of load: one more; 0: no map says what it loads */
    uint32_t ahead;     /* of bulk_load in a loop: so many rounds */
    uint32_t imprecise; /* of fp8 operands: so many products may be added in less than fp32, from DOT_ANY_IMPRECISE on
                         * any number; 0: not said */
    uint32_t flags;     /* a set of COMBINE_… */
    uint8_t run_log2;   /* of icmp: the same truth for so many elements along the axis, aligned, or for all of them
                         * where there are fewer (in a part of a tile); 0: not said */
    Pred pred;
    Round round;
    Accuracy accuracy;
    Precision precision;
    bool is_unsigned[2]; /* of i8 operands of dot: as 0 to 255 */
    Mma instr;            /* of mma */
    uint8_t warps_m_log2; /* of mma: warps along the rows of the product */
    Scope scope;        /* of barrier: who meets. Of shared_store: into the shared memory of the own block
                         * (SCOPE_BLOCK), or of every block */
    OpKind combine;     /* add mul and or xor smax … fadd fmul fmax …: an op with a neutral element */
    Shown shown;
    bool is_scattered;  /* of reduce_warp: layout_scatter of what it would be else */
    bool is_packed;     /* of what fpext made of 16 bits: two elements at once, before they are extended */
    bool is_paired;     /* of reduce_warp: made together with reduce_partner() */
    bool is_matrices;   /* of shared_store, shared_load and shared_slice: by stmatrix or ldmatrix (layout_matrices) */
    bool is_begin;      /* of barrier: no more than that all blocks of the cluster have begun. Of copy_async: for a
                         * first round of the loop behind it */
    bool is_prefetch;   /* of copy_async: for a later round of the loop that it stands in.
                         * Neither loop stores to what the copy loads */
    bool is_across;     /* of bulk_load for a later round: also for the first ones of the loop's next time, within the
                         * loop around it */
    bool is_read;       /* of bulk_wait: until the buffers have been read */
    const char *text;   /* of print and assert */
    MemAttr mem;
    LoopAttr loop;
    When when;          /* of any op at stage SIMT that when_wrong() lets have it */
} Attr;

/* Axis k of the result is axis perm[k] of the operand: four bits an axis. */
Attr attr_perm(const uint8_t *perm, uint32_t rank);
void attr_perm_read(Attr a, uint8_t perm[SHAPE_RANK]);

typedef struct Op Op;
typedef struct Block Block;
typedef struct Value Value;
typedef struct Use Use;

struct Use { /* one operand slot that reads a value */
    Op *op;
    uint32_t index;
    Use *next;
    Use **link; /* what points at this use: the list's head or the use before it. Taking one out needs no search */
};

struct Value {
    Type type;
    Op *def;      /* NULL for a block argument */
    Block *block; /* of a block argument, else NULL */
    uint32_t index; /* among its op's results or its block's arguments */
    uint32_t id;    /* unique in the function, dense; side tables index by it */
    const char *name; /* the source's name where there is one, for printing; may be NULL */
    Use *uses;
};

struct Op {
    OpKind kind;
    Span span;
    Attr attr;
    Value **args;
    Value **results;
    Block **regions;
    uint32_t nargs, nresults, nregions;
    Use **slots; /* slots[i]: the use that args[i] knows this operand by */
    uint32_t cap; /* room in args and slots */
    Block *parent; /* NULL while unlinked */
    Op *prev, *next;
    uint32_t id; /* unique in the function */
};

struct Block {
    Op *first, *last;
    Op *owner; /* the op whose region this is; NULL for the body */
    VEC(Value *) args;
};

typedef struct OpInfo {
    const char *name;
    int8_t nargs, nresults;
    AttrKind attr;
    OpClass class;
    Effect effect;
    Stage stage;
    OpCost cost;
    uint8_t algebra;
    Neutral neutral;
    const char *meaning;
} OpInfo;

extern const OpInfo op_info[OP_COUNT];
bool op_find(const char *name, OpKind *out);
static inline OpClass op_class(OpKind k) {
    return op_info[k].class;
}
/* Its attribute names a buffer. */
static inline bool op_has_buffer(OpKind k) {
    return op_info[k].attr == ATTR_SHARED || op_info[k].attr == ATTR_COPY || op_info[k].attr == ATTR_BULK;
}
/* It reads or writes a buffer here, at once. */
static inline bool op_is_shared(OpKind k) {
    return op_info[k].attr == ATTR_SHARED && op_class(k) == CLASS_SHARED;
}
static inline bool op_is_pure(OpKind k) {
    return op_info[k].effect == EFFECT_PURE;
}
static inline bool op_commutes(OpKind k) {
    return op_info[k].algebra & ALGEBRA_C;
}
static inline bool op_is_idempotent(OpKind k) {
    return op_info[k].algebra & ALGEBRA_I;
}
/* The low half of the result comes of the low halves of the operands. */
static inline bool op_is_modular(OpKind k) {
    return op_info[k].algebra & ALGEBRA_M;
}
static inline bool op_is_control(OpKind k) {
    return op_class(k) == CLASS_CONTROL || op_class(k) == CLASS_END;
}
/* Each element of the result depends on the same element of the operands (scalars on scalars). */
static inline bool op_is_elementwise(OpKind k) {
    return op_class(k) == CLASS_ELEMENT || op_class(k) == CLASS_COPY;
}
/* Each element of the result comes of nothing but its place and the operands' elements there. */
static inline bool op_is_local(OpKind k) {
    return op_is_elementwise(k) || op_class(k) == CLASS_CREATE || k == OP_ARANGE || k == OP_SPLAT;
}
/* Each element of the result is one of an operand, bit by bit. */
static inline bool op_moves(OpKind k) {
    return op_class(k) == CLASS_REPEAT || op_class(k) == CLASS_MOVE || op_class(k) == CLASS_COPY;
}
/* The bits of e with op(e, a) == a for every a of type d; of an op that reductions combine by. */
int64_t op_neutral(OpKind k, DType d);
OpCost op_cost(const Op *op);
/* Of pure ops: the same kind with the same attribute? A number that is the same for the same. */
bool op_same(const Op *x, const Op *y);
uint64_t op_key(const Op *op);
/* A tile that costs next to nothing wherever it is needed. */
bool op_is_tile_maker(const Op *op);
bool op_is_combine(OpKind k);
bool op_is_atomic(OpKind k);
bool op_is_access(OpKind k); /* of global memory: load, copy_async, store, atomics */
bool op_is_read(OpKind k);   /* … that only reads */
bool op_has_map(OpKind k); /* of a bulk copy, to or from its buffer */
bool op_is_copy(OpKind k);   /* of global memory to a buffer, which goes on meanwhile */
bool op_has_memory(OpKind k); /* its attribute holds a MemAttr */

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* What is known of a parameter; the facts pass starts from it. Index = argument index of the body block. */
typedef struct Param {
    const char *name;
    Span span;
    uint32_t divisible;   /* the value (an address in bytes for a pointer) is a multiple of this; 1 when unknown */
    bool is_const;        /* nothing writes the memory during the kernel */
    bool is_unsigned;     /* of a scalar */
    bool is_nonnegative;  /* of a scalar: an extent, say */
    uint32_t least, most; /* of a scalar: least <= value <= most; 0: not said */
} Param;

/* Shared memory of a block, as a value of the function: its name is #b and its index. Element `offset` of a stage is
 * the element of the shape at `places` of the offset. */
typedef struct Buffer {
    DType dtype;
    const Layout *places; /* its register bits are those of the offset; no other owners; one place for each element */
    uint32_t stages;      /* one behind the other */
    uint32_t bytes;       /* of a stage; of a private buffer perhaps only so many,
                           * which hold the first vectors of each thread */
    uint32_t align;       /* of the first byte */
    int64_t offset;       /* of the first byte; -1 before allocation */
    bool is_counted;      /* all blocks of the cluster store to it, and behind the stages lies a count of the bytes that
                           * have come, for each of them: shared_wait waits for those. Its bytes are nobody else's */
    bool is_private;      /* each thread has elements of its own, which no other sees:
                           * the shape is that of threads and registers */
    bool is_bulk;         /* bulk copies fill it, and the bytes that have come are counted for each stage, at: */
    int64_t counts;       /* the offset of stage 0's count; -1 before allocation, or where nothing is counted there */
} Buffer;

enum { BUFFER_ALIGN = 16 };

/* Two pointer parameters, by index, whose buffers must not be one: the passes rely on it, and each launch checks it. */
typedef struct Apart {
    uint32_t a, b;
} Apart;

enum { GRID_PROGRAMS = 64 /* of a launch whose programs reach over the grid, where nothing says how many */ };

typedef struct Func {
    Arena *arena;
    Layouts *layouts;
    Strings *strings;
    const char *name;
    Span span;
    Stage stage;
    Block *body; /* its arguments are the kernel's run-time parameters */
    VEC(Param) params;
    VEC(Span) sites; /* of memory accesses and barriers; MemAttr.site indexes it */
    VEC(Apart) apart; /* not part of the text form */
    VEC(Buffer) buffers;
    VEC(BoxMap) maps;
    Span inlined;    /* while not {0,0}, the span of every op made: library code counts as the user's call of it */
    uint32_t next_value, next_op;

    /* The distribution. num_warps 0: not chosen yet (the layout pass chooses). */
    uint32_t num_warps;          /* per program */
    uint32_t num_stages;         /* 0: not said */
    uint32_t num_ctas;           /* blocks of a program as asked for; 0: the layout pass chooses */
    uint32_t threads_per_program; /* may be fewer than 32 */
    uint32_t programs_per_block;  /* packing of small programs */
    uint32_t blocks_per_program;  /* a power of two */
    Scope scope;                  /* what they form: SCOPE_BLOCK (there is one), SCOPE_CLUSTER, SCOPE_GRID */
    uint32_t grid_blocks;         /* so many a program may have over the grid; 0: none */
    uint32_t grid_programs;       /* a launch then has no more programs than this; 0: not said */
    uint32_t resident;            /* threads that a multiprocessor had better hold; 0: as many as come */
    uint32_t shared_bytes;        /* after shared-memory allocation */
} Func;

/* At stage SIMT: of the threads of a program in one block; of all its threads. */
static inline Scope func_block_scope(const Func *f) {
    return f->num_warps > 1 ? SCOPE_BLOCK : SCOPE_WARP;
}
static inline Scope func_scope(const Func *f) {
    return f->scope > SCOPE_BLOCK ? f->scope : func_block_scope(f);
}

Func *func_create(Arena *a, Strings *s, const char *name, Span span);
/* Appends a run-time parameter; returns the body's new argument. */
Value *func_add_param(Func *f, Type t, Param p);

#include "ir/buffer.h"
#include "ir/build.h"

/* ---- Checking, folding, text ------------------------------------------------------------------------------------- */

/* The verifier begins with the list of what it checks (verify.c). True if sound;
 * else the complaint names op and function. */
bool func_verify(const Func *f, Text *complaint);
/* A replacement for the op's only result (an older value, or a new constant or simpler op built at b), or NULL. */
Value *op_fold(Builder *b, Op *op);
/* Bits of an elementwise PURE op on constant operands (element types from the op); false where it has no value here. */
bool op_evaluate(const Op *op, const int64_t *args, int64_t *result);
/* Of an op of one float, in double; of one with a tolerance what the C library has. */
double op_value(OpKind k, double x);

/* reshape, trans, join, split: the layout of the result when no element leaves its thread and the registers keep their
 * order (join: each register of a, then that of b). NULL where there is none: the last axis of what is split does not
 * lie along one register bit. These ops may have any layout that a thread can have from this one by naming its
 * registers anew. */
const Layout *op_moved_layout(Layouts *ls, OpKind k, Attr a, const Layout *from, Shape to);
/* Does each thread hold what an extract_slice gives it? Then register r of the part is what `plan` makes of the
 * operand's registers, of which *begin is the first: i stands where i ^ *begin did. */
bool slice_in_registers(Layouts *ls, const Op *op, ConvertPlan *plan, uint32_t *begin);

void func_print(const Func *f, Text *out);
/* The lines that differ between two texts of one function, as diff -u has them, but for values' numbers; false: none
 * do. */
bool func_diff(const char *before, const char *after, Text *out);
void func_print_spans(const Func *f, Text *out); /* with loc(begin:end) of every op, and the sites */
void op_print(const Func *f, const Op *op, Text *out); /* one line, no regions */
/* The printer's own text, or one written by hand; # begins a comment. NULL and an error at a place in d when it is
 * wrong. Spans and sites are those of the text, unless it has loc() and sites.
 * What it returns has passed func_verify. */
Func *func_read(Arena *a, Strings *s, Diag *d, const Source *src);

#endif
