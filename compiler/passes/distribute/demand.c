/* demand.c - a value in a demanded layout.
 *
 * In: a value and a layout. Out: the same value in that layout.
 * Method: cheap values (ranges, constants, index arithmetic, broadcasts) are cloned with their operands, once for each
 * layout. Any other value is converted, once for each layout; what is widened, before it is. But where elements would
 * cross warps, a few that were loaded are loaded once more, beside the first time. A vector beside products of four
 * warps is loaded whole by each warp, which shuffles it.
 */
#include "passes/distribute/assign.h"

enum {
    CHEAP = 24,     /* plain ops of a tree that is cloned rather than converted */
    FEW_LOADED = 2, /* log2, elements of a thread: they cost less than a barrier … */
    SHUFFLED = 1,   /* … and so many less than shuffles (layer norm backward of 1024 columns: 4 lost a fifth) */
    FEW_LOADS = 2,  /* of one value, and … */
    FEW_OPS = 8,    /* … what makes it of them */
};

static bool op_is_shaping(const Op *op) {
    return op && (op->kind == OP_EXPAND || op->kind == OP_BROADCAST || op->kind == OP_SLICE);
}

static bool is_plain(const Op *op) {
    return op_is_pure(op->kind) && op_cost(op) <= COST_PLAIN;
}

/* Division by a constant power of two is a shift or a mask. */
static bool is_cheap_division(const Op *op) {
    int64_t by;
    bool divides = op->kind == OP_SDIV || op->kind == OP_UDIV || op->kind == OP_SREM || op->kind == OP_UREM;
    return divides && value_const(op->args[1], &by) && by > 0 && (by & (by - 1)) == 0;
}

/* Ops of elements; those of what a broadcast repeats are fewer by far, and do not count. */
static uint32_t tree_cost(Assign *s, const Value *v) {
    if (!value_is_tile(v)) return 1;
    if (v->id >= s->known || !v->def || (!is_plain(v->def) && !is_cheap_division(v->def))) return CHEAP + 1;
    if (s->cost[v->id]) return s->cost[v->id];
    uint32_t cost = 2;
    for (uint32_t i = 0; i < v->def->nargs && cost <= CHEAP; i++) {
        if (value_is_tile(v->def->args[i])) cost += tree_cost(s, v->def->args[i]) - 1;
    }
    if (cost > CHEAP) cost = CHEAP + 1;
    else if (v->def->kind == OP_BROADCAST) cost = 2;
    s->cost[v->id] = (uint8_t)cost;
    return cost;
}

bool value_is_cheap(Assign *s, const Value *v) {
    return tree_cost(s, v) <= CHEAP;
}

bool value_is_hard(Assign *s, const Value *v) {
    return value_is_tile(v) && !value_is_cheap(s, v) && !op_is_shaping(v->def);
}

static Value *demand(Assign *s, Value *v, const Layout *l);

static Builder builder_behind(Assign *s, Value *v) {
    if (v->def) return builder_after(s->f, v->def);
    Builder b = builder_at_end(s->f, v->block);
    b.before = v->block->first;
    if (b.before) b.span = b.before->span;
    return b;
}

static Value *remember(Assign *s, Value *v, const Layout *l, Value *as) {
    Clone *c = NEW(s->scratch, Clone);
    *c = (Clone){l, as, s->clones[v->id]};
    s->clones[v->id] = c;
    vec_push(s->scratch, &s->demanded, ((Demanded){as, v}));
    return as;
}

/* Of an operand that was demanded in some layout, what it was. */
static Value *before_demand(const Assign *s, Value *v) {
    for (uint32_t i = s->demanded.len; i-- > 0 && v->id >= s->known;)
        if (s->demanded.at[i].made == v) v = s->demanded.at[i].of;
    return v;
}

