/* barrier.c - barriers between accesses of memory that must not overtake each other.
 *
 * In: stores, loads and copies of buffers with bytes, loads and stores with layouts. Out: `barrier` ops.
 * Method: along the program, keep what was read and written since the last barrier; an access of a buffer that overlaps
 * a written one, a write of one that overlaps a read one, and accesses of global memory by which threads may cross
 * (alias.c) get a barrier in front. A loop's body is walked again from its own end, so that one round's accesses meet
 * the next one's. Conditions are the same in all threads of a program, so any place will do; so will one more barrier
 * where too much is pending to look at. A ring of stages has a barrier of its own in its loop (ir/buffer.c): of one
 * buffer only the copies before the loop may run into what was read before. Of a cluster, only what is stored into
 * other blocks' shared memory, and global memory, needs a barrier of all blocks: before the first such store (all
 * blocks have begun), before it is loaded, and behind the last one (no block has ended). A counted buffer needs none:
 * but who stores must know that the threads of its own block have read the round before, where it is not each warp.
 * Its store waits for scalars that are overwritten behind the round.
 * Where accesses of global memory cross only if two parameters name one buffer, the blocks of a cluster compare these,
 * and meet then: their barrier would wait for all that is under way.
 */
#include "base/plant.h"
#include "passes/private.h"

enum { MOST_PENDING = 128, MOST_ASKED = 4, MOST_AWAITED = 4 /* before one access */ };

typedef struct Access {
    const Op *op;    /* of global memory; NULL: of shared memory */
    uint32_t buffer; /* of shared memory; ALL_BUFFERS: that of blocks that may not have begun */
    bool is_write;
    bool is_copy;    /* into the stages of a ring, … */
    bool is_begin;   /* … before its loop */
    const Value *stage; /* of two that rounds take in turn (alternate.c); NULL */
    bool is_remote;  /* it stores into every block of the cluster */
    bool is_counted; /* … into a counted buffer, */
    bool is_of_all;  /* … and each warp does */
    bool is_earlier; /* it happened in an earlier round of a loop */
    bool is_settled; /* the threads of its block have met since: only other blocks may run into it */
} Access;

static const uint32_t ALL_BUFFERS = UINT32_MAX;

/* Accesses between which the blocks of a cluster meet if two parameters name one buffer. */
typedef struct Pair {
    const Op *before, *behind;
} Pair;

typedef VEC(Access) Accesses;

typedef struct Places {
    Func *f;
    int64_t scope, inner; /* all threads of a program, and those of it in one block */
    Arena *scratch;
    Accesses *begin; /* by id of a loop: what was pending at the beginning of any of its rounds */
    bool *visited;   /* by id of a loop */
    bool *is_source; /* by id of an op: it goes into what blocks count */
    uint32_t *seen;  /* by id of an op: in which search */
    uint32_t search;
    VEC(Pair) asked;
    Accesses *done;  /* of products that were waited for */
    bool has_met; /* has_met: a barrier of the cluster was passed, perhaps */
} Places;

/* False where `to` has it already. */
static bool add(Places *p, Accesses *to, Access a) {
    for (uint32_t i = 0; i < to->len; i++) {
        const Access *b = &to->at[i];
        bool is_same = b->buffer == a.buffer && b->is_write == a.is_write;
        is_same = is_same && b->is_remote == a.is_remote && b->is_settled == a.is_settled && b->is_copy == a.is_copy;
        if (is_same && b->op == a.op && b->is_earlier == a.is_earlier) return false;
    }
    vec_push(p->scratch, to, a);
    return true;
}

/* The stage of an exchange that is another one in the next round; NULL: it is no such. */
static const Value *turn_of(const Buffer *b, const Op *op) {
    bool is_store = op->kind == OP_SHSTORE;
    if ((!is_store && op->kind != OP_SHLOAD) || b->stages != 2 || b->is_counted) return NULL;
    return stage_alternates(op->args[is_store], op->parent) ? op->args[is_store] : NULL;
}

