/* call.c - calls: of builtins, and of functions of the file or the library, which are specialised and inlined.
 *
 * In: CALL and RETURN nodes. Out: the call's value.
 * Method: a function's body is run in a frame of its own with its parameters bound to the arguments as they are, so
 * that constants stay constants; `$retval` merges over its paths. Recursion is an error. What library code makes and
 * reports has the place of the user's call.
 */
#include "check/sema.h"

#include <string.h>

enum { CALL_LIMIT = 64 };

/* ---- return ------------------------------------------------------------------------------------------------------ */

void return_run(Checker *c, const Node *n) {
    const Sem *s = n->a ? check_expr(c, n->a) : &sem_none;
    if (!c->frame->caller && n->a && s->kind != SEM_NONE && !sem_is_error(s)) {
        diag(c->d, n->a->span, E_KERNEL_RETURN);
        s = &sem_none;
    }
    frame_assign(c, c->retval, s, n->span);
    if (c->frame->loops) {
        frame_assign(c, c->ret, sem_bool(c, true), n->span);
        frame_assign(c, c->brk, sem_bool(c, true), n->span);
    }
    flow_stop(c);
}

/* ---- Parameters -------------------------------------------------------------------------------------------------- */

static bool is_constexpr(const Node *param) {
    const Node *t = param->a;
    return t && (t->kind == NODE_NAME || t->kind == NODE_ATTRIBUTE) && strcmp(t->name, "constexpr") == 0;
}

static int param_index(const Node *fn, const char *name) {
    for (uint32_t i = 0; i < fn->list.len; i++) {
        if (fn->list.at[i]->name == name && fn->list.at[i]->op == 0) return (int)i;
    }
    return -1;
}

static void no_such_parameter(Checker *c, const Node *fn, const Arg *arg) {
    const char **names = NEW_ARRAY(c->a, const char *, fn->list.len + 1);
    for (uint32_t i = 0; i < fn->list.len; i++) names[i] = fn->list.at[i]->name;
    const char *near = nearest_name(arg->name, names, fn->list.len);
    if (near) {
        diag(c->d, arg->at, E_NO_PARAMETER_NEAR, fn->name, arg->name, near);
        fix_head(c, arg->at, arg->name, near);
    } else {
        diag(c->d, arg->at, E_NO_PARAMETER, fn->name, arg->name);
    }
    diag_note(c->d, fn->span, "'%s' is defined here", fn->name);
}

/* Arguments by parameter; what *args takes comes as one tuple. */
static bool match(Checker *c, const Node *fn, const Args *args, const Sem **given, Span *at) {
    VEC(const Sem *) rest = {0};
    const NodeList *params = &fn->list;
    uint32_t position = 0;
    int star = -1;
    bool ok = true;
    for (uint32_t i = 0; i < params->len; i++) {
        if (params->at[i]->op == 1) star = (int)i;
    }
    for (uint32_t i = 0; i < args->list.len; i++) {
        const Arg *arg = &args->list.at[i];
        bool to_star = !arg->name && star >= 0 && position >= (uint32_t)star;
        int index = arg->name ? param_index(fn, arg->name) : to_star ? star : (int)position++;
        if (index < 0) {
            no_such_parameter(c, fn, arg);
            ok = false;
        } else if (to_star) {
            vec_push(c->a, &rest, arg->sem);
        } else if ((uint32_t)index >= params->len) {
            diag(c->d, arg->at, E_MANY_PARAMETERS, fn->name, params->len, params->len == 1 ? "" : "s");
            diag_note(c->d, fn->span, "it is defined here");
            return false;
        } else if (given[index]) {
            diag(c->d, arg->at, E_PARAMETER_TWICE, fn->name, params->at[index]->name);
            ok = false;
        } else {
            given[index] = arg->sem;
            at[index] = arg->at;
        }
    }
    Span from = args->list.len ? args->list.at[0].at : fn->span;
    if (star >= 0) given[star] = sem_limited(c, sem_tuple(c, rest.at, rest.len), from);
    return ok;
}

