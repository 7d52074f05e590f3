/* finding.c - the list of what a checked launch found.
 *
 * In: kinds, spots, sentences, from all host threads. Out: findings in the order of their places. Method: a finding is
 * the kind with its pair of sites; more of the same only count, and of all the one of the lowest program and thread is
 * kept, so that the list does not depend on which host thread came first.
 */
#include "runtime/debug/checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { WHAT_SIZE = 320, FILE_SIZE = 256, LINE_SIZE = 768 };

typedef struct Kept {
    FindingKind kind;
    Spot spot;
    uint64_t count;
    char what[WHAT_SIZE];
    fsc_site at; /* from here on: made when the launch has ended, as the module may go before the findings do */
    char file[FILE_SIZE], line[LINE_SIZE];
} Kept;

struct Findings {
    pthread_mutex_t lock;
    const fsc_module *module;
    char kernel[80];
    uint32_t n;
    uint64_t dropped; /* beyond FINDINGS_KEPT */
    Kept at[FINDINGS_KEPT];
};

static const char *const names[] = {
#define FINDING(e, name, meaning, advice) [FINDING_##e] = name,
#include "runtime/debug/findings.def"
#undef FINDING
};

static const char *const advices[] = {
#define FINDING(e, name, meaning, advice) [FINDING_##e] = advice,
#include "runtime/debug/findings.def"
#undef FINDING
};

Findings *findings_create(void) {
    Findings *f = calloc(1, sizeof *f);
    if (f) pthread_mutex_init(&f->lock, NULL);
    return f;
}

void findings_destroy(Findings *f) {
    if (!f) return;
    pthread_mutex_destroy(&f->lock);
    free(f);
}

void findings_reset(Findings *f, const fsc_module *module, const char *kernel) {
    f->module = module;
    f->n = 0;
    f->dropped = 0;
    snprintf(f->kernel, sizeof f->kernel, "%s", kernel);
}

/* ---- Adding ------------------------------------------------------------------------------------------------------ */

/* Does a come before b, as a reader would go through them? */
static bool is_before(const Spot *a, const Spot *b) {
    for (int i = 2; i >= 0; i--)
        if (a->program[i] != b->program[i]) return a->program[i] < b->program[i];
    return a->thread < b->thread;
}

static Kept *find(Findings *f, FindingKind kind, const Spot *spot) {
    for (uint32_t i = 0; i < f->n; i++) {
        Kept *k = &f->at[i];
        if (k->kind == kind && k->spot.site == spot->site && k->spot.other_site == spot->other_site) return k;
    }
    return NULL;
}

void finding_add(Findings *f, FindingKind kind, const Spot *spot, const char *fmt, ...) {
    va_list args;
    pthread_mutex_lock(&f->lock);
    Kept *k = find(f, kind, spot);
    bool is_new = !k && f->n < FINDINGS_KEPT;
    if (is_new) {
        k = &f->at[f->n++];
        *k = (Kept){.kind = kind};
    }
    if (!k) f->dropped++;
    if (k) k->count++;
    if (k && (is_new || is_before(spot, &k->spot))) {
        k->spot = *spot;
        va_start(args, fmt);
        vsnprintf(k->what, sizeof k->what, fmt, args);
        va_end(args);
    }
    pthread_mutex_unlock(&f->lock);
}

/* ---- Reading, after the launch ----------------------------------------------------------------------------------- */

static const fsc_site *site_of(const Findings *f, int32_t site) {
    const fsc_host_code *code = &f->module->code;
    return site >= 0 && (size_t)site < code->num_sites ? &code->sites[site] : NULL;
}

static bool findings_any(const Findings *f, FindingKind kind) { /* FINDING_COUNT: of any kind */
    for (uint32_t i = 0; i < f->n; i++)
        if (kind == FINDING_COUNT || f->at[i].kind == kind) return true;
    return false;
}

size_t findings_count(const Findings *f) {
    return f->n;
}

