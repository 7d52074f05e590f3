/* layout.c - who owns which element: num_warps, and a layout for every tile. The function enters stage SIMT.
 *
 * In: a Func at STAGE_TILE. Out: the same at STAGE_SIMT, with convert_layout where two layouts meet.
 * Method: memory decides. A load takes the layout that its pointers want (an anchor), arithmetic that of its operands, a
 * reduction a slice of its operand's. What is cheap to compute (ranges, constants, index arithmetic) has no layout of its
 * own: it is cloned in each layout that somebody demands; broadcasts pass the demand on to their operand.
 */
#include "passes/private.h"

#include <string.h>

enum {
    CHEAP = 24,    /* plain ops of a tree that is cloned rather than converted */
    MAX_GUESS = 32 /* how far a layout is looked for through definitions */
};

typedef struct Anchor { /* a shape accessed along one axis */
    Shape shape;
    uint32_t axis, vec_log2;
    const Layout *layout;
} Anchor;

typedef struct Clone { /* v as somebody demanded it */
    const Layout *layout;
    Value *value;
    struct Clone *next;
} Clone;

typedef struct Assign {
    Func *f;
    const PassContext *c;
    Arena *scratch;
    const Facts *facts;
    VEC(Anchor) anchors;
    uint32_t known;  /* values the facts and the side tables cover */
    uint8_t *cost;   /* by value id: 0 not looked at, else 1 + ops of the tree; CHEAP + 1: not cheap */
    Clone **clones;  /* by value id */
    uint32_t warps_log2, ctas_log2;
} Assign;

static void assign_block(Assign *s, Block *b);

/* ---- What is cheap ------------------------------------------------------------------------------------------------------- */

static bool is_shape_op(const Op *op) {
    return op && (op->kind == OP_EXPAND || op->kind == OP_BROADCAST);
}

/* Elements change their places, not their threads. */
static bool is_move(OpKind k) {
    return k == OP_RESHAPE || k == OP_TRANS;
}

static bool is_plain(OpKind k) {
    switch (k) {
    case OP_JOIN: case OP_SPLIT: case OP_FLIP: case OP_GATHER:
    case OP_EXP: case OP_EXP2: case OP_LOG: case OP_LOG2: case OP_SQRT: case OP_SQRTRN: case OP_RSQRT: case OP_FDIV:
    case OP_FDIVRN: case OP_FREM:
    case OP_SDIV: case OP_UDIV: case OP_SREM: case OP_UREM: case OP_REDUCE: case OP_REDUCEWARP: case OP_CONVERT: return false;
    default: return op_info[k].effect == EFFECT_PURE;
    }
}

/* Division by a constant power of two is a shift or a mask. */
static bool is_cheap_division(const Op *op) {
    int64_t by;
    bool divides = op->kind == OP_SDIV || op->kind == OP_UDIV || op->kind == OP_SREM || op->kind == OP_UREM;
    return divides && value_const(op->args[1], &by) && by > 0 && (by & (by - 1)) == 0;
}

static uint32_t tree_cost(Assign *s, const Value *v) {
    if (!value_is_tile(v)) return 1;
    if (v->id >= s->known || !v->def || (!is_plain(v->def->kind) && !is_cheap_division(v->def))) return CHEAP + 1;
    if (s->cost[v->id]) return s->cost[v->id];
    uint32_t cost = 2;
    for (uint32_t i = 0; i < v->def->nargs && cost <= CHEAP; i++) {
        if (value_is_tile(v->def->args[i])) cost += tree_cost(s, v->def->args[i]) - 1;
    }
    if (cost > CHEAP) cost = CHEAP + 1;
    s->cost[v->id] = (uint8_t)cost;
    return cost;
}

static bool is_cheap(Assign *s, const Value *v) {
    return tree_cost(s, v) <= CHEAP;
}

/* A tile with a layout of its own: neither cheap nor a broadcast of something. */
static bool is_hard(Assign *s, const Value *v) {
    return value_is_tile(v) && !is_cheap(s, v) && !is_shape_op(v->def);
}

/* ---- Anchors: the layouts that memory wants -------------------------------------------------------------------------------- */

/* The axis along which the pointers are neighbours; the last one where it does not matter. */
static uint32_t memory_axis(const Assign *s, const Value *ptr) {
    const Fact *fact = fact_of(s->facts, ptr);
    uint32_t rank = ptr->type.shape.rank, best = rank - 1;
    for (uint32_t d = rank; d-- > 0;) {
        if (fact->contiguous[d] > fact->contiguous[best]) best = d;
    }
    return best;
}

