/* loop.c - dynamic loops: for over range, while, break, continue, return inside a loop.
 *
 * In: FOR and WHILE nodes. Out: `for` ops, and `while` ops where the body may leave early.
 * Method: what the body assigns is carried (carry.c). A loop with break or return becomes a `while` that also carries
 * `go`, which is no more true once `$brk` was set; continue only ends `$live` for the iteration. A returned value is
 * appended to what the loop carries once its type is known. static_range is unroll.c's. In map_elementwise `go` is a
 * tile: the loop runs as long as an element goes on, and the others keep what they have.
 */
#include "check/sema.h"

#include <string.h>

typedef struct Bounds {
    const Sem *sem[3]; /* start, end, step */
    Span at[3];
    SType type; /* of the loop variable */
    bool wide;  /* it runs in i64 */
    LoopAttr attr;
} Bounds;

/* ---- Entering and leaving ---------------------------------------------------------------------------------------- */

const Sem *loop_enter(Checker *c) {
    const Sem *outer = frame_get(c, c->brk);
    c->frame->loops++;
    return outer;
}

static const Sem *negated(Checker *c, const Sem *s) {
    const Sem *r = const_unary(c, UN_NOT, s, c->b.span);
    return r ? sem_weak(c, r) : arith_unary(c, UN_NOT, s, c->b.span);
}

/* `$live` is what it was, but where a return happened inside. */
void loop_leave(Checker *c, const Sem *outer_brk) {
    const Sem *returned = frame_get(c, c->ret);
    Span nowhere = {0, 0};
    c->frame->loops--;
    frame_assign(c, c->live, negated(c, returned), nowhere);
    bool passes_on = c->frame->loops > 0 && !(sem_is_const(returned) && !const_truth(returned));
    frame_assign(c, c->brk, passes_on ? returned : outer_brk, nowhere);
}

const Sem *loop_goes_on(Checker *c) {
    return negated(c, frame_get(c, c->brk));
}

void loop_break(Checker *c, const Node *n) {
    if (!c->frame->loops) {
        diag(c->d, n->span, E_BREAK);
        return;
    }
    frame_assign(c, c->brk, sem_bool(c, true), n->span);
    flow_stop(c);
}

void loop_continue(Checker *c, const Node *n) {
    if (!c->frame->loops) {
        diag(c->d, n->span, E_CONTINUE);
        return;
    }
    flow_stop(c);
}

/* ---- The body ---------------------------------------------------------------------------------------------------- */

static void bind_carried(Checker *c, const Carries *k, const Block *b, uint32_t first) {
    for (uint32_t i = 0; i < k->count; i++) {
        Value **slots = b->args.at + first;
        frame_set(c, k->at[i].variable, (Binding){.sem = carried_sem(c, &k->at[i], slots), .span = k->at[i].span});
    }
}

static void start_iteration(Checker *c) {
    frame_assign(c, c->live, sem_bool(c, true), (Span){0, 0});
    frame_assign(c, c->brk, sem_bool(c, false), (Span){0, 0});
}

static void enter_block(Checker *c, Block *b) {
    c->b.block = b;
    c->b.before = NULL;
}

/* ---- A value returned from inside a loop ------------------------------------------------------------------------- */

/* One more carried value of a while whose body has no yield yet: zero before the loop, `next` from then on. Elements
 * that had `returned` before keep what they have. */
static Value *append_carried(Checker *c, Op *loop, const Sem *next, bool wide, Value *returned, Values *yields) {
    Func *f = c->f;
    Builder saved = c->b;
    c->b = builder_before(f, loop);
    Value *init = filler_value(c, next, wide), *to = wide ? next->wide : next->v;
    c->b = saved;
    op_add_arg(f, loop, init);
    op_add_arg(f, loop->regions[0]->last, block_add_arg(f, loop->regions[0], init->type, NULL));
    Value *now = block_add_arg(f, loop->regions[1], init->type, NULL);
    vec_push(c->a, yields, returned ? build3(&c->b, OP_SELECT, returned, now, to) : to);

    Value **results = NEW_ARRAY(f->arena, Value *, loop->nresults + 1u);
    for (uint32_t i = 0; i < loop->nresults; i++) results[i] = loop->results[i];
    Value *r = NEW(f->arena, Value);
    *r = (Value){.type = init->type, .def = loop, .index = loop->nresults, .id = f->next_value++};
    results[loop->nresults++] = r;
    loop->results = results;
    return r;
}