/* Over the grid each block writes its own shared memory alone, when the others' words have come. */
static Access shared_access(const Func *f, const Op *op) {
    const Buffer *b = &f->buffers.at[op->attr.buffer];
    bool is_copy = op_is_copy(op->kind), is_counted = b->is_counted;
    return (Access){.buffer = op->attr.buffer,
                    .is_write = op->kind == OP_SHSTORE || is_copy,
                    .is_copy = is_copy,
                    .is_begin = is_copy && op->attr.is_begin,
                    .stage = turn_of(b, op),
                    .is_remote = op->attr.scope == SCOPE_CLUSTER,
                    .is_counted = is_counted,
                    .is_of_all = is_counted && op->nargs && value_is_tile(op->args[0]) &&
                                 !layout_free(op->args[0]->type.layout, IN_WARP)};
}

static Access global_access(const Op *op) {
    return (Access){.op = op, .is_write = !op_is_read(op->kind)};
}

enum { NO_SCOPE = -1 };

/* A copy for a later round of a loop, and what happens in the loop meanwhile. */
static bool prefetches_past(const Op *copy, const Op *op) {
    return copy->attr.is_prefetch && block_contains(copy->parent, op);
}

static bool overlap(const Func *f, uint32_t a, uint32_t b) {
    return a == b || a == ALL_BUFFERS || b == ALL_BUFFERS || buffers_overlap(&f->buffers.at[a], &f->buffers.at[b]);
}

/* Of one buffer: copies write other stages than each other, and are read behind the ring's own barrier,
 * behind which those of the loop stand, too. */
static bool is_ordered_by_ring(const Access *b, Access a) {
    return b->is_copy ? a.is_copy || !a.is_write : a.is_copy && !a.is_begin;
}

/* Of one buffer: the round before took the other stage, and since the one before that all have met, for each round's
 * loads stand behind a barrier. */
static bool is_ordered_by_turns(const Access *b, Access a) {
    return a.stage && a.stage == b->stage && b->is_earlier;
}

/* Is it decided at run time? */
static bool is_asked(const Places *p, const Op *before, const Op *behind) {
    for (uint32_t i = 0; i < p->asked.len; i++)
        if (p->asked.at[i].before == before && p->asked.at[i].behind == behind) return true;
    return false;
}

/* Who has to meet before a. */
static int64_t conflict(const Places *p, const Access *b, Access a) {
    if (a.op && b->op && (prefetches_past(a.op, b->op) || prefetches_past(b->op, a.op))) return NO_SCOPE;
    if (a.op && b->op && is_asked(p, b->op, a.op)) return NO_SCOPE;
    if (a.op && b->op) return accesses_cross(p->f, b->op, a.op, b->is_earlier) ? p->scope : NO_SCOPE;
    if (a.op || b->op || !overlap(p->f, a.buffer, b->buffer)) return NO_SCOPE;
    if (a.buffer == b->buffer && (is_ordered_by_ring(b, a) || is_ordered_by_turns(b, a))) return NO_SCOPE;
    if (a.buffer == b->buffer && a.is_counted)
        return b->is_write || b->is_settled || !a.is_write || a.is_of_all ? NO_SCOPE : p->inner;
    if (!b->is_write && (!a.is_write || plant(PLANT_SAME_SHARED))) return NO_SCOPE;
    if (a.is_remote || b->is_remote) return p->scope;
    return b->is_settled ? NO_SCOPE : p->inner;
}

static int64_t conflicts(const Places *p, const Accesses *pending, Access a) {
    int64_t widest = pending->len >= MOST_PENDING ? p->scope : NO_SCOPE;
    for (uint32_t i = 0; i < pending->len && widest < p->scope; i++) {
        int64_t scope = conflict(p, &pending->at[i], a);
        if (scope > widest) widest = scope;
    }
    return widest;
}

/* What is pending behind a barrier. */
static void meet(const Places *p, Accesses *pending, Scope scope) {
    if (scope >= p->scope) pending->len = 0;
    else if (scope >= p->inner)
        for (uint32_t i = 0; i < pending->len; i++) pending->at[i].is_settled = true;
}