static Anchor *anchor_of(Assign *s, Shape shape, uint32_t axis) {
    for (uint32_t i = 0; i < s->anchors.len; i++) {
        if (shape_equal(s->anchors.at[i].shape, shape) && s->anchors.at[i].axis == axis) return &s->anchors.at[i];
    }
    Anchor a = {.shape = shape, .axis = axis};
    vec_push(s->scratch, &s->anchors, a);
    return &s->anchors.at[s->anchors.len - 1];
}

static void note_access(void *context, Op *op) {
    Assign *s = context;
    if (!op_is_access(op->kind) || !value_is_tile(op->args[0])) return;
    const Value *ptr = op->args[0];
    uint32_t axis = memory_axis(s, ptr), vec = facts_vector(s->facts, ptr, axis, s->c->target.max_vector_bytes);
    if (op->attr.mem.is_shifted) vec = op->attr.mem.vec_log2;
    if (op_is_atomic(op->kind)) vec = 0;
    Anchor *a = anchor_of(s, ptr->type.shape, axis);
    if (vec > a->vec_log2) a->vec_log2 = vec;
}

static const Layout *anchor_layout(Assign *s, Shape shape, uint32_t axis) {
    Anchor *a = anchor_of(s, shape, axis);
    if (a->layout) return a->layout;
    uint8_t order[5];
    uint32_t n = 0;
    order[n++] = (uint8_t)axis;
    for (uint32_t d = shape.rank; d-- > 0;) {
        if (d != axis) order[n++] = (uint8_t)d;
    }
    a->layout = layout_blocked(s->f->layouts, shape, order, a->vec_log2, 5, s->warps_log2, s->ctas_log2);
    return a->layout;
}

/* For a tile that memory says nothing about: as another access of its shape has it, else along the last axis. */
static const Layout *default_layout(Assign *s, Shape shape) {
    for (uint32_t i = 0; i < s->anchors.len; i++) {
        if (shape_equal(s->anchors.at[i].shape, shape)) return anchor_layout(s, shape, s->anchors.at[i].axis);
    }
    return anchor_layout(s, shape, shape.rank - 1u);
}

/* ---- Demands ------------------------------------------------------------------------------------------------------------------ */

static Value *demand(Assign *s, Value *v, const Layout *l);

static Builder builder_behind(Assign *s, Value *v) {
    if (v->def) return builder_after(s->f, v->def);
    Builder b = builder_at_end(s->f, v->block);
    b.before = v->block->first;
    if (b.before) b.span = b.before->span;
    return b;
}

static Value *remember(Assign *s, const Value *v, const Layout *l, Value *as) {
    Clone *c = NEW(s->scratch, Clone);
    *c = (Clone){l, as, s->clones[v->id]};
    s->clones[v->id] = c;
    return as;
}

/* The layout of operand i of an op whose result is wanted in l. */
static const Layout *operand_layout(Assign *s, const Op *op, uint32_t i, const Layout *l) {
    Shape from = op->args[i]->type.shape;
    if (op->kind == OP_TRANS) {
        uint8_t perm[SHAPE_RANK], inverse[SHAPE_RANK];
        attr_perm_read(op->attr, perm);
        for (uint32_t d = 0; d < from.rank; d++) inverse[perm[d]] = (uint8_t)d;
        return layout_transpose(s->f->layouts, l, inverse);
    }
    if (op->kind == OP_EXPAND || op->kind == OP_RESHAPE) return layout_reshape(s->f->layouts, l, from);
    if (op->kind == OP_BROADCAST) return layout_project(s->f->layouts, l, from);
    return l;
}

static Value *clone_in(Assign *s, Value *v, const Layout *l) {
    const Op *op = v->def;
    Value *args[8];
    for (uint32_t i = 0; i < op->nargs; i++) args[i] = demand(s, op->args[i], operand_layout(s, op, i, l));
    Builder b = builder_after(s->f, v->def);
    b.span = op->span;
    Type t = v->type;
    t.layout = l;
    return op_build(&b, op->kind, args, op->nargs, op->attr, t)->results[0];
}

