/* sema.h - inside check/: the checker's state, and what its files ask of each other.
 *
 * The wide rule: an integer that arithmetic made carries, beside its value in its own type, the same sum or product in
 * 64 bits (`wide`). Pointer arithmetic and comparisons take the wide one, everything else the value in its own type.
 * Both are built at once, and branches and loops carry both: max, min and widening make a wide form whose low bits are
 * not the value. What nothing needs is dropped by the dce pass.
 */
#ifndef FSC_SEMA_H
#define FSC_SEMA_H

#include "check/sem.h"

/* ---- The checker ------------------------------------------------------------------------------------------------- */

typedef struct Checker {
    Arena *a;
    Strings *s;
    Diag *d;
    const Module *m;
    const CheckOptions *o;
    Func *f;
    Builder b;
    Record *record;
    Frame *frame;
    Frame *entry;                          /* the kernel's parameters as they were when it began */
    uint32_t calls;                        /* depth of inlined calls */
    uint32_t depth;                        /* of the evaluation: limits the stack */
    uint64_t steps;                        /* statements and expressions evaluated: limits time */
    bool too_large;                        /* the limit was reported */
    bool combines;                         /* a combine function is under way */
    const Shape *by_element;               /* of map_elementwise, under way: a condition is asked of each element */
    const char *live, *brk, *ret, *retval; /* names of hidden variables */
    FileScope *file;                       /* of the function under way */
    FileScope *main;                       /* the user's file */
    VEC(FileScope *) files;                /* those that it imports, as far as they are read */
    const StarSearch *searches;            /* of names in imports of *, that are under way */
    FileScope **library;                   /* by file of the library; NULL until a function of it is called */
    Span library_call;                     /* the user's call of the library code under way; {0,0}: the user's code */
} Checker;

/* value.c: making and describing */
extern const Sem sem_error, sem_none;
const Sem *sem_bool(Checker *c, bool x);
const Sem *sem_int(Checker *c, Int x);
const Sem *sem_i64(Checker *c, int64_t x);
const Sem *sem_float(Checker *c, double x);
const Sem *sem_string(Checker *c, const char *s);
const Sem *sem_type(Checker *c, SType t, bool is_pointer);
const Sem *sem_module(Checker *c, const char *name);
const Sem *sem_file(Checker *c, FileScope *file);
const Sem *sem_tuple(Checker *c, const Sem **items, uint32_t count);
const Sem *sem_limited(Checker *c, const Sem *s, Span at); /* s, or an error where the tuple or string is too large */
void spend_looking(Checker *c, const Sem *s);              /* steps of the budget for printing or comparing it */
const Sem *sem_run(Checker *c, SType t, Value *v, Value *wide);
const Sem *sem_pointer(Checker *c, SType pointee, Value *v);
const Sem *sem_with(Checker *c, const Sem *s, Value *v, Value *wide); /* the same type of value, another value */
const Sem *sem_strong(Checker *c, const Sem *s); /* the constant as a name holds it: no longer weak */
const Sem *sem_weak(Checker *c, const Sem *s);
bool sem_is_error(const Sem *s);
bool sem_is_number(const Sem *s); /* BOOL INT FLOAT */
bool sem_is_const(const Sem *s);  /* known at compile time */
bool sem_is_tile(const Sem *s);
bool sem_is_value(const Sem *s); /* a number or a run-time value that is no pointer */
Shape sem_shape(const Sem *s);
SType sem_natural(const Sem *s);                     /* of a number: i1, i32, i64, u64, fp32 */
bool sem_same_type(const Sem *x, const Sem *y);      /* run-time: element type, pointer, shape */
bool sem_equal(const Sem *x, const Sem *y);          /* compile-time constants */
const char *sem_type_text(Checker *c, const Sem *s); /* i32, tile<128xfp32>, *fp32, int 5 */
const char *type_text(Checker *c, SType t, bool is_pointer, Shape shape);
const char *number_text(Checker *c, const Sem *s);
/* True, with the value; else an error at `at`: "axis must be an int known at compile time, not i32". */
bool sem_want_int(Checker *c, const Sem *s, Span at, const char *what, int64_t *out);
bool sem_want_bool(Checker *c, const Sem *s, Span at, const char *what, bool *out);

