/* tune.c - Triton's decorators that choose meta-parameters: @autotune(configs=[...]) and @heuristics({...}).
 *
 * In: the entry point's decorators; --config. Out: values of constexpr parameters (origin CONFIG), num_warps and its
 * kin, and launch rules out of the heuristics' lambdas.
 * Method: the list of configurations is walked as the source has it - lists, sums of lists, comprehensions, constants
 * of the file - and only the one that is wanted is evaluated. What cannot be read is left out with a warning.
 */
#include "check/sema.h"

#include <string.h>

static const Span nowhere = {0, 0};

typedef struct Tune {
    Checker *c;
    Params *p;
    uint32_t wanted, count; /* from 1; how many were seen */
    const Node *config;     /* the wanted one's call */
    const Sem **values;     /* by parameter */
    const Node *unreadable; /* the first part that is not known at compile time */
    const char *result;     /* in a function of the host: the list that it returns; NULL: it returns an expression */
    NodeList lists;         /* and its other lists, as their assignments */
} Tune;

/* ---- Trying ------------------------------------------------------------------------------------------------------ */

static void give_up(Tune *t, const Node *at) {
    if (!t->unreadable) t->unreadable = at;
}

/* ---- Configurations ---------------------------------------------------------------------------------------------- */

static const char *last_name(const Node *n) {
    return n->kind == NODE_NAME || n->kind == NODE_ATTRIBUTE ? n->name : "";
}

/* Argument `position` of a call, or the one with that keyword; NULL: neither. */
static const Node *argument(const Node *call, uint32_t position, const char *name) {
    for (uint32_t i = 0; i < call->list.len; i++) {
        const Node *n = call->list.at[i];
        if (n->kind == NODE_KEYWORD && strcmp(n->name, name) == 0) return n->a;
        if (n->kind != NODE_KEYWORD && n->kind != NODE_STAR && n->kind != NODE_STARSTAR && i == position) return n;
    }
    return NULL;
}

static void set_value(Tune *t, const char *name, const Node *value) {
    const Sem *s = check_expr(t->c, value);
    int index = params_find(t->p, name);
    if (index >= 0) t->values[index] = s;
    if (s->kind == SEM_RUN || sem_is_error(s)) give_up(t, value);
    if (index >= 0) return;
    diag(t->c->d, value->span, W_CONFIG, name, t->p->fn->name);
}

/* {'BLOCK': 64} or dict(BLOCK=64). */
static void read_values(Tune *t, const Node *n) {
    if (n->kind == NODE_DICT) {
        for (uint32_t i = 0; i + 1 < n->list.len; i += 2) {
            if (n->list.at[i]->kind == NODE_STRING) set_value(t, n->list.at[i]->name, n->list.at[i + 1]);
            else give_up(t, n->list.at[i]);
        }
        return;
    }
    if (n->kind != NODE_CALL || strcmp(last_name(n->a), "dict") != 0) give_up(t, n);
    for (uint32_t i = 0; !t->unreadable && i < n->list.len; i++) {
        if (n->list.at[i]->kind == NODE_KEYWORD) set_value(t, n->list.at[i]->name, n->list.at[i]->a);
        else give_up(t, n->list.at[i]);
    }
}

static void read_count(Tune *t, const Node *call, uint32_t position, const char *name, uint32_t *out) {
    const Node *n = argument(call, position, name);
    int64_t count;
    if (!n) return;
    const Sem *s = check_expr(t->c, n);
    if (s->kind == SEM_NONE) return;
    if (sem_want_int(t->c, s, n->span, name, &count) && count > 0 && count <= 1024) *out = (uint32_t)count;
    else give_up(t, n);
}

static void read_config(Tune *t, const Node *call) {
    if (++t->count != t->wanted) return;
    const Node *values = argument(call, 0, "kwargs");
    t->config = call;
    if (values) read_values(t, values);
    read_count(t, call, 1, "num_warps", &t->p->compiled[0]);
    read_count(t, call, 2, "num_stages", &t->p->compiled[1]);
    read_count(t, call, 3, "num_ctas", &t->p->compiled[2]);
}

static void read_configs(Tune *t, const Node *n);

static void read_comprehension(void *context, const Node *element) {
    read_configs(context, element);
}

/* ---- Functions that return configurations ------------------------------------------------------------------------ */

static const Node *host_function(const Checker *c, const Node *n) {
    if (n->kind != NODE_NAME) return NULL;
    for (uint32_t i = 0; i < c->m->hosts.len; i++) {
        if (c->m->hosts.at[i]->name == n->name && !c->m->hosts.at[i]->flag) return c->m->hosts.at[i];
    }
    return NULL;
}

