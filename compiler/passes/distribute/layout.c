/* layout.c - who owns which element: num_warps, and a layout for every tile. The function enters stage SIMT.
 *
 * In: a Func at STAGE_TILE. Out: the same at STAGE_SIMT, with convert_layout where two layouts meet.
 * Method: memory decides. A load takes the layout that its pointers want (anchor.c), arithmetic that of its operands, a
 * reduction a slice of its operand's; operands come in it as demand.c finds best;
 * what loops carry is guessed (guess.c).
 */
#include "passes/distribute/assign.h"

static void assign_block(Assign *s, Block *b);

static bool replicates(const Layout *l) {
    return layout_free(l, IN_LANE) || layout_free(l, IN_WARP) || layout_free(l, IN_CTA);
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
    const Layout *l = value_is_hard(s, ptr) && ptr->type.layout ? ptr->type.layout : anchor_access(s, op);
    access_set(s, op, l, vote_of(s->votes, op).axis, ptr, mask);
    for (uint32_t i = 0; i < op->nargs; i++) demand_arg(s, op, i, l);
    op->results[0]->type.layout = l;
}

/* Where v lies if it was computed, or has one axis more than what was; NULL: it is made anew anywhere. */
static const Layout *computed_layout(Assign *s, const Value *v) {
    if (value_is_hard(s, v)) return v->type.layout;
    const Op *op = v->def;
    if (!op || op->kind != OP_EXPAND || !value_is_hard(s, op->args[0])) return NULL;
    return layout_expand(s->f->layouts, op->args[0]->type.layout, op->attr.axis);
}

/* Do the lanes of a warp store one behind the other, a word each or more? Then lines are written whole, and wider
 * vectors would save no more than instructions. */
static bool fills_lines(const Layout *l, const Value *value, uint32_t axis) {
    uint32_t vec = layout_vector(l, axis), bytes = type_bytes(type_scalar(value->type.dtype)) << vec;
    bool follow = bytes >= 4;
    for (uint32_t i = 0; i < l->bits[IN_LANE]; i++)
        follow &= l->basis[IN_LANE][i] == 1u << (shape_offset(l->shape, axis) + vec + i);
    return follow;
}

enum { HALF_SECTOR = 16 /* bytes */ };

/* A value keeps its layout where that is as good for memory; a few replicated elements are not worth a conversion, nor
 * is what a reduction left, written once. But where a thread's vector would be stored by pieces of less than 16 bytes,
 * every sector is written many times. In a cluster that costs less than a conversion, which takes the whole tile's
 * bytes of shared memory. */
static const Layout *store_layout(Assign *s, const Op *op) {
    const Value *ptr = op->args[0], *value = op->args[1];
    uint32_t axis = vote_of(s->votes, op).axis;
    const Layout *anchor = anchor_access(s, op), *own = computed_layout(s, value);
    bool is_left = !value_is_hard(s, value); /* by a reduction */
    if (!own || (is_left && replicates(own))) return anchor;
    uint32_t wanted = facts_vector(s->facts, ptr, axis, s->c->target->max_vector_bytes);
    uint32_t held = layout_vector(own, axis);
    bool is_apart = is_left && held > wanted && type_bytes(type_scalar(value->type.dtype)) << wanted < HALF_SECTOR &&
                    !own->bits[IN_CTA];
    bool along = held >= layout_vector(anchor, axis) || held >= wanted || (is_left && fills_lines(own, value, axis));
    uint32_t neighbour = own->bits[IN_LANE] ? own->basis[IN_LANE][0] : 0;
    bool coalesced = neighbour == 0 || (neighbour & shape_field(own->shape, axis)) == neighbour;
    return replicates(own) || (along && coalesced && !is_apart) ? own : anchor;
}

static void assign_store(Assign *s, Op *op) {
    const Value *ptr = op->args[0], *mask = op->nargs > 2 ? op->args[2] : NULL;
    const Layout *l = store_layout(s, op);
    access_set(s, op, l, vote_of(s->votes, op).axis, ptr, mask);
    for (uint32_t i = 0; i < op->nargs; i++) demand_arg(s, op, i, l);
}

/* Elements one by one: any layout will do, so the value keeps its own, else the pointers theirs. */
static void assign_atomic(Assign *s, Op *op) {
    uint32_t values = op->kind == OP_ATOMICCAS ? 2 : 1;
    set_scalar_access(op, 1 + values);
    if (!value_is_tile(op->args[0])) return;
    const Value *ptr = op->args[0], *value = op->args[values];
    const Layout *l = value_is_hard(s, value) ? value->type.layout : value_is_hard(s, ptr) ? ptr->type.layout : NULL;
    if (!l) l = anchor_access(s, op);
    for (uint32_t i = 0; i < op->nargs; i++) demand_arg(s, op, i, l);
    op->results[0]->type.layout = l;
}

