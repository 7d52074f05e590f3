/* block.c - block pointers and tensor descriptors: an array in memory,
 * of which tiles of one shape are loaded and stored.
 *
 * In: a bound Call. Out: a SEM_BLOCK; or the Call of load, store or an atomic as one of pointers, with a mask.
 * Method: a block exists at compile time only: the base, sizes, strides and (of a block pointer) offsets that it is
 * made of are values, all integers of 64 bits. An access makes its addresses, and a mask of the elements within the
 * array.
 */
#include "check/builtin/builtin.h"

#include <math.h>
#include <string.h>

enum {
    ARG_BASE,
    ARG_SHAPE,
    ARG_STRIDES,
    ARG_OFFSETS,
    ARG_BLOCK,
    ARG_ORDER,
    ARG_DESCRIBED = ARG_OFFSETS,
    ARG_PADDING = ARG_BLOCK
};
enum { PADS_NOTHING, PADS_ZERO, PADS_NAN };

static const Word paddings[] = {{"", PADS_NOTHING}, {"zero", PADS_ZERO}, {"nan", PADS_NAN}, {NULL, 0}};

bool sem_same_block(const Sem *x, const Sem *y) {
    const BlockType *a = x->block, *b = y->block;
    bool is_same = x->type == y->type && shape_equal(a->shape, b->shape) && a->is_descriptor == b->is_descriptor;
    return is_same && a->pads_nan == b->pads_nan;
}

const Sem *sem_with_items(Checker *c, const Sem *s, const Sem **items) {
    Sem *r = NEW(c->a, Sem);
    *r = *s;
    r->items = items;
    return r;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static const Sem *as_i64(Checker *c, const Sem *s) {
    return sem_run(c, ST_I64, wide_value(c, s), NULL);
}

static bool is_int_scalar(const Sem *s) {
    bool is_run = s->kind == SEM_RUN && !s->is_pointer && !sem_is_tile(s) && !stype_is_float(s->type);
    return s->kind == SEM_INT || is_run;
}

/* `rank` integers of argument `arg`, a tuple; of rank 1 also a single one. */
static bool read_parts(Checker *c, Call *call, uint32_t arg, uint32_t rank, const Sem **out) {
    const Sem *s = call->arg[arg], *const *items = s->kind == SEM_TUPLE ? s->items : &call->arg[arg];
    uint32_t count = s->kind == SEM_TUPLE ? s->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        if (sem_is_error(items[i])) return false;
        if (is_int_scalar(items[i])) continue;
        diag(c->d, call->at[arg], E_BLOCK_PART, argument_of(c, call, arg), sem_type_text(c, items[i]));
        diag_note(c->d, call->at[arg], "it is a tuple of integers, one for each dimension, as in (m, n)");
        return false;
    }
    if (count != rank) {
        diag(c->d, call->span, E_BLOCK_PARTS, argument_of(c, call, arg), count, rank);
        return false;
    }
    for (uint32_t i = 0; i < rank; i++) out[i] = as_i64(c, items[i]);
    return true;
}

static bool read_base(Checker *c, Call *call) {
    const Sem *p = call->arg[ARG_BASE];
    if (p->kind == SEM_RUN && p->is_pointer && !sem_is_tile(p)) return true;
    diag(c->d, call->at[ARG_BASE], E_NEEDS_POINTER, call->builtin->name, sem_type_text(c, p));
    diag_note(c->d, call->at[ARG_BASE], "the base is one address: where the array begins");
    return false;
}

static bool read_block(Checker *c, Call *call, uint32_t arg, Shape *out) {
    if (!read_shape(c, call->arg[arg], call->at[arg], argument_of(c, call, arg), out)) return false;
    if (out->rank) return true;
    diag(c->d, call->at[arg], E_BLOCK_PARTS, argument_of(c, call, arg), 0, 1);
    return false;
}

static bool read_padding(Checker *c, Call *call, uint32_t arg, SType type, bool *is_nan) {
    uint8_t padding;
    if (!word_argument(c, call, arg, E_MEMORY_OPTION, "padding_option", paddings, &padding)) return false;
    *is_nan = padding == PADS_NAN;
    if (!*is_nan || stype_is_float(type)) return true;
    diag(c->d, call->at[arg], E_BLOCK_NAN, stype_name(type));
    return false;
}

