/* format.c - `fsc fmt`: the same tokens and comments, with the blanks that the house style wants.
 *
 * In: a source. Out: its text anew. Lines end where they ended; blocks are indented by four, what stands in brackets by
 * the column behind the open bracket, or by four more than the line if nothing follows the bracket. Operators have
 * blanks around them, keyword arguments and subscripts' colons none; two blanks stand before a comment behind code.
 * Method: one walk over the scanner's tokens; comments are read off the text between two of them.
 */
#include "syntax/parser.h"
#include "syntax/parse.tab.h"

#include <string.h>

enum { STEP = 4, MOST_BLANK = 2 };

typedef struct Bracket {
    int kind;
    uint32_t column, close; /* where further lines in it begin; where a line that begins with its end does */
    uint32_t source_column; /* of what stands behind it */
    bool is_typed;          /* since the last comma: a parameter with a type */
    bool is_def;            /* the parameters of a function */
} Bracket;

typedef struct Format {
    Parser *p;
    Text *out;
    uint32_t at;  /* the raw token looked at */
    uint32_t end; /* of the last token or line */
    size_t line_begin; /* in out */
    uint32_t line_indent;
    uint32_t levels[AST_INDENTS + 1], depth; /* columns of the source */
    Bracket brackets[AST_BRACKETS + 1];
    uint32_t num_brackets;
    const Token *before; /* on this logical line; NULL: none */
    bool is_unary;       /* the last token is a sign, a pointer's star, a decorator's @ */
    bool starts_def, in_lambda;
    uint32_t blank;      /* lines without anything */
} Format;

static const char *text_of(const Format *f, uint32_t offset) {
    return f->p->source->text + (offset - f->p->source->base);
}

static bool is_value_end(const Token *t) {
    switch (t->kind) {
    case NAME: case INT: case FLOAT: case STRING: case TRUE_: case FALSE_: case NONE: case ELLIPSIS:
    case ')': case ']': case '}': return true;
    default: return false;
    }
}

static bool is_open(int kind) {
    return kind == '(' || kind == '[' || kind == '{';
}

static bool is_close(int kind) {
    return kind == ')' || kind == ']' || kind == '}';
}

static Bracket *inner(Format *f) {
    return f->num_brackets ? &f->brackets[f->num_brackets - 1] : NULL;
}

/* Is a blank wanted between the last token and this one? */
static bool wants_blank(Format *f, const Token *t) {
    const Token *b = f->before;
    const Bracket *in = inner(f);
    if (!b || f->is_unary || is_open(b->kind) || is_close(t->kind) || b->kind == '.' || t->kind == '.') return false;
    if (t->kind == ',' || t->kind == ';') return false;
    bool is_slice = in && in->kind == '[' && !f->in_lambda;
    if (t->kind == ':') return is_slice && b->kind == ',';
    if (b->kind == ':') return !is_slice || t->kind == ',';
    if (t->kind == '=' || b->kind == '=') return !in || (in->is_def && in->is_typed);
    if (t->kind == '(' || t->kind == '[') return !is_value_end(b);
    return true;
}

static uint32_t source_column(const Format *f, uint32_t offset) {
    const Source *s = f->p->source;
    return offset - s->base - line_begin(s, offset - s->base);
}

static void begin_line(Format *f, uint32_t column) {
    f->line_begin = f->out->len;
    f->line_indent = column;
    text_printf(f->out, "%*s", (int)column, "");
}

static void put_token(Format *f, const Token *t) {
    Bracket *in = inner(f);
    text_write(f->out, text_of(f, t->span.begin), t->span.end - t->span.begin);
    for (uint32_t i = t->span.end; t->kind == STRING && i-- > t->span.begin;) {
        if (*text_of(f, i) != '\n') continue;
        f->line_begin = f->out->len - (t->span.end - i - 1);
        break;
    }
    bool may_be_sign = t->kind == '-' || t->kind == '+' || t->kind == '~' || t->kind == '*' || t->kind == POW;
    f->is_unary = (may_be_sign && (!f->before || !is_value_end(f->before))) || (t->kind == '@' && !f->before);
    f->starts_def |= t->kind == DEF;
    f->in_lambda = t->kind == LAMBDA || (f->in_lambda && t->kind != ':');
    if (in && (t->kind == ',' || t->kind == ':')) in->is_typed = t->kind == ':';
    f->before = t;
    f->end = t->span.end;
}

