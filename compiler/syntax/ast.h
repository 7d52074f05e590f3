/* ast.h - the syntax tree, exactly as the file has it, and the parser's entry.
 *
 * The grammar only builds raw trees: no name is looked up, no type known, nothing evaluated. Every node has its span.
 * node.def says which fields each kind fills; all others are zero. Nodes live in the compile's arena.
 */
#ifndef FSC_SYNTAX_AST_H
#define FSC_SYNTAX_AST_H

#include "base/base.h"

typedef enum NodeKind {
#define NODE(e, ...) NODE_##e,
#include "syntax/node.def"
#undef NODE
    NODE_COUNT
} NodeKind;

typedef enum BinaryOp {
#define BINARY_OP(e, text) BIN_##e,
#include "syntax/operator.def"
    BIN_COUNT
} BinaryOp;

typedef enum UnaryOp {
#define UNARY_OP(e, text) UN_##e,
#include "syntax/operator.def"
    UN_COUNT
} UnaryOp;

typedef enum CompareOp {
#define COMPARE_OP(e, text) CMP_##e,
#include "syntax/operator.def"
    CMP_COUNT
} CompareOp;

extern const char *const node_name[NODE_COUNT];
extern const char *const binary_text[BIN_COUNT];
extern const char *const unary_text[UN_COUNT];
extern const char *const compare_text[CMP_COUNT];

typedef struct Node Node;

typedef struct NodeList {
    Node **at;
    uint32_t len, cap;
} NodeList;

struct Node {
    NodeKind kind;
    uint8_t op;
    bool flag;
    uint32_t depth; /* of the tree below, 1 for a leaf: limited to AST_DEPTH, so recursion over trees is safe */
    Span span;
    const char *name; /* interned (but for STRING) */
    uint64_t integer;
    double real;
    Node *a, *b, *c;
    NodeList list, body, rest;
    uint8_t *ops;
    const DiagTaken *said; /* of an item of a Triton file: errors and warnings of its text, for who reaches it */
};

/* Node.op of a FUNCTION: where it stands in a Triton file. */
typedef enum FunctionPlace { FUNCTION_TOP, FUNCTION_UNDER_CONDITION, FUNCTION_INSIDE } FunctionPlace;

enum { AST_DEPTH = 4096, AST_BRACKETS = 1000, AST_INDENTS = 100 };

typedef enum SyntaxMode {
    SYNTAX_DSL,    /* imports, constants and decorated functions; anything else is an error */
    SYNTAX_PYTHON, /* whatever else stands around the kernels of a Triton file is skipped;
                    * every item is read by itself */
} SyntaxMode;

typedef struct Module {
    const Source *source;
    SyntaxMode mode;
    NodeList items;   /* CONSTANT and FUNCTION, in order */
    NodeList imports; /* IMPORT, one a name that an import binds */
    NodeList hosts;   /* FUNCTION without decorators: what @autotune and @heuristics of a Triton file ask,
                       * or jit(f) makes a kernel */
    NodeList foreign; /* NAME: the file's functions that are no kernel code, those of hosts among them */
    bool has_gaps;    /* errors outside of functions: names may be missing */
    const DiagTaken *said; /* errors of a Triton file's words, those of host code among them */
} Module;

/* Parses as far as it goes; errors are in d (never NULL), those of a Triton file's items in Node.said. Functions
 * without an error of syntax are whole all the same. */
Module *syntax_parse(Arena *a, Strings *s, Diag *d, const Source *source, SyntaxMode mode);
/* Reports what Node.said of every function holds; of a file without any, Module.said. False: errors are among it. */
bool syntax_report(const Module *m, Diag *d);
/* The node and all below it, parents first. */
void ast_walk(const Node *n, void (*visit)(void *context, const Node *n), void *context);
/* An indented dump, one node a line: what `--emit=ast` prints. */
void ast_print(const Module *m, Text *out);
/* The text of a .dsl file in the house style: the same tokens and comments. False: it has errors, which are in d. */
bool syntax_format(Arena *a, Strings *s, Diag *d, const Source *source, Text *out);
/* The items of the last constant's tuple (or the constant itself): how --grid reads its expressions. */
Node *const *ast_constant_items(const Module *m, uint32_t *count);

#endif
