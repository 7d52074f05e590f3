/* debug.c - print and assert: their rules, their builders, and texts in the IR's text form.
 *
 * In: operands and a text. Out: the op; the text in quotes and back.
 * Method: a quoted text has \" \\ \n and \xHH, so that it stays on its line whatever it holds.
 */
#include "ir/text/reader.h"

const char *const shown_words[] = {
#define SHOWN(e, word, format) word,
#include "ir/text/shown.def"
#undef SHOWN
    NULL};

const char *shown_format(int64_t shown) {
    static const char *const formats[] = {
#define SHOWN(e, word, format) format,
#include "ir/text/shown.def"
#undef SHOWN
    };
    if (shown < 0 || shown >= SHOWN_COUNT) bug("print: shown as %lld", (long long)shown);
    return formats[shown];
}

bool shown_is_float(int64_t shown) {
    return shown >= SHOWN_FP8;
}

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

/* Floats come as fp32 or fp64, which hold the narrower ones. */
bool infer_print(Infer *in) {
    if (!in->attr.text || in->attr.shown >= SHOWN_COUNT) return infer_fail(in, "no text, or no way to show it");
    if (in->nargs > 1) return infer_fail(in, "%u operands, not one or none", in->nargs);
    if (in->nargs == 0) return true;
    DType d = in->args[0]->type.dtype;
    bool is_float = dtype_kind(d) == KIND_FLOAT, is_wide = d == DT_FP32 || d == DT_FP64;
    if (is_float ? !is_wide || !shown_is_float(in->attr.shown) : shown_is_float(in->attr.shown))
        return infer_fail(in, "%s shown as %s", dtype_name(d), shown_words[in->attr.shown]);
    return true;
}

bool infer_assert(Infer *in) {
    if (!in->attr.text) return infer_fail(in, "no text");
    return in->args[0]->type.dtype == DT_I1 ||
           infer_fail(in, "the condition is %s, not i1", dtype_name(in->args[0]->type.dtype));
}

/* ---- Builders ---------------------------------------------------------------------------------------------------- */

Op *build_print(Builder *b, Value *v, const char *text, Shown shown) {
    return op_build(b, OP_PRINT, &v, v ? 1 : 0, (Attr){.shown = shown, .text = text}, type_scalar(DT_I1));
}

Op *build_assert(Builder *b, Value *condition, const char *text, uint32_t site) {
    return op_build(b, OP_ASSERT, &condition, 1, (Attr){.text = text, .mem.site = site}, type_scalar(DT_I1));
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

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
