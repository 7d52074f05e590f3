/* pad.c - a warning: a reduction that counts what a masked load left out.
 *
 * In: a reduce. Out: a warning where its tile holds `other` (0 by default) in the masked-off elements, and that is not
 * neutral: 0 in a maximum, 1 in a sum. Only casts are looked through; what a `where` chooses was chosen.
 */
#include "passes/private.h"

typedef struct Pad {
    const Op *from; /* the load */
    double value;
} Pad;

static bool constant_of(const Value *v, double *x) {
    int64_t bits;
    if (!value_const(v, &bits)) return false;
    *x = dtype_kind(v->type.dtype) == KIND_FLOAT ? float_from_bits(v->type.dtype, bits) : (double)bits;
    return true;
}

static bool find_pad(const Value *v, uint32_t axis, const Facts *facts, Pad *pad) {
    const Op *op = v->def;
    while (op && (op->kind == OP_FPEXT || op->kind == OP_FPTRUNC || op->kind == OP_SEXT || op->kind == OP_SITOFP)) {
        op = op->args[0]->def;
    }
    const Value *mask = op && op->kind == OP_LOAD && op->nargs > 1 ? op->args[1] : NULL;
    if (!mask || !value_is_tile(mask) || shape_size(mask->type.shape, axis) <= fact_of(facts, mask)->constant[axis]) return false;
    *pad = (Pad){op, 0};
    return op->nargs < 3 || constant_of(op->args[2], &pad->value);
}

/* What takes no part in the combine; far below or above everything is as good. */
static const char *neutral_text(OpKind combine, double x) {
    enum { FAR = 1000 };
    switch (combine) {
    case OP_FADD: case OP_ADD: return x != 0 ? "0" : NULL;
    case OP_FMUL: case OP_MUL: return x != 1 ? "1" : NULL;
    case OP_FMAX: case OP_FMAXNAN: return x > -FAR ? "-inf" : NULL;
    case OP_FMIN: case OP_FMINNAN: return x < FAR ? "inf" : NULL;
    case OP_SMAX: return x > -FAR ? "the least value" : NULL;
    case OP_SMIN: return x < FAR ? "the largest value" : NULL;
    default: return NULL;
    }
}

static const char *combine_text(OpKind combine) {
    switch (combine) {
    case OP_FADD: case OP_ADD: return "sum";
    case OP_FMUL: case OP_MUL: return "product";
    case OP_FMAX: case OP_FMAXNAN: case OP_SMAX: return "maximum";
    default: return "minimum";
    }
}

void lint_reduction(const Op *op, const Facts *facts, Diag *d) {
    Pad pad;
    OpKind combine = (OpKind)op->attr.j;
    if (!find_pad(op->args[0], (uint32_t)op->attr.i, facts, &pad)) return;
    const char *neutral = neutral_text(combine, pad.value);
    if (!neutral) return;
    diag(d, op->span, W_PADDED, combine_text(combine), pad.value);
    diag_note(d, pad.from->span, "they are made here; %s is neutral", neutral);
}
