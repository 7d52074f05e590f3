/* cases.c - the cases in a source's comments.
 *
 *     # test rows of 300: x=random:0:fp32[5,300] --num-warps=4
 *     # expect y: exp(x - max(x, axis=1)) \
 *     #           / sum(exp(x - max(x, axis=1)), axis=1)
 *
 * In: text. Out: a case for each "# test NAME: WORDS", with the expectations below it. The name may be left out; a line
 * that ends in a backslash goes on in the next.
 */
#include "tool/test/cases.h"

#include <string.h>

typedef struct Reader {
    Arena *arena;
    const char *file, *at, *end;
    uint32_t line; /* of `at` */
} Reader;

static bool complain(const Reader *r, uint32_t line, const char *what) {
    fprintf(stderr, "%s:%u: %s\n", r->file, line, what);
    return false;
}

/* The text of the next line behind its "#" and blanks; NULL: the line is no comment. */
static const char *next_comment(Reader *r) {
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at)), *stop = newline ? newline : r->end;
    const char *text = arena_strndup(r->arena, r->at, (size_t)(stop - r->at));
    r->at = newline ? newline + 1 : r->end;
    r->line++;
    text += strspn(text, " \t");
    return *text == '#' ? text + 1 + strspn(text + 1, " \t") : NULL;
}

/* Without the lines' ends; with what follows a backslash. */
static const char *whole_comment(Reader *r) {
    const char *text = next_comment(r);
    for (const char *more = text; more;) {
        size_t n = strlen(text);
        while (n && strchr(" \t\r", text[n - 1])) n--;
        bool goes_on = n && text[n - 1] == '\\' && r->at < r->end;
        text = arena_strndup(r->arena, text, n - goes_on);
        more = goes_on ? next_comment(r) : NULL;
        if (more) text = arena_printf(r->arena, "%s%s", text, more);
    }
    return text;
}

/* As a shell does: blanks part words, quotes hold them together. False: a quote has no end. */
static bool split(Arena *a, const char *text, Case *c) {
    while (*(text += strspn(text, " \t"))) {
        char *word = arena_strndup(a, text, strlen(text)), *to = word, quote = 0;
        for (; *text && (quote || !strchr(" \t", *text)); text++) {
            if (quote ? *text == quote : *text == '\'' || *text == '"')
                quote = quote ? 0 : *text;
            else
                *to++ = *text;
        }
        *to = '\0';
        if (quote) return false;
        vec_push(a, &c->words, word);
    }
    return true;
}

/* "test NAME: WORDS" */
static bool read_test(Reader *r, const char *rest, uint32_t line, Cases *out) {
    const char *colon = strchr(rest, ':');
    if (!colon) return complain(r, line, "a case is '# test NAME: WORDS'; the ':' is missing");
    Case c = {.line = line};
    rest += strspn(rest, " \t");
    c.name = arena_strndup(r->arena, rest, (size_t)(colon > rest ? colon - rest : 0));
    if (!split(r->arena, colon + 1, &c)) return complain(r, line, "a quote has no end");
    vec_push(r->arena, out, c);
    return true;
}

/* "expect BUFFER: WHAT" */
static bool read_expect(Reader *r, const char *rest, uint32_t line, Cases *out) {
    const char *colon = strchr(rest, ':');
    rest += strspn(rest, " \t");
    size_t n = strcspn(rest, " \t:");
    if (!out->len) return complain(r, line, "'# expect' belongs below a '# test NAME: WORDS'");
    if (!colon || !n || rest + n + strspn(rest + n, " \t") != colon || !colon[1 + strspn(colon + 1, " \t")])
        return complain(r, line, "an expectation is '# expect BUFFER: WHAT', such as '# expect y: exp(x)'");
    fsc_name_value e = {arena_strndup(r->arena, rest, n), colon + 1 + strspn(colon + 1, " \t")};
    vec_push(r->arena, &out->at[out->len - 1].expects, e);
    return true;
}

/* What follows the word where the text begins with it, and a blank or ':'; else NULL. */
static const char *behind(const char *text, const char *word) {
    size_t n = strlen(word);
    return text && strncmp(text, word, n) == 0 && strchr(" \t:", text[n]) && text[n] ? text + n : NULL;
}

bool cases_read(Arena *a, const char *file, const char *text, size_t length, Cases *out) {
    Reader r = {a, file, text, text + length, 0};
    while (r.at < r.end) {
        uint32_t line = r.line + 1;
        const char *comment = whole_comment(&r), *test = behind(comment, "test"), *expect = behind(comment, "expect");
        if (test && !read_test(&r, test, line, out)) return false;
        if (expect && !read_expect(&r, expect, line, out)) return false;
    }
    return true;
}
