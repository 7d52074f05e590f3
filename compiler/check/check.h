/* check.h - from the AST to the tile IR: names, types, compile-time evaluation, specialisation, launch rule.
 *
 * check_kernel picks the entry point, binds its parameters (signature, -D, -T, launch rule, defaults), evaluates what
 * is known at compile time, inlines calls of other functions of the file, and builds the Func at STAGE_TILE together
 * with the first half of the variant's record (what the compiler knows before code generation). Every error of the
 * user's is a diagnostic at its place; checking goes on to the next statement.
 */
#ifndef FSC_CHECK_H
#define FSC_CHECK_H

#include "ir/ir.h"
#include "runtime/record/record.h"
#include "syntax/ast.h"

typedef struct NameValue {
    const char *name, *value; /* as the user wrote them */
} NameValue;

enum { MOST_GRID = 256 };

typedef struct CheckOptions {
    const char *kernel;    /* --kernel, or NULL: the only entry point */
    const char *signature; /* --signature text, or NULL */
    const NameValue *defines; /* -D NAME=VALUE: constexpr parameters, or scalar parameters fixed to a value; "n<", "n>":
                               * bounds; "N:": as if the launch rule had given it (origin RULE) */
    const NameValue *types;   /* -T NAME=TYPE: dtype parameters, or the type of a bare parameter ("fp16", "*fp16") */
    uint32_t num_defines, num_types;
    uint32_t config; /* which configuration of @autotune, from 1; 0: the first, if there are any */
    uint32_t num_warps, num_stages, num_ctas; /* 0: from the launch rule, else chosen */
    bool reaches_grid;                        /* those blocks form no cluster, but meet over the grid:
                                               * up to MOST_GRID */
    /* What a run-time launch knows: divisibility per run-time parameter, by name; applied like ":16". */
    const NameValue *divisible; /* value "16" or "1" */
    uint32_t num_divisible;
    /* Values of run-time scalars and facts of the device (0: unknown) for the launch rule only: constexpr parameters
     * that the rule gives are evaluated with them (origin RULE), nothing else sees them. */
    const NameValue *known;
    uint32_t num_known;
    struct {
        const char *file, *text; /* what `fsc tune` wrote; NULL: there is none */
        const char *arch;        /* whose rows count: "sm_90", "cpu" */
    } tuned;
    const char *include; /* folders where imports are looked for, ':' between them; or NULL */
    bool *seeks_files;   /* set where a file was looked for; may be NULL */
    bool remarks;      /* of performance, where code for a GPU is made */
    bool device_debug; /* prints and assertions of the kernel are compiled */
    int64_t num_sms, max_shared, num_regs, warp_size;
} CheckOptions;

typedef struct Kernel {
    Func *func;
    Record *record; /* parameters, contracts, constexprs, launch rule, accesses' places; launches come later */
} Kernel;

/* NULL where there is no kernel. After errors in d the function is what could be checked, without an end: to be looked
 * at, not to be compiled. After errors of syntax what is whole is checked all the same, for its own errors. */
Kernel *check_kernel(Arena *a, Strings *s, Diag *d, const Module *m, const CheckOptions *o);

/* The entry point's parameters before any specialisation, for those who bind arguments first (the JIT, `fsc run`):
 * every parameter in order with contract and launch rule; constexpr ones with their default's text ("" if there is
 * none). The dtype of a parameter whose type is open is "" or the name of the dtype parameter that decides it. Owned by
 * the caller (record_free). NULL after errors in d. */
Record *check_interface(Arena *a, Strings *s, Diag *d, const Module *m, const CheckOptions *o);

/* Names of the entry points of a module, for messages and `fsc info`. */
uint32_t check_entry_points(const Module *m, const Node **functions, uint32_t max);

/* The list that the key of the kernel's @autotune is; NULL: there is none, or it is not written out. */
const Node *check_autotune_key(const Module *m, const char *kernel);

/* ---- builtin.c --------------------------------------------------------------------------------------------------- */

/* Every builtin with its arguments, one a line in the table's order; "=" stands after those that may be left out. */
void builtin_list(Arena *a, Text *out);

/* ---- signature.c: the text of --signature ------------------------------------------------------------------------ */

typedef enum SigKind {
    SIG_POINTER, /* *fp32, *const fp32 */
    SIG_TYPE,    /* i32: a scalar's type, or the binding of a dtype parameter */
    SIG_INT,     /* 1024 */
    SIG_FLOAT,   /* 0.5, 1e-5, inf */
    SIG_BOOL,    /* True, False */
    SIG_DESCRIPTOR, /* tensordesc<bf16[128,64]> */
    SIG_NONE,    /* None, or nothing between two commas: not bound here */
} SigKind;

typedef struct SigItem {
    SigKind kind;
    const char *dtype;  /* canonical short name ("fp32", "u8"); SIG_POINTER, SIG_TYPE, SIG_DESCRIPTOR */
    int64_t block[SHAPE_RANK]; /* of a descriptor: sizes of its block */
    uint32_t rank;
    bool is_const;      /* *const T */
    uint32_t divisible; /* 16 after ":16", else 1 */
    bool equals_one;    /* ":1" */
    const char *text;   /* the item as written */
} SigItem;

/* Items in order. False with an error in d (at no span; the message shows the text and the position). */
bool signature_parse(Arena *a, Diag *d, const char *text, const SigItem **items, uint32_t *count);
/* tensordesc<bf16[128,64]>, as Triton writes it: dtype, block and rank of the item. False: no such type. */
bool descriptor_parse(Arena *a, const char *text, SigItem *item);
/* "fp32", "float32", "tl.float32", "torch.float16", "int32", "uint8", "bool"… → the canonical short name, or NULL. */
const char *dtype_canonical(const char *name);
const char *dtype_spelling(uint32_t i); /* all that the former knows, then NULL */

/* ---- rule.c: launch-rule expressions → postfix code of record.h -------------------------------------------------- */

/* What a rule's expression is: a constexpr parameter may be a type as well. */
typedef enum RuleKind { RULE_IS_NUMBER, RULE_IS_TYPE, RULE_IS_EITHER } RuleKind;
/* The index of a name among the kernel's parameters, and what it is, or -1. */
typedef int RuleNames(void *context, const char *name, RuleKind *kind);
/* Code text in the arena, or NULL with an error in d at the node's place. */
const char *rule_compile(Arena *a, Diag *d, const Node *expr, RuleNames *names, void *context);

#endif
