/* builtin.c - the table of builtins, and binding a call's arguments to their names.
 *
 * In: a CALL node and the builtin that it names. Out: what the builtin's handler makes of a bound Call.
 * Method: arguments are evaluated in order; any that is poison makes the result poison, silently.
 */
#include "check/builtin/builtin.h"

#include <string.h>

static const Builtin builtins[] = {
#define BUILTIN(name, min, max, arguments, kinds, handler, aux) \
    {name, arguments, kinds, builtin_##handler, min, max, (int)(aux), NULL},
#define LIBRARY(name, file, kinds) {name, "", kinds, NULL, 0, 0, 0, #file},
#include "check/builtin/builtin.def"
#undef BUILTIN
#undef LIBRARY
};

static const char *const names[] = {
#define BUILTIN(name, ...)  name,
#define LIBRARY(name, ...)  name,
#include "check/builtin/builtin.def"
#undef BUILTIN
#undef LIBRARY
};

const Builtin *builtin_find(const char *name) {
    for (size_t i = 0; i < COUNT(builtins); i++) {
        if (strcmp(builtins[i].name, name) == 0) return &builtins[i];
    }
    return NULL;
}

const char *const *builtin_names(uint32_t *count) {
    *count = COUNT(names);
    return names;
}

static void print_arguments(const Builtin *b, Text *out) {
    int index = 0;
    for (const char *p = b->names; *p; index++) {
        size_t length = strcspn(p, " ");
        text_printf(out, "%s%.*s%s", index ? ", " : "", (int)length, p, index < b->min ? "" : "=");
        p += length;
        while (*p == ' ') p++;
    }
}

void builtin_list(Arena *a, Text *out) {
    for (size_t i = 0; i < COUNT(builtins); i++) {
        const Builtin *b = &builtins[i];
        text_printf(out, "%s(", b->name);
        if (b->library) library_parameters(a, b->library, b->name, out);
        else print_arguments(b, out);
        text_printf(out, ")\n");
    }
}

/* ---- Arguments, of builtins and of functions of the file --------------------------------------------------------- */

static void push(Checker *c, Args *args, const char *name, const Sem *s, Span at) {
    Arg arg = {name, s, at};
    vec_push(c->a, &args->list, arg);
    if (sem_is_error(s)) args->poisoned = true;
    if (!name) args->positional++;
}

Args args_evaluate(Checker *c, const Node *call_node, const Sem *self) {
    Args args = {0};
    if (self) push(c, &args, NULL, self, call_node->a->span);
    for (uint32_t i = 0; i < call_node->list.len; i++) {
        const Node *n = call_node->list.at[i];
        if (n->kind == NODE_KEYWORD) {
            push(c, &args, n->name, check_expr(c, n->a), n->span);
        } else if (n->kind == NODE_STAR) {
            const Sem *s = check_expr(c, n->a);
            if (s->kind == SEM_TUPLE) {
                for (uint32_t k = 0; k < s->count; k++) push(c, &args, NULL, s->items[k], n->span);
            } else {
                if (!sem_is_error(s)) diag(c->d, n->span, E_STAR_TUPLE, sem_type_text(c, s));
                args.poisoned = true;
            }
        } else if (n->kind == NODE_STARSTAR) {
            diag(c->d, n->span, E_NOT_YET_STARS);
            args.poisoned = true;
        } else {
            push(c, &args, NULL, check_expr(c, n), n->span);
        }
    }
    return args;
}

/* The position of a name in the blank-separated list, or -1. */
static int name_index(const char *list, const char *name) {
    size_t n = strlen(name);
    int index = 0;
    for (const char *p = list; *p; index++) {
        size_t length = strcspn(p, " ");
        if (length == n && strncmp(p, name, n) == 0) return index;
        p += length;
        while (*p == ' ') p++;
    }
    return -1;
}

static const char *name_at(Checker *c, const char *list, int index) {
    for (const char *p = list; *p; index--) {
        size_t length = strcspn(p, " ");
        if (index == 0) return arena_strndup(c->a, p, length);
        p += length;
        while (*p == ' ') p++;
    }
    return "";
}

/* How it is called: sum(input, axis=, …). */
static void note_form(Checker *c, const Call *call, Span at) {
    const Builtin *b = call->builtin;
    Text form = {0};
    print_arguments(b, &form);
    diag_note(c->d, at, "its arguments are %s(%s)%s", b->name, form.at ? form.at : "",
              call->is_method ? "; the first is what stands before the dot" : "");
    text_free(&form);
}

static void no_such_argument(Checker *c, const Call *call, const Arg *arg) {
    const Builtin *b = call->builtin;
    const char *near[BUILTIN_ARGS];
    uint32_t count = 0;
    for (int i = 0; i < b->max; i++) near[count++] = name_at(c, b->names, i);
    const char *hint = strcmp(arg->name, "dim") == 0 ? "axis" : arg->name; /* torch's */
    hint = nearest_name(hint, near, count);
    if (hint) {
        diag(c->d, arg->at, E_NO_ARGUMENT_NEAR, b->name, arg->name, hint);
        fix_head(c, arg->at, arg->name, hint);
    } else {
        diag(c->d, arg->at, E_NO_ARGUMENT, b->name, arg->name);
        note_form(c, call, arg->at);
    }
}

static bool bind(Checker *c, const Builtin *b, const Args *args, Call *call) {
    bool ok = true;
    int position = 0;
    for (uint32_t i = 0; i < args->list.len; i++) {
        const Arg *arg = &args->list.at[i];
        int index = arg->name ? name_index(b->names, arg->name) : position++;
        if (index < 0) {
            no_such_argument(c, call, arg);
            ok = false;
        } else if (index >= b->max) {
            diag(c->d, arg->at, E_MANY_ARGUMENTS, b->name, b->max, b->max == 1 ? "" : "s");
            note_form(c, call, arg->at);
            return false;
        } else if (call->arg[index]) {
            diag(c->d, arg->at, E_ARGUMENT_TWICE, b->name, name_at(c, b->names, index));
            ok = false;
        } else {
            call->arg[index] = arg->sem;
            call->at[index] = arg->at;
        }
    }
    for (int i = 0; ok && i < b->min && !args->poisoned; i++) {
        if (call->arg[i]) continue;
        diag(c->d, call->span, E_ARGUMENT_MISSING, b->name, name_at(c, b->names, i));
        note_form(c, call, call->span);
        return false;
    }
    return ok;
}

/* max(a, b) and max(a, b, c), element by element as in Python: all are values, whatever the names say. */
bool call_is_elementwise(const Call *call) {
    bool is_plain = call->is_bare && call->positional == call->node->list.len;
    return call->builtin->run == builtin_max && is_plain && call->positional >= 2;
}

static bool fits(Checker *c, const Builtin *b, const Call *call) {
    bool ok = true;
    for (int i = 0; ok && i < b->max && !call_is_elementwise(call); i++) {
        if (!call->arg[i]) continue;
        ok = argument_fits(c, b->name, name_at(c, b->names, i), b->kinds[i], call->arg[i], call->at[i]);
    }
    return ok;
}

bool call_flag(const Call *call, uint32_t arg, bool otherwise) {
    return call->arg[arg] ? const_truth(call->arg[arg]) : otherwise;
}

const char *argument_of(Checker *c, const Call *call, uint32_t arg) {
    return arena_printf(c->a, "'%s' of '%s'", name_at(c, call->builtin->names, (int)arg), call->builtin->name);
}

bool builtin_bind(Checker *c, const Sem *callee, const Node *call_node, Call *call) {
    const Builtin *b = callee->builtin;
    *call = (Call){.builtin = b, .span = call_node->span, .node = call_node, .is_bare = callee->weak};
    Args args = args_evaluate(c, call_node, callee->self);
    call->positional = args.positional;
    call->is_method = callee->self != NULL;
    return bind(c, b, &args, call) && fits(c, b, call) && !args.poisoned;
}

const Sem *builtin_call(Checker *c, const Sem *callee, const Node *call_node) {
    const Builtin *b = callee->builtin;
    if (b->library) return call_library(c, b, callee->self, call_node);
    Call call;
    if (!builtin_bind(c, callee, call_node, &call)) return &sem_error;
    c->b.span = call_node->span;
    uint32_t errors = diag_errors(c->d);
    const Sem *r = b->run(c, &call);
    Operands o = {call.at, call.arg, (uint32_t)b->max, b->name, b->names};
    note_origins(c, errors, &o);
    return r;
}
