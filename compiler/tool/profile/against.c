/* against.c - what changed since an earlier profile: `fsc profile --against=FILE`.
 *
 * In: a Profile, the JSON of an earlier one. Out: p->against: the parts of the card then and now, lines that cost more
 * or less, findings that came or went.
 * Method: the counts are read back, so that then and now are weighed by one card's rates. Lines are paired by their
 * texts, in order, so that the pairs are as alike as can be: what moved down a file is still the same line, and so is a
 * line of which half was rewritten. A line's time is what the part that it keeps busiest needs for it.
 */
#include "base/schema.h"
#include "tool/json.h"
#include "tool/profile/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

static uint64_t natural(const Json *j, const char *path) {
    const Json *at = json_at(j, path);
    return at->kind == JSON_NUMBER && at->number > 0 ? (uint64_t)at->number : 0;
}

static void read_traffic(const Json *j, fsc_traffic *t) {
    t->requests = natural(j, "requests");
    t->lanes = natural(j, "lanes");
    t->idle = natural(j, "idle_lanes");
    t->bytes = natural(j, "bytes");
    t->narrow = json_count(j, "narrowest");
    t->wide = json_count(j, "widest");
    t->units = natural(j, "sectors") + natural(j, "wavefronts");
    t->least = natural(j, "wavefronts") - natural(j, "bank_conflicts");
}

static void read_counts(const Json *j, fsc_line_counts *l) {
    const char *name = NULL;
    l->line = json_count(j, "line");
    l->runs = natural(j, "runs");
    for (size_t i = 0; (name = fsc_count_name(i)); i++) l->counts[i] = natural(j, name);
    for (int k = 0; k < FSC_TRAFFIC_KINDS; k++) {
        char key[32];
        read_traffic(json_at(j, profile_key(key, (fsc_traffic_kind)k)), &l->traffic[k]);
    }
}

/* The counts of an earlier profile, as far as they are compared. */
static void read_profile(Arena *a, const Json *j, Against *x) {
    Profile *then = &x->then;
    const Json *lines = json_at(j, "lines")->first;
    size_t n = 0;
    for (const Json *at = lines; at; at = at->next) n++;
    fsc_line_counts *counts = NEW_ARRAY(a, fsc_line_counts, n + 1);
    x->texts = NEW_ARRAY(a, const char *, n + 1);
    for (size_t i = 0; i < n; i++, lines = lines->next) {
        read_counts(lines, &counts[i]);
        x->texts[i] = json_text(lines, "text");
    }
    then->counts = (fsc_counts){.lines = counts, .num_lines = n};
    read_counts(json_at(j, "all"), &then->all);
    for (const Json *at = json_at(j, "params")->first; at; at = at->next) {
        then->read_once += natural(at, "read_once");
        then->written_once += natural(at, "written_once");
    }
    for (const Json *at = json_at(j, "advice.findings")->first; at; at = at->next)
        vec_push(a, &x->found_then, json_text(at, "name"));
}

/* ---- Lines ------------------------------------------------------------------------------------------------------- */

enum { SAME = 4, REWRITTEN = 1, OTHER = 0 };

/* A rewritten line begins and ends alike, for half of its length at least. */
static uint32_t likeness(const char *x, const char *y) {
    x += strspn(x, " \t");
    y += strspn(y, " \t");
    size_t n = strlen(x), m = strlen(y), least = n < m ? n : m, head = 0, tail = 0;
    if (strcmp(x, y) == 0) return SAME;
    while (head < least && x[head] == y[head]) head++;
    while (tail < least - head && x[n - tail - 1] == y[m - tail - 1]) tail++;
    return 2 * (head + tail) >= (n > m ? n : m) ? REWRITTEN : OTHER;
}

static void push(Against *x, Arena *a, const fsc_line_counts *then, const fsc_line_counts *now, const char *text) {
    Change c = {.then = then, .now = now, .text = text};
    if (then) c.seconds_then = profile_line_seconds(&x->then, then);
    if (now) c.seconds_now = profile_line_seconds(x->now, now);
    bool differs = !then || !now || memcmp(then->counts, now->counts, sizeof now->counts) != 0 ||
                   memcmp(then->traffic, now->traffic, sizeof now->traffic) != 0;
    if (differs) vec_push(a, &x->changes, c);
}

static int farther(const void *x, const void *y) {
    const Change *a = x, *b = y;
    double of_a = fabs(a->seconds_now - a->seconds_then), of_b = fabs(b->seconds_now - b->seconds_then);
    if (of_a != of_b) return of_a < of_b ? 1 : -1;
    return (a->now ? a->now->line : 0) < (b->now ? b->now->line : 0) ? -1 : 1;
}

