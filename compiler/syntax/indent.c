/* indent.c - the filter between scanner and grammar: physical lines become logical ones with INDENT, DEDENT and NEWLINE.
 *
 * In: Parser.raw. Out: Parser.tokens. Inside brackets ends of lines mean nothing. Indentation is all tabs or all spaces,
 * read off the text before a line's first token. In Python mode only imports, constants, and functions under @jit or
 * @kernel pass; other suites are skipped token by token. Limits on brackets and indentation end the file with an error.
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

/* ---- Indentation -------------------------------------------------------------------------------------------------------- */

/* The offset of the first byte of the line that `at` is on; a byte order mark in front of the file is none of it. */
static uint32_t line_begin(const Source *s, uint32_t at) {
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
    while (columns < f->levels[f->depth]) {
        f->depth--;
        put_kind(f, DEDENT, here);
    }
    if (columns != f->levels[f->depth] && !f->mixed) {
        diag(f->p->d, at, E_DEDENT);
        diag_note(f->p->d, (Span){0, 0}, "it has %u columns; the enclosing block has %u", columns, f->levels[f->depth]);
    }
}

/* ---- Brackets ------------------------------------------------------------------------------------------------------------- */

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
    diag(f->p->d, open->span, E_NEVER_CLOSED, open->kind);
    f->p->is_unclosed = true;
}

/* ---- Logical lines ---------------------------------------------------------------------------------------------------------- */

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

/* The end of the logical line that starts at `from`, without looking inside. */
static uint32_t line_end(const Filter *f, uint32_t from) {
    uint32_t depth = 0;
    for (uint32_t i = from; i < f->p->raw.len; i++) {
        int kind = f->p->raw.at[i].kind;
        if (kind == '(' || kind == '[' || kind == '{') depth++;
        if ((kind == ')' || kind == ']' || kind == '}') && depth) depth--;
        if (kind == TOKEN_LINE && depth == 0) return i;
    }
    return f->p->raw.len;
}

static uint32_t skip_blank(const Filter *f, uint32_t at) {
    while (at < f->p->raw.len && f->p->raw.at[at].kind == TOKEN_LINE) at++;
    return at;
}

static uint32_t column_of(const Filter *f, uint32_t at) {
    const Source *s = f->p->source;
    uint32_t end = f->p->raw.at[at].span.begin - s->base;
    return end - line_begin(s, end);
}

/* The end of a line that is skipped. A bracket that stays open would swallow the rest of the file: an error. */
static uint32_t skip_line(const Filter *f, uint32_t at) {
    uint32_t end = line_end(f, at), depth = 0;
    if (end < f->p->raw.len) return end;
    const Token *open = NULL;
    for (uint32_t i = at; i < end; i++) {
        const Token *t = &f->p->raw.at[i];
        if ((t->kind == '(' || t->kind == '[' || t->kind == '{') && depth++ == 0) open = t;
        if ((t->kind == ')' || t->kind == ']' || t->kind == '}') && depth) depth--;
    }
    if (open) diag(f->p->d, open->span, E_NEVER_CLOSED, open->kind);
    return end;
}

/* Past the indented lines after the logical line at `at`. */
static uint32_t skip_suite(const Filter *f, uint32_t at) {
    at = skip_blank(f, skip_line(f, at));
    while (at < f->p->raw.len && column_of(f, at) > 0) at = skip_blank(f, skip_line(f, at));
    return at;
}

/* ---- Python mode: what is host code ------------------------------------------------------------------------------------------- */

/* What expressions are made of. */
static bool is_expression_token(int kind) {
    static const int words[] = {NAME, INT, FLOAT, STRING, TRUE_, FALSE_, NONE, POW, FLOORDIV, SHL, SHR, LE, GE, EQ, NE,
                                AND, OR, NOT, IN, IS, IF, ELSE, FOR, LAMBDA, ELLIPSIS, TOKEN_LINE};
    for (size_t i = 0; i < COUNT(words); i++) {
        if (kind == words[i]) return true;
    }
    return kind > 0 && kind < 128 && strchr("+-*/%&|^~<>=()[]{}.,:", kind);
}

