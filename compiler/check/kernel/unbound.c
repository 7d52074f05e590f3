/* unbound.c - the one error about parameters that nobody gave a type or value, with a signature to copy.
 *
 * In: Params after the options, rules and defaults. Out: a diagnostic; those parameters are marked as failed.
 * Method: a bare parameter is proposed as a pointer where the leftmost name of an address is it, also through
 * assignments; else as an i32. Whoever copies the signature corrects it.
 */
#include "check/sema.h"

#include <string.h>

typedef VEC(const char *) Names;

static bool holds(const Names *names, const char *name) {
    for (uint32_t i = 0; i < names->len; i++)
        if (names->at[i] == name) return true;
    return false;
}

/* p of `p + row * stride + cols`; NULL: no name stands there. */
static const char *root_of(const Node *n) {
    while (n->kind == NODE_BINARY) n = n->a;
    return n->kind == NODE_NAME ? n->name : NULL;
}

static bool takes_address(const Node *call) {
    static const char *const words[] = {"load", "store", "atomic_", "make_block_ptr", "make_tensor_descriptor"};
    const Node *callee = call->a;
    if (callee->kind != NODE_NAME && callee->kind != NODE_ATTRIBUTE) return false;
    for (size_t i = 0; i < COUNT(words); i++)
        if (strncmp(callee->name, words[i], strlen(words[i])) == 0) return true;
    return false;
}

typedef struct Search {
    Checker *c;
    Names pointers;
} Search;

static void note_pointer(void *context, const Node *n) {
    Search *s = context;
    const char *root = NULL;
    if (n->kind == NODE_CALL && n->list.len && takes_address(n)) root = root_of(n->list.at[0]);
    bool is_alias = n->kind == NODE_ASSIGN && n->list.len == 1 && n->list.at[0]->kind == NODE_NAME;
    if (is_alias && holds(&s->pointers, n->list.at[0]->name)) root = root_of(n->a);
    if (root && !holds(&s->pointers, root)) vec_push(s->c->a, &s->pointers, root);
}

static Names find_pointers(Checker *c, const Node *fn) {
    Search s = {.c = c};
    uint32_t before;
    do {
        before = s.pointers.len;
        for (uint32_t i = 0; i < fn->body.len; i++) ast_walk(fn->body.at[i], note_pointer, &s);
    } while (s.pointers.len != before);
    return s.pointers;
}

static bool is_unbound(const ParamInfo *p) {
    bool is_open = p->role == ROLE_CONSTEXPR || p->role == ROLE_DTYPE || (p->role == ROLE_BARE && !p->typed);
    return !p->failed && !p->value && is_open;
}

/* What the parameter is, or may be; "": nothing needs to be said. */
static const char *proposal(Checker *c, const ParamInfo *p, const Names *pointers) {
    if (!is_unbound(p)) return p->typed ? type_text(c, p->type, p->role == ROLE_POINTER, shape_scalar()) : "";
    if (p->role == ROLE_DTYPE) return "fp32";
    if (p->role == ROLE_CONSTEXPR) return "1024";
    return holds(pointers, p->name) ? "*fp32" : "i32";
}

void params_report_unbound(Checker *c, Params *p) {
    Text names = {0}, signature = {0};
    ParamInfo *first = NULL;
    uint32_t count = 0, last = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        if (!is_unbound(&p->at[i])) continue;
        if (!first) first = &p->at[i];
        text_printf(&names, "%s%s", count++ ? ", " : "", p->at[i].name);
        last = i;
    }
    if (!count) return;
    Names pointers = find_pointers(c, p->fn);
    for (uint32_t i = 0; i <= last; i++) text_printf(&signature, i ? ", %s" : "%s", proposal(c, &p->at[i], &pointers));
    if (count > 1) diag(c->d, first->span, E_UNBOUND_SEVERAL, count, p->fn->name, names.at);
    else if (first->role == ROLE_CONSTEXPR) diag(c->d, first->span, E_UNBOUND_CONSTEXPR, first->name, p->fn->name);
    else if (first->role == ROLE_DTYPE) diag(c->d, first->span, E_UNBOUND_DTYPE, first->name, p->fn->name);
    else diag(c->d, first->span, E_UNBOUND_TYPE, first->name, p->fn->name);
    for (uint32_t i = 0; i <= last; i++) {
        const ParamInfo *param = &p->at[i];
        if (is_unbound(param) && param != first)
            diag_note(c->d, param->span, "%s", param->role == ROLE_CONSTEXPR ? "a value" : "a type");
    }
    diag_note(c->d, first->span, "say them by position, as in --signature \"%s\"", signature.at);
    if (first->role == ROLE_CONSTEXPR)
        diag_note(c->d, first->span, "or one by one: -D %s=1024; or give it a default or a launch rule", first->name);
    else
        diag_note(c->d, first->span, "or one by one: -T %s='%s'; or annotate it", first->name,
                  proposal(c, first, &pointers));
    for (uint32_t i = 0; i <= last; i++) p->at[i].failed |= is_unbound(&p->at[i]);
    text_free(&names);
    text_free(&signature);
}
