/* parse.y - the grammar of the kernel language. It only builds raw trees:
 * no name is looked up and nothing is evaluated.
 *
 * In: Parser.tokens, where the filter has made INDENT, DEDENT and NEWLINE. Out: Parser.module.
 * Expressions are one rule per level of precedence, loosest first. After an error the parser goes on at the next line,
 * so that every independent error of a file is reported.
 */
%code requires {
#include "syntax/tree.h"
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
}

%token END 0 "the end of the file"
%token <token> NAME "a name" INT "an integer" FLOAT "a number" STRING "a string"
%token NEWLINE "the end of the line" INDENT "an indented block" DEDENT "the end of the block"
%token AND "'and'" AS "'as'" ASSERT "'assert'" BREAK "'break'" CLASS "'class'" CONTINUE "'continue'" DEF "'def'"
%token ELIF "'elif'" ELSE "'else'" FALSE_ "'False'" FOR "'for'" FROM "'from'" IF "'if'" IMPORT "'import'" IN "'in'"
%token IS "'is'" LAMBDA "'lambda'" NONE "'None'" NOT "'not'" OR "'or'" PASS "'pass'" RETURN "'return'" TRUE_ "'True'"
%token RAISE "'raise'" WHILE "'while'" UNUSED "a Python keyword that kernels do not have"
%token AUG_ADD "'+='" AUG_SUB "'-='" AUG_MUL "'*='" AUG_DIV "'/='" AUG_FLOORDIV "'//='" AUG_MOD "'%='" AUG_POW "'**='"
%token AUG_MATMUL "'@='" AUG_AND "'&='" AUG_OR "'|='" AUG_XOR "'^='" AUG_SHL "'<<='" AUG_SHR "'>>='"
%token POW "'**'" FLOORDIV "'//'" SHL "'<<'" SHR "'>>'" LE "'<='" GE "'>='" EQ "'=='" NE "'!='" ARROW "'->'"
%token WALRUS "':='" ELLIPSIS "'...'"

%type <node> expr or_test and_test not_test comparison bit_or bit_xor bit_and shift sum term factor power primary atom
%type <node> exprs argument index slice_part stmt simple compound else_if param annotation dim path lambda_param
%type <node> function
%type <node> for_target ann_value clause element starred module_name path_opt
%type <list> expr_list arguments argument_list indices block stmts simples simple_list else_opt params param_list dims
%type <list> targets
%type <list> decorators items_opt conditions lambda_params for_targets pairs clauses imported imported_names
%type <op> compare_op augment stray dots

%%

file: lines END ;
lines: %empty | lines line ;

/* ---- top level ---- */
line:
    NEWLINE
  | imports NEWLINE
  | exprs NEWLINE                             { tree_top_text(p, $1); }
  | exprs '=' exprs NEWLINE                   { tree_top_constant(p, $1, NULL, $3, @$); }
  | primary ':' expr '=' exprs NEWLINE        { tree_top_constant(p, $1, $3, $5, @$); }
  | decorators function                       { tree_top_function(p, $1, $2); }
  | function                                  { tree_top_function(p, NULL, $1); }
  | bad_line
  | stray_block
  ;
imports: import | imports ';' import | imports ';' ;
import:
    IMPORT imported_names                     { tree_import_modules(p, $2); }
  | FROM path IMPORT imported                 { tree_import_from(p, 0, $2, $4); }
  | FROM dots path_opt IMPORT imported        { tree_import_from(p, $2, $3, $5); }
  ;
dots:
    '.'                                       { $$ = 1; }
  | ELLIPSIS                                  { $$ = 3; }
  | dots '.'                                  { $$ = $1 + 1; }
  | dots ELLIPSIS                             { $$ = $1 + 3; }
  ;
path_opt: %empty { $$ = NULL; } | path ;
imported:
    '*'                                       { $$ = tree_list_one(p, node_make(p, NODE_IMPORT, @$)); }
  | imported_names
  | '(' imported_names ')'                    { $$ = $2; }
  | '(' imported_names ',' ')'                { $$ = $2; }
  ;
