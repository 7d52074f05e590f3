/* vote.c - how many neighbours a thread holds: a vote of the accesses whose tiles will have one layout.
 *
 * In: the accesses of a function and the facts about their pointers. Out: for each access the vector of its layout.
 * Method: what is computed element by element shares a layout, so the accesses at its ends vote together. An access
 * moves the run that its own alignment and element size allow, at most the layout's vector. For each vector the
 * accesses say how long a multiprocessor takes for an element: two sectors a clock between it and the L2, 128 bytes a
 * clock and one request at least in the first cache, and the instruction. The least sum wins, the longer vector where
 * two are equal. So a row that begins anywhere is read by neighbouring lanes although weights beside it are aligned,
 * and 16-bit rows by vectors of 8 although an int8 result has room for 16.
 * Addresses that are no neighbours cost the same in any layout and have no vote. Operands of products do not vote:
 * they pass through shared memory, and the longest run of their shape is theirs.
 */
#include "passes/private.h"

enum {
    SECTOR = 32,     /* bytes */
    LINE = 128,      /* bytes that the first cache gives in a clock */
    ISSUE = 2,       /* quarter clocks for the instructions of a request */
    LOOP_TURNS = 64, /* what stands in a loop counts so often */
    VECTORS = 5      /* of 1 to 16 elements */
};

typedef struct Ballot {
    const Op *op;
    uint32_t axis, run, turns; /* run: log2 of elements */
    bool is_run; /* its addresses are neighbours */
} Ballot;

struct Votes {
    Arena *arena;
    const Target *target;
    uint32_t *group;  /* by value id: another value of its group, itself at the end */
    bool *is_data;    /* by value id: it comes of memory or of a loop, and keeps its layout */
    bool *is_operand; /* by group: of a product */
    bool is_stripped; /* loops over chunks: what lies in shared memory has the layout of any tile of its shape */
    VEC(Ballot) ballots;
    Vote *at;         /* by op id */
};

/* ---- Who votes together ------------------------------------------------------------------------------------------ */

static uint32_t find(const Votes *s, uint32_t id) {
    while (s->group[id] != id) id = s->group[id] = s->group[s->group[id]];
    return id;
}

static void join(Votes *s, const Value *x, const Value *y) {
    if (value_is_tile(x) && shape_equal(x->type.shape, y->type.shape)) s->group[find(s, x->id)] = find(s, y->id);
}

static void mark_data(Votes *s, const Value *v) {
    s->is_data[v->id] = true;
}

/* What a block hands on to the values at the same places. */
static void join_passed(Votes *s, const Op *end, uint32_t skip, Value *const *to, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) join(s, end->args[skip + i], to[i]);
}

static void join_control(Votes *s, const Op *op) {
    for (uint32_t r = 0; r < op->nregions; r++) {
        const Block *b = op->regions[r];
        uint32_t carried = op->kind == OP_FOR ? 1 : 0, first = op->kind == OP_FOR ? 3 : 0;
        for (uint32_t i = carried; i < b->args.len; i++) mark_data(s, b->args.at[i]);
        if (op->kind == OP_IF || op->kind == OP_FOR) join_passed(s, b->last, 0, op->results, op->nresults);
        if (op->kind == OP_WHILE && r == 0) join_passed(s, b->last, 1, op->results, op->nresults);
        if (op->kind == OP_WHILE && r == 1) join_passed(s, b->last, 0, op->regions[0]->args.at, op->nargs);
        for (uint32_t i = 0; i < op->nresults && carried + i < b->args.len; i++) {
            join(s, b->args.at[carried + i], op->results[i]);
            if (op->kind != OP_WHILE || r == 0) join(s, op->args[first + i], b->args.at[carried + i]);
        }
    }
}

/* Which operands share the layout of what the op gives. */
static bool shares_layout(const Op *op) {
    return op_is_elementwise(op->kind) || op_is_access(op->kind) || op_is_combine(op->kind) || op->kind == OP_FLIP;
}

static void group_op(void *context, Op *op) {
    Votes *s = context;
    bool is_data = !op_is_local(op->kind) && op_class(op->kind) != CLASS_REPEAT;
    for (uint32_t i = 0; i < op->nargs && op_is_local(op->kind); i++)
        is_data |= value_is_tile(op->args[i]) && s->is_data[op->args[i]->id];
    for (uint32_t i = 0; i < op->nresults && is_data; i++) mark_data(s, op->results[i]);
    s->is_stripped |= op->kind == OP_REDUCEWARP || op->kind == OP_SPREADWARP || op_is_shared(op->kind);
    const Value *to = op->nresults ? op->results[0] : op->kind == OP_STORE ? op->args[1] : NULL;
    for (uint32_t i = 0; i < op->nargs && to && shares_layout(op); i++)
        if (s->is_data[op->args[i]->id]) join(s, op->args[i], to);
    for (uint32_t i = 1; i < op->nresults && shares_layout(op); i++) join(s, op->results[i], to);
}

/* Before group_op: what a loop carries is data. */
static void group_region(void *context, Op *op) {
    if (op->nregions && !op_is_combine(op->kind)) join_control(context, op);
}

/* Behind group_op: the groups are what they will be. */
static void mark_operand(Votes *s, const Value *v) {
    s->is_operand[find(s, v->id)] = true;
    if (v->def && (op_class(v->def->kind) == CLASS_MOVE || op_class(v->def->kind) == CLASS_REPEAT))
        mark_operand(s, v->def->args[0]);
}

static void mark_operands(void *context, Op *op) {
    for (uint32_t i = 0; i < 2 && op_class(op->kind) == CLASS_MATRIX; i++) mark_operand(context, op->args[i]);
}

