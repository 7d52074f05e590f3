/* node.c - making nodes for the grammar, and the dump of a tree.
 *
 * A node's depth is counted when it is finished, from its children's: that bounds every recursion over trees, here and
 * in check. A file that passes the limit gets one error and no more tokens.
 */
#include "syntax/parser.h"

#include "runtime/base/number.h"

#include <string.h>

const char *const node_name[] = {
#define NODE(e, name, ...) name,
#include "syntax/node.def"
#undef NODE
};
const char *const binary_text[] = {
#define BINARY_OP(e, text) text,
#include "syntax/operator.def"
};
const char *const unary_text[] = {
#define UNARY_OP(e, text) text,
#include "syntax/operator.def"
};
const char *const compare_text[] = {
#define COMPARE_OP(e, text) text,
#include "syntax/operator.def"
};

/* ---- Making ------------------------------------------------------------------------------------------------------ */

Node *node_make(Parser *p, NodeKind kind, Span span) {
    Node *n = NEW(p->a, Node);
    n->kind = kind;
    n->span = span;
    n->depth = 1;
    return n;
}

void list_push(Parser *p, NodeList *l, Node *n) {
    if (n) vec_push(p->a, l, n);
}

static void deepen(Node *n, const Node *child) {
    if (child && child->depth >= n->depth) n->depth = child->depth + 1;
}

Node *node_finish(Parser *p, Node *n) {
    const NodeList *lists[] = {&n->list, &n->body, &n->rest};
    deepen(n, n->a);
    deepen(n, n->b);
    deepen(n, n->c);
    for (size_t k = 0; k < COUNT(lists); k++) {
        for (uint32_t i = 0; i < lists[k]->len; i++) deepen(n, lists[k]->at[i]);
    }
    if (n->depth > AST_DEPTH && !p->stop) {
        diag(p->d, n->span, E_NODE_DEPTH, AST_DEPTH);
        diag_note(p->d, (Span){0, 0}, "a long sum is a deep tree; split it over several statements");
        p->stop = true;
    }
    return n;
}

Node *node_unary(Parser *p, UnaryOp op, Node *a, Span span) {
    Node *n = node_make(p, NODE_UNARY, span);
    n->op = (uint8_t)op;
    n->a = a;
    return node_finish(p, n);
}

Node *node_binary(Parser *p, BinaryOp op, Node *a, Node *b) {
    Node *n = node_make(p, NODE_BINARY, span_join(a->span, b->span));
    n->op = (uint8_t)op;
    n->a = a;
    n->b = b;
    return node_finish(p, n);
}

Node *node_pair(Parser *p, NodeKind kind, Node *a, Node *b) {
    Node *n = node_make(p, kind, span_join(a->span, b->span));
    n->a = a;
    n->b = b;
    return node_finish(p, n);
}

/* A chain keeps its operands in one list; `flag` marks a comparison in parentheses, which starts a chain of its own. */
Node *node_compare(Parser *p, Node *left, CompareOp op, Node *right) {
    Node *n = left;
    if (left->kind != NODE_COMPARE || left->flag) {
        n = node_make(p, NODE_COMPARE, left->span);
        list_push(p, &n->list, left);
    }
    list_push(p, &n->list, right);
    uint32_t count = n->list.len - 1;
    if ((count & (count - 1)) == 0) { /* full at every power of two */
        uint8_t *ops = NEW_ARRAY(p->a, uint8_t, count * 2);
        if (count > 1) memcpy(ops, n->ops, count - 1);
        n->ops = ops;
    }
    n->ops[count - 1] = (uint8_t)op;
    n->span = span_join(left->span, right->span);
    if (n != left) return node_finish(p, n);
    deepen(n, right); /* the others are counted: a chain stays linear */
    return n;
}

Node *node_leaf(Parser *p, NodeKind kind, const Token *t) {
    Node *n = node_make(p, kind, t->span);
    n->name = t->name;
    n->integer = t->integer;
    n->real = t->real;
    n->op = t->is_format;
    return n;
}

bool node_check_target(Parser *p, const Node *n) {
    if (n->kind == NODE_NAME || n->kind == NODE_ATTRIBUTE || n->kind == NODE_SUBSCRIPT) return true;
    if (n->kind == NODE_TUPLE || n->kind == NODE_LIST) {
        for (uint32_t i = 0; i < n->list.len; i++) {
            if (!node_check_target(p, n->list.at[i])) return false;
        }
        return true;
    }
    if (p->stop) return false;
    diag(p->d, n->span, E_BAD_TARGET, n->kind == NODE_COMPARE ? "a comparison" : "this expression");
    diag_note(p->d, (Span){0, 0}, "a name, or names separated by commas, stand on the left of '='");
    return false;
}

