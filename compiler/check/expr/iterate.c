/* iterate.c - what is known at compile time and gone over: by comprehensions, and by loops of configuration functions.
 *
 * In: the expression after `in`. Out: a tuple: of range(...), product(...) of itertools, zip(...), or of what is a
 * tuple itself; any other Sem as the expression has it.
 */
#include "check/sema.h"

#include <string.h>

enum { MOST = 65536 };

typedef VEC(const Sem *) Sems;

static const Sem *finish(Checker *c, const Sems *list, Span at) {
    return sem_limited(c, sem_tuple(c, list->at, list->len), at);
}

static const Sem *known_range(Checker *c, const Node *n) {
    int64_t bounds[3] = {0, 0, 1};
    if (n->list.len < 1 || n->list.len > 3) return NULL;
    for (uint32_t i = 0; i < n->list.len; i++) {
        uint32_t to = n->list.len == 1 ? 1 : i;
        const Sem *s = check_expr(c, n->list.at[i]);
        if (!sem_want_int(c, s, n->list.at[i]->span, "a bound of range", &bounds[to])) return &sem_error;
    }
    Sems list = {0};
    int64_t step = bounds[2], i = bounds[0];
    bool more = true;
    for (; more && (step > 0 ? i < bounds[1] : step < 0 && i > bounds[1]);
         more = !__builtin_add_overflow(i, step, &i)) {
        if (list.len > MOST || !check_spend(c, n->span)) break;
        vec_push(c->a, &list, sem_i64(c, i));
    }
    return finish(c, &list, n->span);
}

/* The tuples that a call's arguments are; false: one is none. */
static bool arguments(Checker *c, const Node *n, Sems *out) {
    for (uint32_t i = 0; i < n->list.len; i++) {
        if (n->list.at[i]->kind == NODE_KEYWORD || n->list.at[i]->kind == NODE_STAR) return false;
        const Sem *s = check_iterable(c, n->list.at[i]);
        if (s->kind != SEM_TUPLE) return false;
        vec_push(c->a, out, s);
    }
    return n->list.len > 0;
}

/* Row `row` of the list: the last argument goes round fastest in a product, all together in a zip. */
static const Sem *row_of(Checker *c, const Sems *of, uint64_t row, bool is_product) {
    const Sem **items = NEW_ARRAY(c->a, const Sem *, of->len);
    for (uint32_t i = of->len; i-- > 0;) {
        uint64_t k = is_product ? row % of->at[i]->count : row;
        if (is_product) row /= of->at[i]->count;
        items[i] = of->at[i]->items[k];
    }
    return sem_tuple(c, items, of->len);
}

static const Sem *rows(Checker *c, const Node *n, bool is_product) {
    Sems of = {0}, list = {0};
    if (!arguments(c, n, &of)) return NULL;
    uint64_t count = is_product ? 1 : of.at[0]->count;
    for (uint32_t i = 0; i < of.len && count <= MOST; i++) {
        uint64_t n_items = of.at[i]->count;
        if (is_product) count *= n_items;
        else if (n_items < count) count = n_items;
    }
    for (uint64_t row = 0; row < count && list.len <= MOST && check_spend(c, n->span); row++) {
        const Sem *s = row_of(c, &of, row, is_product);
        vec_push(c->a, &list, s);
    }
    return finish(c, &list, n->span);
}

const Sem *check_iterable(Checker *c, const Node *n) {
    const Sem *s = NULL;
    if (n->kind == NODE_CALL && (n->a->kind == NODE_NAME || n->a->kind == NODE_ATTRIBUTE)) {
        const char *name = n->a->name;
        bool is_bare = n->a->kind == NODE_NAME;
        if (strcmp(name, "range") == 0 && is_bare) s = known_range(c, n);
        else if (strcmp(name, "product") == 0) s = rows(c, n, true);
        else if (strcmp(name, "zip") == 0 && is_bare) s = rows(c, n, false);
    }
    return s ? s : check_expr(c, n);
}