static Value *demand(Assign *s, Value *v, const Layout *l) {
    if (!value_is_tile(v) || v->type.layout == l) return v;
    if (v->id >= s->known) bug("layout: a clone is demanded again in another layout");
    for (const Clone *c = s->clones[v->id]; c; c = c->next) {
        if (c->layout == l) return c->value;
    }
    if (!v->type.layout && (is_cheap(s, v) || is_shape_op(v->def))) return remember(s, v, l, clone_in(s, v, l));
    if (!v->type.layout) bug("layout: %s has no layout yet", v->def ? op_info[v->def->kind].name : "an argument");
    Builder b = builder_behind(s, v);
    Type t = v->type;
    t.layout = l;
    return remember(s, v, l, build1_to(&b, OP_CONVERT, v, t));
}

static void demand_arg(Assign *s, Op *op, uint32_t i, const Layout *l) {
    Value *v = demand(s, op->args[i], l);
    if (v != op->args[i]) op_set_arg(s->f, op, i, v);
}

/* ---- Guesses: the layout that a value will have, before its op was reached ------------------------------------------------------ */

/* The axis along which memory wants tiles of this shape. */
static uint32_t shape_axis(const Assign *s, Shape shape) {
    for (uint32_t i = 0; i < s->anchors.len; i++) {
        if (shape_equal(s->anchors.at[i].shape, shape)) return s->anchors.at[i].axis;
    }
    return shape.rank - 1u;
}

/* Of the result of reshape, trans, join, split: no element leaves its thread, the registers stand as memory wants them.
 * NULL where that cannot be. */
static const Layout *result_layout(Assign *s, const Op *op, const Layout *from) {
    Shape to = op->results[0]->type.shape;
    const Layout *l = op_moved_layout(s->f->layouts, op->kind, op->attr, from, to);
    return l ? layout_sort(s->f->layouts, l, shape_axis(s, to)) : NULL;
}

/* The layout of what combining gives, where its operands are rather in `l` (NULL: nothing is said). */
static const Layout *guess_combined(Assign *s, const Op *op, const Layout *l) {
    uint32_t axis = (uint32_t)op->attr.i;
    if (!l || !layout_axis_plan(l, axis).ordered) l = default_layout(s, op->args[0]->type.shape);
    return op->kind == OP_SCAN ? l : layout_slice(s->f->layouts, l, axis, false);
}

static const Layout *guess(Assign *s, const Value *v, uint32_t depth) {
    if (v->type.layout || !value_is_tile(v) || depth > MAX_GUESS) return v->type.layout;
    if (!v->def || is_cheap(s, v)) return NULL;
    const Op *op = v->def;
    if (op->kind == OP_LOAD) return v->id < s->known ? anchor_layout(s, v->type.shape, memory_axis(s, op->args[0])) : NULL;
    if (op->kind == OP_REDUCE) {
        const Layout *l = guess(s, op->args[0], depth + 1);
        if (!l) l = default_layout(s, op->args[0]->type.shape);
        return layout_slice(s->f->layouts, l, (uint32_t)op->attr.i, false);
    }
    if (is_move(op->kind) || op->kind == OP_JOIN || op->kind == OP_SPLIT) {
        const Layout *l = value_is_tile(op->args[0]) ? guess(s, op->args[0], depth + 1) : NULL;
        return l ? result_layout(s, op, l) : NULL;
    }
    if (op->kind == OP_GATHER) return guess(s, op->args[1], depth + 1);
    if (op_is_combine(op->kind)) return guess_combined(s, op, guess(s, op->args[0], depth + 1));
    if (op_info[op->kind].effect != EFFECT_PURE) return NULL;
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Value *a = op->args[i];
        const Layout *l = is_hard(s, a) && shape_equal(a->type.shape, v->type.shape) ? guess(s, a, depth + 1) : NULL;
        if (l) return l;
    }
    return NULL;
}

static const Layout *guess_of(Assign *s, const Value *x, const Value *y) {
    const Layout *l = guess(s, x, 0);
    if (!l && y) l = guess(s, y, 0);
    return l ? l : default_layout(s, x->type.shape);
}

/* ---- Ops --------------------------------------------------------------------------------------------------------------------------- */

static bool replicates(const Layout *l) {
    return layout_free(l, IN_LANE) || layout_free(l, IN_WARP) || layout_free(l, IN_CTA);
}