/* The returned value as it is after the loop. */
static const Sem *carry_returned(Checker *c, Op *loop, const Sem *s, Value *returned, Values *yields) {
    if (s->kind == SEM_RUN) {
        Value *v = append_carried(c, loop, s, false, returned, yields);
        return sem_with(c, s, v, s->wide ? append_carried(c, loop, s, true, returned, yields) : NULL);
    }
    if (s->kind != SEM_TUPLE) return s;
    const Sem **items = NEW_ARRAY(c->a, const Sem *, s->count + 1);
    for (uint32_t i = 0; i < s->count; i++) items[i] = carry_returned(c, loop, s->items[i], returned, yields);
    return sem_with_items(c, s, items);
}

/* ---- while ------------------------------------------------------------------------------------------------------- */

/* Both kinds of loop that become an OP_WHILE. */
typedef struct While {
    const Node *n;
    const Bounds *bounds;  /* of a for; NULL: a while */
    Value *lo, *hi, *step; /* i64, of a for */
    Carries k;
    bool has_go;
    uint32_t first; /* index of the first carried variable: iv and go come before */
} While;

static Value *go_value(Checker *c, const Sem *go) {
    return sem_is_const(go) ? build_int(&c->b, type_scalar(DT_I1), const_truth(go)) : go->v;
}

/* Is it true of any element? */
static Value *any(Checker *c, Value *v) {
    while (v->type.shape.rank) v = build_reduce(&c->b, v, v->type.shape.rank - 1u, OP_OR);
    return v;
}

static Value *both(Checker *c, Value *x, Value *y) {
    Shape shape = x->type.shape.rank ? x->type.shape : y->type.shape;
    return build2(&c->b, OP_AND, broadcast_value(c, x, shape), broadcast_value(c, y, shape));
}

/* iv is before the end: which side that is depends on the sign of the step. */
static Value *before_end(Checker *c, const While *w, Value *iv) {
    int64_t step;
    Value *up = build_compare(&c->b, OP_ICMP, PRED_SLT, iv, w->hi);
    if (value_const(w->step, &step) && step > 0) return up;
    Value *down = build_compare(&c->b, OP_ICMP, PRED_SGT, iv, w->hi);
    if (value_const(w->step, &step)) return down;
    Value *rises = build_compare(&c->b, OP_ICMP, PRED_SGT, w->step, build_int(&c->b, w->step->type, 0));
    return build3(&c->b, OP_SELECT, rises, up, down);
}

/* Region 0: does another iteration run? */
static void build_condition_block(Checker *c, const While *w, Block *block) {
    enter_block(c, block);
    Value *cond;
    if (w->bounds) {
        c->b.span = w->n->b->span;
        cond = before_end(c, w, block->args.at[0]);
    } else {
        uint32_t mark = journal_mark(c);
        bind_carried(c, &w->k, block, w->first);
        const Sem *s = condition_of(c, check_expr(c, w->n->a), w->n->a->span, "the condition of 'while'");
        journal_undo(c, mark);
        cond = sem_is_error(s) ? build_int(&c->b, type_scalar(DT_I1), 0) : go_value(c, s);
    }
    if (w->has_go) {
        int64_t always;
        Value *go = block->args.at[w->first - 1];
        cond = value_const(cond, &always) && always ? go : both(c, go, cond);
    }
    build_condition(&c->b, any(c, cond), block->args.at, block->args.len);
}