imported_names:
    module_name                               { $$ = tree_list_one(p, $1); }
  | imported_names ',' module_name            { $$ = tree_list_more(p, $1, $3); }
  ;
module_name:
    path                                      { $$ = tree_with_a(p, NODE_IMPORT, $1, @$); }
  | path AS NAME                              { $$ = tree_named(p, NODE_IMPORT, &$3, $1, NULL, @$); }
  ;
path:
    NAME                                      { $$ = node_leaf(p, NODE_NAME, &$1); }
  | path '.' NAME                             { $$ = tree_named(p, NODE_ATTRIBUTE, &$3, $1, NULL, @$); }
  ;
decorators:
    '@' expr NEWLINE                          { $$ = tree_list_one(p, $2); }
  | decorators '@' expr NEWLINE               { $$ = tree_list_more(p, $1, $3); }
  ;
function:
    DEF NAME '(' params ')' returns ':' block { $$ = tree_function(p, &$2, $4, $8, @$); }
  ;
returns: %empty | ARROW expr ;

/* ---- parameters ---- */
params: %empty { $$ = NULL; } | param_list | param_list ',' ;
param_list:
    param                                     { $$ = tree_list_one(p, $1); }
  | param_list ',' param                      { $$ = tree_list_more(p, $1, $3); }
  ;
param:
    NAME                                      { $$ = tree_param(p, &$1, NULL, NULL, 0, @$); }
  | NAME '=' expr                             { $$ = tree_param(p, &$1, NULL, $3, 0, @$); }
  | NAME ':' annotation                       { $$ = tree_param(p, &$1, $3, NULL, 0, @$); }
  | NAME ':' annotation '=' expr              { $$ = tree_param(p, &$1, $3, $5, 0, @$); }
  | '*' NAME                                  { $$ = tree_param(p, &$2, NULL, NULL, 1, @$); }
  | POW NAME                                  { $$ = tree_param(p, &$2, NULL, NULL, 2, @$); }
  | error                                     { $$ = NULL; }
  ;
annotation:
    expr
  | '*' path                                  { $$ = tree_pointer(p, NULL, $2, NULL, @$); }
  | '*' path '[' dims ']'                     { $$ = tree_pointer(p, NULL, $2, $4, @$); }
  | '*' NAME path                             { $$ = tree_pointer(p, &$2, $3, NULL, @$); }
  | '*' NAME path '[' dims ']'                { $$ = tree_pointer(p, &$2, $3, $5, @$); }
  ;
dims:
    dim                                       { $$ = tree_list_one(p, $1); }
  | dims ',' dim                              { $$ = tree_list_more(p, $1, $3); }
  ;
dim:
    expr                                      { $$ = tree_triple(p, NODE_DIM, $1, NULL, NULL, @$); }
  | expr ':' expr                             { $$ = tree_triple(p, NODE_DIM, $1, $3, NULL, @$); }
  ;

/* ---- statements ---- */
block:
    simples NEWLINE
  | NEWLINE INDENT stmts DEDENT               { $$ = $3; }
  | NEWLINE error                             { $$ = NEW(p->a, NodeList); }
  ;
stmts:
    stmt                                      { $$ = tree_list_one(p, $1); }
  | simples NEWLINE
  | stmts stmt                                { $$ = tree_list_more(p, $1, $2); }
  | stmts simples NEWLINE                     { $$ = tree_list_join(p, $1, $2); }
  ;
