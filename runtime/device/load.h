/* load.h - what the JIT asks of modules beyond fsc_runtime.h: an image whose record is at hand; the sentence for a
 * driver that is too old for a PTX. */
#ifndef FSC_LOAD_H
#define FSC_LOAD_H

#include "runtime/fsc_runtime.h"

/* fsc_module_load of an image of one kernel, with its record's text beside it instead of searched in it. */
fsc_status module_load_known(fsc_device *d, const void *image, size_t size, const char *record, size_t length,
                             fsc_module **out);
/* "the PTX is of version 8.7, and the driver supports CUDA 12.4, which takes PTX up to 8.4: install …" */
void ptx_explain(const char *text, uint32_t cuda, char *out, size_t size);

#endif
