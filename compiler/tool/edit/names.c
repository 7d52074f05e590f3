/* names.c - names of a document for `fsc lsp`: definitions, completion, signatures.
 *
 * In: the parsed file and the compiler's tables. Out: places and lists.
 * Method: a name means the parameter or the last assignment of its function that stands before it, else one behind it,
 * else what the file defines.
 */
#include "tool/edit/answer.h"

#include "runtime/base/ascii.h"

#include <string.h>

static size_t offset_of(const Module *m, uint32_t at) {
    return at - m->source->base;
}

const Node *names_function_at(const Document *d, size_t offset) {
    const Module *m = document_module(d);
    const Node *found = NULL;
    for (uint32_t i = 0; m && i < m->items.len; i++) {
        const Node *n = m->items.at[i];
        if (n->kind == NODE_FUNCTION && offset_of(m, n->span.begin) <= offset) found = n;
    }
    return found;
}

/* ---- Definitions ------------------------------------------------------------------------------------------------- */

typedef struct Search {
    const char *name;
    uint32_t before;  /* an offset of the source's space */
    Span found;
    void (*each)(void *context, const char *name);
    void *context;
} Search;

static void meet(Search *s, const Node *target) {
    if (target->kind == NODE_TUPLE || target->kind == NODE_LIST)
        for (uint32_t i = 0; i < target->list.len; i++) meet(s, target->list.at[i]);
    if (target->kind != NODE_NAME && target->kind != NODE_PARAM) return;
    if (s->each) s->each(s->context, target->name);
    else if (strcmp(target->name, s->name) == 0 && (!s->found.end || target->span.begin <= s->before))
        s->found = (Span){target->span.begin, target->span.begin + (uint32_t)strlen(s->name)};
}

static void meet_targets(void *context, const Node *n) {
    Search *s = context;
    if (n->kind == NODE_ASSIGN)
        for (uint32_t i = 0; i < n->list.len; i++) meet(s, n->list.at[i]);
    if (n->kind == NODE_PARAM) meet(s, n);
    if (n->kind == NODE_FOR || n->kind == NODE_ANNOTATE) meet(s, n->a);
    if (n->kind == NODE_COMPREHENSION) meet(s, n->b);
}

static void each_local(const Node *fn, Search *s) {
    for (uint32_t i = 0; fn && i < fn->list.len; i++) meet(s, fn->list.at[i]);
    for (uint32_t i = 0; fn && i < fn->body.len; i++) ast_walk(fn->body.at[i], meet_targets, s);
}

static const Node *find_item(const Module *m, const char *name) {
    const NodeList *lists[] = {&m->items, &m->hosts, &m->imports};
    const Node *found = NULL;
    for (size_t k = 0; k < COUNT(lists) && !found; k++)
        for (uint32_t i = 0; i < lists[k]->len; i++)
            if (lists[k]->at[i]->name && strcmp(lists[k]->at[i]->name, name) == 0) found = lists[k]->at[i];
    return found;
}

Span names_definition(const Document *d, const char *name, size_t offset) {
    const Module *m = document_module(d);
    if (!m) return (Span){0, 0};
    Search s = {.name = name, .before = m->source->base + (uint32_t)offset};
    each_local(names_function_at(d, offset), &s);
    const Node *item = s.found.end ? NULL : find_item(m, name);
    if (item) s.found = item->span;
    return s.found;
}

void answer_definition(const Document *d, const Json *params, Text *out) {
    size_t begin, end, offset = document_offset(d, json_at(params, "position"));
    const Module *m = document_module(d);
    bool is_word = document_word(d, offset, &begin, &end);
    char name[128];
    snprintf(name, sizeof name, "%.*s", is_word ? (int)(end - begin) : 0, d->text + begin);
    Span at = names_definition(d, name, begin);
    if (!at.end || !m) {
        text_printf(out, "null");
        return;
    }
    text_printf(out, "{\"uri\": ");
    text_json(out, d->uri);
    text_printf(out, ", \"range\": ");
    document_range(d, offset_of(m, at.begin), offset_of(m, at.end), out);
    text_printf(out, "}");
}

/* ---- Signatures -------------------------------------------------------------------------------------------------- */

/* The line of the builtins' list that begins with `name(`. */
static bool builtin_signature(const char *name, Text *out) {
    Arena *a = arena_create();
    Text list = {0};
    size_t n = strlen(name);
    bool found = false;
    builtin_list(a, &list);
    for (const char *p = list.at; p && *p && n && !found; p = strchr(p, '\n') + 1) {
        found = strncmp(p, name, n) == 0 && p[n] == '(';
        if (found) text_write(out, p, strcspn(p, "\n"));
    }
    text_free(&list);
    arena_destroy(a);
    return found;
}

bool names_signature(const Document *d, const char *name, Text *out) {
    const Module *m = document_module(d);
    const Node *n = m ? find_item(m, name) : NULL;
    if (!n || n->kind != NODE_FUNCTION) return builtin_signature(name, out);
    text_printf(out, "%s(", name);
    for (uint32_t i = 0; i < n->list.len; i++) {
        const Node *p = n->list.at[i];
        if (i) text_printf(out, ", ");
        text_write(out, m->source->text + offset_of(m, p->span.begin), p->span.end - p->span.begin);
    }
    text_printf(out, ")");
    return true;
}

