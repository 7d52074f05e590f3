/* named.c - launches for those who debug, through libfsc: arguments by name, and what wrong calls are told.
 *
 * In:  nothing; the kernel is below.
 * Out: a line for each call; exit status 0 if the right one is right and the others are refused.
 */
#include "fsc.h"

#include <stdio.h>
#include <string.h>

static const char source[] = "@kernel(grid=(cdiv(n, 64),))\n"
                             "def scale(y: *fp32[n], x: *fp32[n], f: fp32, n: i32):\n"
                             "    i = program_id(0) * 64 + arange(0, 64)\n"
                             "    store(y + i, load(x + i, mask=i < n) * f, mask=i < n)\n";

static int wanted = 1;

static void call(fsc_jit *j, const fsc_named_arg *args, size_t n, fsc_status expected) {
    fsc_status s = fsc_jit_launch_checked(j, NULL, args, n, NULL);
    printf("%s%s%s\n", fsc_status_name(s), s == FSC_OK ? "" : ": ", s == FSC_OK ? "" : fsc_jit_message(j));
    wanted &= s == expected;
}

int main(void) {
    _Alignas(16) float x[200] = {1}, y[200];
    fsc_device *d = NULL;
    fsc_jit *j = NULL;
    fsc_status s = fsc_device_open("cpu", &d);
    if (s == FSC_OK) s = fsc_jit_create(d, source, strlen(source), NULL, &j);
    if (s != FSC_OK) {
        fprintf(stderr, "%s: %s\n", fsc_status_name(s), fsc_last_message());
        return fsc_status_exit_code(s);
    }
    fsc_named_arg args[] = {fsc_named("y", fsc_pointer(y, sizeof y, FSC_FP32)),
                            fsc_named("x", fsc_pointer(x, sizeof x, FSC_FP32)), fsc_named("f", fsc_float(2)),
                            fsc_named("n", fsc_int(200))};
    call(j, args, 4, FSC_OK);
    call(j, args, 3, FSC_ERROR_ARGUMENT);
    args[2].name = "n";
    call(j, args, 4, FSC_ERROR_ARGUMENT);
    args[2].name = "f";
    args[1].arg.dtype = FSC_FP16;
    call(j, args, 4, FSC_ERROR_ARGUMENT);
    args[1].arg = fsc_pointer(NULL, 0, FSC_FP32);
    call(j, args, 4, FSC_ERROR_CONTRACT);
    fsc_jit_destroy(j);
    fsc_device_close(d);
    return wanted ? 0 : 1;
}