static void assign_debug(Assign *s, Op *op) {
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Value *x = op->args[i];
        if (value_is_tile(x))
            demand_arg(s, op, i, value_is_hard(s, x) ? x->type.layout : anchor_default(s, x->type.shape));
    }
}

static void assign_reduce(Assign *s, Op *op) {
    Value *x = op->args[0];
    uint32_t axis = op->attr.axis;
    const Layout *l = value_is_hard(s, x) ? x->type.layout : anchor_default(s, x->type.shape);
    if (layout_reduce_plan(l, axis).mixed) l = anchor_default(s, x->type.shape);
    demand_arg(s, op, 0, l);
    if (value_is_tile(op->results[0])) op->results[0]->type.layout = layout_slice(s->f->layouts, l, axis, false);
}

/* What is left of each warp goes to all of them at once: what follows does not cross warps any more. But for what a
 * warp gives its own threads. */
static void spread_warps(Assign *s, Value *v) {
    uint32_t log2 = v->type.shape.log2[0];
    Builder b = builder_after(s->f, v->def);
    Type t = v->type;
    t.layout = layout_spread(s->f->layouts, layout_slice(s->f->layouts, v->type.layout, 0, false), 0, log2);
    Value *all = build1_to(&b, OP_CONVERT, v, t);
    for (Use *u = v->uses, *next; u; u = next) {
        next = u->next;
        if (u->op != all->def && u->op->kind != OP_SPREADWARP) op_set_arg(s->f, u->op, u->index, all);
    }
}

/* Before there were layouts nobody but chunk.c made these, of tiles that lie as memory wants them. */
static void assign_warps(Assign *s, Op *op) {
    Value *x = op->args[0], *v = op->results[0];
    bool is_reduction = op->kind == OP_REDUCEWARP;
    const Layout *tile = anchor_default(s, is_reduction ? x->type.shape : v->type.shape),
                 *few = anchor_default(s, is_reduction ? v->type.shape : x->type.shape);
    demand_arg(s, op, 0, is_reduction ? tile : few);
    v->type.layout = is_reduction ? few : tile;
    if (is_reduction && anchor_is_warps(s, v->type.shape)) spread_warps(s, v);
}

static void assign_move(Assign *s, Op *op) {
    Value *x = op->args[0], *v = op->results[0];
    if (value_is_hard(s, x)) {
        if (value_is_tile(v)) v->type.layout = guess_moved(s, op, x->type.layout);
        return;
    }
    if (!value_is_tile(v)) { /* of one element */
        demand_arg(s, op, 0, anchor_default(s, x->type.shape));
    } else if (!value_is_cheap(s, v)) {
        v->type.layout = anchor_default(s, v->type.shape);
        demand_arg(s, op, 0, operand_layout(s, op, 0, v->type.layout));
    }
}

static void assign_join(Assign *s, Op *op) {
    const Layout *l = NULL;
    for (uint32_t i = 0; i < op->nargs && !l; i++) {
        if (value_is_hard(s, op->args[i])) l = op->args[i]->type.layout;
    }
    if (!l) l = anchor_default(s, op->args[0]->type.shape);
    for (uint32_t i = 0; i < op->nargs; i++) demand_arg(s, op, i, l);
    op->results[0]->type.layout = guess_moved(s, op, l);
}

/* Where the last axis does not lie along registers, the tile is brought into a layout in which it does. */
static void assign_split(Assign *s, Op *op) {
    const Value *x = op->args[0];
    const Layout *to = value_is_hard(s, x) ? guess_moved(s, op, x->type.layout) : NULL;
    if (!to) {
        to = anchor_default(s, op->results[0]->type.shape);
        demand_arg(s, op, 0, layout_join(s->f->layouts, to));
    }
    op->results[0]->type.layout = to;
}

static void assign_gather(Assign *s, Op *op) {
    for (uint32_t i = 0; i < 2; i++) {
        Value *x = op->args[i];
        demand_arg(s, op, i, value_is_hard(s, x) ? x->type.layout : anchor_default(s, x->type.shape));
    }
    op->results[0]->type.layout = op->args[1]->type.layout;
}

static void assign_dot(Assign *s, Op *op) {
    Value *r = op->results[0];
    uint32_t last = r->type.shape.rank - 1u;
    const Layout *l = guess_dot(s, r->type.shape);
    demand_arg(s, op, 0, layout_operand(s->f->layouts, l, last, op->args[0]->type.shape.log2[last]));
    demand_arg(s, op, 1, layout_operand(s->f->layouts, l, last - 1, op->args[1]->type.shape.log2[last - 1]));
    demand_arg(s, op, 2, l);
    r->type.layout = l;
}

