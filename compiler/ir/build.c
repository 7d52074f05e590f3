/* build.c - functions, blocks, ops, values and their uses.
 *
 * In: operands and attributes. Out: linked ops with inferred result types.
 * Method: a value's uses are a doubly linked list whose members the ops hold by slot, so that an operand is changed
 * without a search, however many uses its value has.
 */
#include "ir/private.h"

#include <string.h>

/* ---- Functions and blocks ---------------------------------------------------------------------------------------- */

Func *func_create(Arena *a, Strings *s, const char *name, Span span) {
    Func *f = NEW(a, Func);
    f->arena = a;
    f->layouts = layouts_create(a);
    f->strings = s;
    f->name = str_intern0(s, name);
    f->span = span;
    f->stage = STAGE_TILE;
    f->programs_per_block = 1;
    f->blocks_per_program = 1;
    f->scope = SCOPE_BLOCK;
    f->body = block_create(f, NULL);
    return f;
}

Block *block_create(Func *f, Op *owner) {
    Block *b = NEW(f->arena, Block);
    b->owner = owner;
    return b;
}

static Value *value_create(Func *f, Type t, const char *name) {
    Value *v = NEW(f->arena, Value);
    v->type = t;
    v->name = name;
    v->id = f->next_value++;
    return v;
}

Value *block_add_arg(Func *f, Block *b, Type t, const char *name) {
    Value *v = value_create(f, t, name);
    v->block = b;
    v->index = b->args.len;
    vec_push(f->arena, &b->args, v);
    return v;
}

void block_remove_arg(Func *f, Block *b, uint32_t index) {
    if (index >= b->args.len || b->args.at[index]->uses) bug("block_remove_arg: argument %u of %s", index, f->name);
    for (uint32_t i = index + 1; i < b->args.len; i++) {
        b->args.at[i - 1] = b->args.at[i];
        b->args.at[i - 1]->index = i - 1;
    }
    b->args.len--;
}

Value *func_add_param(Func *f, Type t, Param p) {
    if (p.divisible == 0) p.divisible = 1;
    vec_push(f->arena, &f->params, p);
    return block_add_arg(f, f->body, t, p.name);
}

const Block *value_block(const Value *v) {
    return v->def ? v->def->parent : v->block;
}

bool op_is_loop(const Op *op) {
    return op->kind == OP_FOR || op->kind == OP_WHILE;
}

bool op_touches_tile(const Op *op) {
    for (uint32_t i = 0; i < op->nargs; i++)
        if (value_is_tile(op->args[i])) return true;
    for (uint32_t i = 0; i < op->nresults; i++)
        if (value_is_tile(op->results[i])) return true;
    return false;
}

bool op_loads_constant(const Func *f, const Op *load) {
    const Value *v = load->args[0];
    while (v->def && v->def->nargs && v->def->args[0]->type.dtype == DT_PTR && op_is_pure(v->def->kind))
        v = v->def->args[0];
    return !v->def && v->block == f->body && f->params.at[v->index].is_const;
}

bool block_contains(const Block *b, const Op *op) {
    for (const Block *at = op->parent; at; at = at->owner ? at->owner->parent : NULL)
        if (at == b) return true;
    return false;
}

static void block_walk(Block *b, OpVisitor *fn, void *context) {
    for (Op *op = b->first, *next; op; op = next) {
        next = op->next;
        uint32_t n = op->nregions;
        Block **regions = op->regions;
        fn(context, op);
        for (uint32_t i = 0; i < n && op->parent == b; i++) block_walk(regions[i], fn, context);
        if (op->parent == b) next = op->next;
    }
}

void func_walk(Func *f, OpVisitor *fn, void *context) {
    block_walk(f->body, fn, context);
}

/* ---- Uses -------------------------------------------------------------------------------------------------------- */

static void use_add(Use *u, Value *v) {
    u->next = v->uses;
    u->link = &v->uses;
    if (u->next) u->next->link = &u->next;
    v->uses = u;
}

static void use_drop(Use *u) {
    *u->link = u->next;
    if (u->next) u->next->link = u->link;
    u->next = NULL;
    u->link = NULL;
}

bool value_used(const Value *v) {
    return v->uses != NULL;
}

bool value_used_once(const Value *v) {
    return v->uses && !v->uses->next;
}

bool value_is_tile(const Value *v) {
    return v->type.shape.rank > 0;
}

void op_set_arg(Func *f, Op *op, uint32_t index, Value *v) {
    if (index >= op->nargs) bug("op_set_arg: operand %u of %s in %s", index, op_info[op->kind].name, f->name);
    if (op->args[index] == v) return;
    use_drop(op->slots[index]);
    op->args[index] = v;
    use_add(op->slots[index], v);
}

