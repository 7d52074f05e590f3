/* document.h - an open file of `fsc lsp`: its text, and what the compiler knows of it. */
#ifndef FSC_DOCUMENT_H
#define FSC_DOCUMENT_H

#include "driver.h"
#include "tool/json.h"
#include "tool/tool.h"

enum { MOST_KERNELS = 32 };

/* What one version of the text compiled to: one compilation a kernel. */
typedef struct Analysis {
    fsc_compilation *kernels[MOST_KERNELS];
    uint32_t count;
} Analysis;

typedef struct Document {
    struct Document *next;
    char *uri, *path, *text; /* owned */
    size_t length;
    bool is_stale;       /* not compiled since it changed */
    Analysis now, good;  /* good: the last with values, of this text or an earlier one */
    Arena *arena;        /* of `found` */
    VEC(const Json *) found; /* the messages about `text`, as --diagnostics-format=json has them */
} Document;

void document_set_text(Document *d, const char *text);
void document_free(Document *d);
/* Compiles each kernel for the arch of the call, as a launch with aligned buffers and sizes does. */
void document_compile(Document *d, const fsc_compile_options *base);

/* Positions: lines and UTF-16 units from 0 in the protocol, bytes here. */
size_t document_offset(const Document *d, const Json *position);
void document_position(const Document *d, size_t offset, Text *out); /* {"line": …, "character": …} */
void document_range(const Document *d, size_t begin, size_t end, Text *out);
/* The offset of a line and a column in bytes, from 1. */
size_t document_place(const Document *d, uint32_t line, uint32_t col);
/* The name around the offset; false: there is none. */
bool document_word(const Document *d, size_t offset, size_t *begin, size_t *end);
const Module *document_module(const Document *d); /* NULL: nothing was parsed */

#endif
