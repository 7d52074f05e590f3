/* record.h - one record per compiled variant: what the runtime must know to launch it; and the launch-rule evaluator.
 *
 * Written by the compiler, carried inside PTX, cubin and objects as the global byte array fsc_record_KERNEL, read by
 * the runtime. A record is text, one fact a line, so that the array's bytes begin with the magic "fsc-record 1\n":
 *
 *   fsc-record 1
 *   kernel softmax
 *   version 0.1.0
 *   target sm_80
 *   file "softmax.dsl"
 *   param pointer y fp32 divisible=16
 *   dim "$4" "$2"                          one line a dimension of the parameter before it: extent, stride (codes)
 *   param pointer x fp32 divisible=16 const
 *   param scalar n_rows i32 equals_one
 *   param scalar n_cols i32 least=897 most=1024
 *   param scalar eps fp32 default=1e-05
 *   param constexpr BLOCK int 1024 rule "$5 npow2"      name, kind and text of the value, origin, rule if there is one
 *   param constexpr T dtype fp32 default
 *   map 1 swizzle=128                      a tensor map over the memory of pointer parameter 1: the rows of its box are
 *                                          of 128 bytes (also 64, 32) and swizzled by that; 16: of any, as they are
 *   box 64 "$9"                            its dimensions, the fastest first: elements of the box, extent (code), …
 *   box 128 "$7" "$4"                      … and of all but the first the stride (code), both in elements
 *   grid "$4"                              one to three codes
 *   config "2 of 5"                        which configuration of @autotune this is; absent: it has none
 *   num_warps "4"                          likewise num_stages, num_ctas; each may be absent; of a tuned file also what
 *                                          the variant is compiled with
 *   tuned "softmax.tune" "$4 724 <= 3 4 sel"   that file, and the line that these arguments chose; 0: none holds;
 *                                          below 0: RECORD_TUNED_OPTIONS and RECORD_TUNED_NO_TARGET
 *   require "$6 $5 >=" "BLOCK >= n_cols"   code, the condition as the source has it
 *   launch softmax threads=128 programs=1 blocks=1 static=64 dynamic=0 threads_line=5 tile_line=7 shared_line=9
 *                                          blocks that reach over the grid: grid=64 as well, the most programs; where
 *                                          more threads on a multiprocessor are wanted: resident=1280; where it may
 *                                          begin before the launch ahead has ended: overlaps
 *   scratch 0
 *   access load 9 9 bytes=16 fp32 align=16 param=1
 *   end 5f1c09a2                           FNV-1a (32 bits) of every byte before this line: damage is seen
 *
 * A word is bare or quoted; inside quotes \" \\ \n and \xHH are escapes. In: text or parts. Out: Record or text.
 * No function here prints or exits; different threads may use different records; reading one from several is fine.
 */
#ifndef FSC_RECORD_H
#define FSC_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/base/scope.h"

#define RECORD_MAGIC         "fsc-record 1\n"
#define RECORD_TUNED_OPTIONS   "-1" /* options say what its rows would say: none counts */
#define RECORD_TUNED_NO_TARGET "-2" /* it has rows of this kernel for other targets only */
#define RECORD_SYMBOL_PREFIX "fsc_record_"

enum { RECORD_MAPS = 8, RECORD_BOXES = 5 }; /* at most: maps of a record, dimensions of a map */

/* ---- The record -------------------------------------------------------------------------------------------------- */

typedef enum RecordKind {
    RECORD_POINTER,   /* run-time: an address */
    RECORD_SCALAR,    /* run-time: a number */
    RECORD_CONSTEXPR, /* fixed in this variant; takes no place in the call (a scalar that -D fixed does:
                       * a require guards it) */
} RecordKind;

typedef enum RecordValueKind {
    RECORD_INT,
    RECORD_FLOAT,
    RECORD_BOOL,
    RECORD_DTYPE,
    RECORD_WORD, /* None, a text, a function: no launch rule asks for it; 0 where one does */
} RecordValueKind;

/* Where a constexpr's value came from. RULE and DEFAULT are compared with the rule at every launch (which variant fits;
 * never run wrong), and TUNED, whose rule is of a tuned file; OPTION, SIGNATURE and CONFIG (one of @autotune's
 * configurations) are the user's own choice and are not. */
typedef enum RecordOrigin {
    RECORD_OPTION,
    RECORD_SIGNATURE,
    RECORD_RULE,
    RECORD_DEFAULT,
    RECORD_CONFIG,
    RECORD_TUNED
} RecordOrigin;

