/* fiber.h - stacks that one host thread switches between.
 *
 * In: a function. Out: it runs on a stack of its own, stops wherever it switches away, and goes on when switched to.
 * Method: makecontext to get onto a new stack once, long jumps after that (no system call). ASan and TSan are told of
 * every switch.
 */
#ifndef FSC_FIBER_H
#define FSC_FIBER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct Fiber {
    void *here[5]; /* as __builtin_setjmp wants it */
    void *stack; /* NULL: the host thread's own */
    size_t stack_bytes;
    bool is_started;
    void (*run)(void *context); /* never returns: its last act is a switch away, again and again */
    void *context;
    void *asan_stack, *tsan_fiber;
    const char *deepest; /* for ASan: where the stack ended when it was left last */
    const void *bottom; /* for ASan, of the host thread's own stack as well */
    size_t bottom_bytes;
} Fiber;

/* The calling host thread as something to switch back to. */
void fiber_home(Fiber *f);
/* A fiber on `stack`, which the caller owns. */
void fiber_create(Fiber *f, void *stack, size_t bytes, void (*run)(void *context), void *context);
void fiber_drop(Fiber *f); /* left for good, where it stands: the next switch begins it anew */
void fiber_destroy(Fiber *f);
/* From the running one to the other. */
void fiber_switch(Fiber *from, Fiber *to);

/* `n` stacks of `bytes` each, with a guard page below each; NULL: out of memory. Stack i begins at i * stacks_stride().
 * What is on them is not defined; those of a few launches are kept for the next. Any thread. */
void *stacks_create(size_t n, size_t bytes);
void stacks_destroy(void *stacks, size_t n, size_t bytes);
size_t stacks_stride(size_t bytes);

#endif
