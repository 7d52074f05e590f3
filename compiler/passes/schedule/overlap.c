/* overlap.c - the pass overlap: a round's second product is made in the next round, beside its exponentials.
 *
 * In: loops whose round multiplies, makes weights of the sums by exponentials, and multiplies the weights, held in
 * registers, into a sum that it hands on. Out: the loop carries the weights. A round begins its own first product and
 * the second one of the round before, which goes on while the exponentials are made. Behind the loop stands the last
 * round's.
 * Method: what loads the second product's operand follows a round behind, by carried copies of what its address
 * depends on, and so comes into a ring like any other load. The first round's weights are zeros, and so is its operand:
 * no product stands in a branch. The sum that the loop carries is the one that the late product begins with.
 * Rules: nothing in the loop writes memory. Sums and weights fit in registers beside each other, and leave a
 * multiprocessor its blocks, or two: their warps overlap by themselves. A round's products take longer than its
 * exponentials; else those are what must not wait, and more warps are better.
 */
#include "base/plant.h"
#include "passes/private.h"

enum {
    MOST_FOLLOWED = 8,   /* values of a loop that the late address depends on */
    MOST_OPS = 64,       /* of that address: they are computed once more */
    LEAST_COLUMNS = 128, /* of the second product: those of 64 take no longer than the exponentials */
    OTHERS = 40,         /* registers of a thread for addresses, maxima and the loop */
    BRANCH = 16,         /* and where a branch masks, for what it compares */
    ENOUGH_BLOCKS = 2,   /* of a multiprocessor */
};

/* A loop, and what is made a round later. */
typedef struct Late {
    Func *f;
    const Target *target;
    Op *loop;
    Op *first, *second; /* products */
    Op *load, *store;   /* of the second one's operand */
    uint32_t sum;       /* the carried value that it is added to */
    Op *place;          /* in front of this it begins */
    Value *follows[MOST_FOLLOWED];
    uint32_t num_follows, num_ops;
} Late;

static Block *body_of(const Late *l) {
    return l->loop->regions[0];
}

/* ---- Which loops ------------------------------------------------------------------------------------------------- */

/* The products of the body, if there are two; no other stands within, and nothing writes memory or may end the program.
 */
static bool has_two(Late *l, Block *b, bool is_body, uint32_t *n) {
    for (Op *op = b->first; op; op = op->next) {
        if (op->kind == OP_ASSERT || (op_is_access(op->kind) && (op->kind != OP_LOAD || op->attr.mem.is_volatile)))
            return false;
        if (op->kind == OP_DOTASYNC && (!is_body || *n == 2)) return false;
        if (op->kind == OP_DOTASYNC) *((*n)++ ? &l->second : &l->first) = op;
        for (uint32_t r = 0; r < op->nregions; r++)
            if (!has_two(l, op->regions[r], false, n)) return false;
    }
    return true;
}

static Op *wait_of(const Op *product) {
    Value *v = product->results[0];
    return value_used_once(v) && v->uses->op->kind == OP_DOTWAIT && v->uses->op->parent == product->parent
               ? v->uses->op
               : NULL;
}

/* The second product holds weights, and the next round alone takes its sum. */
static bool is_handed_on(Late *l) {
    const Op *wait = wait_of(l->second);
    if (!wait || !dot_holds_a(l->second) || !value_used_once(wait->results[0])) return false;
    const Use *u = wait->results[0]->uses;
    l->sum = u->index;
    return u->op == body_of(l)->last;
}

/* The op of the body that op stands in. */
static const Op *in_body(const Late *l, const Op *op) {
    while (op->parent != body_of(l)) op = op->parent->owner;
    return op;
}

static bool reads_sum(const Late *l, const Op *op) {
    for (const Use *u = body_of(l)->args.at[1 + l->sum]->uses; u; u = u->next)
        if (in_body(l, u->op) == op) return true;
    return false;
}

