/* assemble.c - ptxas over many PTX texts, several at a time.
 *
 * In: PTX. Out: cubins, or what ptxas said. Method: a thread for each core takes the next text until there is none;
 * each waits for a process, so nothing else is shared.
 */
#include "tool/compile/package.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST_THREADS = 16 };

typedef struct Work {
    Assembly *at;
    uint32_t count;
    int opt_level;
    atomic_uint next;
} Work;

static void *assemble(void *context) {
    Work *w = context;
    for (uint32_t i; (i = atomic_fetch_add(&w->next, 1)) < w->count;) {
        Assembly *a = &w->at[i];
        const Target *t = target_find(a->arch);
        a->done = assemble_best(t, a->ptx, w->opt_level, &a->made);
    }
    return NULL;
}

void assemble_all(Assembly *at, uint32_t count, int opt_level) {
    Work w = {.at = at, .count = count, .opt_level = opt_level};
    pthread_t threads[MOST_THREADS];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t wanted = cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (uint32_t)cores, started = 0;
    (void)fsc_find_ptxas();
    while (started + 1 < wanted && started + 1 < count && pthread_create(&threads[started], NULL, assemble, &w) == 0)
        started++;
    assemble(&w); /* this thread, too */
    for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
}
