/* fiber.c - fibers on makecontext and the compiler's own setjmp and longjmp.
 *
 * In, out: see fiber.h. Method: a fiber's first switch goes through setcontext, which lands in `start`; later ones are
 * long jumps between stacks. The C library's longjmp is not for that: fortified, it takes them for errors, and
 * AddressSanitizer's cleans the whole stack that is left, with a system call.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "runtime/emu/fiber.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

/* ---- What the sanitizers are told -------------------------------------------------------------------------------- */

static void announce_leaving(Fiber *from, Fiber *to) {
#if defined(__SANITIZE_ADDRESS__)
    from->deepest = __builtin_frame_address(0);
    __sanitizer_start_switch_fiber(&from->asan_stack, to->bottom, to->bottom_bytes);
#endif
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(to->tsan_fiber, 0);
#endif
    (void)from, (void)to;
}

/* Running on `self` again (or for the first time), having come from `from`. */
static void announce_arrival(Fiber *self, Fiber *from) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(self->asan_stack, &from->bottom, &from->bottom_bytes);
#endif
    (void)self, (void)from;
}

/* What AddressSanitizer has put around variables of frames that will not end is on the stack no more. */
static void announce_drop(Fiber *f) {
#if defined(__SANITIZE_ADDRESS__)
    if (f->deepest) __asan_unpoison_memory_region(f->deepest, (size_t)((char *)f->stack + f->stack_bytes - f->deepest));
#endif
    (void)f;
}

/* ---- Switching --------------------------------------------------------------------------------------------------- */

static _Thread_local Fiber *leaving; /* the fiber that the last switch on this host thread left */

/* Not inlined, so that the thread-local variable is looked up anew after a switch. */
static __attribute__((noinline)) Fiber *left(void) {
    return leaving;
}

/* makecontext passes ints only. */
static void start(unsigned high, unsigned low) {
    Fiber *f = (Fiber *)((uintptr_t)high << 32 | low);
    announce_arrival(f, left());
    f->run(f->context);
    abort(); /* run never returns */
}

/* Left for good in its middle: what AddressSanitizer would put around `c` would stay on the stack for later frames. */
__attribute__((noreturn, no_sanitize("address", "thread"))) static void enter(Fiber *f) {
    ucontext_t c;
    uintptr_t self = (uintptr_t)f;
    f->is_started = true;
    if (getcontext(&c) != 0) abort();
    c.uc_stack.ss_sp = f->stack;
    c.uc_stack.ss_size = f->stack_bytes;
    c.uc_link = NULL;
    makecontext(&c, (void (*)(void))start, 2, (unsigned)(self >> 32), (unsigned)(self & UINT32_MAX));
    setcontext(&c);
    abort(); /* setcontext returns only when it fails */
}

/* A function of its own, as the compiler wants it, which the sanitizers do not see begin: it never ends. */
__attribute__((noinline, noreturn, no_sanitize("address", "thread"))) static void leave(Fiber *to) {
    if (to->is_started) __builtin_longjmp(to->here, 1);
    enter(to);
}

/* Before a call that never returns, AddressSanitizer would clean the stack here, too. */
__attribute__((no_sanitize("address"))) void fiber_switch(Fiber *from, Fiber *to) {
    announce_leaving(from, to);
    leaving = from;
    if (__builtin_setjmp(from->here) == 0) leave(to);
    announce_arrival(from, left());
}

void fiber_home(Fiber *f) {
    *f = (Fiber){.is_started = true};
#if defined(__SANITIZE_THREAD__)
    f->tsan_fiber = __tsan_get_current_fiber();
#endif
}

void fiber_create(Fiber *f, void *stack, size_t bytes, void (*run)(void *context), void *context) {
    *f = (Fiber){
        .stack = stack, .stack_bytes = bytes, .run = run, .context = context, .bottom = stack, .bottom_bytes = bytes};
#if defined(__SANITIZE_THREAD__)
    f->tsan_fiber = __tsan_create_fiber(0);
#endif
}

void fiber_drop(Fiber *f) {
    announce_drop(f);
    f->is_started = false;
}

void fiber_destroy(Fiber *f) {
    fiber_drop(f);
#if defined(__SANITIZE_THREAD__)
    if (f->tsan_fiber) __tsan_destroy_fiber(f->tsan_fiber);
#endif
    *f = (Fiber){0};
}

/* ---- Stacks ------------------------------------------------------------------------------------------------------ */

static size_t page(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

size_t stacks_stride(size_t bytes) {
    return bytes + page();
}

/* Each page that is not there splits a mapping in two, and Linux allows a process 65530 of them: of the largest
 * clusters, whose blocks have 1024 threads, the stacks lie side by side. */
enum { MOST_GUARDED = 8192 };

/* A page below each stack takes a system call, so stacks that are done with wait here for a launch that wants as
 * many. */
typedef struct Stacks {
    void *at;
    size_t n, bytes;
} Stacks;

/* More stacks than this for one host thread are not kept. */
enum { IDLE = 8, MOST_IDLE = 2048 };

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
static Stacks idle[IDLE];
static size_t idle_oldest; /* counts up: who gives way next */

static void *idle_take(size_t n, size_t bytes) {
    void *at = NULL;
    pthread_mutex_lock(&idle_lock);
    for (size_t i = 0; i < IDLE && !at; i++) {
        if (idle[i].n != n || idle[i].bytes != bytes) continue;
        at = idle[i].at;
        idle[i] = (Stacks){0};
    }
    pthread_mutex_unlock(&idle_lock);
    return at;
}

/* Returns whom it replaces. */
static Stacks idle_put(Stacks s) {
    size_t i = 0;
    pthread_mutex_lock(&idle_lock);
    while (i < IDLE && idle[i].n) i++;
    if (i == IDLE) i = idle_oldest++ % IDLE;
    Stacks old = idle[i];
    idle[i] = s;
    pthread_mutex_unlock(&idle_lock);
    return old;
}

/* Memory is the system's until a stack is used; the page below each is never there. */
void *stacks_create(size_t n, size_t bytes) {
    void *kept = idle_take(n, bytes);
    if (kept) return kept;
    char *at = mmap(NULL, n * stacks_stride(bytes) + page(), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return NULL;
    for (size_t i = 0; i <= n; i += n > MOST_GUARDED ? n : 1)
        (void)mprotect(at + i * stacks_stride(bytes), page(), PROT_NONE);
    return at + page();
}

void stacks_destroy(void *stacks, size_t n, size_t bytes) {
    Stacks s = {stacks, n, bytes};
    if (stacks && n <= MOST_IDLE) s = idle_put(s);
    if (s.n && s.at) (void)munmap((char *)s.at - page(), s.n * stacks_stride(s.bytes) + page());
}
