/* pad.c - a warning: a reduction counts elements that a masked load left out.
 *
 * In: a reduce. Out: a warning where its tile holds `other` (0 by default) in the masked-off elements, and that changes
 * the result whatever was loaded: a sum or product, or a maximum or minimum whose pad always wins or was not written.
 * Method: only casts are looked through. What a `where` chooses was meant, and so was an `other` beyond all that can be
 * loaded.
 */
#include "passes/private.h"

#include "runtime/base/number.h"

#include <math.h>

typedef struct Pad {
    const Op *from; /* the load */
    double value;
    bool is_chosen; /* the load has an `other` */
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
    if (!mask || !value_is_tile(mask) || shape_size(mask->type.shape, axis) <= fact_of(facts, mask)->constant[axis])
        return false;
    *pad = (Pad){op, 0, op->nargs > 2};
    return !pad->is_chosen || constant_of(op->args[2], &pad->value);
}

/* Did nobody choose the pad, or is it the maximum (else the minimum) of whatever is loaded? */
static bool is_wrong(const Pad *pad, bool is_max) {
    DType t = pad->from->results[0]->type.dtype;
    if (!pad->is_chosen) return true;
    if (dtype_kind(t) == KIND_FLOAT) return pad->value == (is_max ? HUGE_VAL : -HUGE_VAL);
    return pad->value == (double)(is_max ? range_full(t).hi : range_full(t).lo);
}

/* What takes no part in the combine, where the pad surely does. */
static const char *neutral_text(OpKind combine, const Pad *pad) {
    switch (combine) {
    case OP_FADD: case OP_ADD: return pad->value != 0 ? "0" : NULL;
    case OP_FMUL: case OP_MUL: return pad->value != 1 ? "1" : NULL;
    case OP_FMAX: case OP_FMAXNAN: return is_wrong(pad, true) ? "-inf" : NULL;
    case OP_FMIN: case OP_FMINNAN: return is_wrong(pad, false) ? "inf" : NULL;
    case OP_SMAX: return is_wrong(pad, true) ? "the least value" : NULL;
    case OP_SMIN: return is_wrong(pad, false) ? "the largest value" : NULL;
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
    OpKind combine = op->attr.combine;
    if (!find_pad(op->args[0], op->attr.axis, facts, &pad)) return;
    const char *neutral = neutral_text(combine, &pad);
    if (!neutral) return;
    char value[40];
    diag(d, op->span, W_PADDED, combine_text(combine), number_format(value, sizeof value, "%g", pad.value));
    diag_note(d, pad.from->span, "they are made here%s; %s is neutral",
              pad.is_chosen ? "" : ", with no other=", neutral);
}
