/* flow.c - dynamic branches, and what leaves a list early: structured `if` without any jump.
 *
 * In: IF, CHOICE, AND, OR nodes whose condition is known only at run time. Out: `if` ops with the merged variables.
 * Method: each arm runs in a block of its own from the same bindings and is undone; where one arm ends early (return,
 * break, continue) the rest of the list moves into the other. The hidden variable `$live` merges like any other, so a
 * path that ended inside nested branches shows as a run-time truth value, and the rest runs under `if $live`.
 */
#include "check/sema.h"

Liveness flow_state(Checker *c) {
    const Sem *s = frame_get(c, c->live);
    if (s->kind == SEM_RUN) return FLOW_MAYBE;
    return sem_is_error(s) || const_truth(s) ? FLOW_LIVE : FLOW_DEAD;
}

void flow_stop(Checker *c) {
    frame_assign(c, c->live, sem_bool(c, false), (Span){0, 0});
}

/* ---- Arms -------------------------------------------------------------------------------------------------------- */

static Arm arm_create(Checker *c) {
    return (Arm){.block = block_create(c->f, NULL), .state = FLOW_LIVE};
}

/* From the present bindings, changed by what the arm did so far. */
static void arm_run(Checker *c, Arm *arm, const Rest *rest) {
    Builder saved = c->b;
    uint32_t mark = journal_mark(c);
    for (uint32_t i = 0; i < arm->outcomes.count; i++) {
        frame_set(c, arm->outcomes.at[i].variable, arm->outcomes.at[i].then);
    }
    c->b.block = arm->block;
    c->b.before = NULL;
    rest_run(c, rest);
    arm->state = flow_state(c);
    arm->outcomes = journal_collect(c, mark);
    journal_undo(c, mark);
    c->b = saved;
}

static Arm arm_expression(Checker *c, const Node *n) {
    Builder saved = c->b;
    Arm arm = arm_create(c);
    c->b.block = arm.block;
    c->b.before = NULL;
    arm.value = check_expr(c, n);
    c->b = saved;
    return arm;
}

bool if_dynamic(Checker *c, const Node *n, const Sem *cond, const Rest *rest) {
    Arm arms[2] = {arm_create(c), arm_create(c)};
    Rest body = {n->body.at, n->body.len, NULL}, other = {n->rest.at, n->rest.len, NULL};
    arm_run(c, &arms[0], &body);
    bool ends0 = arms[0].state == FLOW_DEAD;
    if (ends0) other.next = rest;
    arm_run(c, &arms[1], &other);
    bool ends1 = !ends0 && arms[1].state == FLOW_DEAD;
    if (ends1) arm_run(c, &arms[0], rest);
    c->b.span = n->a->span;
    arms_merge(c, cond, arms, n->a->span);
    return ends0 || ends1;
}

/* On a live path neither a break nor a return happened before. */
static void set_live(Checker *c, Arm *arm, bool live) {
    const char *const names[] = {c->live, c->brk, c->ret};
    arm->outcomes = (Outcomes){NEW_ARRAY(c->a, Outcome, COUNT(names)), 0};
    arm->state = live ? FLOW_LIVE : FLOW_DEAD;
    for (size_t i = 0; i < (live ? COUNT(names) : 1); i++) {
        if (frame_get(c, names[i])->kind != SEM_RUN) continue;
        Binding b = {.sem = sem_bool(c, live && i == 0)};
        arm->outcomes.at[arm->outcomes.count++] = (Outcome){frame_variable(c, names[i]), b};
    }
}

void rest_if_live(Checker *c, const Rest *rest) {
    const Sem *live = frame_get(c, c->live);
    Arm arms[2] = {arm_create(c), arm_create(c)};
    Span at = rest->count ? rest->list[0]->span : c->b.span;
    set_live(c, &arms[0], true);
    set_live(c, &arms[1], false);
    arm_run(c, &arms[0], rest);
    c->b.span = at;
    arms_merge(c, live, arms, at);
}

/* ---- Expressions that choose ------------------------------------------------------------------------------------- */

const Sem *check_choose(Checker *c, const Node *n) {
    const Sem *cond = condition_of(c, check_expr(c, n->b), n->b->span, "the condition of 'if … else'");
    if (sem_is_error(cond)) return cond;
    if (sem_is_const(cond)) return check_expr(c, const_truth(cond) ? n->a : n->c);
    Arm arms[2] = {arm_expression(c, n->a), arm_expression(c, n->c)};
    c->b.span = n->span;
    return arms_value(c, cond, arms, n->span);
}

/* Triton takes a tile here and warns that it will not for long: so do its files. */
bool tile_logic(Checker *c, const Node *n, const char *word, const char *instead) {
    if (c->by_element) return true;
    if (!triton_rules(c)) return false;
    diag(c->d, n->span, W_TILE_LOGIC, word);
    diag_note(c->d, n->span, "write %s, which says so; '%s' is for scalars", instead, word);
    return true;
}

static const Sem *elements_truth(Checker *c, const Sem *s, Span at) {
    if (!sem_is_tile(s)) return condition_of(c, s, at, "an operand of logic");
    if (s->type == ST_I1 && !s->is_pointer) return s;
    return arith_compare(c, CMP_NE, s, sem_i64(c, 0), at);
}