void body_drop_docstring(NodeList *body) {
    if (body->len == 0 || body->at[0]->kind != NODE_EXPR || body->at[0]->a->kind != NODE_STRING) return;
    if (body->len == 1) {
        body->at[0]->kind = NODE_PASS;
        body->at[0]->a = NULL;
        return;
    }
    body->at++;
    body->len--;
    body->cap--;
}

/* ---- Dump -------------------------------------------------------------------------------------------------------- */

static void walk_list(const NodeList *l, void (*visit)(void *, const Node *), void *context) {
    for (uint32_t i = 0; i < l->len; i++) ast_walk(l->at[i], visit, context);
}

void ast_walk(const Node *n, void (*visit)(void *context, const Node *n), void *context) {
    if (!n) return;
    visit(context, n);
    ast_walk(n->a, visit, context);
    ast_walk(n->b, visit, context);
    ast_walk(n->c, visit, context);
    walk_list(&n->list, visit, context);
    walk_list(&n->body, visit, context);
    walk_list(&n->rest, visit, context);
}

static void print_node(const Node *n, uint32_t indent, const char *role, Text *out);

static void print_text(const char *s, uint64_t n, Text *out) {
    text_printf(out, " \"");
    for (uint64_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\') text_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f) text_printf(out, "\\x%02x", c);
        else text_printf(out, "%c", c);
    }
    text_printf(out, "\"");
}

static void print_list(const NodeList *l, uint32_t indent, const char *role, Text *out) {
    for (uint32_t i = 0; i < l->len; i++) print_node(l->at[i], indent, role, out);
}

static void print_head(const Node *n, Text *out) {
    char number[40];
    text_printf(out, "%s", node_name[n->kind]);
    switch (n->kind) {
    case NODE_STRING: print_text(n->name, n->integer, out); break;
    case NODE_INT: text_printf(out, " %llu", (unsigned long long)n->integer); break;
    case NODE_FLOAT: text_printf(out, " %s", number_format(number, sizeof number, "%.17g", n->real)); break;
    case NODE_UNARY: text_printf(out, " %s", unary_text[n->op]); break;
    case NODE_BINARY: case NODE_AUGMENT: text_printf(out, " %s", binary_text[n->op]); break;
    case NODE_COMPARE:
        for (uint32_t i = 0; i + 1 < n->list.len; i++) text_printf(out, " %s", compare_text[n->ops[i]]);
        break;
    case NODE_POINTER: text_printf(out, n->flag ? " const" : ""); break;
    case NODE_PARAM: text_printf(out, " %s%s", n->op == 2 ? "**" : n->op == 1 ? "*" : "", n->name); break;
    default:
        if (n->name) text_printf(out, " %s", n->name);
    }
    text_printf(out, "\n");
}

/* Children in the order in which they stand in the source, each behind its role. */
static void print_node(const Node *n, uint32_t indent, const char *role, Text *out) {
    static const struct {
        NodeKind kind;
        const char *a, *b, *c, *list;
    } roles[] = {
        {NODE_CHOICE, "value", "if", "else", ""},      {NODE_CALL, "callee", "", "", ""},
        {NODE_SUBSCRIPT, "", "", "", "index"},         {NODE_SLICE, "from", "to", "step", ""},
        {NODE_COMPREHENSION, "element", "for", "in", "if"}, {NODE_LAMBDA, "body", "", "", ""},
        {NODE_ASSIGN, "value", "", "", "target"},      {NODE_AUGMENT, "target", "value", "", ""},
        {NODE_ANNOTATE, "target", "type", "value", ""}, {NODE_IF, "condition", "", "", ""},
        {NODE_FOR, "target", "in", "", ""},            {NODE_WHILE, "condition", "", "", ""},
        {NODE_CONSTANT, "value", "type", "", ""},      {NODE_PARAM, "type", "default", "", ""},
        {NODE_DIM, "extent", "stride", "", ""},
    };
    const char *a = "", *b = "", *c = "", *list = "";
    for (size_t i = 0; i < COUNT(roles); i++) {
        if (roles[i].kind == n->kind) a = roles[i].a, b = roles[i].b, c = roles[i].c, list = roles[i].list;
    }
    text_printf(out, "%*s%s%s", (int)indent * 2, "", role, *role ? ": " : "");
    print_head(n, out);
    if (n->kind == NODE_FUNCTION) print_list(&n->rest, indent + 1, "decorator", out);
    if (n->kind == NODE_ASSIGN) print_list(&n->list, indent + 1, list, out);
    if (n->a) print_node(n->a, indent + 1, a, out);
    if (n->b) print_node(n->b, indent + 1, b, out);
    if (n->c) print_node(n->c, indent + 1, c, out);
    if (n->kind != NODE_ASSIGN) print_list(&n->list, indent + 1, list, out);
    print_list(&n->body, indent + 1, "", out);
    if (n->kind != NODE_FUNCTION) print_list(&n->rest, indent + 1, "else", out);
}

void ast_print(const Module *m, Text *out) {
    text_printf(out, "module\n");
    print_list(&m->items, 1, "", out);
}
