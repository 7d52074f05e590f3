/* grid.c - a grid that is given in words: --grid, and the grid of an object.
 *
 * In: expressions over the kernel's arguments. Out: the grid, or a sentence.
 */
#include "driver.h"

#include <stdio.h>
#include <string.h>

static int name_index(void *context, const char *name, RuleKind *kind) {
    const Record *r = context;
    for (uint32_t i = 0; i < r->num_params; i++) {
        const RecordParam *p = &r->params[i];
        *kind = p->kind != RECORD_CONSTEXPR     ? RULE_IS_NUMBER
                : p->value_kind == RECORD_DTYPE ? RULE_IS_TYPE
                                                : RULE_IS_EITHER;
        if (strcmp(p->name, name) == 0) return (int)i;
    }
    return -1;
}

/* The expressions are read as the language's own: the value of a constant `grid = (EXPR, EXPR,)`. */
bool driver_grid(Arena *a, const char *text, const Record *interface, const RuleEnv *env, int64_t grid[3], char *err,
                 size_t errsize) {
    Diag *d = diag_create(a, 1);
    const char *line = arena_printf(a, "grid = (%s,)\n", text);
    const Source *source = diag_add_source(d, "--grid", line, strlen(line));
    Module *m = syntax_parse(a, strings_create(a), d, source, SYNTAX_DSL);
    uint32_t n = 0;
    Node *const *items = diag_errors(d) ? NULL : ast_constant_items(m, &n);
    if (items && n > 3) diag(d, (Span){0, 0}, E_GRID_OPTION, n);
    RuleStatus s = RULE_OK;
    err[0] = '\0';
    for (uint32_t i = 0; i < n && !diag_errors(d) && s == RULE_OK; i++) {
        const char *code = rule_compile(a, d, items[i], name_index, (void *)(uintptr_t)interface);
        if (code) s = rule_eval_int(code, env, &grid[i], err, errsize);
    }
    if (items && !diag_errors(d) && s == RULE_OK) return true;
    if (s == RULE_UNBOUND) {
        const char *name = arena_printf(a, "%s", err);
        snprintf(err, errsize, "needs %s; give %s=NUMBER", name, name);
    }
    Text shown = {0};
    diag_print(d, &shown, false);
    if (!err[0]) snprintf(err, errsize, "%s", shown.at ? shown.at : "not an expression");
    text_free(&shown);
    return false;
}
