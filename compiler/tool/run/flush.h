/* flush.h - what a benchmark does before each timed launch on a GPU: memory is written,
 * so that nothing of the last launch is left in the L2. */
#ifndef FSC_FLUSH_H
#define FSC_FLUSH_H

#include "tool/tool.h"

typedef struct Flush {
    fsc_device *device;
    fsc_jit *jit;
    void *memory;
    uint64_t bytes; /* 0: this device needs none */
} Flush;

/* Memory of three times the L2's size and the kernel that writes it; nothing on the CPU and on emulated threads. */
fsc_status flush_create(fsc_device *d, const fsc_props *props, Flush *out);
/* Queues the writing. The GPU is busy with it until the launch that is timed is queued as well, so that what the host
 * takes for that is not measured; a fill that waits would leave the GPU idle. */
fsc_status flush_launch(const Flush *f);
void flush_destroy(Flush *f);

#endif
