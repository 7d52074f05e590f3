/* int.c - integers of compile time: exact, with Python's meaning, in the range -2^64 < x < 2^64.
 *
 * In: sign and magnitude. Out: the same; false where a result leaves the range, so that nothing ever wraps.
 * Method: each operation works on magnitudes and fixes the sign; bit operations go through two's complement.
 */
#include "check/sema.h"

#include <math.h>

Int int_from(int64_t x) {
    return (Int){x < 0 ? 0 - (uint64_t)x : (uint64_t)x, x < 0};
}

Int int_unsigned(uint64_t x) {
    return (Int){x, false};
}

bool int_fits(Int x, int64_t *out) {
    if (x.mag > (uint64_t)INT64_MAX + (x.neg ? 1 : 0)) return false;
    if (x.neg) {
        *out = x.mag == (uint64_t)INT64_MAX + 1 ? INT64_MIN : -(int64_t)x.mag;
    } else {
        *out = (int64_t)x.mag;
    }
    return true;
}

static Int make(uint64_t mag, bool neg) {
    return (Int){mag, neg && mag != 0};
}

int int_compare(Int x, Int y) {
    if (x.neg != y.neg) return x.neg ? -1 : 1;
    int order = (x.mag > y.mag) - (x.mag < y.mag);
    return x.neg ? -order : order;
}

double int_to_double(Int x) {
    return x.neg ? -(double)x.mag : (double)x.mag;
}

bool int_from_double(double x, Int *out) {
    double t = trunc(x);
    if (!(fabs(t) < 18446744073709551616.0)) return false;
    *out = make((uint64_t)fabs(t), t < 0);
    return true;
}

bool int_add(Int x, Int y, Int *r) {
    if (x.neg == y.neg) {
        *r = make(x.mag + y.mag, x.neg);
        return x.mag + y.mag >= x.mag;
    }
    *r = x.mag >= y.mag ? make(x.mag - y.mag, x.neg) : make(y.mag - x.mag, y.neg);
    return true;
}

bool int_sub(Int x, Int y, Int *r) {
    return int_add(x, make(y.mag, !y.neg), r);
}

bool int_mul(Int x, Int y, Int *r) {
    *r = make(x.mag * y.mag, x.neg != y.neg);
    return x.mag == 0 || y.mag <= UINT64_MAX / x.mag;
}

bool int_divmod(Int x, Int y, Int *quotient, Int *remainder) {
    if (y.mag == 0) return false;
    uint64_t q = x.mag / y.mag, r = x.mag % y.mag;
    if (r != 0 && x.neg != y.neg) {
        q++;
        r = y.mag - r;
    }
    *quotient = make(q, x.neg != y.neg);
    *remainder = make(r, y.neg);
    return true;
}

bool int_pow(Int x, Int y, Int *r) {
    if (y.neg) return false;
    Int result = int_from(1);
    if (x.mag <= 1) {
        *r = y.mag == 0 ? result : make(x.mag, x.neg && (y.mag & 1));
        return true;
    }
    if (y.mag > 64) return false;
    for (uint64_t i = 0; i < y.mag; i++) {
        if (!int_mul(result, x, &result)) return false;
    }
    *r = result;
    return true;
}

bool int_shift(Int x, Int y, bool left, Int *r) {
    if (y.neg) return false;
    if (left) {
        if (x.mag == 0) return (*r = x, true);
        if (y.mag > 63 || (x.mag << y.mag) >> y.mag != x.mag) return false;
        *r = make(x.mag << y.mag, x.neg);
        return true;
    }
    /* Right shift floors: -1 >> 1 is -1. */
    uint64_t mag = y.mag > 63 ? 0 : x.mag >> y.mag;
    bool lost = y.mag > 63 ? x.mag != 0 : mag << y.mag != x.mag;
    *r = make(x.neg && lost ? mag + 1 : mag, x.neg);
    return true;
}

/* The lowest 64 bits of two's complement; those above them are all ones where x.neg, else zeros. */
static uint64_t low_bits(Int x) {
    return x.neg ? 0 - x.mag : x.mag;
}

bool int_bits(char op, Int x, Int y, Int *r) {
    uint64_t a = low_bits(x), b = low_bits(y), bits = op == '&' ? a & b : op == '|' ? a | b : a ^ b;
    bool neg = op == '&' ? x.neg && y.neg : op == '|' ? x.neg || y.neg : x.neg != y.neg;
    *r = make(neg ? 0 - bits : bits, neg);
    return !neg || bits != 0; /* -2^64 is beyond the range */
}

const char *int_text(Arena *a, Int x) {
    return arena_printf(a, "%s%llu", x.neg ? "-" : "", (unsigned long long)x.mag);
}
