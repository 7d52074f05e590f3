/* interrupt.c - Ctrl-C in long work, and its progress.
 *
 * In: a device that launches. Out: its launch ends early; a line on the terminal that is gone at the end.
 * Method: the handler sets the device's flag, which the emulator asks between the turns of its threads. Another thread
 * looks at the counter of ended programs five times a second, and speaks once a second has gone by.
 */
#include "tool/interrupt.h"

#include "runtime/device/device.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS = 5 /* a second */, NANOSECONDS = 1000000000 };

static atomic_bool came;
static Progress *_Atomic progress; /* NULL: nothing is watched */
static struct sigaction before;

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool is_running, is_over;
} teller = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void on_interrupt(int number) {
    (void)number;
    atomic_store(&came, true);
    Progress *p = atomic_load(&progress);
    if (p) atomic_store(&p->is_stopped, true);
}

static void tell(const Progress *p, bool *has_told) {
    unsigned long long all = atomic_load(&p->all), ended = atomic_load(&p->ended);
    if (!all) return;
    fprintf(stderr, "\r\033[K%llu of %llu programs (%llu %%); Ctrl-C shows what there is", ended, all,
            100 * ended / all);
    *has_told = true;
}

static void *tell_on(void *device_progress) {
    bool has_told = false;
    struct timespec next;
    clock_gettime(CLOCK_REALTIME, &next);
    next.tv_sec++;
    pthread_mutex_lock(&teller.lock);
    while (!teller.is_over) {
        if (pthread_cond_timedwait(&teller.wake, &teller.lock, &next) == 0) continue;
        tell(device_progress, &has_told);
        next.tv_nsec += NANOSECONDS / LOOKS;
        next.tv_sec += next.tv_nsec / NANOSECONDS;
        next.tv_nsec %= NANOSECONDS;
    }
    pthread_mutex_unlock(&teller.lock);
    if (has_told) fprintf(stderr, "\r\033[K");
    return NULL;
}

void interrupt_begin(fsc_device *d) {
    atomic_store(&progress, &d->progress);
    struct sigaction now = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&now.sa_mask);
    if (sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler != SIG_IGN) (void)sigaction(SIGINT, &now, NULL);
    teller.is_over = false;
    teller.is_running =
        isatty(STDERR_FILENO) && pthread_create(&teller.thread, NULL, tell_on, (void *)&d->progress) == 0;
}

void interrupt_end(void) {
    atomic_store(&progress, NULL);
    if (before.sa_handler != SIG_IGN) (void)sigaction(SIGINT, &before, NULL);
    if (!teller.is_running) return;
    pthread_mutex_lock(&teller.lock);
    teller.is_over = true;
    pthread_cond_signal(&teller.wake);
    pthread_mutex_unlock(&teller.lock);
    pthread_join(teller.thread, NULL);
    teller.is_running = false;
}

bool interrupt_came(void) {
    return atomic_load(&came);
}

void interrupt_tell(const fsc_device *d) {
    unsigned long long all = atomic_load(&d->progress.all), ended = atomic_load(&d->progress.ended);
    fprintf(stderr, "%s: stopped; %llu of %llu programs ended, and what is said is of these\n", tool_name,
            ended < all ? ended : all, all);
}

void interrupt_pass_on(void) {
    if (!interrupt_came()) return;
    (void)signal(SIGINT, SIG_DFL);
    (void)raise(SIGINT);
}