/* Behind the first product's wait, and behind the branches that follow, so that no product goes on in one. From there
 * to the sum's first reader stand exponentials, and nothing that the late product would have to be waited for. */
static bool find_place(Late *l) {
    const Op *wait = wait_of(l->first);
    bool has_weights = false, waits = false;
    if (!wait) return false;
    for (const Op *op = body_of(l)->first; op != wait->next; op = op->next)
        if (reads_sum(l, op)) return false;
    l->place = wait->next;
    for (Op *op = wait->next; op != l->second && !reads_sum(l, op); op = op->next) {
        bool is_weight = (op->kind == OP_EXP || op->kind == OP_EXP2) &&
                         op->results[0]->type.layout == l->first->results[0]->type.layout;
        if (op->nregions) l->place = op->next, has_weights = waits = false;
        else waits |= !op_is_pure(op->kind) && op->kind != OP_LOAD;
        has_weights |= is_weight && !waits;
    }
    return has_weights;
}

static uint32_t count_touches(const Block *b, uint32_t buffer) {
    uint32_t n = 0;
    for (const Op *op = b->first; op; op = op->next) {
        n += op_has_buffer(op->kind) && op->attr.buffer == buffer;
        for (uint32_t r = 0; r < op->nregions; r++) n += count_touches(op->regions[r], buffer);
    }
    return n;
}

/* Does the round load the second operand, for nothing else? Where the load's mask is off it gives zeros. */
static bool find_operand(Late *l) {
    const Op *at = l->second->args[MMA_B]->def;
    int64_t other = 0;
    l->store = body_of(l)->first;
    while (l->store && !(l->store->kind == OP_SHSTORE && l->store->attr.buffer == at->attr.buffer))
        l->store = l->store->next;
    l->load = l->store && l->store->nargs == 1 ? l->store->args[0]->def : NULL;
    return at->parent == body_of(l) && l->load && l->load->kind == OP_LOAD && l->load->parent == body_of(l) &&
           l->store->next->kind == OP_PROXYFENCE && value_used_once(l->load->results[0]) &&
           (l->load->nargs < 3 || (value_const(l->load->args[2], &other) && other == 0)) &&
           count_touches(l->f->body, at->attr.buffer) == 2;
}

/* Notes what of the loop v depends on; false: on too much, or on more than arithmetic. */
static bool follow(Late *l, Value *v) {
    const Op *op = v->def;
    if (!op && v->block != body_of(l)) return true;
    if (op && op->parent != body_of(l)) return true;
    for (uint32_t i = 0; !op && i < l->num_follows; i++)
        if (l->follows[i] == v) return true;
    if (!op && l->num_follows == MOST_FOLLOWED) return false;
    if (!op) {
        l->follows[l->num_follows++] = v;
        return true;
    }
    if (!op_is_pure(op->kind) || op->nregions || ++l->num_ops > MOST_OPS) return false;
    for (uint32_t i = 0; i < op->nargs; i++)
        if (!follow(l, op->args[i])) return false;
    return true;
}

static bool can_follow(Late *l) {
    for (uint32_t i = 0; i < l->load->nargs; i++)
        if (!follow(l, l->load->args[i])) return false;
    return true;
}

static uint32_t words_of(Type t) {
    return (layout_registers(t.layout) * type_bytes(type_scalar(t.dtype)) + 3) / 4;
}

static uint32_t blocks_of(const Late *l, uint32_t registers) {
    if (registers > l->target->max_registers) return 0;
    return l->target->registers_per_sm / (registers * l->f->threads_per_program);
}

static bool fits(const Late *l) {
    uint32_t words = words_of(l->first->results[0]->type) + words_of(l->second->results[0]->type) + OTHERS +
                     (l->place == wait_of(l->first)->next ? 0 : BRANCH),
             before = blocks_of(l, words), after = blocks_of(l, words + words_of(l->second->args[MMA_A]->type));
    return after && (after == before || after >= ENOUGH_BLOCKS);
}

