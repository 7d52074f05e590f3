/* status.h - how a call fails: a sentence for the thread and for the device. Both return s; d may be NULL. */
#ifndef FSC_STATUS_H
#define FSC_STATUS_H

#include "runtime/fsc_runtime.h"

enum { MESSAGE_SIZE = 2048 };

fsc_status status_fail(const fsc_device *d, fsc_status s, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
fsc_status status_memory(const fsc_device *d); /* out of host memory */
/* More words behind those in text, as far as they fit into size. */
void text_append(char *text, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