/* NAME = … or NAME: … = …, one expression on the right. */
static bool is_constant(const Filter *f, uint32_t at) {
    const Token *t = &f->p->raw.at[at];
    if (t->kind != NAME || (t[1].kind != '=' && t[1].kind != ':')) return false;
    uint32_t assigned = 0, depth = 0;
    for (uint32_t i = at, end = line_end(f, at); i < end; i++) {
        int kind = f->p->raw.at[i].kind;
        if (kind == '(' || kind == '[' || kind == '{') depth++;
        if ((kind == ')' || kind == ']' || kind == '}') && depth) depth--;
        assigned += kind == '=' && depth == 0;
        if (!is_expression_token(kind)) return false;
    }
    return assigned == 1;
}

/* Is the decorator at `at` @….jit or @….kernel? */
static bool is_jit(const Filter *f, uint32_t at) {
    const Token *raw = f->p->raw.at;
    uint32_t i = at + 1;
    while (raw[i].kind == NAME && raw[i + 1].kind == '.') i += 2;
    return raw[i].kind == NAME && (strcmp(raw[i].name, "jit") == 0 || strcmp(raw[i].name, "kernel") == 0);
}

/* Tokens the grammar has no use for in a decorator. */
static bool is_foreign(const Filter *f, uint32_t at) {
    for (uint32_t i = at, end = line_end(f, at); i < end; i++) {
        int kind = f->p->raw.at[i].kind;
        if (kind == UNUSED || kind == WALRUS) return true;
    }
    return false;
}

static void pass_function(Filter *f, uint32_t first) {
    Parser *p = f->p;
    f->at = first;
    while (p->raw.at[f->at].kind == '@' && !p->stop) {
        if (is_foreign(f, f->at)) {
            diag(p->d, p->raw.at[f->at].span, W_DECORATOR_ARGUMENTS);
            f->at = line_end(f, f->at);
        } else {
            pass_line(f);
        }
        f->at = skip_blank(f, f->at);
    }
}

/* In Python mode, at the first token of a top-level line: moves f->at past host code. True: the line is to be passed. */
static bool is_kernel_code(Filter *f) {
    const Token *raw = f->p->raw.at;
    uint32_t first = f->at;
    if (raw[first].kind == IMPORT || raw[first].kind == FROM || is_constant(f, first)) return true;
    if (raw[first].kind != '@') {
        f->at = skip_suite(f, first);
        return false;
    }
    bool wanted = false;
    uint32_t at = first;
    while (at < f->p->raw.len && raw[at].kind == '@') {
        wanted |= is_jit(f, at);
        at = skip_blank(f, skip_line(f, at));
    }
    if (!wanted || at >= f->p->raw.len || raw[at].kind != DEF) {
        f->at = at < f->p->raw.len ? skip_suite(f, at) : at;
        return false;
    }
    pass_function(f, first);
    return true;
}

/* ---- The file ------------------------------------------------------------------------------------------------------------------- */

void filter_lines(Parser *p) {
    Filter *f = NEW(p->a, Filter);
    f->p = p;
    while (!p->stop) {
        f->at = skip_blank(f, f->at);
        if (f->at >= p->raw.len) break;
        bool top = column_of(f, f->at) == 0;
        if (p->mode == SYNTAX_PYTHON && top) {
            while (f->depth) {
                f->depth--;
                put_kind(f, DEDENT, p->raw.at[f->at].span);
            }
            if (!is_kernel_code(f)) continue;
            if (f->at >= p->raw.len) break;
        }
        const Token *t = &p->raw.at[f->at];
        change_level(f, indentation(f, t), t->span);
        pass_line(f);
    }
    unclosed(f);
    Span end = {p->source->base + p->source->len, p->source->base + p->source->len};
    if (p->tokens.len && p->tokens.at[p->tokens.len - 1].kind != NEWLINE) put_kind(f, NEWLINE, end);
    for (; f->depth; f->depth--) put_kind(f, DEDENT, end);
}
