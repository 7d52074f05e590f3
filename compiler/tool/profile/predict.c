/* predict.c - what the counts of a launch mean for a card that may not be here.
 *
 * In: counts, and the record of the variant that was launched. Out: blocks, waves,
 * and the least time by each of three parts.
 * Method: the same variant is compiled for the card, for its registers and occupancy. The parts: every sector that is
 * touched, once, at the memory's published rate; an instruction of a warp per clock and scheduler; special functions at
 * their rate. Rates of a multiprocessor: CUDA C++ Programming Guide, throughput of arithmetic instructions.
 */
#include "runtime/device/code.h"
#include "tool/profile/profile.h"

#include <stdlib.h>
#include <string.h>

uint64_t special_functions(const FscLineCounts *l) {
    static const Count counts[] = {COUNT_EX2,  COUNT_LG2, COUNT_RCP,       COUNT_RSQRT,
                                   COUNT_SQRT, COUNT_DIV, COUNT_EXACT_DIV, COUNT_EXACT_SQRT};
    uint64_t n = 0;
    for (size_t i = 0; i < COUNT(counts); i++) n += l->counts[counts[i]];
    return n;
}

static void fill(Profile *p, const RecordLaunch *l) {
    Prediction *c = &p->card;
    const FscDeviceProps *g = &c->needs.gpu;
    double clock = (double)g->clock_khz * 1e3, sms = g->sms;
    c->blocks = (p->counts.programs + l->programs_per_block - 1) / l->programs_per_block * l->blocks_per_program;
    fsc_waves(c->blocks, c->needs.occupancy.resident_blocks, &c->waves, &c->last_fill);
    c->memory = (double)(p->read_once + p->written_once) / (double)g->bandwidth;
    c->issue = (double)p->all.counts[COUNT_INSTRUCTIONS] / g->warp_size / (SCHEDULERS * sms * clock);
    c->special = (double)special_functions(&p->all) / (SPECIAL_PER_CLOCK * sms * clock);
    p->has_card = true;
}

ExitCode predict(Profile *p) {
    ToolOptions o = *p->j->o;
    if (!job_variant_options(p->j, &p->card.needs.gpu, &o.compile)) return EXIT_CALL;
    o.compile.emit = FSC_EMIT_PTX;
    fsc_compilation *c = NULL;
    fsc_status s = fsc_compile(&o.compile, p->j->text, p->j->length, &c);
    ExitCode code = EXIT_DONE;
    Record *r = NULL;
    if (s == FSC_OK) {
        const char *text = fsc_compilation_record(c);
        r = record_parse(text, strlen(text), NULL, 0);
    }
    if (!r || r->num_launches == 0) {
        code = s == FSC_OK ? EXIT_INPUT : (ExitCode)fsc_status_exit_code(s);
        fprintf(stderr, "%s: the launched variant does not compile for %s\n%s", tool_name, o.compile.arch,
                c ? fsc_compilation_diagnostics(c) : "");
    } else {
        const RecordLaunch l = launch_packed(&r->launches[0], p->counts.programs, p->card.needs.gpu.sms);
        code = needs_find(&p->card.needs, &o, c, &l);
        if (code == EXIT_DONE) fill(p, &l);
    }
    record_free(r);
    fsc_compilation_destroy(c);
    return code;
}