static const Sem *loop_variable(Checker *c, const Bounds *b, Value *iv) {
    bool wide = b->wide && stype_bits(b->type) < 64;
    return sem_run(c, b->type, wide ? narrow_value(c, iv, b->type) : iv, wide ? iv : NULL);
}

/* In map_elementwise: the elements that this iteration is for. */
static void start_elements(Checker *c, const While *w, const Block *block) {
    Value *go = w->has_go ? block->args.at[w->first - 1] : NULL;
    const Sem *cond = w->bounds ? sem_bool(c, true) : check_expr(c, w->n->a);
    cond = condition_of(c, cond, w->n->span, "the condition of 'while'");
    if (sem_is_error(cond) || (!go && !sem_is_tile(cond))) return;
    Value *live = go && sem_is_const(cond) ? go : go ? both(c, go, cond->v) : cond->v;
    frame_assign(c, c->live, sem_run(c, ST_I1, live, NULL), (Span){0, 0});
}

static void while_body(Checker *c, While *w, Op *loop, const Sem **returned) {
    Block *block = loop->regions[1];
    Values yields = {0};
    const Binding *before = frame_find(c->frame, c->retval);
    const Sem *retval = before ? before->sem : NULL;
    enter_block(c, block);
    start_iteration(c);
    bind_carried(c, &w->k, block, w->first);
    if (w->bounds) assign_to(c, w->n->a, loop_variable(c, w->bounds, block->args.at[0]), w->n->a->span);
    if (c->by_element) start_elements(c, w, block);
    const Sem *ret = frame_get(c, c->ret);
    block_run(c, &w->n->body);
    c->b.span = w->n->span;
    if (w->bounds) vec_push(c->a, &yields, build2(&c->b, OP_ADD, block->args.at[0], w->step));
    Value *go = w->has_go ? go_value(c, loop_goes_on(c)) : NULL;
    if (go) vec_push(c->a, &yields, c->by_element ? both(c, block->args.at[w->first - 1], go) : go);
    for (uint32_t i = 0; i < w->k.count; i++) carried_next(c, &w->k.at[i], &yields);
    const Binding *after = frame_find(c->frame, c->retval);
    if (after && after->sem && after->sem != retval)
        *returned = carry_returned(c, loop, after->sem, c->by_element ? ret->v : NULL, &yields);
    build_yield(&c->b, yields.at, yields.len);
}

static void build_while_loop(Checker *c, While *w, int leaves) {
    Values inits = {0};
    const Sem *returned = NULL;
    const Node *n = w->n;
    w->k = carries_find(c, n, leaves & LEAVES_RETURN);
    w->has_go = leaves & (LEAVES_BREAK | LEAVES_RETURN);
    w->first = (w->bounds ? 1u : 0u) + (w->has_go ? 1u : 0u);
    if (w->bounds) vec_push(c->a, &inits, w->lo);
    Value *go = w->has_go ? build_int(&c->b, type_scalar(DT_I1), 1) : NULL;
    if (go) vec_push(c->a, &inits, c->by_element ? broadcast_value(c, go, *c->by_element) : go);
    for (uint32_t i = 0; i < w->k.count; i++) carried_init(c, &w->k.at[i], &inits);
    c->b.span = n->span;
    Op *loop = build_while(&c->b, inits.at, inits.len);
    Builder saved = c->b;
    build_condition_block(c, w, loop->regions[0]);
    uint32_t mark = journal_mark(c);
    const Sem *outer = loop_enter(c);
    while_body(c, w, loop, &returned);
    c->b = saved;
    carries_finish(c, &w->k, mark, loop->results + w->first, n->span);
    if (returned) frame_assign(c, c->retval, returned, n->span);
    loop_leave(c, outer);
}

void loop_while(Checker *c, const Node *n) {
    if (n->rest.len) {
        diag(c->d, n->rest.at[0]->span, E_NOT_YET_ELSE);
        return;
    }
    While w = {.n = n};
    build_while_loop(c, &w, list_leaves(&n->body));
}