static void op_reserve(Func *f, Op *op, uint32_t n) {
    if (n <= op->cap) return;
    uint32_t cap = op->cap * 2 > n ? op->cap * 2 : n;
    Value **args = NEW_ARRAY(f->arena, Value *, cap);
    Use **slots = NEW_ARRAY(f->arena, Use *, cap);
    for (uint32_t i = 0; i < op->nargs; i++) {
        args[i] = op->args[i];
        slots[i] = op->slots[i];
    }
    op->args = args;
    op->slots = slots;
    op->cap = cap;
}

void op_add_arg(Func *f, Op *op, Value *v) {
    op_reserve(f, op, op->nargs + 1);
    Use *u = NEW(f->arena, Use);
    u->op = op;
    u->index = op->nargs;
    use_add(u, v);
    op->args[op->nargs] = v;
    op->slots[op->nargs++] = u;
}

void op_remove_arg(Func *f, Op *op, uint32_t index) {
    if (index >= op->nargs) bug("op_remove_arg: operand %u of %s in %s", index, op_info[op->kind].name, f->name);
    use_drop(op->slots[index]);
    for (uint32_t i = index + 1; i < op->nargs; i++) {
        op->args[i - 1] = op->args[i];
        op->slots[i - 1] = op->slots[i];
        op->slots[i - 1]->index = i - 1;
    }
    op->nargs--;
}

void value_replace(Func *f, Value *old, Value *with) {
    if (old == with) bug("value_replace: a value by itself in %s", f->name);
    Use *last = NULL;
    for (Use *u = old->uses; u; u = u->next) {
        u->op->args[u->index] = with;
        last = u;
    }
    if (!last) return;
    last->next = with->uses;
    if (with->uses) with->uses->link = &last->next;
    with->uses = old->uses;
    with->uses->link = &with->uses;
    old->uses = NULL;
}

/* ---- Ops --------------------------------------------------------------------------------------------------------- */

Op *op_create(Func *f, OpKind k, Value *const *args, uint32_t nargs, Attr attr, Span span) {
    Op *op = NEW(f->arena, Op);
    op->kind = k;
    op->span = f->inlined.end ? f->inlined : span;
    op->attr = attr;
    op->id = f->next_op++;
    op_reserve(f, op, nargs);
    for (uint32_t i = 0; i < nargs; i++) op_add_arg(f, op, args[i]);
    return op;
}

Value *op_add_result(Func *f, Op *op, Type t, const char *name) {
    Value **results = NEW_ARRAY(f->arena, Value *, op->nresults + 1);
    if (op->nresults) memcpy(results, op->results, op->nresults * sizeof *results);
    Value *v = value_create(f, t, name);
    v->def = op;
    v->index = op->nresults;
    results[op->nresults++] = v;
    op->results = results;
    return v;
}

static void op_add_results(Func *f, Op *op, const Type *types, uint32_t n) {
    op->results = NEW_ARRAY(f->arena, Value *, n);
    for (uint32_t i = 0; i < n; i++) {
        Value *v = value_create(f, types[i], NULL);
        v->def = op;
        v->index = i;
        op->results[i] = v;
    }
    op->nresults = n;
}

void op_remove_result(Func *f, Op *op, uint32_t index) {
    if (index >= op->nresults || op->results[index]->uses)
        bug("op_remove_result: result %u of %s in %s", index, op_info[op->kind].name, f->name);
    for (uint32_t i = index + 1; i < op->nresults; i++) {
        op->results[i - 1] = op->results[i];
        op->results[i - 1]->index = i - 1;
    }
    op->nresults--;
}

Block *op_add_region(Func *f, Op *op) {
    Block **regions = NEW_ARRAY(f->arena, Block *, op->nregions + 1);
    if (op->nregions) memcpy(regions, op->regions, op->nregions * sizeof *regions);
    op->regions = regions;
    return regions[op->nregions++] = block_create(f, op);
}

static void link_before(Block *block, Op *op, Op *before) {
    op->parent = block;
    op->next = before;
    op->prev = before ? before->prev : block->last;
    if (op->prev)
        op->prev->next = op;
    else
        block->first = op;
    if (before)
        before->prev = op;
    else
        block->last = op;
}

static void unlink_op(Op *op) {
    Block *b = op->parent;
    if (op->prev)
        op->prev->next = op->next;
    else
        b->first = op->next;
    if (op->next)
        op->next->prev = op->prev;
    else
        b->last = op->prev;
    op->parent = NULL;
    op->prev = op->next = NULL;
}

void op_link(Builder *b, Op *op) {
    link_before(b->block, op, b->before);
}

