/* module.c - the parser's entry: from a source to a module.
 *
 * In: a Source. Out: a Module; errors in d, those of a Triton file's items beside each (Node.said).
 * Method: a .dsl file is one text. Of a Triton file host.c finds the items, and each is scanned, filtered and parsed by
 * itself: what one of them says is nothing to a kernel that does not reach it. k = triton.jit(f) makes a function k of
 * f's text.
 */
#include "syntax/parser.h"
#include "syntax/parse.tab.h"

#include <string.h>


/* ---- A .dsl file ------------------------------------------------------------------------------------------------- */

/* The last function that starts at or before the place, or NULL. */
static Node *function_before(const NodeList *functions, uint32_t at) {
    uint32_t low = 0, high = functions->len;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (functions->at[middle]->rest.at[0]->span.begin <= at) low = middle + 1;
        else high = middle;
    }
    return low ? functions->at[low - 1] : NULL;
}

/* Which functions hold errors of syntax, and whether there are others. */
static void mark_errors(Parser *p) {
    NodeList functions = {0};
    for (uint32_t i = 0; i < p->module->items.len; i++) {
        if (p->module->items.at[i]->kind == NODE_FUNCTION) list_push(p, &functions, p->module->items.at[i]);
    }
    uint32_t next = 0, inside = 0;
    for (Span at; diag_next_error(p->d, &next, &at);) {
        Node *n = function_before(&functions, at.begin);
        if (!n || at.begin > n->integer) continue;
        n->flag = true;
        inside++;
    }
    p->module->has_gaps = p->stop || inside < diag_errors(p->d);
}

static void parse_text(Parser *p) {
    scan_text(p, 0, p->source->len);
    filter_lines(p);
    if (!p->stop) parse_parse(p);
    if (diag_errors(p->d)) mark_errors(p);
}

/* ---- The items of a Triton file ---------------------------------------------------------------------------------- */

static uint32_t offset_of(const Parser *p, uint32_t raw) {
    return p->raw.at[raw].span.begin - p->source->base;
}

/* The text of the raw tokens from `begin` to `end`, without the ends of lines behind it. */
static void scan_lines(Parser *to, const Parser *from, uint32_t begin, uint32_t end) {
    while (end > begin && from->raw.at[end - 1].kind == TOKEN_LINE) end--;
    to->end = offset_of(from, end);
    scan_text(to, offset_of(from, begin), to->end);
}

/* What is left of an item whose errors left nothing: its name, so that who reaches it hears of them. NULL:
 * it has none. */
static Node *ruin(Parser *p, const HostPart *part) {
    const Token *t = &p->raw.at[part->begin];
    bool is_function = t->kind == DEF;
    if (is_function) t++;
    if (t->kind != NAME) return NULL;
    Node *n = node_make(p, is_function ? NODE_FUNCTION : NODE_CONSTANT, t->span);
    n->name = t->name;
    if (!is_function) n->a = node_make(p, NODE_NONE, t->span);
    for (uint32_t i = 0; i < part->decorators.len; i++) {
        Node *decorator = node_make(p, NODE_NAME, t->span);
        decorator->name = part->decorators.at[i].name;
        list_push(p, &n->rest, decorator);
    }
    return n;
}

static void keep_items(Parser *p, const Module *of_part, const HostPart *part, const DiagTaken *said) {
    NodeList *to = part->is_host ? &p->module->hosts : &p->module->items, found = of_part->items;
    bool fails = diag_taken_fails(said);
    for (uint32_t i = 0; i < of_part->imports.len; i++) {
        of_part->imports.at[i]->op = (uint8_t)part->place;
        list_push(p, &p->module->imports, of_part->imports.at[i]);
    }
    if (fails && found.len == 0) list_push(p, &found, ruin(p, part));
    for (uint32_t i = 0; i < found.len; i++) {
        Node *n = found.at[i];
        n->said = said;
        n->flag = fails;
        n->op = (uint8_t)part->place;
        list_push(p, to, n);
    }
    if (found.len == 0 && p->raw.at[part->begin].kind == DEF) diag_give(p->d, said); /* nobody can ask for it by name */
}

static void parse_part(Parser *p, const HostPart *part) {
    Parser q = {.a = p->a, .s = p->s, .d = p->d, .source = p->source, .mode = p->mode, .module = NEW(p->a, Module)};
    DiagMark mark = diag_mark(p->d);
    q.is_host = part->is_host;
    for (uint32_t i = 0; i < part->decorators.len; i++) {
        const HostLine *line = &part->decorators.at[i];
        if (line->is_readable) scan_lines(&q, p, line->begin, line->end);
        else diag(p->d, p->raw.at[line->begin].span, W_DECORATOR_ARGUMENTS);
    }
    scan_lines(&q, p, part->begin, part->end);
    filter_lines(&q);
    if (!q.stop) parse_parse(&q);
    keep_items(p, q.module, part, diag_take(p->d, mark));
}