/* The open call around the offset: its name's range, and the number of commas behind its bracket. */
static bool call_around(const Document *d, size_t offset, size_t *begin, size_t *end, uint32_t *argument) {
    uint32_t depth = 0;
    *argument = 0;
    for (size_t i = offset; i-- > 0;) {
        char c = d->text[i];
        if (c == ')' || c == ']' || c == '}') depth++;
        if (c == ',' && depth == 0) ++*argument;
        if (c != '(' && c != '[' && c != '{') continue;
        if (depth--) continue;
        return c == '(' && i && document_word(d, i, begin, end) && *end == i;
    }
    return false;
}

void answer_signature(const Document *d, const Json *params, Text *out) {
    size_t begin, end, offset = document_offset(d, json_at(params, "position"));
    uint32_t argument;
    Text form = {0};
    char name[128] = "";
    if (call_around(d, offset, &begin, &end, &argument))
        snprintf(name, sizeof name, "%.*s", (int)(end - begin), d->text + begin);
    if (!*name || !names_signature(d, name, &form)) {
        text_printf(out, "null");
        text_free(&form);
        return;
    }
    size_t before = begin > 1 && d->text[begin - 1] == '.' ? begin - 1 : 0, from, to;
    bool is_method = before && document_word(d, before, &from, &to) && strncmp(d->text + from, "tl", 2) != 0;
    text_printf(out, "{\"signatures\": [{\"label\": ");
    text_json(out, form.at);
    text_printf(out, ", \"parameters\": [");
    bool is_first = true;
    for (const char *p = strchr(form.at, '(') + 1; *p && *p != ')'; is_first = false) { /* a label is a part of it */
        size_t n = 0;
        for (int depth = 0; p[n] && (depth || (p[n] != ',' && p[n] != ')')); n++)
            depth += (p[n] == '[' || p[n] == '(') - (p[n] == ']' || p[n] == ')');
        text_printf(out, "%s{\"label\": [%d, %d]}", is_first ? "" : ", ", (int)(p - form.at), (int)(p + n - form.at));
        p += n + strspn(p + n, ", ");
    }
    text_printf(out, "]}], \"activeSignature\": 0, \"activeParameter\": %u}", argument + is_method);
    text_free(&form);
}

/* ---- Completion -------------------------------------------------------------------------------------------------- */

/* The protocol's numbers for what an item is. */
typedef enum ItemKind { ITEM_METHOD = 2, ITEM_FUNCTION = 3, ITEM_VARIABLE = 6, ITEM_PROPERTY = 10, ITEM_KEYWORD = 14,
               ITEM_CONSTANT = 21, ITEM_TYPE = 25 } ItemKind;

typedef struct Items {
    Arena *arena;
    Text *out;
    Strings *names;
    VEC(const char *) seen;
} Items;

static void put_item(Items *l, const char *name, ItemKind kind, const char *detail, size_t length) {
    name = str_intern0(l->names, name);
    for (uint32_t i = 0; i < l->seen.len; i++)
        if (l->seen.at[i] == name) return;
    text_printf(l->out, "%s{\"label\": ", l->seen.len ? ", " : "");
    vec_push(l->arena, &l->seen, name);
    text_json(l->out, name);
    text_printf(l->out, ", \"kind\": %d", (int)kind);
    if (detail) {
        text_printf(l->out, ", \"detail\": ");
        text_json(l->out, arena_strndup(l->arena, detail, length));
    }
    text_printf(l->out, "}");
}

static void put_variable(void *context, const char *name) {
    put_item(context, name, ITEM_VARIABLE, NULL, 0);
}

static void put_builtins(Items *l, ItemKind kind) {
    Text list = {0};
    builtin_list(l->arena, &list);
    for (const char *p = list.at; p && *p; p = strchr(p, '\n') + 1) {
        size_t n = strcspn(p, "(:\n"), all = strcspn(p, "\n");
        if (!memchr(p, '.', n)) put_item(l, arena_strndup(l->arena, p, n), kind, p, all);
    }
    text_free(&list);
}

void answer_completion(const Document *d, const Json *params, Text *out) {
    static const char *const properties[] = {"dtype", "shape", "numel", "T"};
    static const char *const keywords[] = {"and", "break", "continue", "def",  "elif", "else", "for",  "if",   "in",
                                           "not", "or",    "pass",     "return", "while", "True", "False", "None",
                                           "inf", "nan",   "constexpr", "dtype"};
    size_t begin, end, offset = document_offset(d, json_at(params, "position"));
    (void)document_word(d, offset, &begin, &end);
    bool is_member = begin && d->text[begin - 1] == '.';
    Items l = {.arena = arena_create(), .out = out};
    l.names = strings_create(l.arena);
    text_printf(out, "[");
    if (is_member) {
        for (size_t i = 0; i < COUNT(properties); i++) put_item(&l, properties[i], ITEM_PROPERTY, NULL, 0);
        put_builtins(&l, ITEM_METHOD);
    } else {
        const Module *m = document_module(d);
        Search s = {.each = put_variable, .context = &l};
        each_local(names_function_at(d, offset), &s);
        for (uint32_t i = 0; m && i < m->items.len; i++) {
            bool is_function = m->items.at[i]->kind == NODE_FUNCTION;
            put_item(&l, m->items.at[i]->name, is_function ? ITEM_FUNCTION : ITEM_CONSTANT, NULL, 0);
        }
        put_builtins(&l, ITEM_FUNCTION);
        for (uint32_t i = 0; dtype_spelling(i); i++) put_item(&l, dtype_spelling(i), ITEM_TYPE, NULL, 0);
        for (size_t i = 0; i < COUNT(keywords); i++) put_item(&l, keywords[i], ITEM_KEYWORD, NULL, 0);
    }
    text_printf(out, "]");
    arena_destroy(l.arena);
}
