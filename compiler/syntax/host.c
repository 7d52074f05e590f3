/* host.c - the parts of a Triton file that are kernel code; what stands around them is skipped, token by token.
 *
 * In: Parser.raw. Out: the parts, in order: imports, constants, functions under @jit or @kernel, functions without
 * decorators that decorators ask for configurations or that jit(f) makes kernels of.
 * Method: one walk over the logical lines with a stack of the suites around them. An `if`, `try` or `with` is looked
 * into as if it were not there; in other functions and in classes only kernels are seen.
 */
#include "syntax/parser.h"
#include "syntax/parse.tab.h"

#include <string.h>

typedef struct Suite {
    uint32_t column; /* of its head */
    bool is_closed;  /* a function, a class, a loop: the names in it are not the file's */
} Suite;

/* Interned names. */
typedef struct NameSet {
    const char **slots;
    uint32_t num_slots; /* a power of two, more than there are names */
} NameSet;

typedef struct Walk {
    Parser *p;
    const Token *raw;
    uint32_t len;
    VEC(Suite) suites;
    NameSet asked; /* functions that decorators call or name in a dictionary, that functions of constants call,
                    * and f of jit(f) */
    HostParts parts;
    bool is_deep; /* an error: the suites are too many */
} Walk;

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static uint32_t name_slot(const NameSet *t, const char *name) {
    uint32_t i = (uint32_t)((uintptr_t)name >> 4) * 2654435761u & (t->num_slots - 1);
    while (t->slots[i] && t->slots[i] != name) i = (i + 1) & (t->num_slots - 1);
    return i;
}

static NameSet names_create(Parser *p) {
    NameSet t = {.num_slots = 16};
    while (t.num_slots < p->raw.len * 2) t.num_slots *= 2;
    t.slots = NEW_ARRAY(p->a, const char *, t.num_slots);
    return t;
}

static void name_add(NameSet *t, const char *name) {
    t->slots[name_slot(t, name)] = name;
}

static bool name_in(const NameSet *t, const char *name) {
    return t->slots[name_slot(t, name)] != NULL;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

static bool is_open(int kind) {
    return kind == '(' || kind == '[' || kind == '{';
}

static bool is_close(int kind) {
    return kind == ')' || kind == ']' || kind == '}';
}

/* The end of the logical line that starts at `from`, without looking inside. */
static uint32_t line_end(const Walk *w, uint32_t from) {
    uint32_t depth = 0;
    for (uint32_t i = from; i < w->len; i++) {
        int kind = w->raw[i].kind;
        if (is_open(kind)) depth++;
        if (is_close(kind) && depth) depth--;
        if (kind == TOKEN_LINE && depth == 0) return i;
    }
    return w->len;
}

static uint32_t skip_blank(const Walk *w, uint32_t at) {
    while (at < w->len && w->raw[at].kind == TOKEN_LINE) at++;
    return at;
}

static uint32_t next_line(const Walk *w, uint32_t at) {
    return skip_blank(w, line_end(w, at));
}

static uint32_t column_of(const Walk *w, uint32_t at) {
    const Source *s = w->p->source;
    uint32_t end = w->raw[at].span.begin - s->base;
    return end - line_begin(s, end);
}

/* A line that is skipped: a bracket that stays open in it would swallow the rest of the file, which is an error. */
static void check_closed(const Walk *w, uint32_t at, uint32_t end) {
    const Token *open = NULL;
    uint32_t depth = 0;
    for (uint32_t i = at; end == w->len && i < end; i++) {
        const Token *t = &w->raw[i];
        if (is_open(t->kind) && depth++ == 0) open = t;
        if (is_close(t->kind) && depth && --depth == 0) open = NULL;
    }
    if (open) diag(w->p->d, open->span, E_NEVER_CLOSED, open->kind);
}

/* Past the line at `at` and what is indented further than `column`. */
static uint32_t suite_end(const Walk *w, uint32_t at, uint32_t column) {
    at = next_line(w, at);
    while (at < w->len && column_of(w, at) > column) at = next_line(w, at);
    return at;
}

/* ---- Kinds of lines ---------------------------------------------------------------------------------------------- */

/* What expressions are made of. */
static bool is_expression_token(int kind) {
    static const int words[] = {NAME, INT, FLOAT, STRING, TRUE_, FALSE_, NONE, POW, FLOORDIV, SHL, SHR, LE, GE, EQ, NE,
                                AND, OR, NOT, IN, IS, IF, ELSE, FOR, LAMBDA, ELLIPSIS, TOKEN_LINE};
    for (size_t i = 0; i < COUNT(words); i++) {
        if (kind == words[i]) return true;
    }
    return kind > 0 && kind < 128 && strchr("+-*/%&|^~<>=()[]{}.,:", kind);
}

/* NAME = … or NAME: … = …, one expression on the right. */
static bool is_constant(const Walk *w, uint32_t at) {
    const Token *t = &w->raw[at];
    if (t->kind != NAME || (t[1].kind != '=' && t[1].kind != ':')) return false;
    uint32_t assigned = 0, depth = 0;
    for (uint32_t i = at, end = line_end(w, at); i < end; i++) {
        int kind = w->raw[i].kind;
        if (is_open(kind)) depth++;
        if (is_close(kind) && depth) depth--;
        assigned += kind == '=' && depth == 0;
        if (!is_expression_token(kind)) return false;
    }
    return assigned == 1;
}

/* The last name of the decorator at `at`: jit of @triton.jit(…). "": it has another form. */
static const char *decorator_name(const Walk *w, uint32_t at) {
    uint32_t i = at + 1;
    while (w->raw[i].kind == NAME && w->raw[i + 1].kind == '.') i += 2;
    return w->raw[i].kind == NAME ? w->raw[i].name : "";
}

static bool is_jit(const char *name) {
    static const char *const words[] = {"jit", "kernel", "constexpr", "constexpr_function"};
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(name, words[i]) == 0) return true;
    }
    return false;
}