/* The order of axes in memory: the strides say it, so it is only asked whether it is one. */
static bool read_order(Checker *c, Call *call, uint32_t rank) {
    const Sem *s = call->arg[ARG_ORDER], *const *items = s->kind == SEM_TUPLE ? s->items : &call->arg[ARG_ORDER];
    uint32_t count = s->kind == SEM_TUPLE ? s->count : 1, seen = 0;
    for (uint32_t i = 0; i < count && count == rank; i++) {
        int64_t axis;
        if (!sem_want_int(c, items[i], call->at[ARG_ORDER], argument_of(c, call, ARG_ORDER), &axis)) return false;
        if (axis >= 0 && axis < rank) seen |= 1u << axis;
    }
    if (seen == (1u << rank) - 1) return true;
    diag(c->d, call->at[ARG_ORDER], E_BLOCK_ORDER, rank);
    diag_note(c->d, call->at[ARG_ORDER], "it names each axis once, the fastest in memory first, as in (1, 0)");
    return false;
}

static const Sem *make_block(Checker *c, const Sem *base, const Sem **items, uint32_t count, BlockType block) {
    Sem *s = NEW(c->a, Sem);
    BlockType *b = NEW(c->a, BlockType);
    *b = block;
    *s = (Sem){
        .kind = SEM_BLOCK, .type = base->type, .is_const = base->is_const, .items = items, .count = count, .block = b};
    items[0] = base;
    return s;
}

const Sem *builtin_make_block_ptr(Checker *c, Call *call) {
    BlockType b = {0};
    if (!read_base(c, call) || !read_block(c, call, ARG_BLOCK, &b.shape)) return &sem_error;
    uint32_t rank = b.shape.rank;
    const Sem **items = NEW_ARRAY(c->a, const Sem *, 1 + 3 * rank);
    for (uint32_t i = 0; i < 3; i++)
        if (!read_parts(c, call, ARG_SHAPE + i, rank, items + 1 + i * rank)) return &sem_error;
    if (!read_order(c, call, rank)) return &sem_error;
    return make_block(c, call->arg[ARG_BASE], items, 1 + 3 * rank, b);
}

/* The kernel's parameter that the pointer is; NULL: it is none. */
static const Node *parameter_of(const Checker *c, const Sem *base) {
    const Value *v = base->v;
    if (v->def || v->block != c->f->body) return NULL;
    const NodeList *params = &c->entry->fn->list;
    for (uint32_t i = 0; i < params->len; i++)
        if (strcmp(params->at[i]->name, c->f->params.at[v->index].name) == 0) return params->at[i];
    return NULL;
}

/* A size or stride of a shape contract: what it says of the parameters as they came. */
static const Sem *contract_part(Checker *c, const Node *n) {
    Frame *frame = c->frame;
    c->frame = c->entry;
    const Sem *s = check_expr(c, n);
    c->frame = frame;
    return is_int_scalar(s) ? as_i64(c, s) : &sem_error;
}

/* Sizes and strides of the base's shape contract, as many as the block has dimensions. */
static bool read_contract(Checker *c, Call *call, uint32_t rank, const Sem **sizes, const Sem **strides) {
    const Node *param = parameter_of(c, call->arg[ARG_BASE]), *t = param ? param->a : NULL;
    if (!t || t->kind != NODE_POINTER || !t->list.len) {
        diag(c->d, call->at[ARG_BASE], E_BLOCK_CONTRACT, param ? param->name : "this pointer");
        diag_note(c->d, call->at[ARG_BASE], "give both, or write the contract, as in x: *fp32[M, N]");
        return false;
    }
    if (t->list.len != rank) {
        diag(c->d, call->span, E_BLOCK_PARTS, arena_printf(c->a, "the contract of '%s'", param->name), t->list.len,
             rank);
        return false;
    }
    for (uint32_t k = rank; k-- > 0;) {
        const Node *dim = t->list.at[k];
        bool is_last = k + 1 == rank;
        sizes[k] = contract_part(c, dim->a);
        if (dim->b) strides[k] = contract_part(c, dim->b);
        else if (is_last) strides[k] = as_i64(c, sem_i64(c, 1));
        else strides[k] = sem_run(c, ST_I64, build2(&c->b, OP_MUL, sizes[k + 1]->v, strides[k + 1]->v), NULL);
        if (sem_is_error(sizes[k]) || sem_is_error(strides[k])) return false;
    }
    return true;
}

