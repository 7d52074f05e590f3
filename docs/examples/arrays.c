/* arrays.c - launches of arrays through libfsc: shapes and strides instead of a list of scalars.
 *
 * In:  nothing; the kernel is below.
 * Out: a line for each call; exit status 0 if the right one is right and the other is refused.
 */
#include "fsc.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 3, COLUMNS = 100 };

static const char source[] =
    "@kernel(grid=(n_rows,), BLOCK=next_power_of_2(n_cols))\n"
    "def halve(y: *T[n_rows:y_stride, n_cols], x: *const T[n_rows:x_stride, n_cols], y_stride: i32, x_stride: i32,\n"
    "          n_rows: i32, n_cols: i32, by: fp32 = 2.0, BLOCK: constexpr = 1024, T: dtype = fp32):\n"
    "    i = arange(0, BLOCK)\n"
    "    v = load(x + program_id(0) * x_stride + i, mask=i < n_cols)\n"
    "    store(y + program_id(0) * y_stride + i, v / by, mask=i < n_cols)\n";

/* Rows of `columns` elements, `stride` apart. The size in bytes follows. */
static fsc_value rows_of(const float *p, int64_t columns, int64_t stride) {
    return (fsc_value){fsc_pointer(p, 0, FSC_FP32), {2, {ROWS, columns}, {stride, 1}}};
}

int main(void) {
    static float x[ROWS][COLUMNS + 28], y[ROWS][COLUMNS]; /* x has rows of 128, of which 100 count */
    const fsc_name_value settings[] = {{"num_warps", "2"}};
    fsc_device *d = NULL;
    fsc_jit *j = NULL;
    fsc_status s = fsc_device_open("cpu", &d);
    if (s == FSC_OK) s = fsc_jit_open(d, "halve.dsl", source, strlen(source), NULL, settings, 1, &j);
    if (s != FSC_OK) {
        fprintf(stderr, "%s: %s\n", fsc_status_name(s), j ? fsc_jit_message(j) : fsc_last_message());
        return fsc_status_exit_code(s);
    }
    x[2][99] = 5;
    const fsc_value missing = {.arg = {.kind = FSC_ARG_MISSING}};
    fsc_value values[] = {rows_of(y[0], COLUMNS, COLUMNS), rows_of(x[0], COLUMNS, COLUMNS + 28), missing, missing,
                          missing, missing, missing};
    s = fsc_jit_call(j, NULL, values, 7, NULL);
    printf("%s: y[2][99] is %g\n", fsc_status_name(s), (double)y[2][99]);

    values[1] = rows_of(x[0], COLUMNS - 1, COLUMNS + 28);
    fsc_status wrong = fsc_jit_call(j, NULL, values, 7, NULL);
    printf("%s: %s\n", fsc_status_name(wrong), fsc_jit_message(j));
    fsc_jit_destroy(j);
    fsc_device_close(d);
    return s == FSC_OK && y[2][99] == 2.5f && wrong == FSC_ERROR_ARGUMENT ? 0 : 1;
}
