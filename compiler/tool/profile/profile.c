/* profile.c - `fsc profile FILE NAME=VALUE…`: one launch on emulated threads, counted by source line.
 *
 * In: a file and what its parameters are, as for `fsc run`. Out: text with the source beside it, or JSON.
 * Method: the device checks and counts; a launch that does wrong shows its faults and what was counted until then. With
 * --gpu it stands for that card, so that what is counted is the variant that a launch there has.
 */
#include "tool/profile/profile.h"

#include "codegen/codegen.h"
#include "runtime/debug/counts.h"
#include "runtime/device/code.h"
#include "tool/interrupt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const traffic_names[FSC_TRAFFIC_KINDS] = {"load",        "store",        "atomic",
                                                      "shared load", "shared store", "cluster store"};

static void sum_lines(Profile *p) {
    for (size_t i = 0; i < p->counts.num_lines; i++) {
        const fsc_line_counts *l = &p->counts.lines[i];
        for (int k = 0; k < FSC_COUNTS; k++) p->all.counts[k] += l->counts[k];
        for (int k = 0; k < FSC_TRAFFIC_KINDS; k++) traffic_add(&p->all.traffic[k], &l->traffic[k]);
    }
}

/* The interface's parameters are the variant's: all of them, in the order of the source. */
static void sum_params(Profile *p) {
    const Bounds *b = &p->j->bounds;
    for (uint32_t i = 0; i < b->interface->num_params && i < p->counts.num_params; i++) {
        const Bound *at = &b->at[i];
        const fsc_param_counts *n = &p->counts.params[i];
        if (!at->array.data) continue;
        bool is_accessed = n->read || n->written || n->changed;
        if (is_accessed && at->array.count > p->elements) p->elements = at->array.count;
        if (n->read) p->least_read += at->array.bytes;
        if (n->written) p->least_written += at->array.bytes;
        p->read += n->read;
        p->written += n->written;
        p->read_once += n->read_once;
        p->written_once += n->written_once;
    }
}

/* `code`: of the launch. */
static ExitCode show(Profile *p, ExitCode code) {
    const ToolOptions *o = p->j->o;
    ExitCode also = EXIT_DONE;
    if (interrupt_came())
        fprintf(stderr, "%s: stopped; %" PRIu64 " programs began, of %" PRIu64 ", and what follows counts these\n",
                tool_name, p->counts.programs, p->counts.all_programs);
    if (o->measured && code == EXIT_DONE) also = profile_measure(p, o->measured);
    if (o->against && also == EXIT_DONE) also = profile_compare(p, o->against);
    Text json = {0};
    if (o->json) profile_json(&json, p);
    if (o->json) fputs(json.at, stdout);
    else profile_text(p);
    text_free(&json);
    if (o->page && also == EXIT_DONE) also = profile_page(p, o->page);
    return code == EXIT_DONE ? also : code;
}

static ExitCode launch(Job *j, const Needs *card) {
    interrupt_begin(j->device);
    fsc_status s = job_launch(j);
    interrupt_end();
    Profile p = {.j = j, .card.needs = *card};
    ExitCode code = s == FSC_OK ? EXIT_DONE : job_fail(j, s);
    if (fsc_device_counts(j->device, &p.counts) != FSC_OK)
        return s == FSC_OK ? tool_fail(FSC_ERROR_INTERNAL, fsc_last_message()) : code;
    sum_lines(&p);
    sum_params(&p);
    ExitCode predicted = predict(&p);
    if (predicted != EXIT_DONE) return predicted;
    profile_advise(&p);
    return show(&p, code);
}

/* The GPU that is measured is the card that is predicted. */
static bool measured_gpu(Needs *card, ToolOptions *o) {
    fsc_device *d = NULL;
    fsc_status s = fsc_device_open(o->measured, &d);
    if (s == FSC_OK) s = fsc_device_props(d, &card->gpu);
    if (s != FSC_OK) (void)tool_fail(s, fsc_last_message());
    fsc_device_close(d);
    if (s == FSC_OK && !o->has_arch) o->compile.arch = arena_printf(o->arena, "%s", target_own(card->gpu.arch));
    return s == FSC_OK;
}

static ExitCode profile_on(Job *j) {
    ToolOptions *o = j->o;
    Needs card = {.threads = 0};
    bool stands = o->gpu || o->measured; /* for a card */
    if (o->measured && !measured_gpu(&card, o)) return EXIT_ENVIRONMENT;
    if (o->gpu && !needs_gpu(&card, o)) return EXIT_CALL;
    fsc_status s = fsc_device_open(o->device, &j->device);
    if (s == FSC_OK && stands) device_stand_for(j->device, &card.gpu);
    if (s == FSC_OK) s = fsc_device_check(j->device, true);
    if (s == FSC_OK) s = fsc_device_count_lines(j->device, true);
    if (s == FSC_OK) s = fsc_device_props(j->device, &j->props);
    if (s != FSC_OK) return tool_fail(s, fsc_last_message());
    ExitCode code = job_make(j);
    return code == EXIT_DONE ? launch(j, &card) : code;
}

ExitCode command_profile(ToolOptions *o) {
    if (o->words.len == 0) {
        fprintf(stderr, "fsc profile: no input file; 'fsc profile --help' says how to call it\n");
        return EXIT_CALL;
    }
    if (strcmp(o->device, "auto") == 0) o->device = "emu";
    if (strncmp(o->device, "cuda", 4) == 0) o->measured = o->device, o->device = "emu";
    if (o->measured && o->gpu) {
        fprintf(stderr, "fsc profile: --gpu stands for a card that is not here; --device=%s is one\n", o->measured);
        return EXIT_CALL;
    }
    if (strncmp(o->device, "emu", 3) != 0) {
        fprintf(stderr,
                "fsc profile: counts on --device=emu, not on %s; 'fsc run --coverage' counts lines on the CPU\n",
                o->device);
        return EXIT_CALL;
    }
    Job j = {.o = o, .grid = {1, 1, 1}};
    char *text = file_read(o->words.at[0], &j.length);
    if (!text) return EXIT_INPUT;
    o->compile.file = strcmp(o->words.at[0], "-") == 0 ? "<stdin>" : o->words.at[0];
    o->check = true;
    j.text = text;
    ExitCode code = profile_on(&j);
    job_print_log(&j);
    job_free(&j);
    fsc_device_close(j.device);
    free(text);
    return code;
}