static void set_access(const Assign *s, Op *op, const Layout *l, const Value *ptr, const Value *mask) {
    MemAttr *m = &op->attr.mem;
    uint32_t axis = memory_axis(s, ptr), held = layout_vector(l, axis);
    if (m->is_shifted && held >= m->vec_log2) return; /* as shift_rows has it */
    m->is_shifted = false;
    uint32_t vec = facts_vector(s->facts, ptr, axis, s->c->target.max_vector_bytes);
    m->vec_log2 = (uint8_t)(held < vec ? held : vec);
    m->align_log2 = (uint8_t)(m->vec_log2 + (uint32_t)__builtin_ctz(type_bytes(type_scalar(ptr->type.pointee))));
    m->mask_kind = (uint8_t)(mask ? facts_mask(s->facts, mask, axis, m->vec_log2) : MASK_NONE);
}

/* Of scalars: one element, one truth value. */
static void set_scalar_access(Op *op, uint32_t mask_index) {
    MemAttr *m = &op->attr.mem;
    m->vec_log2 = 0;
    m->align_log2 = (uint8_t)__builtin_ctz(type_bytes(type_scalar(op->args[0]->type.pointee)));
    m->mask_kind = op->nargs > mask_index ? MASK_UNIFORM : MASK_NONE;
}

static void assign_load(Assign *s, Op *op) {
    const Value *ptr = op->args[0], *mask = op->nargs > 1 ? op->args[1] : NULL;
    const Layout *l = is_hard(s, ptr) && ptr->type.layout ? ptr->type.layout : anchor_layout(s, ptr->type.shape, memory_axis(s, ptr));
    set_access(s, op, l, ptr, mask);
    for (uint32_t i = 0; i < op->nargs; i++) demand_arg(s, op, i, l);
    op->results[0]->type.layout = l;
}

/* A value keeps its layout where that is as good for memory; a few replicated elements are not worth a conversion. */
static const Layout *store_layout(Assign *s, const Value *ptr, const Value *value) {
    uint32_t axis = memory_axis(s, ptr);
    const Layout *anchor = anchor_layout(s, ptr->type.shape, axis);
    if (!is_hard(s, value)) return anchor;
    const Layout *own = value->type.layout;
    uint32_t wanted = facts_vector(s->facts, ptr, axis, s->c->target.max_vector_bytes);
    bool along = layout_vector(own, axis) >= layout_vector(anchor, axis) || layout_vector(own, axis) >= wanted;
    uint32_t neighbour = own->bits[IN_LANE] ? own->basis[IN_LANE][0] : 0;
    bool coalesced = neighbour == 0 || (neighbour & shape_field(own->shape, axis)) == neighbour;
    return replicates(own) || (along && coalesced) ? own : anchor;
}

static void assign_store(Assign *s, Op *op) {
    const Value *ptr = op->args[0], *mask = op->nargs > 2 ? op->args[2] : NULL;
    const Layout *l = store_layout(s, ptr, op->args[1]);
    set_access(s, op, l, ptr, mask);
    for (uint32_t i = 0; i < op->nargs; i++) demand_arg(s, op, i, l);
}

/* Elements one by one: any layout will do, so the value keeps its own, else the pointers theirs. */
static void assign_atomic(Assign *s, Op *op) {
    uint32_t values = op->kind == OP_ATOMICCAS ? 2 : 1;
    set_scalar_access(op, 1 + values);
    if (!value_is_tile(op->args[0])) return;
    const Value *ptr = op->args[0], *value = op->args[values];
    const Layout *l = is_hard(s, value) ? value->type.layout : is_hard(s, ptr) ? ptr->type.layout : NULL;
    if (!l) l = anchor_layout(s, ptr->type.shape, memory_axis(s, ptr));
    for (uint32_t i = 0; i < op->nargs; i++) demand_arg(s, op, i, l);
    op->results[0]->type.layout = l;
}

static void assign_debug(Assign *s, Op *op) {
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Value *x = op->args[i];
        if (value_is_tile(x)) demand_arg(s, op, i, is_hard(s, x) ? x->type.layout : default_layout(s, x->type.shape));
    }
}

static void assign_reduce(Assign *s, Op *op) {
    Value *x = op->args[0];
    uint32_t axis = (uint32_t)op->attr.i;
    const Layout *l = is_hard(s, x) ? x->type.layout : default_layout(s, x->type.shape);
    if (layout_reduce_plan(l, axis).mixed) l = default_layout(s, x->type.shape);
    demand_arg(s, op, 0, l);
    if (value_is_tile(op->results[0])) op->results[0]->type.layout = layout_slice(s->f->layouts, l, axis, false);
}