/* consteval.c: operators on compile-time values, with Python's meaning; NULL: not an operation on constants */
const Sem *const_binary(Checker *c, BinaryOp op, const Sem *x, const Sem *y, Span at);
const Sem *const_unary(Checker *c, UnaryOp op, const Sem *x, Span at);
const Sem *const_compare(Checker *c, CompareOp op, const Sem *x, const Sem *y, Span at);
bool const_truth(const Sem *s); /* Python's truth of a constant */

/* scope.c */
Frame *frame_push(Checker *c, const Node *fn, Span call);
void frame_pop(Checker *c);
uint32_t frame_variable(Checker *c, const char *name);       /* index, made on demand */
int64_t frame_index(const Frame *f, const char *name); /* -1: never assigned */
const Binding *frame_find(const Frame *f, const char *name); /* NULL: never assigned */
void frame_set(Checker *c, uint32_t variable, Binding b);
void frame_assign(Checker *c, const char *name, const Sem *s, Span at);
const Sem *frame_get(Checker *c, const char *name); /* hidden variables; sem_error if absent */
uint32_t journal_mark(const Checker *c);
/* The bindings of all variables changed since the mark; and back to what they were. */
Outcomes journal_collect(Checker *c, uint32_t mark);
void journal_undo(Checker *c, uint32_t mark);
/* A name as an expression: locals, constants of the file, functions, builtins, types, modules; else an error. */
const Sem *scope_lookup(Checker *c, const char *name, Span at);
/* Constants and functions of the file, imports, which may be errors at the place; or NULL. */
const Sem *scope_global(Checker *c, const char *name, Span at);
/* Reports that the name is that of a function of the file's that is no kernel code; false: it is not. */
bool refuse_foreign(Checker *c, const char *name, Span at);
const Node *global_node(const Checker *c, const char *name); /* its CONSTANT, FUNCTION or IMPORT, or NULL */
void global_set(Checker *c, const Node *constant, const Sem *s); /* whatever the file says that it is */
FileScope *scope_of_file(Checker *c, const Module *m); /* with errors for functions that are there twice */

bool triton_rules(const Checker *c); /* the code under way is of a .py file: Triton's meaning where the two differ */

/* import.c: NULL: there is no such file, or no such name in it */
const Sem *import_find(Checker *c, const Node *n, Span at);
const Sem *import_by_star(Checker *c, const char *name, Span at);
const Sem *file_member(Checker *c, const FileScope *file, const char *name, Span at);
void import_missing(Checker *c, const Node *n, const char *name, Span at); /* the error */
/* The import that may bind a name which the file itself does not: in a function around the present one,
 * or a * of who knows what. */
const Node *import_around(Checker *c, const char *name);

/* convert.c: between types and shapes */
enum { TILE_BITS = 20 }; /* log2 of the elements of a tile, at most */
const Sem *to_run(Checker *c, const Sem *s, Span at); /* a number becomes a run-time scalar of its natural type */
Value *const_value(Checker *c, const Sem *number, SType t, Shape shape); /* a number that fits t */
bool number_fits(const Sem *number, SType t);
/* To element type t, keeping the shape; numbers become constants of that type (an error where they do not fit). */
const Sem *convert_to(Checker *c, const Sem *s, SType t, Span at);
const Sem *convert_rounded(Checker *c, const Sem *s, SType t, Round round);
const Sem *broadcast_to(Checker *c, const Sem *s, Shape shape); /* must fit */
bool broadcast_shape(Checker *c, const Sem *x, const Sem *y, Span at, Shape *out);
bool shape_join(Shape x, Shape y, Shape *out);                                /* NumPy's rule; false: they do not fit */
Value *wide_value(Checker *c, const Sem *s);                                  /* i64, of an integer */
Value *narrow_value(Checker *c, Value *wide, SType t);                        /* back to t */
Value *broadcast_value(Checker *c, Value *v, Shape shape);                    /* must fit; NULL: NULL */
/* A scalar as i1, or a constant bool; in map_elementwise also a tile of i1. */
const Sem *condition_of(Checker *c, const Sem *s, Span at, const char *what);
const Sem *bitcast_to(Checker *c, const Sem *s, SType t, bool is_pointer, Span at);
/* A tile's dimension: a power of two, or an error that names the next one. */
bool dimension_log2(Checker *c, int64_t size, Span at, uint8_t *log2);
bool check_elements(Checker *c, Shape s, Span at);
const Sem *expand_at(Checker *c, const Sem *s, uint32_t axis);

