/* tree.h - the actions of the grammar, one function a form of the language; for parse.y alone. */
#ifndef FSC_SYNTAX_TREE_H
#define FSC_SYNTAX_TREE_H

#include "syntax/parser.h"

NodeList *tree_list_one(Parser *p, Node *n);
NodeList *tree_list_more(Parser *p, NodeList *l, Node *n);
NodeList *tree_list_join(Parser *p, NodeList *l, const NodeList *more);
Node *tree_with_a(Parser *p, NodeKind kind, Node *a, Span span);
Node *tree_with_list(Parser *p, NodeKind kind, const NodeList *l, Span span);
Node *tree_suite(Parser *p, NodeKind kind, Node *a, const NodeList *body, const NodeList *rest, Span span);
Node *tree_function(Parser *p, const Token *name, const NodeList *params, NodeList *body, Span all);
Node *tree_param(Parser *p, const Token *name, Node *type, Node *value, int stars, Span span);
Node *tree_pointer(Parser *p, const Token *qualifier, Node *a, const NodeList *dims, Span span);
Node *tree_triple(Parser *p, NodeKind kind, Node *a, Node *b, Node *c, Span span);
Node *tree_named(Parser *p, NodeKind kind, const Token *name, Node *a, Node *b, Span span);
Node *tree_assign(Parser *p, NodeList *targets, Node *value, Span span);
Node *tree_clause(Parser *p, Node *target, Node *source, const NodeList *conditions, Span span);
Node *tree_comprehension(Parser *p, Node *element, const NodeList *clauses, Span span);
Node *tree_join_strings(Parser *p, Node *a, const Token *b);
Node *tree_in_parentheses(Node *n, Span span);
void tree_top_constant(Parser *p, Node *target, Node *type, Node *value, Span span);
void tree_top_text(Parser *p, const Node *n);
void tree_import_modules(Parser *p, const NodeList *names);
void tree_import_from(Parser *p, int dots, Node *module, const NodeList *names);
void tree_stray_indent(Parser *p, Span span);
void tree_top_function(Parser *p, const NodeList *decorators, Node *f);

#endif