static void assign_move(Assign *s, Op *op) {
    Value *x = op->args[0], *v = op->results[0];
    if (is_hard(s, x)) {
        if (value_is_tile(v)) v->type.layout = result_layout(s, op, x->type.layout);
        return;
    }
    if (!value_is_tile(v)) { /* of one element */
        demand_arg(s, op, 0, default_layout(s, x->type.shape));
    } else if (!is_cheap(s, v)) {
        v->type.layout = default_layout(s, v->type.shape);
        demand_arg(s, op, 0, operand_layout(s, op, 0, v->type.layout));
    }
}

static void assign_join(Assign *s, Op *op) {
    const Layout *l = NULL;
    for (uint32_t i = 0; i < op->nargs && !l; i++) {
        if (is_hard(s, op->args[i])) l = op->args[i]->type.layout;
    }
    if (!l) l = default_layout(s, op->args[0]->type.shape);
    for (uint32_t i = 0; i < op->nargs; i++) demand_arg(s, op, i, l);
    op->results[0]->type.layout = result_layout(s, op, l);
}

/* Where the last axis does not lie along registers, the tile is brought into a layout in which it does. */
static void assign_split(Assign *s, Op *op) {
    const Value *x = op->args[0];
    const Layout *to = is_hard(s, x) ? result_layout(s, op, x->type.layout) : NULL;
    if (!to) {
        to = default_layout(s, op->results[0]->type.shape);
        demand_arg(s, op, 0, layout_join(s->f->layouts, to));
    }
    op->results[0]->type.layout = to;
}

static void assign_gather(Assign *s, Op *op) {
    for (uint32_t i = 0; i < 2; i++) {
        Value *x = op->args[i];
        demand_arg(s, op, i, is_hard(s, x) ? x->type.layout : default_layout(s, x->type.shape));
    }
    op->results[0]->type.layout = op->args[1]->type.layout;
}

static bool is_anchor(const Assign *s, const Layout *l) {
    for (uint32_t i = 0; i < s->anchors.len; i++) {
        if (s->anchors.at[i].layout == l) return true;
    }
    return false;
}

static void assign_combine(Assign *s, Op *op) {
    const Layout *l = NULL;
    for (uint32_t i = 0; i < op->nargs && !l; i++)
        if (is_hard(s, op->args[i])) l = op->args[i]->type.layout;
    if (!l || !layout_axis_plan(l, (uint32_t)op->attr.i).ordered) l = default_layout(s, op->args[0]->type.shape);
    for (uint32_t i = 0; i < op->nargs; i++) demand_arg(s, op, i, l);
    const Layout *to = guess_combined(s, op, l);
    for (uint32_t i = 0; i < op->nresults; i++)
        if (value_is_tile(op->results[i])) op->results[i]->type.layout = to;
}

/* The first operand's, but a layout that memory wants before one that elements were moved into. */
static void assign_elementwise(Assign *s, Op *op) {
    Value *v = op->results[0];
    const Layout *l = NULL;
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Value *a = op->args[i];
        if (!is_hard(s, a) || !shape_equal(a->type.shape, v->type.shape)) continue;
        if (!l || (!is_anchor(s, l) && is_anchor(s, a->type.layout))) l = a->type.layout;
    }
    if (!l) l = default_layout(s, v->type.shape);
    for (uint32_t i = 0; i < op->nargs; i++) demand_arg(s, op, i, l);
    v->type.layout = l;
}

static void demand_passed(Assign *s, Op *end, uint32_t skip, Value *const *to, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        if (value_is_tile(to[i])) demand_arg(s, end, skip + i, to[i]->type.layout);
    }
}

static void assign_for(Assign *s, Op *op) {
    Block *body = op->regions[0];
    for (uint32_t i = 0; i < op->nresults; i++) {
        if (!value_is_tile(op->results[i])) continue;
        const Layout *l = guess_of(s, op->args[3 + i], body->last->args[i]);
        op->results[i]->type.layout = body->args.at[1 + i]->type.layout = l;
        demand_arg(s, op, 3 + i, l);
    }
    assign_block(s, body);
    demand_passed(s, body->last, 0, op->results, op->nresults);
}

static void assign_while(Assign *s, Op *op) {
    Block *test = op->regions[0], *body = op->regions[1];
    for (uint32_t i = 0; i < op->nargs; i++) {
        if (!value_is_tile(op->args[i])) continue;
        const Layout *l = guess_of(s, op->args[i], body->last->args[i]);
        test->args.at[i]->type.layout = l;
        demand_arg(s, op, i, l);
    }
    assign_block(s, test);
    for (uint32_t i = 0; i < op->nresults; i++) {
        if (!value_is_tile(op->results[i])) continue;
        const Layout *l = guess_of(s, test->last->args[1 + i], NULL);
        op->results[i]->type.layout = body->args.at[i]->type.layout = l;
    }
    demand_passed(s, test->last, 1, op->results, op->nresults);
    assign_block(s, body);
    demand_passed(s, body->last, 0, test->args.at, test->args.len);
}