/* Where a product wants what op makes, as it takes that from registers; else NULL. */
static const Layout *wanted_layout(const Assign *s, const Op *op) {
    return op->id < s->known_ops ? s->wanted[op->id] : NULL;
}

/* What goes to shared memory is stored from wherever it is. */
static void assign_mma(Assign *s, Op *op) {
    for (uint32_t i = MMA_A; i <= MMA_C; i++) {
        const Value *v = op->args[i];
        bool in_shared = mma_is_grouped(op->attr.instr) && i != MMA_C && !(i == MMA_A && wanted_layout(s, op));
        const Layout *l = value_is_hard(s, v) ? v->type.layout : anchor_default(s, v->type.shape);
        if (!in_shared) l = mma_layout(s->f->layouts, op->attr, v->type.shape, s->warps_log2, (MmaOperand)i);
        demand_arg(s, op, i, l);
    }
    op->results[0]->type.layout = op->args[MMA_C]->type.layout;
}

/* The part has the layout that is demanded of it, the whole its own. */
static void assign_slice(Assign *s, Op *op) {
    const Value *x = op->args[0];
    demand_arg(s, op, 0, value_is_hard(s, x) ? x->type.layout : anchor_default(s, x->type.shape));
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
        if (value_is_hard(s, op->args[i])) l = op->args[i]->type.layout;
    if (!l || !layout_axis_plan(l, op->attr.axis).ordered) l = anchor_default(s, op->args[0]->type.shape);
    for (uint32_t i = 0; i < op->nargs; i++) demand_arg(s, op, i, l);
    const Layout *to = guess_combined(s, op, l);
    for (uint32_t i = 0; i < op->nresults; i++)
        if (value_is_tile(op->results[i])) op->results[i]->type.layout = to;
}

/* What it costs to have an op's operands in `l`: those that come from other warps, and then those that move at all.
 * What somebody has demanded in `l` is there. */
static uint32_t moved_cost(Assign *s, const Op *op, const Layout *l) {
    enum { ACROSS_WARPS = 100 /* more than an op has operands */ };
    uint32_t cost = 0;
    for (uint32_t i = 0; i < op->nargs; i++) {
        const Layout *from = computed_layout(s, op->args[i]);
        if (!from || from == l || demand_made(s, op->args[i], l)) continue;
        cost += convert_kind(from, l) > CONVERT_SHUFFLE ? ACROSS_WARPS : 1;
    }
    return cost;
}

/* That for which the least is moved; of two the first one's, but a layout that memory wants before one that elements
 * were moved into. What makes an operand works where that is taken. */
static void assign_elementwise(Assign *s, Op *op) {
    Value *v = op->results[0];
    const Layout *wanted = wanted_layout(s, op), *l = wanted;
    uint32_t least = 0;
    for (uint32_t i = 0; i < op->nargs && !wanted; i++) {
        const Value *a = op->args[i];
        const Layout *own = computed_layout(s, a);
        if (!own || own == l || !shape_equal(a->type.shape, v->type.shape)) continue;
        uint32_t cost = moved_cost(s, op, own);
        if (!l || cost < least || (cost == least && !is_anchor(s, l) && is_anchor(s, own))) l = own, least = cost;
    }
    if (!l) l = anchor_default(s, v->type.shape);
    for (uint32_t i = 0; i < op->nargs; i++) demand_arg(s, op, i, l);
    v->type.layout = l;
}