/* Its value, or poison where the host's world decides; no error either way. */
static const Sem *try_expr(Checker *c, const Node *n) {
    DiagMark mark = diag_mark(c->d);
    const Sem *s = check_expr(c, n);
    return take_back(c, mark) || s->kind == SEM_RUN ? &sem_error : s;
}

/* NAME = list, before NAME is returned or added to another. */
static const Node *local_list(const Tune *t, const char *name) {
    for (uint32_t i = t->lists.len; i-- > 0;) {
        if (t->lists.at[i]->list.at[0]->name == name) return t->lists.at[i]->a;
    }
    return NULL;
}

static bool host_block(Tune *t, const NodeList *list);

static bool host_for(Tune *t, const Node *n) {
    const Sem *s = check_iterable(t->c, n->b);
    bool done = false;
    if (s->kind != SEM_TUPLE) give_up(t, n->b);
    for (uint32_t i = 0; !t->unreadable && !done && s->kind == SEM_TUPLE && i < s->count && check_spend(t->c, n->span);
         i++) {
        assign_to(t->c, n->a, s->items[i], n->a->span);
        done = host_block(t, &n->body);
    }
    return done;
}

static bool host_if(Tune *t, const Node *n) {
    const Sem *s = try_expr(t->c, n->a);
    if (sem_is_error(s)) return (give_up(t, n->a), true);
    return host_block(t, const_truth(s) ? &n->body : &n->rest);
}

/* result.append(Config(...)), result.extend([...]); what else is called has no say. */
static void host_call(Tune *t, const Node *n) {
    if (n->kind != NODE_CALL || n->a->kind != NODE_ATTRIBUTE || n->a->a->kind != NODE_NAME) return;
    bool adds = strcmp(n->a->name, "append") == 0 || strcmp(n->a->name, "extend") == 0;
    if (!adds || n->list.len != 1) return;
    if (n->a->a->name == t->result) read_configs(t, n->list.at[0]);
    else if (local_list(t, n->a->a->name)) give_up(t, n);
}

static void host_assign(Tune *t, Node *n) {
    Node *to = n->list.at[0];
    if (n->list.len != 1 || to->kind != NODE_NAME) {
        give_up(t, n);
    } else if (to->name == t->result) {
        if (t->count) give_up(t, n); /* what was counted is thrown away */
        read_configs(t, n->a);
    } else {
        frame_assign(t->c, to->name, try_expr(t->c, n->a), n->span);
        vec_push(t->c->a, &t->lists, n);
    }
}

/* True: it returned. */
static bool host_statement(Tune *t, Node *n) {
    switch (n->kind) {
    case NODE_PASS:
    case NODE_RAISE:
    case NODE_ASSERT: return false;
    case NODE_EXPR: return (host_call(t, n->a), false);
    case NODE_ASSIGN: return (host_assign(t, n), false);
    case NODE_FOR: return host_for(t, n);
    case NODE_IF: return host_if(t, n);
    case NODE_AUGMENT:
        if (n->op == BIN_ADD && n->a->kind == NODE_NAME && n->a->name == t->result) read_configs(t, n->b);
        else give_up(t, n);
        return false;
    case NODE_RETURN:
        if (!n->a) give_up(t, n);
        else if (n->a->kind != NODE_NAME || n->a->name != t->result) read_configs(t, n->a);
        return true;
    default: return (give_up(t, n), true);
    }
}

static bool host_block(Tune *t, const NodeList *list) {
    bool done = false;
    for (uint32_t i = 0; !done && !t->unreadable && i < list->len && check_spend(t->c, list->at[i]->span); i++) {
        done = host_statement(t, list->at[i]);
    }
    return done;
}

/* Runs it as far as its list of configurations goes. */
static void host_run(Tune *t, const Node *fn, const Node *call) {
    Checker *c = t->c;
    const Node *last = fn->body.len ? fn->body.at[fn->body.len - 1] : NULL;
    if (call->list.len || fn->list.len || c->calls > 16) {
        give_up(t, call);
        return;
    }
    bool names_one = last && last->kind == NODE_RETURN && last->a && last->a->kind == NODE_NAME;
    const char *result = t->result;
    NodeList lists = t->lists;
    t->result = names_one ? last->a->name : NULL;
    t->lists = (NodeList){0};
    c->calls++;
    frame_push(c, fn, call->span);
    frame_start(c);
    if (!host_block(t, &fn->body)) give_up(t, call);
    frame_pop(c);
    c->calls--;
    t->result = result;
    t->lists = lists;
}