/* The barrier in front of the first store to other blocks asks for no more than that they have begun, which threads say
 * at the kernel's start. Once: not where it may be passed more often, or never. */
static bool is_begin(const Places *p, const Block *in, const Op *before, const Accesses *pending) {
    if (p->has_met || in != p->f->body || !op_is_exchange(p->f, before)) return false;
    Access a = shared_access(p->f, before);
    for (uint32_t i = 0; i < pending->len; i++) {
        const Access *b = &pending->at[i];
        if (b->buffer != ALL_BUFFERS && conflict(p, b, a) == p->scope) return false;
    }
    return pending->len > 0 && pending->at[0].buffer == ALL_BUFFERS;
}

/* That the blocks had not begun is not pending any more; rounds of a loop may have said it twice. */
static void have_begun(Accesses *pending) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < pending->len; i++)
        if (pending->at[i].buffer != ALL_BUFFERS) pending->at[n++] = pending->at[i];
    pending->len = n;
}

/* All blocks begin before any of them meet: what says so stands before the first barrier of the cluster. */
static void begin_before(Places *p, Op *op, Accesses *pending) {
    while (op->parent->owner) op = op->parent->owner;
    Op *begin = op->next;
    while (begin && !(begin->kind == OP_BARRIER && begin->attr.is_begin)) begin = begin->next;
    if (!begin) return;
    op_move_before(begin, op);
    p->has_met = true;
    have_begun(pending);
}

