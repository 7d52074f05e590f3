/* format.c - compile-time values as text: what static_print shows, and f-strings.
 *
 * In: Sems; f-string nodes. Out: text in the compile's arena.
 * Method: in an f-string {name} and {name.attribute} are replaced, with or without a format behind; any other
 * expression in braces stays as it is written, for the text is a message only.
 */
#include "check/sema.h"

#include "runtime/base/ascii.h"

#include <string.h>

enum { MOST_TEXT = 1 << 20 }; /* beyond it the string is too large in any case */

void sem_print(Checker *c, const Sem *s, Text *out) {
    if (s->kind == SEM_STRING) {
        text_printf(out, "%s", s->s);
    } else if (sem_is_number(s)) {
        text_printf(out, "%s", number_text(c, s));
    } else if (s->kind == SEM_TUPLE) {
        for (uint32_t i = 0; i < s->count; i++) {
            text_printf(out, "%s", i ? ", " : "(");
            sem_print(c, s->items[i], out);
        }
        text_printf(out, s->count == 0 ? "()" : s->count == 1 ? ",)" : ")");
    } else if (s->kind == SEM_TYPE) {
        text_printf(out, "%s", type_text(c, s->type, s->is_pointer, shape_scalar()));
    } else {
        text_printf(out, "%s", sem_type_text(c, s));
    }
}

static size_t word_length(const char *s) {
    size_t n = 0;
    if (is_digit(*s)) return 0;
    while (is_word(s[n])) n++;
    return n;
}

/* name.attribute... up to the closing brace; NULL: something else. *end is behind the brace. */
static const Node *braced(Checker *c, const char *text, Span span, const char **end) {
    Node *n = NULL;
    const char *s = text;
    for (size_t length; (length = word_length(s)) > 0; s++) {
        Node *outer = NEW(c->a, Node);
        *outer = (Node){.kind = n ? NODE_ATTRIBUTE : NODE_NAME, .depth = 1, .span = span, .a = n};
        outer->name = str_intern(c->s, s, length);
        n = outer;
        s += length;
        if (*s != '.') break;
    }
    if (*s == '=' || *s == '!' || *s == ':') s += strcspn(s, "}");
    *end = s + 1;
    return *s == '}' ? n : NULL;
}

static bool is_known(Checker *c, const Node *n) {
    while (n->kind == NODE_ATTRIBUTE) n = n->a;
    const Binding *b = frame_find(c->frame, n->name);
    if (b && b->sem) return true;
    DiagMark mark = diag_mark(c->d);
    const Sem *s = scope_global(c, n->name, n->span);
    return !take_back(c, mark) && s;
}

const Sem *format_string(Checker *c, const Node *n) {
    Text out = {0};
    bool is_poisoned = false; /* by the value of a name, which was an error where it was made */
    text_write(&out, "", 0);
    for (const char *s = n->name, *end = NULL; *s;) {
        if ((s[0] == '{' || s[0] == '}') && s[1] == s[0]) {
            text_write(&out, s, 1);
            s += 2;
            continue;
        }
        const Node *inner = *s == '{' ? braced(c, s + 1, n->span, &end) : NULL;
        DiagMark mark = diag_mark(c->d);
        bool known = inner && is_known(c, inner);
        const Sem *value = known ? check_expr(c, inner) : &sem_error;
        bool complained = diag_rewind(c->d, mark);
        is_poisoned |= known && sem_is_error(value) && !complained;
        if (sem_is_error(value)) {
            text_write(&out, s++, 1);
        } else {
            spend_looking(c, value);
            if (out.len <= MOST_TEXT) sem_print(c, value, &out);
            s = end;
        }
    }
    const Sem *r = sem_string(c, arena_strndup(c->a, out.at ? out.at : "", out.len));
    text_free(&out);
    return is_poisoned ? &sem_error : sem_limited(c, r, n->span);
}