/* arith.c: run-time operators (constants go through consteval.c first) */
const Sem *arith_binary(Checker *c, BinaryOp op, const Sem *x, const Sem *y, Span at);
const Sem *arith_unary(Checker *c, UnaryOp op, const Sem *x, Span at);
const Sem *arith_compare(Checker *c, CompareOp op, const Sem *x, const Sem *y, Span at);
/* The common element type of two values (numbers adapt); false and an error where there is none. */
bool check_promote(Checker *c, const Sem *x, const Sem *y, Span at, SType *out);
bool mixes_signs(const Sem *x, const Sem *y); /* a signed and an unsigned integer, neither of which adapts */
typedef enum MinMax { TAKE_MAX, TAKE_MIN } MinMax;

/* Which file of the library has a mathematical function (else math32 or math64),
 * and that its operands are not widened. */
enum { LIB_ARC = 1, LIB_REAL = 2, LIB_AS_IT_IS = 4 };
const Sem *arith_minmax(Checker *c, MinMax which, bool propagate_nan, const Sem *x, const Sem *y, Span at);
const Sem *arith_select(Checker *c, const Sem *cond, const Sem *x, const Sem *y, Span at);
OpKind minmax_op(MinMax which, SType t, bool propagate_nan);
SType sum_type(const Checker *c, SType t); /* of a sum of t */
OpKind sum_op(const Checker *c, SType t);
const Sem *pointer_add(Checker *c, const Sem *p, const Sem *offset, bool negate, Span at);

/* expr.c */
const Sem *check_expr(Checker *c, const Node *n);
/* After `errors` errors: if another came, about types that meet wrongly,
 * says where the n operands come from (origin.c). */
typedef struct Operands {
    const Span *at;
    const Sem *const *of;
    uint32_t count;
    const char *builtin, *names; /* whose arguments they are, and what it calls them, blank separated; or NULL */
} Operands;
void note_origins(Checker *c, uint32_t errors, const Operands *o);
const Sem *check_binary(Checker *c, BinaryOp op, const Sem *x, const Sem *y, Span at);
const Sem *binary_node(Checker *c, const Node *n, const Sem *x, const Sem *y); /* of n->a and n->b */
const Sem *check_compare(Checker *c, CompareOp op, const Sem *x, const Sem *y, Span at);
bool check_spend(Checker *c, Span at); /* one step of the budget; false once it is used up */
/* iterate.c: the tuple that range(...), product(...) or zip(...) of known values is, or any other expression */
const Sem *check_iterable(Checker *c, const Node *n);
/* Calls `each` with the element for every round, its names bound; false: an iterable is no compile-time tuple. */
typedef void EachElement(void *context, const Node *element);
bool comprehension_walk(Checker *c, const Node *n, EachElement *each, void *context);
/* format.c */
void sem_print(Checker *c, const Sem *s, Text *out); /* as static_print shows it */
const Sem *format_string(Checker *c, const Node *n); /* an f-string */
/* index.c */
const Sem *check_attribute(Checker *c, const Node *n);
const Sem *shape_tuple(Checker *c, Shape shape);                 /* x.shape */
const Sem *attribute_of(Checker *c, const Node *n, const Sem *s); /* s is the value before the dot */
const Sem *check_subscript(Checker *c, const Node *n);
const Sem *type_question(Checker *c, const Node *call); /* T.is_floating(), tl.dtype("int32"); NULL: neither */
bool value_has(const char *name); /* as x.name, of a value at run time or a number */
const Sem *module_member(Checker *c, const char *name); /* of tl, tl.math, …; NULL: they have no such name */
const Sem *private_member(Checker *c, const char *module, const char *name); /* of triton.language.standard and core */
/* True after the error that the name is one of triton.language that fsc refuses. */
bool refused_name(Checker *c, const char *name, Span at);
/* Behind an error about `name`: what says the same here, if it is a word of another library. */
bool note_word(Checker *c, const char *name, Span at);
bool is_foreign_word(const char *name);
/* The `name` at the head or end of the span is to be `with`. */
void fix_head(Checker *c, Span at, const char *name, const char *with);
void fix_tail(Checker *c, Span at, const char *name, const char *with);

