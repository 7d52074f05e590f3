/* answer.h - what `fsc lsp` answers about a document: each writes the "result" of a request as JSON. */
#ifndef FSC_ANSWER_H
#define FSC_ANSWER_H

#include "tool/edit/document.h"

void answer_hover(const Document *d, const Json *params, Text *out);
void answer_definition(const Document *d, const Json *params, Text *out);
void answer_completion(const Document *d, const Json *params, Text *out);
void answer_signature(const Document *d, const Json *params, Text *out);
void answer_hints(const Document *d, const Json *params, Text *out);
void answer_actions(const Document *d, const Json *params, Text *out);
void answer_format(const Document *d, const Json *params, Text *out);
/* The "params" of textDocument/publishDiagnostics. */
void answer_diagnostics(const Document *d, Text *out);

/* names.c: where names are bound, and what may be written. */
const Node *names_function_at(const Document *d, size_t offset); /* NULL: outside of functions */
/* Where `name` gets its value, as seen from the offset; {0, 0}: not in this file. */
Span names_definition(const Document *d, const char *name, size_t offset);
/* "load(pointer, mask=, …)", of a builtin or a function of the file; false: it is neither. */
bool names_signature(const Document *d, const char *name, Text *out);

#endif
