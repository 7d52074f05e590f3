/* words.c - the vocabulary of the text form: the names of attributes' values, and constants as words.
 *
 * In: enums and bits, or words. Out: the other.
 * Method: tables for the enums; of a float the shortest decimal that reads back as the same bits, else those bits in
 * hex.
 */
#include "ir/private.h"

#include "runtime/base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const icmp_words[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge", NULL};
const char *const fcmp_words[] = {"eq", "ne", "lt", "le", "gt", "ge", NULL};
const char *const round_words[] = {"nearest", "zero", NULL};
const char *const accuracy_words[] = {"full", "relaxed", "term", NULL};
const char *const when_words[] = {"here", "needed", "stored", NULL};
const char *const precision_words[] = {"ieee", "tf32", "tf32x3", "bf16x3", "bf16x6", NULL};
const char *const mma_words[] = {
#define MMA(e, name, ...)   name,
#define WGMMA(e, name, ...) name,
#include "layout/mma.def"
#undef MMA
#undef WGMMA
    NULL};
const char *const scope_words[] = {"warp", "block", "cluster", "grid", NULL};
const char *const mask_words[] = {"none", "any", "uniform", "prefix", NULL};
const char *const cache_words[] = {"default", "ca", "cg", "cs", "wb", "wt", "cv", NULL};
const char *const evict_words[] = {"default", "first", "last", NULL};
const char *const order_words[] = {"relaxed", "acquire", "release", "acq_rel", NULL};
const char *const reach_words[] = {"cta", "gpu", "sys", NULL};
const char *const atomic_words[] = {
#define ATOMIC(e, name, ...) name,
#include "ir/atomic.def"
#undef ATOMIC
    NULL};

/* ---- Decimals ---------------------------------------------------------------------------------------------------- */

static bool read_decimal(const char *word, double *x) {
    bool is_number = word[0] == '-' || (word[0] >= '0' && word[0] <= '9');
    return is_number && !strpbrk(word, "xXnN") && number_read(word, strlen(word), x);
}

static void print_decimal(DType d, int64_t bits, Text *out) {
    double x = float_from_bits(d, bits), back = 0;
    char text[40];
    int most = d == DT_FP64 ? 17 : 9;
    bool plain_integer = x == trunc(x) && fabs(x) < 1e7; /* 1000.0 rather than 1e+03 */
    if (plain_integer) number_format(text, sizeof text, "%.0f", x);
    for (int digits = 1; digits <= most && !plain_integer; digits++) {
        number_format(text, sizeof text, "%.*g", digits, x);
        if (number_read(text, strlen(text), &back) && float_to_bits(d, back) == bits) break;
    }
    text_printf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

/* ---- Constants --------------------------------------------------------------------------------------------------- */

void constant_print(Type t, int64_t bits, Text *out) {
    if (t.dtype == DT_I1) {
        text_printf(out, "%s", bits ? "true" : "false");
    } else if (dtype_kind(t.dtype) != KIND_FLOAT) {
        text_printf(out, "%lld", (long long)bits);
    } else if (bits == float_nan(t.dtype)) {
        text_printf(out, "nan");
    } else if (isnan(float_from_bits(t.dtype, bits))) {
        text_printf(out, "0x%llx", (unsigned long long)bits);
    } else if (isinf(float_from_bits(t.dtype, bits))) {
        text_printf(out, "%sinf", float_from_bits(t.dtype, bits) < 0 ? "-" : "");
    } else {
        print_decimal(t.dtype, bits, out);
    }
}

static bool read_hex(DType d, const char *word, int64_t *bits) {
    uint64_t x = 0;
    size_t n = strlen(word + 2);
    if (n == 0 || n > 16) return false;
    for (const char *at = word + 2; *at; at++) {
        const char *digits = "0123456789abcdef", *digit = strchr(digits, *at);
        if (!digit) return false;
        x = x << 4 | (uint64_t)(digit - digits);
    }
    if (dtype_bits(d) < 64 && x >> dtype_bits(d)) return false;
    *bits = dtype_kind(d) == KIND_INT ? int_wrap(d, (int64_t)x) : (int64_t)x;
    return true;
}

/* Decimal digits with a sign, from -2^(n-1) to 2^n - 1 of an n-bit type. */
static bool read_int(DType d, const char *word, int64_t *bits) {
    bool negative = word[0] == '-';
    uint64_t x = 0, most = dtype_bits(d) == 64 ? UINT64_MAX : (UINT64_C(1) << dtype_bits(d)) - 1;
    if (negative) most = UINT64_C(1) << (dtype_bits(d) - 1);
    if (!*(word += negative)) return false;
    for (; *word; word++) {
        if (*word < '0' || *word > '9' || x > (most - (uint64_t)(*word - '0')) / 10) return false;
        x = x * 10 + (uint64_t)(*word - '0');
    }
    *bits = int_wrap(d, (int64_t)(negative ? 0 - x : x));
    return true;
}

static bool read_float(DType d, const char *word, int64_t *bits) {
    double x = 0;
    bool negative = word[0] == '-';
    if (strcmp(word, "nan") == 0) {
        *bits = float_nan(d);
        return true;
    }
    if (strcmp(word + negative, "inf") == 0) {
        *bits = float_to_bits(d, negative ? -(double)INFINITY : (double)INFINITY);
        return d != DT_FP8E4NV; /* which has none */
    }
    if (!read_decimal(word, &x)) return false;
    *bits = float_to_bits(d, x);
    return true;
}

bool constant_read(DType d, const char *word, int64_t *bits, const char **why) {
    bool is_float = dtype_kind(d) == KIND_FLOAT;
    *why = is_float ? "no float that reads as this type" : "no integer that fits the type";
    if (d == DT_I1 && strcmp(word, "true") == 0) return *bits = 1, true;
    if (d == DT_I1 && strcmp(word, "false") == 0) return *bits = 0, true;
    if (word[0] == '0' && word[1] == 'x') return read_hex(d, word, bits);
    return is_float ? read_float(d, word, bits) : read_int(d, word, bits);
}
