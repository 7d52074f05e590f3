/* tree.c - what the grammar's rules build: nodes, lists, and the module's top level.
 *
 * In: what the symbols of a rule hold. Out: a node with its span, or a list; errors about what the grammar lets
 * through. No name is looked up and nothing is evaluated.
 */
#include "syntax/tree.h"

#include <string.h>

NodeList *tree_list_one(Parser *p, Node *n) {
    NodeList *l = NEW(p->a, NodeList);
    list_push(p, l, n);
    return l;
}

NodeList *tree_list_more(Parser *p, NodeList *l, Node *n) {
    list_push(p, l, n);
    return l;
}

NodeList *tree_list_join(Parser *p, NodeList *l, const NodeList *more) {
    for (uint32_t i = 0; i < more->len; i++) list_push(p, l, more->at[i]);
    return l;
}

Node *tree_with_a(Parser *p, NodeKind kind, Node *a, Span span) {
    Node *n = node_make(p, kind, span);
    n->a = a;
    return node_finish(p, n);
}

Node *tree_with_list(Parser *p, NodeKind kind, const NodeList *l, Span span) {
    Node *n = node_make(p, kind, span);
    if (l) n->list = *l;
    return node_finish(p, n);
}

Node *tree_suite(Parser *p, NodeKind kind, Node *a, const NodeList *body, const NodeList *rest, Span span) {
    Node *n = node_make(p, kind, span);
    n->a = a;
    n->body = *body;
    if (rest) n->rest = *rest;
    return node_finish(p, n);
}

Node *tree_function(Parser *p, const Token *name, const NodeList *params, NodeList *body, Span all) {
    Node *n = node_make(p, NODE_FUNCTION, name->span);
    n->name = name->name;
    n->integer = all.end;
    if (params) n->list = *params;
    body_drop_docstring(body);
    n->body = *body;
    return node_finish(p, n);
}

Node *tree_param(Parser *p, const Token *name, Node *type, Node *value, int stars, Span span) {
    Node *n = node_make(p, NODE_PARAM, span);
    n->name = name->name;
    n->a = type;
    n->b = value;
    n->op = (uint8_t)stars;
    return node_finish(p, n);
}

/* *a[dims], *const a[dims]. */
Node *tree_pointer(Parser *p, const Token *qualifier, Node *a, const NodeList *dims, Span span) {
    Node *n = node_make(p, NODE_POINTER, span);
    n->a = a;
    if (dims) n->list = *dims;
    if (qualifier) {
        n->flag = strcmp(qualifier->name, "const") == 0;
        if (!n->flag) {
            diag(p->d, qualifier->span, E_POINTER_WORD, qualifier->name);
        }
    }
    return node_finish(p, n);
}

Node *tree_triple(Parser *p, NodeKind kind, Node *a, Node *b, Node *c, Span span) {
    Node *n = node_make(p, kind, span);
    n->a = a;
    n->b = b;
    n->c = c;
    return node_finish(p, n);
}

Node *tree_named(Parser *p, NodeKind kind, const Token *name, Node *a, Node *b, Span span) {
    Node *n = node_make(p, kind, span);
    n->name = name->name;
    n->a = a;
    n->b = b;
    return node_finish(p, n);
}

/* a = b = value: the left sides are expressions until here. */
Node *tree_assign(Parser *p, NodeList *targets, Node *value, Span span) {
    for (uint32_t i = 0; i < targets->len; i++) node_check_target(p, targets->at[i]);
    Node *n = node_make(p, NODE_ASSIGN, span);
    n->list = *targets;
    n->a = value;
    return node_finish(p, n);
}

/* for b in c if list: without its element yet. */
Node *tree_clause(Parser *p, Node *target, Node *source, const NodeList *conditions, Span span) {
    Node *n = node_make(p, NODE_COMPREHENSION, span);
    n->b = target;
    n->c = source;
    if (conditions) n->list = *conditions;
    return n;
}