void op_replace(Func *f, Op *op, Value *with) {
    with->name = op->results[0]->name;
    value_replace(f, op->results[0], with);
    op_erase(f, op);
}

void op_move_before(Op *op, Op *where) {
    if (op == where) return;
    unlink_op(op);
    link_before(where->parent, op, where);
}

static void drop_uses(Op *op) {
    for (uint32_t i = 0; i < op->nargs; i++) use_drop(op->slots[i]);
    op->nargs = 0;
    for (uint32_t i = 0; i < op->nregions; i++)
        for (Op *inner = op->regions[i]->first; inner; inner = inner->next) drop_uses(inner);
}

void op_erase(Func *f, Op *op) {
    for (uint32_t i = 0; i < op->nresults; i++)
        if (op->results[i]->uses) bug("op_erase: result %u of %s in %s has uses", i, op_info[op->kind].name, f->name);
    drop_uses(op);
    unlink_op(op);
}

/* ---- Builders ---------------------------------------------------------------------------------------------------- */

Builder builder_at_end(Func *f, Block *b) {
    return (Builder){.f = f, .block = b};
}

Builder builder_before(Func *f, Op *op) {
    return (Builder){f, op->parent, op, op->span};
}

Builder builder_after(Func *f, Op *op) {
    return (Builder){f, op->parent, op->next, op->span};
}

Op *op_build(Builder *b, OpKind k, Value **args, uint32_t nargs, Attr attr, Type t) {
    Infer in = {.layouts = b->f->layouts, .kind = k, .args = args, .nargs = nargs, .attr = attr, .hint = t};
    if (k == OP_FOR || k == OP_WHILE || k == OP_IF || op_is_combine(k))
        bug("op_build: %s has its own builder", op_info[k].name);
    for (uint32_t i = 0; i < nargs; i++)
        if (!args[i]) bug("op_build: operand %u of %s in %s is NULL", i, op_info[k].name, b->f->name);
    if (!op_infer(&in)) bug("op_build: %s in %s: %s", op_info[k].name, b->f->name, in.why);
    Op *op = op_create(b->f, k, args, nargs, attr, b->span);
    if (op_info[k].nresults == 1) op_add_results(b->f, op, &in.result, 1);
    op_link(b, op);
    return op;
}

Value *build0(Builder *b, OpKind k, Attr attr, Type t) {
    return op_build(b, k, NULL, 0, attr, t)->results[0];
}

Value *build1(Builder *b, OpKind k, Value *a) {
    return build1_to(b, k, a, a->type);
}

Value *build1_to(Builder *b, OpKind k, Value *a, Type t) {
    return op_build(b, k, &a, 1, (Attr){0}, t)->results[0];
}

Value *build2(Builder *b, OpKind k, Value *x, Value *y) {
    return op_build(b, k, (Value *[]){x, y}, 2, (Attr){0}, x->type)->results[0];
}

Value *build3(Builder *b, OpKind k, Value *x, Value *y, Value *z) {
    return op_build(b, k, (Value *[]){x, y, z}, 3, (Attr){0}, y->type)->results[0];
}

Value *build_int(Builder *b, Type t, int64_t value) {
    if (dtype_kind(t.dtype) == KIND_FLOAT) bug("build_int: a constant of %s", dtype_name(t.dtype));
    return build0(b, OP_CONST, (Attr){.bits = int_wrap(t.dtype, value)}, t);
}

Value *build_float(Builder *b, Type t, double value) {
    if (dtype_kind(t.dtype) != KIND_FLOAT) bug("build_float: a constant of %s", dtype_name(t.dtype));
    return build0(b, OP_CONST, (Attr){.bits = float_to_bits(t.dtype, value)}, t);
}

Value *build_arange(Builder *b, int64_t start, int64_t end) {
    return build0(b, OP_ARANGE, (Attr){.start = start, .end = end}, type_scalar(DT_I32));
}

Value *build_compare(Builder *b, OpKind icmp_or_fcmp, Pred p, Value *x, Value *y) {
    return op_build(b, icmp_or_fcmp, (Value *[]){x, y}, 2, (Attr){.pred = p}, x->type)->results[0];
}

Value *build_reduce(Builder *b, Value *v, uint32_t axis, OpKind combine) {
    return op_build(b, OP_REDUCE, &v, 1, (Attr){.axis = axis, .combine = combine}, v->type)->results[0];
}

Value *build_load(Builder *b, Value *ptr, Value *mask, Value *other, MemAttr m) {
    Value *args[] = {ptr, mask, other};
    if (other && !mask) bug("build_load: other without a mask");
    return op_build(b, OP_LOAD, args, mask ? other ? 3 : 2 : 1, (Attr){.mem = m}, ptr->type)->results[0];
}

