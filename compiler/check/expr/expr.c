/* expr.c - expressions: one function a node kind.
 *
 * In: AST. Out: Sems, and the ops that compute them at the checker's builder.
 * Method: operators go to consteval.c when both sides are known at compile time, else to arith.c and compare.c. Every
 * evaluation spends one step of a budget, so that unrolling and inlining end.
 */
#include "check/sema.h"

#include <string.h>

enum {
    STEP_LIMIT = 1000000, /* statements and expressions evaluated in one kernel */
    OP_LIMIT = 40000,     /* ops built: LLVM takes a second for as many in one block, four for twice as many */
    DEPTH_LIMIT = 4500,   /* of evaluations inside each other; more than AST_DEPTH */
};

bool check_spend(Checker *c, Span at) {
    if (c->too_large) return false;
    if (++c->steps <= STEP_LIMIT && c->f->next_op <= OP_LIMIT && c->depth <= DEPTH_LIMIT) return true;
    c->too_large = true;
    if (c->depth > DEPTH_LIMIT) {
        diag(c->d, at, E_EXPRESSION_DEPTH);
    } else {
        diag(c->d, at, E_KERNEL_SIZE);
        diag_note(c->d, at, "it was given up here; take range instead of static_range, or fewer nested calls");
    }
    return false;
}

const Sem *check_binary(Checker *c, BinaryOp op, const Sem *x, const Sem *y, Span at) {
    if (sem_is_error(x) || sem_is_error(y)) return &sem_error;
    if (op == BIN_MATMUL) {
        diag(c->d, at, E_NOT_YET_MATMUL);
        return &sem_error;
    }
    const Sem *r = const_binary(c, op, x, y, at);
    return r ? r : arith_binary(c, op, x, y, at);
}

static void note_two(Checker *c, uint32_t errors, const Node *a, const Node *b, const Sem *x, const Sem *y) {
    Operands o = {(Span[]){a->span, b->span}, (const Sem *[]){x, y}, 2, NULL, NULL};
    note_origins(c, errors, &o);
}

const Sem *binary_node(Checker *c, const Node *n, const Sem *x, const Sem *y) {
    uint32_t errors = diag_errors(c->d);
    const Sem *r = check_binary(c, (BinaryOp)n->op, x, y, n->span);
    note_two(c, errors, n->a, n->b, x, y);
    return r;
}

const Sem *check_compare(Checker *c, CompareOp op, const Sem *x, const Sem *y, Span at) {
    if (sem_is_error(x) || sem_is_error(y)) return &sem_error;
    const Sem *r = const_compare(c, op, x, y, at);
    return r ? r : arith_compare(c, op, x, y, at);
}

static const Sem *unary(Checker *c, const Node *n) {
    const Sem *x = check_expr(c, n->a);
    if (sem_is_error(x)) return x;
    const Sem *r = const_unary(c, (UnaryOp)n->op, x, n->span);
    if (n->op == UN_NOT && sem_is_tile(x) && !x->is_pointer && tile_logic(c, n, "not", "~x, or x == 0 for numbers"))
        return x->type == ST_I1 ? arith_unary(c, UN_INVERT, x, n->span)
                                : arith_compare(c, CMP_EQ, x, sem_i64(c, 0), n->span);
    return r ? r : arith_unary(c, (UnaryOp)n->op, x, n->span);
}

/* a < b < c as (a < b) & (b < c) */
static void fix_chain(Checker *c, const Node *n) {
    Text fix = {0};
    for (uint32_t i = 1; i < n->list.len; i++)
        text_printf(&fix, "%s(%s %s %s)", i > 1 ? " & " : "", diag_source_text(c->d, n->list.at[i - 1]->span),
                    compare_text[n->ops[i - 1]], diag_source_text(c->d, n->list.at[i]->span));
    diag_fix(c->d, n->span, *diag_source_text(c->d, n->span) == '(' ? "(%s)" : "%s", fix.at);
    text_free(&fix);
}

/* a < b < c: every pair must hold. */
static const Sem *chain(Checker *c, const Node *n) {
    const Sem *x = check_expr(c, n->list.at[0]), *all = NULL;
    for (uint32_t i = 1; i < n->list.len; i++) {
        const Sem *y = check_expr(c, n->list.at[i]);
        Span at = span_join(n->list.at[i - 1]->span, n->list.at[i]->span);
        uint32_t errors = diag_errors(c->d);
        const Sem *r = check_compare(c, (CompareOp)n->ops[i - 1], x, y, at);
        note_two(c, errors, n->list.at[i - 1], n->list.at[i], x, y);
        x = y;
        if (n->list.len == 2 || sem_is_error(r)) return r;
        if (sem_is_const(r)) {
            if (!const_truth(r)) return r;
            if (!all) all = r;
            continue;
        }
        if (sem_is_tile(r)) {
            diag(c->d, n->span, E_TILE_CHAIN);
            diag_note(c->d, n->span, "write it as (a < b) & (b < c)");
            fix_chain(c, n);
            return &sem_error;
        }
        all = all && !sem_is_const(all) ? arith_binary(c, BIN_AND, all, r, at) : r;
    }
    return all;
}

typedef struct Items {
    Checker *c;
    VEC(const Sem *) list;
    bool poisoned;
} Items;