static bool is_worth_it(const Late *l) {
    return shape_size(l->second->results[0]->type.shape, 1) >= LEAST_COLUMNS;
}

static bool plan(Late *l) {
    uint32_t n = 0;
    return l->loop->kind == OP_FOR && has_two(l, body_of(l), true, &n) && n == 2 && is_handed_on(l) && find_place(l) &&
           find_operand(l) && can_follow(l) && is_worth_it(l) && fits(l);
}

/* ---- A round later ----------------------------------------------------------------------------------------------- */

/* v by the map: the ops of the body that make it, once more. */
static Value *value_by(const Late *l, Builder *b, Value *v, ValueMap *map) {
    Value *made = valuemap_get(map, v);
    if (made != v || !v->def || v->def->parent != body_of(l)) return made;
    for (uint32_t i = 0; i < v->def->nargs; i++) value_by(l, b, v->def->args[i], map);
    return op_clone(b, v->def, map)->results[v->index];
}

/* What the second operand's load gave in the round that the map says; zeros where `ran` says that there was none. */
static Value *load_late(const Late *l, Builder *b, ValueMap *map, Value *ran) {
    MemAttr m = l->load->attr.mem;
    Value *ptr = value_by(l, b, l->load->args[0], map),
          *mask = build1_to(b, OP_SPLAT, ran, type_with_dtype(ptr->type, DT_I1));
    if (l->load->nargs > 1) mask = build2(b, OP_AND, mask, value_by(l, b, l->load->args[1], map));
    if (m.mask_kind == MASK_NONE) m.mask_kind = MASK_UNIFORM;
    Value *v = build_load(b, ptr, mask, NULL, m);
    v->name = l->load->results[0]->name;
    return v;
}

/* The loop carries one more, `next` of which a round leaves to the next one. */
static uint32_t carry(const Late *l, Value *init, Value *next) {
    uint32_t index = l->loop->nresults;
    loop_carry(l->f, l->loop, init, NULL);
    op_add_arg(l->f, body_of(l)->last, next);
    return index;
}

/* What the loop hands on of the round before: its weights, loop variable, and the carried values that the address
 * depends on. Who comes behind the loop also takes whether a round ran. */
typedef struct Handed {
    uint32_t weights, ran, before, follows[MOST_FOLLOWED];
} Handed;

static Handed hand_on(const Late *l) {
    Value *weights = l->second->args[MMA_A], **of_loop = l->loop->args, *iv = body_of(l)->args.at[0];
    Builder before = builder_before(l->f, l->loop), end = builder_before(l->f, body_of(l)->last);
    Type i1 = type_scalar(DT_I1);
    Handed h = {.weights = carry(l, build_float(&before, weights->type, 0), weights)};
    h.ran = carry(l, build_int(&before, i1, 0), build_int(&end, i1, 1));
    h.before = carry(l, of_loop[0], iv);
    for (uint32_t i = 0; i < l->num_follows; i++) {
        Value *v = l->follows[i];
        if (v->index) h.follows[i] = carry(l, of_loop[2 + v->index], v);
    }
    return h;
}

/* The load of the round before, of which `from` is what is handed on. */
static Value *load_before(const Late *l, Builder *b, const Handed *h, Value *ran, Value **from) {
    ValueMap map = valuemap_create(l->f);
    Value *before = plant(PLANT_LATE_ROUND) ? body_of(l)->args.at[0] : from[h->before];
    valuemap_set(l->f, &map, body_of(l)->args.at[0], before);
    for (uint32_t i = 0; i < l->num_follows; i++)
        if (l->follows[i]->index) valuemap_set(l->f, &map, l->follows[i], from[h->follows[i]]);
    return load_late(l, b, &map, ran);
}

static Op *first_of(Op *a, Op *b) {
    const Op *op = a;
    while (op && op != b) op = op->next;
    return op ? a : b;
}

