/* process.c - what a host program does to its process around a call: it forks, and has a floating-point environment of
 * its own.
 *
 * In: calls that begin and end. Out: forks that wait for them, and are counted; the environment set and restored.
 * Method: calls are counted, as each launch on the host is one; a fork keeps new ones out and looks, again and again,
 * whether the others have ended (pthread_atfork). The environment is only written where it is not the default: that
 * takes long.
 */
#include "runtime/base/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* ---- fork() ------------------------------------------------------------------------------------------------------ */

static atomic_uint calls;            /* that have begun and not ended, in all threads */
static atomic_uint forks;            /* that wait or are under way */
static _Thread_local unsigned depth; /* of this thread's calls: inner ones do not count */
static pthread_once_t watch_once = PTHREAD_ONCE_INIT;

unsigned process_forks;

static void pause_shortly(void) {
    (void)nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

/* A handler of a signal may fork in the middle of a call of its own thread, for which it cannot wait. */
static void before_fork(void) {
    atomic_fetch_add(&forks, 1);
    while (atomic_load(&calls) > (depth ? 1u : 0u)) pause_shortly();
}

static void after_fork(void) {
    atomic_fetch_sub(&forks, 1);
}

/* Nobody else is here. */
static void in_child(void) {
    atomic_store(&calls, depth ? 1 : 0);
    atomic_store(&forks, 0);
    process_forks++;
}

static void watch(void) {
    pthread_atfork(before_fork, after_fork, in_child);
}

/* Counted first, then looked: either the fork sees the call, or the call sees the fork. */
static void begin_call(void) {
    pthread_once(&watch_once, watch);
    for (;;) {
        atomic_fetch_add(&calls, 1);
        if (atomic_load(&forks) == 0) return;
        atomic_fetch_sub(&calls, 1);
        while (atomic_load(&forks)) pause_shortly();
    }
}

int forks_hold(void) {
    if (depth++ == 0) begin_call();
    return 0;
}

void forks_release(const int *held) {
    (void)held;
    if (--depth == 0) atomic_fetch_sub(&calls, 1);
}

/* ---- Floating point ---------------------------------------------------------------------------------------------- */

#if defined __x86_64__
#include <xmmintrin.h>

/* The control words that a process starts with: of the registers that kernels use, and of those that libraries still
 * use. */
enum { SSE_CONTROL = 0xffc0, SSE_DEFAULT = 0x1f80, X87_CONTROL = 0x0f3f, X87_DEFAULT = 0x033f };

static bool is_default(void) {
    unsigned short x87 = 0;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (_mm_getcsr() & SSE_CONTROL) == SSE_DEFAULT && (x87 & X87_CONTROL) == X87_DEFAULT;
}
#else
static bool is_default(void) {
    return false;
}
#endif

FloatState floats_take(void) {
    FloatState s = {.is_changed = !is_default()};
    if (s.is_changed) {
        fegetenv(&s.callers);
        fesetenv(FE_DFL_ENV);
    }
    return s;
}

void floats_return(const FloatState *s) {
    if (s->is_changed) fesetenv(&s->callers);
}