/* Is the word at the place one of Python's that the grammar does not have? */
static bool is_word(const Walk *w, uint32_t at, const char *word) {
    const Token *t = &w->raw[at];
    size_t n = strlen(word);
    const char *text = w->p->source->text + (t->span.begin - w->p->source->base);
    return t->kind == UNUSED && t->span.end - t->span.begin == n && memcmp(text, word, n) == 0;
}

static bool is_transparent(const Walk *w, uint32_t at) {
    int kind = w->raw[at].kind;
    const Token *next = &w->raw[at + 1];
    /* a program of its own */
    if (kind == IF && next->kind == NAME && strcmp(next->name, "__name__") == 0) return false;
    if (kind == IF || kind == ELIF || kind == ELSE) return true;
    return is_word(w, at, "try") || is_word(w, at, "except") || is_word(w, at, "finally") || is_word(w, at, "with");
}

/* Tokens that the grammar has no use for between the two places. */
static bool has_foreign(const Walk *w, uint32_t at, uint32_t end) {
    for (uint32_t i = at; i < end; i++) {
        int kind = w->raw[i].kind;
        if (kind == UNUSED || kind == WALRUS || kind == CLASS) return true;
    }
    return false;
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

static FunctionPlace place_of(const Walk *w) {
    FunctionPlace place = w->suites.len ? FUNCTION_UNDER_CONDITION : FUNCTION_TOP;
    for (uint32_t i = 0; i < w->suites.len; i++) {
        if (w->suites.at[i].is_closed) place = FUNCTION_INSIDE;
    }
    return place;
}

static void add_part(Walk *w, uint32_t at, uint32_t end, bool is_host) {
    HostPart part = {.begin = at, .end = end, .place = place_of(w), .is_host = is_host};
    vec_push(w->p->a, &w->parts, part);
}

/* The decorators from `at` on, and the function from `def` to `end`. */
static void add_function(Walk *w, uint32_t at, uint32_t def, uint32_t end) {
    HostPart part = {.begin = def, .end = end, .place = place_of(w)};
    while (w->raw[at].kind == '@') {
        HostLine line = {at, line_end(w, at), decorator_name(w, at), false};
        line.is_readable = !has_foreign(w, at, line.end);
        vec_push(w->p->a, &part.decorators, line);
        at = skip_blank(w, line.end);
    }
    vec_push(w->p->a, &w->parts, part);
}

static void enter_suite(Walk *w, uint32_t at, bool is_closed) {
    if (w->suites.len == AST_INDENTS) { /* Python has no more, either */
        diag(w->p->d, w->raw[at].span, E_INDENT_LEVELS, AST_INDENTS);
        w->is_deep = true;
        return;
    }
    Suite s = {column_of(w, at), is_closed};
    vec_push(w->p->a, &w->suites, s);
}

/* A function that is no kernel code: kernels that name it mean nothing else. */
static void note_foreign(Walk *w, uint32_t at) {
    if (w->raw[at].kind != DEF || w->raw[at + 1].kind != NAME || place_of(w) == FUNCTION_INSIDE) return;
    list_push(w->p, &w->p->module->foreign, node_leaf(w->p, NODE_NAME, &w->raw[at + 1]));
}

/* At the first decorator of a function or class; the place after what was read. */
static uint32_t decorated(Walk *w, uint32_t first) {
    bool wanted = false;
    uint32_t at = first;
    while (at < w->len && w->raw[at].kind == '@') {
        wanted |= is_jit(decorator_name(w, at));
        check_closed(w, at, line_end(w, at));
        at = next_line(w, at);
    }
    if (at >= w->len) return at;
    bool is_function = w->raw[at].kind == DEF;
    uint32_t end = is_function ? suite_end(w, at, column_of(w, at)) : at;
    if (wanted && is_function) {
        add_function(w, first, at, end);
        return end;
    }
    note_foreign(w, at);
    enter_suite(w, first, true);
    check_closed(w, at, line_end(w, at));
    return next_line(w, at);
}

/* A function without decorators that decorators or jit(f) name. */
static bool is_asked(const Walk *w, uint32_t at) {
    const Token *t = &w->raw[at];
    return t->kind == DEF && t[1].kind == NAME && place_of(w) != FUNCTION_INSIDE && name_in(&w->asked, t[1].name);
}

static uint32_t host_line(Walk *w, uint32_t at) {
    int kind = w->raw[at].kind;
    uint32_t end = line_end(w, at);
    if (kind == IMPORT || kind == FROM || (place_of(w) != FUNCTION_INSIDE && is_constant(w, at))) {
        add_part(w, at, end, false);
        return skip_blank(w, end);
    }
    check_closed(w, at, end);
    note_foreign(w, at);
    if (is_asked(w, at)) {
        end = suite_end(w, at, column_of(w, at));
        add_part(w, at, end, true);
        return end;
    }
    if (is_transparent(w, at)) enter_suite(w, at, false);
    else if (kind == DEF || kind == CLASS || kind == FOR || kind == WHILE || kind == IF || kind == UNUSED)
        enter_suite(w, at, true);
    return skip_blank(w, end);
}

static void ask(Walk *w, uint32_t at, uint32_t end) {
    for (uint32_t i = at; i < end; i++) {
        if (w->raw[i].kind == NAME && (i == at || w->raw[i - 1].kind != '.')) name_add(&w->asked, w->raw[i].name);
    }
}

/* NAME = jit(f), or with other decorators around it. */
static bool is_made(const Walk *w, uint32_t at) {
    const Token *t = &w->raw[at];
    if (t->kind != NAME || t[1].kind != '=') return false;
    for (uint32_t i = at + 2, end = line_end(w, at); i < end; i++) {
        if (w->raw[i].kind == NAME && w->raw[i + 1].kind == '(' && strcmp(w->raw[i].name, "jit") == 0) return true;
    }
    return false;
}

/* The function under the decorator at `at`, if it is one of constants. */
static void ask_constants(Walk *w, uint32_t at, const char *decorator) {
    if (strcmp(decorator, "constexpr") != 0 && strcmp(decorator, "constexpr_function") != 0) return;
    while (at < w->len && w->raw[at].kind == '@') at = next_line(w, at);
    if (at < w->len && w->raw[at].kind == DEF) ask(w, at, suite_end(w, at, column_of(w, at)));
}

/* The functions that @autotune(configs=f(), …) and @heuristics({"B": f}) name, and those that functions of constants
 * and these name; f of jit(f). */
static void find_asked(Walk *w) {
    enum { ROUNDS = 3 };
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t at = skip_blank(w, 0); at < w->len; at = next_line(w, at)) {
            const Token *t = &w->raw[at];
            const char *name = t->kind == '@' ? decorator_name(w, at) : "";
            size_t n = strlen(name);
            bool is_tuner = (n >= 8 && strcmp(name + n - 8, "autotune") == 0) || strcmp(name, "heuristics") == 0;
            bool is_asked_function = t->kind == DEF && t[1].kind == NAME && name_in(&w->asked, t[1].name);
            bool is_asked_constant = t->kind == NAME && t[1].kind == '=' && name_in(&w->asked, t->name);
            if (round == 0 && (is_tuner || is_made(w, at))) ask(w, at, line_end(w, at));
            else if (round == 0 && t->kind == '@') ask_constants(w, at, name);
            else if (is_asked_constant && round > 0) ask(w, at, line_end(w, at));
            else if (is_asked_function && round > 0) ask(w, at, suite_end(w, at, column_of(w, at)));
        }
    }
}

HostParts host_parts(Parser *p) {
    Walk w = {.p = p, .len = p->raw.len};
    Token end = {.kind = TOKEN_LINE, .span = {p->source->base + p->source->len, p->source->base + p->source->len}};
    for (int i = 0; i < 2; i++) vec_push(p->a, &p->raw, end); /* a look ahead needs no test for the end */
    p->raw.len = w.len;
    w.raw = p->raw.at;
    w.asked = names_create(p);
    find_asked(&w);
    for (uint32_t at = skip_blank(&w, 0); at < w.len && !w.is_deep;) {
        uint32_t column = column_of(&w, at);
        while (w.suites.len && w.suites.at[w.suites.len - 1].column >= column) w.suites.len--;
        if (w.raw[at].kind == '@') at = decorated(&w, at);
        else at = host_line(&w, at);
    }
    return w.parts;
}