static const Value *data_of(const Op *op) {
    return op->kind == OP_STORE ? op->args[1] : op->results[0];
}

static bool is_operand(const Votes *s, const Op *op) {
    return s->is_operand[find(s, data_of(op)->id)];
}

static bool vote_together(const Votes *s, const Ballot *a, const Ballot *b) {
    if (!shape_equal(a->op->args[0]->type.shape, b->op->args[0]->type.shape) || a->axis != b->axis) return false;
    return s->is_stripped || is_operand(s, a->op) || find(s, data_of(a->op)->id) == find(s, data_of(b->op)->id);
}

/* ---- What an access says ----------------------------------------------------------------------------------------- */

uint32_t access_axis(const Facts *facts, const Value *ptr) {
    const Fact *fact = fact_of(facts, ptr);
    uint32_t rank = ptr->type.shape.rank, best = rank - 1;
    for (uint32_t d = rank; d-- > 0;)
        if (fact->contiguous[d] > fact->contiguous[best]) best = d;
    return best;
}

static uint32_t element_bytes(const Op *op) {
    return type_bytes(type_scalar(op->args[0]->type.pointee));
}

static uint32_t turns_of(const Op *op) {
    uint32_t turns = 1;
    for (const Block *b = op->parent; b->owner && turns < LOOP_TURNS * LOOP_TURNS; b = b->owner->parent)
        if (b->owner->kind != OP_IF) turns *= LOOP_TURNS;
    return turns;
}

/* Quarter clocks for a request of a warp whose lanes move 2^run of every 2^vec elements along the axis. */
static uint64_t request_cost(const Votes *s, const Ballot *b, uint32_t run, uint32_t vec) {
    uint32_t size = b->op->args[0]->type.shape.log2[b->axis], lanes = s->target->warp_threads;
    uint32_t along = lanes, stride = element_bytes(b->op) << vec, piece = element_bytes(b->op) << run;
    while (along > 1 && along > UINT64_C(1) << (size > vec ? size - vec : 0)) along /= 2;
    bool is_dense = piece == stride || stride <= SECTOR;
    uint64_t each = is_dense ? ((uint64_t)along * stride + SECTOR - 1) / SECTOR
                             : (uint64_t)along * ((piece + SECTOR - 1) / SECTOR),
             sectors = each * (lanes / along), least = LINE / SECTOR;
    return 2 * sectors + (sectors > least ? sectors : least) + ISSUE;
}

static Vote count(const Votes *s, const Ballot *of) {
    uint64_t cost[VECTORS] = {0}; /* quarter clocks for 2^VECTORS elements */
    uint32_t longest = 0;
    Vote vote = {.axis = of->axis, .run_log2 = of->run};
    for (uint32_t i = 0; i < s->ballots.len; i++) {
        const Ballot *b = &s->ballots.at[i];
        if (!vote_together(s, of, b)) continue;
        if (element_bytes(b->op) > vote.widest) vote.widest = element_bytes(b->op);
        if (b->run > longest) longest = b->run;
        for (uint32_t vec = 0; vec < VECTORS && b->is_run; vec++) {
            uint32_t moved = b->run < vec ? b->run : vec;
            cost[vec] += b->turns * request_cost(s, b, moved, vec) << (VECTORS - moved);
        }
    }
    for (uint32_t vec = 1; vec <= longest && vec < VECTORS; vec++)
        if (cost[vec] <= cost[vote.vec_log2] || is_operand(s, of->op)) vote.vec_log2 = vec;
    return vote;
}

/* ---- The vote ---------------------------------------------------------------------------------------------------- */

typedef struct Poll {
    Votes *s;
    const Facts *facts;
    bool hopes;
    uint32_t least; /* places of a tile that is rotated */
} Poll;

static void take_ballot(void *context, Op *op) {
    const Poll *p = context;
    if (!op_is_access(op->kind) || !value_is_tile(op->args[0])) return;
    const Value *ptr = op->args[0];
    uint32_t most = p->s->target->max_vector_bytes;
    Ballot b = {.op = op, .axis = access_axis(p->facts, ptr), .turns = turns_of(op)};
    bool is_rotated = op->attr.mem.is_rotated || (p->hopes && row_may_rotate(p->facts, op, p->s->target, p->least));
    b.run = is_rotated ? log2_floor(most / element_bytes(op)) : facts_vector(p->facts, ptr, b.axis, most);
    if (op_is_atomic(op->kind)) b.run = 0;
    b.is_run = is_rotated || fact_of(p->facts, ptr)->contiguous[b.axis] > 1;
    vec_push(p->s->arena, &p->s->ballots, b);
}

const Votes *votes_take(Func *f, const Facts *facts, const Target *t, bool hopes, Arena *arena) {
    Votes *s = NEW(arena, Votes);
    *s = (Votes){.arena = arena, .target = t};
    s->group = NEW_ARRAY(arena, uint32_t, f->next_value);
    s->is_data = NEW_ARRAY(arena, bool, f->next_value);
    s->is_operand = NEW_ARRAY(arena, bool, f->next_value);
    s->at = NEW_ARRAY(arena, Vote, f->next_op);
    for (uint32_t i = 0; i < f->next_value; i++) s->group[i] = i;
    func_walk(f, group_region, s);
    func_walk(f, group_op, s);
    func_walk(f, mark_operands, s);
    func_walk(f, take_ballot, &(Poll){s, facts, hopes, hopes ? rotation_least(f) : 0});
    for (uint32_t i = 0; i < s->ballots.len; i++) s->at[s->ballots.at[i].op->id] = count(s, &s->ballots.at[i]);
    return s;
}

Vote vote_of(const Votes *s, const Op *access) {
    return s->at[access->id];
}