/* Shape and strides are given, or both left to the base's contract. */
static bool read_array(Checker *c, Call *call, uint32_t rank, const Sem **items) {
    bool has_shape = call->arg[ARG_SHAPE] != NULL, has_strides = call->arg[ARG_STRIDES] != NULL;
    if (!has_shape && !has_strides) return read_contract(c, call, rank, items, items + rank);
    if (has_shape && has_strides)
        return read_parts(c, call, ARG_SHAPE, rank, items) && read_parts(c, call, ARG_STRIDES, rank, items + rank);
    diag(c->d, call->span, E_ARGUMENT_MISSING, call->builtin->name, has_shape ? "strides" : "shape");
    diag_note(c->d, call->span, "both may be left out where the base is a parameter with a shape contract");
    return false;
}

const Sem *builtin_make_descriptor(Checker *c, Call *call) {
    BlockType b = {.is_descriptor = true};
    const Sem *base = call->arg[ARG_BASE];
    if (!call->arg[ARG_DESCRIBED]) {
        diag(c->d, call->span, E_ARGUMENT_MISSING, call->builtin->name, "block_shape");
        return &sem_error;
    }
    if (!read_base(c, call) || !read_block(c, call, ARG_DESCRIBED, &b.shape)) return &sem_error;
    if (!read_padding(c, call, ARG_PADDING, base->type, &b.pads_nan)) return &sem_error;
    uint32_t rank = b.shape.rank;
    const Sem **items = NEW_ARRAY(c->a, const Sem *, 1 + 2 * rank);
    if (!read_array(c, call, rank, items + 1)) return &sem_error;
    return make_block(c, base, items, 1 + 2 * rank, b);
}

const Sem *block_of_host(Checker *c, const SigItem *item, const Sem *const *values, Span at) {
    BlockType b = {.is_descriptor = true, .shape = {.rank = (uint8_t)item->rank}};
    const Sem **items = NEW_ARRAY(c->a, const Sem *, 1 + 2 * item->rank);
    for (uint32_t i = 0; i < 2 * item->rank; i++) {
        if (sem_is_error(values[i])) return &sem_error;
        if (i) items[i] = as_i64(c, values[i]);
    }
    items[2 * item->rank] = as_i64(c, sem_i64(c, 1));
    for (uint32_t i = 0; i < item->rank; i++)
        if (!dimension_log2(c, item->block[i], at, &b.shape.log2[i])) return &sem_error;
    return check_elements(c, b.shape, at) ? make_block(c, values[0], items, 1 + 2 * item->rank, b) : &sem_error;
}

/* ---- Accesses ---------------------------------------------------------------------------------------------------- */

/* The places along axis d, as i64 of shape 1 x .. x B x .. x 1. */
static Value *places_along(Checker *c, Shape s, uint32_t d, const Sem *offset) {
    Shape row = shape_row(s.log2[d]);
    Value *v = build1_to(&c->b, OP_SEXT, build_arange(&c->b, 0, (int64_t)shape_size(s, d)), type_tile(DT_I64, row));
    v = build2(&c->b, OP_ADD, build_splat(&c->b, offset->v, row), v);
    for (uint32_t i = 0; i < s.rank; i++)
        if (i != d) v = build_expand(&c->b, v, i);
    return v;
}

static Value *spread(Checker *c, Value *v, Shape s) {
    return shape_equal(v->type.shape, s) ? v : build_broadcast(&c->b, v, s);
}

/* The addresses of the elements whose place along each axis is given, and in *mask which of them lie within the array
 * along the axes of the set (NULL: all). */
