/* merge.c - two paths into one: the values of an `if`'s results, and which names are defined after it.
 *
 * In: two arms with their blocks and outcomes. Out: one `if` op; variables bound to its results.
 * Method: what is equal on both paths stays as it is; constants that differ become run-time values of one type; a path
 * that ended early gives zeros for what only the other path defines. A wide form merges beside its value.
 * In map_elementwise a condition may be a tile. Then both arms run, and each element takes the values of its own.
 */
#include "check/sema.h"

typedef struct Slot {
    Sem *sem;  /* takes the result */
    bool wide; /* the result is its wide form */
} Slot;

typedef struct Merge {
    Checker *c;
    const Sem *cond;
    Arm *arms;
    bool by_element; /* cond is a tile */
    Values yields[2];
    VEC(Slot) slots;
} Merge;

/* ---- Values ------------------------------------------------------------------------------------------------------ */

Value *filler_value(Checker *c, const Sem *like, bool wide) {
    Shape shape = sem_shape(like);
    const Sem *zero = sem_i64(c, 0);
    if (!like->is_pointer) return const_value(c, zero, wide ? ST_I64 : like->type, shape);
    return build1_to(&c->b, OP_BITCAST, const_value(c, zero, ST_I64, shape), like->v->type);
}

/* What `side` yields for s (NULL: nothing reads it) as a value of the type of `like`. */
static void yield_value(Merge *m, int side, const Sem *s, const Sem *like, bool wide) {
    Checker *c = m->c;
    Builder saved = c->b;
    c->b.block = m->arms[side].block;
    c->b.before = NULL;
    Value *v;
    if (!s) {
        v = filler_value(c, like, wide);
    } else if (wide) {
        v = wide_value(c, s);
    } else {
        v = sem_is_number(s) ? const_value(c, s, like->type, shape_scalar()) : s->v;
    }
    v = broadcast_value(c, v, m->by_element ? m->cond->v->type.shape : sem_shape(like));
    vec_push(c->a, &m->yields[side], v);
    c->b = saved;
}

static bool has_wide(const Sem *s) {
    return s && s->kind == SEM_RUN && s->wide;
}

static void add_slot(Merge *m, const Sem *x, const Sem *y, const Sem *like, Slot slot) {
    yield_value(m, 0, x, like, slot.wide);
    yield_value(m, 1, y, like, slot.wide);
    vec_push(m->c->a, &m->slots, slot);
}

static const Sem *merged(Merge *m, const Sem *x, const Sem *y, const Sem *like) {
    Sem *r = NEW(m->c->a, Sem);
    *r = *like;
    r->v = r->wide = NULL;
    r->is_const = (x ? x : like)->is_const && (y ? y : like)->is_const;
    add_slot(m, x, y, like, (Slot){.sem = r});
    if (has_wide(x) || has_wide(y)) add_slot(m, x, y, like, (Slot){.sem = r, .wide = true});
    return r;
}

/* A number beside a run-time scalar, or beside another number: the type that both have then. To map_elementwise a tile
 * is as good as a scalar. */
static bool common_type(const Merge *m, const Sem *x, const Sem *y, Sem *like) {
    bool tiles = m->c->by_element != NULL;
    if (x->kind == SEM_RUN && y->kind == SEM_RUN) {
        *like = tiles && !sem_is_tile(x) ? *y : *x;
        return tiles ? x->is_pointer == y->is_pointer && x->type == y->type : sem_same_type(x, y);
    }
    const Sem *number = sem_is_number(x) ? x : y, *other = number == x ? y : x;
    if (!sem_is_number(number)) return false;
    if (sem_is_number(other)) {
        SType a = sem_natural(number), b = sem_natural(other);
        *like = (Sem){.kind = SEM_RUN,
                      .type = stype_is_float(b)               ? b
                              : stype_is_float(a)             ? a
                              : stype_bits(a) > stype_bits(b) ? a
                                                              : b};
        return true;
    }
    *like = *other;
    if (other->kind != SEM_RUN || other->is_pointer || (sem_is_tile(other) && !tiles)) return false;
    if (number->kind == SEM_BOOL && other->type != ST_I1) return false;
    return number_fits(number, other->type);
}

/* NULL: the two have no common type. */
static const Sem *join(Merge *m, const Sem *x, const Sem *y) {
    if (sem_is_error(x) || sem_is_error(y)) return &sem_error;
    if (sem_is_const(x) && sem_is_const(y) && sem_equal(x, y)) return x->weak ? y : x;
    if (x == y || (x->kind == SEM_RUN && y->kind == SEM_RUN && x->v == y->v && x->wide == y->wide)) return x;
    bool are_blocks = x->kind == SEM_BLOCK && y->kind == SEM_BLOCK && sem_same_block(x, y);
    if (are_blocks || (x->kind == SEM_TUPLE && y->kind == SEM_TUPLE && x->count == y->count)) {
        const Sem **items = NEW_ARRAY(m->c->a, const Sem *, x->count);
        for (uint32_t i = 0; i < x->count; i++) {
            items[i] = join(m, x->items[i], y->items[i]);
            if (!items[i]) return NULL;
        }
        return sem_with_items(m->c, x, items);
    }
    Sem like;
    if (!common_type(m, x, y, &like)) return NULL;
    /* A number only shows its type here: its shape is a scalar's. */
    if (!like.v) like.v = const_value(m->c, sem_i64(m->c, 0), like.type, shape_scalar());
    return merged(m, x, y, &like);
}

