/* rule.c - launch-rule expressions into the postfix code of record.h.
 *
 * In: an expression of @kernel(…) or of a shape contract. Out: code text over parameter indexes, for the runtime.
 * Method: operands first, then the token of their operation; the tokens are those of runtime/rule.def.
 */
#include "check/check.h"

#include <string.h>

typedef struct Compiler {
    Arena *a;
    Diag *d;
    RuleNames *names;
    void *context;
    Text code;
    bool ok;
} Compiler;

/* The functions a rule may call, by the name that the source uses. */
static const struct {
    const char *name, *token;
    uint32_t args;
} functions[] = {
    {"min", "min", 2},         {"max", "max", 2},           {"cdiv", "cdiv", 2},           {"next_power_of_2", "npow2", 1},
    {"num_sms", "num_sms", 0}, {"max_shared", "max_shared", 0}, {"num_regs", "num_regs", 0}, {"warp_size", "warp_size", 0},
    {"occupancy", "occupancy", 0},
};

static void fail(Compiler *c, Span at, const char *what) {
    if (c->ok) {
        diag(c->d, at, E_RULE_EXPRESSION, what);
        diag_note(c->d, (Span){0, 0},
                  "allowed are numbers, parameters, + - * // %%, comparisons, and or not, a if c else b, min max cdiv "
                  "next_power_of_2 num_sms() max_shared() num_regs() warp_size() occupancy()");
    }
    c->ok = false;
}

static void put(Compiler *c, const char *token) {
    text_printf(&c->code, "%s%s", c->code.len ? " " : "", token);
}

static void compile(Compiler *c, const Node *n);

static void compile_name(Compiler *c, const Node *n) {
    int index = c->names(c->context, n->name);
    if (index >= 0) {
        put(c, arena_printf(c->a, "$%d", index));
        return;
    }
    if (c->ok) diag(c->d, n->span, E_RULE_PARAMETER, n->name);
    c->ok = false;
}

static void compile_binary(Compiler *c, const Node *n) {
    static const char *const tokens[BIN_COUNT] = {[BIN_ADD] = "+", [BIN_SUB] = "-", [BIN_MUL] = "*", [BIN_FLOORDIV] = "//", [BIN_MOD] = "%"};
    compile(c, n->a);
    compile(c, n->b);
    if (!tokens[n->op]) fail(c, n->span, arena_printf(c->a, "operator '%s'", binary_text[n->op]));
    else put(c, tokens[n->op]);
}

/* a < b < c is a < b and b < c. */
static void compile_compare(Compiler *c, const Node *n) {
    static const char *const tokens[CMP_COUNT] = {[CMP_LT] = "<", [CMP_LE] = "<=", [CMP_GT] = ">", [CMP_GE] = ">=", [CMP_EQ] = "==", [CMP_NE] = "!="};
    for (uint32_t i = 0; i + 1 < n->list.len; i++) {
        compile(c, n->list.at[i]);
        compile(c, n->list.at[i + 1]);
        if (!tokens[n->ops[i]]) fail(c, n->span, arena_printf(c->a, "operator '%s'", compare_text[n->ops[i]]));
        else put(c, tokens[n->ops[i]]);
        if (i) put(c, "and");
    }
}

/* min, tl.cdiv, triton.next_power_of_2: the last name counts. */
static void compile_call(Compiler *c, const Node *n) {
    const char *name = n->a->kind == NODE_NAME || n->a->kind == NODE_ATTRIBUTE ? n->a->name : "";
    for (size_t i = 0; i < COUNT(functions); i++) {
        if (strcmp(functions[i].name, name) != 0) continue;
        if (n->list.len != functions[i].args) {
            if (c->ok) diag(c->d, n->span, E_RULE_ARGUMENTS, name, functions[i].args, functions[i].args == 1 ? "" : "s", n->list.len);
            c->ok = false;
            return;
        }
        for (uint32_t k = 0; k < n->list.len; k++) compile(c, n->list.at[k]);
        put(c, functions[i].token);
        return;
    }
    fail(c, n->span, *name ? arena_printf(c->a, "'%s'", name) : "this call");
}

static void compile(Compiler *c, const Node *n) {
    switch (n->kind) {
    case NODE_INT:
        if (n->integer > INT64_MAX) fail(c, n->span, "an integer beyond 63 bits");
        else put(c, arena_printf(c->a, "%llu", (unsigned long long)n->integer));
        return;
    case NODE_FLOAT: {
        char *text = arena_printf(c->a, "%.17g", n->real);
        put(c, strpbrk(text, ".en") ? text : arena_printf(c->a, "%s.0", text));
        return;
    }
    case NODE_TRUE: put(c, "1"); return;
    case NODE_FALSE: put(c, "0"); return;
    case NODE_NAME: compile_name(c, n); return;
    case NODE_BINARY: compile_binary(c, n); return;
    case NODE_COMPARE: compile_compare(c, n); return;
    case NODE_CALL: compile_call(c, n); return;
    case NODE_UNARY:
        compile(c, n->a);
        if (n->op == UN_NEG) put(c, "neg");
        else if (n->op == UN_NOT) put(c, "not");
        else if (n->op != UN_POS) fail(c, n->span, "operator '~'");
        return;
    case NODE_AND: case NODE_OR:
        compile(c, n->a);
        compile(c, n->b);
        put(c, n->kind == NODE_AND ? "and" : "or");
        return;
    case NODE_CHOICE: /* a if b else c */
        compile(c, n->b);
        compile(c, n->a);
        compile(c, n->c);
        put(c, "sel");
        return;
    default: fail(c, n->span, node_name[n->kind]); return;
    }
}

const char *rule_compile(Arena *a, Diag *d, const Node *expr, RuleNames *names, void *context) {
    Compiler c = {.a = a, .d = d, .names = names, .context = context, .ok = true};
    compile(&c, expr);
    const char *code = c.ok ? arena_strndup(a, c.code.at, c.code.len) : NULL;
    text_free(&c.code);
    return code;
}