/* x and y, of which one is a tile, as Triton has it: the truth of each element. */
static const Sem *logic_of_tiles(Checker *c, const Node *n, const Sem *x, const Sem *y) {
    BinaryOp op = n->kind == NODE_AND ? BIN_AND : BIN_OR;
    c->b.span = n->span;
    if (sem_is_const(y)) return const_truth(y) == (op == BIN_AND) ? elements_truth(c, x, n->a->span) : y;
    const Sem *a = elements_truth(c, x, n->a->span), *b = elements_truth(c, y, n->b->span);
    return sem_is_error(a) || sem_is_error(b) ? &sem_error : arith_binary(c, op, a, b, n->span);
}

static bool refuse_tile(Checker *c, const Node *n, const Sem *s, Span at) {
    if (!sem_is_tile(s)) return false;
    bool is_and = n->kind == NODE_AND;
    diag(c->d, at, E_LOGIC_SCALAR, is_and ? "and" : "or", sem_type_text(c, s));
    diag_note(c->d, at, "per element write (a) %s (b), with the parentheses", is_and ? "&" : "|");
    const char *whole = diag_source_text(c->d, n->span);
    diag_fix(c->d, n->span, *whole == '(' ? "((%s) %s (%s))" : "(%s) %s (%s)", diag_source_text(c->d, n->a->span),
             is_and ? "&" : "|", diag_source_text(c->d, n->b->span));
    return true;
}

/* Ops that may run although their result is not needed. */
static bool runs_freely(const Block *b) {
    uint32_t count = 0;
    for (const Op *op = b->first; op; op = op->next) {
        if (!op_is_pure(op->kind) || ++count > 16) return false;
    }
    return true;
}

void block_splice(Checker *c, Block *from) {
    Block *to = c->b.block;
    for (Op *op = from->first; op; op = op->next) op->parent = to;
    if (!from->first) return;
    from->first->prev = to->last;
    if (to->last)
        to->last->next = from->first;
    else
        to->first = from->first;
    to->last = from->last;
    from->first = from->last = NULL;
}

const Sem *short_circuit(Checker *c, const Node *n) {
    bool is_and = n->kind == NODE_AND;
    const Sem *x = check_expr(c, n->a);
    if (sem_is_error(x)) return (check_expr(c, n->b), x);
    if (sem_is_const(x)) return const_truth(x) == is_and ? check_expr(c, n->b) : x;
    if (sem_is_tile(x) && tile_logic(c, n, is_and ? "and" : "or", is_and ? "(a) & (b)" : "(a) | (b)")) {
        const Sem *y = check_expr(c, n->b);
        return sem_is_error(y) ? y : logic_of_tiles(c, n, x, y);
    }
    if (refuse_tile(c, n, x, n->a->span)) return (check_expr(c, n->b), &sem_error);
    x = condition_of(c, x, n->a->span, is_and ? "the operand of 'and'" : "the operand of 'or'");
    Arm right = arm_expression(c, n->b);
    if (sem_is_error(x) || sem_is_error(right.value)) return &sem_error;
    if (sem_is_tile(right.value) && tile_logic(c, n, is_and ? "and" : "or", is_and ? "(a) & (b)" : "(a) | (b)")) {
        block_splice(c, right.block);
        return logic_of_tiles(c, n, x, right.value);
    }
    if (refuse_tile(c, n, right.value, n->b->span)) return &sem_error;
    if (sem_is_const(right.value)) return const_truth(right.value) == is_and ? x : sem_bool(c, !is_and);
    Builder saved = c->b;
    c->b.block = right.block;
    right.value = condition_of(c, right.value, n->b->span, is_and ? "the operand of 'and'" : "the operand of 'or'");
    c->b = saved;
    if (sem_is_error(right.value)) return right.value;
    c->b.span = n->span;
    if (runs_freely(right.block)) {
        block_splice(c, right.block);
        return sem_run(c, ST_I1, build2(&c->b, is_and ? OP_AND : OP_OR, x->v, right.value->v), NULL);
    }
    Arm left = arm_create(c);
    left.value = sem_bool(c, !is_and);
    Arm arms[2] = {is_and ? right : left, is_and ? left : right};
    return arms_value(c, x, arms, n->span);
}

/* ---- What leaves a list ------------------------------------------------------------------------------------------ */

int list_leaves(const NodeList *list) {
    int found = 0;
    for (uint32_t i = 0; i < list->len; i++) {
        const Node *n = list->at[i];
        if (n->kind == NODE_BREAK) found |= LEAVES_BREAK;
        if (n->kind == NODE_CONTINUE) found |= LEAVES_CONTINUE;
        if (n->kind == NODE_RETURN) found |= LEAVES_RETURN;
        if (n->kind == NODE_IF) found |= list_leaves(&n->body) | list_leaves(&n->rest);
        if (n->kind == NODE_FOR || n->kind == NODE_WHILE) found |= list_leaves(&n->body) & LEAVES_RETURN;
    }
    return found;
}