/* Of a comparison: along which axis neighbours have the same truth, so that a thread compares once for all. */
static void note_run(void *assign, Op *op) {
    Assign *s = assign;
    if (op->kind != OP_ICMP) return;
    for (uint32_t d = 0; d < op->results[0]->type.shape.rank; d++) {
        uint32_t run = facts_run(s->facts, op->results[0], d);
        if (run > op->attr.run_log2) op->attr.run_log2 = (uint8_t)run, op->attr.axis = d;
    }
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

/* clang-format off */
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
    case OP_REDUCEWARP:
    case OP_SPREADWARP: assign_warps(s, op); return;
    case OP_SHSTORE: demand_arg(s, op, 0, anchor_default(s, op->args[0]->type.shape)); return; /* of a private buffer */
    case OP_RESHAPE: case OP_TRANS: assign_move(s, op); return;
    case OP_JOIN: assign_join(s, op); return;
    case OP_SPLIT: assign_split(s, op); return;
    case OP_GATHER: assign_gather(s, op); return;
    case OP_SLICE: assign_slice(s, op); return;
    case OP_DOT: assign_dot(s, op); return;
    case OP_MMA: assign_mma(s, op); return;
    case OP_REDUCEFN:
    case OP_SCAN: assign_combine(s, op); return;
    case OP_FLIP:
    case OP_SHLOAD: assign_elementwise(s, op); return;
#define CASE_ELEMENT(element) case element:
#include "ir/cases.def"
        if (value_is_hard(s, op->results[0])) assign_elementwise(s, op);
        return;
    case OP_SPLAT: case OP_EXPAND: case OP_BROADCAST: return; /* there is one in each layout that is demanded */
#define CASE_CREATE(other) case other:
#define CASE_INDEX(other) case other:
#define CASE_SYNC(other) case other:
#define CASE_ORDER(other) case other:
#define CASE_END(other) case other:
#include "ir/cases.def"
        return;
    case OP_CONVERT: case OP_OPAQUE: case OP_SPILL: break; /* these have layouts */
    case OP_REDUCEFNWARP: case OP_SCANWARP: case OP_SCANAPPLY: break;
    case OP_SHGATHER: case OP_SHSLICE: break;
    case OP_SHMATRIX: case OP_PROXYFENCE: case OP_DOTASYNC: case OP_DOTWAIT: break;
    case OP_COPYASYNC: case OP_COPYREAD: case OP_COPYCOMMIT: case OP_COPYWAIT: break;
    case OP_BULKLOAD: case OP_BULKSTORE: case OP_BULKWAIT: break;
    case OP_COUNT: break;
    }
    bug("layout: '%s' before there are layouts", op_info[op->kind].name);
}
/* clang-format on */

static void assign_block(Assign *s, Block *b) {
    for (Op *op = b->first; op;) {
        Op *next = op->next; /* clones and conversions behind an op are typed already */
        assign_op(s, op);
        op = next;
    }
}

/* ---- The pass ---------------------------------------------------------------------------------------------------- */

/* The threads of a program are those of all its blocks. */
static void widen_barrier(void *context, Op *op) {
    if (op->kind == OP_BARRIER) op->attr.scope = ((const Func *)context)->scope;
}

void pass_layout(Func *f, PassContext *c) {
    if (f->stage == STAGE_SIMT) return;
    Assign s = {.f = f, .c = c, .scratch = c->scratch, .known = f->next_value};
    s.facts = facts_compute(f, c->scratch);
    distribute_program(f, s.facts, c);
    if (c->opt_level > 0 && rotate_rows(f, s.facts, c)) {
        s.facts = facts_compute(f, c->scratch);
        s.known = f->next_value;
    }
    const Target *t = c->target;
    /* less than a warp: subwarp.c */
    if (!f->threads_per_program) f->threads_per_program = t->warp_threads * f->num_warps;
    if (f->threads_per_program > t->max_threads) {
        diag(c->diag, f->span, E_THREADS, f->num_warps, f->threads_per_program, t->max_threads);
        return;
    }
    if (f->scope == SCOPE_CLUSTER && f->blocks_per_program > t->max_cluster) {
        if (t->max_cluster > 1) diag(c->diag, f->span, E_CLUSTER, f->blocks_per_program, t->max_cluster);
        else diag(c->diag, f->span, E_NO_CLUSTERS, f->blocks_per_program);
        diag_note(
            c->diag, (Span){0, 0},
            "--arch=sm_90 has clusters of up to 16 blocks, --arch=sm_120 of up to 8; num_ctas left out is chosen");
        return;
    }
    s.cost = NEW_ARRAY(c->scratch, uint8_t, f->next_value);
    s.clones = NEW_ARRAY(c->scratch, Clone *, f->next_value);
    s.lanes_log2 = log2_floor(f->threads_per_program < t->warp_threads ? f->threads_per_program : t->warp_threads);
    s.warps_log2 = (uint32_t)__builtin_ctz(f->num_warps);
    s.ctas_log2 = (uint32_t)__builtin_ctz(f->blocks_per_program);
    s.votes = votes_take(f, s.facts, t, false, c->scratch);
    if (c->opt_level > 0) func_walk(f, note_run, &s);
    func_walk(f, anchor_note, &s);
    func_walk(f, anchor_note_warps, &s);
    s.wanted = NEW_ARRAY(c->scratch, const Layout *, f->next_op);
    s.looked = NEW_ARRAY(c->scratch, uint8_t, f->next_op);
    s.known_ops = f->next_op;
    func_walk(f, operand_note, &s);
    if (s.ctas_log2) func_walk(f, widen_barrier, f);
    assign_block(&s, f->body);
    pass_dce(f, c); /* the originals of what was cloned: they have no layout */
    f->stage = STAGE_SIMT;
}