/* stmt.c */
/* Statements still to run: a list, then those after the list that it stands in. */
typedef struct Rest {
    Node *const *list;
    uint32_t count;
    const struct Rest *next;
} Rest;

void rest_run(Checker *c, const Rest *r); /* NULL is allowed */
void block_run(Checker *c, const NodeList *list);
void assign_to(Checker *c, const Node *target, const Sem *s, Span at);

/* flow.c: branches. Hidden variables carry the control flow: `$live` (what follows here runs), `$brk` (the innermost
 * loop ends), `$ret` (a return inside a loop happened), `$retval`. Constants while known, i1 values after branches. */
typedef enum Liveness { FLOW_DEAD, FLOW_LIVE, FLOW_MAYBE } Liveness;

typedef struct Arm {
    Block *block;
    Outcomes outcomes;
    Liveness state;
    const Sem *value; /* of a conditional expression */
} Arm;

Liveness flow_state(Checker *c);
void flow_stop(Checker *c); /* nothing after this place runs */
/* A dynamic `if` and, where one of its arms ends early, the statements after it; true: it took the rest. */
bool if_dynamic(Checker *c, const Node *n, const Sem *cond, const Rest *rest);
void rest_if_live(Checker *c, const Rest *rest);
void block_splice(Checker *c, Block *from); /* its ops to where the checker is */
const Sem *check_choose(Checker *c, const Node *n);
const Sem *short_circuit(Checker *c, const Node *n);
/* After a warning: in a Triton file `and`, `or` and `not` take tiles, too. False: this is no such file. */
bool tile_logic(Checker *c, const Node *n, const char *word, const char *instead);
enum { LEAVES_BREAK = 1, LEAVES_CONTINUE = 2, LEAVES_RETURN = 4 };
int list_leaves(const NodeList *list); /* how statements may leave a list early: a set of LEAVES_… */

/* merge.c: one value out of two paths */
void arms_merge(Checker *c, const Sem *cond, Arm arms[2], Span at);
const Sem *arms_value(Checker *c, const Sem *cond, Arm arms[2], Span at); /* of the arms' values; no variables change */
Value *filler_value(Checker *c, const Sem *like, bool wide); /* a zero for a path on which nothing reads it */
void prune_unused(Func *f, Block *b); /* drops pure ops, results of ifs and carried values that nothing reads */

/* loop.c, carry.c */
void loop_for(Checker *c, const Node *n);
void loop_while(Checker *c, const Node *n);
void loop_break(Checker *c, const Node *n);
void loop_continue(Checker *c, const Node *n);
void loop_poisoned(Checker *c, const Node *n);
const Sem *loop_enter(Checker *c); /* the `$brk` outside, for loop_leave */
void loop_leave(Checker *c, const Sem *outer_brk);
const Sem *loop_goes_on(Checker *c); /* not `$brk`: a bool or an i1 */
void range_arguments(Checker *c, Call *call, const Sem *sem[3], Span at[3]);
/* unroll.c: loops that run at compile time */
void loop_static(Checker *c, const Node *n, Call *call);
void loop_items(Checker *c, const Node *n, const Sem *tuple);

/* A variable that a loop carries from one iteration to the next. */
typedef struct Carried {
    uint32_t variable;
    const Sem *init; /* run-time, before the loop */
    Span span;       /* of the assignment before the loop */
    uint32_t slot;   /* of its value among what the loop carries */
    bool wide;       /* the next slot carries its wide form */
} Carried;