/* One dimension of a shape contract: postfix codes (below), both in elements. */
typedef struct RecordDim {
    const char *extent, *stride;
} RecordDim;

typedef struct RecordParam {
    RecordKind kind;
    const char *name;
    /* POINTER, SCALAR */
    const char *dtype;  /* i1 i8 i16 i32 i64 u8 u16 u32 u64 fp8e4nv fp8e5 fp16 bf16 fp32 fp64; of the pointee */
    bool is_const;      /* pointer: nothing writes the memory during the kernel */
    bool equals_one;    /* scalar: compiled for the value 1 (still passed) */
    uint32_t least, most; /* scalar: compiled for least <= value <= most; 0: nothing assumed */
    uint32_t divisible; /* the address in bytes, or the value, is a multiple of this: 1 (nothing assumed), 16, … */
    RecordDim *dims;    /* shape contract, slowest dimension first; none: no contract */
    uint32_t num_dims;
    /* CONSTEXPR; SCALAR: its default, "" where it has none */
    RecordValueKind value_kind;
    const char *value; /* "1024", "-0.5", "inf", "1" or "0" (bool), "fp32" (dtype), "'tf32'" or "None" (word) */
    /* CONSTEXPR */
    RecordOrigin origin;
    const char *rule; /* the launch rule's code for it, or NULL */
} RecordParam;

/* A dimension of a map. */
typedef struct RecordBox {
    uint32_t elements;           /* of its box: a power of two, 256 at most */
    const char *extent, *stride; /* codes, in elements; the fastest has no stride: NULL */
} RecordBox;

/* A tensor map: what bulk copies know of a parameter's memory. The runtime makes it at the launch; the entry takes it
 * behind its run-time arguments, before all that a launch appends. */
typedef struct RecordMap {
    uint32_t param;   /* a pointer */
    uint32_t swizzle; /* bytes of a row of the box, and the span that it is swizzled by: 32, 64, 128; 16: by nothing */
    uint32_t num_boxes;
    RecordBox boxes[RECORD_BOXES]; /* the fastest first */
} RecordMap;

typedef struct RecordRequire {
    const char *code, *text; /* text: the condition as the source has it, for messages */
} RecordRequire;

/* One kernel launch of the variant; a variant makes them all, in order, on one stream. */
typedef struct RecordLaunch {
    const char *entry;           /* symbol in the module */
    uint32_t threads_per_block;  /* 0 on the CPU */
    uint32_t programs_per_block; /* > 1: the block count along x is ceil(grid.x / this), and the entry takes the real
                                     grid as three more i32 parameters after its own; a launch may put fewer programs
                                     into a block, which then has as many threads less */
    uint32_t blocks_per_program; /* along x; the block count along x is grid.x times this */
    Scope scope;                 /* what they form: a block, a cluster, or a grid: all blocks of the launch must be on
                                  * the device                                     at once then, and the entry takes the
                                  * launch's number, never 0, as one more i32 parameter */
    uint32_t most_programs;      /* of scope grid: so many along x, and no other axis; else 0 */
    uint32_t shared_static;      /* bytes that the module declares itself */
    uint32_t shared_dynamic;     /* bytes that the launch asks for */
    uint32_t threads_line;       /* in `file`, from 1: what asks for so many threads; 0: unknown, as below */
    uint32_t tile_line;          /* what makes the largest tile, which takes the registers */
    uint32_t shared_line;        /* what takes most of the shared memory */
    bool overlaps;               /* each program waits for the launches ahead, so it may begin before they end */
    uint32_t resident;           /* threads that a multiprocessor had better hold; 0: as many as come */
} RecordLaunch;

typedef struct RecordAccess {
    bool is_store;
    uint32_t line, col;    /* in `file`, from 1; 0: unknown */
    uint32_t vector_bytes; /* of one whole vector access */
    const char *dtype;     /* of the elements */
    uint32_t align;        /* proven alignment of the vector in bytes, 0: not said */
    int32_t param;         /* index of the pointer parameter, -1: not known */
} RecordAccess;

