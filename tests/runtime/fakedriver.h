/* fakedriver.h - what the files of the fake driver share: how one of its functions begins,
 * and the memory that it hands out. */
#ifndef FAKEDRIVER_H
#define FAKEDRIVER_H

#include <stdbool.h>
#include <stddef.h>

typedef int CUresult;

/* Counts the call; its planned failure. */
CUresult fake_count(const char *name);
/* The same for calls that need a context which still works: else the error that sticks. */
CUresult fake_enter(const char *name);
void fake_write_log(const char *line);
void fake_forget_code(void); /* functions, a graph that is being recorded */
bool fake_has_context(void);
/* Zeroed; fake_reset frees what is left. NULL: out of memory. */
void *fake_take(size_t bytes);
/* Frees it; the bytes that were asked for. */
size_t fake_give(void *p);

/* Defines an exported function, with the prototype that the warnings want. */
#define API(name, ...)                                                                                                 \
    CUresult name(__VA_ARGS__);                                                                                        \
    CUresult name(__VA_ARGS__)

#define ENTER()                                                                                                        \
    do {                                                                                                               \
        CUresult failed = fake_enter(__func__);                                                                        \
        if (failed) return failed;                                                                                     \
    } while (0)
#define COUNT()                                                                                                        \
    do {                                                                                                               \
        CUresult failed = fake_count(__func__);                                                                        \
        if (failed) return failed;                                                                                     \
    } while (0)
#define NEED_CONTEXT()                                                                                                 \
    if (!fake_has_context()) return 201

#endif