static const Sem *addresses_at(Checker *c, const Sem *s, Value *const *places, Shape shape, uint32_t checked,
                               const Sem **mask) {
    const Sem *const *sizes = s->items + 1, *const *strides = sizes + shape.rank;
    Value *sum = NULL, *within = NULL;
    for (uint32_t d = 0; d < shape.rank; d++) {
        Value *at = places[d];
        Value *step = build2(&c->b, OP_MUL, at, build_splat(&c->b, strides[d]->v, at->type.shape));
        sum = sum ? build2(&c->b, OP_ADD, sum, spread(c, step, shape)) : spread(c, step, shape);
        if (!(checked >> d & 1)) continue;
        Value *size = build2(&c->b, OP_SMAX, sizes[d]->v, build_int(&c->b, type_scalar(DT_I64), 0));
        /* unsigned: what lies before the array is beyond it */
        Value *is_in = build_compare(&c->b, OP_ICMP, PRED_ULT, at, build_splat(&c->b, size, at->type.shape));
        is_in = spread(c, is_in, shape);
        within = within ? build2(&c->b, OP_AND, within, is_in) : is_in;
    }
    *mask = within ? sem_run(c, ST_I1, within, NULL) : NULL;
    const Sem *base = s->items[0];
    return sem_with(c, base, build2(&c->b, OP_ADDPTR, build_splat(&c->b, base->v, shape), sum), NULL);
}

/* Of the block at the offsets. */
static const Sem *addresses(Checker *c, const Sem *s, const Sem *const *offsets, uint32_t checked, const Sem **mask) {
    Value *places[SHAPE_RANK];
    for (uint32_t d = 0; d < s->block->shape.rank; d++) places[d] = places_along(c, s->block->shape, d, offsets[d]);
    return addresses_at(c, s, places, s->block->shape, checked, mask);
}

/* The axes that boundary_check names, as a set. */
static bool read_checked(Checker *c, Call *call, uint32_t arg, uint32_t rank, uint32_t *checked) {
    const Sem *s = call->arg[arg];
    *checked = 0;
    if (!s || s->kind == SEM_NONE || (s->kind == SEM_STRING && !s->s[0])) return true;
    const Sem *const *items = s->kind == SEM_TUPLE ? s->items : &call->arg[arg];
    for (uint32_t i = 0, n = s->kind == SEM_TUPLE ? s->count : 1; i < n; i++) {
        int64_t axis;
        if (!sem_want_int(c, items[i], call->at[arg], argument_of(c, call, arg), &axis)) return false;
        if (axis >= 0 && axis < rank) {
            *checked |= 1u << axis;
            continue;
        }
        diag(c->d, call->at[arg], E_AXIS, "boundary_check", (long long)axis, sem_type_text(c, call->arg[0]));
        diag_note(c->d, call->at[arg], "it has axes 0 to %u", rank - 1);
        return false;
    }
    return true;
}

/* Of a pointer without a block: what belongs to blocks. */
static bool refuse_options(Checker *c, Call *call, uint32_t arg) {
    const Sem *s = call->arg[arg];
    if (!s || s->kind == SEM_NONE || (s->kind == SEM_TUPLE && s->count == 0)) return true;
    if (s->kind == SEM_STRING && s->s[0] == '\0') return true;
    diag(c->d, call->at[arg], E_BLOCK_OPTION, argument_of(c, call, arg));
    diag_note(c->d, call->at[arg], "a tile of pointers has a mask: mask=, and other= of a load");
    return false;
}

static bool has_no_mask(Checker *c, Call *call, uint32_t arg) {
    if (!call->arg[arg] || call->arg[arg]->kind == SEM_NONE) return true;
    diag(c->d, call->at[arg], E_BLOCK_MASK, argument_of(c, call, arg));
    diag_note(c->d, call->at[arg],
              "boundary_check=(0, 1) masks what lies beyond the array, padding_option says what it is then");
    return false;
}

