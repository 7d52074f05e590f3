/* test.c - `fsc test FILE…`: runs the cases in the files' comments on every device that is here.
 *
 * In: files. Out: a line for each case and device, below a failing one what is wrong; the number of either. A case is a
 * launch of `fsc run`, with the words and options that it says.
 */
#include "tool/test/cases.h"

#include "tool/interrupt.h"
#include "tool/run/expect.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 16 };

typedef struct Device {
    const char *name;
    fsc_device *at;
    fsc_props props;
} Device;

typedef struct Tests {
    ToolOptions *o;
    Device devices[MOST_DEVICES];
    uint32_t num_devices, passed, failed;
    const char *file;
    char *text;
    size_t length;
} Tests;

static ExitCode open_device(Tests *t, const char *name, bool is_wanted) {
    Device *d = &t->devices[t->num_devices];
    *d = (Device){.name = name};
    fsc_status s = fsc_device_open(name, &d->at);
    if (s == FSC_OK) s = fsc_device_props(d->at, &d->props);
    if (s == FSC_OK)
        t->num_devices++;
    else if (is_wanted)
        return tool_fail(s, fsc_last_message());
    else
        fsc_device_close(d->at);
    return EXIT_DONE;
}

static ExitCode open_devices(Tests *t) {
    const char *list = t->o->device;
    bool is_auto = strcmp(list, "auto") == 0;
    if (is_auto) list = t->o->check ? "emu" : "cpu,emu,cuda";
    ExitCode code = EXIT_DONE;
    for (const char *at = list; *at && code == EXIT_DONE;) {
        size_t n = strcspn(at, ",");
        if (t->num_devices == MOST_DEVICES) return tool_fail(FSC_ERROR_USAGE, "--device names too many devices");
        code = open_device(t, arena_strndup(t->o->arena, at, n), !is_auto);
        at += n + (at[n] == ',');
    }
    return code;
}

/* ---- One case ---------------------------------------------------------------------------------------------------- */

/* A case leaves nothing behind. */
static bool writes_file(const Job *j) {
    for (uint32_t i = 0; i < j->bounds.interface->num_params; i++) {
        const Bound *p = &j->bounds.at[i];
        if (!p->word || p->word->kind != WORD_FILE || p->reads) continue;
        fprintf(stderr, "%s: a case writes no files; leave %s out, or give %s=zeros:%s[…]\n", tool_name, p->word->name,
                p->word->name, p->array.dtype);
        return true;
    }
    return false;
}

/* Launches once and compares; what differs, or by how much, is added to `out`. */
static ExitCode launch_case(Job *j, Text *out) {
    ExitCode code = job_make(j);
    if (code == EXIT_DONE) code = expect_names(j);
    if (code == EXIT_DONE && writes_file(j)) code = EXIT_CALL;
    if (code != EXIT_DONE) return code;
    fsc_status s = job_launch(j);
    if (s == FSC_OK) s = fsc_stream_wait(j->device, NULL);
    if (s != FSC_OK) return job_fail(j, s);
    for (uint32_t i = 0; i < j->bounds.interface->num_params && code == EXIT_DONE; i++)
        if (j->bounds.at[i].is_asked && j->bounds.at[i].writes) code = job_fetch(j, i);
    return code == EXIT_DONE ? expect_all(j, out) : code;
}

/* The options of a launch, as the case has them; false after saying what is wrong. */
static bool read_options(const Tests *t, const Case *c, ToolOptions *o) {
    *o = (ToolOptions){.arena = t->o->arena, .command = COMMAND_RUN};
    bool ok = options_parse(o, (int)c->words.len, c->words.at);
    tool_name = "fsc test";
    if (!ok) return false;
    const char *odd = o->json ? "--json" : o->coverage ? "--coverage" : o->prints.len ? "--print" : NULL;
    if (odd) fprintf(stderr, "fsc test: %s is for fsc run; a case is compared\n", odd);
    ToolOptions words = *o;
    memset(&o->words, 0, sizeof o->words);
    vec_push(o->arena, &o->words, t->file);
    for (uint32_t i = 0; i < words.words.len; i++) vec_push(o->arena, &o->words, words.words.at[i]);
    for (uint32_t i = 0; i < c->expects.len; i++) vec_push(o->arena, &o->expects, c->expects.at[i]);
    const char *slash = strrchr(t->file, '/');
    o->folder = slash ? arena_strndup(o->arena, t->file, (size_t)(slash - t->file)) : NULL;
    o->command = COMMAND_TEST;
    o->check |= t->o->check;
    o->compile.file = t->file;
    o->compile.color = t->o->compile.color;
    o->compile.error_limit = t->o->compile.error_limit;
    o->compile.no_cache |= t->o->compile.no_cache;
    if (!o->compile.include) o->compile.include = t->o->compile.include;
    return !odd;
}