typedef struct fsc_record {
    const char *kernel, *version, *target, *file;  /* "softmax", "0.1.0", "sm_80" or "cpu", "softmax.dsl" */
    RecordParam *params;                           /* all, in source order; run-time ones are passed in this order */
    const char *grid[3];                           /* codes */
    const char *config;                            /* "2 of 5", NULL: not from @autotune */
    const char *num_warps, *num_stages, *num_ctas; /* codes, NULL: the rule does not say */
    int64_t compiled[3];                           /* what they gave for this variant, where a launch compares it: those
                                                    * of a tuned file; -1: nothing is compared */
    const char *tuned_file, *tuned_line;           /* its name, the code of the chosen line; NULL: there is none */
    RecordMap *maps;
    RecordRequire *requires;
    RecordLaunch *launches;
    RecordAccess *accesses;
    uint32_t num_params, num_maps, num_grid, num_requires, num_launches, num_accesses; /* num_grid 0: no launch rule */
    uint64_t scratch_bytes;     /* per running program (CPU: per thread) */
    struct RecordChunk *chunks; /* owns every string and array above */
    bool failed; /* memory ran out while it was built: record_write then gives NULL */
} Record;

/* ---- Building. Strings are copied. A returned pointer is valid until the next record_add_* of the same kind, and
 * never NULL unless memory ran out (then `failed` is set too and what was given is lost).
 * ---------------------------------- */

Record *record_create(const char *kernel);           /* NULL: out of memory */
void record_free(Record *r);                         /* NULL is allowed */
const char *record_string(Record *r, const char *s); /* a copy that lives as long as r; NULL for NULL */

void record_set_target(Record *r, const char *target, const char *version, const char *file);
RecordParam *record_add_param(Record *r, RecordKind kind, const char *name, const char *dtype);
void record_set_default(Record *r, RecordParam *p, RecordValueKind kind, const char *value); /* of a scalar */
/* kind CONSTEXPR with its value; rule may be NULL. */
RecordParam *record_add_constexpr(Record *r, const char *name, RecordValueKind kind, const char *value,
                                  RecordOrigin origin, const char *rule);
void record_add_dim(Record *r, uint32_t param, const char *extent, const char *stride);
RecordMap *record_add_map(Record *r, uint32_t param, uint32_t swizzle);
/* To the last map. stride: NULL of its first one. */
void record_add_box(Record *r, uint32_t elements, const char *extent, const char *stride);
void record_add_grid(Record *r, const char *code);
void record_set_config(Record *r, const char *text);
void record_set_num_warps(Record *r, const char *code); /* likewise below */
void record_set_num_stages(Record *r, const char *code);
void record_set_num_ctas(Record *r, const char *code);
void record_set_compiled(Record *r, int i, int64_t value); /* of num_warps, num_stages, num_ctas: 0, 1, 2 */
void record_set_tuned(Record *r, const char *file, const char *line);
RecordRequire *record_add_require(Record *r, const char *code, const char *text);
/* shared_bytes is dynamic: what the launch asks for.
 * Set shared_static in the result where the module declares its own. */
RecordLaunch *record_add_launch(Record *r, const char *entry, uint32_t threads_per_block, uint32_t programs_per_block,
                                uint32_t blocks_per_program, uint32_t shared_bytes);
/* align_log2 of the vector's first byte; the result's `param` is -1 and may be set. */
RecordAccess *record_add_access(Record *r, bool is_store, uint32_t line, uint32_t col, uint32_t vector_bytes,
                                const char *dtype, uint32_t align_log2);

/* ---- Text -------------------------------------------------------------------------------------------------------- */

/* The text, NUL-terminated, malloc'd: the caller frees it. *length (may be NULL) without the NUL. NULL:
 * out of memory. */
char *record_write(const Record *r, size_t *length);
/* From text (bytes after the "end" line are ignored). NULL with a sentence in err (may be NULL) when damaged,
 * truncated, of another version, or wrong in itself (a code that does not check, a dtype that does not exist, …); with
 * "" in err where memory ran out. */
Record *record_parse(const char *text, size_t length, char *err, size_t errsize);
/* Likewise of a kernel before specialisation: a parameter's type may be "" or a dtype parameter's name,
 * a constexpr's value "". */
Record *record_parse_interface(const char *text, size_t length);
Record *record_copy(const Record *r); /* NULL: out of memory */

/* The next record inside an image (PTX text, cubin, fatbin, ELF) at or after *offset, which is moved behind it. PTX
 * holds it as `.b8 fsc_record_NAME[LEN] = {102, 115, …}`, anything else as plain bytes. Returns its bytes malloc'd and
 * NUL-terminated (the caller frees), NULL when there is none left (or no memory: *length is SIZE_MAX then). Damaged
 * ones are returned as found: record_parse says what is wrong. */
char *record_find(const void *image, size_t size, size_t *offset, size_t *length);