/* The element goes into the last clause, each clause into the one before it. */
Node *tree_comprehension(Parser *p, Node *element, const NodeList *clauses, Span span) {
    Node *inner = element;
    for (uint32_t i = clauses->len; i-- > 0;) {
        Node *n = clauses->at[i];
        n->span = span;
        n->a = inner;
        n->flag = i + 1 < clauses->len;
        inner = node_finish(p, n);
    }
    return inner;
}

/* The joined text lies in a buffer of its own, as large as a power of two: it moves only when that is full. */
Node *tree_join_strings(Parser *p, Node *a, const Token *b) {
    size_t have = (size_t)a->integer, more = (size_t)b->integer, cap = a->flag ? 1 : 0;
    while (cap && cap <= have) cap *= 2;
    char *text = (char *)(uintptr_t)a->name;
    if (have + more + 1 > cap) {
        for (cap = 1; cap <= have + more;) cap *= 2;
        text = arena_alloc(p->a, cap);
        memcpy(text, a->name, have);
    }
    memcpy(text + have, b->name, more + 1);
    a->name = text;
    a->integer += b->integer;
    a->flag = true;
    a->op |= b->is_format;
    a->span = span_join(a->span, b->span);
    return a;
}

/* A comparison in parentheses is an operand, not the start of a chain. */
Node *tree_in_parentheses(Node *n, Span span) {
    if (n->kind == NODE_COMPARE) n->flag = true;
    n->span = span;
    return n;
}

/* A constant at the top level: NAME = value, NAME: type = value. */
void tree_top_constant(Parser *p, Node *target, Node *type, Node *value, Span span) {
    if (target->kind != NODE_NAME) {
        diag(p->d, target->span, E_TOP_CONSTANT);
        return;
    }
    Node *n = node_make(p, NODE_CONSTANT, span);
    n->name = target->name;
    n->a = value;
    n->b = type;
    list_push(p, &p->module->items, node_finish(p, n));
}

/* A docstring of the file is dropped. */
void tree_top_text(Parser *p, const Node *n) {
    if (n->kind == NODE_STRING || p->stop) return;
    diag(p->d, n->span, E_TOP_EXPRESSION);
    diag_note(p->d, (Span){0, 0}, "imports, constants (NAME = 1.5) and decorated functions stand there");
}

/* import a.b binds a, import a.b as c binds c to a.b. */
void tree_import_modules(Parser *p, const NodeList *names) {
    for (uint32_t i = 0; i < names->len; i++) {
        Node *n = names->at[i];
        while (!n->name && n->a->kind == NODE_ATTRIBUTE) n->a = n->a->a;
        if (!n->name) n->name = n->a->name;
        list_push(p, &p->module->imports, n);
    }
}

/* from ..a.b import c as d: two dots, the module a.b (NULL: none), and its member c;
 * of * there is neither name nor member. */
void tree_import_from(Parser *p, int dots, Node *module, const NodeList *names) {
    for (uint32_t i = 0; i < names->len; i++) {
        Node *n = names->at[i];
        n->b = n->a;
        n->a = module;
        n->integer = (uint64_t)dots;
        if (!n->name) n->name = n->b ? n->b->name : "";
        list_push(p, &p->module->imports, n);
    }
}

/* At an INDENT that no ':' announced. That of a head with an error of its own is no second error. */
void tree_stray_indent(Parser *p, Span span) {
    if (p->follows_bad || p->stop) return;
    diag(p->d, span, E_INDENT);
    diag_note(p->d, (Span){0, 0}, "only the lines after a ':' are indented further");
}

void tree_top_function(Parser *p, const NodeList *decorators, Node *f) {
    if (decorators || p->is_host) {
        if (decorators) f->rest = *decorators;
        list_push(p, &p->module->items, node_finish(p, f));
        return;
    }
    diag(p->d, f->span, E_UNDECORATED, f->name);
    diag_note(p->d, (Span){0, 0},
              "write @kernel(grid=(…,)) above an entry point, @jit above a function that kernels call");
}