simples: simple_list | simple_list ';' ;
simple_list:
    simple                                    { $$ = tree_list_one(p, $1); }
  | simple_list ';' simple                    { $$ = tree_list_more(p, $1, $3); }
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
stray: %empty                                 { $$ = p->follows_bad; tree_stray_indent(p, @$); } ;
simple:
    exprs                                     { $$ = tree_with_a(p, NODE_EXPR, $1, @$); }
  | targets exprs                             { $$ = tree_assign(p, $1, $2, @$); }
  | exprs augment exprs                       { node_check_target(p, $1);
                                                $$ = tree_triple(p, NODE_AUGMENT, $1, $3, NULL, @$);
                                                $$->op = (uint8_t)$2; }
  | primary ':' expr ann_value                { node_check_target(p, $1);
                                                $$ = tree_triple(p, NODE_ANNOTATE, $1, $3, $4, @$); }
  | BREAK                                     { $$ = node_make(p, NODE_BREAK, @$); }
  | CONTINUE                                  { $$ = node_make(p, NODE_CONTINUE, @$); }
  | PASS                                      { $$ = node_make(p, NODE_PASS, @$); }
  | RETURN                                    { $$ = node_make(p, NODE_RETURN, @$); }
  | RETURN exprs                              { $$ = tree_with_a(p, NODE_RETURN, $2, @$); }
  | ASSERT expr                               { $$ = tree_with_a(p, NODE_ASSERT, $2, @$); }
  | ASSERT expr ',' expr                      { $$ = tree_triple(p, NODE_ASSERT, $2, $4, NULL, @$); }
  | RAISE expr                                { $$ = tree_with_a(p, NODE_RAISE, $2, @$); }
  | RAISE expr FROM expr                      { $$ = tree_with_a(p, NODE_RAISE, $2, @$); }
  | import                                    { $$ = node_make(p, NODE_PASS, @$); }
  ;
ann_value: %empty { $$ = NULL; } | '=' exprs { $$ = $2; } ;
targets:
    exprs '='                                 { $$ = tree_list_one(p, $1); }
  | targets exprs '='                         { $$ = tree_list_more(p, $1, $2); }
  ;
augment:
    AUG_ADD { $$ = BIN_ADD; } | AUG_SUB { $$ = BIN_SUB; } | AUG_MUL { $$ = BIN_MUL; } | AUG_DIV { $$ = BIN_DIV; }
  | AUG_FLOORDIV { $$ = BIN_FLOORDIV; } | AUG_MOD { $$ = BIN_MOD; } | AUG_POW { $$ = BIN_POW; }
  | AUG_MATMUL { $$ = BIN_MATMUL; }
  | AUG_AND { $$ = BIN_AND; } | AUG_OR { $$ = BIN_OR; } | AUG_XOR { $$ = BIN_XOR; } | AUG_SHL { $$ = BIN_SHL; }
  | AUG_SHR { $$ = BIN_SHR; }
  ;
compound:
    IF expr ':' block else_if                 { NodeList *other = $5 ? tree_list_one(p, $5) : NULL;
                                                $$ = tree_suite(p, NODE_IF, $2, $4, other, @$); }
  | IF expr ':' block ELSE ':' block          { $$ = tree_suite(p, NODE_IF, $2, $4, $7, @$); }
  | IF expr ':' block                         { $$ = tree_suite(p, NODE_IF, $2, $4, NULL, @$); }
  | FOR for_target IN exprs ':' block else_opt { $$ = tree_suite(p, NODE_FOR, $2, $6, $7, @$); $$->b = $4;
                                                 node_finish(p, $$); }
  | WHILE expr ':' block else_opt             { $$ = tree_suite(p, NODE_WHILE, $2, $4, $5, @$); }
  ;
else_if:
    ELIF expr ':' block                       { $$ = tree_suite(p, NODE_IF, $2, $4, NULL, @$); }
  | ELIF expr ':' block ELSE ':' block        { $$ = tree_suite(p, NODE_IF, $2, $4, $7, @$); }
  | ELIF expr ':' block else_if               { $$ = tree_suite(p, NODE_IF, $2, $4, tree_list_one(p, $5), @$); }
  ;
else_opt: %empty { $$ = NULL; } | ELSE ':' block { $$ = $3; } ;
for_target:
    for_targets                               { $$ = $1->len == 1 ? $1->at[0] : tree_with_list(p, NODE_TUPLE, $1, @$); }
  | for_targets ','                           { $$ = tree_with_list(p, NODE_TUPLE, $1, @$); }
  ;
for_targets:
    primary                                   { node_check_target(p, $1); $$ = tree_list_one(p, $1); }
  | for_targets ',' primary                   { node_check_target(p, $3); $$ = tree_list_more(p, $1, $3); }
  ;

