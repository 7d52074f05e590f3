/* measure.c - which configuration is fastest for one point.
 *
 * In: candidates, arguments on the device. Out: a Verdict. Method: each candidate is launched once, and its results are
 * compared with the first one's: what computes something else is no choice. Then rounds, each with every candidate, so
 * that what disturbs the machine disturbs all; a round's time is the median of some launches. One is slower than
 * another if it is so in more rounds than chance would give (sign test, 2.5 %), and by a hundredth or more. Of those
 * that are not slower than the fastest the first is taken.
 */
#include "tool/interrupt.h"
#include "tool/run/values.h"
#include "tool/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LAUNCHES = 50, TRIED = 3 };

static const double ROUND_MS = 2, HOPELESS = 2, FAR = 1.3, NOISE = 1.01;

typedef struct Trial {
    const Candidate *candidate;
    Job job;
    double *times; /* one a round */
    double median;
    bool is_out;
} Trial;

void progress(const Tune *u, const char *point, const char *what) {
    if (!isatty(STDERR_FILENO)) return;
    if (*what)
        fprintf(stderr, "\r\033[K[%u/%u] %s: %s", u->done + 1, u->points, point, what);
    else
        fprintf(stderr, "\r\033[K");
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* How far two sums of the same numbers in another order may lie apart, of the largest. */
static Real tolerance(const char *dtype) {
    switch (fsc_dtype_find(dtype)) {
    case FSC_FP64: return 1e-9L;
    case FSC_FP32: return 1e-3L;
    case FSC_FP16: return 1e-2L;
    case FSC_BF16: return 5e-2L;
    case FSC_FP8E4NV:
    case FSC_FP8E5: return 0.25L;
    default: return 0;
    }
}

static bool is_same(const Array *want, const Array *have) {
    Real largest = 0, apart = 0;
    for (uint64_t i = 0; i < want->count; i++) {
        Real v = array_number(want, i), w = array_number(have, i);
        bool is_finite = isfinite(v) && isfinite(w);
        if (!is_finite && !(isnan(v) ? isnan(w) : v == w)) return false;
        if (!is_finite) continue;
        apart = fmaxl(apart, fabsl(v - w));
        largest = fmaxl(largest, fabsl(v));
    }
    return apart <= tolerance(want->dtype) * largest;
}

static fsc_status fill_buffers(const Job *j) {
    fsc_status s = FSC_OK;
    for (uint32_t i = 0; i < j->bounds.interface->num_params && s == FSC_OK; i++) {
        const Bound *p = &j->bounds.at[i];
        if (p->array.bytes && p->writes) s = fsc_memory_write(j->device, j->buffers[i], p->array.data, p->array.bytes);
    }
    return s;
}

/* What was written, one block a parameter; NULL: no memory, or it cannot be read. */
static unsigned char **read_buffers(const Job *j) {
    uint32_t n = j->bounds.interface->num_params;
    unsigned char **out = NEW_ARRAY(j->o->arena, unsigned char *, n + 1);
    for (uint32_t i = 0; i < n; i++) {
        const Bound *p = &j->bounds.at[i];
        if (!p->array.bytes || !p->writes) continue;
        out[i] = malloc(p->array.bytes);
        if (out[i]) (void)fsc_memory_read(j->device, out[i], j->buffers[i], p->array.bytes);
    }
    return out;
}

static void free_buffers(const Job *j, unsigned char **of) {
    for (uint32_t i = 0; of && i < j->bounds.interface->num_params; i++) free(of[i]);
}

/* The first parameter whose results differ; NULL: none. */
static const char *find_difference(const Job *j, unsigned char **want, unsigned char **have) {
    for (uint32_t i = 0; i < j->bounds.interface->num_params; i++) {
        Array a = j->bounds.at[i].array, b = a;
        a.data = want[i];
        b.data = have[i];
        if (a.data && b.data && !is_same(&a, &b)) return j->bounds.at[i].param->name;
    }
    return NULL;
}

/* ---- Candidates -------------------------------------------------------------------------------------------------- */

static void leave_out(const Tune *u, Trial *t, const char *point, const char *why) {
    const char *text = *t->candidate->text ? t->candidate->text : "the kernel as it is";
    progress(u, point, "");
    fprintf(stderr, "fsc tune: %s%s%s is left out: %.*s\n", point, *point ? ": " : "", text, (int)strcspn(why, "\n"),
            why);
    t->is_out = true;
}

static void start(Trial *t, const Job *base) {
    Arena *a = base->o->arena;
    ToolOptions *o = NEW(a, ToolOptions);
    *o = *base->o;
    memset(&o->defines, 0, sizeof o->defines);
    for (uint32_t i = 0; i < base->o->defines.len; i++) vec_push(a, &o->defines, base->o->defines.at[i]);
    for (uint32_t i = 0; i < t->candidate->defines.len; i++) vec_push(a, &o->defines, t->candidate->defines.at[i]);
    o->compile.defines = o->defines.at;
    o->compile.num_defines = o->defines.len;
    uint32_t *const to[] = {&o->compile.num_warps, &o->compile.num_stages, &o->compile.num_ctas};
    for (int i = 0; i < 3; i++)
        if (t->candidate->compiled[i]) *to[i] = t->candidate->compiled[i];
    t->job = *base;
    t->job.o = o;
}

/* Compiles and launches once; NULL, or why not. */
static const char *try_once(Trial *t, fsc_status *status) {
    Job *j = &t->job;
    fsc_kernel *kernel = NULL;
    fsc_status s = fsc_jit_create(j->device, j->text, j->length, &j->o->compile, &j->jit);
    if (s == FSC_OK) s = fsc_jit_prepare(j->jit, j->args, j->nargs, &kernel);
    if (s == FSC_OK && job_grid(j) != EXIT_DONE) return "it has no grid";
    if (s == FSC_OK) s = fill_buffers(j);
    if (s == FSC_OK) s = job_launch(j);
    if (s == FSC_OK) s = fsc_stream_wait(j->device, NULL);
    *status = s;
    if (s == FSC_OK) return NULL;
    const char *why = fsc_jit_message(j->jit);
    return *why ? why : fsc_last_message();
}

/* Compiled, run and compared; what fails is out. */
static void try_all(const Tune *u, Trial *trials, uint32_t n, const char *point) {
    unsigned char **want = NULL;
    for (uint32_t i = 0; i < n && !interrupt_came(); i++) {
        Trial *t = &trials[i];
        progress(u, point, t->candidate->text);
        fsc_status s = FSC_OK;
        const char *why = try_once(t, &s);
        t->is_out = why != NULL;
        if (s == FSC_ERROR_REQUIRE) continue; /* a row does not fit: the kernel says so itself */
        if (why) {
            leave_out(u, t, point, why);
            continue;
        }
        unsigned char **have = read_buffers(&t->job);
        const char *differs = want ? find_difference(&t->job, want, have) : NULL;
        if (differs) leave_out(u, t, point, arena_printf(u->o->arena, "it computes another %s", differs));
        if (want)
            free_buffers(&t->job, have);
        else
            want = have;
    }
    if (n) free_buffers(&trials[0].job, want);
}

/* ---- Rounds ------------------------------------------------------------------------------------------------------ */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const Tune *u, const double *times, uint32_t n) {
    double *sorted = NEW_ARRAY(u->o->arena, double, n + 1);
    memcpy(sorted, times, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare);
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* Out of the race: slower than the fastest by so much. */
static void drop_slow(Trial *trials, uint32_t n, double factor) {
    double least = (double)INFINITY;
    for (uint32_t i = 0; i < n; i++)
        if (!trials[i].is_out) least = fmin(least, trials[i].median);
    for (uint32_t i = 0; i < n; i++) trials[i].is_out |= trials[i].median > factor * least;
}

static fsc_status time_round(const Tune *u, Trial *trials, uint32_t n, uint32_t round, uint32_t launches) {
    double samples[MOST_LAUNCHES];
    fsc_status s = FSC_OK;
    for (uint32_t k = 0; k < n && s == FSC_OK; k++) {
        Trial *t = &trials[(k + round) % n];
        if (t->is_out) continue;
        s = job_time(&t->job, 1, launches, &u->flush, samples);
        t->times[round] = samples[launches / 2];
    }
    return s;
}

static fsc_status time_all(const Tune *u, Trial *trials, uint32_t n, uint32_t rounds, const char *point) {
    double least = (double)INFINITY;
    fsc_status s = time_round(u, trials, n, 0, TRIED);
    for (uint32_t i = 0; i < n; i++) {
        trials[i].median = trials[i].times[0];
        if (!trials[i].is_out) least = fmin(least, trials[i].median);
    }
    drop_slow(trials, n, HOPELESS);
    double wanted = ROUND_MS / fmax(least, 1e-6);
    uint32_t launches = wanted < TRIED ? TRIED : wanted > MOST_LAUNCHES ? MOST_LAUNCHES : (uint32_t)wanted;
    for (uint32_t r = 0; r < rounds && s == FSC_OK && !interrupt_came(); r++) {
        char text[48];
        (void)snprintf(text, sizeof text, "round %u of %u", r + 1, rounds);
        progress(u, point, text);
        s = time_round(u, trials, n, r, launches);
        for (uint32_t i = 0; i < n; i++)
            if (!trials[i].is_out) trials[i].median = median(u, trials[i].times, r + 1);
        if (r == TRIED) drop_slow(trials, n, FAR);
    }
    progress(u, point, "");
    return s;
}

/* ---- Verdict ----------------------------------------------------------------------------------------------------- */

static uint32_t rounds_slower(const Trial *a, const Trial *than, uint32_t rounds) {
    uint32_t n = 0;
    for (uint32_t r = 0; r < rounds; r++) n += a->times[r] > than->times[r];
    return n;
}

/* Whether chance gives so many of n in no more than one of 40 cases. */
static bool is_significant(uint32_t slower, uint32_t n) {
    double p = 0, term = pow(0.5, n); /* of n out of n */
    for (uint32_t k = n; k >= slower; k--) {
        p += term;
        term *= (double)k / (double)(n - k + 1);
        if (k == 0) break;
    }
    return p <= 0.025;
}

static bool is_slower(const Trial *a, const Trial *than, uint32_t rounds) {
    return a->median > NOISE * than->median && is_significant(rounds_slower(a, than, rounds), rounds);
}

static void judge(Trial *trials, uint32_t n, uint32_t rounds, Verdict *v) {
    const Trial *fastest = NULL, *best = NULL, *next = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (!trials[i].is_out && (!fastest || trials[i].median < fastest->median)) fastest = &trials[i];
    for (uint32_t i = 0; i < n && !best; i++)
        if (!trials[i].is_out && !is_slower(&trials[i], fastest, rounds)) best = &trials[i];
    for (uint32_t i = 0; i < n; i++)
        if (!trials[i].is_out && &trials[i] != best && (!next || trials[i].median < next->median)) next = &trials[i];
    *v = (Verdict){.best = best->candidate, .ms = best->median, .first_ms = trials[0].median, .rounds = rounds};
    if (!next) return;
    v->next = next->candidate;
    v->next_ms = next->median;
    v->slower = rounds_slower(next, best, rounds);
    v->is_tie = !is_slower(next, best, rounds);
}

ExitCode point_measure(const Tune *u, Job *base, const char *point, Verdict *out) {
    uint32_t n = u->candidates.len, rounds = u->o->repeat, left = 0;
    Trial *trials = NEW_ARRAY(u->o->arena, Trial, n);
    ExitCode code = EXIT_DONE;
    *out = (Verdict){0};
    for (uint32_t i = 0; i < n; i++) {
        trials[i].candidate = &u->candidates.at[i];
        trials[i].times = NEW_ARRAY(u->o->arena, double, rounds);
        start(&trials[i], base);
    }
    try_all(u, trials, n, point);
    for (uint32_t i = 0; i < n; i++) left += !trials[i].is_out;
    if (left) {
        fsc_status s = time_all(u, trials, n, rounds, point);
        if (s != FSC_OK)
            code = tool_fail(s, fsc_last_message());
        else if (!interrupt_came())
            judge(trials, n, rounds, out);
    } else if (!interrupt_came()) {
        fprintf(stderr, "fsc tune: %s%sno configuration runs\n", point, *point ? ": " : "");
        code = EXIT_INPUT;
    }
    for (uint32_t i = 0; i < n; i++) fsc_jit_destroy(trials[i].job.jit);
    return code;
}
