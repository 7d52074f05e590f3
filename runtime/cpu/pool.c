/* pool.c - the programs of a grid over the threads of the host.
 *
 * In: an entry, its arguments, a grid. Out: every program has run once. Method: the caller and whoever joins it take
 * pieces of the grid from one counter until it runs out. The caller waits for those that joined, never for a thread
 * that has not begun: on a busy machine that one may wait long for a core. Grids that took little time the last time
 * wake nobody. Each thread has its own scratch, kept from job to job. In a forked child the pool starts its threads
 * anew.
 */
#include "runtime/base/process.h"
#include "runtime/cpu/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum {
    SCRATCH_ALIGNMENT = 64,
    ALONE_NS = 20000, /* what takes less the caller does alone: to wake a thread takes as long */
    PIECE_NS = 20000, /* what a thread takes at a time: a thread that loses its core holds no more */
    SPIN_NS = 20000,  /* how long threads look for work before they sleep */
    PLACE_NS = 2000,  /* what it takes to say on which core a thread wakes … */
    PLACE_SHARE = 16, /* … of which all take this part of the grid's time at most */
};

typedef struct Worker {
    Pool *pool;
    pthread_t thread;
    CorePlace *place; /* under lock; NULL: until the thread runs, or where cores need none */
    void *scratch;
} Worker;

struct Pool {
    pthread_mutex_t turn; /* held by the grid that runs */
    pthread_mutex_t lock; /* of open, asleep, stop, and of changes of number and active */
    pthread_cond_t start, done;
    atomic_uint number;     /* of the job that was shared last */
    atomic_uint active;     /* workers that joined it and have not ended */
    uint32_t asleep;        /* workers that wait for `start` */
    bool open, stop;        /* open: workers may join */
    PoolJob job;            /* written under turn, while no worker is active and none can join */
    uint64_t total;         /* of the job: programs */
    atomic_ullong next;     /* the first program nobody has taken */
    uint32_t size;          /* threads, the caller's included */
    uint32_t started;       /* threads of ours */
    size_t scratch_bytes;   /* of each worker */
    Worker *workers;        /* size of them; the first is the caller's */
    fsc_executor *executor; /* NULL: threads of ours */
    void *executor_context;
    atomic_uint forks; /* process_forks when its locks were made: the threads are of that process */
};

static pthread_mutex_t renewing = PTHREAD_MUTEX_INITIALIZER; /* of pools, in a child */

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static uint64_t clock_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Stores past the caches are not ordered by what tells other threads that a piece is done. */
static void order_streams(void) {
#if defined __x86_64__
    __builtin_ia32_sfence();
#endif
}

static void run_programs(const PoolJob *j, uint64_t first, uint64_t end, void *scratch) {
    int64_t i = (int64_t)first;
    int64_t pid[3] = {i % j->grid[0], i / j->grid[0] % j->grid[1], i / j->grid[0] / j->grid[1]};
    for (; first < end; first++) {
        if (j->limit && first >= atomic_load_explicit(j->limit, memory_order_relaxed)) break;
        j->entry(j->args, pid, j->grid, scratch);
        if (++pid[0] < j->grid[0]) continue;
        pid[0] = 0;
        if (++pid[1] < j->grid[1]) continue;
        pid[1] = 0;
        pid[2]++;
    }
    order_streams();
}

/* What its programs took is what the next grid of the code is expected to take. */
static void note_cost(const Pool *p, uint64_t programs, uint64_t ns) {
    uint64_t each = programs ? ns / programs + 1 : 0;
    if (each && p->job.cost)
        atomic_store_explicit(p->job.cost, each < UINT32_MAX ? (unsigned)each : UINT32_MAX, memory_order_relaxed);
}

/* Takes pieces until none is left, or `most_ns` have gone by. A piece is one program at first, more where that is
 * quick, and fewer again towards the end. */
static void run_pieces(Pool *p, const Worker *w, uint64_t most_ns) {
    uint64_t piece = 1, done = 0, start = clock_ns(), before = start, now = start;
    while (now - start < most_ns) {
        uint64_t first = atomic_fetch_add_explicit(&p->next, piece, memory_order_relaxed);
        if (first >= p->total) break;
        uint64_t left = p->total - first, n = piece < left ? piece : left, fair = (left - n) / (2 * p->size);
        run_programs(&p->job, first, first + n, w->scratch);
        done += n;
        now = clock_ns();
        if (now - before < PIECE_NS / 2) piece *= 2;
        else if (now - before > PIECE_NS) piece /= 2;
        if (piece > fair) piece = fair;
        if (piece == 0) piece = 1;
        before = now;
    }
    note_cost(p, done, now - start);
}

/* ---- Threads ----------------------------------------------------------------------------------------------------- */

static void relax(void) {
#if defined __x86_64__
    __builtin_ia32_pause();
#endif
}

/* Shortly: until the number is another one than `old`. */
static void spin_while(const atomic_uint *number, unsigned old) {
    uint64_t end = clock_ns() + SPIN_NS;
    while (atomic_load(number) == old && clock_ns() < end) relax();
}