/* ---- for --------------------------------------------------------------------------------------------------------- */

static void build_for_loop(Checker *c, const Node *n, const Bounds *b, Value *const bounds[3]) {
    Carries k = carries_find(c, n, false);
    Values inits = {0}, yields = {0};
    for (uint32_t i = 0; i < k.count; i++) carried_init(c, &k.at[i], &inits);
    c->b.span = n->span;
    Op *loop = build_for(&c->b, bounds[0], bounds[1], bounds[2], inits.at, inits.len, b->attr);
    Builder saved = c->b;
    Block *block = loop->regions[0];
    uint32_t mark = journal_mark(c);
    const Sem *outer = loop_enter(c);
    enter_block(c, block);
    start_iteration(c);
    bind_carried(c, &k, block, 1);
    assign_to(c, n->a, loop_variable(c, b, block->args.at[0]), n->a->span);
    block_run(c, &n->body);
    c->b.span = n->span;
    for (uint32_t i = 0; i < k.count; i++) carried_next(c, &k.at[i], &yields);
    build_yield(&c->b, yields.at, yields.len);
    c->b = saved;
    carries_finish(c, &k, mark, loop->results, n->span);
    loop_leave(c, outer);
}

/* i32 is enough where nothing has a wide form and the step is 1 or -1: then iv never passes the end. */
static bool needs_wide(const Bounds *b) {
    const Sem *step = b->sem[2];
    int64_t by = 0;
    if (sem_is_number(step) ? step->i.mag != 1 : !value_const(step->v, &by) || by != 1) return true;
    for (int i = 0; i < 3; i++) {
        const Sem *s = b->sem[i];
        if (sem_is_number(s) ? !number_fits(s, ST_I32) : s->wide || stype_bits(s->type) == 64 || s->type == ST_U32)
            return true;
    }
    return false;
}

static bool int_option(Checker *c, Call *call, uint32_t arg, int32_t *out) {
    int64_t x;
    if (!call->arg[arg] || call->arg[arg]->kind == SEM_NONE) return true;
    if (!sem_want_int(c, call->arg[arg], call->at[arg], argument_of(c, call, arg), &x)) return false;
    if (x < 0 || x > 1024) {
        diag(c->d, call->at[arg], E_RANGE_OPTION, argument_of(c, call, arg), (long long)x);
        return false;
    }
    *out = (int32_t)x;
    return true;
}

/* range(end), range(start, end), range(start, end, step). */
void range_arguments(Checker *c, Call *call, const Sem *sem[3], Span at[3]) {
    bool only_end = !call->arg[1];
    sem[0] = only_end ? sem_i64(c, 0) : call->arg[0];
    sem[1] = only_end ? call->arg[0] : call->arg[1];
    sem[2] = call->arg[2] ? call->arg[2] : sem_i64(c, 1);
    at[0] = call->at[0];
    at[1] = only_end ? call->at[0] : call->at[1];
    at[2] = call->arg[2] ? call->at[2] : call->span;
}

static bool read_bounds(Checker *c, Call *call, Bounds *b) {
    range_arguments(c, call, b->sem, b->at);
    bool ok = true;
    for (int i = 0; i < 3; i++) {
        const Sem *s = b->sem[i];
        if (sem_is_value(s) && !sem_is_tile(s) && !stype_is_float(sem_natural(s))) continue;
        diag(c->d, b->at[i], E_RANGE_BOUND, sem_type_text(c, s));
        if (sem_is_value(s) && !sem_is_tile(s)) diag_note(c->d, b->at[i], "convert it first, as in n.to(i32)");
        ok = false;
    }
    if (!ok) return false;
    if (sem_is_number(b->sem[2]) && b->sem[2]->i.mag == 0) {
        diag(c->d, b->at[2], E_RANGE_STEP);
        return false;
    }
    b->type = ST_I32;
    for (int i = 0; i < 3; i++) {
        if (stype_bits(sem_natural(b->sem[i])) == 64) b->type = ST_I64;
        if (sem_is_number(b->sem[i]) && !number_fits(b->sem[i], ST_I64)) {
            diag(c->d, b->at[i], E_RANGE_WIDE, number_text(c, b->sem[i]));
            return false;
        }
    }
    b->wide = b->type == ST_I64 || needs_wide(b);
    b->attr.flatten = call_flag(call, 6, false);
    b->attr.disable_licm = call_flag(call, 7, false);
    return int_option(c, call, 3, &b->attr.num_stages) && int_option(c, call, 4, &b->attr.unroll_factor);
}

