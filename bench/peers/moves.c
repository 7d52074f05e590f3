/* moves.c - memory moved by all cores and nothing computed, with a kernel's mix of reads and writes: the limit that a
 * kernel of the CPU is compared with.
 *
 * In: up to two arrays to read, up to two to write, each of `bytes`, aligned to 64. Method: each core that the caller
 * may use has a part of whole lines; the rest, below a line, is left out. A thread is bound to a core other than the
 * caller's, as a virtual machine wakes it late elsewhere. Where more is written than caches hold it goes past them
 * (memcpy decides by its own part). What is only read goes into a number that is written if it is one it never is.
 */
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

enum { LINE = 64, STREAM_LEAST = 1 << 25 };

typedef uint64_t Line __attribute__((vector_size(LINE), aligned(LINE)));
typedef uint64_t Half __attribute__((vector_size(LINE / 2), aligned(LINE / 2)));

#if defined(__AVX__)
#include <immintrin.h>
static void stream(Line *to, Line from) {
    Half halves[2];
    memcpy(halves, &from, sizeof halves);
    for (int i = 0; i < 2; i++) _mm256_stream_si256((__m256i *)to + i, (__m256i)halves[i]);
}
static void order(void) { _mm_sfence(); }
#else
static void stream(Line *to, Line from) { *to = from; }
static void order(void) {}
#endif

/* Of a team as large as the set: every thread but the caller's gets a core for itself. */
static void bind(const cpu_set_t *cores, int callers) {
    int left = omp_get_thread_num();
    if (!left) return;
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, cores) || i == callers || --left) continue;
        cpu_set_t own;
        CPU_ZERO(&own);
        CPU_SET(i, &own);
        (void)sched_setaffinity(0, sizeof own, &own);
        return;
    }
}

#define MOVE(READS, WRITES)                                                                                            \
    int move_##READS##_##WRITES(void *y0, void *y1, const void *x0, const void *x1, int64_t bytes, void *never) {      \
        int64_t lines = bytes / LINE;                                                                                  \
        int is_large = bytes * WRITES >= STREAM_LEAST, callers = sched_getcpu();                                       \
        cpu_set_t cores;                                                                                               \
        if (sched_getaffinity(0, sizeof cores, &cores)) return 1;                                                      \
        _Pragma("omp parallel num_threads(CPU_COUNT(&cores))") {                                                       \
            bind(&cores, callers);                                                                                     \
            const Line *a = x0, *b = x1;                                                                               \
            Line *c = y0, *d = y1, all = {0};                                                                          \
            _Pragma("omp for schedule(static)") for (int64_t i = 0; i < lines; i++) {                                  \
                Line v = READS > 1 ? a[i] ^ b[i] : a[i];                                                               \
                if (!WRITES) all |= v;                                                                                 \
                else if (is_large) {                                                                                   \
                    stream(&c[i], v);                                                                                  \
                    if (WRITES > 1) stream(&d[i], v);                                                                  \
                } else {                                                                                               \
                    c[i] = v;                                                                                          \
                    if (WRITES > 1) d[i] = v;                                                                          \
                }                                                                                                      \
            }                                                                                                          \
            order();                                                                                                   \
            if (!WRITES && all[0] == 0xDEADBEEFDEADBEEF && !all[1]) *(uint64_t *)never = all[0];                       \
        }                                                                                                              \
        return 0;                                                                                                      \
    }
MOVE(1, 0)
MOVE(1, 1)
MOVE(2, 1)
MOVE(2, 2)