/* The case's own device is another one, or its checks are none of the device's. */
static bool is_elsewhere(const ToolOptions *o, const Device *d) {
    bool is_own = strcmp(o->device, "auto") != 0;
    return is_own ? strcmp(o->device, d->name) != 0 : o->check && d->props.kind == FSC_CUDA;
}

static void run_case(Tests *t, const Case *c, const Device *d) {
    ToolOptions o;
    Text text = {0};
    Job j = {.o = &o, .device = d->at, .props = d->props, .grid = {1, 1, 1}, .text = t->text, .length = t->length};
    ExitCode code = read_options(t, c, &o) ? EXIT_DONE : EXIT_CALL;
    if (code == EXIT_DONE && is_elsewhere(&o, d)) return;
    if (code == EXIT_DONE) {
        if (o.check) (void)fsc_device_check(d->at, true);
        interrupt_begin(d->at);
        code = launch_case(&j, &text);
        interrupt_end();
        job_print_log(&j);
        job_free(&j);
        if (o.check) (void)fsc_device_check(d->at, false);
    }
    bool ok = code == EXIT_DONE;
    if (interrupt_came()) {
        printf("stop %s:%u on %s%s%s\n", t->file, c->line, d->name, *c->name ? ": " : "", c->name);
        text_free(&text);
        return;
    }
    ok ? t->passed++ : t->failed++;
    printf("%s %s:%u on %s%s%s\n", ok ? "ok  " : "FAIL", t->file, c->line, d->name, *c->name ? ": " : "", c->name);
    for (const char *at = ok ? "" : text.at; at && *at; at += strcspn(at, "\n") + 1)
        printf("     %.*s\n", (int)strcspn(at, "\n"), at);
    (void)fflush(stdout); /* what the next says comes behind it */
    text_free(&text);
}

static ExitCode run_file(Tests *t, const char *file) {
    Cases cases = {0};
    t->file = file;
    t->text = file_read(file, &t->length);
    if (!t->text) return EXIT_INPUT;
    ExitCode code = cases_read(t->o->arena, file, t->text, t->length, &cases) ? EXIT_DONE : EXIT_INPUT;
    if (code == EXIT_DONE && cases.len == 0) {
        fprintf(stderr, "fsc test: %s has no cases; one is a comment: # test: x=random:0:fp32[4,8]\n", file);
        code = EXIT_INPUT;
    }
    for (uint32_t i = 0; i < cases.len && code == EXIT_DONE; i++)
        for (uint32_t k = 0; k < t->num_devices && !interrupt_came(); k++) run_case(t, &cases.at[i], &t->devices[k]);
    free(t->text);
    return code;
}

ExitCode command_test(ToolOptions *o) {
    if (o->words.len == 0) {
        fprintf(stderr, "fsc test: no input file; 'fsc test --help' says how to call it\n");
        return EXIT_CALL;
    }
    Tests t = {.o = o};
    ExitCode code = open_devices(&t);
    for (uint32_t i = 0; i < o->words.len && (code == EXIT_DONE || code == EXIT_INPUT) && !interrupt_came(); i++) {
        ExitCode own = run_file(&t, o->words.at[i]);
        code = own == EXIT_DONE ? code : own;
    }
    if (t.passed || t.failed || interrupt_came()) printf("%u passed, %u failed\n", t.passed, t.failed);
    for (uint32_t i = 0; i < t.num_devices; i++) fsc_device_close(t.devices[i].at);
    return code == EXIT_DONE && t.failed ? EXIT_INPUT : code;
}
