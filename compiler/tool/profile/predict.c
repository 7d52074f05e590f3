/* predict.c - what the counts of a launch mean for a card that may not be here.
 *
 * In: counts, and the record of the variant that was launched. Out: blocks, waves,
 * the least time by each of four parts, and what a compile for the card remarks (-Rperf).
 * Method: the same variant is compiled for the card, for its registers and occupancy. The parts: every sector that is
 * touched, once, at the memory's published rate; an instruction of a warp per clock and scheduler; special functions
 * and matrix instructions (dense) at their rates. Rates of a multiprocessor: CUDA C++ Programming Guide, throughput of
 * arithmetic instructions; of matrix instructions NVIDIA's architecture whitepapers.
 */
#include "runtime/device/code.h"
#include "tool/json.h"
#include "tool/profile/profile.h"

#include <stdlib.h>
#include <string.h>

uint64_t special_functions(const fsc_line_counts *l) {
    static const Count counts[] = {COUNT_EX2,  COUNT_LG2, COUNT_RCP,       COUNT_RSQRT,
                                   COUNT_SQRT, COUNT_DIV, COUNT_EXACT_DIV, COUNT_EXACT_SQRT};
    uint64_t n = 0;
    for (size_t i = 0; i < COUNT(counts); i++) n += l->counts[counts[i]];
    return n;
}

static void fill(Profile *p, const RecordLaunch *l) {
    Prediction *c = &p->card;
    const fsc_props *g = &c->needs.gpu;
    double clock = (double)g->clock_khz * 1e3, sms = g->sms;
    c->blocks = (p->counts.programs + l->programs_per_block - 1) / l->programs_per_block * l->blocks_per_program;
    fsc_waves(c->blocks, c->needs.occupancy.resident_blocks, &c->waves, &c->last_fill);
    c->memory = (double)(p->read_once + p->written_once) / (double)g->bandwidth;
    c->issue = (double)p->all.counts[COUNT_INSTRUCTIONS] / g->warp_size / (SCHEDULERS * sms * clock);
    c->special = (double)special_functions(&p->all) / (SPECIAL_PER_CLOCK * sms * clock);
    c->matrix = (double)p->all.counts[COUNT_MATRIX_WORK] / (matrix_per_clock(g) * sms * clock);
    p->has_card = true;
}

double matrix_per_clock(const fsc_props *card) {
    static const struct {
        const char *arch;
        double rate;
    } rows[] = {{"sm_80", 2048}, {"sm_90", 4096}, {"sm_100", 8192}, {"sm_103", 8192}};
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].arch, card->arch) == 0) return rows[i].rate;
    return 1024;
}

static void read_remarks(Profile *p, const fsc_compilation *c) {
    Arena *a = p->j->o->arena;
    const char *text = fsc_compilation_diagnostics(c);
    const Json *all = json_read(a, text, strlen(text));
    for (const Json *m = json_at(all, "diagnostics")->first; m; m = m->next) {
        const char *code = json_text(m, "code");
        if (*code != 'R') continue;
        Remark r = {.code = code, .text = json_text(m, "message"), .line = json_count(m, "line")};
        vec_push(a, &p->remarks, r);
    }
}

/* With remarks, unless it has errors to be read. */
static fsc_status compile_for(Profile *p, fsc_compile_options o, fsc_compilation **c) {
    o.emit = FSC_EMIT_PTX;
    o.remarks = true;
    o.diagnostics = FSC_DIAGNOSTICS_JSON;
    fsc_status s = fsc_compile(&o, p->j->text, p->j->length, c);
    if (s == FSC_OK) read_remarks(p, *c);
    if (s != FSC_ERROR_SOURCE) return s;
    fsc_compilation_destroy(*c);
    o.remarks = false;
    o.diagnostics = p->j->o->compile.diagnostics;
    return fsc_compile(&o, p->j->text, p->j->length, c);
}

static ExitCode fail(const fsc_compile_options *o, const fsc_compilation *c, fsc_status s) {
    fprintf(stderr, "%s: the launched variant does not compile for %s\n%s", tool_name, o->arch,
            c ? fsc_compilation_diagnostics(c) : "");
    return s == FSC_OK ? EXIT_INPUT : (ExitCode)fsc_status_exit_code(s);
}

ExitCode predict(Profile *p) {
    ToolOptions o = *p->j->o;
    bool has_card = o.gpu || o.measured;
    const fsc_props *card = has_card ? &p->card.needs.gpu : fsc_gpu_find(ADVICE_CARD);
    if (!job_variant_options(p->j, card, &o.compile)) return has_card ? EXIT_CALL : EXIT_DONE;
    fsc_compilation *c = NULL;
    fsc_status s = compile_for(p, o.compile, &c);
    const char *text = s == FSC_OK ? fsc_compilation_record(c) : "";
    Record *r = s == FSC_OK ? record_parse(text, strlen(text), NULL, 0) : NULL;
    ExitCode code = EXIT_DONE;
    if (has_card && (!r || r->num_launches == 0)) {
        code = fail(&o.compile, c, s);
    } else if (has_card) {
        const RecordLaunch l = launch_packed(&r->launches[0], p->counts.programs, p->card.needs.gpu.sms);
        code = needs_find(&p->card.needs, &o, c, &l);
        if (code == EXIT_DONE) fill(p, &l);
    }
    record_free(r);
    fsc_compilation_destroy(c);
    return code;
}
