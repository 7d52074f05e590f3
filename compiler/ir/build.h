/* build.h - the part of ir.h that makes and changes functions; ir.h includes it. */
#ifndef FSC_IR_BUILD_H
#define FSC_IR_BUILD_H

#include "ir/ir.h"

/* ---- Building ---------------------------------------------------------------------------------------------------- */

/* Where new ops go: before `before`, or at the block's end when that is NULL. Every op built takes `span`. */
typedef struct Builder {
    Func *f;
    Block *block;
    Op *before;
    Span span;
} Builder;

Builder builder_at_end(Func *f, Block *b);
Builder builder_before(Func *f, Op *op); /* with the op's span */
Builder builder_after(Func *f, Op *op);

/* Builds, infers the result types, links. Operands must fit (infer says else: bug()). `t` is the result type of the ops
 * whose infer rule cannot know it (typed, widen, narrow, itof, ftoi, fwiden, fnarrow, bitcast, splat, broadcast,
 * reshape, convert, shload) and is ignored elsewhere. Where the operands have layouts the result's layout follows from
 * them; const, arange, splat, broadcast, convert_layout and shared_load take t's, and so do reshape, trans, join and
 * split where t has one. Not for `for`, `while`, `if`: they have builders below. */
Op *op_build(Builder *b, OpKind k, Value **args, uint32_t nargs, Attr attr, Type t);
Value *build0(Builder *b, OpKind k, Attr attr, Type t);
Value *build1(Builder *b, OpKind k, Value *a);
Value *build1_to(Builder *b, OpKind k, Value *a, Type t);
Value *build2(Builder *b, OpKind k, Value *x, Value *y);
Value *build3(Builder *b, OpKind k, Value *x, Value *y, Value *z);
Value *build_int(Builder *b, Type t, int64_t value);    /* const of an integer (or i1) scalar or tile type */
Value *build_float(Builder *b, Type t, double value);   /* const, rounded to the element type */
enum { MOST_ROTATION = 15 }; /* the operand of arange_rotated and arange_moved */
Value *build_arange(Builder *b, int64_t start, int64_t end);
Value *build_splat(Builder *b, Value *scalar, Shape s);
Value *build_broadcast(Builder *b, Value *v, Shape s);  /* same rank */
Value *build_expand(Builder *b, Value *v, uint32_t axis);
Value *build_reshape(Builder *b, Value *v, Shape s);    /* rank 0: a scalar */
Value *build_trans(Builder *b, Value *v, const uint8_t *perm);
Value *build_flip(Builder *b, Value *v, uint32_t mask); /* r[i] = v[i ^ mask], i the row-major index */
Value *build_join(Builder *b, Value *x, Value *y);
Value *build_split(Builder *b, Value *v, uint32_t half);
Value *build_gather(Builder *b, Value *v, Value *index, uint32_t axis);
/* the axis has 2^size_log2 then */
Value *build_slice(Builder *b, Value *v, Value *at, uint32_t axis, uint32_t size_log2);
Value *build_compare(Builder *b, OpKind icmp_or_fcmp, Pred p, Value *x, Value *y);
Value *build_reduce(Builder *b, Value *v, uint32_t axis, OpKind combine);
Value *build_dot(Builder *b, Value *x, Value *y, Value *acc, Attr attr);
Value *build_load(Builder *b, Value *ptr, Value *mask, Value *other, MemAttr m); /* mask, other may be NULL */
Op *build_store(Builder *b, Value *ptr, Value *value, Value *mask, MemAttr m);
Op *build_print(Builder *b, Value *v, const char *text, Shown shown); /* v NULL: the text alone */
Op *build_assert(Builder *b, Value *condition, const char *text, uint32_t site);
Value *build_atomic(Builder *b, Value *ptr, Value *value, Value *mask, MemAttr m); /* atomic_rmw; mask may be NULL */
Value *build_atomic_cas(Builder *b, Value *ptr, Value *compare, Value *value, Value *mask, MemAttr m);
/* The accumulator's type of a dot of such operands; false: they do not multiply. */
bool dot_accumulator(DType a, DType b, DType *acc);
uint64_t func_features(Func *f); /* that targets must have for its matrix instructions */
DType mma_dtype(Mma instr, MmaOperand which); /* of the operands of an mma; MMA_C: of the result, too */
/* In which a program of so many warps holds operand `which`, of this shape. */
const Layout *mma_layout(Layouts *ls, Attr attr, Shape s, uint32_t warps_log2, MmaOperand which);
/* Control flow: regions are made empty with their block arguments (iv and carried values typed as the inits); the
 * caller fills them and ends each with build_yield. Results are typed as the inits (for, while) or as `types` (if). */
