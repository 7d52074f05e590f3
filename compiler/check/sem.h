/* sem.h - inside check/: semantic values, with their integers and types, and the names that stand for them.
 *
 * A semantic value (Sem) is what a name or an expression stands for: something known at compile time (int, float, type,
 * tuple, function, …) or a run-time value of the IR. Sems never change once made; all memory is the compile's arena.
 */
#ifndef FSC_SEM_H
#define FSC_SEM_H

#include "check/check.h"

/* ---- Integers of compile time: sign and magnitude, so that i64 and u64 both fit ---------------------------------- */

typedef struct Int {
    uint64_t mag;
    bool neg; /* never with mag 0 */
} Int;

Int int_from(int64_t x);
Int int_unsigned(uint64_t x);
bool int_fits(Int x, int64_t *out); /* in i64 */
int int_compare(Int x, Int y);
double int_to_double(Int x);
bool int_from_double(double x, Int *out); /* truncates; false beyond the range */
/* False: the result leaves the range -2^64 < r < 2^64 (division and shift: the operand makes no sense). */
bool int_add(Int x, Int y, Int *r);
bool int_sub(Int x, Int y, Int *r);
bool int_mul(Int x, Int y, Int *r);
bool int_divmod(Int x, Int y, Int *quotient, Int *remainder); /* floors, as Python does */
bool int_pow(Int x, Int y, Int *r);
bool int_shift(Int x, Int y, bool left, Int *r);
bool int_bits(char op, Int x, Int y, Int *r); /* & | ^ on two's complement */
const char *int_text(Arena *a, Int x);

/* ---- Types ------------------------------------------------------------------------------------------------------- */

typedef enum SType {
#define DTYPE(e, ...) ST_##e,
#define UTYPE(e, ...) ST_##e,
#include "runtime/base/dtype.def"
#undef DTYPE
#undef UTYPE
    ST_COUNT
} SType;

typedef enum STypeClass { CLASS_BOOL, CLASS_SIGNED, CLASS_UNSIGNED, CLASS_FLOAT } STypeClass;

const char *stype_name(SType t);
DType stype_dtype(SType t);
uint32_t stype_bits(SType t);
STypeClass stype_class(SType t);
bool stype_is_float(SType t);
bool stype_is_unsigned(SType t); /* i1 counts: it is 0 or 1 */
bool stype_find(const char *canonical, SType *out);
SType stype_signed(SType t); /* the signed integer as wide as t */
DType stype_memory(SType t); /* of an element in memory: i1 lies as i8 */

/* ---- Semantic values --------------------------------------------------------------------------------------------- */

typedef struct Builtin Builtin;
typedef struct Frame Frame;
typedef struct Sem Sem;
typedef struct FileScope FileScope;
typedef struct StarSearch StarSearch; /* import.c */

typedef enum SemKind {
    SEM_ERROR,    /* poison: an error was reported where it was made; whatever uses it stays silent */
    SEM_NONE,     /* None */
    SEM_BOOL,     /* i.mag is 0 or 1 */
    SEM_INT,      /* i */
    SEM_FLOAT,    /* f */
    SEM_STRING,   /* s */
    SEM_TYPE,     /* type, is_pointer */
    SEM_TUPLE,    /* items, count; self: the RECORD that made it, or NULL */
    SEM_RECORD,   /* namedtuple: s; items: its fields' names; self: a tuple, the defaults of the last ones, or NULL */
    SEM_BLOCK,    /* a block pointer or a descriptor: block; items: base, sizes, strides and (of a pointer)
                   * offsets, RUN; type: of an element */
    SEM_FUNCTION, /* fn, home: a function of the file or of the library */
    SEM_BUILTIN,  /* builtin; self where it was named as a method */
    SEM_MODULE,   /* s: "tl", "tl.math", …; or home: a file that is imported */
    SEM_RUN,      /* v, wide, type, is_pointer: a scalar, a tile, a pointer or a tile of pointers */
} SemKind;

/* What is known of a block at compile time. */
typedef struct BlockType {
    Shape shape; /* of the tile that an access moves */
    bool is_descriptor, pads_nan;
} BlockType;

struct Sem {
    SemKind kind;
    bool weak; /* BOOL INT FLOAT: takes the type of what it meets (a literal, a constexpr); else i1 i32 i64 fp32 */
    bool is_pointer; /* TYPE RUN */
    bool is_const;   /* TYPE RUN: a pointer to memory that nothing writes */
    SType type;      /* TYPE RUN: of an element; of the pointee where is_pointer */
    Int i;
    double f;
    const char *s;
    const Sem **items;
    uint32_t count;
    uint32_t size; /* TUPLE STRING: how much there is to look at, tuples within tuples counted each time */
    const Node *fn;
    FileScope *home; /* whose constants and functions fn sees; MODULE: a file, or NULL */
    const Builtin *builtin;
    const Sem *self;
    const BlockType *block;
    Value *v;
    Value *wide; /* i64 of v's shape, or NULL: v says it all */
};

/* ---- Names: one frame a function, with a journal of its assignments (scope.c) ------------------------------------ */

typedef struct Binding {
    const Sem *sem; /* NULL: not defined */
    Span span;      /* of the assignment */
    Span gap;       /* sem NULL after a branch or loop: the place where it stays undefined */
} Binding;

typedef struct Variable {
    const char *name;
    Binding now;
    uint32_t seen, index; /* marks of one walk over outcomes: the epoch, and where it stands in a list */
} Variable;

typedef struct Change {
    uint32_t variable;
    Binding was;
} Change;

/* A variable's binding at the end of a branch. */
typedef struct Outcome {
    uint32_t variable;
    Binding then;
} Outcome;

typedef struct Outcomes {
    Outcome *at;
    uint32_t count;
} Outcomes;

struct Frame {
    Frame *caller;
    const Node *fn;
    Span call; /* where it was called; {0,0}: the kernel */
    VEC(Variable) variables;
    uint32_t *slots; /* hash of names: index + 1 */
    uint32_t num_slots;
    VEC(Change) journal;
    uint32_t epoch;
    uint32_t loops; /* around this place */
};

/* The constants and functions of a file: the user's, or one of the library. */
struct FileScope {
    Frame *names;
    VEC(const Node *) nodes;   /* by variable of that frame */
    VEC(const Node *) earlier; /* likewise: the definition before, which may be meant as well; or NULL */
    VEC(const Node *) stars;   /* its imports of * */
    VEC(const Node *) inner;   /* those in its functions */
    const NodeList *foreign;   /* names of its functions that are no kernel code */
    const char *path, *folder; /* of the file; of its submodules, or NULL; the same:
                                * a folder without a file of its own */
    uint64_t device, inode;    /* which file it is */
    SyntaxMode mode;
    bool is_library;
};

typedef VEC(Value *) Values;
typedef struct Call Call;

#endif