static void *worker_main(void *context) {
    Worker *w = context;
    Pool *p = w->pool;
    unsigned seen = 0;
    CorePlace *place = cores_place_new();
    pthread_mutex_lock(&p->lock);
    w->place = place;
    pthread_mutex_unlock(&p->lock);
    for (;;) {
        spin_while(&p->number, seen);
        pthread_mutex_lock(&p->lock);
        p->asleep++;
        while (atomic_load(&p->number) == seen && !p->stop) pthread_cond_wait(&p->start, &p->lock);
        p->asleep--;
        cores_unplace(place);
        seen = atomic_load(&p->number);
        bool joins = p->open && !p->stop, stops = p->stop;
        if (joins) atomic_fetch_add(&p->active, 1);
        pthread_mutex_unlock(&p->lock);
        if (stops) return NULL;
        if (!joins) continue;
        run_pieces(p, w, UINT64_MAX);
        pthread_mutex_lock(&p->lock);
        if (atomic_fetch_sub(&p->active, 1) == 1) pthread_cond_signal(&p->done);
        pthread_mutex_unlock(&p->lock);
    }
}

static void make_locks(Pool *p) {
    pthread_mutex_init(&p->turn, NULL);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->start, NULL);
    pthread_cond_init(&p->done, NULL);
    atomic_store(&p->forks, process_forks);
}

static void forget_places(Pool *p) {
    for (uint32_t i = 0; i < p->size; i++) {
        free(p->workers[i].place);
        p->workers[i].place = NULL;
    }
}

/* fork() leaves the child the memory and none of the threads: they waited for a job, as no grid runs during a fork. */
static void renew_after_fork(Pool *p) {
    if (atomic_load(&p->forks) == process_forks) return;
    pthread_mutex_lock(&renewing);
    if (atomic_load(&p->forks) != process_forks) {
        p->started = p->asleep = 0;
        forget_places(p);
        atomic_store(&p->number, 0);
        make_locks(p);
    }
    pthread_mutex_unlock(&renewing);
}

/* As many threads as there are, up to size: a machine that gives fewer still runs everything. */
static void ensure_threads(Pool *p) {
    while (p->started + 1 < p->size) {
        Worker *w = &p->workers[p->started + 1];
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0) break;
        p->started++;
    }
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
    forget_places(p);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->start);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->turn);
    free(p->workers);
    free(p);
}

void pool_set_executor(Pool *p, fsc_executor *run, void *context) {
    HOLD_FORKS;
    renew_after_fork(p);
    pthread_mutex_lock(&p->turn);
    p->executor = run;
    p->executor_context = context;
    pthread_mutex_unlock(&p->turn);
}

/* ---- Grids ------------------------------------------------------------------------------------------------------- */

static bool ensure_scratch(Pool *p, size_t bytes) {
    if (bytes <= p->scratch_bytes) return true;
    if (bytes > SIZE_MAX - SCRATCH_ALIGNMENT) return false;
    p->scratch_bytes = 0;
    size_t rounded = (bytes + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;
    for (uint32_t i = 0; i < p->size; i++) {
        free(p->workers[i].scratch);
        p->workers[i].scratch = aligned_alloc(SCRATCH_ALIGNMENT, rounded);
        if (!p->workers[i].scratch) return false;
    }
    p->scratch_bytes = bytes;
    return true;
}

/* What an executor calls on a thread of the application's. */
static void run_task(void *pool, uint32_t index) {
    Pool *p = pool;
    OWN_FLOATS;
    if (index < p->size) run_pieces(p, &p->workers[index], UINT64_MAX);
}

static void wait_for_workers(Pool *p) {
    uint64_t end = clock_ns() + SPIN_NS;
    while (atomic_load(&p->active) && clock_ns() < end) relax();
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->active)) pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

/* Wakes the workers, each on a core of its own as long as that takes little of the grid's time. Under lock. */
static void wake_workers(Pool *p) {
    uint64_t cost = p->job.cost ? atomic_load_explicit(p->job.cost, memory_order_relaxed) : 0;
    uint64_t most = cost ? cost * p->total / (PLACE_NS * PLACE_SHARE) : p->started;
    for (uint32_t i = 1; i <= p->started && i <= most && p->asleep == p->started; i++)
        cores_place(p->workers[i].place, i - 1);
    if (p->asleep) pthread_cond_broadcast(&p->start);
}

/* The rest of the grid, by all. */
static void run_shared(Pool *p) {
    if (p->executor) {
        p->executor(p->executor_context, p->size, run_task, p);
        return;
    }
    ensure_threads(p);
    pthread_mutex_lock(&p->lock);
    p->open = true;
    atomic_fetch_add(&p->number, 1);
    wake_workers(p);
    pthread_mutex_unlock(&p->lock);
    run_pieces(p, &p->workers[0], UINT64_MAX);
    pthread_mutex_lock(&p->lock);
    p->open = false;
    pthread_mutex_unlock(&p->lock);
    if (atomic_load(&p->active)) wait_for_workers(p);
}

/* Alone as far as the last time says that this is quick; what is left then, with the others. */
static void run_job(Pool *p) {
    uint64_t cost = p->job.cost ? atomic_load_explicit(p->job.cost, memory_order_relaxed) : 0;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    if (p->size == 1 || p->total == 1) {
        run_programs(&p->job, 0, p->total, p->workers[0].scratch);
        return;
    }
    if (cost && p->total < ALONE_NS / cost) run_pieces(p, &p->workers[0], ALONE_NS);
    if (atomic_load_explicit(&p->next, memory_order_relaxed) < p->total) run_shared(p);
}

bool pool_run(Pool *p, const PoolJob *job) {
    uint64_t total = (uint64_t)job->grid[0] * (uint64_t)job->grid[1] * (uint64_t)job->grid[2];
    if (total == 0) return true;
    renew_after_fork(p);
    pthread_mutex_lock(&p->turn);
    p->job = *job;
    p->total = total;
    bool ok = ensure_scratch(p, job->scratch_bytes);
    if (ok) run_job(p);
    pthread_mutex_unlock(&p->turn);
    return ok;
}