static void read_configs(Tune *t, const Node *n) {
    Checker *c = t->c;
    if (t->unreadable || !check_spend(c, n->span)) return;
    c->depth++;
    const Node *global = n->kind == NODE_NAME ? global_node(c, n->name) : NULL;
    const Node *local = n->kind == NODE_NAME ? local_list(t, n->name) : NULL;
    const Node *function = n->kind == NODE_CALL ? host_function(c, n->a) : NULL;
    if (n->kind == NODE_LIST || n->kind == NODE_TUPLE) {
        for (uint32_t i = 0; i < n->list.len; i++) read_configs(t, n->list.at[i]);
    } else if (n->kind == NODE_STAR) {
        read_configs(t, n->a);
    } else if (n->kind == NODE_BINARY && n->op == BIN_ADD) {
        read_configs(t, n->a);
        read_configs(t, n->b);
    } else if (n->kind == NODE_COMPREHENSION) {
        if (!comprehension_walk(c, n, read_comprehension, t)) give_up(t, n->c);
    } else if (n->kind == NODE_CALL && strcmp(last_name(n->a), "Config") == 0) {
        read_config(t, n);
    } else if (function) {
        host_run(t, function, n);
    } else if (local) {
        read_configs(t, local);
    } else if (global && global->kind == NODE_CONSTANT) {
        read_configs(t, global->a);
    } else {
        give_up(t, n);
    }
    c->depth--;
}

static void left_out(Checker *c, const Node *decorator, const Node *unreadable, const char *why) {
    diag(c->d, decorator->span, W_DECORATOR_WHY, why);
    if (unreadable) diag_note(c->d, unreadable->span, "this is not known from the file alone");
    diag_note(c->d, decorator->span,
              "bind what it would choose with -D, or write a launch rule: @kernel(grid=..., BLOCK=...)");
}

static void apply(Tune *t) {
    for (uint32_t i = 0; i < t->p->count; i++) {
        ParamInfo *param = &t->p->at[i];
        if (!t->values[i] || param->value) continue;
        param_set_value(t->c, param, t->values[i], RECORD_CONFIG, "the configuration");
    }
    t->p->config = t->wanted;
    t->p->num_configs = t->count;
}

static void read_autotune(Checker *c, Params *p, const Node *decorator) {
    Tune t = {.c = c, .p = p, .wanted = c->o->config ? c->o->config : 1};
    t.values = NEW_ARRAY(c->a, const Sem *, p->count + 1);
    const Node *list = decorator->kind == NODE_CALL ? argument(decorator, 0, "configs") : NULL;
    DiagMark mark = diag_mark(c->d);
    frame_push(c, NULL, nowhere);
    frame_start(c);
    if (list) read_configs(&t, list);
    frame_pop(c);
    bool had_errors = take_back(c, mark);
    if (!list || t.unreadable || had_errors || t.count == 0) {
        memset(p->compiled, 0, sizeof p->compiled);
        left_out(c, decorator, t.unreadable, "its configurations cannot be read at compile time");
        return;
    }
    if (t.wanted > t.count) {
        diag(c->d, nowhere, E_CONFIG_COUNT, t.wanted, p->fn->name, t.count, t.count == 1 ? "" : "s");
        for (uint32_t i = 0; i < p->count; i++) { /* what it would have bound is not reported once more */
            bool is_open = p->at[i].role == ROLE_CONSTEXPR || p->at[i].role == ROLE_BARE;
            p->at[i].failed |= is_open && !p->at[i].value && !p->at[i].typed;
        }
    }
    apply(&t);
}

/* ---- Heuristics -------------------------------------------------------------------------------------------------- */

typedef struct Plain {
    Checker *c;
    const Params *p;
    const char *args; /* the lambda's parameter */
} Plain;

static Node *plain(Plain *t, const Node *n);

static NodeList plain_list(Plain *t, const NodeList *from) {
    NodeList to = {0};
    for (uint32_t i = 0; i < from->len; i++) vec_push(t->c->a, &to, plain(t, from->at[i]));
    return to;
}

/* args['x'] → the parameter's name; NULL: something else. */
static const char *arg_name(const Plain *t, const Node *n) {
    bool is_arg = n->kind == NODE_SUBSCRIPT && n->a->kind == NODE_NAME && n->a->name == t->args && n->list.len == 1;
    return is_arg && n->list.at[0]->kind == NODE_STRING ? n->list.at[0]->name : NULL;
}

/* args['x'] is None: known from how x was bound. */
static bool none_test(const Plain *t, const Node *n, Node *out) {
    if (n->kind != NODE_COMPARE || n->list.len != 2 || n->list.at[1]->kind != NODE_NONE) return false;
    const char *name = arg_name(t, n->list.at[0]);
    int index = name ? params_find(t->p, name) : -1;
    if (index < 0) return false;
    const Sem *s = t->p->at[index].value;
    bool is_none = s && s->kind == SEM_NONE, negated = n->ops[0] == CMP_IS_NOT || n->ops[0] == CMP_NE;
    *out = (Node){.kind = is_none != negated ? NODE_TRUE : NODE_FALSE, .depth = 1, .span = n->span};
    return true;
}

