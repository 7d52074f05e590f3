/* recordtext.h - what the writer and the reader of a record's text share: its words and its hash. */
#ifndef FSC_RECORDTEXT_H
#define FSC_RECORDTEXT_H

#include <stddef.h>
#include <stdint.h>

/* In the order of RecordKind, RecordValueKind, RecordOrigin; NULL ends each. */
extern const char *const record_kinds[];
extern const char *const record_value_kinds[];
extern const char *const record_origins[];
extern const char *const record_compiled[]; /* num_warps, num_stages, num_ctas */

/* FNV-1a, 32 bits. */
uint32_t record_hash(const char *text, size_t length);

#endif