static void add_item(Items *t, const Sem *s) {
    vec_push(t->c->a, &t->list, s);
    t->poisoned |= sem_is_error(s);
}

/* *t in a tuple: its items. */
static void add_starred(Items *t, const Node *n) {
    const Sem *s = check_expr(t->c, n->a);
    for (uint32_t i = 0; s->kind == SEM_TUPLE && i < s->count; i++) add_item(t, s->items[i]);
    if (s->kind == SEM_TUPLE) return;
    if (!sem_is_error(s)) diag(t->c->d, n->span, E_STAR_TUPLE, sem_type_text(t->c, s));
    t->poisoned = true;
}

static const Sem *tuple(Checker *c, const Node *n) {
    Items t = {.c = c};
    for (uint32_t i = 0; i < n->list.len; i++) {
        if (n->list.at[i]->kind == NODE_STAR) add_starred(&t, n->list.at[i]);
        else add_item(&t, check_expr(c, n->list.at[i]));
    }
    return t.poisoned ? &sem_error : sem_limited(c, sem_tuple(c, t.list.at, t.list.len), n->span);
}

/* ---- Comprehensions: over what is a tuple at compile time -------------------------------------------------------- */

bool comprehension_walk(Checker *c, const Node *n, EachElement *each, void *context) {
    const Sem *s = check_iterable(c, n->c);
    if (s->kind != SEM_TUPLE) {
        if (sem_is_error(s)) return false;
        diag(c->d, n->c->span, E_COMPREHENSION, sem_type_text(c, s));
        return false;
    }
    bool ok = true;
    for (uint32_t i = 0; ok && i < s->count && check_spend(c, n->span); i++) {
        bool wanted = true;
        assign_to(c, n->b, s->items[i], n->b->span);
        for (uint32_t k = 0; wanted && k < n->list.len; k++) {
            const Sem *cond = check_expr(c, n->list.at[k]);
            if (!sem_want_bool(c, cond, n->list.at[k]->span, "the condition of 'for ... if'", &wanted)) return false;
        }
        if (!wanted) continue;
        if (n->flag) ok = comprehension_walk(c, n->a, each, context);
        else each(context, n->a);
    }
    return ok;
}

static void add_element(void *context, const Node *element) {
    Items *t = context;
    add_item(t, check_expr(t->c, element));
}

/* Its names are its own: they are as before afterwards. */
static const Sem *comprehension(Checker *c, const Node *n) {
    Items t = {.c = c};
    uint32_t mark = journal_mark(c);
    bool ok = comprehension_walk(c, n, add_element, &t);
    journal_undo(c, mark);
    return ok && !t.poisoned ? sem_limited(c, sem_tuple(c, t.list.at, t.list.len), n->span) : &sem_error;
}

static const Sem *refuse(Checker *c, const Node *n, const char *what) {
    diag(c->d, n->span, E_NOT_YET_WHAT, what);
    return &sem_error;
}

static const Sem *text(Checker *c, const Node *n) {
    if (strlen(n->name) != n->integer) {
        diag(c->d, n->span, E_NUL_TEXT);
        diag_note(c->d, n->span, "write r'\\0' for the two characters");
        return &sem_error;
    }
    return n->op ? format_string(c, n) : sem_string(c, n->name);
}

static const Sem *evaluate(Checker *c, const Node *n) {
    switch (n->kind) {
    case NODE_NAME: return scope_lookup(c, n->name, n->span);
    case NODE_INT: return sem_int(c, int_unsigned(n->integer));
    case NODE_FLOAT: return sem_float(c, n->real);
    case NODE_STRING: return text(c, n);
    case NODE_TRUE: return sem_bool(c, true);
    case NODE_FALSE: return sem_bool(c, false);
    case NODE_NONE: return &sem_none;
    case NODE_UNARY: return unary(c, n);
    case NODE_BINARY: {
        const Sem *x = check_expr(c, n->a), *y = check_expr(c, n->b);
        return binary_node(c, n, x, y);
    }
    case NODE_COMPARE: return chain(c, n);
    case NODE_AND:
    case NODE_OR: return short_circuit(c, n);
    case NODE_CHOICE: return check_choose(c, n);
    case NODE_CALL: return check_call(c, n);
    case NODE_ATTRIBUTE: return check_attribute(c, n);
    case NODE_SUBSCRIPT: return check_subscript(c, n);
    case NODE_TUPLE:
    case NODE_LIST: return tuple(c, n);
    case NODE_ELLIPSIS: return refuse(c, n, "'...'");
    case NODE_DICT: return refuse(c, n, "a dict");
    case NODE_LAMBDA: return refuse(c, n, "a lambda");
    case NODE_COMPREHENSION: return comprehension(c, n);
    case NODE_STAR: return refuse(c, n, "'*' here");
    case NODE_KEYWORD: return refuse(c, n, "a bound given by its name");
    case NODE_STARSTAR: return refuse(c, n, "'**' here");
    default: bug("expr: node %s is no expression", node_name[n->kind]);
    }
}

const Sem *check_expr(Checker *c, const Node *n) {
    c->depth++;
    const Sem *s = check_spend(c, n->span) ? evaluate(c, n) : &sem_error;
    c->depth--;
    return s;
}