static void assign_if(Assign *s, Op *op) {
    for (int r = 0; r < 2; r++) assign_block(s, op->regions[r]);
    for (uint32_t i = 0; i < op->nresults; i++) {
        if (!value_is_tile(op->results[i])) continue;
        op->results[i]->type.layout = guess_of(s, op->regions[0]->last->args[i], op->regions[1]->last->args[i]);
    }
    for (int r = 0; r < 2; r++) demand_passed(s, op->regions[r]->last, 0, op->results, op->nresults);
}

static void assign_op(Assign *s, Op *op) {
    switch (op->kind) {
    case OP_FOR: assign_for(s, op); return;
    case OP_WHILE: assign_while(s, op); return;
    case OP_IF: assign_if(s, op); return;
    case OP_LOAD:
        if (value_is_tile(op->args[0])) assign_load(s, op);
        else set_scalar_access(op, 1);
        return;
    case OP_STORE:
        if (value_is_tile(op->args[0])) assign_store(s, op);
        else set_scalar_access(op, 2);
        return;
    case OP_ATOMICRMW:
    case OP_ATOMICCAS: assign_atomic(s, op); return;
    case OP_PRINT:
    case OP_ASSERT: assign_debug(s, op); return;
    case OP_REDUCE: assign_reduce(s, op); return;
    case OP_RESHAPE: case OP_TRANS: assign_move(s, op); return;
    case OP_JOIN: assign_join(s, op); return;
    case OP_SPLIT: assign_split(s, op); return;
    case OP_GATHER: assign_gather(s, op); return;
    case OP_REDUCEFN:
    case OP_SCAN: assign_combine(s, op); return;
    default: break;
    }
    if (op->nresults == 1 && is_hard(s, op->results[0])) assign_elementwise(s, op);
}

static void assign_block(Assign *s, Block *b) {
    for (Op *op = b->first; op;) {
        Op *next = op->next; /* clones and conversions behind an op are typed already */
        assign_op(s, op);
        op = next;
    }
}

/* ---- The pass ----------------------------------------------------------------------------------------------------------------------- */

/* The threads of a program are those of a cluster. */
static void widen_barrier(void *context, Op *op) {
    (void)context;
    if (op->kind == OP_BARRIER) op->attr.i = SCOPE_CLUSTER;
}

bool pass_layout(Func *f, PassContext *c) {
    if (f->stage == STAGE_SIMT) return false;
    Arena *scratch = arena_create();
    Assign s = {.f = f, .c = c, .scratch = scratch, .known = f->next_value};
    s.facts = facts_compute(f, scratch);
    distribute_program(f, s.facts, &c->target);
    if (c->opt_level > 0 && shift_rows(f, s.facts, c->target.max_vector_bytes)) {
        s.facts = facts_compute(f, scratch);
        s.known = f->next_value;
    }
    f->threads_per_program = 32 * f->num_warps;
    if (f->threads_per_program > c->target.max_threads_per_block) {
        diag(c->diag, f->span, E_THREADS, f->num_warps, f->threads_per_program, c->target.max_threads_per_block);
        arena_destroy(scratch);
        return false;
    }
    if (f->blocks_per_program > c->target.max_cluster) {
        diag(c->diag, f->span, E_CLUSTER, f->blocks_per_program, c->target.max_cluster);
        diag_note(c->diag, (Span){0, 0}, "clusters of up to 16 blocks are there from sm_90 on");
        arena_destroy(scratch);
        return false;
    }
    s.cost = NEW_ARRAY(scratch, uint8_t, f->next_value);
    s.clones = NEW_ARRAY(scratch, Clone *, f->next_value);
    s.warps_log2 = (uint32_t)__builtin_ctz(f->num_warps);
    s.ctas_log2 = (uint32_t)__builtin_ctz(f->blocks_per_program);
    func_walk(f, note_access, &s);
    if (s.ctas_log2) func_walk(f, widen_barrier, f);
    assign_block(&s, f->body);
    arena_destroy(scratch);
    pass_dce(f, c); /* the originals of what was cloned: they have no layout */
    f->stage = STAGE_SIMT;
    return true;
}
