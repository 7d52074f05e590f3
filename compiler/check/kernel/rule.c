/* rule.c - launch-rule expressions into the postfix code of record.h.
 *
 * In: an expression of @kernel(…) or of a shape contract. Out: code text over parameter indexes, for the runtime.
 * Method: operands first, then the token of their operation; the tokens are those of runtime/record/rule.def. Each
 * expression is a number or an element type, or a constexpr parameter that may be either: then the evaluator looks.
 */
#include "check/check.h"

#include "runtime/base/number.h"

#include <string.h>

typedef struct Compiler {
    Arena *a;
    Diag *d;
    RuleNames *names;
    void *context;
    Text code;
    bool ok;
} Compiler;

static const char bits_name[] = "primitive_bitwidth"; /* as in kernels */

/* The functions a rule may call, by the name that the source uses. */
static const struct {
    const char *name, *token;
    uint32_t args;
} functions[] = {
    {"min", "min", 2},
    {"max", "max", 2},
    {"cdiv", "cdiv", 2},
    {"next_power_of_2", "npow2", 1},
    {"num_sms", "num_sms", 0},
    {"max_shared", "max_shared", 0},
    {"num_regs", "num_regs", 0},
    {"warp_size", "warp_size", 0},
    {"occupancy", "occupancy", 0},
};

static void fail(Compiler *c, Span at, const char *what) {
    if (c->ok) {
        diag(c->d, at, E_RULE_EXPRESSION, what);
        diag_note(c->d, (Span){0, 0},
                  "allowed are numbers, parameters, + - * // %%, comparisons, and or not, a if c else b, min max cdiv "
                  "next_power_of_2 num_sms() max_shared() num_regs() warp_size() occupancy(); T == bf16, T.%s",
                  bits_name);
    }
    c->ok = false;
}

static void put(Compiler *c, const char *token) {
    text_printf(&c->code, "%s%s", c->code.len ? " " : "", token);
}

static RuleKind compile(Compiler *c, const Node *n);

/* What takes no type: arithmetic, conditions, the rule as a whole. */
static RuleKind compile_number(Compiler *c, const Node *n) {
    RuleKind kind = compile(c, n);
    if (kind != RULE_IS_TYPE) return RULE_IS_NUMBER;
    if (c->ok) {
        diag(c->d, n->span, E_RULE_TYPE);
        diag_note(c->d, n->span, "a type has %s, and == and != compare it with a type such as bf16", bits_name);
    }
    c->ok = false;
    return RULE_IS_NUMBER;
}

/* bf16, tl.bfloat16; NULL: no type's name. A parameter of that name goes first. */
static const char *type_name(Compiler *c, const Node *n) {
    RuleKind kind;
    const Node *root = n->kind == NODE_ATTRIBUTE ? n->a : n;
    bool is_named = root->kind == NODE_NAME && c->names(c->context, root->name, &kind) < 0;
    return is_named ? dtype_canonical(n->name) : NULL;
}

static RuleKind compile_name(Compiler *c, const Node *n) {
    RuleKind kind = RULE_IS_EITHER;
    int index = c->names(c->context, n->name, &kind);
    const char *type = type_name(c, n);
    if (index >= 0) {
        put(c, arena_printf(c->a, "$%d", index));
        return kind;
    }
    if (type) {
        put(c, type);
        return RULE_IS_TYPE;
    }
    if (c->ok) diag(c->d, n->span, E_RULE_PARAMETER, n->name);
    c->ok = false;
    return RULE_IS_EITHER;
}

/* The type that `word` asks about. */
static void compile_asked(Compiler *c, const Node *n, const char *word) {
    if (compile(c, n) != RULE_IS_NUMBER) return;
    if (c->ok) diag(c->d, n->span, E_RULE_NO_TYPE, word);
    c->ok = false;
}

/* T.primitive_bitwidth, tl.float16 */
static RuleKind compile_attribute(Compiler *c, const Node *n) {
    const char *type = type_name(c, n);
    if (type) {
        put(c, type);
        return RULE_IS_TYPE;
    }
    if (strcmp(n->name, bits_name) != 0) {
        fail(c, n->span, arena_printf(c->a, "'.%s'", n->name));
        return RULE_IS_EITHER;
    }
    compile_asked(c, n->a, n->name);
    put(c, "bits");
    return RULE_IS_NUMBER;
}

static void compile_binary(Compiler *c, const Node *n) {
    static const char *const tokens[BIN_COUNT] = {
        [BIN_ADD] = "+", [BIN_SUB] = "-", [BIN_MUL] = "*", [BIN_FLOORDIV] = "//", [BIN_MOD] = "%"};
    compile_number(c, n->a);
    compile_number(c, n->b);
    if (!tokens[n->op]) fail(c, n->span, arena_printf(c->a, "operator '%s'", binary_text[n->op]));
    else put(c, tokens[n->op]);
}