/* ---- The op ------------------------------------------------------------------------------------------------------ */

static void set_result(Slot slot, Value *v) {
    if (slot.wide)
        slot.sem->wide = v;
    else
        slot.sem->v = v;
}

static bool is_free(const Block *b) {
    for (const Op *op = b->first; op; op = op->next) {
        bool is_loop = op->kind == OP_IF || op->kind == OP_FOR || op->kind == OP_WHILE;
        if (!is_loop && !op_is_pure(op->kind) && op_info[op->kind].effect != EFFECT_CONTROL) return false;
        for (uint32_t i = 0; i < op->nregions; i++)
            if (!is_free(op->regions[i])) return false;
    }
    return true;
}

/* Both arms, one after the other, before what is built next. */
static void run_both(Merge *m, Span at) {
    for (int side = 0; side < 2; side++) {
        if (!is_free(m->arms[side].block)) diag(m->c->d, at, E_MAP_EFFECT);
        block_splice(m->c, m->arms[side].block);
        m->arms[side].block = m->c->b.block;
    }
}

static Merge merge_of(Checker *c, const Sem *cond, Arm arms[2], Span at) {
    Merge m = {.c = c, .cond = cond, .arms = arms, .by_element = sem_is_tile(cond)};
    if (m.by_element) run_both(&m, at);
    return m;
}

static void build_op(Merge *m) {
    Checker *c = m->c;
    for (uint32_t i = 0; m->by_element && i < m->slots.len; i++)
        set_result(m->slots.at[i],
                   build3(&c->b, OP_SELECT, m->cond->v, m->yields[0].at[i], m->yields[1].at[i]));
    if (m->by_element) return;
    if (!m->slots.len && !m->arms[0].block->first && !m->arms[1].block->first) return;
    Type *types = NEW_ARRAY(c->a, Type, m->slots.len + 1);
    for (uint32_t i = 0; i < m->slots.len; i++) types[i] = m->yields[0].at[i]->type;
    Op *op = build_if(&c->b, m->cond->v, types, m->slots.len);
    for (int side = 0; side < 2; side++) {
        op->regions[side] = m->arms[side].block;
        op->regions[side]->owner = op;
        Builder b = builder_at_end(c->f, op->regions[side]);
        b.span = c->b.span;
        build_yield(&b, m->yields[side].at, m->yields[side].len);
    }
    for (uint32_t i = 0; i < m->slots.len; i++) set_result(m->slots.at[i], op->results[i]);
}

const Sem *arms_value(Checker *c, const Sem *cond, Arm arms[2], Span at) {
    Merge m = merge_of(c, cond, arms, at);
    const Sem *x = arms[0].value, *y = arms[1].value;
    const Sem *r = join(&m, x, y);
    if (!r) {
        diag(c->d, at, E_PATH_VALUE, sem_type_text(c, x), sem_type_text(c, y));
        bool one_tile = sem_is_tile(x) != sem_is_tile(y);
        diag_note(c->d, at, one_tile ? "where(condition, x, y) makes a tile of both"
                                     : "convert one side, as in x.to(fp32)");
        return &sem_error;
    }
    if (!sem_is_error(r)) build_op(&m);
    return r;
}

/* ---- Variables --------------------------------------------------------------------------------------------------- */

static const Sem *complain(Checker *c, const char *name, const Binding *x, const Binding *y) {
    Span at = x->span.begin >= y->span.begin ? x->span : y->span,
         other = x->span.begin >= y->span.begin ? y->span : x->span;
    const Sem *here = x->span.begin >= y->span.begin ? x->sem : y->sem, *there = here == x->sem ? y->sem : x->sem;
    if (name == c->retval) {
        diag(c->d, at, E_PATH_RETURN, sem_type_text(c, here), sem_type_text(c, there));
        diag_note(c->d, other, "the other return");
    } else {
        diag(c->d, at, E_PATH_NAME, name, sem_type_text(c, here), sem_type_text(c, there));
        diag_note(c->d, other, "the other path's value comes from here");
    }
    return &sem_error;
}

/* The value of a path on which x is defined, where the other path ended and nothing reads it there. */
static const Sem *one_sided(Merge *m, int side, const Sem *x, const Sem *before) {
    if (x == before || sem_is_error(x) || x->kind != SEM_RUN) {
        if (x->kind != SEM_TUPLE && (x->kind != SEM_BLOCK || x == before)) return x;
        const Sem **items = NEW_ARRAY(m->c->a, const Sem *, x->count);
        for (uint32_t i = 0; i < x->count; i++) items[i] = one_sided(m, side, x->items[i], NULL);
        return sem_with_items(m->c, x, items);
    }
    return merged(m, side == 0 ? x : NULL, side == 1 ? x : NULL, x);
}