static const Sem *default_value(Checker *c, const Node *fn, const Node *param, Span call_at) {
    if (param->b) {
        frame_push(c, fn, call_at); /* a default sees the constants of the file, not the caller's variables */
        const Sem *s = check_expr(c, param->b);
        frame_pop(c);
        return s;
    }
    diag(c->d, call_at, E_PARAMETER_MISSING, fn->name, param->name);
    diag_note(c->d, param->span, "the parameter is declared here");
    return NULL;
}

static bool settle(Checker *c, const Node *fn, const Sem **given, Span *at, Span call_at) {
    bool ok = true;
    for (uint32_t i = 0; i < fn->list.len; i++) {
        const Node *param = fn->list.at[i];
        if (param->op == 2) {
            diag(c->d, param->span, E_NOT_YET_STARS_NAME, param->name);
            return false;
        }
        if (!given[i]) given[i] = default_value(c, fn, param, call_at);
        if (!given[i]) {
            ok = false;
            continue;
        }
        if (!is_constexpr(param)) continue;
        if (given[i]->kind == SEM_RUN) {
            if (triton_rules(c)) continue; /* Triton asks the values, not the annotations, of inner calls */
            Span place = at[i].end ? at[i] : call_at;
            diag(c->d, place, E_CONST_ARGUMENT, param->name, fn->name);
            diag_note(c->d, param->span, "the parameter is declared here");
            ok = false;
        }
        given[i] = sem_weak(c, given[i]);
    }
    return ok;
}

/* ---- Inlining ---------------------------------------------------------------------------------------------------- */

static bool may_enter(Checker *c, const Node *fn, Span at) {
    for (const Frame *f = c->frame; f; f = f->caller) {
        if (f->fn != fn) continue;
        diag(c->d, at, E_RECURSION, fn->name);
        diag_note(c->d, fn->span, "'%s' is defined here", fn->name);
        return false;
    }
    if (c->calls < CALL_LIMIT) return true;
    diag(c->d, at, E_CALL_DEPTH, CALL_LIMIT);
    return false;
}

/* What a finished body returns. */
static const Sem *returned(Checker *c, const Node *fn) {
    const Binding *b = frame_find(c->frame, c->retval);
    if (!b || !b->sem) return &sem_none;
    if (b->sem->kind == SEM_NONE || sem_is_error(b->sem) || flow_state(c) == FLOW_DEAD) return b->sem;
    diag(c->d, b->span, E_RETURN_PARTLY, fn->name, sem_type_text(c, b->sem));
    diag_note(c->d, fn->span, "'%s' is defined here", fn->name);
    return &sem_error;
}

/* Where the checker is: whose names are seen, the user's call that library code stands for,
 * and the place of what is built. */
typedef struct Where {
    FileScope *file;
    Span library_call, inlined;
    const char *name; /* of the function that it calls */
} Where;

static Where go(Checker *c, Where to) {
    Where from = {c->file, c->library_call, c->f->inlined, NULL};
    c->file = to.file;
    c->library_call = to.library_call;
    c->f->inlined = to.inlined;
    diag_inside(c->d, to.library_call, to.name);
    return from;
}

static Where inside(const Checker *c, const FileScope *home, const char *name, Span at) {
    Span nowhere = {0, 0};
    Span call = !home->is_library ? nowhere : c->library_call.end ? c->library_call : at;
    Span built = home == c->main ? nowhere : c->f->inlined.end ? c->f->inlined : at; /* ops are of the user's file */
    return (Where){(FileScope *)(uintptr_t)home, call, built, name};
}

static const Sem *run_body(Checker *c, const Node *fn, const Sem **given, Span at) {
    c->calls++;
    frame_push(c, fn, at);
    frame_start(c);
    for (uint32_t i = 0; i < fn->list.len; i++) frame_assign(c, fn->list.at[i]->name, given[i], fn->list.at[i]->span);
    block_run(c, &fn->body);
    const Sem *result = returned(c, fn);
    frame_pop(c);
    c->calls--;
    return result;
}

