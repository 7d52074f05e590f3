/* number.c - numbers as text in the C locale, the table of element types, and rounding a double to a smaller type.
 *
 * In: text or values. Out: values, text, bits. Method: strtod and snprintf under a C locale of our own, so that a host
 * program's decimal comma changes nothing; rounding by scaling the value so that one unit is the last place kept.
 */
#include "runtime/base/number.h"
#include "runtime/base/ascii.h"
#include "runtime/base/process.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static pthread_once_t locale_once = PTHREAD_ONCE_INIT;
static locale_t c_locale; /* (locale_t)0 if there was no memory for it: then the process's own is used */

static void make_locale(void) {
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static locale_t enter_locale(void) {
    pthread_once(&locale_once, make_locale);
    return c_locale ? uselocale(c_locale) : (locale_t)0;
}

static void leave_locale(locale_t old) {
    if (old) uselocale(old);
}

bool number_read(const char *text, size_t length, double *out) {
    char small[128], *copy = length < sizeof small ? small : malloc(length + 1), *end = copy;
    if (!copy) return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    OWN_FLOATS;
    locale_t old = enter_locale();
    double x = length && !is_space(copy[0]) ? strtod(copy, &end) : 0;
    leave_locale(old);
    bool is_all = length && end == copy + length;
    if (is_all) *out = x;
    if (copy != small) free(copy);
    return is_all;
}

bool number_read_int(const char *text, size_t length, int64_t *out) {
    bool negative = length && text[0] == '-';
    size_t i = negative;
    int64_t x = 0; /* counts down: the least integer has no positive twin */
    if (i == length) return false;
    for (; i < length; i++) {
        if (!is_digit(text[i])) return false;
        if (__builtin_mul_overflow(x, 10, &x) || __builtin_sub_overflow(x, text[i] - '0', &x)) return false;
    }
    if (!negative && x == INT64_MIN) return false;
    *out = negative ? x : -x;
    return true;
}

char *number_format(char *out, size_t size, const char *format, ...) {
    va_list args;
    OWN_FLOATS;
    locale_t old = enter_locale();
    va_start(args, format);
    vsnprintf(out, size, format, args);
    va_end(args);
    leave_locale(old);
    return out;
}

char *number_print(double x, char *out, size_t size) {
    char text[40];
    if (isnan(x)) {
        snprintf(out, size, "nan");
        return out;
    }
    OWN_FLOATS;
    locale_t old = enter_locale();
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x) break;
    }
    leave_locale(old);
    bool whole = strspn(text, "-0123456789") == strlen(text);
    snprintf(out, size, "%s%s", text, whole ? ".0" : "");
    return out;
}

/* ---- Element types ----------------------------------------------------------------------------------------------- */

enum { BOOL, SIGNED, UNSIGNED, FLOAT };

static const struct {
    const char *name;
    uint8_t size, kind, exponent, mantissa;
} types[] = {
    {"", 0, UNSIGNED, 0, 0},
#define DTYPE(e, name, bits, class, exponent, mantissa) {name, (bits + 7) / 8, class, exponent, mantissa},
#define UTYPE(e, name, bits, ...) {name, bits / 8, UNSIGNED, 0, 0},
#include "runtime/base/dtype.def"
#undef DTYPE
#undef UTYPE
};
#define COUNT (sizeof types / sizeof types[0])

#define DTYPE(e, ...) DTYPE_ROW_##e,
#define UTYPE(e, ...) DTYPE_ROW_##e,
enum {
    DTYPE_ROW_NONE,
#include "runtime/base/dtype.def"
};
#undef DTYPE
#undef UTYPE
#define DTYPE(e, ...) _Static_assert((int)FSC_##e == (int)DTYPE_ROW_##e, "dtype.def is in the order of fsc_dtype");
#define UTYPE DTYPE
#include "runtime/base/dtype.def"
#undef DTYPE
#undef UTYPE

static bool is_type(fsc_dtype t) {
    return (size_t)t < COUNT;
}

const char *fsc_dtype_name(fsc_dtype t) {
    return is_type(t) ? types[t].name : "";
}

uint32_t fsc_dtype_size(fsc_dtype t) {
    return is_type(t) ? types[t].size : 0;
}

fsc_dtype fsc_dtype_find(const char *name) {
    for (size_t i = 1; name && i < COUNT; i++) {
        if (strcmp(name, types[i].name) == 0) return (fsc_dtype)i;
    }
    return FSC_DTYPE_NONE;
}

bool dtype_is_float(fsc_dtype t) {
    return is_type(t) && types[t].kind == FLOAT;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

bool number_int_fits(int64_t i, fsc_dtype t) {
    if (!is_type(t) || types[t].size == 0 || types[t].kind == FLOAT) return false;
    if (t == FSC_I1) return i == 0 || i == 1;
    if (types[t].size == 8) return types[t].kind == SIGNED || i >= 0;
    int bits = types[t].size * 8;
    if (types[t].kind == UNSIGNED) return i >= 0 && i < (int64_t)1 << bits;
    return i >= -((int64_t)1 << (bits - 1)) && i < (int64_t)1 << (bits - 1);
}

/* |x| finite and not 0 to the bits of a type with e exponent and m mantissa bits; beyond its largest number: all ones
 * in the exponent, or for fp8e4nv whatever lies above 448. */
static uint64_t round_bits(double x, int e, int m) {
    int bias = (1 << (e - 1)) - 1, exponent = 0;
    double fraction = frexp(x, &exponent); /* [0.5, 1): the leading bit's weight is exponent - 1 */
    int lead = exponent - 1;
    if (lead < 1 - bias) lead = 1 - bias;                           /* subnormal: the last place stands still */
    double units = nearbyint(ldexp(fraction, exponent - lead + m)); /* in last places; ties to even */
    /* A carry into the next binade adds itself to the exponent field, as the encoding is monotonic. */
    uint64_t field = (uint64_t)(lead + bias - 1) << m;
    return field + (uint64_t)units;
}

uint64_t number_float_bits(double x, fsc_dtype t) {
    uint64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    if (t == FSC_FP64 || !dtype_is_float(t)) return bits;
    if (t == FSC_FP32) {
        float f = (float)x;
        uint32_t half = 0;
        memcpy(&half, &f, sizeof half);
        return half;
    }
    int e = types[t].exponent, m = types[t].mantissa;
    bool has_infinity = t != FSC_FP8E4NV;
    uint64_t top = ((uint64_t)1 << (e + m)) - 1; /* every exponent and mantissa bit */
    uint64_t infinity = top - (((uint64_t)1 << m) - 1), nan = has_infinity ? infinity | (uint64_t)1 << (m - 1) : top;
    uint64_t beyond = has_infinity ? infinity : nan, sign = (bits >> 63) << (e + m), magnitude;
    if (isnan(x)) return sign | nan;
    if (x == 0) return sign;
    x = fabs(x);
    if (isinf(x) || ilogb(x) > 1 << (e - 1)) return sign | beyond;
    magnitude = round_bits(x, e, m);
    if (magnitude > beyond) magnitude = beyond;
    return sign | magnitude;
}
