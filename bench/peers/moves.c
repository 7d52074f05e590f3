/* moves.c - memory moved by all cores and nothing computed, with a kernel's mix of reads and writes: the limit that a
 * kernel of the CPU is compared with.
 *
 * In: up to two arrays to read, up to two to write, each of `bytes`, aligned to 64. Out: 0; 1: the cores cannot be
 * asked for. Method: the caller and a thread bound to each other core take pieces of whole lines from one counter; the
 * rest, below a line, is left out. The caller waits for no thread that took none, but the next call does: one that
 * slept wakes a millisecond late on a virtual machine. Where more is written than caches hold it goes past them. What
 * is only read goes into a number that is written if it is one it never is. One call at a time.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { LINE = 64, PIECE = 1 << 10 /* lines */, STREAM_LEAST = 1 << 25 };

typedef uint64_t Line __attribute__((vector_size(LINE), aligned(LINE)));

#if defined(__AVX__)
#include <immintrin.h>
static void stream(Line *to, Line from) {
    __m256i halves[2];
    memcpy(halves, &from, sizeof halves);
    for (int i = 0; i < 2; i++) _mm256_stream_si256((__m256i *)to + i, halves[i]);
}
static void order(void) { _mm_sfence(); }
#else
static void stream(Line *to, Line from) { *to = from; }
static void order(void) {}
#endif

typedef struct Move {
    Line *to[2];
    const Line *from[2];
    uint64_t *never;
    int64_t lines;
    int is_large;
    void (*piece)(const struct Move *m, int64_t first, int64_t end);
} Move;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned turn; /* counts the moves */
    int inside;    /* threads that look at `move` */
    int is_started, failed;
    Move move;
    _Atomic int64_t next, left; /* lines to take, and not moved yet */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void take_pieces(void) {
    const Move *m = &pool.move;
    for (int64_t first; (first = atomic_fetch_add(&pool.next, PIECE)) < m->lines;) {
        int64_t end = first + PIECE < m->lines ? first + PIECE : m->lines;
        m->piece(m, first, end);
        order();
        atomic_fetch_sub(&pool.left, end - first);
    }
}

static void *work(void *unused) {
    (void)unused;
    for (unsigned seen = 0;;) {
        pthread_mutex_lock(&pool.lock);
        while (pool.turn == seen) pthread_cond_wait(&pool.changed, &pool.lock);
        seen = pool.turn;
        pool.inside++;
        pthread_mutex_unlock(&pool.lock);
        take_pieces();
        pthread_mutex_lock(&pool.lock);
        pool.inside--;
        pthread_mutex_unlock(&pool.lock);
    }
    return NULL;
}

/* A thread for each core but one, on which the caller is now. */
static int start(void) {
    cpu_set_t cores;
    int callers = sched_getcpu();
    if (sched_getaffinity(0, sizeof cores, &cores)) return 1;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &cores) || i == callers) continue;
        pthread_t thread;
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(i, &own);
        if (pthread_create(&thread, NULL, work, NULL)) return 1;
        (void)pthread_setaffinity_np(thread, sizeof own, &own);
        (void)pthread_detach(thread);
    }
    return 0;
}

static int run(Move m) {
    pthread_mutex_lock(&pool.lock);
    while (pool.inside) { /* late ones, of the move before */
        pthread_mutex_unlock(&pool.lock);
        pthread_mutex_lock(&pool.lock);
    }
    if (!pool.is_started) pool.failed = start();
    pool.is_started = 1;
    pool.move = m;
    pool.left = m.lines;
    pool.next = 0;
    pool.turn++;
    pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
    take_pieces();
    while (atomic_load(&pool.left) > 0) {
    }
    return pool.failed;
}

#define MOVE(READS, WRITES)                                                                                            \
    static void piece_##READS##_##WRITES(const Move *m, int64_t first, int64_t end) {                                  \
        Line all = {0};                                                                                                \
        for (int64_t i = first; i < end; i++) {                                                                        \
            Line v = READS > 1 ? m->from[0][i] ^ m->from[1][i] : m->from[0][i];                                        \
            if (!WRITES) all |= v;                                                                                     \
            for (int k = 0; k < WRITES; k++) {                                                                         \
                if (m->is_large) stream(&m->to[k][i], v);                                                              \
                else m->to[k][i] = v;                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        if (!WRITES && all[0] == 0xDEADBEEFDEADBEEF && !all[1]) *m->never = all[0];                                    \
    }                                                                                                                  \
    int move_##READS##_##WRITES(void *y0, void *y1, const void *x0, const void *x1, int64_t bytes, void *never) {      \
        return run((Move){{y0, y1}, {x0, x1}, never, bytes / LINE, bytes * WRITES >= STREAM_LEAST,                     \
                          piece_##READS##_##WRITES});                                                                  \
    }
MOVE(1, 0)
MOVE(1, 1)
MOVE(2, 1)
MOVE(2, 2)