typedef struct Carries {
    Carried *at;
    uint32_t count;
    uint32_t slots; /* in all */
} Carries;

Carries carries_find(Checker *c, const Node *loop, bool returns);
void carried_init(Checker *c, const Carried *v, Values *slots);
const Sem *carried_sem(Checker *c, const Carried *v, Value **slots); /* the variable inside, or after, the loop */
/* The values for the next iteration, after an error zeros. */
void carried_next(Checker *c, const Carried *v, Values *slots);
/* The loop is over: journal back to the mark, results into their variables, the others undefined. */
void carries_finish(Checker *c, const Carries *k, uint32_t mark, Value **results, Span at);

/* call.c */
const Sem *check_call(Checker *c, const Node *n);
const Sem *record_call(Checker *c, const Sem *record, const Node *call_node); /* builtin/record.c */
const Sem *record_field(const Sem *tuple, const char *name);                 /* NULL: it has none */
/* A call of a function with arguments that are values already, at the user's place `at`. */
const Sem *call_function(Checker *c, const Sem *function, const Sem *const *values, uint32_t count, Span at);
const Sem *call_bound(Checker *c, const Sem *function, const Sem *self, const Node *call_node);
const Sem *call_library(Checker *c, const Builtin *b, const Sem *self, const Node *call_node);
void return_run(Checker *c, const Node *n);

/* builtin.c */
enum { BUILTIN_ARGS = 12 };

/* A call with its arguments in the order of the builtin's names; NULL: not given. */
struct Call {
    const Builtin *builtin;
    Span span;
    const Sem *arg[BUILTIN_ARGS];
    Span at[BUILTIN_ARGS];
    uint32_t positional; /* how many came by position */
    const Node *node;
    bool is_method; /* x.max(): the first argument stands before the dot */
    bool is_bare; /* max(x), not tl.max(x) or x.max() */
};

typedef const Sem *Handler(Checker *c, Call *call);

struct Builtin {
    const char *name;
    const char *names; /* of the arguments, blank separated */
    const char *kinds; /* of each, a letter of kind.def */
    Handler *run;      /* NULL: not compiled yet */
    int min, max;      /* arguments */
    int aux;
    const char *library; /* the file of lib/ whose function of this name it is; NULL: run makes it */
};

typedef struct Arg {
    const char *name; /* NULL: by position */
    const Sem *sem;
    Span at;
} Arg;

typedef struct Args {
    VEC(Arg) list;
    uint32_t positional;
    bool poisoned; /* one of them is */
} Args;

/* block.c */
typedef struct BlockArgs { /* arguments of load and store; 0: it has none */
    uint32_t mask, other, checked, padding;
} BlockArgs;
/* The call of a block pointer becomes that of its addresses, with a mask; any other has no option of blocks.
 * False after an error. */
bool block_as_pointer(Checker *c, Call *call, const BlockArgs *at);
bool sem_same_block(const Sem *x, const Sem *y);
/* The descriptor that the item says, of its pointer, its sizes and its strides but the last, which is 1. */
const Sem *block_of_host(Checker *c, const SigItem *item, const Sem *const *values, Span at);
const Sem *sem_with_items(Checker *c, const Sem *s, const Sem **items); /* a block or tuple, of other values */
const Sem *block_property(Checker *c, const Sem *s, const char *name);  /* NULL: there is none */
const Builtin *block_method(Checker *c, const Sem *s, const char *name); /* likewise */