/* After an error in its head: the body is still looked at for errors of its own. */
void loop_poisoned(Checker *c, const Node *n) {
    assign_to(c, n->a, &sem_error, n->a->span);
    const Sem *outer = loop_enter(c);
    block_run(c, &n->body);
    frame_assign(c, c->ret, sem_bool(c, false), (Span){0, 0});
    loop_leave(c, outer);
}

/* A loop variable that was of another type before is a new one: after the loop the name is undefined. */
static void start_anew(Checker *c, const Node *target, const Bounds *b) {
    if (target->kind != NODE_NAME) return;
    uint32_t variable = frame_variable(c, target->name);
    Binding now = c->frame->variables.at[variable].now;
    const Sem *s = now.sem;
    if (!s || sem_is_error(s)) return;
    if (sem_is_value(s) && !sem_is_tile(s) && sem_natural(s) == b->type) return;
    frame_set(c, variable, (Binding){.span = now.span, .gap = target->span});
}

static void loop_range(Checker *c, const Node *n, Call *call) {
    Bounds b = {.sem = {NULL}};
    if (!read_bounds(c, call, &b)) {
        loop_poisoned(c, n);
        return;
    }
    start_anew(c, n->a, &b);
    int leaves = list_leaves(&n->body);
    bool as_while = leaves & (LEAVES_BREAK | LEAVES_RETURN);
    b.wide |= as_while;
    if (as_while && b.attr.num_stages > 1 && c->o->remarks)
        diag(c->d, n->span, R_STAGES, "the loop may end early, by break or return");
    Value *v[3];
    for (int i = 0; i < 3; i++) {
        c->b.span = b.at[i];
        v[i] = b.wide ? wide_value(c, b.sem[i]) : convert_to(c, b.sem[i], ST_I32, b.at[i])->v;
    }
    if (!as_while) {
        build_for_loop(c, n, &b, v);
        return;
    }
    While w = {.n = n, .bounds = &b, .lo = v[0], .hi = v[1], .step = v[2]};
    build_while_loop(c, &w, leaves);
}

void loop_for(Checker *c, const Node *n) {
    if (n->rest.len) {
        diag(c->d, n->rest.at[0]->span, E_NOT_YET_ELSE);
        return;
    }
    const Sem *over = n->b->kind == NODE_CALL ? check_expr(c, n->b->a) : check_expr(c, n->b);
    if (over->kind == SEM_BUILTIN && n->b->kind == NODE_CALL && strstr(over->builtin->name, "range")) {
        Call call;
        if (!builtin_bind(c, over, n->b, &call)) {
            loop_poisoned(c, n);
        } else if (over->builtin->aux) {
            loop_static(c, n, &call);
        } else {
            loop_range(c, n, &call);
        }
        return;
    }
    if (n->b->kind == NODE_CALL && !sem_is_error(over)) over = check_expr(c, n->b);
    if (over->kind == SEM_TUPLE) {
        loop_items(c, n, over);
        return;
    }
    if (!sem_is_error(over)) {
        diag(c->d, n->b->span, E_FOR_OVER, sem_type_text(c, over));
        if (sem_is_number(over) || over->kind == SEM_RUN) {
            diag_note(c->d, n->b->span, "a loop that counts is: for i in range(n)");
            diag_fix(c->d, n->b->span, "range(%s)", diag_source_text(c->d, n->b->span));
        }
    }
    loop_poisoned(c, n);
}
