/* parse.y - the grammar of the kernel language. It only builds raw trees: no name is looked up and nothing is evaluated.
 *
 * In: Parser.tokens, where the filter has made INDENT, DEDENT and NEWLINE. Out: Parser.module.
 * Expressions are one rule per level of precedence, loosest first. After an error the parser goes on at the next line, so
 * that every independent error of a file is reported.
 */
%code requires {
#include "syntax/parser.h"
}

%define api.prefix {parse_}
%define api.pure full
%define api.location.type {Span}
%define parse.lac full
%define parse.error custom
%locations
%expect 0
%param { Parser *p }

%union {
    Token token;
    Node *node;
    NodeList *list;
    int op;
}

%code {
#include <string.h>

#define YYMAXDEPTH 200000
#define YYLLOC_DEFAULT(Current, Rhs, N)                                                                                \
    do {                                                                                                               \
        if (N) {                                                                                                       \
            (Current).begin = YYRHSLOC(Rhs, 1).begin;                                                                  \
            (Current).end = YYRHSLOC(Rhs, N).end;                                                                      \
        } else {                                                                                                       \
            (Current).begin = (Current).end = YYRHSLOC(Rhs, 0).end;                                                    \
        }                                                                                                              \
    } while (0)

static int parse_lex(PARSE_STYPE *value, Span *span, Parser *p);
static void parse_error(Span *span, Parser *p, const char *message);

static NodeList *list_one(Parser *p, Node *n) {
    NodeList *l = NEW(p->a, NodeList);
    list_push(p, l, n);
    return l;
}

static NodeList *list_more(Parser *p, NodeList *l, Node *n) {
    list_push(p, l, n);
    return l;
}

static NodeList *list_join(Parser *p, NodeList *l, const NodeList *more) {
    for (uint32_t i = 0; i < more->len; i++) list_push(p, l, more->at[i]);
    return l;
}

static Node *with_a(Parser *p, NodeKind kind, Node *a, Span span) {
    Node *n = node_make(p, kind, span);
    n->a = a;
    return node_finish(p, n);
}

static Node *with_list(Parser *p, NodeKind kind, const NodeList *l, Span span) {
    Node *n = node_make(p, kind, span);
    if (l) n->list = *l;
    return node_finish(p, n);
}

static Node *suite(Parser *p, NodeKind kind, Node *a, const NodeList *body, const NodeList *rest, Span span) {
    Node *n = node_make(p, kind, span);
    n->a = a;
    n->body = *body;
    if (rest) n->rest = *rest;
    return node_finish(p, n);
}

static Node *function(Parser *p, const Token *name, const NodeList *params, NodeList *body, Span all) {
    Node *n = node_make(p, NODE_FUNCTION, name->span);
    n->name = name->name;
    n->integer = all.end;
    if (params) n->list = *params;
    body_drop_docstring(body);
    n->body = *body;
    return node_finish(p, n);
}

static Node *param(Parser *p, const Token *name, Node *type, Node *value, int stars, Span span) {
    Node *n = node_make(p, NODE_PARAM, span);
    n->name = name->name;
    n->a = type;
    n->b = value;
    n->op = (uint8_t)stars;
    return node_finish(p, n);
}

/* *a[dims], *const a[dims]. */
static Node *pointer(Parser *p, const Token *qualifier, Node *a, const NodeList *dims, Span span) {
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

static Node *triple(Parser *p, NodeKind kind, Node *a, Node *b, Node *c, Span span) {
    Node *n = node_make(p, kind, span);
    n->a = a;
    n->b = b;
    n->c = c;
    return node_finish(p, n);
}

static Node *named(Parser *p, NodeKind kind, const Token *name, Node *a, Node *b, Span span) {
    Node *n = node_make(p, kind, span);
    n->name = name->name;
    n->a = a;
    n->b = b;
    return node_finish(p, n);
}

/* a = b = value: the left sides are expressions until here. */
static Node *assign(Parser *p, NodeList *targets, Node *value, Span span) {
    for (uint32_t i = 0; i < targets->len; i++) node_check_target(p, targets->at[i]);
    Node *n = node_make(p, NODE_ASSIGN, span);
    n->list = *targets;
    n->a = value;
    return node_finish(p, n);
}

/* for b in c if list: without its element yet. */
static Node *clause(Parser *p, Node *target, Node *source, const NodeList *conditions, Span span) {
    Node *n = node_make(p, NODE_COMPREHENSION, span);
    n->b = target;
    n->c = source;
    if (conditions) n->list = *conditions;
    return n;
}

/* The element goes into the last clause, each clause into the one before it. */
static Node *comprehension(Parser *p, Node *element, const NodeList *clauses, Span span) {
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
static Node *join_strings(Parser *p, Node *a, const Token *b) {
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
static Node *in_parentheses(Node *n, Span span) {
    if (n->kind == NODE_COMPARE) n->flag = true;
    n->span = span;
    return n;
}

/* A constant at the top level: NAME = value, NAME: type = value. */
static void top_constant(Parser *p, Node *target, Node *type, Node *value, Span span) {
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
static void top_text(Parser *p, const Node *n) {
    if (n->kind == NODE_STRING || p->stop) return;
    diag(p->d, n->span, E_TOP_EXPRESSION);
    diag_note(p->d, (Span){0, 0}, "imports, constants (NAME = 1.5) and decorated functions stand there");
}

/* import a.b binds a, import a.b as c binds c. */
static void import_modules(Parser *p, const NodeList *names) {
    for (uint32_t i = 0; i < names->len; i++) {
        Node *n = names->at[i];
        while (!n->name && n->a->kind == NODE_ATTRIBUTE) n->a = n->a->a;
        if (!n->name) n->name = n->a->name;
        list_push(p, &p->module->imports, n);
    }
}

/* from a.b import c as d: d is a.b.c. module NULL: a file beside this one. */
static void import_from(Parser *p, Node *module, const NodeList *names) {
    for (uint32_t i = 0; names && i < names->len; i++) {
        Node *n = names->at[i], *member = n->a;
        if (!n->name) n->name = member->name;
        n->a = NULL;
        if (module && member->kind == NODE_NAME) {
            n->a = node_make(p, NODE_ATTRIBUTE, n->span);
            n->a->name = member->name;
            n->a->a = module;
        }
        list_push(p, &p->module->imports, n);
    }
}

/* At an INDENT that no ':' announced. That of a head with an error of its own is no second error. */
static void stray_indent(Parser *p, Span span) {
    if (p->follows_bad || p->stop) return;
    diag(p->d, span, E_INDENT);
    diag_note(p->d, (Span){0, 0}, "only the lines after a ':' are indented further");
}

static void top_function(Parser *p, const NodeList *decorators, Node *f) {
    if (decorators || p->is_host) {
        if (decorators) f->rest = *decorators;
        list_push(p, &p->module->items, node_finish(p, f));
        return;
    }
    diag(p->d, f->span, E_UNDECORATED, f->name);
    diag_note(p->d, (Span){0, 0}, "write @kernel(grid=(…,)) above an entry point, @jit above a function that kernels call");
}
}

%token END 0 "the end of the file"
%token <token> NAME "a name" INT "an integer" FLOAT "a number" STRING "a string"
%token NEWLINE "the end of the line" INDENT "an indented block" DEDENT "the end of the block"
%token AND "'and'" AS "'as'" ASSERT "'assert'" BREAK "'break'" CLASS "'class'" CONTINUE "'continue'" DEF "'def'"
%token ELIF "'elif'" ELSE "'else'" FALSE_ "'False'" FOR "'for'" FROM "'from'" IF "'if'" IMPORT "'import'" IN "'in'"
%token IS "'is'" LAMBDA "'lambda'" NONE "'None'" NOT "'not'" OR "'or'" PASS "'pass'" RETURN "'return'" TRUE_ "'True'"
%token WHILE "'while'" UNUSED "a Python keyword that kernels do not have"
%token AUG_ADD "'+='" AUG_SUB "'-='" AUG_MUL "'*='" AUG_DIV "'/='" AUG_FLOORDIV "'//='" AUG_MOD "'%='" AUG_POW "'**='"
%token AUG_MATMUL "'@='" AUG_AND "'&='" AUG_OR "'|='" AUG_XOR "'^='" AUG_SHL "'<<='" AUG_SHR "'>>='"
%token POW "'**'" FLOORDIV "'//'" SHL "'<<'" SHR "'>>'" LE "'<='" GE "'>='" EQ "'=='" NE "'!='" ARROW "'->'"
%token WALRUS "':='" ELLIPSIS "'...'"

%type <node> expr or_test and_test not_test comparison bit_or bit_xor bit_and shift sum term factor power primary atom
%type <node> exprs argument index slice_part stmt simple compound else_if param annotation dim path lambda_param function
%type <node> for_target ann_value clause element starred module_name
%type <list> expr_list arguments argument_list indices block stmts simples simple_list else_opt params param_list dims targets
%type <list> decorators items_opt conditions lambda_params for_targets pairs clauses imported imported_names
%type <op> compare_op augment stray

%%

file: lines END ;
lines: %empty | lines line ;

/* ---- top level ---- */
line:
    NEWLINE
  | import NEWLINE
  | exprs NEWLINE                             { top_text(p, $1); }
  | exprs '=' exprs NEWLINE                   { top_constant(p, $1, NULL, $3, @$); }
  | primary ':' expr '=' exprs NEWLINE        { top_constant(p, $1, $3, $5, @$); }
  | decorators function                       { top_function(p, $1, $2); }
  | function                                  { top_function(p, NULL, $1); }
  | bad_line
  | stray_block
  ;
import:
    IMPORT imported_names                     { import_modules(p, $2); }
  | FROM path IMPORT imported                 { import_from(p, $2, $4); }
  | FROM dots path_opt IMPORT imported        { import_from(p, NULL, $5); }
  ;
dots: '.' | ELLIPSIS | dots '.' | dots ELLIPSIS ;
path_opt: %empty | path ;
imported:
    '*'                                       { $$ = NULL; }
  | imported_names
  | '(' imported_names ')'                    { $$ = $2; }
  | '(' imported_names ',' ')'                { $$ = $2; }
  ;
imported_names:
    module_name                               { $$ = list_one(p, $1); }
  | imported_names ',' module_name            { $$ = list_more(p, $1, $3); }
  ;
module_name:
    path                                      { $$ = with_a(p, NODE_IMPORT, $1, @$); }
  | path AS NAME                              { $$ = named(p, NODE_IMPORT, &$3, $1, NULL, @$); }
  ;
path:
    NAME                                      { $$ = node_leaf(p, NODE_NAME, &$1); }
  | path '.' NAME                             { $$ = named(p, NODE_ATTRIBUTE, &$3, $1, NULL, @$); }
  ;
decorators:
    '@' expr NEWLINE                          { $$ = list_one(p, $2); }
  | decorators '@' expr NEWLINE               { $$ = list_more(p, $1, $3); }
  ;
function:
    DEF NAME '(' params ')' returns ':' block { $$ = function(p, &$2, $4, $8, @$); }
  ;
returns: %empty | ARROW expr ;

/* ---- parameters ---- */
params: %empty { $$ = NULL; } | param_list | param_list ',' ;
param_list:
    param                                     { $$ = list_one(p, $1); }
  | param_list ',' param                      { $$ = list_more(p, $1, $3); }
  ;
param:
    NAME                                      { $$ = param(p, &$1, NULL, NULL, 0, @$); }
  | NAME '=' expr                             { $$ = param(p, &$1, NULL, $3, 0, @$); }
  | NAME ':' annotation                       { $$ = param(p, &$1, $3, NULL, 0, @$); }
  | NAME ':' annotation '=' expr              { $$ = param(p, &$1, $3, $5, 0, @$); }
  | '*' NAME                                  { $$ = param(p, &$2, NULL, NULL, 1, @$); }
  | POW NAME                                  { $$ = param(p, &$2, NULL, NULL, 2, @$); }
  | error                                     { $$ = NULL; }
  ;
annotation:
    expr
  | '*' path                                  { $$ = pointer(p, NULL, $2, NULL, @$); }
  | '*' path '[' dims ']'                     { $$ = pointer(p, NULL, $2, $4, @$); }
  | '*' NAME path                             { $$ = pointer(p, &$2, $3, NULL, @$); }
  | '*' NAME path '[' dims ']'                { $$ = pointer(p, &$2, $3, $5, @$); }
  ;
dims:
    dim                                       { $$ = list_one(p, $1); }
  | dims ',' dim                              { $$ = list_more(p, $1, $3); }
  ;
dim:
    expr                                      { $$ = triple(p, NODE_DIM, $1, NULL, NULL, @$); }
  | expr ':' expr                             { $$ = triple(p, NODE_DIM, $1, $3, NULL, @$); }
  ;

/* ---- statements ---- */
block:
    simples NEWLINE
  | NEWLINE INDENT stmts DEDENT               { $$ = $3; }
  | NEWLINE error                             { $$ = NEW(p->a, NodeList); }
  ;
stmts:
    stmt                                      { $$ = list_one(p, $1); }
  | simples NEWLINE
  | stmts stmt                                { $$ = list_more(p, $1, $2); }
  | stmts simples NEWLINE                     { $$ = list_join(p, $1, $2); }
  ;
simples: simple_list | simple_list ';' ;
simple_list:
    simple                                    { $$ = list_one(p, $1); }
  | simple_list ';' simple                    { $$ = list_more(p, $1, $3); }
  ;
stmt:
    compound
  | bad_line                                  { $$ = NULL; }
  | stray_block                               { $$ = NULL; }
  ;
/* Reduced without a look at the next token, so that an error in that one is reported too. */
bad_line: error NEWLINE                       { yyerrok; p->after_bad = true; } ;
stray_block:                                  /* of a head that was wrong, or of no head at all */
    INDENT stray stmts DEDENT                 { p->after_bad = $2; }
  ;
stray: %empty                                 { $$ = p->follows_bad; stray_indent(p, @$); } ;
simple:
    exprs                                     { $$ = with_a(p, NODE_EXPR, $1, @$); }
  | targets exprs                             { $$ = assign(p, $1, $2, @$); }
  | exprs augment exprs                       { node_check_target(p, $1); $$ = triple(p, NODE_AUGMENT, $1, $3, NULL, @$); $$->op = (uint8_t)$2; }
  | primary ':' expr ann_value                { node_check_target(p, $1); $$ = triple(p, NODE_ANNOTATE, $1, $3, $4, @$); }
  | BREAK                                     { $$ = node_make(p, NODE_BREAK, @$); }
  | CONTINUE                                  { $$ = node_make(p, NODE_CONTINUE, @$); }
  | PASS                                      { $$ = node_make(p, NODE_PASS, @$); }
  | RETURN                                    { $$ = node_make(p, NODE_RETURN, @$); }
  | RETURN exprs                              { $$ = with_a(p, NODE_RETURN, $2, @$); }
  | ASSERT expr                               { $$ = with_a(p, NODE_ASSERT, $2, @$); }
  | ASSERT expr ',' expr                      { $$ = triple(p, NODE_ASSERT, $2, $4, NULL, @$); }
  | import                                    { $$ = node_make(p, NODE_PASS, @$); }
  ;
ann_value: %empty { $$ = NULL; } | '=' exprs { $$ = $2; } ;
targets:
    exprs '='                                 { $$ = list_one(p, $1); }
  | targets exprs '='                         { $$ = list_more(p, $1, $2); }
  ;
augment:
    AUG_ADD { $$ = BIN_ADD; } | AUG_SUB { $$ = BIN_SUB; } | AUG_MUL { $$ = BIN_MUL; } | AUG_DIV { $$ = BIN_DIV; }
  | AUG_FLOORDIV { $$ = BIN_FLOORDIV; } | AUG_MOD { $$ = BIN_MOD; } | AUG_POW { $$ = BIN_POW; } | AUG_MATMUL { $$ = BIN_MATMUL; }
  | AUG_AND { $$ = BIN_AND; } | AUG_OR { $$ = BIN_OR; } | AUG_XOR { $$ = BIN_XOR; } | AUG_SHL { $$ = BIN_SHL; } | AUG_SHR { $$ = BIN_SHR; }
  ;
compound:
    IF expr ':' block else_if                 { $$ = suite(p, NODE_IF, $2, $4, $5 ? list_one(p, $5) : NULL, @$); }
  | IF expr ':' block ELSE ':' block          { $$ = suite(p, NODE_IF, $2, $4, $7, @$); }
  | IF expr ':' block                         { $$ = suite(p, NODE_IF, $2, $4, NULL, @$); }
  | FOR for_target IN exprs ':' block else_opt { $$ = suite(p, NODE_FOR, $2, $6, $7, @$); $$->b = $4; node_finish(p, $$); }
  | WHILE expr ':' block else_opt             { $$ = suite(p, NODE_WHILE, $2, $4, $5, @$); }
  ;
else_if:
    ELIF expr ':' block                       { $$ = suite(p, NODE_IF, $2, $4, NULL, @$); }
  | ELIF expr ':' block ELSE ':' block        { $$ = suite(p, NODE_IF, $2, $4, $7, @$); }
  | ELIF expr ':' block else_if               { $$ = suite(p, NODE_IF, $2, $4, list_one(p, $5), @$); }
  ;
else_opt: %empty { $$ = NULL; } | ELSE ':' block { $$ = $3; } ;
for_target:
    for_targets                               { $$ = $1->len == 1 ? $1->at[0] : with_list(p, NODE_TUPLE, $1, @$); }
  | for_targets ','                           { $$ = with_list(p, NODE_TUPLE, $1, @$); }
  ;
for_targets:
    primary                                   { node_check_target(p, $1); $$ = list_one(p, $1); }
  | for_targets ',' primary                   { node_check_target(p, $3); $$ = list_more(p, $1, $3); }
  ;

/* ---- expressions, loosest first ---- */
exprs:                                        /* a, b: a tuple without parentheses */
    expr
  | expr_list ',' element                     { $$ = with_list(p, NODE_TUPLE, list_more(p, $1, $3), @$); }
  | expr_list ','                             { $$ = with_list(p, NODE_TUPLE, $1, @$); }
  ;
expr_list:
    element                                   { $$ = list_one(p, $1); }
  | expr_list ',' element                     { $$ = list_more(p, $1, $3); }
  ;
element: expr | starred ;
starred: '*' bit_or                           { $$ = with_a(p, NODE_STAR, $2, @$); } ;
expr:                                         /* a if c else b; lambda */
    or_test
  | or_test IF or_test ELSE expr              { $$ = triple(p, NODE_CHOICE, $1, $3, $5, @$); }
  | LAMBDA lambda_params ':' expr             { $$ = with_list(p, NODE_LAMBDA, $2, @$); $$->a = $4; node_finish(p, $$); }
  ;
lambda_params:
    %empty                                    { $$ = NULL; }
  | lambda_param                              { $$ = list_one(p, $1); }
  | lambda_params ',' lambda_param            { $$ = $1 ? list_more(p, $1, $3) : list_one(p, $3); }
  ;
lambda_param:
    NAME                                      { $$ = param(p, &$1, NULL, NULL, 0, @$); }
  | NAME '=' expr                             { $$ = param(p, &$1, NULL, $3, 0, @$); }
  | '*' NAME                                  { $$ = param(p, &$2, NULL, NULL, 1, @$); }
  | POW NAME                                  { $$ = param(p, &$2, NULL, NULL, 2, @$); }
  ;
or_test: and_test | or_test OR and_test       { $$ = node_pair(p, NODE_OR, $1, $3); } ;
and_test: not_test | and_test AND not_test    { $$ = node_pair(p, NODE_AND, $1, $3); } ;
not_test: comparison | NOT not_test           { $$ = node_unary(p, UN_NOT, $2, @$); } ;
comparison: bit_or | comparison compare_op bit_or { $$ = node_compare(p, $1, (CompareOp)$2, $3); } ;
compare_op:
    '<' { $$ = CMP_LT; } | LE { $$ = CMP_LE; } | '>' { $$ = CMP_GT; } | GE { $$ = CMP_GE; } | EQ { $$ = CMP_EQ; } | NE { $$ = CMP_NE; }
  | IN { $$ = CMP_IN; } | NOT IN { $$ = CMP_NOT_IN; } | IS { $$ = CMP_IS; } | IS NOT { $$ = CMP_IS_NOT; }
  ;
bit_or: bit_xor | bit_or '|' bit_xor          { $$ = node_binary(p, BIN_OR, $1, $3); } ;
bit_xor: bit_and | bit_xor '^' bit_and        { $$ = node_binary(p, BIN_XOR, $1, $3); } ;
bit_and: shift | bit_and '&' shift            { $$ = node_binary(p, BIN_AND, $1, $3); } ;
shift:
    sum
  | shift SHL sum                             { $$ = node_binary(p, BIN_SHL, $1, $3); }
  | shift SHR sum                             { $$ = node_binary(p, BIN_SHR, $1, $3); }
  ;
sum:
    term
  | sum '+' term                              { $$ = node_binary(p, BIN_ADD, $1, $3); }
  | sum '-' term                              { $$ = node_binary(p, BIN_SUB, $1, $3); }
  ;
term:
    factor
  | term '*' factor                           { $$ = node_binary(p, BIN_MUL, $1, $3); }
  | term '/' factor                           { $$ = node_binary(p, BIN_DIV, $1, $3); }
  | term FLOORDIV factor                      { $$ = node_binary(p, BIN_FLOORDIV, $1, $3); }
  | term '%' factor                           { $$ = node_binary(p, BIN_MOD, $1, $3); }
  | term '@' factor                           { $$ = node_binary(p, BIN_MATMUL, $1, $3); }
  ;
factor:
    power
  | '-' factor                                { $$ = node_unary(p, UN_NEG, $2, @$); }
  | '+' factor                                { $$ = node_unary(p, UN_POS, $2, @$); }
  | '~' factor                                { $$ = node_unary(p, UN_INVERT, $2, @$); }
  ;
power: primary | primary POW factor           { $$ = node_binary(p, BIN_POW, $1, $3); } ;
primary:                                      /* calls, attributes, indexes */
    atom
  | primary '.' NAME                          { $$ = named(p, NODE_ATTRIBUTE, &$3, $1, NULL, @$); }
  | primary '(' arguments ')'                 { $$ = with_list(p, NODE_CALL, $3, @$); $$->a = $1; node_finish(p, $$); }
  | primary '[' indices ']'                   { $$ = with_list(p, NODE_SUBSCRIPT, $3, @$); $$->a = $1; node_finish(p, $$); }
  | primary '[' indices ',' ']'               { $$ = with_list(p, NODE_SUBSCRIPT, $3, @$); $$->a = $1; node_finish(p, $$); }
  ;
arguments: %empty { $$ = NULL; } | argument_list | argument_list ',' ;
argument_list:
    argument                                  { $$ = list_one(p, $1); }
  | argument_list ',' argument                { $$ = list_more(p, $1, $3); }
  ;
argument:
    expr
  | NAME '=' expr                             { $$ = named(p, NODE_KEYWORD, &$1, $3, NULL, @$); }
  | NAME WALRUS expr                          { $$ = named(p, NODE_KEYWORD, &$1, $3, NULL, @$); diag(p->d, @2, E_WALRUS); }
  | '*' expr                                  { $$ = with_a(p, NODE_STAR, $2, @$); }
  | POW expr                                  { $$ = with_a(p, NODE_STARSTAR, $2, @$); }
  | expr clauses                              { $$ = comprehension(p, $1, $2, @$); }
  ;
conditions: %empty { $$ = NULL; } | conditions IF or_test { $$ = $1 ? list_more(p, $1, $3) : list_one(p, $3); } ;
indices:
    index                                     { $$ = list_one(p, $1); }
  | indices ',' index                         { $$ = list_more(p, $1, $3); }
  ;
index:
    expr
  | slice_part ':' slice_part                 { $$ = triple(p, NODE_SLICE, $1, $3, NULL, @$); }
  | slice_part ':' slice_part ':' slice_part  { $$ = triple(p, NODE_SLICE, $1, $3, $5, @$); }
  ;
slice_part: %empty { $$ = NULL; } | expr ;
atom:
    NAME                                      { $$ = node_leaf(p, NODE_NAME, &$1); }
  | INT                                       { $$ = node_leaf(p, NODE_INT, &$1); }
  | FLOAT                                     { $$ = node_leaf(p, NODE_FLOAT, &$1); }
  | STRING                                    { $$ = node_leaf(p, NODE_STRING, &$1); }
  | atom STRING                               { if ($1->kind == NODE_STRING) $$ = join_strings(p, $1, &$2); else { $$ = $1; diag(p->d, @2, E_STRING_OPERAND); } }
  | TRUE_                                     { $$ = node_make(p, NODE_TRUE, @$); }
  | FALSE_                                    { $$ = node_make(p, NODE_FALSE, @$); }
  | NONE                                      { $$ = node_make(p, NODE_NONE, @$); }
  | ELLIPSIS                                  { $$ = node_make(p, NODE_ELLIPSIS, @$); }
  | '(' ')'                                   { $$ = with_list(p, NODE_TUPLE, NULL, @$); }
  | '(' exprs ')'                             { $$ = in_parentheses($2, @$); }
  | '(' expr clauses ')'                      { $$ = comprehension(p, $2, $3, @$); }
  | '[' items_opt ']'                         { $$ = with_list(p, NODE_LIST, $2, @$); }
  | '[' expr clauses ']'                      { $$ = comprehension(p, $2, $3, @$); }
  | '{' '}'                                   { $$ = with_list(p, NODE_DICT, NULL, @$); }
  | '{' pairs '}'                             { $$ = with_list(p, NODE_DICT, $2, @$); }
  | '{' pairs ',' '}'                         { $$ = with_list(p, NODE_DICT, $2, @$); }
  | '{' expr ':' expr clauses '}'             { $$ = comprehension(p, with_list(p, NODE_TUPLE, list_more(p, list_one(p, $2), $4), @2), $5, @$); }
  | '{' expr_list '}'                         { $$ = with_list(p, NODE_LIST, $2, @$); }
  | '{' expr_list ',' '}'                     { $$ = with_list(p, NODE_LIST, $2, @$); }
  | '{' expr clauses '}'                      { $$ = comprehension(p, $2, $3, @$); }
  ;
clauses:
    clause                                    { $$ = list_one(p, $1); }
  | clauses clause                            { $$ = list_more(p, $1, $2); }
  ;
clause: FOR for_target IN or_test conditions  { $$ = clause(p, $2, $4, $5, @$); } ;
items_opt: %empty { $$ = NULL; } | expr_list | expr_list ',' ;
pairs:
    expr ':' expr                             { $$ = list_more(p, list_one(p, $1), $3); }
  | pairs ',' expr ':' expr                   { $$ = list_more(p, list_more(p, $1, $3), $5); }
  | POW bit_or                                { Node *n = with_a(p, NODE_STARSTAR, $2, @$); $$ = list_more(p, list_one(p, n), n); }
  | pairs ',' POW bit_or                      { Node *n = with_a(p, NODE_STARSTAR, $4, @$); $$ = list_more(p, list_more(p, $1, n), n); }
  ;

%%

static int parse_lex(PARSE_STYPE *value, Span *span, Parser *p) {
    p->follows_bad = p->after_bad;
    p->after_bad = false;
    if (p->stop || p->next >= p->tokens.len) {
        uint32_t end = p->source->base + p->source->len;
        *span = (Span){end, end};
        return END;
    }
    const Token *t = &p->tokens.at[p->next++];
    value->token = *t;
    *span = t->span;
    return t->kind;
}

/* Only "memory exhausted" comes here: the parser's own stack passed its limit. */
static void parse_error(Span *span, Parser *p, const char *message) {
    (void)message;
    if (p->stop) return;
    p->stop = true;
    diag(p->d, *span, E_STATEMENT_DEPTH);
    diag_note(p->d, (Span){0, 0}, "split it over several statements");
}

/* What to do about it, where one can guess. */
static void give_hint(Parser *p, yysymbol_kind_t found) {
    Span nowhere = {0, 0};
    if (found == YYSYMBOL_UNUSED || found == YYSYMBOL_CLASS) diag_note(p->d, nowhere, "a .py file may hold it outside of kernels; kernels and .dsl files may not");
    else if (strcmp(yysymbol_name(found), "'='") == 0) diag_note(p->d, nowhere, "'==' compares; '=' assigns, and stands behind a name at the start of a line");
    else if (found == YYSYMBOL_WALRUS) diag_note(p->d, nowhere, "assign on a line of its own");
}

static bool is_expected(const yysymbol_kind_t *expected, int n, const char *name) {
    for (int i = 0; i < n; i++) {
        if (strcmp(yysymbol_name(expected[i]), name) == 0) return true;
    }
    return false;
}

/* Did the scanner complain about this line? What it left out may be all that is wrong. Errors come in order. */
static bool is_reported(Parser *p, Span span) {
    uint32_t begin = span.begin - p->source->base;
    while (begin > 0 && p->source->text[begin - 1] != '\n') begin--;
    while (p->next_bad < p->bad.len && p->bad.at[p->next_bad] < begin + p->source->base) p->next_bad++;
    return p->next_bad < p->bad.len && p->bad.at[p->next_bad] <= span.begin;
}

static int yyreport_syntax_error(const yypcontext_t *context, Parser *p) {
    enum { SHOWN = 4 };
    yysymbol_kind_t found = yypcontext_token(context), expected[YYNTOKENS];
    Span span = *yypcontext_location(context);
    bool at_end = span.begin >= p->source->base + p->source->len;
    if (p->stop || (at_end && p->is_unclosed) || is_reported(p, span)) return 0;
    if (p->follows_bad && (found == YYSYMBOL_ELSE || found == YYSYMBOL_ELIF)) return 0; /* its if had an error */
    int n = yypcontext_expected_tokens(context, expected, YYNTOKENS);
    if (found == YYSYMBOL_NEWLINE && is_expected(expected, n, "':'")) {
        diag(p->d, span, E_NO_COLON);
        return 0;
    }
    const char *name = yysymbol_name(found);
    if (found == YYSYMBOL_NAME || found == YYSYMBOL_UNUSED) {
        name = arena_printf(p->a, "'%.*s'", (int)(span.end - span.begin), p->source->text + (span.begin - p->source->base));
    }
    if (found == YYSYMBOL_UNUSED || found == YYSYMBOL_CLASS) {
        diag(p->d, span, E_NOT_LANGUAGE, name);
    } else if (n == 0 || n > SHOWN) {
        diag(p->d, span, E_MISPLACED, name);
    } else {
        Text wanted = {0};
        for (int i = 0; i < n; i++) text_printf(&wanted, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", yysymbol_name(expected[i]));
        diag(p->d, span, E_EXPECTED, name, wanted.at);
        text_free(&wanted);
    }
    give_hint(p, found);
    return 0;
}