Op *build_store(Builder *b, Value *ptr, Value *value, Value *mask, MemAttr m) {
    return op_build(b, OP_STORE, (Value *[]){ptr, value, mask}, mask ? 3 : 2, (Attr){.mem = m}, value->type);
}

Value *build_atomic(Builder *b, Value *ptr, Value *value, Value *mask, MemAttr m) {
    Value *args[] = {ptr, value, mask};
    return op_build(b, OP_ATOMICRMW, args, mask ? 3 : 2, (Attr){.mem = m}, value->type)->results[0];
}

Value *build_atomic_cas(Builder *b, Value *ptr, Value *compare, Value *value, Value *mask, MemAttr m) {
    Value *args[] = {ptr, compare, value, mask};
    return op_build(b, OP_ATOMICCAS, args, mask ? 4 : 3, (Attr){.mem = m}, value->type)->results[0];
}

Op *build_yield(Builder *b, Value **values, uint32_t n) {
    return op_build(b, OP_YIELD, values, n, (Attr){0}, type_scalar(DT_I32));
}

Op *build_condition(Builder *b, Value *cond, Value **values, uint32_t n) {
    Op *op = op_build(b, OP_CONDITION, &cond, 1, (Attr){0}, cond->type);
    for (uint32_t i = 0; i < n; i++) op_add_arg(b->f, op, values[i]);
    return op;
}

/* ---- Control flow ------------------------------------------------------------------------------------------------ */

Value *loop_carry(Func *f, Op *loop, Value *init, const char *name) {
    op_add_arg(f, loop, init);
    op_add_result(f, loop, init->type, NULL);
    return block_add_arg(f, loop->regions[0], init->type, name);
}

/* An op with `n` results typed as the values, and region 0 with an argument for each. */
static Op *build_loop(Builder *b, OpKind k, Value **args, uint32_t nargs, uint32_t ninits, Attr attr) {
    Infer in = {.layouts = b->f->layouts, .kind = k, .args = args, .nargs = nargs, .attr = attr};
    if (!op_infer(&in)) bug("op_build: %s in %s: %s", op_info[k].name, b->f->name, in.why);
    Op *op = op_create(b->f, k, args, nargs, attr, b->span);
    op->results = NEW_ARRAY(b->f->arena, Value *, ninits);
    for (uint32_t i = nargs - ninits; i < nargs; i++) {
        Value *v = value_create(b->f, args[i]->type, NULL);
        v->def = op;
        v->index = op->nresults;
        op->results[op->nresults++] = v;
    }
    op_link(b, op);
    return op;
}

Op *build_for(Builder *b, Value *lo, Value *hi, Value *step, Value **inits, uint32_t n, LoopAttr l) {
    Value **args = NEW_ARRAY(b->f->arena, Value *, n + 3);
    args[0] = lo;
    args[1] = hi;
    args[2] = step;
    for (uint32_t i = 0; i < n; i++) args[i + 3] = inits[i];
    Op *op = build_loop(b, OP_FOR, args, n + 3, n, (Attr){.loop = l});
    Block *body = op_add_region(b->f, op);
    block_add_arg(b->f, body, lo->type, NULL);
    for (uint32_t i = 0; i < n; i++) block_add_arg(b->f, body, inits[i]->type, NULL);
    return op;
}

Op *build_while(Builder *b, Value **inits, uint32_t n) {
    Op *op = build_loop(b, OP_WHILE, inits, n, n, (Attr){0});
    for (uint32_t r = 0; r < 2; r++) {
        Block *region = op_add_region(b->f, op);
        for (uint32_t i = 0; i < n; i++) block_add_arg(b->f, region, inits[i]->type, NULL);
    }
    return op;
}

Op *build_if(Builder *b, Value *cond, const Type *types, uint32_t n) {
    Op *op = build_loop(b, OP_IF, &cond, 1, 0, (Attr){0});
    op_add_results(b->f, op, types, n);
    op_add_region(b->f, op);
    op_add_region(b->f, op);
    return op;
}

/* ---- Questions --------------------------------------------------------------------------------------------------- */

bool value_const(const Value *v, int64_t *bits) {
    while (v->def && v->def->kind == OP_SPLAT) v = v->def->args[0];
    if (!v->def || v->def->kind != OP_CONST) return false;
    *bits = v->def->attr.bits;
    return true;
}

bool value_const_float(const Value *v, double *x) {
    int64_t bits;
    if (dtype_kind(v->type.dtype) != KIND_FLOAT || !value_const(v, &bits)) return false;
    *x = float_from_bits(v->type.dtype, bits);
    return true;
}