/* ---- expressions, loosest first ---- */
exprs:                                        /* a, b: a tuple without parentheses */
    expr
  | expr_list ',' element                     { $$ = tree_with_list(p, NODE_TUPLE, tree_list_more(p, $1, $3), @$); }
  | expr_list ','                             { $$ = tree_with_list(p, NODE_TUPLE, $1, @$); }
  ;
expr_list:
    element                                   { $$ = tree_list_one(p, $1); }
  | expr_list ',' element                     { $$ = tree_list_more(p, $1, $3); }
  ;
element: expr | starred ;
starred: '*' bit_or                           { $$ = tree_with_a(p, NODE_STAR, $2, @$); } ;
expr:                                         /* a if c else b; lambda */
    or_test
  | or_test IF or_test ELSE expr              { $$ = tree_triple(p, NODE_CHOICE, $1, $3, $5, @$); }
  | LAMBDA lambda_params ':' expr             { $$ = tree_with_list(p, NODE_LAMBDA, $2, @$); $$->a = $4;
                                                node_finish(p, $$); }
  ;
lambda_params:
    %empty                                    { $$ = NULL; }
  | lambda_param                              { $$ = tree_list_one(p, $1); }
  | lambda_params ',' lambda_param            { $$ = $1 ? tree_list_more(p, $1, $3) : tree_list_one(p, $3); }
  ;
lambda_param:
    NAME                                      { $$ = tree_param(p, &$1, NULL, NULL, 0, @$); }
  | NAME '=' expr                             { $$ = tree_param(p, &$1, NULL, $3, 0, @$); }
  | '*' NAME                                  { $$ = tree_param(p, &$2, NULL, NULL, 1, @$); }
  | POW NAME                                  { $$ = tree_param(p, &$2, NULL, NULL, 2, @$); }
  ;
or_test: and_test | or_test OR and_test       { $$ = node_pair(p, NODE_OR, $1, $3); } ;
and_test: not_test | and_test AND not_test    { $$ = node_pair(p, NODE_AND, $1, $3); } ;
not_test: comparison | NOT not_test           { $$ = node_unary(p, UN_NOT, $2, @$); } ;
comparison: bit_or | comparison compare_op bit_or { $$ = node_compare(p, $1, (CompareOp)$2, $3); } ;
compare_op:
    '<' { $$ = CMP_LT; } | LE { $$ = CMP_LE; } | '>' { $$ = CMP_GT; } | GE { $$ = CMP_GE; } | EQ { $$ = CMP_EQ; }
  | NE { $$ = CMP_NE; }
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
  | primary '.' NAME                          { $$ = tree_named(p, NODE_ATTRIBUTE, &$3, $1, NULL, @$); }
  | primary '(' arguments ')'                 { $$ = tree_with_list(p, NODE_CALL, $3, @$); $$->a = $1;
                                                node_finish(p, $$); }
  | primary '[' indices ']'                   { $$ = tree_with_list(p, NODE_SUBSCRIPT, $3, @$); $$->a = $1;
                                                node_finish(p, $$); }
  | primary '[' indices ',' ']'               { $$ = tree_with_list(p, NODE_SUBSCRIPT, $3, @$); $$->a = $1;
                                                node_finish(p, $$); }
  ;
arguments: %empty { $$ = NULL; } | argument_list | argument_list ',' ;
argument_list:
    argument                                  { $$ = tree_list_one(p, $1); }
  | argument_list ',' argument                { $$ = tree_list_more(p, $1, $3); }
  ;
argument:
    expr
  | NAME '=' expr                             { $$ = tree_named(p, NODE_KEYWORD, &$1, $3, NULL, @$); }
  | NAME WALRUS expr                          { $$ = tree_named(p, NODE_KEYWORD, &$1, $3, NULL, @$);
                                                diag(p->d, @2, E_WALRUS); }
  | '*' expr                                  { $$ = tree_with_a(p, NODE_STAR, $2, @$); }
  | POW expr                                  { $$ = tree_with_a(p, NODE_STARSTAR, $2, @$); }
  | expr clauses                              { $$ = tree_comprehension(p, $1, $2, @$); }
  ;
