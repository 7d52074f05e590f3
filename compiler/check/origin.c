/* origin.c - notes behind an error of types that meet wrongly: what each named operand is, and where it got that.
 *
 * In: the operands' places, and what they are. Out: `'mask' is tile<1024xi1>, from here` for those that are names.
 * An operand's name is read from the source: what was looked up is gone by now.
 */
#include "check/sema.h"

#include <ctype.h>
#include <string.h>

/* The name that the source has at this place, alone or behind `NAME=`; or NULL. */
static const char *name_at(Checker *c, Span at) {
    const Source *s = diag_place(c->d, at).source;
    if (!s || at.end > s->base + s->len) return NULL;
    const char *text = s->text + (at.begin - s->base), *end = s->text + (at.end - s->base);
    const char *equals = memchr(text, '=', (size_t)(end - text));
    if (equals) text = equals + 1;
    while (text < end && *text == ' ') text++;
    for (const char *p = text; p < end; p++) {
        if (!isalnum((unsigned char)*p) && *p != '_') return NULL;
    }
    return str_intern(c->s, text, (size_t)(end - text));
}

static bool is_about_meeting(const Diag *d) {
    static const char *const rows[] = {E_OPERANDS, E_MIXED_SIGN, E_BROADCAST, E_RESHAPE, E_ELEMENT_TYPES, E_GATHER_SHAPE, E_MEMORY_SHAPE};
    bool is = false;
    for (size_t i = 0; i < COUNT(rows); i++) is |= diag_ends_with(d, rows[i]);
    return is;
}

void note_origins(Checker *c, uint32_t errors, const Span *at, const Sem *const *of, uint32_t n) {
    if (diag_errors(c->d) == errors || !is_about_meeting(c->d)) return;
    for (uint32_t i = 0; i < n; i++) {
        const char *name = of[i] ? name_at(c, at[i]) : NULL;
        const Binding *b = name ? frame_find(c->frame, name) : NULL;
        if (b && b->sem == of[i] && b->span.end) diag_note(c->d, b->span, "'%s' is %s, from here", name, sem_type_text(c, of[i]));
    }
}
