/* argument.c - is an argument of a builtin what it may be? Asked before the handler or the library's function sees it.
 *
 * In: an argument and its letter of kind.def. Out: true; false after an error that names the argument and its builtin.
 * Method: one predicate a row. What depends on several arguments, or on a value, the handlers ask.
 */
#include "check/sema.h"

static bool is_int(const Sem *s) {
    int64_t x;
    return (s->kind == SEM_INT || s->kind == SEM_BOOL) && int_fits(s->i, &x);
}

static bool is_bool(const Sem *s) {
    return s->kind == SEM_BOOL || s->kind == SEM_INT || s->kind == SEM_NONE;
}

static bool is_type(const Sem *s) {
    return s->kind == SEM_TYPE;
}

static bool is_element(const Sem *s) {
    return is_type(s) && !s->is_pointer;
}

static bool is_string(const Sem *s) {
    return s->kind == SEM_STRING;
}

static bool is_number(const Sem *s) {
    return sem_is_value(s);
}

static bool is_value(const Sem *s) {
    return sem_is_number(s) || s->kind == SEM_RUN;
}

static bool is_integer(const Sem *s) {
    return sem_is_value(s) && !stype_is_float(sem_natural(s));
}

static bool is_real(const Sem *s) {
    return sem_is_value(s) && (stype_is_float(sem_natural(s)) || sem_is_number(s));
}

static bool is_tile(const Sem *s) {
    return sem_is_tile(s) && !s->is_pointer;
}

static bool is_int_tile(const Sem *s) {
    return is_tile(s) && is_integer(s);
}

static bool is_float_tile(const Sem *s) {
    return is_tile(s) && is_real(s);
}

static bool is_truth(const Sem *s) {
    return s->kind == SEM_BOOL || s->kind == SEM_INT || (s->kind == SEM_RUN && !s->is_pointer && s->type == ST_I1);
}

static bool is_between(const Sem *s, int64_t least, int64_t most) {
    int64_t x;
    return is_int(s) && int_fits(s->i, &x) && x >= least && x <= most;
}

static bool is_bins(const Sem *s) {
    return is_between(s, 1, 1 << TILE_BITS) && (s->i.mag & (s->i.mag - 1)) == 0;
}

static bool is_rounds(const Sem *s) {
    return is_between(s, 1, 100);
}

typedef struct Kind {
    char letter;
    bool (*holds)(const Sem *s);
    const char *row, *words, *note;
} Kind;

static const Kind kinds[] = {
#define KIND(letter, holds, row, words, note) {letter, is_##holds, row, words, note},
#include "check/builtin/kind.def"
#undef KIND
};

/* What to do about it, where there is something. */
static void advise(Checker *c, const Kind *k, const Sem *s, Span at) {
    bool is_known = k->holds == is_int || k->holds == is_bool || k->holds == is_bins || k->holds == is_rounds;
    bool is_pointer = s->kind == SEM_RUN && s->is_pointer;
    if (k->holds == is_int && s->kind == SEM_INT) {
        diag_note(c->d, at, "it is beyond 64 bits with a sign");
    } else if (is_known && s->kind == SEM_RUN) {
        diag_note(c->d, at, "make it a constexpr parameter, or compute it from constexpr values");
    } else if (is_pointer && k->holds != is_type && k->holds != is_element && k->holds != is_string) {
        diag_note(c->d, at, "load what it points to, as in load(x)");
    } else if (sem_is_value(s) && k->note[0]) {
        diag_note(c->d, at, "%s", k->note);
    }
}

bool argument_fits(Checker *c, const char *builtin, const char *name, char letter, const Sem *s, Span at) {
    if (letter == '.' || sem_is_error(s)) return true;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const Kind *k = &kinds[i];
        if (k->letter != letter) continue;
        bool may_be_none = letter >= 'A' && letter <= 'Z';
        if (k->holds(s) || (may_be_none && s->kind == SEM_NONE)) return true;
        diag(c->d, at, k->row, name, builtin, k->words, sem_type_text(c, s));
        advise(c, k, s, at);
        return false;
    }
    bug("'%s' of '%s' has the kind '%c', which has no row", name, builtin, letter);
}
