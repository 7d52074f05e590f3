/* parser.h - between scanner, filter and grammar; nobody outside syntax/ includes it. */
#ifndef FSC_SYNTAX_PARSER_H
#define FSC_SYNTAX_PARSER_H

#include "syntax/ast.h"

typedef struct Token {
    int kind; /* of parse.tab.h; TOKEN_LINE below is the scanner's own */
    Span span;
    const char *name; /* NAME interned; STRING its text */
    uint64_t integer; /* INT; length of a STRING */
    bool is_format;   /* STRING: f"…" */
    double real;
} Token;

enum {
    TOKEN_LINE = 10000, /* the end of a physical line */
};

typedef VEC(Token) Tokens;

/* A piece of a Triton file that is kernel code: whole logical lines, raw tokens begin … end - 1. */
typedef struct HostLine {
    uint32_t begin, end;
    const char *name;  /* of a decorator, without what stands before the last dot */
    bool is_readable;  /* the grammar has a use for every token */
} HostLine;

typedef struct HostPart {
    VEC(HostLine) decorators;
    uint32_t begin, end; /* an import, a constant or a function */
    FunctionPlace place;
    bool is_host; /* a function without decorators that decorators name */
} HostPart;

typedef VEC(HostPart) HostParts;

typedef struct Parser {
    Arena *a;
    Strings *s;
    Diag *d;
    const Source *source;
    SyntaxMode mode;
    Module *module;
    Tokens raw, tokens; /* from the scanner; from the filter */
    uint32_t next;      /* the token the grammar takes next */
    VEC(uint32_t) bad;  /* where the scanner left something out, after an error */
    uint32_t next_bad;
    bool after_bad, follows_bad; /* the last token ended a line with an error; the one before the present did */
    uint32_t end;       /* the offset in the text where what is parsed ends: of the file, or of one part */
    bool is_host;       /* no decorators are wanted */
    uint32_t unclosed;  /* where the bracket stands that the text ended in, which was reported; 0: none */
    uint32_t open_string; /* where the last string stands that was not closed, likewise */
    bool stop;          /* a limit was passed: no more tokens, no more errors */
} Parser;

/* scan.l: the source's text from offset `begin` to `end`, added to p->raw. */
void scan_text(Parser *p, uint32_t begin, uint32_t end);
/* indent.c: p->raw into p->tokens: INDENT, DEDENT, NEWLINE, joined lines. A function of a Triton file may stand further
 * right: each line of its decorators, and `def`, is taken for the left edge. */
void filter_lines(Parser *p);
/* The offset of the first byte of the line that `at` is on; a byte order mark in front of the file is none of it. */
uint32_t line_begin(const Source *s, uint32_t at);
/* host.c: what of a Triton file is kernel code, in order. */
HostParts host_parts(Parser *p);
/* node.c */
Node *node_make(Parser *p, NodeKind kind, Span span);
Node *node_finish(Parser *p, Node *n); /* computes the depth; an error and p->stop beyond the limit */
void list_push(Parser *p, NodeList *l, Node *n);
Node *node_unary(Parser *p, UnaryOp op, Node *a, Span span);
Node *node_binary(Parser *p, BinaryOp op, Node *a, Node *b);
Node *node_pair(Parser *p, NodeKind kind, Node *a, Node *b); /* AND, OR */
Node *node_compare(Parser *p, Node *left, CompareOp op, Node *right); /* joins a chain that is not in parentheses */
Node *node_leaf(Parser *p, NodeKind kind, const Token *t);
/* Is this something that can be assigned to? An error at its place if not. */
bool node_check_target(Parser *p, const Node *n);
/* Drops a docstring. */
void body_drop_docstring(NodeList *body);

#endif