bool block_as_pointer(Checker *c, Call *call, const BlockArgs *at) {
    const Sem *s = call->arg[0];
    uint32_t checked;
    bool is_nan = false;
    if (s->kind != SEM_BLOCK)
        return refuse_options(c, call, at->checked) && (!at->padding || refuse_options(c, call, at->padding));
    if (s->block->is_descriptor) {
        diag(c->d, call->at[0], E_BLOCK_KIND, call->builtin->name, "a pointer", sem_type_text(c, s));
        diag_note(c->d, call->at[0], "the method takes offsets, as in d.%s((m, n)%s)", call->builtin->name,
                  at->padding ? "" : ", value");
        return false;
    }
    uint32_t rank = s->block->shape.rank;
    if (!has_no_mask(c, call, at->mask) || (at->other && !has_no_mask(c, call, at->other))) return false;
    if (!read_checked(c, call, at->checked, rank, &checked)) return false;
    if (at->padding && !read_padding(c, call, at->padding, s->type, &is_nan)) return false;
    call->arg[0] = addresses(c, s, s->items + 1 + 2 * rank, checked, &call->arg[at->mask]);
    call->at[at->mask] = call->span;
    if (is_nan) {
        call->arg[at->other] = sem_float(c, (double)NAN);
        call->at[at->other] = call->span;
    }
    return true;
}

/* ---- advance, and what descriptors do ---------------------------------------------------------------------------- */

static bool check_block(Checker *c, Call *call, bool is_descriptor) {
    const Sem *s = call->arg[0];
    if (s->kind == SEM_BLOCK && s->block->is_descriptor == is_descriptor) return true;
    const char *wanted = is_descriptor ? "a descriptor, as make_tensor_descriptor makes it"
                                       : "a block pointer, as make_block_ptr makes it";
    diag(c->d, call->at[0], E_BLOCK_KIND, call->builtin->name, wanted, sem_type_text(c, s));
    return false;
}

const Sem *builtin_advance(Checker *c, Call *call) {
    const Sem *s = call->arg[0], *steps[SHAPE_RANK];
    if (!check_block(c, call, false)) return &sem_error;
    uint32_t rank = s->block->shape.rank;
    if (!read_parts(c, call, 1, rank, steps)) return &sem_error;
    const Sem **items = NEW_ARRAY(c->a, const Sem *, s->count);
    for (uint32_t i = 0; i < s->count; i++) items[i] = s->items[i];
    for (uint32_t d = 0; d < rank; d++) {
        const Sem **offset = &items[1 + 2 * rank + d];
        *offset = sem_run(c, ST_I64, build2(&c->b, OP_ADD, (*offset)->v, steps[d]->v), NULL);
    }
    return sem_with_items(c, s, items);
}

/* The call as one of the builtin without a descriptor, whose arguments follow: pointers,
 * then what comes behind the offsets, then the mask. */
static Call pointer_call(Checker *c, const Call *call, const char *name, uint32_t mask_at) {
    Call inner = {.builtin = builtin_find(name), .span = call->span, .node = call->node};
    inner.at[0] = call->at[0];
    inner.at[mask_at] = call->span;
    c->b.span = call->span;
    return inner;
}

static const Sem *through_pointers(Checker *c, Call *call, const char *name, uint32_t mask_at, Call *inner) {
    const Sem *s = call->arg[0], *offsets[SHAPE_RANK];
    if (!check_block(c, call, true) || !read_parts(c, call, 1, s->block->shape.rank, offsets)) return NULL;
    *inner = pointer_call(c, call, name, mask_at);
    inner->arg[0] = addresses(c, s, offsets, UINT32_MAX, &inner->arg[mask_at]);
    return s;
}

static const Sem *load_padded(Checker *c, const Sem *s, Call *inner) {
    if (s->block->pads_nan) inner->arg[2] = sem_float(c, (double)NAN);
    return builtin_load(c, inner);
}

const Sem *builtin_load_descriptor(Checker *c, Call *call) {
    Call inner;
    const Sem *s = through_pointers(c, call, "load", 1, &inner);
    return s ? load_padded(c, s, &inner) : &sem_error;
}

