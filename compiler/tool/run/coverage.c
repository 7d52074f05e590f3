/* coverage.c - `fsc run --coverage`: which lines of the kernel a launch ran.
 *
 * In: the counts of the job's last launch. Out: the source with a count beside each line, or the same as a list,
 * for the JSON of `fsc run`.
 * Method: a line that has code ran as often as the most of its basic blocks: on emu per program, on the CPU per program
 * and chunk of elements. Lines within the kernel that have no code of their own (folded, merged with another, moved)
 * say so.
 */
#include "tool/run/job.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const fsc_line_counts *counts_of(const fsc_counts *c, uint32_t line) {
    for (size_t i = 0; i < c->num_lines; i++)
        if (c->lines[i].line == line) return &c->lines[i];
    return NULL;
}

/* The kernel's own: where a block's programs beyond the grid leave. */
static bool is_head(const fsc_counts *c, const fsc_line_counts *l) {
    for (size_t i = 0; i < c->num_lines; i++)
        if (c->lines[i].line && c->lines[i].line < l->line) return false;
    return c->programs_per_block > 1;
}

/* Threads of a program each count on emu: rounded up, as some lines only a few lanes come to. */
static uint64_t runs_of(const fsc_counts *c, const fsc_line_counts *l) {
    uint64_t threads =
        c->threads_per_block ? (uint64_t)c->threads_per_block / c->programs_per_block * c->blocks_per_program : 1;
    uint64_t runs = (l->runs + threads - 1) / threads;
    return is_head(c, l) && runs > c->programs ? c->programs : runs;
}

/* A line that could have code: not blank, no comment. */
static bool is_code(const char *at, const char *stop) {
    while (at < stop && isspace((unsigned char)*at)) at++;
    return at < stop && *at != '#';
}

static void print_listing(const Job *j, const fsc_counts *c) {
    const char *at = j->text, *end = at + j->length;
    uint32_t first = 0, last = 0, never = 0;
    for (size_t i = 0; i < c->num_lines; i++) {
        uint32_t line = c->lines[i].line;
        if (line && !first) first = line;
        if (line) last = line;
        if (line && !c->lines[i].runs) never++;
    }
    printf("     runs | line\n");
    for (uint32_t line = 1; at < end && line <= last; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        const fsc_line_counts *l = counts_of(c, line);
        if (line < first) {
            at = stop + 1;
            continue;
        }
        if (l && l->runs)
            printf("%9" PRIu64 " |%5u  ", runs_of(c, l), line);
        else
            printf("%9s |%5u  ", l ? "never" : is_code(at, stop) ? "no code" : "", line);
        job_show(stdout, at, (size_t)(stop - at));
        putchar('\n');
        at = stop + 1;
    }
    printf("%s: %u line%s of the kernel never ran\n", c->record->kernel, never, never == 1 ? "" : "s");
}

void coverage_json(const fsc_counts *c) {
    bool first = true;
    printf(", \"coverage\": [");
    for (size_t i = 0; i < c->num_lines; i++) {
        if (!c->lines[i].line) continue;
        printf("%s{\"line\": %u, \"runs\": %" PRIu64 "}", first ? "" : ", ", c->lines[i].line,
               runs_of(c, &c->lines[i]));
        first = false;
    }
    printf("]");
}

void coverage_text(const Job *j) {
    fsc_counts c;
    if (fsc_device_counts(j->device, &c) == FSC_OK) print_listing(j, &c); /* else nothing was launched */
}