static size_t print(char *out, size_t size, size_t n, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static size_t print(char *out, size_t size, size_t n, const char *fmt, ...) {
    va_list args;
    if (n >= size) return n;
    va_start(args, fmt);
    int more = vsnprintf(out + n, size - n, fmt, args);
    va_end(args);
    return more < 0 ? n : n + (size_t)more < size ? n + (size_t)more : size - 1;
}

/* file:line:col: kind: program (x, y, z), thread t: what at file:line:col of the other (n times) */
static void finish(const Findings *f, Kept *k) {
    const fsc_site *at = site_of(f, k->spot.site), *other = site_of(f, k->spot.other_site);
    const int64_t *p = k->spot.program;
    char *out = k->line;
    snprintf(k->file, sizeof k->file, "%s", at ? at->file : "");
    k->at = (fsc_site){k->file, at ? at->line : 0, at ? at->col : 0};
    size_t n = at ? print(out, LINE_SIZE, 0, "%s:%u:%u: ", at->file, at->line, at->col)
                  : print(out, LINE_SIZE, 0, "kernel %s: ", f->kernel);
    n = print(out, LINE_SIZE, n, "%s: ", names[k->kind]);
    if (k->kind != FINDING_UNWRITTEN)
        n = print(out, LINE_SIZE, n, "program (%lld, %lld, %lld)", (long long)p[0], (long long)p[1], (long long)p[2]);
    if (k->spot.thread >= 0) n = print(out, LINE_SIZE, n, ", thread %lld", (long long)k->spot.thread);
    if (k->kind != FINDING_UNWRITTEN) n = print(out, LINE_SIZE, n, ": ");
    n = print(out, LINE_SIZE, n, "%s", k->what);
    if (other) n = print(out, LINE_SIZE, n, " at %s:%u:%u", other->file, other->line, other->col);
    if (k->count > 1) (void)print(out, LINE_SIZE, n, " (%llu times)", (unsigned long long)k->count);
}

static int compare(const void *a, const void *b) {
    const Kept *x = a, *y = b;
    if (x->spot.site != y->spot.site) return x->spot.site < y->spot.site ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return (x->spot.other_site > y->spot.other_site) - (x->spot.other_site < y->spot.other_site);
}

static void findings_finish(Findings *f) {
    qsort(f->at, f->n, sizeof *f->at, compare);
    for (uint32_t i = 0; i < f->n; i++) finish(f, &f->at[i]);
}

static void findings_text(const Findings *f, char *out, size_t size) {
    size_t n = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < f->n; i++) n = print(out, size, n, "%s%s", i ? "\n" : "", f->at[i].line);
    if (f->dropped) (void)print(out, size, n, "\nand %llu more", (unsigned long long)f->dropped);
}

void findings_at(const Findings *f, size_t i, fsc_finding *out) {
    const Kept *k = &f->at[i];
    *out = (fsc_finding){.kind = names[k->kind],
                         .text = k->line,
                         .file = k->file,
                         .line = k->at.line,
                         .col = k->at.col,
                         .program = {k->spot.program[0], k->spot.program[1], k->spot.program[2]},
                         .thread = k->spot.thread,
                         .address = k->spot.address,
                         .count = k->count,
                         .advice = advices[k->kind]};
}

fsc_status findings_status(fsc_device *d) {
    char text[MESSAGE_SIZE];
    findings_finish(d->findings);
    if (!findings_any(d->findings, FINDING_COUNT)) return FSC_OK;
    findings_text(d->findings, text, sizeof text);
    return status_fail(d, findings_any(d->findings, FINDING_ASSERT) ? FSC_ERROR_ASSERT : FSC_ERROR_CHECK, "%s", text);
}

/* ---- The public side --------------------------------------------------------------------------------------------- */

fsc_status fsc_device_check(fsc_device *d, bool on) {
    if (!d) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_device_check: no device");
    if (!d->kind->is_host)
        return status_fail(
            d, FSC_ERROR_USAGE,
            "launches are checked on devices emu and cpu; on a GPU, NVIDIA's compute-sanitizer does that");
    atomic_store(&d->checked, on);
    return FSC_OK;
}

bool fsc_device_checks(const fsc_device *d) {
    return d && atomic_load(&d->checked);
}

size_t fsc_device_findings(const fsc_device *d) {
    return d && d->findings ? findings_count(d->findings) : 0;
}

fsc_status fsc_device_finding(const fsc_device *d, size_t index, fsc_finding *out) {
    size_t n = fsc_device_findings(d);
    if (!out || index >= n)
        return status_fail(d, FSC_ERROR_USAGE, "there is no finding %zu: the last checked launch had %zu", index, n);
    findings_at(d->findings, index, out);
    return FSC_OK;
}
