/* jitfix.h - what the tests of the JIT share: a kernel, handles, and whether its launch was right.
 * Behind a feature macro, before cmocka. */
#ifndef JITFIX_H
#define JITFIX_H

#include "cachefix.h"

#include "runtime/jit/jit.h"

static const char scale[] = "@kernel(grid=(cdiv(n, B),), B=min(next_power_of_2(n), 1024))\n"
                            "def scale(y: *fp32[n], x: *fp32[n], f: fp32, n: i32, B: constexpr = 1024):\n"
                            "    i = program_id(0) * B + arange(0, B)\n"
                            "    store(y + i, load(x + i, mask=i < n) * f, mask=i < n)\n";

static inline fsc_device *device_of(const char *name) {
    fsc_device *d = NULL;
    if (fsc_device_open(name, &d) != FSC_OK) fail_msg("%s", fsc_last_message());
    return d;
}

static inline fsc_jit *jit_with(fsc_device *d, const char *source, const fsc_compile_options *o) {
    fsc_jit *j = NULL;
    if (fsc_jit_create(d, source, strlen(source), o, &j) != FSC_OK) fail_msg("%s", fsc_jit_message(j));
    return j;
}

/* scale() over n numbers, launched and compared. False: wrong numbers or no launch. */
static inline bool scale_is_right(fsc_jit *j, int n, float f) {
    _Alignas(16) float x[3000], y[3000]; /* aligned: a key has that too */
    for (int i = 0; i < n; i++) x[i] = (float)(i % 977) - 400.0f;
    memset(y, 0x7f, sizeof y);
    const fsc_arg args[] = {fsc_pointer(y, (uint64_t)n * 4, FSC_FP32), fsc_pointer(x, (uint64_t)n * 4, FSC_FP32),
                            fsc_float((double)f), fsc_int(n)};
    if (fsc_jit_launch(j, NULL, args, 4, NULL) != FSC_OK) {
        print_error("%s\n", fsc_last_message());
        return false;
    }
    for (int i = 0; i < n; i++)
        if (y[i] != x[i] * f) return false;
    return true;
}

static inline void expect(fsc_variant_counts c, uint32_t compiled, uint32_t from_disk) {
    if (c.compiled != compiled || c.from_disk != from_disk)
        fail_msg("%u compiled and %u from disk, not %u and %u", c.compiled, c.from_disk, compiled, from_disk);
}

#endif
