/* private.h - what the printers of diagnostics share; for base/ only. */
#ifndef FSC_BASE_PRIVATE_H
#define FSC_BASE_PRIVATE_H

#include "base/base.h"

typedef struct Message {
    Severity severity;
    Span span;
    const char *text;
    char code[DIAG_CODE + 1]; /* of its row; a note has none */
    Span fix_at;              /* what `fix` replaces */
    const char *fix;          /* NULL: none is known */
} Message;

struct DiagTaken {
    Message *at;
    uint32_t count, errors, hidden, repeated; /* of errors, hidden and repeated ones are counted and not kept */
};

struct Diag {
    Arena *arena;
    uint32_t limit, errors, hidden; /* hidden: beyond the limit */
    uint32_t repeated;              /* errors that are there already */
    bool hiding; /* the last message is not kept: its notes are dropped, too */
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