const Builtin *builtin_find(const char *name);
const char *const *builtin_names(uint32_t *count);
Args args_evaluate(Checker *c, const Node *call_node, const Sem *self);
/* False after an error, or where an argument is poison. */
bool builtin_bind(Checker *c, const Sem *callee, const Node *call_node, Call *call);
bool call_is_elementwise(const Call *call);
const Sem *builtin_call(Checker *c, const Sem *callee, const Node *call_node);
bool call_flag(const Call *call, uint32_t arg, bool otherwise); /* of kind 'b' */
const char *argument_of(Checker *c, const Call *call, uint32_t arg); /* 'axis' of 'sum' */
/* argument.c: false after an error. The letter is one of kind.def. */
bool argument_fits(Checker *c, const char *builtin, const char *name, char letter, const Sem *s, Span at);
/* (M, N), [M, N] or M; `what` is its name in errors. */
bool read_shape(Checker *c, const Sem *given, Span at, const char *what, Shape *out);
const Sem *reshape_to(Checker *c, const Sem *x, Shape to);      /* of as many elements */
const Sem *check_transpose(Checker *c, const char *name, const Sem *x, Span at); /* the last two axes change places */
const Sem *float_power(Checker *c, const Sem *x, const Sem *y, Span at); /* by the library */
uint32_t add_site(Checker *c, Span at);

/* builtin/memory.c: what all accesses of memory share. False, or sem_error: an error was reported. */
typedef struct Word {
    const char *text; /* NULL ends a list; the first is the default */
    uint8_t value;
} Word;
/* A string; `row` of diag.def says that it is none of the words. */
bool word_argument(Checker *c, Call *call, uint32_t arg, const char *row, const char *what, const Word *words,
                   uint8_t *out);
bool check_pointer(Checker *c, Call *call);                             /* argument 0 */
bool read_mask(Checker *c, Call *call, uint32_t arg, Value **out);      /* *out NULL: no mask */
const Sem *fit_pointer(Checker *c, Call *call, uint32_t arg, const Sem *s); /* to the pointer's shape */
const Sem *to_memory(Checker *c, const Sem *s, SType element, Span at); /* as it lies there */
const Sem *check_minmax(Checker *c, MinMax which, bool propagate_nan, const Sem *x, const Sem *y,
                  Span at); /* constants too */

/* builtin/debug.c: false after an error */
bool values_close_ranks(Checker *c, Call *call, uint32_t from, uint32_t most);
/* builtin/debug.c: `assert` of a condition that is known at run time */
void assert_run(Checker *c, const Node *n, const Sem *cond);

/* library.c: the functions of lib/, files of kernel-language source embedded in the compiler */
const Sem *library_function(Checker *c, const char *file, const char *name);
const Sem *library_find(Checker *c, const char *file, const char *name); /* NULL: it has none of that name */
/* The names of its parameters, "=" after those with a default. */
void library_parameters(Arena *a, const char *file, const char *name, Text *out);

/* builtin/reduce.c: what reductions and scans are asked for */
enum { ALL_AXES = -1 };
bool read_reduced_axis(Checker *c, Call *call, uint32_t arg, const Sem *x, int64_t *axis); /* None: ALL_AXES */
const Sem *result_type(const Call *call, uint32_t arg); /* NULL: not given */
/* An axis that x has, counted from the front; false after the error that it has not. */
bool function_takes(const Node *fn, uint32_t count); /* so many arguments by position */
bool own_axis(Checker *c, Call *call, Span at, const Sem *x, int64_t *axis);
/* s without the reduced axes (ALL_AXES: a scalar), with them again as size 1. */
const Sem *restore_axes(Checker *c, const Sem *s, int64_t axis, Shape from);
/* builtin/scan.c: max and min with return_indices; x is in the type to compute in */
typedef struct Extreme {
    MinMax which;
    bool propagate_nan, keep_dims, takes_last; /* takes_last: of equal ones */
    int64_t axis;
} Extreme;
const Sem *extreme_pair(Checker *c, const Extreme *e, const Sem *x, Span at); /* a tuple: values, indices */

/* ---- The kernel's parameters (declare.c, bind.c) and launch rule (launch.c) -------------------------------------- */

typedef enum Role { ROLE_BARE, ROLE_POINTER, ROLE_SCALAR, ROLE_CONSTEXPR, ROLE_DTYPE } Role;

