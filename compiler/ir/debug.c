/* debug.c - print and assert: their rules and their builders.
 *
 * In: operands and a text. Out: the op.
 */
#include "ir/private.h"

const char *const shown_words[] = {
#define SHOWN(e, word, format) word,
#include "ir/shown.def"
#undef SHOWN
    NULL};

const char *shown_format(int64_t shown) {
    static const char *const formats[] = {
#define SHOWN(e, word, format) format,
#include "ir/shown.def"
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
