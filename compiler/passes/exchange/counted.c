/* counted.c - the blocks of a cluster wait for what they store to each other, not for each other.
 *
 * In: exchanges, each a store of scope cluster and loads of its buffer. Out: counted buffers, a `shared_wait` in front
 * of the loads, and a `barrier cluster {begin}` before the first store to other blocks.
 * Method: a barrier of the cluster that publishes what threads stored makes every thread wait for all of its accesses
 * to have reached the GPU, loads in flight too. A store that counts its bytes where it arrives needs none of that: the
 * receiver knows how many come in a round. Rounds of a loop take two stages in turn. Who stores round n + 2 has had all
 * of round n + 1, so every block had read round n by then: those blocks alone may be left out that store nothing, so
 * each one must. Loops carry a count of rounds; what is stored under a condition keeps its barriers.
 */
#include "passes/private.h"

enum { MOST_BYTES = 8192 /* of a stage; bytes that count are no other buffer's */ };

typedef struct Counted {
    Func *f;
    Arena *scratch;
    const Exchange *of; /* by buffer */
    RoundList rounds;
} Counted;

/* Bytes are counted by words of 4 and 8. */
static bool can_count(const Counted *c, uint32_t i) {
    const Exchange *x = &c->of[i];
    const Buffer *b = &c->f->buffers.at[i];
    uint32_t bytes = type_bytes(type_scalar(b->dtype));
    if (!exchange_is_rounds(x) || x->store->attr.scope != SCOPE_CLUSTER) return false;
    if (b->is_private || b->stages > 1 || b->bytes > MOST_BYTES || (bytes != 4 && bytes != 8)) return false;
    return value_is_tile(x->store->args[0]) && !layout_free(x->store->args[0]->type.layout, IN_CTA);
}

static void add_stage(void *context, Op *op) {
    const Counted *c = context;
    if (op->kind != OP_SHLOAD || !c->f->buffers.at[op->attr.buffer].is_counted) return;
    const Op *wait = op->prev;
    while (wait->kind != OP_SHWAIT || wait->attr.buffer != op->attr.buffer) wait = wait->prev;
    if (wait->nargs) op_add_arg(c->f, op, wait->args[0]);
}

static void count(Counted *c, uint32_t i) {
    const Exchange *x = &c->of[i];
    Block *home = x->store->parent;
    Value *args[2] = {NULL};
    uint32_t n = home->owner ? 2 : 0;
    if (n) {
        LoopRound *r = round_of(c->f, c->scratch, &c->rounds, home);
        args[0] = r->stage, args[1] = round_phase(c->f, r);
        op_add_arg(c->f, x->store, r->stage);
        c->f->buffers.at[i].stages = 2;
    }
    c->f->buffers.at[i].is_counted = true;
    Builder b = builder_before(c->f, x->load);
    op_build(&b, OP_SHWAIT, args, n, (Attr){.buffer = i}, (Type){0});
}

static bool stores_to_cluster(const Op *op) {
    bool stores = op->kind == OP_SHSTORE && op->attr.scope == SCOPE_CLUSTER;
    for (uint32_t r = 0; r < op->nregions && !stores; r++)
        for (const Op *in = op->regions[r]->first; in && !stores; in = in->next) stores = stores_to_cluster(in);
    return stores;
}

/* Where it runs once, whatever the arguments are. */
static void put_begin(Func *f) {
    Op *op = f->body->first;
    while (!stores_to_cluster(op)) op = op->next;
    Builder b = builder_before(f, op);
    op_build(&b, OP_BARRIER, NULL, 0, (Attr){.scope = SCOPE_CLUSTER, .is_begin = true}, (Type){0});
}

void pass_counted(Func *f, PassContext *context) {
    if (f->scope != SCOPE_CLUSTER) return;
    Counted c = {.f = f, .scratch = context->scratch, .of = exchanges_find(f, context->scratch)};
    bool found = false;
    for (uint32_t i = 0; i < f->buffers.len; i++) {
        if (!can_count(&c, i)) continue;
        count(&c, i);
        found = true;
    }
    if (!found) return;
    func_walk(f, add_stage, &c);
    put_begin(f);
}
