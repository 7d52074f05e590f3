/* check.c - launch a kernel with checks on, through libfsc, and print what was wrong.
 *
 * In:  nothing; the kernel is below, with a store that lacks its mask.
 * Out: a line for each finding and one with what to do; exit status 1 if something was found, else 0, or a message.
 */
#include "fsc.h"

#include <stdio.h>
#include <string.h>

static const char source[] = "@kernel(grid=(cdiv(n, 64),))\n"
                             "def double(y: *fp32[n], x: *fp32[n], n: i32):\n"
                             "    i = program_id(0) * 64 + arange(0, 64)\n"
                             "    store(y + i, load(x + i, mask=i < n) * 2)\n";

static void print_findings(const fsc_device *d) {
    fsc_finding f;
    for (size_t i = 0; i < fsc_device_findings(d); i++)
        if (fsc_device_finding(d, i, &f) == FSC_OK)
            printf("line %u, %s, program %lld, %llu times\n%s\n%s\n", f.line, f.kind, (long long)f.program[0],
                   (unsigned long long)f.count, f.text, f.advice);
}

int main(void) {
    const uint64_t bytes = 200 * sizeof(float);
    /* or any memory of the host, with its size; but what lies right behind a buffer should be no other */
    void *x = NULL, *y = NULL;
    fsc_device *d = NULL;
    fsc_jit *j = NULL;
    fsc_compile_options o;
    fsc_compile_options_init(&o);
    o.file = "double.dsl";
    fsc_status s = fsc_device_open("emu", &d);
    if (s == FSC_OK) s = fsc_device_check(d, true); /* before the kernel is made */
    if (s == FSC_OK) s = fsc_jit_create(d, source, strlen(source), &o, &j);
    if (s == FSC_OK) s = fsc_memory_alloc(d, bytes, &x);
    if (s == FSC_OK) s = fsc_memory_alloc(d, bytes, &y);
    if (s == FSC_OK) s = fsc_memory_fill(d, x, 0, bytes);
    const fsc_arg args[] = {fsc_pointer(y, bytes, FSC_FP32), fsc_pointer(x, bytes, FSC_FP32), fsc_int(200)};
    if (s == FSC_OK) s = fsc_jit_launch(j, NULL, args, sizeof args / sizeof *args, NULL);
    if (s == FSC_ERROR_CHECK)
        print_findings(d);
    else if (s != FSC_OK)
        fprintf(stderr, "%s: %s\n", fsc_status_name(s), fsc_last_message());
    fsc_memory_free(d, x);
    fsc_memory_free(d, y);
    fsc_jit_destroy(j);
    fsc_device_close(d);
    return fsc_status_exit_code(s);
}
