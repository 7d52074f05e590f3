/* record.c - named tuples: namedtuple("Pair", ("x", "y")), its calls, and the fields of what it makes.
 *
 * In: a bound Call, or a call of a record. Out: a RECORD, whose items are the names of the fields as STRINGs; a TUPLE
 * that knows its record. Method: a named tuple is a tuple in every other way.
 */
#include "check/builtin/builtin.h"

#include "runtime/base/ascii.h"

#include <string.h>

typedef VEC(const Sem *) Sems;

static bool is_name(const char *text, size_t n) {
    bool ok = n > 0 && !is_digit(text[0]);
    for (size_t i = 0; i < n; i++) ok = ok && is_word(text[i]);
    return ok;
}

/* "x y" or "x, y". */
static bool names_in(Checker *c, const char *text, Sems *out) {
    static const char between[] = ", \t\n";
    for (text += strspn(text, between); *text; text += strspn(text, between)) {
        size_t n = strcspn(text, between);
        if (!is_name(text, n)) return false;
        vec_push(c->a, out, sem_string(c, arena_strndup(c->a, text, n)));
        text += n;
    }
    return true;
}

static bool field_names(Checker *c, const Sem *s, Sems *out) {
    if (s->kind == SEM_STRING) return names_in(c, s->s, out);
    for (uint32_t i = 0; s->kind == SEM_TUPLE && i < s->count; i++) {
        if (s->items[i]->kind != SEM_STRING || !is_name(s->items[i]->s, strlen(s->items[i]->s))) return false;
        vec_push(c->a, out, s->items[i]);
    }
    return s->kind == SEM_TUPLE;
}

const Sem *builtin_namedtuple(Checker *c, Call *call) {
    const Sem *defaults = call->arg[2] && call->arg[2]->kind != SEM_NONE ? call->arg[2] : NULL;
    Sems names = {0};
    bool has_names = field_names(c, call->arg[1], &names);
    bool fits = !defaults || (defaults->kind == SEM_TUPLE && defaults->count <= names.len);
    if (!has_names || !fits) {
        const char *wanted = has_names ? "as defaults a tuple, of no more values than there are fields"
                                       : "the names of fields, as in (\"x\", \"y\")";
        diag(c->d, call->at[has_names ? 2 : 1], E_ARGUMENT_KIND, call->builtin->name, wanted,
             sem_type_text(c, call->arg[has_names ? 2 : 1]));
        return &sem_error;
    }
    Sem *r = NEW(c->a, Sem);
    *r = *sem_tuple(c, names.at, names.len);
    r->kind = SEM_RECORD;
    r->s = call->arg[0]->s;
    r->self = defaults;
    return r;
}

static int64_t field_index(const Sem *record, const char *name) {
    for (uint32_t i = 0; i < record->count; i++) {
        if (strcmp(record->items[i]->s, name) == 0) return i;
    }
    return -1;
}

/* Each argument in its field; false: an error was reported. */
static bool fill(Checker *c, const Sem *record, const Args *args, const Sem **items) {
    uint32_t position = 0;
    for (uint32_t i = 0; i < args->list.len; i++) {
        const Arg *arg = &args->list.at[i];
        int64_t at = arg->name ? field_index(record, arg->name) : position++;
        if (at < 0) {
            diag(c->d, arg->at, E_NO_PARAMETER, record->s, arg->name);
            return false;
        }
        if (at >= record->count) {
            diag(c->d, arg->at, E_MANY_PARAMETERS, record->s, record->count, record->count == 1 ? "" : "s");
            return false;
        }
        if (items[at]) {
            diag(c->d, arg->at, E_PARAMETER_TWICE, record->s, record->items[at]->s);
            return false;
        }
        items[at] = arg->sem;
    }
    return true;
}

const Sem *record_call(Checker *c, const Sem *record, const Node *call_node) {
    Args args = args_evaluate(c, call_node, NULL);
    const Sem **items = NEW_ARRAY(c->a, const Sem *, record->count + 1);
    if (!fill(c, record, &args, items) || args.poisoned) return &sem_error;
    uint32_t without = record->count - (record->self ? record->self->count : 0);
    for (uint32_t i = 0; i < record->count; i++) {
        if (!items[i] && i >= without) items[i] = record->self->items[i - without];
        if (items[i]) continue;
        diag(c->d, call_node->span, E_PARAMETER_MISSING, record->s, record->items[i]->s);
        return &sem_error;
    }
    Sem *r = NEW(c->a, Sem);
    *r = *sem_tuple(c, items, record->count);
    r->self = record;
    return sem_limited(c, r, call_node->span);
}

const Sem *record_field(const Sem *tuple, const char *name) {
    int64_t i = tuple->self ? field_index(tuple->self, name) : -1;
    return i < 0 ? NULL : tuple->items[i];
}
