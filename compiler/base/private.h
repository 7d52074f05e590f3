/* private.h - what the printers of diagnostics share; for base/ only. */
#ifndef FSC_BASE_PRIVATE_H
#define FSC_BASE_PRIVATE_H

#include "base/base.h"

typedef struct Message {
    Severity severity;
    Span span;
    const char *text;
    char code[DIAG_CODE + 1]; /* of its row; a note has none */
} Message;

struct DiagTaken {
    Message *at;
    uint32_t count, errors, hidden; /* hidden: errors that are counted and not kept */
};

struct Diag {
    Arena *arena;
    uint32_t limit, errors, hidden;
    bool hiding; /* the last message was beyond the limit, or there already: its notes are dropped too */
    bool inside_failed; /* that call has an error already */
    const char *function; /* of the library, that the user called */
    Span inside; /* the user's call of library code that is under way */
    VEC(Source *) sources;
    VEC(Message) messages;
};

/* The messages that are no notes, by place; a message's notes stand behind it in d->messages. */
const Message **diag_heads(const Diag *d, size_t *count);
/* "note", "remark", "warning", "error". */
const char *severity_name(Severity s);

#endif