Op *build_for(Builder *b, Value *lo, Value *hi, Value *step, Value **inits, uint32_t n, LoopAttr l);
Op *build_while(Builder *b, Value **inits, uint32_t n);
Op *build_if(Builder *b, Value *cond, const Type *types, uint32_t n);
Op *build_yield(Builder *b, Value **values, uint32_t n);
Op *build_condition(Builder *b, Value *cond, Value **values, uint32_t n);

/* Of reduce_fn, scan and their kin: typed by the operands; the region has its arguments (scalars) and is empty, or is a
 * copy of the one of `like`. */
Op *build_combine(Builder *b, OpKind k, Value **args, uint32_t nargs, Attr attr, const Op *like);
uint32_t combine_width(const Op *op); /* values that are combined at once: half of the region's arguments */

Block *block_create(Func *f, Op *owner);
Value *block_add_arg(Func *f, Block *b, Type t, const char *name);

/* ---- Changing ---------------------------------------------------------------------------------------------------- */

void value_replace(Func *f, Value *old, Value *with); /* every use */
bool value_used(const Value *v);
bool value_used_once(const Value *v);
void op_set_arg(Func *f, Op *op, uint32_t index, Value *v);
void op_add_arg(Func *f, Op *op, Value *v); /* yields, loops */
/* One more carried value of a for: the body's argument. The caller adds the next one to the yield. */
Value *loop_carry(Func *f, Op *loop, Value *init, const char *name);
void op_remove_arg(Func *f, Op *op, uint32_t index);
void op_remove_result(Func *f, Op *op, uint32_t index);   /* control flow; the result must be unused */
void block_remove_arg(Func *f, Block *b, uint32_t index); /* the argument must be unused */
void op_erase(Func *f, Op *op);            /* unlinks op and its regions' uses; results must be unused */
void op_replace(Func *f, Op *op, Value *with); /* `with` takes the place and the name of op's result */
void op_move_before(Op *op, Op *where);    /* relinks */
/* A copy with the operands mapped through `map` (indexed by value id; NULL entry: itself), regions copied too; the map
 * gains the results. Linked at the builder's place. Result types are inferred anew from the mapped operands (of `for`,
 * `while`, `if` and their block arguments: copied), so a clone over operands in other layouts has their layout. */
typedef struct ValueMap { Value **at; uint32_t len; } ValueMap;
ValueMap valuemap_create(Func *f);
void valuemap_set(Func *f, ValueMap *m, const Value *from, Value *to);
Value *valuemap_get(const ValueMap *m, Value *from);
Op *op_clone(Builder *b, const Op *op, ValueMap *map);

/* A constant (scalar or tile of one value)? Its bits. Looks through splat. */
bool value_const(const Value *v, int64_t *bits);
bool value_const_float(const Value *v, double *x);
/* v without the ops that repeat it along the axis (shape.c). */
Value *value_row(Value *v, uint32_t axis);
bool value_is_tile(const Value *v);
const Block *value_block(const Value *v); /* that defines it */
bool op_is_loop(const Op *op);
bool op_touches_tile(const Op *op); /* an operand or a result is one */
/* Does it load what a const pointer names, memory that nobody writes during the kernel? */
bool op_loads_constant(const Func *f, const Op *load);
bool block_contains(const Block *b, const Op *op); /* at any depth */

/* Every op of the function in program order, regions included; `fn` may erase or replace the op it is given. */
typedef void OpVisitor(void *context, Op *op);
void func_walk(Func *f, OpVisitor *fn, void *context);

/* ---- When and how results are made (schedule.c) ------------------------------------------------------------------ */

/* Elementwise, and its registers can be made one by one: a bitcast names those of its operand. */
bool op_has_slots(const Op *op);
/* Why its result cannot be made then; NULL: it can. */
const char *when_wrong(const Func *f, const Op *op, When when);
/* The next reduce_warp of the block, if its registers can be combined along with those of op; else NULL. */
Op *reduce_partner(const Op *op);
/* The tile of 16 bits whose elements a reduction may take by twos; NULL: there is none. */
const Value *reduce_packed(const Op *op);
/* The first user of a load that is not volatile, if in its block only pure ops and such loads stand between; else
 * NULL. */
const Op *load_until(const Op *load);

#endif