/* After a token: what it opens or closes. */
static void track_brackets(Format *f, const Token *t) {
    bool ends_line = f->at >= f->p->raw.len || f->p->raw.at[f->at].kind == TOKEN_LINE;
    if (is_open(t->kind) && f->num_brackets < AST_BRACKETS) {
        uint32_t here = (uint32_t)(f->out->len - f->line_begin), hanging = f->line_indent + STEP;
        Bracket b = {.kind = t->kind,
                     .column = ends_line ? hanging : here,
                     .close = ends_line ? f->line_indent : here - 1,
                     .source_column = source_column(f, t->span.end),
                     .is_def = f->starts_def && f->num_brackets == 0};
        f->brackets[f->num_brackets++] = b;
    }
    if (is_close(t->kind) && f->num_brackets) f->num_brackets--;
    if (f->num_brackets == 0 && t->kind == ':') f->starts_def = false;
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

/* The level of a comment at this column of the source; `next`: that of the next line of code, which may open one. */
static uint32_t level_of_comment(const Format *f, uint32_t at, uint32_t next) {
    uint32_t level = f->depth;
    if (next > f->levels[level] && at >= next) return level + 1;
    while (level && f->levels[level] > at) level--;
    return level;
}

static void set_level(Format *f, uint32_t at) {
    if (at > f->levels[f->depth] && f->depth < AST_INDENTS) f->levels[++f->depth] = at;
    while (f->depth && f->levels[f->depth] > at) f->depth--;
}

/* Of a line inside of brackets: below what stands behind one of them, if the source has it so; else the innermost. */
static uint32_t column_inside(const Format *f, uint32_t at) {
    for (uint32_t i = f->num_brackets; i-- > 0;)
        if (f->brackets[i].source_column == at) return f->brackets[i].column;
    return f->brackets[f->num_brackets - 1].column;
}

/* Lines that were blank, as many as are kept, none at the file's head. */
static void put_blank_lines(Format *f) {
    for (uint32_t i = 0; i < f->blank && i < MOST_BLANK && f->out->len; i++) text_printf(f->out, "\n");
    f->blank = 0;
}

/* The column of the next token of code in the source; 0: there is none. */
static uint32_t next_column(const Format *f) {
    const Tokens *raw = &f->p->raw;
    uint32_t i = f->at;
    while (i < raw->len && raw->at[i].kind == TOKEN_LINE) i++;
    return i < raw->len ? source_column(f, raw->at[i].span.begin) : 0;
}

/* The end of a line: its comment, without blanks behind it, and the break. */
static void end_line(Format *f, const Token *line, bool has_code) {
    const char *from = text_of(f, f->end), *to = text_of(f, line->span.begin);
    const char *comment = memchr(from, '#', (size_t)(to - from));
    while (comment && strchr(" \t\r", to[-1])) to--;
    f->end = line->span.end;
    if (!has_code && !comment) {
        f->blank += line->span.end > line->span.begin;
        return;
    }
    if (!has_code) {
        put_blank_lines(f);
        uint32_t at = source_column(f, line->span.begin - (uint32_t)(text_of(f, line->span.begin) - comment));
        begin_line(f, f->num_brackets ? column_inside(f, at) : level_of_comment(f, at, next_column(f)) * STEP);
    } else if (comment) {
        text_printf(f->out, "  ");
    }
    if (comment) text_write(f->out, comment, (size_t)(to - comment));
    text_printf(f->out, "\n");
    if (f->num_brackets) return;
    f->before = NULL;
    f->starts_def = f->in_lambda = false;
}

static void pass_token(Format *f, const Token *t, bool is_first) {
    bool is_joined = memchr(text_of(f, f->end), '\\', t->span.begin - f->end) != NULL;
    const Bracket *in = inner(f);
    if (is_first && !in) set_level(f, source_column(f, t->span.begin));
    if (is_first) put_blank_lines(f);
    if (is_joined && !is_first) text_printf(f->out, " \\\n");
    if (is_first || is_joined)
        begin_line(f, !in                 ? (f->depth + is_joined) * STEP
                      : is_close(t->kind) ? in->close
                                          : column_inside(f, source_column(f, t->span.begin)));
    else if (wants_blank(f, t)) text_printf(f->out, " ");
    put_token(f, t);
    track_brackets(f, t);
}

bool syntax_format(Arena *a, Strings *s, Diag *d, const Source *source, Text *out) {
    (void)syntax_parse(a, s, d, source, SYNTAX_DSL);
    if (diag_errors(d)) return false;
    Parser p = {.a = a, .s = s, .d = d, .source = source, .end = source->len};
    Format *f = NEW(a, Format);
    scan_text(&p, 0, source->len);
    f->p = &p;
    f->out = out;
    f->end = source->base;
    bool has_code = false;
    while (f->at < p.raw.len) {
        const Token *t = &p.raw.at[f->at++];
        if (t->kind == TOKEN_LINE) end_line(f, t, has_code);
        else pass_token(f, t, !has_code);
        has_code = t->kind != TOKEN_LINE;
    }
    return true;
}