static void put_barrier(Places *p, const Block *in, Op *before, Accesses *pending, Scope scope) {
    Builder at = builder_before(p->f, before);
    if (scope == SCOPE_CLUSTER && !p->has_met) begin_before(p, before, pending);
    bool begin = scope == SCOPE_CLUSTER && is_begin(p, in, before, pending);
    op_build(&at, OP_BARRIER, NULL, 0, (Attr){.scope = scope, .is_begin = begin}, (Type){0});
    p->has_met |= scope == SCOPE_CLUSTER;
    if (begin) have_begun(pending);
    else meet(p, pending, scope);
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

/* Until a round leaves nothing behind that the next one has not begun with: mostly twice. A barrier put in by any
 * stays. What a loop began with is kept, over all visits of the loops around it: with nothing new it need not be walked
 * again, else nested loops would double the work at each level. */
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

static void meet_here(Places *p, const Op *barrier, Accesses *pending) {
    p->has_met |= barrier->attr.scope == SCOPE_CLUSTER;
    if (barrier->attr.is_begin) have_begun(pending);
    else meet(p, pending, barrier->attr.scope);
}

/* All that every thread has of its operands goes into what it makes. */
static bool takes_all(OpKind k) {
    return op_class(k) == CLASS_REPEAT || op_class(k) == CLASS_REDUCE || k == OP_JOIN ||
           (op_class(k) == CLASS_ELEMENT && k != OP_SELECT);
}

static bool comes_from(Places *p, const Value *v, const Value *from) {
    const Op *op = v->def;
    if (v == from) return true;
    if (!op || !takes_all(op->kind) || p->seen[op->id] == p->search) return false;
    p->seen[op->id] = p->search;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (comes_from(p, op->args[i], from)) return true;
    return false;
}

/* Of a loop every round's and what it began with, if each round takes what the one before handed on. */
static void find_sources(Places *p, const Value *v) {
    const Op *op = v->def;
    if (!op || p->is_source[op->id]) return;
    if (op->kind == OP_FOR) {
        const Value *next = op->regions[0]->last->args[v->index];
        p->search++;
        if (!comes_from(p, next, op->regions[0]->args.at[1 + v->index])) return;
        find_sources(p, next);
        find_sources(p, op->args[3 + v->index]);
        return;
    }
    p->is_source[op->id] = true;
    for (uint32_t i = 0; i < op->nargs && takes_all(op->kind); i++) find_sources(p, op->args[i]);
}

/* Of a round of a counted buffer that each warp stores into. NULL: not each. */
static Op *store_of_all(const Places *p, const Op *wait) {
    Op *store = wait->prev;
    if (p->f->buffers.at[wait->attr.buffer].is_bulk) return NULL;
    while (store->kind != OP_SHSTORE || store->attr.buffer != wait->attr.buffer) store = store->prev;
    return shared_access(p->f, store).is_of_all ? store : NULL;
}

/* Does what blocks count depend on all that op loads? What a copy brings its thread reads in its round. */
static bool has_come(const Places *p, const Op *op) {
    if (op->kind != OP_COPYASYNC) return op->kind == OP_LOAD && p->is_source[op->id];
    bool is_read = false;
    for (const Op *read = op->parent->first; read && !is_read; read = read->next)
        is_read = read->kind == OP_COPYREAD && read->attr.buffer == op->attr.buffer && p->is_source[read->id];
    return is_read;
}

/* Bytes that blocks count depend on what they were computed from: where each warp stores some, who has them knows that
 * every thread has had what it loaded for them, and may overwrite that. */
static void have_come(Places *p, const Op *wait, Accesses *pending) {
    const Op *store = store_of_all(p, wait);
    if (!store) return;
    p->is_source = NEW_ARRAY(p->scratch, bool, p->f->next_op);
    for (uint32_t i = 0; i < store->nargs; i++) find_sources(p, store->args[i]);
    uint32_t n = 0;
    for (uint32_t i = 0; i < pending->len; i++) {
        const Op *op = pending->at[i].op;
        if (!op || !has_come(p, op)) pending->at[n++] = pending->at[i];
    }
    pending->len = n;
}

/* Does it stand before the other one, in the same block? */
static bool is_before(const Op *op, const Op *other) {
    while (other && other != op) other = other->prev;
    return other;
}

/* Where all that a must not overtake are scalars that were loaded before a round of a counted buffer, which is waited
 * for before a: the round's store waits for them, so that who has waited for the round knows that they have come. */
static bool put_awaited(Places *p, Op *before, Accesses *pending, Access a) {
    const Op *wait = before;
    Op *store = NULL;
    while (!store && (wait = wait->prev)) store = wait->kind == OP_SHWAIT ? store_of_all(p, wait) : NULL;
    if (!store || pending->len >= MOST_PENDING) return false;
    Value *awaited[MOST_AWAITED];
    uint32_t n = 0;
    for (uint32_t i = 0; i < pending->len; i++) {
        const Access *x = &pending->at[i];
        if (conflict(p, x, a) == NO_SCOPE) continue;
        bool is_load = x->op && x->op->kind == OP_LOAD && !x->is_earlier && is_before(x->op, store);
        if (!is_load || value_is_tile(x->op->results[0]) || n == MOST_AWAITED) return false;
        awaited[n++] = x->op->results[0];
    }
    for (uint32_t i = 0; i < n; i++) op_add_arg(p->f, store, awaited[i]);
    have_come(p, wait, pending);
    return true;
}

/* i1: does a name the buffer of one that it would then have to meet? NULL: all the same, it has to. */
static Value *ask(Places *p, Builder *b, const Accesses *pending, Access a) {
    Value *any = NULL;
    const Value *to = access_parameter(p->f, a.op);
    uint32_t n = 0, had = p->asked.len;
    Pair pairs[MOST_ASKED];
    for (uint32_t i = 0; i < pending->len; i++) {
        const Access *x = &pending->at[i];
        if (conflict(p, x, a) == NO_SCOPE) continue;
        if (!x->op || n == MOST_ASKED || !accesses_cross_if_one(p->f, x->op, a.op)) return NULL;
        pairs[n++] = (Pair){x->op, a.op};
    }
    for (uint32_t i = 0; i < n; i++) {
        Value *from = (Value *)access_parameter(p->f, pairs[i].before);
        if (is_asked(p, pairs[i].before, a.op)) continue;
        Value *is_one = build_compare(b, OP_ICMP, PRED_EQ, from, (Value *)to);
        any = any ? build2(b, OP_OR, any, is_one) : is_one;
        vec_push(p->scratch, &p->asked, pairs[i]);
    }
    return p->asked.len > had ? any : NULL;
}

/* What two parameters alone make cross, which mostly name two buffers, meets where they name one. */
static bool put_asking(Places *p, Op *before, const Accesses *pending, Access a) {
    if (p->scope != SCOPE_CLUSTER || !p->has_met || !a.op || pending->len >= MOST_PENDING) return false;
    Builder b = builder_before(p->f, before);
    Value *is_one = ask(p, &b, pending, a);
    if (!is_one) return false;
    Op *branch = build_if(&b, is_one, NULL, 0);
    for (uint32_t r = 0; r < 2; r++) {
        b = builder_at_end(p->f, branch->regions[r]);
        b.span = before->span;
        if (r == 0) op_build(&b, OP_BARRIER, NULL, 0, (Attr){.scope = SCOPE_CLUSTER}, (Type){0});
        build_yield(&b, NULL, 0);
    }
    return true;
}

static void touch(Places *p, Op *op, Access a, Accesses *pending) {
    int64_t scope = conflicts(p, pending, a);
    if (scope == SCOPE_CLUSTER && a.op && put_awaited(p, op, pending, a)) scope = NO_SCOPE;
    if (scope != NO_SCOPE && !put_asking(p, op, pending, a)) put_barrier(p, op->parent, op, pending, (Scope)scope);
    /* a copy for rounds that have their own to answer for what they load, or do not run */
    if (a.op && op->attr.is_begin) return;
    add(p, pending, a);
}

/* A product reads its operands until it is waited for, whatever barriers stand in between. */
static void note_operand(void *context, Op *op) {
    Places *p = context;
    if (op->kind == OP_SHMATRIX) add(p, p->done, shared_access(p->f, op));
}

static void have_read(Places *p, const Op *wait, Accesses *pending) {
    const Op *product = wait->args[0]->def;
    p->done = pending;
    if (!product || product->kind != OP_DOTASYNC) { /* handed on */
        if (!wait->attr.pending) func_walk(p->f, note_operand, p);
        return;
    }
    for (uint32_t i = MMA_A; i <= MMA_B; i++)
        if (!value_is_tile(product->args[i])) note_operand(p, product->args[i]->def);
}

/* What was stored is written for products behind the fence, so they need a barrier that is, too. */
static void have_shown(Places *p, const Op *fence, Accesses *pending) {
    for (const Op *op = fence->prev; op && op->kind != OP_PROXYFENCE; op = op->prev)
        if (op->kind == OP_SHSTORE) add(p, pending, shared_access(p->f, op));
}

static void walk(Places *p, Block *b, Accesses *pending) {
    for (Op *op = b->first; op; op = op->next) {
        if (op_is_loop(op)) walk_loop(p, op, pending);
        else if (op->kind == OP_IF) walk_if(p, op, pending);
        else if (op->kind == OP_BARRIER) meet_here(p, op, pending);
        else if (op->kind == OP_SHWAIT) have_come(p, op, pending);
        else if (op->kind == OP_DOTWAIT) have_read(p, op, pending);
        else if (op->kind == OP_PROXYFENCE) have_shown(p, op, pending);
        if (op_is_exchange(p->f, op)) touch(p, op, shared_access(p->f, op), pending);
        if (op_is_access(op->kind)) touch(p, op, global_access(op), pending);
    }
}

void pass_barrier(Func *f, PassContext *c) {
    Places p = {.f = f, .scope = func_scope(f), .inner = func_block_scope(f), .scratch = c->scratch};
    Accesses pending = {0};
    if (f->scope == SCOPE_CLUSTER)
        add(&p, &pending, (Access){.buffer = ALL_BUFFERS, .is_write = true, .is_settled = true});
    p.begin = NEW_ARRAY(p.scratch, Accesses, f->next_op);
    p.visited = NEW_ARRAY(p.scratch, bool, f->next_op);
    p.seen = NEW_ARRAY(p.scratch, uint32_t, f->next_op);
    walk(&p, f->body, &pending);
    for (uint32_t i = 0; i < pending.len; i++)
        if (pending.at[i].is_remote && !pending.at[i].is_counted)
            put_barrier(&p, f->body, f->body->last, &pending, (Scope)p.scope);
}
