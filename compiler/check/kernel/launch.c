/* launch.c - the launch rule in @kernel(...): grid, constexpr values, num_warps, require, as code for the record.
 *
 * In: the decorator's keywords. Out: postfix codes (rule.c compiles them; only the runtime's evaluator runs them).
 */
#include "check/sema.h"

#include <string.h>

static const Span nowhere = {0, 0};

bool decorator_is(const Node *decorator, const char *name) {
    const Node *n = decorator->kind == NODE_CALL ? decorator->a : decorator;
    return (n->kind == NODE_NAME || n->kind == NODE_ATTRIBUTE) && strcmp(n->name, name) == 0;
}

const Node *kernel_rule(const Node *fn) {
    for (uint32_t i = 0; i < fn->rest.len; i++) {
        const Node *n = fn->rest.at[i];
        if (n->kind == NODE_CALL && decorator_is(n, "kernel")) return n;
    }
    return NULL;
}

int name_of_param(void *context, const char *name, RuleKind *kind) {
    const Params *p = context;
    int index = params_find(p, name);
    Role role = index < 0 ? ROLE_SCALAR : p->at[index].role;
    *kind = role == ROLE_DTYPE                            ? RULE_IS_TYPE
            : role == ROLE_CONSTEXPR || role == ROLE_BARE ? RULE_IS_EITHER
                                                          : RULE_IS_NUMBER;
    return index;
}

static const char *compile(Checker *c, const Params *p, const Node *n) {
    return rule_compile(c->a, c->d, n, name_of_param, (void *)(uintptr_t)p);
}

const char *const compiled_words[NUM_COMPILED] = {"num_warps", "num_stages", "num_ctas"};
static const char *const words[] = {"grid", "num_warps", "num_stages", "num_ctas", "require"};

static bool is_word(const char *name) {
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(words[i], name) == 0) return true;
    }
    return false;
}

static void no_such_keyword(Checker *c, const Params *p, const Node *n) {
    const char **names = NEW_ARRAY(c->a, const char *, p->count + COUNT(words));
    uint32_t count = 0;
    for (; count < COUNT(words); count++) names[count] = words[count];
    for (uint32_t i = 0; i < p->count; i++) names[count++] = p->at[i].name;
    const char *near = nearest_name(n->name, names, count);
    if (near) {
        diag(c->d, n->span, E_RULE_NAME_NEAR, n->name, near);
        fix_head(c, n->span, n->name, near);
    } else {
        diag(c->d, n->span, E_RULE_NAME, n->name);
    }
    diag_note(c->d, n->span,
              "it takes grid, num_warps, num_stages, num_ctas, require and the kernel's constexpr parameters");
}

static void constexpr_rule(Checker *c, Params *p, const Node *n) {
    int index = params_find(p, n->name);
    if (index < 0) {
        no_such_keyword(c, p, n);
        return;
    }
    ParamInfo *param = &p->at[index];
    if (param->role != ROLE_CONSTEXPR && param->role != ROLE_BARE) {
        diag(c->d, n->span, E_RULE_CONSTEXPR, n->name);
        diag_note(c->d, param->span, "it is declared here");
        return;
    }
    if (param->rule) {
        diag(c->d, n->span, E_RULE_TWICE, n->name);
        return;
    }
    param->rule = compile(c, p, n->a);
    param->rule_at = n->a->span;
    if (!param->rule) param->failed = true;
}

void launch_check(Checker *c, Params *p) {
    for (uint32_t i = 0; i < p->fn->rest.len; i++) {
        const Node *n = p->fn->rest.at[i];
        bool is_read =
            decorator_is(n, "kernel") || decorator_is(n, "jit") || is_autotune(n) || decorator_is(n, "heuristics");
        if (!is_read) diag(c->d, n->span, W_DECORATOR);
    }
    const Node *rule = kernel_rule(p->fn);
    for (uint32_t i = 0; rule && i < rule->list.len; i++) {
        const Node *n = rule->list.at[i];
        if (n->kind != NODE_KEYWORD) {
            diag(c->d, n->span, E_RULE_FORM);
        } else if (!is_word(n->name)) {
            constexpr_rule(c, p, n);
        }
    }
}

/* ---- Into the record --------------------------------------------------------------------------------------------- */

static const Node *keyword(const Params *p, const char *name) {
    const Node *rule = kernel_rule(p->fn);
    for (uint32_t i = 0; rule && i < rule->list.len; i++) {
        const Node *n = rule->list.at[i];
        if (n->kind == NODE_KEYWORD && strcmp(n->name, name) == 0) return n->a;
    }
    if (strcmp(name, "num_warps") == 0) return p->warps_rule;
    return strcmp(name, "num_stages") == 0 ? p->stages_rule : NULL;
}

