/* flush.c - memory written over before a timed launch, by a kernel of fsc's own.
 *
 * In: a device. Out: a launch on the default stream. Method: a kernel that stores 16 bytes a thread, compiled once.
 */
#include "tool/run/flush.h"

#include <string.h>

enum { FLUSH_TIMES = 3, ELEMENT = 4 };

static const char source[] = "@kernel(grid=(cdiv(n, 2048),))\n"
                             "def flush(p: *i32, n: i32):\n"
                             "    i = program_id(0) * 2048 + arange(0, 2048)\n"
                             "    store(p + i, 0, mask=i < n)\n";

fsc_status flush_create(fsc_device *d, const fsc_props *props, Flush *out) {
    *out = (Flush){.device = d};
    if (props->kind != FSC_CUDA || props->l2_bytes == 0) return FSC_OK;
    out->bytes = FLUSH_TIMES * props->l2_bytes;
    fsc_compile_options options;
    fsc_compile_options_init(&options);
    options.file = "flush.dsl";
    options.tuned = "off";
    fsc_status s = fsc_memory_alloc(d, out->bytes, &out->memory);
    if (s == FSC_OK) s = fsc_jit_create(d, source, strlen(source), &options, &out->jit);
    return s;
}

fsc_status flush_launch(const Flush *f) {
    if (f->bytes == 0) return FSC_OK;
    fsc_arg args[] = {fsc_pointer(f->memory, f->bytes, FSC_I32), fsc_int((int64_t)(f->bytes / ELEMENT))};
    return fsc_jit_launch(f->jit, NULL, args, COUNT(args), NULL);
}

void flush_destroy(Flush *f) {
    if (f->memory) (void)fsc_memory_free(f->device, f->memory);
    fsc_jit_destroy(f->jit);
}