typedef struct ParamInfo {
    const Node *node;
    const char *name;
    Span span;
    Role role;
    int type_param;     /* *T: the index of the dtype parameter T; -1: none */
    bool typed;         /* type is known */
    bool is_const;      /* pointer: *const */
    bool equals_one;    /* ":1" */
    bool failed;        /* an error was reported about it */
    const SigItem *descriptor; /* made by the host: this is its pointer, and behind it come sizes and strides */
    bool is_part;       /* such a size or stride: the source has no name for it */
    SType type;         /* of a scalar; of a pointer's elements */
    uint32_t divisible; /* bytes of a pointer, the value of a scalar; 1: nothing said */
    uint32_t least, most; /* of a scalar; 0: nothing said */
    const Sem *value;   /* of a constexpr, a dtype, or a scalar fixed by -D; NULL: none yet */
    RecordOrigin origin;
    const char *rule; /* the launch rule's code for it, or NULL */
    Span rule_at;
    bool is_tuned;        /* the rule is of a tuned file */
    const Sem *otherwise; /* the configuration's value, where that rule has none; NULL: it says none */
} ParamInfo;

enum { NUM_COMPILED = 3 };
extern const char *const compiled_words[NUM_COMPILED]; /* num_warps, num_stages, num_ctas */

typedef struct Params {
    const Node *fn;
    ParamInfo *at;
    uint32_t count;
    const SigItem *items; /* of the signature */
    uint32_t num_items;
    bool is_garbled; /* the signature: an error was reported */
    uint32_t *slots; /* hash of names: index + 1 */
    uint32_t num_slots;
    uint32_t config, num_configs;             /* of @autotune; 0: none */
    uint32_t compiled[NUM_COMPILED];          /* num_warps and its kin of the configuration; 0: it does not say */
    const Node *warps_rule, *stages_rule;     /* of @heuristics, or NULL */
    bool is_tuned;                            /* a tuned file's rows are launch rules */
    const char *tuned[NUM_COMPILED], *tuned_line, *tuned_file; /* codes of such a file, its name; NULL: none */
} Params;

int params_find(const Params *p, const char *name);
/* declare.c: roles and types from annotations, then what the command line says. False after an error. */
bool params_declare(Checker *c, const Node *fn, Params *p);
bool params_options(Checker *c, Params *p);
void params_types(Checker *c, Params *p); /* *T from what T is bound to */
/* bind.c: values of the constexpr and dtype parameters; then the function's arguments and the names of the body. */
void params_settle(Checker *c, Params *p);
void params_enter(Checker *c, Params *p);
void params_record(Checker *c, const Params *p, bool interface);
void params_report_unbound(Checker *c, Params *p); /* unbound.c */
const Sem *default_of(Checker *c, const ParamInfo *p); /* evaluated; NULL: there is none */
bool rule_number(Checker *c, const Params *p, const char *code, Span at, RuleValue *out); /* false: not known now */

bool param_set_value(Checker *c, ParamInfo *param, const Sem *s, RecordOrigin origin, const char *from);

/* tune.c: @autotune and @heuristics */
void tune_read(Checker *c, Params *p);
bool is_autotune(const Node *decorator);
void tuned_read(Checker *c, Params *p); /* tuned.c: after launch_check */

/* launch.c */
int name_of_param(void *context, const char *name, RuleKind *kind); /* a RuleNames; context: the Params */
bool decorator_is(const Node *decorator, const char *name); /* @name, @x.name, @name(...) */
const Node *kernel_rule(const Node *fn);                    /* the CALL of @kernel(...), or NULL */
void launch_check(Checker *c, Params *p);                   /* rules of the constexprs; errors of unknown keywords */
/* interface: what a configuration says of warps and stages, too */
void launch_record(Checker *c, const Params *p, bool interface);
/* Codes of what the decorators say: of compiled_words[i], NULL: nothing; of `require`, each condition. */
const char *launch_code(Checker *c, const Params *p, int i);
uint32_t launch_given(const Checker *c, int i); /* by an option; 0: it is not */
const char **launch_requires(Checker *c, const Params *p, uint32_t *count);
uint32_t launch_option(Checker *c, const Params *p, int i, uint32_t limit);

/* kernel.c */
/* Errors since the mark are forgotten, those kept as the values of the file's constants too. True: there were some. */
bool take_back(Checker *c, DiagMark mark);
void frame_start(Checker *c); /* the hidden variables of a function that begins */

#endif