static void compare_lines(Against *x, Arena *a) {
    const fsc_counts *then = &x->then.counts, *now = &x->now->counts;
    size_t n = then->num_lines, m = now->num_lines, i = 0, k = 0;
    uint32_t *best = NEW_ARRAY(a, uint32_t, (n + 1) * (m + 1)); /* likeness of the lines from i, k on */
    const char **texts = NEW_ARRAY(a, const char *, m + 1);
    for (k = 0; k < m; k++) texts[k] = profile_line_text(x->now, now->lines[k].line);
#define BEST(i, k) best[(i) * (m + 1) + (k)]
    for (i = n; i-- > 0;)
        for (k = m; k-- > 0;) {
            uint32_t skip = BEST(i + 1, k) > BEST(i, k + 1) ? BEST(i + 1, k) : BEST(i, k + 1);
            uint32_t both = likeness(x->texts[i], texts[k]) + BEST(i + 1, k + 1);
            BEST(i, k) = both > skip ? both : skip;
        }
    for (i = k = 0; i < n || k < m;) {
        uint32_t alike = i < n && k < m ? likeness(x->texts[i], texts[k]) : OTHER;
        bool is_one = alike != OTHER && BEST(i, k) == alike + BEST(i + 1, k + 1);
        bool is_gone = i < n && (k == m || BEST(i, k) == BEST(i + 1, k));
        if (is_one)
            push(x, a, &then->lines[i], &now->lines[k], texts[k]), i++, k++;
        else if (is_gone)
            push(x, a, &then->lines[i], NULL, x->texts[i]), i++;
        else
            push(x, a, NULL, &now->lines[k], texts[k]), k++;
    }
#undef BEST
    if (x->changes.len) qsort(x->changes.at, x->changes.len, sizeof x->changes.at[0], farther);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static bool is_found(const Profile *p, const char *name) {
    for (size_t i = 0; i < p->num_advice; i++)
        if (strcmp(advice_rows[p->advice[i].kind].name, name) == 0) return true;
    return false;
}

bool against_came(const Against *x, size_t advice) {
    const char *name = advice_rows[x->now->advice[advice].kind].name;
    for (uint32_t i = 0; i < x->found_then.len; i++)
        if (strcmp(x->found_then.at[i], name) == 0) return false;
    return true;
}

bool against_went(const Against *x, uint32_t found) {
    return !is_found(x->now, x->found_then.at[found]);
}

ExitCode profile_compare(Profile *p, const char *path) {
    Arena *a = p->j->o->arena;
    size_t length = 0;
    char *text = file_read(path, &length);
    if (!text) return EXIT_INPUT;
    const Json *j = json_read(a, text, length);
    free(text);
    if (!j || json_count(j, "schema_version") != SCHEMA_PROFILE || json_at(j, "lines")->kind != JSON_LIST ||
        json_at(j, "advice.findings")->kind != JSON_LIST) {
        fprintf(stderr, "%s: --against %s: not what 'fsc profile --json' of this version prints\n", tool_name, path);
        return EXIT_INPUT;
    }
    Against *x = NEW(a, Against);
    x->now = p;
    x->path = path;
    x->kernel_then = json_text(j, "kernel");
    read_profile(a, j, x);
    x->then.j = p->j;
    profile_weigh(&x->then, p->rates);
    compare_lines(x, a);
    p->against = x;
    return EXIT_DONE;
}

/* ---- As text ----------------------------------------------------------------------------------------------------- */

static void print_change(uint64_t then, uint64_t now, const char *what, bool *first) {
    if (then == now) return;
    printf("%s%s %" PRIu64 " -> %" PRIu64, *first ? "     " : ", ", what, then, now);
    *first = false;
}

/* What its counts were and are, the telling ones. */
static void print_counts(const fsc_line_counts *then, const fsc_line_counts *now) {
    static const fsc_line_counts none = {0};
    bool first = true;
    if (!then) then = &none;
    if (!now) now = &none;
    for (int k = 0; k < FSC_TRAFFIC_KINDS; k++) {
        char what[48];
        const fsc_traffic *x = &then->traffic[k], *y = &now->traffic[k];
        snprintf(what, sizeof what, "%s %s", traffic_names[k], k <= FSC_ATOMIC ? "sectors" : "wavefronts");
        print_change(x->units, y->units, what, &first);
        snprintf(what, sizeof what, "%s requests", traffic_names[k]);
        if (x->units == y->units) print_change(x->requests, y->requests, what, &first);
    }
    const char *name = NULL;
    for (size_t i = 0; (name = fsc_count_name(i)); i++)
        if (i != COUNT_MATRIX_WORK && i != COUNT_FLOPS) print_change(then->counts[i], now->counts[i], name, &first);
    if (!first) printf("\n");
}

static void print_line(uint32_t rank, const Change *c) {
    double change = c->seconds_now - c->seconds_then;
    printf("  %u. ", rank);
    if (!c->then)
        printf("line %u is new", c->now->line);
    else if (!c->now)
        printf("line %u is gone", c->then->line);
    else if (c->then->line != c->now->line)
        printf("line %u (then %u)", c->now->line, c->then->line);
    else
        printf("line %u", c->now->line);
    printf(": %+.3g us  | ", change * 1e6);
    const char *text = *c->text ? c->text + strspn(c->text, " \t") : "(not of a line)";
    job_show(stdout, text, strlen(text));
    printf("\n");
    print_counts(c->then, c->now);
}

static void print_times(const char *what, double then, double now) {
    printf("  %-26s %.3g us -> %.3g us", what, then * 1e6, now * 1e6);
    if (then > 0) printf(" (%+.1f %%)", 100 * (now / then - 1));
    printf("\n");
}

void against_text(const Against *x) {
    const Profile *then = &x->then, *now = x->now;
    printf("against %s, by what changed on %s\n", x->path, now->rates->name);
    print_times("at least", then->least_seconds, now->least_seconds);
    if (strcmp(x->kernel_then, now->counts.record->kernel) != 0) printf("  that was kernel %s\n", x->kernel_then);
    for (uint32_t i = 0; i < PARTS; i++)
        if (then->parts[i] != now->parts[i]) print_times(part_names[i], then->parts[i], now->parts[i]);
    for (uint32_t i = 0; i < x->found_then.len; i++)
        if (against_went(x, i)) printf("  no longer found: %s\n", x->found_then.at[i]);
    for (size_t i = 0; i < now->num_advice; i++)
        if (against_came(x, i)) printf("  newly found: %s\n", advice_rows[now->advice[i].kind].name);
    if (!x->changes.len) printf("  no line counts otherwise\n");
    for (uint32_t i = 0; i < x->changes.len; i++) print_line(i + 1, &x->changes.at[i]);
}
