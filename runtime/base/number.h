/* number.h - numbers as text, whatever the process's locale says; and double to the element types' bits. */
#ifndef FSC_NUMBER_H
#define FSC_NUMBER_H

#include "runtime/fsc_runtime.h"

/* All of text[0..length) as a double ("0.5", "1e-05", "inf", "-nan", hex floats). False if it is none. */
bool number_read(const char *text, size_t length, double *out);
/* All of text[0..length) as a decimal 64-bit integer. False if it is none or does not fit. */
bool number_read_int(const char *text, size_t length, int64_t *out);
/* printf's text, its numbers written as in the C locale. Returns out. */
char *number_format(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The shortest decimal that reads back as x, with a '.' or an exponent ("1.0", "1e-05", "inf"). Returns out. */
char *number_print(double x, char *out, size_t size);

/* x rounded to nearest even in a floating type of at most 32 bits, as its bits; beyond the range infinity, or NaN where
 * the type has no infinity (fp8e4nv). For FSC_FP64 the double's own bits. */
uint64_t number_float_bits(double x, fsc_dtype t);
/* Whether i is a value of integer type t. */
bool number_int_fits(int64_t i, fsc_dtype t);

bool dtype_is_float(fsc_dtype t);

#endif