/* What a builtin of the library is given; a default of its own fits. */
static bool fits(Checker *c, const Builtin *b, const Node *fn, const Sem *const *given, const Span *places) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < fn->list.len; i++)
        ok = !given[i] || argument_fits(c, b->name, fn->list.at[i]->name, b->kinds[i], given[i], places[i]);
    return ok;
}

static void note_library(Checker *c, uint32_t errors, const Builtin *b, const Node *fn, const Sem **given,
                         const Span *places) {
    Text names = {0};
    for (uint32_t i = 0; i < fn->list.len; i++) text_printf(&names, "%s ", fn->list.at[i]->name);
    Operands o = {places, given, fn->list.len, b->name, names.at};
    note_origins(c, errors, &o);
    text_free(&names);
}

/* b: the builtin that the function is, or NULL. */
static const Sem *inline_call(Checker *c, const Sem *function, const Builtin *b, const Args *args, Span at) {
    const Node *fn = function->fn;
    if (!may_enter(c, fn, at)) return &sem_error;
    const Sem **given = NEW_ARRAY(c->a, const Sem *, fn->list.len + 1);
    Span *places = NEW_ARRAY(c->a, Span, fn->list.len + 1);
    if (!match(c, fn, args, given, places) || (b && !fits(c, b, fn, given, places))) return &sem_error;
    uint32_t errors = diag_errors(c->d);
    Where before = go(c, inside(c, function->home, fn->name, at));
    const Sem *result = &sem_error;
    bool ok = settle(c, fn, given, places, at);
    if (ok && !args->poisoned) {
        errors = diag_errors(c->d);
        result = run_body(c, fn, given, at);
    }
    go(c, before);
    c->b.span = at;
    if (b) note_library(c, errors, b, fn, given, places);
    bool is_shown = !function->home->is_library && ok; /* errors of library code stand at the call already */
    Span shown = c->library_call.end ? c->library_call : at;
    if (diag_errors(c->d) != errors && is_shown) diag_note(c->d, shown, "in the call of '%s' from here", fn->name);
    return result;
}

const Sem *call_bound(Checker *c, const Sem *function, const Sem *self, const Node *call_node) {
    Args args = args_evaluate(c, call_node, self);
    return inline_call(c, function, NULL, &args, call_node->span);
}

const Sem *call_library(Checker *c, const Builtin *b, const Sem *self, const Node *call_node) {
    Args args = args_evaluate(c, call_node, self);
    return inline_call(c, library_function(c, b->library, b->name), b, &args, call_node->span);
}

const Sem *call_function(Checker *c, const Sem *function, const Sem *const *values, uint32_t count, Span at) {
    Args args = {.positional = count};
    for (uint32_t i = 0; i < count; i++) {
        Arg arg = {NULL, values[i], at};
        vec_push(c->a, &args.list, arg);
        args.poisoned |= sem_is_error(values[i]);
    }
    return inline_call(c, function, NULL, &args, at);
}

const Sem *check_call(Checker *c, const Node *n) {
    const Sem *answer = type_question(c, n);
    if (answer) return answer;
    const Sem *callee = check_expr(c, n->a);
    if (callee->kind == SEM_BUILTIN) return builtin_call(c, callee, n);
    if (callee->kind == SEM_FUNCTION) return call_bound(c, callee, NULL, n);
    if (callee->kind == SEM_RECORD) return record_call(c, callee, n);
    if (callee->kind == SEM_TYPE && !callee->is_pointer && n->list.len == 1) { /* fp32(x) */
        Args args = args_evaluate(c, n, NULL);
        if (args.poisoned || sem_is_error(args.list.at[0].sem)) return &sem_error;
        return convert_to(c, args.list.at[0].sem, callee->type, n->span);
    }
    if (sem_is_error(callee)) {
        args_evaluate(c, n, NULL); /* for their own errors */
        return callee;
    }
    diag(c->d, n->a->span, E_NOT_CALLABLE, sem_type_text(c, callee));
    return &sem_error;
}