/* The lambda's body as a launch rule: a copy in which every args['x'] is the name x. */
static Node *plain(Plain *t, const Node *n) {
    if (!n) return NULL;
    Node *copy = NEW(t->c->a, Node);
    if (none_test(t, n, copy)) return copy;
    const char *name = arg_name(t, n);
    *copy = *n;
    if (name) {
        *copy = (Node){.kind = NODE_NAME, .depth = 1, .span = n->span, .name = str_intern0(t->c->s, name)};
        return copy;
    }
    copy->a = plain(t, n->a);
    copy->b = plain(t, n->b);
    copy->c = plain(t, n->c);
    copy->list = plain_list(t, &n->list);
    return copy;
}

static bool read_heuristic(Checker *c, Params *p, const char *name, const Node *value) {
    int index = params_find(p, name);
    if (index >= 0 && (p->at[index].value || p->at[index].rule)) return true; /* somebody else's word is stronger */
    const Node *function = host_function(c, value), *said = value->kind == NODE_LAMBDA ? value : function;
    if (!said || said->list.len != 1) return false;
    Plain t = {c, p, said->list.at[0]->name};
    const Node *only = function && function->body.len == 1 ? function->body.at[0] : NULL;
    if (function && (!only || only->kind != NODE_RETURN || !only->a)) return false;
    DiagMark mark = diag_mark(c->d);
    const Node *body = plain(&t, only ? only->a : value->a);
    const char *code = rule_compile(c->a, c->d, body, name_of_param, p);
    if (diag_rewind(c->d, mark) || !code) return false;
    if (index >= 0) {
        if (p->at[index].role == ROLE_BARE) p->at[index].role = ROLE_CONSTEXPR;
        p->at[index].rule = code;
        p->at[index].rule_at = value->span;
    } else if (strcmp(name, "num_warps") == 0) {
        p->warps_rule = body;
    } else if (strcmp(name, "num_stages") == 0) {
        p->stages_rule = body;
    }
    return true;
}

static void read_heuristics(Checker *c, Params *p, const Node *decorator) {
    const Node *dict = decorator->kind == NODE_CALL ? argument(decorator, 0, "values") : NULL;
    const Node *global = dict && dict->kind == NODE_NAME ? global_node(c, dict->name) : NULL;
    if (global && global->kind == NODE_CONSTANT) dict = global->a;
    if (!dict || dict->kind != NODE_DICT) {
        left_out(c, decorator, NULL, "its dictionary is not written out here");
        return;
    }
    for (uint32_t i = 0; i + 1 < dict->list.len; i += 2) {
        const Node *key = dict->list.at[i], *value = dict->list.at[i + 1];
        if (key->kind == NODE_STRING && read_heuristic(c, p, key->name, value)) continue;
        diag(c->d, value->span, W_HEURISTIC);
        if (key->kind == NODE_STRING) diag_note(c->d, value->span, "bind its value with -D %s=VALUE", key->name);
    }
}

/* ---- The decorators ---------------------------------------------------------------------------------------------- */

/* @autotune, and what wraps it under a name that ends so. */
bool is_autotune(const Node *decorator) {
    static const char word[] = "autotune";
    const char *name = last_name(decorator->kind == NODE_CALL ? decorator->a : decorator);
    size_t n = strlen(name), m = sizeof word - 1;
    return n >= m && strcmp(name + n - m, word) == 0;
}

void tune_read(Checker *c, Params *p) {
    for (uint32_t i = 0; i < p->fn->rest.len; i++) {
        const Node *n = p->fn->rest.at[i];
        if (is_autotune(n) && !p->config) read_autotune(c, p, n);
    }
    for (uint32_t i = 0; i < p->fn->rest.len; i++) {
        const Node *n = p->fn->rest.at[i];
        if (decorator_is(n, "heuristics")) read_heuristics(c, p, n);
    }
    if (!c->o->config || p->config) return;
    diag(c->d, nowhere, E_CONFIG_NONE, c->o->config, p->fn->name);
}

const Node *check_autotune_key(const Module *m, const char *kernel) {
    for (uint32_t i = 0; i < m->items.len; i++) {
        const Node *fn = m->items.at[i];
        if (fn->kind != NODE_FUNCTION || strcmp(fn->name, kernel) != 0) continue;
        for (uint32_t k = 0; k < fn->rest.len; k++) {
            const Node *n = fn->rest.at[k];
            const Node *key = n->kind == NODE_CALL && is_autotune(n) ? argument(n, 1, "key") : NULL;
            if (key && (key->kind == NODE_LIST || key->kind == NODE_TUPLE)) return key;
        }
    }
    return NULL;
}