conditions: %empty { $$ = NULL; }
  | conditions IF or_test { $$ = $1 ? tree_list_more(p, $1, $3) : tree_list_one(p, $3); } ;
indices:
    index                                     { $$ = tree_list_one(p, $1); }
  | indices ',' index                         { $$ = tree_list_more(p, $1, $3); }
  ;
index:
    expr
  | slice_part ':' slice_part                 { $$ = tree_triple(p, NODE_SLICE, $1, $3, NULL, @$); }
  | slice_part ':' slice_part ':' slice_part  { $$ = tree_triple(p, NODE_SLICE, $1, $3, $5, @$); }
  ;
slice_part: %empty { $$ = NULL; } | expr ;
atom:
    NAME                                      { $$ = node_leaf(p, NODE_NAME, &$1); }
  | INT                                       { $$ = node_leaf(p, NODE_INT, &$1); }
  | FLOAT                                     { $$ = node_leaf(p, NODE_FLOAT, &$1); }
  | STRING                                    { $$ = node_leaf(p, NODE_STRING, &$1); }
  | atom STRING                               { if ($1->kind == NODE_STRING) $$ = tree_join_strings(p, $1, &$2);
                                                else { $$ = $1; diag(p->d, @2, E_STRING_OPERAND); } }
  | TRUE_                                     { $$ = node_make(p, NODE_TRUE, @$); }
  | FALSE_                                    { $$ = node_make(p, NODE_FALSE, @$); }
  | NONE                                      { $$ = node_make(p, NODE_NONE, @$); }
  | ELLIPSIS                                  { $$ = node_make(p, NODE_ELLIPSIS, @$); }
  | '(' ')'                                   { $$ = tree_with_list(p, NODE_TUPLE, NULL, @$); }
  | '(' exprs ')'                             { $$ = tree_in_parentheses($2, @$); }
  | '(' expr clauses ')'                      { $$ = tree_comprehension(p, $2, $3, @$); }
  | '[' items_opt ']'                         { $$ = tree_with_list(p, NODE_LIST, $2, @$); }
  | '[' expr clauses ']'                      { $$ = tree_comprehension(p, $2, $3, @$); }
  | '{' '}'                                   { $$ = tree_with_list(p, NODE_DICT, NULL, @$); }
  | '{' pairs '}'                             { $$ = tree_with_list(p, NODE_DICT, $2, @$); }
  | '{' pairs ',' '}'                         { $$ = tree_with_list(p, NODE_DICT, $2, @$); }
  | '{' expr ':' expr clauses '}'             { Node *both = tree_with_list(
                                                    p, NODE_TUPLE, tree_list_more(p, tree_list_one(p, $2), $4), @2);
                                                $$ = tree_comprehension(p, both, $5, @$); }
  | '{' expr_list '}'                         { $$ = tree_with_list(p, NODE_LIST, $2, @$); }
  | '{' expr_list ',' '}'                     { $$ = tree_with_list(p, NODE_LIST, $2, @$); }
  | '{' expr clauses '}'                      { $$ = tree_comprehension(p, $2, $3, @$); }
  ;
clauses:
    clause                                    { $$ = tree_list_one(p, $1); }
  | clauses clause                            { $$ = tree_list_more(p, $1, $2); }
  ;
clause: FOR for_target IN or_test conditions  { $$ = tree_clause(p, $2, $4, $5, @$); } ;
items_opt: %empty { $$ = NULL; } | expr_list | expr_list ',' ;
pairs:
    expr ':' expr                             { $$ = tree_list_more(p, tree_list_one(p, $1), $3); }
  | pairs ',' expr ':' expr                   { $$ = tree_list_more(p, tree_list_more(p, $1, $3), $5); }
  | POW bit_or                                { Node *n = tree_with_a(p, NODE_STARSTAR, $2, @$);
                                                $$ = tree_list_more(p, tree_list_one(p, n), n); }
  | pairs ',' POW bit_or                      { Node *n = tree_with_a(p, NODE_STARSTAR, $4, @$);
                                                $$ = tree_list_more(p, tree_list_more(p, $1, n), n); }
  ;