const Layout *operand_layout(Assign *s, const Op *op, uint32_t i, const Layout *l) {
    Shape from = op->args[i]->type.shape;
    if (op->kind == OP_TRANS) {
        uint8_t perm[SHAPE_RANK], inverse[SHAPE_RANK];
        attr_perm_read(op->attr, perm);
        for (uint32_t d = 0; d < from.rank; d++) inverse[perm[d]] = (uint8_t)d;
        return layout_transpose(s->f->layouts, l, inverse);
    }
    if (op->kind == OP_EXPAND || op->kind == OP_RESHAPE) return layout_reshape(s->f->layouts, l, from);
    if (op->kind == OP_BROADCAST) return layout_project(s->f->layouts, l, from);
    if (op->kind == OP_SLICE) return op->args[i]->type.layout; /* through shared memory: any will do */
    if (from.rank && !op_is_elementwise(op->kind))
        bug("layout: no rule for an operand of '%s'", op_info[op->kind].name);
    return l;
}

void access_set(const Assign *s, Op *op, const Layout *l, uint32_t axis, const Value *ptr, const Value *mask) {
    uint32_t held = layout_vector(l, axis);
    MemAttr *m = &op->attr.mem;
    uint32_t unit = (uint32_t)__builtin_ctz(type_bytes(type_scalar(ptr->type.pointee)));
    m->is_rotated &= held > 0;
    if (m->is_rotated) { /* as rotate_rows has it, in vectors of the layout */
        if (held < m->vec_log2) m->vec_log2 = (uint8_t)held;
        if (unit + m->vec_log2 < m->align_log2) m->align_log2 = (uint8_t)(unit + m->vec_log2);
        return;
    }
    uint32_t vec = facts_vector(s->facts, ptr, axis, s->c->target->max_vector_bytes);
    m->vec_log2 = (uint8_t)(held < vec ? held : vec);
    m->align_log2 = (uint8_t)(m->vec_log2 + unit);
    m->mask_kind = (uint8_t)(mask ? facts_mask(s->facts, mask, axis, m->vec_log2) : MASK_NONE);
}

static Value *clone_in(Assign *s, Value *v, const Layout *l) {
    const Op *op = v->def;
    bool is_load = op->kind == OP_LOAD;
    Value *args[8];
    for (uint32_t i = 0; i < op->nargs; i++)
        args[i] = demand(s, before_demand(s, op->args[i]), is_load ? l : operand_layout(s, op, i, l));
    Builder b = builder_after(s->f, v->def);
    b.span = op->span;
    Type t = v->type;
    t.layout = l;
    Op *made = op_build(&b, op->kind, args, op->nargs, op->attr, t);
    const Value *mask = is_load && op->nargs > 1 ? before_demand(s, op->args[1]) : NULL;
    if (is_load) access_set(s, made, l, vote_of(s->votes, op).axis, before_demand(s, op->args[0]), mask);
    return made->results[0];
}

/* Fewer bytes move where the operand is converted, unless that is a clone already. */
static bool widens(const Assign *s, const Value *v) {
    bool is = v->def && (v->def->kind == OP_FPEXT || v->def->kind == OP_SEXT || v->def->kind == OP_ZEXT);
    return is && v->def->args[0]->id < s->known;
}

Value *demand_made(const Assign *s, const Value *v, const Layout *l) {
    const Clone *c = v->id < s->known ? s->clones[v->id] : NULL;
    while (c && c->layout != l) c = c->next;
    return c ? c->value : NULL;
}

static bool is_scalar_or_cheap(Assign *s, const Value *v) {
    return !value_is_tile(v) || value_is_cheap(s, v);
}

/* Is v loaded of memory that nobody writes, or made by plain ops of that? *room: how many more loads and ops. */
typedef struct Room {
    uint32_t loads, ops;
} Room;

