/* debug.c - what a kernel prints, and what it asserts in vain (--device-debug), on the CPU and emulated threads.
 *
 * In: elements with their text, from all host threads. Out: lines on standard output, program after program; a finding.
 * Method: lines are kept until the launch ends and sorted then; beyond a limit they only count.
 */
#include "runtime/base/hooks.h"
#include "runtime/base/number.h"
#include "runtime/debug/checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 1024, MOST_LINES = 1 << 20, MOST_BYTES = 1 << 26 };

typedef struct Kept {
    uint64_t program, print, element, order; /* order: as they came */
    size_t at;
} Kept;

struct DebugLog {
    pthread_mutex_t lock;
    int64_t grid[3];
    Kept *lines;
    size_t num_lines, room_lines;
    char *bytes;
    size_t num_bytes, room_bytes;
    uint64_t dropped;
};

DebugLog *debug_create(const int64_t grid[3]) {
    DebugLog *log = calloc(1, sizeof *log);
    if (!log) return NULL;
    pthread_mutex_init(&log->lock, NULL);
    memcpy(log->grid, grid, sizeof log->grid);
    return log;
}

/* ---- One line ---------------------------------------------------------------------------------------------------- */

static size_t append(char *out, size_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static size_t append(char *out, size_t n, const char *fmt, ...) {
    va_list args;
    if (n + 1 >= LINE_SIZE) return n;
    va_start(args, fmt);
    int more = vsnprintf(out + n, LINE_SIZE - n, fmt, args);
    va_end(args);
    return more < 0 ? n : n + (size_t)more < LINE_SIZE ? n + (size_t)more : LINE_SIZE - 1;
}

/* "( 3, 12)": each index as wide as the largest. */
static size_t append_index(char *out, size_t n, uint64_t shape, uint64_t element) {
    uint8_t log2[DEBUG_RANK];
    uint32_t rank = debug_shape_unpack(shape, log2), shift = 0;
    for (uint32_t d = 0; d < rank; d++) shift += log2[d];
    n = append(out, n, "(");
    for (uint32_t d = 0; d < rank; d++) {
        int width = snprintf(NULL, 0, "%llu", (1ULL << log2[d]) - 1);
        shift -= log2[d];
        n = append(out, n, "%s%*llu", d ? ", " : "", width,
                   (unsigned long long)(element >> shift & ((1ULL << log2[d]) - 1)));
    }
    return append(out, n, ")");
}

static size_t append_value(char *out, size_t n, const char *format, uint64_t value) {
    char text[64];
    double x;
    memcpy(&x, &value, sizeof x);
    if (format[strlen(format) - 1] == 'g')
        number_format(text, sizeof text, format, x);
    else
        snprintf(text, sizeof text, format, (unsigned long long)value);
    return append(out, n, "%s", text);
}

static size_t write_line(char *out, const DebugLine *l) {
    const int64_t *p = l->program;
    size_t n = append(out, 0, "pid (%lld, %lld, %lld) idx ", (long long)p[0], (long long)p[1], (long long)p[2]);
    n = append_index(out, n, l->shape, l->element);
    n = append(out, n, " %s", l->text);
    return l->format ? append_value(out, n, l->format, l->value) : n;
}

void debug_assertion(Findings *f, const Spot *spot, uint64_t shape, uint64_t element, const char *text) {
    char index[LINE_SIZE];
    append_index(index, 0, shape, element);
    if (debug_shape_unpack(shape, (uint8_t[DEBUG_RANK]){0}))
        finding_add(f, FINDING_ASSERT, spot, "element %s: %s", index, text);
    else
        finding_add(f, FINDING_ASSERT, spot, "%s", text);
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* Room for one more; false: there is none. */
static bool reserve(DebugLog *log, size_t bytes) {
    if (log->num_lines == MOST_LINES || log->num_bytes + bytes > MOST_BYTES) return false;
    if (log->num_lines == log->room_lines) {
        size_t room = log->room_lines ? 2 * log->room_lines : 256;
        Kept *lines = realloc(log->lines, room * sizeof *lines);
        if (!lines) return false;
        log->lines = lines;
        log->room_lines = room;
    }
    if (log->num_bytes + bytes <= log->room_bytes) return true;
    size_t room = log->room_bytes ? 2 * log->room_bytes : 1 << 14;
    char *more = realloc(log->bytes, room);
    if (!more) return false;
    log->bytes = more;
    log->room_bytes = room;
    return true;
}

void debug_add(DebugLog *log, const DebugLine *l) {
    char line[LINE_SIZE];
    size_t n = write_line(line, l) + 1;
    const int64_t *p = l->program;
    uint64_t program =
        ((uint64_t)p[2] * (uint64_t)log->grid[1] + (uint64_t)p[1]) * (uint64_t)log->grid[0] + (uint64_t)p[0];
    pthread_mutex_lock(&log->lock);
    if (reserve(log, n)) {
        log->lines[log->num_lines] = (Kept){program, l->print, l->element, log->num_lines, log->num_bytes};
        if (l->print == 0) log->lines[log->num_lines].element = 0;
        log->num_lines++;
        memcpy(log->bytes + log->num_bytes, line, n);
        log->num_bytes += n;
    } else {
        log->dropped++;
    }
    pthread_mutex_unlock(&log->lock);
}

static int compare(const void *a, const void *b) {
    const Kept *x = a, *y = b;
    if (x->program != y->program) return x->program < y->program ? -1 : 1;
    if (x->print != y->print) return x->print < y->print ? -1 : 1;
    if (x->element != y->element) return x->element < y->element ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

void debug_end(DebugLog *log) {
    if (!log) return;
    if (log->num_lines) qsort(log->lines, log->num_lines, sizeof *log->lines, compare);
    for (size_t i = 0; i < log->num_lines; i++) puts(log->bytes + log->lines[i].at);
    if (log->dropped) printf("and %llu more lines\n", (unsigned long long)log->dropped);
    if (log->num_lines) fflush(stdout);
    pthread_mutex_destroy(&log->lock);
    free(log->lines);
    free(log->bytes);
    free(log);
}