/* The items of a tuple or list, or the expression itself. */
static uint32_t items(const Node *n, Node *const **at, const Node *const *self) {
    if (n->kind == NODE_TUPLE || n->kind == NODE_LIST) {
        *at = n->list.at;
        return n->list.len;
    }
    *at = (Node *const *)(uintptr_t)self;
    return 1;
}

static void record_grid(Checker *c, const Params *p, const Node *n) {
    Node *const *at;
    uint32_t count = items(n, &at, &n);
    if (count < 1 || count > 3) {
        diag(c->d, n->span, E_GRID_RULE, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *code = compile(c, p, at[i]);
        if (code) record_add_grid(c->record, code);
    }
}

static const char *source_text(Checker *c, Span s) {
    const Source *source = c->m->source;
    return arena_strndup(c->a, source->text + (s.begin - source->base), s.end - s.begin);
}

const char *launch_code(Checker *c, const Params *p, int i) {
    const Node *n = keyword(p, compiled_words[i]);
    return n ? compile(c, p, n) : NULL;
}

const char **launch_requires(Checker *c, const Params *p, uint32_t *count) {
    Node *const *at;
    const Node *n = keyword(p, "require");
    uint32_t all = n ? items(n, &at, &n) : 0;
    const char **codes = NEW_ARRAY(c->a, const char *, all + 1);
    DiagMark mark = diag_mark(c->d); /* launch_record says what is wrong */
    *count = 0;
    for (uint32_t i = 0; i < all; i++) {
        const char *code = compile(c, p, at[i]);
        if (code) codes[(*count)++] = code;
    }
    (void)diag_rewind(c->d, mark);
    return codes;
}

static void record_requires(Checker *c, const Params *p, const Node *n) {
    Node *const *at;
    uint32_t count = items(n, &at, &n);
    for (uint32_t i = 0; i < count; i++) {
        const char *code = compile(c, p, at[i]);
        if (code) record_add_require(c->record, code, source_text(c, at[i]->span));
    }
}

void launch_record(Checker *c, const Params *p, bool interface) {
    static void (*const set[NUM_COMPILED])(Record * r, const char *code) = {record_set_num_warps, record_set_num_stages,
                                                                            record_set_num_ctas};
    const Node *n = keyword(p, "grid");
    if (n) record_grid(c, p, n);
    for (int i = 0; i < NUM_COMPILED; i++) {
        bool is_config = interface && p->compiled[i];
        const char *code = p->tuned[i] ? p->tuned[i]
                           : is_config ? arena_printf(c->a, "%u", p->compiled[i])
                                       : launch_code(c, p, i);
        RuleValue v;
        if (code) set[i](c->record, code);
        if (p->tuned[i] && rule_number(c, p, code, nowhere, &v)) record_set_compiled(c->record, i, v.i);
    }
    if (p->tuned_line) record_set_tuned(c->record, p->tuned_file, p->tuned_line);
    n = keyword(p, "require");
    if (n) record_requires(c, p, n);
    if (p->config && !p->is_tuned)
        record_set_config(c->record, arena_printf(c->a, "%u of %u", p->config, p->num_configs));
}

uint32_t launch_given(const Checker *c, int i) {
    return (const uint32_t[NUM_COMPILED]){c->o->num_warps, c->o->num_stages, c->o->num_ctas}[i];
}

/* num_warps and its kin: from the command line, the tuned file, the configuration, else from the rule, each where it
 * can be evaluated now, else 0; 0 of a rule is as if left out. */
uint32_t launch_option(Checker *c, const Params *p, int i, uint32_t limit) {
    const char *name = compiled_words[i];
    const Node *n = keyword(p, name);
    uint32_t given = launch_given(c, i);
    const char *code = given ? NULL : p->tuned[i];
    Span at = n && !given ? n->span : nowhere;
    RuleValue v;
    bool is_known = code && rule_number(c, p, code, at, &v);
    if (!is_known && !given) given = p->compiled[i];
    if (!is_known && !given && (code = launch_code(c, p, i))) is_known = rule_number(c, p, code, at, &v);
    if (!is_known && !given) return 0;
    int64_t value = !is_known ? given : rule_is_int(v) ? v.i : -1;
    if (is_known && value == 0) return 0;
    bool is_power = strcmp(name, "num_stages") == 0 || (value & (value - 1)) == 0;
    if (value >= 1 && value <= limit && is_power) return (uint32_t)value;
    diag(c->d, at, E_LAUNCH_NUMBER, name, (long long)value,
         strcmp(name, "num_stages") == 0 ? "a number" : "a power of two", limit);
    return 0;
}
