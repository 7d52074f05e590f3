/* counts.c - the counts of a launch: the code's counters and the emulator's tallies, gathered by source line.
 *
 * In: a call whose code counts; how often its basic blocks ran, and what was accessed through which site.
 * Out: fsc_counts.
 * Method: each row of the code says what a block holds of a line: counter times count. A line's runs are the most of
 * its blocks', as lanes may go apart.
 */
#include "runtime/base/hooks.h"
#include "runtime/debug/counts.h"

#include <stdlib.h>
#include <string.h>

_Static_assert((int)COUNT_KINDS <= (int)FSC_COUNTS, "fsc_runtime.h: FSC_COUNTS has room for the rows of counts.def");

struct Counts {
    Tally *tallies;
    size_t num_tallies;
    fsc_param_counts *params;
    fsc_line_counts *lines;
    fsc_counts out;
};

static void counts_clear(Counts *n) {
    free(n->tallies);
    free(n->params);
    free(n->lines);
    *n = (Counts){0};
}

void counts_destroy(Counts *n) {
    if (n) counts_clear(n);
    free(n);
}

Tally *counts_tallies(Counts *n) {
    return n->tallies;
}

size_t counts_num_tallies(const Counts *n) {
    return n->num_tallies;
}

fsc_param_counts *counts_params(Counts *n) {
    return n->params;
}

fsc_status counts_begin(Call *c) {
    fsc_device *d = c->kernel->device;
    const fsc_host_code *code = &c->variant->module->code;
    if (!d->counts) d->counts = calloc(1, sizeof *d->counts);
    if (!d->counts) return status_memory(d);
    Counts *n = d->counts;
    counts_clear(n);
    n->num_tallies = code->num_sites + 1;
    n->tallies = calloc(n->num_tallies, sizeof *n->tallies);
    n->params = calloc(c->variant->record->num_params + 1, sizeof *n->params);
    n->lines = calloc(code->num_lines + n->num_tallies, sizeof *n->lines);
    memset(code->counters, 0, code->num_counters * sizeof *code->counters);
    if (n->tallies && n->params && n->lines) return FSC_OK;
    counts_clear(n);
    return status_memory(d);
}

/* ---- Gathering --------------------------------------------------------------------------------------------------- */

void traffic_add(fsc_traffic *to, const fsc_traffic *from) {
    if (from->requests && (!to->requests || from->narrow < to->narrow)) to->narrow = from->narrow;
    if (from->wide > to->wide) to->wide = from->wide;
    to->requests += from->requests;
    to->lanes += from->lanes;
    to->idle += from->idle;
    to->bytes += from->bytes;
    to->units += from->units;
    to->least += from->least;
}

static fsc_line_counts *line_of(Counts *n, uint32_t line) {
    for (size_t i = 0; i < n->out.num_lines; i++)
        if (n->lines[i].line == line) return &n->lines[i];
    fsc_line_counts *l = &n->lines[n->out.num_lines++];
    l->line = line;
    return l;
}

static void gather_code(Counts *n, const fsc_host_code *code) {
    for (size_t i = 0; i < code->num_lines; i++) {
        const CodeLine *row = &code->lines[i];
        uint64_t runs = code->counters[row->block];
        fsc_line_counts *l = line_of(n, row->line);
        if (runs > l->runs) l->runs = runs;
        for (uint32_t k = 0; k < COUNT_KINDS; k++) l->counts[k] += runs * row->counts[k];
    }
}

static bool is_used(const Tally *t) {
    for (int k = 0; k < FSC_TRAFFIC_KINDS; k++)
        if (t->traffic[k].requests || t->traffic[k].idle) return true;
    return t->words_read || t->words_written;
}

static void gather_tallies(Counts *n, const fsc_host_code *code, const char *file) {
    for (size_t i = 0; i < n->num_tallies; i++) {
        if (!is_used(&n->tallies[i])) continue;
        bool is_here = i < code->num_sites && strcmp(code->sites[i].file, file) == 0;
        fsc_line_counts *l = line_of(n, is_here ? code->sites[i].line : 0);
        for (int k = 0; k < FSC_TRAFFIC_KINDS; k++) traffic_add(&l->traffic[k], &n->tallies[i].traffic[k]);
        l->counts[COUNT_WORD_LOAD] += n->tallies[i].words_read;
        l->counts[COUNT_WORD_STORE] += n->tallies[i].words_written;
    }
}

static int compare(const void *a, const void *b) {
    const fsc_line_counts *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

void counts_end(Call *c, const RecordLaunch *shape, uint64_t programs, uint64_t blocks) {
    Counts *n = c->kernel->device->counts;
    const fsc_host_code *code = &c->variant->module->code;
    const Record *r = c->variant->record;
    uint64_t all = (uint64_t)c->grid[0] * (uint64_t)c->grid[1] * (uint64_t)c->grid[2];
    n->out = (fsc_counts){.params = n->params,
                          .num_params = r->num_params,
                          .record = r,
                          .all_programs = all,
                          .programs = programs < all ? programs : all,
                          .blocks = blocks};
    if (shape) {
        n->out.threads_per_block = shape->threads_per_block;
        n->out.programs_per_block = shape->programs_per_block;
        n->out.blocks_per_program = shape->blocks_per_program;
    }
    gather_code(n, code);
    gather_tallies(n, code, r->file);
    qsort(n->lines, n->out.num_lines, sizeof *n->lines, compare);
    n->out.lines = n->lines;
}

/* ---- The public side --------------------------------------------------------------------------------------------- */

fsc_status fsc_device_count_lines(fsc_device *d, bool on) {
    if (!d) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_device_count_lines: no device");
    if (!d->kind->is_host)
        return status_fail(d, FSC_ERROR_USAGE,
                           "launches are counted on devices emu and cpu; on a GPU, NVIDIA's ncu does that");
    atomic_store(&d->counted, on);
    return FSC_OK;
}

bool fsc_device_counts_lines(const fsc_device *d) {
    return d && atomic_load(&d->counted);
}

fsc_status fsc_device_counts(const fsc_device *d, fsc_counts *out) {
    if (!d || !out || !d->counts || !d->counts->out.record)
        return status_fail(d, FSC_ERROR_USAGE, "fsc_device_counts: no launch of this device was counted");
    *out = d->counts->out;
    return FSC_OK;
}

const char *fsc_count_name(size_t index) {
    static const char *const names[] = {
#define COUNTED(e, name, meaning) name,
#include "runtime/base/counts.def"
#undef COUNTED
    };
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}
