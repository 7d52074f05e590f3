/* pool.c - the programs of a grid over the threads of the host.
 *
 * In: an entry, its arguments, a grid. Out: every program has run once. Method: workers wait for a job number to
 * change; all of them, and the caller, take chunks of program indices from one counter until it runs out. Each thread
 * has its own scratch, kept from job to job. In a forked child the pool starts its threads anew.
 */
#include "runtime/base/process.h"
#include "runtime/cpu/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { SCRATCH_ALIGNMENT = 64, CHUNKS_PER_THREAD = 8 };

typedef struct Worker {
    Pool *pool;
    pthread_t thread;
    void *scratch;
    size_t scratch_bytes;
} Worker;

typedef struct Job {
    FscHostEntry *entry;
    const void *const *args;
    int64_t grid[3];
    uint64_t total, chunk;
    atomic_ullong *limit; /* programs from this one on do not begin; NULL: all do */
} Job;

struct Pool {
    pthread_mutex_t turn; /* held by the grid that runs */
    pthread_mutex_t lock; /* of number, running, stop */
    pthread_cond_t start, done;
    uint64_t number;  /* of the job */
    uint32_t running; /* workers that have not ended it */
    bool stop;
    Job job;            /* written under turn and lock, before number changes */
    atomic_ullong next; /* the first program nobody has taken */
    uint32_t size;      /* threads, the caller's included */
    uint32_t started;   /* threads of ours */
    Worker *workers;    /* size of them; the first is the caller's */
    atomic_uint forks;  /* process_forks when its locks were made: the threads are of that process */
};

static pthread_mutex_t renewing = PTHREAD_MUTEX_INITIALIZER; /* of pools, in a child */

uint32_t pool_cores(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 1024 ? 1024 : (uint32_t)n;
}

static void run_chunks(Pool *p, Worker *w) {
    const Job *j = &p->job;
    for (;;) {
        uint64_t i = atomic_fetch_add_explicit(&p->next, j->chunk, memory_order_relaxed);
        if (i >= j->total) return;
        uint64_t end = j->total - i < j->chunk ? j->total : i + j->chunk;
        for (; i < end; i++) {
            if (j->limit && i >= atomic_load_explicit(j->limit, memory_order_relaxed)) return;
            int64_t k = (int64_t)i, pid[3] = {k % j->grid[0], k / j->grid[0] % j->grid[1], k / j->grid[0] / j->grid[1]};
            j->entry(j->args, pid, j->grid, w->scratch);
        }
    }
}

static void *worker_main(void *context) {
    Worker *w = context;
    Pool *p = w->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (p->number == seen && !p->stop) pthread_cond_wait(&p->start, &p->lock);
        if (p->stop) break;
        seen = p->number;
        pthread_mutex_unlock(&p->lock);
        run_chunks(p, w);
        pthread_mutex_lock(&p->lock);
        if (--p->running == 0) pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void make_locks(Pool *p) {
    pthread_mutex_init(&p->turn, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->start, NULL);
    pthread_cond_init(&p->done, NULL);
    atomic_store(&p->forks, process_forks);
}

/* fork() leaves the child the memory and none of the threads: they waited for a job, as no grid runs during a fork. */
static void renew_after_fork(Pool *p) {
    if (atomic_load(&p->forks) == process_forks) return;
    pthread_mutex_lock(&renewing);
    if (atomic_load(&p->forks) != process_forks) {
        p->started = 0;
        p->number = 0;
        make_locks(p);
    }
    pthread_mutex_unlock(&renewing);
}

Pool *pool_create(uint32_t threads) {
    Pool *p = calloc(1, sizeof *p);
    Worker *workers = calloc(threads ? threads : 1, sizeof *workers);
    if (!p || !workers) {
        free(p);
        free(workers);
        return NULL;
    }
    p->size = threads ? threads : 1;
    p->workers = workers;
    for (uint32_t i = 0; i < p->size; i++) workers[i].pool = p;
    make_locks(p);
    return p;
}

void pool_destroy(Pool *p) {
    if (!p) return;
    renew_after_fork(p);
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->start);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t i = 1; i <= p->started; i++) pthread_join(p->workers[i].thread, NULL);
    for (uint32_t i = 0; i < p->size; i++) free(p->workers[i].scratch);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->start);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->turn);
    free(p->workers);
    free(p);
}

static bool ensure_scratch(Worker *w, size_t bytes) {
    if (bytes <= w->scratch_bytes) return true;
    if (bytes > SIZE_MAX - SCRATCH_ALIGNMENT) return false;
    free(w->scratch);
    w->scratch_bytes = 0;
    w->scratch =
        aligned_alloc(SCRATCH_ALIGNMENT, (bytes + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT);
    if (w->scratch) w->scratch_bytes = bytes;
    return w->scratch != NULL;
}

/* As many threads as there are, up to size: a machine that gives fewer still runs everything. */
static void ensure_threads(Pool *p) {
    while (p->started + 1 < p->size) {
        Worker *w = &p->workers[p->started + 1];
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0) break;
        p->started++;
    }
}

static void run_job(Pool *p, const Job *job) {
    bool alone = p->size == 1 || job->total == 1;
    pthread_mutex_lock(&p->lock);
    p->job = *job;
    atomic_store(&p->next, 0);
    if (!alone) {
        ensure_threads(p);
        p->running = p->started;
        p->number++;
        pthread_cond_broadcast(&p->start);
    }
    pthread_mutex_unlock(&p->lock);
    run_chunks(p, &p->workers[0]);
    pthread_mutex_lock(&p->lock);
    while (p->running) pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

bool pool_run(Pool *p, FscHostEntry *entry, const void *const *args, const int64_t grid[3], size_t scratch_bytes,
              atomic_ullong *limit) {
    Job job = {.entry = entry, .args = args, .grid = {grid[0], grid[1], grid[2]}, .limit = limit};
    job.total = (uint64_t)grid[0] * (uint64_t)grid[1] * (uint64_t)grid[2];
    job.chunk = job.total / ((uint64_t)p->size * CHUNKS_PER_THREAD);
    if (job.chunk == 0) job.chunk = 1;
    if (job.total == 0) return true;
    renew_after_fork(p);
    pthread_mutex_lock(&p->turn);
    bool ok = true;
    for (uint32_t i = 0; i < p->size && ok; i++) ok = ensure_scratch(&p->workers[i], scratch_bytes);
    if (ok) run_job(p, &job);
    pthread_mutex_unlock(&p->turn);
    return ok;
}