static bool is_loaded(Assign *s, Value *v, Room *room) {
    v = before_demand(s, v);
    const Op *op = v->def;
    if (is_scalar_or_cheap(s, v)) return true;
    if (!op || v->id >= s->known) return false;
    if (op->kind == OP_LOAD) {
        bool is_anywhere = !op->attr.mem.is_volatile && !op->attr.mem.is_rotated && op_loads_constant(s->f, op);
        if (!is_anywhere || !room->loads) return false;
        room->loads--;
        for (uint32_t i = 0; i < op->nargs; i++) is_anywhere &= is_scalar_or_cheap(s, before_demand(s, op->args[i]));
        return is_anywhere;
    }
    if (!op_is_elementwise(op->kind) || op_cost(op) > COST_PLAIN || !room->ops) return false;
    room->ops--;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!is_loaded(s, op->args[i], room)) return false;
    return true;
}

/* No more elements than threads: of more, both layouts may be what memory wants. Shuffles cost less than a barrier. */
static bool loads_again(Assign *s, Value *v, const Layout *l) {
    Room room = {FEW_LOADS, FEW_OPS};
    uint32_t kind = convert_kind(v->type.layout, l), threads_log2 = s->lanes_log2 + s->warps_log2;
    bool is_small = shape_log2(v->type.shape) <= threads_log2 &&
                    l->bits[IN_REGISTER] <= (kind == CONVERT_SHUFFLE ? SHUFFLED : FEW_LOADED);
    return is_small && kind >= CONVERT_SHUFFLE && !s->ctas_log2 && is_loaded(s, v, &room) && room.loads < FEW_LOADS;
}

/* A vector that would cross warps, in a loop that multiplies, whose products a barrier would hold up: each warp loads
 * all of it, and shuffles it. NULL: it is none such. */
static Value *load_in_warps(Assign *s, Value *v, const Layout *l) {
    Room room = {FEW_LOADS, FEW_OPS};
    const Op *loop = v->def ? v->def->parent->owner : NULL;
    Shape shape = v->type.shape;
    uint32_t size_log2 = shape_log2(shape), each_log2 = size_log2 > s->lanes_log2 ? size_log2 - s->lanes_log2 : 0;
    bool crosses = shape.rank == 1 && convert_kind(v->type.layout, l) > CONVERT_SHUFFLE;
    if (!crosses || !loop || loop->kind != OP_FOR || !block_multiplies(loop->regions[0]) || s->ctas_log2)
        return NULL;
    if (each_log2 > FEW_LOADED || !is_loaded(s, v, &room)) return NULL;
    const Layout *whole = layout_blocked(s->f->layouts, shape, NULL, each_log2, s->lanes_log2, s->warps_log2, 0);
    if (convert_kind(whole, l) != CONVERT_SHUFFLE) return NULL;
    Value *made = clone_in(s, v, whole);
    Builder b = builder_after(s->f, made->def);
    Type t = v->type;
    t.layout = l;
    return build1_to(&b, OP_CONVERT, made, t);
}

static Value *demand(Assign *s, Value *v, const Layout *l) {
    if (!value_is_tile(v) || v->type.layout == l) return v;
    if (v->id >= s->known) bug("layout: a clone is demanded again in another layout");
    Value *made = demand_made(s, v, l);
    if (made) return made;
    if (!v->type.layout && (value_is_cheap(s, v) || op_is_shaping(v->def))) return remember(s, v, l, clone_in(s, v, l));
    if (v->type.layout && (widens(s, v) || loads_again(s, v, l))) return remember(s, v, l, clone_in(s, v, l));
    if (!v->type.layout) bug("layout: %s has no layout yet", v->def ? op_info[v->def->kind].name : "an argument");
    Value *in_warps = load_in_warps(s, v, l);
    if (in_warps) return remember(s, v, l, in_warps);
    Builder b = builder_behind(s, v);
    Type t = v->type;
    t.layout = l;
    return remember(s, v, l, build1_to(&b, OP_CONVERT, v, t));
}

void demand_arg(Assign *s, Op *op, uint32_t i, const Layout *l) {
    Value *v = demand(s, op->args[i], l);
    if (v != op->args[i]) op_set_arg(s->f, op, i, v);
}