/* ---- Launch rules: postfix code ------------------------------------------------------------------------------------
 * Tokens, separated by blanks. Values are 64-bit integers (truth: 0 and 1) or doubles; where one operand is a double,
 * both are. Integers that leave the 64 bits are an error, never a wrap. Element types are values, too: they are equal
 * to each other or not, and have their bits; all else of them is an error.
 *
 *   12 -3        integer           0.5 1e-05 inf   double (has a '.', an exponent, or is inf/nan)
 *   bf16         an element type
 *   $4           the value of parameter 4: index into Record.params, constexpr ones count
 *   a b +  a b -  a b *            as in Python; a neg is -a
 *   a b //       floor(a / b)      a b %  is a - b * floor(a / b): the sign of b. b = 0 is an error
 *   a b <  <= > >= == !=           0 or 1, exact also between integer and double
 *   a b and      a if a is 0, else b; what the chosen side does not need may fail (as in Python)
 *   a b or       b if a is 0, else a;      a not   1 if a is 0, else 0
 *   c a b sel    a if c is not 0, else b: Python's `a if c else b`; the other arm may fail
 *   a b min  a b max               the lesser, the greater; the first when equal
 *   a b cdiv     ceil(a / b), integers, exact for every sign
 *   a npow2      the smallest power of two >= a, 1 for a <= 1, integer
 *   a bits       of an element of type a: 16 of bf16, 1 of i1
 *   num_sms max_shared num_regs warp_size    of the device: multiprocessors (threads of the CPU target), shared bytes a
 *                block can have with opt-in, registers of a multiprocessor, threads of a warp
 *   occupancy    programs of this variant that one multiprocessor holds at a time
 */

typedef struct RuleValue {
    bool is_float;
    int64_t i; /* where !is_float */
    double f;  /* where is_float */
    bool is_dtype; /* i is an fsc_dtype */
} RuleValue;

typedef enum RuleStatus {
    RULE_OK,
    RULE_UNBOUND,   /* needs a parameter or device fact that env does not know: err is its NAME alone */
    RULE_DIVISION,  /* division by zero */
    RULE_OVERFLOW,  /* beyond 64 bits */
    RULE_TYPE,      /* a double where an integer must be, an element type where a number must be */
    RULE_MALFORMED, /* not a code: unknown token, stack not even */
} RuleStatus;

typedef struct RuleBinding {
    const char *name; /* for messages; may be NULL */
    bool known;
    RuleValue value;
} RuleBinding;

/* A zeroed env knows nothing. */
typedef struct RuleEnv {
    const RuleBinding *values; /* $i */
    uint32_t num_values;
    int64_t num_sms, max_shared, num_regs, warp_size;          /* 0: unknown */
    RuleStatus (*occupancy)(void *context, int64_t *programs); /* NULL: unknown; asked only when the code needs it */
    void *context;
} RuleEnv;

RuleValue rule_int(int64_t i);
RuleValue rule_float(double f);
bool rule_dtype(const char *name, size_t length, RuleValue *out); /* an element type by its name; false: no such type */
bool rule_is_int(RuleValue v);
bool rule_truth(RuleValue v);
/* a // b and a % b as Python has them; b is not 0 */
void rule_divide(double a, double b, double *quotient, double *rest);

/* Evaluates. err (may be NULL) holds a sentence that names the operation and its operands, or for RULE_UNBOUND the
 * name. *out is written only on RULE_OK. Allocates nothing; at most 64 values on the stack. */
RuleStatus rule_eval(const char *code, const RuleEnv *env, RuleValue *out, char *err, size_t errsize);
/* Like rule_eval, and the result must be an integer (a double with an integer's value counts). */
RuleStatus rule_eval_int(const char *code, const RuleEnv *env, int64_t *out, char *err, size_t errsize);
/* Whether code is well formed over num_values parameters; a sentence in err otherwise. */
bool rule_check(const char *code, uint32_t num_values, char *err, size_t errsize);
/* Whether $index occurs in it. */
bool rule_uses(const char *code, uint32_t index);
/* The code as an expression, "min(n_rows, num_sms() * occupancy())", cut off at `size`; names[i] for $i. */
void rule_print(const char *code, const char *const *names, uint32_t num_names, char *out, size_t size);
/* "12", "0.5": as Python prints them; "bf16". Returns out. */
char *rule_value_print(RuleValue v, char *out, size_t size);
/* The value of a constexpr parameter, the default of a scalar; false where there is none. */
bool record_value(const RecordParam *p, RuleValue *out);

#endif