/* Where the first product is told where its operands are: what is stored behind that needs a barrier of its own. */
static Op *places_of_first(const Late *l) {
    Op *op = l->first;
    while (op->prev && (op->prev->kind == OP_SHMATRIX || op_is_pure(op->prev->kind))) op = op->prev;
    return op;
}

/* In the loop: the operand is stored where the first product's are. */
static void begin_late(Late *l, const Handed *h) {
    Block *body = body_of(l);
    Value *sum = body->args.at[1 + l->sum], **args = body->args.at + 1;
    Op *second = l->second, *wait = wait_of(second), *at = second->args[MMA_B]->def, *fence = l->store->next;
    Value *begun = second->args[MMA_C] == sum ? wait->results[0] : second->args[MMA_C];
    Op *places = places_of_first(l);
    Builder b = builder_before(l->f, first_of(l->load, places));
    Value *iv = body->args.at[0], *ran = build_compare(&b, OP_ICMP, PRED_NE, iv, l->loop->args[0]);
    op_set_arg(l->f, l->store, 0, load_before(l, &b, h, ran, args));
    op_erase(l->f, l->load);
    op_move_before(l->store, places);
    op_move_before(fence, places);
    op_set_arg(l->f, body->last, l->sum, begun);
    value_replace(l->f, sum, wait->results[0]);
    op_set_arg(l->f, second, MMA_A, args[h->weights]);
    op_set_arg(l->f, second, MMA_C, sum);
    Op *moved[] = {at, second, wait};
    for (uint32_t i = 0; i < 3; i++) op_move_before(moved[i], l->place);
}

/* Weights are rounded at the end, when the registers of the last ones are free. */
static void round_last(const Late *l, const Handed *h) {
    Op *end = body_of(l)->last, *op = end->args[h->weights]->def;
    if (op->parent == end->parent && op_is_pure(op->kind) && value_used_once(op->results[0])) op_move_before(op, end);
}

/* Behind the loop: the last round's. */
static void end_late(Late *l, const Handed *h) {
    const Op *at = l->second->args[MMA_B]->def;
    Buffer like = l->f->buffers.at[at->attr.buffer];
    Value **results = l->loop->results, *sum = results[l->sum];
    Attr a = {.buffer = buffer_add(l->f, (Buffer){.dtype = like.dtype, .places = like.places, .align = like.align})};
    Builder b = builder_after(l->f, l->loop);
    Value *v = load_before(l, &b, h, results[h->ran], results);
    op_build(&b, OP_SHSTORE, &v, 1, (Attr){.buffer = a.buffer, .scope = SCOPE_BLOCK}, v->type);
    op_build(&b, OP_PROXYFENCE, NULL, 0, (Attr){0}, (Type){0});
    a.perm = at->attr.perm;
    Value *args[] = {results[h->weights], op_build(&b, OP_SHMATRIX, NULL, 0, a, type_scalar(DT_I32))->results[0], sum};
    Op *product = op_build(&b, OP_DOTASYNC, args, 3, l->second->attr, sum->type);
    Value *done = op_build(&b, OP_DOTWAIT, product->results, 1, (Attr){0}, sum->type)->results[0];
    for (Use *u = sum->uses, *next; u; u = next) {
        next = u->next;
        if (u->op != product) op_set_arg(l->f, u->op, u->index, done);
    }
    done->name = sum->name;
    sum->name = NULL;
}

typedef struct Overlap {
    Func *f;
    const PassContext *c;
    bool changed;
} Overlap;

static void visit(void *context, Op *op) {
    Overlap *o = context;
    Late l = {.f = o->f, .target = o->c->target, .loop = op};
    if (!plan(&l)) return;
    Handed h = hand_on(&l);
    end_late(&l, &h);
    begin_late(&l, &h);
    round_last(&l, &h);
    o->changed = true;
}

void pass_overlap(Func *f, PassContext *c) {
    Overlap o = {.f = f, .c = c};
    func_walk(f, visit, &o);
    if (o.changed) pass_dce(f, c);
}