%%

static int parse_lex(PARSE_STYPE *value, Span *span, Parser *p) {
    p->follows_bad = p->after_bad;
    p->after_bad = false;
    if (p->stop || p->next >= p->tokens.len) {
        uint32_t end = p->source->base + p->end;
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

/* && || ++ -- and `int x`, as C has them. */
static void hint_at_c(Parser *p, Span span) {
    const char *at = p->source->text + (span.begin - p->source->base), *before = at;
    while (before > p->source->text && (before[-1] == ' ' || before[-1] == '\n' || before[-1] == '\r')) before--;
    bool is_twice = at > p->source->text && at[-1] == *at;
    Span two = {span.begin - 1, span.end}, nowhere = {0, 0};
    if (is_twice && (*at == '&' || *at == '|')) {
        const char *word = *at == '&' ? "and" : "or";
        diag_note(p->d, nowhere, "'%s' joins conditions, '%c' the truth values of tiles", word, *at);
        diag_fix(p->d, two, at - p->source->text > 1 && at[-2] == ' ' ? "%s" : " %s", word);
    } else if (before - p->source->text > 2 && (before[-1] == '+' || before[-1] == '-') && before[-2] == before[-1]) {
        diag_note(p->d, nowhere, "write x %c= 1", before[-1]);
    } else if (p->next > 1 && p->tokens.at[p->next - 1].kind == NAME && p->tokens.at[p->next - 2].kind == NAME) {
        diag_note(p->d, nowhere, "an assignment names no type: x = 1; call a function with parentheses: f(x)");
    }
}

/* What to do about it, where one can guess. */
static void give_hint(Parser *p, yysymbol_kind_t found, Span span) {
    Span nowhere = {0, 0};
    if (found == YYSYMBOL_UNUSED || found == YYSYMBOL_CLASS)
        diag_note(p->d, nowhere, "a .py file may hold it outside of kernels; kernels and .dsl files may not");
    else if (strcmp(yysymbol_name(found), "'='") == 0)
        diag_note(p->d, nowhere, "'==' compares; '=' assigns, and stands behind a name at the start of a line");
    else if (found == YYSYMBOL_WALRUS) diag_note(p->d, nowhere, "assign on a line of its own");
    else hint_at_c(p, span);
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
    if (p->stop || (p->unclosed && span.begin > p->unclosed) || is_reported(p, span)) return 0;
    if (p->follows_bad && (found == YYSYMBOL_ELSE || found == YYSYMBOL_ELIF)) return 0; /* its if had an error */
    int n = yypcontext_expected_tokens(context, expected, YYNTOKENS);
    if (found == YYSYMBOL_NEWLINE && is_expected(expected, n, "':'")) {
        diag(p->d, span, E_NO_COLON);
        diag_fix(p->d, (Span){span.begin, span.begin}, ":");
        return 0;
    }
    bool is_inside = found == YYSYMBOL_YYEOF && p->end < p->source->len;
    const char *name = is_inside ? "the end of the function" : yysymbol_name(found);
    if (found == YYSYMBOL_NAME || found == YYSYMBOL_UNUSED) {
        name = arena_printf(p->a, "'%.*s'", (int)(span.end - span.begin),
                            p->source->text + (span.begin - p->source->base));
    }
    if (found == YYSYMBOL_UNUSED || found == YYSYMBOL_CLASS) {
        diag(p->d, span, E_NOT_LANGUAGE, name);
    } else if (n == 0 || n > SHOWN) {
        diag(p->d, span, E_MISPLACED, name);
    } else {
        Text wanted = {0};
        for (int i = 0; i < n; i++)
            text_printf(&wanted, "%s%s", i == 0 ? "" : i + 1 == n ? " or " : ", ", yysymbol_name(expected[i]));
        diag(p->d, span, E_EXPECTED, name, wanted.at);
        text_free(&wanted);
    }
    give_hint(p, found, span);
    return 0;
}
