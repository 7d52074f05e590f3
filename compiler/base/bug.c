/* bug.c - the end of a compile that found a bug of fsc's own:
 * the message goes to the innermost handler of the thread. */
#include "base/base.h"

#include <stdlib.h>

static _Thread_local BugHandler *handler;
static _Thread_local void *handler_context;

void bug_set_handler(BugHandler *h, void *context) {
    handler = h;
    handler_context = context;
}

void bug(const char *fmt, ...) {
    char message[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    if (handler) handler(handler_context, message);
    fprintf(stderr, "fsc: internal error: %s\n", message);
    abort();
}
