/* indent.c - the filter between scanner and grammar: physical lines become logical ones with INDENT,
 * DEDENT and NEWLINE.
 *
 * In: Parser.raw. Out: Parser.tokens. Inside brackets ends of lines mean nothing. Indentation is all tabs or all
 * spaces, read off the text before a line's first token. An item of a Triton file is filtered by itself, as if it stood
 * at the left edge. Limits on brackets and indentation end the text with an error.
 */
#include "syntax/parser.h"
#include "syntax/parse.tab.h"

#include <string.h>

typedef struct Filter {
    Parser *p;
    uint32_t at;                  /* the raw token looked at */
    uint32_t levels[AST_INDENTS + 1], depth;
    Token brackets[AST_BRACKETS + 1]; /* the open ones */
    uint32_t num_brackets;
    char indent_char; /* of the file: a tab or a blank, 0 before the first indented line */
    bool mixed;       /* the other one was used: reported; from then on levels are guessed */
} Filter;

static void put(Filter *f, const Token *t) {
    vec_push(f->p->a, &f->p->tokens, *t);
}

static void put_kind(Filter *f, int kind, Span span) {
    put(f, &(Token){.kind = kind, .span = span});
}

static void stop(Filter *f) {
    f->p->stop = true;
}

/* ---- Indentation ------------------------------------------------------------------------------------------------- */

uint32_t line_begin(const Source *s, uint32_t at) {
    while (at > 0 && s->text[at - 1] != '\n' && s->text[at - 1] != '\r') at--;
    return at == 0 && s->len >= 3 && memcmp(s->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : at;
}

/* Does the line before end in a ':'? */
static bool is_after_colon(const Filter *f) {
    const Tokens *t = &f->p->tokens;
    return t->len > 1 && t->at[t->len - 2].kind == ':';
}

/* Columns in front of the token, which is the first of its line. Where tabs meet spaces a ':' tells the level. */
static uint32_t indentation(Filter *f, const Token *t) {
    const Source *s = f->p->source;
    uint32_t end = t->span.begin - s->base, begin = line_begin(s, end), level = f->levels[f->depth];
    for (uint32_t i = begin; i < end; i++) {
        char c = s->text[i];
        if (c != ' ' && c != '\t') continue;
        if (!f->indent_char) f->indent_char = c;
        if (c == f->indent_char) continue;
        if (!f->mixed) {
            diag(f->p->d, (Span){s->base + begin, s->base + end}, E_MIXED_TABS);
            diag_note(f->p->d, (Span){0, 0}, "indent the whole file with one of them; four spaces are customary");
        }
        f->mixed = true;
        return is_after_colon(f) ? level + 4 : level;
    }
    if (f->mixed && end - begin > level && !is_after_colon(f)) return level;
    return end - begin;
}

static void change_level(Filter *f, uint32_t columns, Span at) {
    Span here = {at.begin, at.begin};
    if (columns > f->levels[f->depth]) {
        if (f->depth == AST_INDENTS) {
            diag(f->p->d, at, E_INDENT_LEVELS, AST_INDENTS);
            diag_note(f->p->d, (Span){0, 0}, "move the inner part into a function of its own");
            stop(f);
            return;
        }
        f->levels[++f->depth] = columns;
        put_kind(f, INDENT, here);
        return;
    }
    while (f->depth && columns < f->levels[f->depth]) {
        f->depth--;
        put_kind(f, DEDENT, here);
    }
    if (columns != f->levels[f->depth] && !f->mixed) {
        diag(f->p->d, at, E_DEDENT);
        diag_note(f->p->d, (Span){0, 0}, "it has %u columns; the enclosing block has %u", columns, f->levels[f->depth]);
    }
}

/* ---- Brackets ---------------------------------------------------------------------------------------------------- */

static int closing(int open) {
    return open == '(' ? ')' : open == '[' ? ']' : '}';
}

static void open_bracket(Filter *f, const Token *t) {
    if (f->num_brackets == AST_BRACKETS) {
        diag(f->p->d, t->span, E_BRACKET_LEVELS, AST_BRACKETS);
        diag_note(f->p->d, (Span){0, 0}, "give the inner part a name on a line of its own");
        stop(f);
        return;
    }
    f->brackets[f->num_brackets++] = *t;
}

/* False: the token is dropped. */
static bool close_bracket(Filter *f, const Token *t) {
    if (f->num_brackets == 0) {
        diag(f->p->d, t->span, E_CLOSES_NOTHING, t->kind);
        return false;
    }
    const Token *open = &f->brackets[--f->num_brackets];
    if (closing(open->kind) == t->kind) return true;
    diag(f->p->d, t->span, E_CLOSES_OTHER, t->kind, open->kind);
    diag_note(f->p->d, open->span, "'%c' was opened here", open->kind);
    stop(f);
    return false;
}

static void unclosed(Filter *f) {
    if (f->num_brackets == 0 || f->p->stop) return;
    const Token *open = &f->brackets[f->num_brackets - 1];
    if (f->p->open_string < open->span.begin) diag(f->p->d, open->span, E_NEVER_CLOSED, open->kind);
    f->p->unclosed = open->span.begin;
}

/* ---- Logical lines ----------------------------------------------------------------------------------------------- */

/* One logical line from f->at on, which is its first token; leaves f->at behind its end. */
static void pass_line(Filter *f) {
    Parser *p = f->p;
    while (f->at < p->raw.len && !p->stop) {
        const Token *t = &p->raw.at[f->at++];
        if (t->kind == TOKEN_LINE) {
            if (f->num_brackets) continue;
            put_kind(f, NEWLINE, t->span);
            return;
        }
        if (t->kind == '(' || t->kind == '[' || t->kind == '{') open_bracket(f, t);
        if ((t->kind == ')' || t->kind == ']' || t->kind == '}') && !close_bracket(f, t)) continue;
        put(f, t);
    }
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

void filter_lines(Parser *p) {
    Filter filter, *f = &filter; /* its arrays are large, and an item of a Triton file is short */
    f->p = p;
    f->at = f->depth = f->num_brackets = f->levels[0] = 0;
    f->indent_char = 0;
    f->mixed = false;
    bool is_head = p->mode == SYNTAX_PYTHON; /* nothing but decorators came yet */
    while (!p->stop) {
        while (f->at < p->raw.len && p->raw.at[f->at].kind == TOKEN_LINE) f->at++;
        if (f->at >= p->raw.len) break;
        const Token *t = &p->raw.at[f->at];
        uint32_t columns = indentation(f, t);
        if (is_head) f->levels[0] = columns;
        is_head = is_head && t->kind == '@';
        change_level(f, columns, t->span);
        pass_line(f);
    }
    unclosed(f);
    Span end = {p->source->base + p->end, p->source->base + p->end};
    if (p->tokens.len && p->tokens.at[p->tokens.len - 1].kind != NEWLINE) put_kind(f, NEWLINE, end);
    for (; f->depth; f->depth--) put_kind(f, DEDENT, end);
}