static Binding merge_binding(Merge *m, const Variable *v, const Binding *x, const Binding *y, Span at) {
    Checker *c = m->c;
    bool dead0 = m->arms[0].state == FLOW_DEAD, dead1 = m->arms[1].state == FLOW_DEAD;
    bool hidden = v->name[0] == '$';
    /* Only what was defined before a loop is read after a break or continue inside it. */
    bool local = !hidden && (c->frame->loops == 0 || !v->now.sem);
    Binding r = {.sem = NULL, .span = x->sem ? x->span : y->span};
    if (dead0 && dead1 && local) return (Binding){0};
    if (dead0 != dead1 && local) {
        const Binding *live = dead0 ? y : x;
        r = *live;
        if (live->sem) r.sem = one_sided(m, dead0 ? 1 : 0, live->sem, v->now.sem);
        return r;
    }
    if (!x->sem || !y->sem) {
        if (v->name == c->retval && (x->sem || y->sem)) {
            r.sem = one_sided(m, x->sem ? 0 : 1, x->sem ? x->sem : y->sem, NULL);
            return r;
        }
        r.gap = x->sem || y->sem ? at : x->gap.end ? x->gap : y->gap;
        if (!x->sem && !y->sem) r.span = x->span.end ? x->span : y->span;
        return r;
    }
    uint32_t slots = m->slots.len;
    r.sem = join(m, x->sem, y->sem);
    if (!r.sem) {
        m->slots.len = m->yields[0].len = m->yields[1].len = slots; /* a tuple that fits in part */
        r.sem = complain(c, v->name, x, y);
    }
    if (x->sem == v->now.sem) r.span = y->span;
    return r;
}

void arms_merge(Checker *c, const Sem *cond, Arm arms[2], Span at) {
    Frame *f = c->frame;
    Merge m = merge_of(c, cond, arms, at);
    const Outcomes *a = &arms[0].outcomes, *b = &arms[1].outcomes;
    VEC(Outcome) results = {0};
    uint32_t epoch = ++f->epoch;
    for (uint32_t i = 0; i < b->count; i++) {
        f->variables.at[b->at[i].variable].seen = epoch;
        f->variables.at[b->at[i].variable].index = i;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        Variable *v = &f->variables.at[a->at[i].variable];
        const Binding *other = v->seen == epoch ? &b->at[v->index].then : &v->now;
        v->seen = 0; /* done */
        Outcome r = {a->at[i].variable, merge_binding(&m, v, &a->at[i].then, other, at)};
        vec_push(c->a, &results, r);
    }
    for (uint32_t i = 0; i < b->count; i++) {
        Variable *v = &f->variables.at[b->at[i].variable];
        if (v->seen != epoch) continue;
        Outcome r = {b->at[i].variable, merge_binding(&m, v, &v->now, &b->at[i].then, at)};
        vec_push(c->a, &results, r);
    }
    build_op(&m);
    for (uint32_t i = 0; i < results.len; i++) frame_set(c, results.at[i].variable, results.at[i].then);
}

/* ---- What nothing reads ------------------------------------------------------------------------------------------ */

static void drop_result(Op *op, uint32_t i) {
    for (uint32_t k = i + 1; k < op->nresults; k++) {
        op->results[k - 1] = op->results[k];
        op->results[k - 1]->index = k - 1;
    }
    op->nresults--;
}

static bool prune_results(Func *f, Op *op) {
    bool changed = false;
    for (uint32_t i = op->nresults; i-- > 0;) {
        if (value_used(op->results[i])) continue;
        for (int side = 0; side < 2; side++) op_remove_arg(f, op->regions[side]->last, i);
        drop_result(op, i);
        changed = true;
    }
    return changed;
}

/* What a for carries though neither the body nor anything after it reads it. */
static bool prune_carried(Func *f, Op *op) {
    bool changed = false;
    Block *body = op->regions[0];
    for (uint32_t i = op->nresults; i-- > 0;) {
        if (value_used(op->results[i]) || value_used(body->args.at[i + 1])) continue;
        op_remove_arg(f, body->last, i);
        op_remove_arg(f, op, 3 + i);
        block_remove_arg(f, body, i + 1);
        drop_result(op, i);
        changed = true;
    }
    return changed;
}

/* From the last op to the first, what is inside after what is outside: a yield that goes may free results inside. */
static bool prune_block(Func *f, Block *b) {
    bool changed = false;
    for (Op *op = b->last, *before; op; op = before) {
        before = op->prev;
        if (op_is_pure(op->kind) && !value_used(op->results[0])) {
            op_erase(f, op);
            changed = true;
            continue;
        }
        if (op->kind == OP_IF) changed |= prune_results(f, op);
        if (op->kind == OP_FOR) changed |= prune_carried(f, op);
        for (uint32_t i = op->nregions; i-- > 0;) changed |= prune_block(f, op->regions[i]);
    }
    return changed;
}

void prune_unused(Func *f, Block *b) {
    for (int round = 0; round < 8 && prune_block(f, b); round++) continue;
}
