/* private.h - what the files of ir/ share and nobody else needs: the type rules as one call, the making of ops without
 * checks (the reader builds wrong ops too), and the words of the text form. */
#ifndef FSC_IR_PRIVATE_H
#define FSC_IR_PRIVATE_H

#include "ir/ir.h"

/* ---- Type rules (types.c) ---------------------------------------------------------------------------------------- */

/* An op before or after it exists. `hint` is the wanted result type, for the ops whose rule cannot know it. */
typedef struct Infer {
    Layouts *layouts;
    OpKind kind;
    Value *const *args;
    uint32_t nargs;
    Attr attr;
    Type hint;
    Type result;   /* out; meaningless for ops without one result */
    char why[160]; /* out: what is wrong, a clause without the op's name */
} Infer;

/* Operands are not NULL. False with `why` where they, the attribute or the hint do not fit. Ops with regions and the
 * terminators are checked against their surroundings by the verifier, not here. */
bool op_infer(Infer *in);
bool infer_atomicrmw(Infer *in), infer_atomiccas(Infer *in); /* atomic.c */
/* copy.c */
bool infer_copyasync(Infer *in), infer_copyread(Infer *in), infer_shstore(Infer *in), infer_shload(Infer *in),
    infer_shwait(Infer *in), infer_bulkload(Infer *in), infer_bulkstore(Infer *in);
bool infer_dot(Infer *in), infer_mma(Infer *in);             /* dot.c */
bool infer_shmatrix(Infer *in), infer_dotasync(Infer *in), infer_dotwait(Infer *in);
bool infer_print(Infer *in), infer_assert(Infer *in);        /* debug.c */

/* Writes `why`; false. */
#define infer_fail(in, ...) (snprintf((in)->why, sizeof(in)->why, __VA_ARGS__), false)

/* Rules of ops that move elements without computing (shape.c). */
bool infer_splat(Infer *in);
bool infer_expand(Infer *in);
bool infer_broadcast(Infer *in);
bool infer_reshape(Infer *in);
bool infer_trans(Infer *in);
bool infer_flip(Infer *in);
bool infer_join(Infer *in);
bool infer_split(Infer *in);
bool infer_gather(Infer *in);
bool infer_slice(Infer *in);
bool infer_shgather(Infer *in);
bool infer_shslice(Infer *in);

/* The rule of the ops whose combine is a region; `result` is the type of result 0 (combine.c). */
bool infer_combine(Infer *in);
Type combine_result(Layouts *ls, const Infer *in, uint32_t i);
uint32_t combine_results(OpKind k, uint32_t nargs);
/* Do the region and the results fit? Else what is wrong, a clause. */
const char *combine_wrong(Layouts *ls, const Op *op);

/* ---- Numbers (number.c) ------------------------------------------------------------------------------------------ */

/* float_to_bits with a choice: ROUND_ZERO never leaves the finite numbers but from infinity and NaN. */
int64_t float_round(DType d, double x, Round r);
/* The quiet NaN of positive sign. */
int64_t float_nan(DType d);
/* An integer as float, rounded once. */
int64_t float_from_int(DType d, bool negative, uint64_t magnitude);
/* a * b + c, rounded once. */
int64_t float_fma(DType d, double a, double b, double c);

/* ---- Making ops (build.c) ---------------------------------------------------------------------------------------- */

/* Unlinked, without results or regions; its operands are uses from now on. */
Op *op_create(Func *f, OpKind k, Value *const *args, uint32_t nargs, Attr attr, Span span);
Value *op_add_result(Func *f, Op *op, Type t, const char *name);
Block *op_add_region(Func *f, Op *op);
void op_link(Builder *b, Op *op);

/* ---- Text (words.c) ---------------------------------------------------------------------------------------------- */

/* Tables of words that end with NULL, indexed by their enum. */
extern const char *const icmp_words[], *const fcmp_words[], *const round_words[], *const scope_words[],
                                                                                      *const accuracy_words[];
extern const char *const precision_words[], *const mma_words[], *const when_words[];
extern const char *const mask_words[], *const cache_words[], *const evict_words[];
extern const char *const atomic_words[], *const shown_words[], *const order_words[], *const reach_words[];

void quoted_print(const char *s, Text *out); /* in quotes, with escapes (debug.c) */
/* The shortest text that reads back as these bits. */
void constant_print(Type t, int64_t bits, Text *out);
/* `word` as a constant of the element type; false with a reason where it is none. */
bool constant_read(DType d, const char *word, int64_t *bits, const char **why);

/* ---- Buffers (buffer.c) ------------------------------------------------------------------------------------------ */

/* What is wrong with the buffer, with all of them together, with an op that names one; a clause, or NULL. */
const char *buffer_wrong(const Func *f, uint32_t i);
const char *buffers_wrong(const Func *f, Arena *scratch);
const char *access_wrong(const Func *f, const Op *op);
/* layout: the number of its places; UINT32_MAX: they are flat */
void buffer_print(const Buffer *b, uint32_t layout, Text *out);

/* From op back to one of kind k; NULL where there is none, or the buffer is touched before, but by copies. */
const Op *buffer_find_back(const Op *op, OpKind k, uint32_t buffer);

/* ---- Bulk copies (copy.c), maps (text/map.c) --------------------------------------------------------------------- */

const char *map_wrong(const Func *f, uint32_t i);
const char *bulk_store_wrong(const Func *f, const Buffer *b, const Op *op); /* of bulk_store, bulk_wait */
const char *bulk_wrong(const Func *f, const Buffer *b, const Op *op); /* of an op that names a buffer of such copies */
void maps_print(const Func *f, Text *out);

/* ---- Products that go on meanwhile (dot.c) ----------------------------------------------------------------------- */

const char *dot_async_wrong(const Func *f, const Op *op);     /* of the operands of a dot_async; a clause, or NULL */
const char *shared_matrix_wrong(const Op *op);
bool product_takes(const Op *product, uint32_t buffer); /* from shared memory, of a dot_async */
/* A store, or a wait for copies, that no fence shows to products; NULL: there is none. */
const Op *write_unshown(const Func *f, Arena *scratch);
/* A use of a sum that is under way; NULL: there is none. */
const Op *sum_used_early(const Func *f, Arena *scratch);

/* ---- When results are made (schedule.c) -------------------------------------------------------------------------- */

const char *schedule_wrong(const Func *f, const Op *op); /* a clause, or NULL */

/* ---- Verifying (verify.c) ---------------------------------------------------------------------------------------- */

/* func_verify, and the op that is wrong (NULL: the function as a whole). */
bool func_verify_at(const Func *f, Text *complaint, const Op **where);

#endif
