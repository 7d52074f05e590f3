/* barrier.c - barriers between accesses of memory that must not overtake each other.
 *
 * In: shared_store and shared_load with offsets, loads and stores with layouts. Out: `barrier` ops.
 * Method: along the program, keep what was read and written since the last barrier; an access of shared memory that overlaps
 * a write, a write that overlaps a read, and accesses of global memory by which threads may cross (alias.c) get a barrier in
 * front. A loop's body is walked again from its own end, so that one round's accesses meet the next one's. Conditions are the
 * same in all threads of a program, so any place will do; so will one more barrier where too much is pending to look at.
 */
#include "base/plant.h"
#include "passes/private.h"

enum { MOST_PENDING = 128 };

typedef struct Access {
    const Op *op;       /* of global memory; NULL: of shared memory */
    int64_t begin, end; /* bytes of shared memory */
    bool is_write;
    bool is_earlier; /* it happened in an earlier round of a loop */
} Access;

typedef VEC(Access) Accesses;

typedef struct Places {
    Func *f;
    int64_t scope; /* all threads of a program */
    Arena *scratch;
    Accesses *begin; /* by id of a loop: what was pending at the beginning of any of its rounds */
    bool *visited;   /* by id of a loop */
    bool changed;
} Places;

/* False where `to` has it already. */
static bool add(Places *p, Accesses *to, Access a) {
    for (uint32_t i = 0; i < to->len; i++) {
        const Access *b = &to->at[i];
        bool is_same = b->begin == a.begin && b->end == a.end && b->is_write == a.is_write;
        if (is_same && b->op == a.op && b->is_earlier == a.is_earlier) return false;
    }
    vec_push(p->scratch, to, a);
    return true;
}

static bool conflicts(const Places *p, const Accesses *pending, Access a) {
    for (uint32_t i = 0; i < pending->len; i++) {
        const Access *b = &pending->at[i];
        if (a.op && b->op && accesses_cross(p->f, b->op, a.op, b->is_earlier)) return true;
        if (a.op || b->op) continue;
        bool is_known = b->is_write || (a.is_write && !plant(PLANT_SAME_SHARED));
        if (is_known && a.begin < b->end && b->begin < a.end) return true;
    }
    return false;
}

static Access access_of(const Op *op) {
    if (op_is_access(op->kind)) return (Access){.op = op, .is_write = op->kind != OP_LOAD};
    Type t = op->kind == OP_SHSTORE ? op->args[0]->type : op->results[0]->type;
    if (op->kind == OP_SHGATHER) t.shape.log2[op->attr.axis] = op->attr.size_log2;
    int64_t bytes = (int64_t)(shape_elements(t.shape) * type_bytes(t));
    return (Access){.begin = op->attr.i, .end = op->attr.i + bytes, .is_write = op->kind == OP_SHSTORE};
}

static void walk(Places *p, Block *b, Accesses *pending);

static Accesses copy(Places *p, const Accesses *from) {
    Accesses to = {0};
    for (uint32_t i = 0; i < from->len; i++) vec_push(p->scratch, &to, from->at[i]);
    return to;
}

/* True where `to` grew. */
static bool merge(Places *p, Accesses *to, const Accesses *from) {
    bool grew = false;
    for (uint32_t i = 0; i < from->len; i++) grew |= add(p, to, from->at[i]);
    return grew;
}

/* Until a round leaves nothing behind that the next one has not begun with: mostly twice. A barrier put in by any stays.
 * What a loop began with is kept, over all visits of the loops around it: with nothing new it need not be walked again,
 * else nested loops would double the work at each level. */
static void walk_loop(Places *p, Op *op, Accesses *pending) {
    Accesses *begin = &p->begin[op->id];
    bool grew = !p->visited[op->id] || merge(p, begin, pending);
    if (!p->visited[op->id]) *begin = copy(p, pending);
    p->visited[op->id] = true;
    while (grew) {
        Accesses inside = copy(p, begin);
        for (uint32_t r = 0; r < op->nregions; r++) walk(p, op->regions[r], &inside);
        for (uint32_t i = 0; i < inside.len; i++) inside.at[i].is_earlier = true;
        grew = merge(p, begin, &inside);
    }
    *pending = copy(p, begin);
}

static void walk_if(Places *p, Op *op, Accesses *pending) {
    Accesses after = {0};
    for (int r = 0; r < 2; r++) {
        Accesses inside = copy(p, pending);
        walk(p, op->regions[r], &inside);
        merge(p, &after, &inside);
    }
    *pending = after;
}

static void walk(Places *p, Block *b, Accesses *pending) {
    for (Op *op = b->first; op; op = op->next) {
        if (op->kind == OP_FOR || op->kind == OP_WHILE) walk_loop(p, op, pending);
        else if (op->kind == OP_IF) walk_if(p, op, pending);
        else if (op->kind == OP_BARRIER && op->attr.i >= p->scope) pending->len = 0;
        bool is_shared = op_info[op->kind].attr == ATTR_SHARED;
        if (!is_shared && !op_is_access(op->kind)) continue;
        Access a = access_of(op);
        if (pending->len >= MOST_PENDING || conflicts(p, pending, a)) {
            Builder at = builder_before(p->f, op);
            op_build(&at, OP_BARRIER, NULL, 0, (Attr){.i = p->scope}, (Type){0});
            pending->len = 0;
            p->changed = true;
        }
        add(p, pending, a);
    }
}

bool pass_barrier(Func *f, PassContext *c) {
    (void)c;
    Places p = {.f = f, .scope = f->threads_per_program > 32 ? SCOPE_BLOCK : SCOPE_WARP, .scratch = arena_create()};
    Accesses pending = {0};
    p.begin = NEW_ARRAY(p.scratch, Accesses, f->next_op);
    p.visited = NEW_ARRAY(p.scratch, bool, f->next_op);
    walk(&p, f->body, &pending);
    arena_destroy(p.scratch);
    return p.changed;
}