/* Rows by number: those that `rows` names, all from one column on, as many columns as the block has. */
static bool through_rows(Checker *c, Call *call, uint32_t rows, const char *name, uint32_t mask_at, Call *inner) {
    const Sem *s = call->arg[0], *x = call->arg[rows];
    if (!check_block(c, call, true)) return false;
    Shape shape = s->block->shape, named = sem_shape(x);
    if (shape.rank != 2 || shape.log2[0]) {
        diag(c->d, call->at[0], E_BLOCK_ROWS, call->builtin->name, sem_type_text(c, s));
        diag_note(c->d, call->at[0], "it takes rows one by one: block_shape=[1, B]");
        return false;
    }
    if (named.rank != 1 || !is_int_scalar(call->arg[rows + 1])) {
        diag(c->d, call->at[rows], E_BLOCK_OFFSETS, call->builtin->name, sem_type_text(c, x),
             sem_type_text(c, call->arg[rows + 1]));
        diag_note(c->d, call->at[rows], "rows are a tile of rank 1, the column an integer: where the block begins");
        return false;
    }
    shape.log2[0] = named.log2[0];
    if (!check_elements(c, shape, call->span)) return false;
    *inner = pointer_call(c, call, name, mask_at);
    Value *places[] = {build_expand(&c->b, wide_value(c, x), 1),
                       places_along(c, shape, 1, as_i64(c, call->arg[rows + 1]))};
    inner->arg[0] = addresses_at(c, s, places, shape, UINT32_MAX, &inner->arg[mask_at]);
    return true;
}

const Sem *builtin_gather_descriptor(Checker *c, Call *call) {
    Call inner;
    return through_rows(c, call, 1, "load", 1, &inner) ? load_padded(c, call->arg[0], &inner) : &sem_error;
}

const Sem *builtin_scatter_descriptor(Checker *c, Call *call) {
    Call inner;
    if (!through_rows(c, call, 2, "store", 2, &inner)) return &sem_error;
    inner.arg[1] = call->arg[1];
    inner.at[1] = call->at[1];
    return builtin_store(c, &inner);
}

const Sem *builtin_store_descriptor(Checker *c, Call *call) {
    Call inner;
    if (!through_pointers(c, call, "store", 2, &inner)) return &sem_error;
    inner.arg[1] = call->arg[2];
    inner.at[1] = call->at[2];
    return builtin_store(c, &inner);
}

/* Nobody gets what was there before, and nothing is ordered, as of a reduction in memory. */
const Sem *builtin_atomic_descriptor(Checker *c, Call *call) {
    const char *name = call->builtin->name;
    Call inner;
    if (!through_pointers(c, call, arena_strndup(c->a, name, strlen(name) - strlen("_tensor_descriptor")), 2, &inner))
        return &sem_error;
    inner.arg[1] = call->arg[2];
    inner.at[1] = call->at[2];
    inner.arg[3] = sem_string(c, "relaxed");
    return sem_is_error(builtin_atomic(c, &inner)) ? &sem_error : &sem_none;
}

/* ---- Attributes -------------------------------------------------------------------------------------------------- */

const Sem *block_property(Checker *c, const Sem *s, const char *name) {
    uint32_t rank = s->block->shape.rank;
    if (strcmp(name, "dtype") == 0) return sem_type(c, s->type, false);
    if (strcmp(name, "type") == 0) return sem_type(c, s->type, !s->block->is_descriptor);
    if (strcmp(name, "shape") == 0) return sem_tuple(c, s->items + 1, rank);
    if (strcmp(name, "strides") == 0) return sem_tuple(c, s->items + 1 + rank, rank);
    return NULL;
}

const Builtin *block_method(Checker *c, const Sem *s, const char *name) {
    const Builtin *b = s->block->is_descriptor ? builtin_find(arena_printf(c->a, "%s_tensor_descriptor", name)) : NULL;
    bool is_pointers =
        !s->block->is_descriptor && (!strcmp(name, "load") || !strcmp(name, "store") || !strcmp(name, "advance"));
    return is_pointers ? builtin_find(name) : strcmp(name, "make") ? b : NULL;
}
