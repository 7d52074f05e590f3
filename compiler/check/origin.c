/* origin.c - notes behind an error of types that meet wrongly: what each operand is, and where it got that.
 *
 * In: the operands' places, and what they are. Out: `'mask' is tile<1024xi1>, from here` for those that are names;
 * of a builtin's arguments also which one it is, and those that are no names at their own place; of an operator's
 * operands the type at each.
 * An operand's name is read from the source: what was looked up is gone by now.
 */
#include "check/sema.h"

#include "runtime/base/ascii.h"

#include <string.h>

static const char *word_end(const char *p, const char *end) {
    while (p < end && is_word(*p)) p++;
    return p;
}

static const char *behind(const char *p, const char *end, const char *skipped) {
    while (p < end && strchr(skipped, *p)) p++;
    return p;
}

/* The name that the source has at this place, behind `NAME=` or not. Where more follows (x[:, None], x + 1) it is the
 * first name, and *is_whole false. NULL: there is none, or it is called. */
static const char *name_at(Checker *c, Span at, bool *is_whole) {
    const Source *s = diag_place(c->d, at).source;
    if (!s || at.end > s->base + s->len) return NULL;
    const char *text = s->text + (at.begin - s->base), *end = s->text + (at.end - s->base);
    const char *equals = behind(word_end(text, end), end, " ");
    if (equals + 1 < end && equals[0] == '=' && equals[1] != '=') text = equals + 1;
    text = behind(text, end, " (");
    const char *p = word_end(text, end);
    *is_whole = p == end;
    if (p == text || (p < end && *p == '(')) return NULL;
    return str_intern(c->s, text, (size_t)(p - text));
}

static bool is_about_meeting(const Diag *d) {
    static const char *const rows[] = {E_OPERANDS,     E_MIXED_SIGN,  E_BROADCAST,     E_RESHAPE,   E_ELEMENT_TYPES,
                                       E_GATHER_SHAPE, E_MEMORY_SHAPE, E_POINTER_STEP, E_ONE_SHAPE, E_COMMON_TYPE};
    bool is = false;
    for (size_t i = 0; i < COUNT(rows); i++) is |= diag_ends_with(d, rows[i]);
    return is;
}

/* The i-th of a list of names with blanks between. */
static const char *word_at(Checker *c, const char *list, uint32_t i) {
    for (; i && *list; i--) {
        list += strcspn(list, " ");
        list += strspn(list, " ");
    }
    return str_intern(c->s, list, strcspn(list, " "));
}

static void note_one(Checker *c, Span at, const Sem *s, const char *builtin, const char *param) {
    bool is_whole = false;
    const char *name = name_at(c, at, &is_whole), *type = sem_type_text(c, s);
    if (!diag_mentions(c->d, type)) return;
    const Binding *b = name ? frame_find(c->frame, name) : NULL;
    is_whole |= b && b->sem == s; /* x.sum(): the place is that of x.sum */
    bool is_bound = b && b->sem && b->span.end && (!is_whole || b->sem == s);
    const char *what = param ? arena_printf(c->a, "'%s' of '%s'", param, builtin) : NULL;
    if (!is_whole && what && s->kind == SEM_RUN && !diag_mentions(c->d, what))
        diag_note(c->d, at, "%s is %s", what, type);
    if (!what && s->kind == SEM_RUN) diag_note(c->d, at, "%s", type); /* of an operator */
    if (!is_bound || (!is_whole && !sem_is_tile(b->sem))) return;
    if (!is_whole || !param || strcmp(name, param) == 0)
        diag_note(c->d, b->span, "'%s' is %s, from here", name, sem_type_text(c, b->sem));
    else
        diag_note(c->d, b->span, "'%s', the '%s' of '%s', is %s, from here", name, param, builtin, type);
}

/* Library code has names of its own, which the user never wrote. */
void note_origins(Checker *c, uint32_t errors, const Operands *o) {
    if (diag_errors(c->d) == errors || c->library_call.end || !is_about_meeting(c->d)) return;
    for (uint32_t i = 0; i < o->count; i++) {
        if (o->of[i] && o->at[i].end)
            note_one(c, o->at[i], o->of[i], o->builtin, o->names ? word_at(c, o->names, i) : NULL);
    }
}
