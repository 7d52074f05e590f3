/* demand.c - a value in a demanded layout.
 *
 * In: a value and a layout. Out: the same value in that layout.
 * Method: cheap values (ranges, constants, index arithmetic, broadcasts) are cloned with their operands, once for each
 * layout. Any other value is converted, once for each layout; what is widened, before it is.
 */
#include "passes/distribute/assign.h"

enum { CHEAP = 24 /* plain ops of a tree that is cloned rather than converted */ };

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

static Value *remember(Assign *s, const Value *v, const Layout *l, Value *as) {
    Clone *c = NEW(s->scratch, Clone);
    *c = (Clone){l, as, s->clones[v->id]};
    s->clones[v->id] = c;
    return as;
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

static Value *demand(Assign *s, Value *v, const Layout *l) {
    if (!value_is_tile(v) || v->type.layout == l) return v;
    if (v->id >= s->known) bug("layout: a clone is demanded again in another layout");
    Value *made = demand_made(s, v, l);
    if (made) return made;
    if (!v->type.layout && (value_is_cheap(s, v) || op_is_shaping(v->def))) return remember(s, v, l, clone_in(s, v, l));
    if (v->type.layout && widens(s, v)) return remember(s, v, l, clone_in(s, v, l));
    if (!v->type.layout) bug("layout: %s has no layout yet", v->def ? op_info[v->def->kind].name : "an argument");
    Builder b = builder_behind(s, v);
    Type t = v->type;
    t.layout = l;
    return remember(s, v, l, build1_to(&b, OP_CONVERT, v, t));
}

void demand_arg(Assign *s, Op *op, uint32_t i, const Layout *l) {
    Value *v = demand(s, op->args[i], l);
    if (v != op->args[i]) op_set_arg(s->f, op, i, v);
}
