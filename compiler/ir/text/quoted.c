/* quoted.c - the texts of print and assert in the IR's text form.
 *
 * In: any text. Out: the text in quotes, and back.
 * Method: a quoted text has \" \\ \n and \xHH, so that it stays on its line whatever it holds.
 */
#include "ir/text/reader.h"

void quoted_print(const char *s, Text *out) {
    text_printf(out, "\"");
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text_printf(out, "\\%c", c);
        else if (c == '\n')
            text_printf(out, "\\n");
        else if (c < ' ' || c == 127)
            text_printf(out, "\\x%02x", c);
        else
            text_printf(out, "%c", c);
    }
    text_printf(out, "\"");
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* What stands behind a backslash; -1: no such escape. */
static int read_escape(Reader *r) {
    char c = r->at < r->end ? *r->at++ : '\0';
    if (c == 'n') return '\n';
    if (c == '"' || c == '\\') return c;
    if (c != 'x' || r->end - r->at < 2) return -1;
    int high = hex_digit(r->at[0]), low = hex_digit(r->at[1]);
    r->at += 2;
    return high < 0 || low < 0 || high + low == 0 ? -1 : 16 * high + low;
}

bool read_quoted(Reader *r, const char **out) {
    if (!expect(r, "\"")) return false;
    const char *begin = r->at;
    Text text = {0};
    bool good = true;
    while (good && r->at < r->end && *r->at != '"' && *r->at != '\n') {
        int c = (unsigned char)*r->at++;
        if (c == '\\') c = read_escape(r);
        good = c > 0;
        if (good) text_printf(&text, "%c", c);
    }
    *out = arena_strndup(r->f->arena, text.at ? text.at : "", text.len);
    text_free(&text);
    if (!good) return read_fail(r, begin, "a text has the escapes \\\", \\\\, \\n and \\xHH");
    return expect(r, "\"");
}