/* ---- k = triton.jit(f) ------------------------------------------------------------------------------------------- */

/* Functions by name, the last of each. */
typedef struct Functions {
    const Node **slots; /* open addressing */
    uint32_t num_slots; /* a power of two */
} Functions;

static uint32_t slot_of(const Functions *f, const char *name) {
    uint32_t i = (uint32_t)((uintptr_t)name >> 4) * 2654435761u & (f->num_slots - 1);
    while (f->slots[i] && f->slots[i]->name != name) i = (i + 1) & (f->num_slots - 1);
    return i;
}

static Functions functions_of(Parser *p, const NodeList *list) {
    Functions f = {.num_slots = 16};
    while (f.num_slots < list->len * 2) f.num_slots *= 2;
    f.slots = NEW_ARRAY(p->a, const Node *, f.num_slots);
    for (uint32_t i = 0; i < list->len; i++) {
        if (list->at[i]->kind == NODE_FUNCTION) f.slots[slot_of(&f, list->at[i]->name)] = list->at[i];
    }
    return f;
}

static bool is_jit(const Node *by) {
    if (by->kind == NODE_CALL) by = by->a;
    return (by->kind == NODE_NAME || by->kind == NODE_ATTRIBUTE) && strcmp(by->name, "jit") == 0;
}

/* The function that calls of decorators, jit among them, are wrapped around: autotune(...)(jit(f)). NULL: n is none. */
static const Node *wrapped(Parser *p, const Functions *items, const Functions *hosts, const Node *n,
                           NodeList *decorators) {
    bool any_jit = false;
    for (; n->kind == NODE_CALL && n->list.len; n = n->list.at[0]) {
        any_jit |= is_jit(n->a);
        list_push(p, decorators, n->a);
    }
    if (n->kind != NODE_NAME || decorators->len == 0) return NULL;
    const Node *f = items->slots[slot_of(items, n->name)];
    if (!f && any_jit) f = hosts->slots[slot_of(hosts, n->name)];
    for (uint32_t i = 0; f && i < f->rest.len; i++) list_push(p, decorators, f->rest.at[i]);
    return f;
}

static void make_kernels(Parser *p) {
    Functions items = functions_of(p, &p->module->items), hosts = functions_of(p, &p->module->hosts);
    for (uint32_t i = 0; i < p->module->items.len; i++) {
        Node *n = p->module->items.at[i];
        NodeList decorators = {0};
        const Node *f = n->kind == NODE_CONSTANT && !n->flag ? wrapped(p, &items, &hosts, n->a, &decorators) : NULL;
        if (!f) continue;
        const char *name = n->name;
        uint8_t place = n->op;
        *n = *f;
        n->name = name;
        n->op = place;
        n->rest = decorators;
        items.slots[slot_of(&items, name)] = n;
    }
}

static void parse_items(Parser *p) {
    DiagMark mark = diag_mark(p->d);
    scan_text(p, 0, p->source->len);
    p->module->said = diag_take(p->d, mark); /* each item is scanned once more */
    HostParts parts = host_parts(p);
    for (uint32_t i = 0; i < parts.len; i++) parse_part(p, &parts.at[i]);
    make_kernels(p);
}

/* ---- Entry ------------------------------------------------------------------------------------------------------- */

Module *syntax_parse(Arena *a, Strings *s, Diag *d, const Source *source, SyntaxMode mode) {
    Parser p = {.a = a, .s = s, .d = d, .source = source, .mode = mode, .module = NEW(a, Module), .end = source->len};
    p.module->source = source;
    p.module->mode = mode;
    if (mode == SYNTAX_PYTHON) parse_items(&p);
    else parse_text(&p);
    return p.module;
}

bool syntax_report(const Module *m, Diag *d) {
    uint32_t errors = diag_errors(d);
    bool has_functions = false;
    for (uint32_t i = 0; i < m->items.len; i++) {
        if (m->items.at[i]->kind != NODE_FUNCTION) continue;
        diag_give(d, m->items.at[i]->said);
        has_functions = true;
    }
    if (!has_functions) diag_give(d, m->said); /* no Triton file, it may be: none at all */
    return diag_errors(d) == errors;
}

Node *const *ast_constant_items(const Module *m, uint32_t *count) {
    *count = 0;
    if (m->items.len == 0) return NULL;
    Node *const *last = &m->items.at[m->items.len - 1];
    if ((*last)->kind != NODE_CONSTANT) return NULL;
    if ((*last)->a->kind == NODE_TUPLE) {
        *count = (*last)->a->list.len;
        return (*last)->a->list.at;
    }
    *count = 1;
    return &(*last)->a;
}