/* a < b < c is a < b and b < c. */
static void compile_compare(Compiler *c, const Node *n) {
    static const char *const tokens[CMP_COUNT] = {
        [CMP_LT] = "<", [CMP_LE] = "<=", [CMP_GT] = ">", [CMP_GE] = ">=", [CMP_EQ] = "==", [CMP_NE] = "!="};
    for (uint32_t i = 0; i + 1 < n->list.len; i++) {
        bool is_same = n->ops[i] == CMP_EQ || n->ops[i] == CMP_NE;
        RuleKind (*side)(Compiler *, const Node *) = is_same ? compile : compile_number;
        RuleKind left = side(c, n->list.at[i]), right = side(c, n->list.at[i + 1]);
        bool is_mixed = left != right && left != RULE_IS_EITHER && right != RULE_IS_EITHER;
        if (is_mixed && c->ok) diag(c->d, n->span, E_RULE_MIXED);
        c->ok &= !is_mixed;
        if (!tokens[n->ops[i]]) fail(c, n->span, arena_printf(c->a, "operator '%s'", compare_text[n->ops[i]]));
        else put(c, tokens[n->ops[i]]);
        if (i) put(c, "and");
    }
}

/* T.is_bf16(): T == bf16. */
static bool compile_question(Compiler *c, const Node *n) {
    bool is_question = n->a->kind == NODE_ATTRIBUTE && n->list.len == 0 && strncmp(n->a->name, "is_", 3) == 0;
    const char *type = is_question ? dtype_canonical(n->a->name + 3) : NULL;
    if (!type) return false;
    compile_asked(c, n->a->a, n->a->name);
    put(c, type);
    put(c, "==");
    return true;
}

/* min, tl.cdiv, triton.next_power_of_2: the last name counts. */
static void compile_call(Compiler *c, const Node *n) {
    const char *name = n->a->kind == NODE_NAME || n->a->kind == NODE_ATTRIBUTE ? n->a->name : "";
    for (size_t i = 0; i < COUNT(functions); i++) {
        if (strcmp(functions[i].name, name) != 0) continue;
        if (n->list.len != functions[i].args) {
            if (c->ok)
                diag(c->d, n->span, E_RULE_ARGUMENTS, name, functions[i].args, functions[i].args == 1 ? "" : "s",
                     n->list.len);
            c->ok = false;
            return;
        }
        for (uint32_t k = 0; k < n->list.len; k++) compile_number(c, n->list.at[k]);
        put(c, functions[i].token);
        return;
    }
    if (!compile_question(c, n)) fail(c, n->span, *name ? arena_printf(c->a, "'%s'", name) : "this call");
}

/* a if b else c */
static RuleKind compile_choice(Compiler *c, const Node *n) {
    compile_number(c, n->b);
    RuleKind yes = compile(c, n->a), no = compile(c, n->c);
    put(c, "sel");
    return yes == no ? yes : RULE_IS_EITHER;
}

static void compile_literal(Compiler *c, const Node *n) {
    if (n->kind == NODE_FLOAT) {
        char text[40];
        number_format(text, sizeof text, "%.17g", n->real);
        put(c, strpbrk(text, ".en") ? text : arena_printf(c->a, "%s.0", text));
    } else if (n->integer > INT64_MAX) {
        fail(c, n->span, "an integer beyond 63 bits");
    } else {
        put(c, arena_printf(c->a, "%llu", (unsigned long long)n->integer));
    }
}

static RuleKind compile(Compiler *c, const Node *n) {
    switch (n->kind) {
    case NODE_INT:
    case NODE_FLOAT: compile_literal(c, n); break;
    case NODE_TRUE: put(c, "1"); break;
    case NODE_FALSE: put(c, "0"); break;
    case NODE_NAME: return compile_name(c, n);
    case NODE_ATTRIBUTE: return compile_attribute(c, n);
    case NODE_BINARY: compile_binary(c, n); break;
    case NODE_COMPARE: compile_compare(c, n); break;
    case NODE_CALL: compile_call(c, n); break;
    case NODE_UNARY:
        compile_number(c, n->a);
        if (n->op == UN_NEG) put(c, "neg");
        else if (n->op == UN_NOT) put(c, "not");
        else if (n->op != UN_POS) fail(c, n->span, "operator '~'");
        break;
    case NODE_AND: case NODE_OR:
        compile_number(c, n->a);
        compile_number(c, n->b);
        put(c, n->kind == NODE_AND ? "and" : "or");
        break;
    case NODE_CHOICE: return compile_choice(c, n);
    default: fail(c, n->span, node_name[n->kind]);
    }
    return RULE_IS_NUMBER;
}

const char *rule_compile(Arena *a, Diag *d, const Node *expr, RuleNames *names, void *context) {
    Compiler c = {.a = a, .d = d, .names = names, .context = context, .ok = true};
    compile_number(&c, expr);
    const char *code = c.ok ? arena_strndup(a, c.code.at, c.code.len) : NULL;
    text_free(&c.code);
    return code;
}
