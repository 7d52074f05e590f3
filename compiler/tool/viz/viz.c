/* viz.c - `fsc viz FILE NAME=VALUE… -o page.html`: recorded runs on emulated threads, as one page that plays them.
 *
 * In: a file, what its parameters are, for each --run what differs. Out: a page without any other file: template, style
 * and script of tool/viz/page/, and the facts (docs/how-to/viz.md).
 * Method: each run is a job of its own on one emulated device, checked and recorded;
 * runs of one variant share its code.
 */
#include "tool/viz/page.h"
#include "tool/viz/viz.h"

#include "codegen/codegen.h"
#include "tool/info/needs.h"
#include "tool/run/axis.h"
#include "tool/test/cases.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 200000, MOST_PROGRAMS = 16 };
#define PAGE_MB 0.1 /* of a page without values */

typedef struct Viz {
    ToolOptions *o;
    fsc_props card; /* that the emulated device stands for */
    const char *text;
    size_t length;
    Text runs, log;
    VEC(const char *) codes;
    uint32_t num_faults, num_runs;
    uint64_t num_values;
} Viz;

/* ---- The words of a run ------------------------------------------------------------------------------------------ */

static bool same_name(const char *a, const char *b) {
    size_t n = strcspn(a, "=");
    return strcspn(b, "=") == n && strncmp(a, b, n) == 0;
}

static bool read_number(const char *s, int64_t *out) {
    char *end = NULL;
    errno = 0;
    *out = strtoll(s, &end, 10);
    return end != s && *end == '\0' && errno == 0;
}

/* A word of a run takes the place of the command line's of that name, or of its name in other words;
 * else it is one more. */
static void apply_word(ToolOptions *o, const char *word) {
    Arena *a = o->arena;
    const char *eq = strchr(word, '=');
    Axis axis = {.name = arena_strndup(a, word, (size_t)(eq - word))};
    int64_t value = 0;
    for (uint32_t i = 1; i < o->words.len; i++) {
        if (!same_name(o->words.at[i], word)) continue;
        o->words.at[i] = word;
        return;
    }
    bool names = read_number(eq + 1, &value) && axis_is_used(&axis, o->words.at + 1, o->words.len - 1);
    for (uint32_t i = 1; names && i < o->words.len; i++)
        o->words.at[i] = axis_apply(a, &axis, 1, &value, o->words.at[i]);
    if (!names) vec_push(a, &o->words, word);
}

/* The options of one run; false after printing what is wrong with it. */
static bool run_options(const ToolOptions *all, const char *run, ToolOptions *o) {
    *o = *all;
    o->words.at = NULL;
    o->words.len = o->words.cap = 0;
    for (uint32_t i = 0; i < all->words.len; i++) vec_push(o->arena, &o->words, all->words.at[i]);
    for (const char *at = run; *at;) {
        size_t n = strcspn(at, " ");
        const char *word = arena_strndup(o->arena, at, n);
        at += n + strspn(at + n, " ");
        if (!*word) continue;
        const char *eq = strchr(word, '=');
        if (!eq || eq == word || !eq[1]) {
            fprintf(stderr, "%s: --run takes NAME=VALUE words, separated by blanks, not '%s'\n", tool_name, word);
            return false;
        }
        apply_word(o, word);
    }
    return true;
}

/* ---- What is recorded -------------------------------------------------------------------------------------------- */

/* X[,Y[,Z]] */
static bool read_program(const char *text, int64_t at[3]) {
    const char *rest = text;
    for (int d = 0; d < 3; d++) at[d] = 0;
    for (int d = 0; d < 3; d++) {
        char *end = NULL;
        if (!isdigit((unsigned char)*rest)) break;
        errno = 0;
        at[d] = strtoll(rest, &end, 10);
        if (errno) break;
        rest = end;
        if (*rest == '\0') return true;
        if (*rest++ != ',') break;
    }
    fprintf(stderr, "%s: --program takes X[,Y[,Z]], the index of a program, not '%s'\n", tool_name, text);
    return false;
}

/* A program that went wrong, and was not among those recorded at first. */
typedef struct Faulty {
    bool is_set;
    int64_t at[3];
} Faulty;

/* Those asked for; else the first and the last, and a faulty one. */
static bool choose_programs(const ToolOptions *o, const Faulty *faulty, Recording *r) {
    uint32_t n = o->programs.len;
    if (n > MOST_PROGRAMS) {
        fprintf(stderr, "%s: --program %u times; a page records %d programs at most\n", tool_name, n, MOST_PROGRAMS);
        return false;
    }
    r->num_programs = n ? n : faulty->is_set ? 3 : 2;
    r->programs = NEW_ARRAY(o->arena, RecordedProgram, r->num_programs);
    r->limit = o->limit ? o->limit : LIMIT;
    for (int d = 0; d < 3 && !n; d++) {
        r->programs[1].at[d] = -1;
        if (faulty->is_set) r->programs[2].at[d] = faulty->at[d];
    }
    for (uint32_t i = 0; i < n; i++)
        if (!read_program(o->programs.at[i], r->programs[i].at)) return false;
    return true;
}

/* Is everything there that the page wants? False after printing what is not. */
static bool is_recorded(const Recording *r, const char *kernel, bool is_asked) {
    for (uint32_t i = 0; i < r->num_programs; i++) {
        const RecordedProgram *p = &r->programs[i];
        if (!p->has_run && is_asked && (uint64_t)p->at[0] < r->grid[0] && (uint64_t)p->at[1] < r->grid[1] &&
            (uint64_t)p->at[2] < r->grid[2])
            continue; /* a fault came first */
        if (!p->has_run && is_asked) {
            fprintf(stderr,
                    "%s: program (%" PRId64 ", %" PRId64 ", %" PRId64 ") is not in the grid of %" PRIu64 " x %" PRIu64
                    " x %" PRIu64 " programs\n",
                    tool_name, p->at[0], p->at[1], p->at[2], r->grid[0], r->grid[1], r->grid[2]);
            return false;
        }
        if (p->values <= r->limit) continue;
        fprintf(
            stderr,
            "%s: a program of %s makes %" PRIu64 " values in registers, and a page holds %" PRIu64 " of each\n"
            "note: record a smaller launch: shorter rows, a smaller block, fewer turns of a loop; or --limit=%" PRIu64
            ", for a page of some %.1f MB\n",
            tool_name, kernel, p->values, r->limit, p->values, PAGE_MB + (double)p->values * 6e-6);
        return false;
    }
    return true;
}

/* ---- A run ------------------------------------------------------------------------------------------------------- */

static uint32_t code_index(Viz *z, const VizRun *r) {
    Text code = {0};
    viz_code(&code, r);
    for (uint32_t i = 0; i < z->codes.len; i++) {
        if (strcmp(z->codes.at[i], code.at) != 0) continue;
        text_free(&code);
        return i;
    }
    vec_push(z->o->arena, &z->codes, arena_strndup(z->o->arena, code.at, code.len));
    text_free(&code);
    return z->codes.len - 1;
}

/* The program of the first mistake, if nobody chose the programs and it is none of those recorded. */
static bool find_faulty(const Viz *z, const Job *j, const Recording *q, Faulty *faulty) {
    fsc_finding f;
    if (z->o->programs.len || faulty->is_set || fsc_device_finding(j->device, 0, &f) != FSC_OK || f.thread < 0)
        return false;
    for (uint32_t i = 0; i < q->num_programs; i++)
        if (memcmp(q->programs[i].at, f.program, sizeof f.program) == 0) return false;
    faulty->is_set = true;
    memcpy(faulty->at, f.program, sizeof f.program);
    return true;
}

static ExitCode launch(Viz *z, Job *j, Recording *q, const char *label, Faulty *faulty, bool *again) {
    fsc_status s = job_launch(j);
    size_t faults = fsc_device_findings(j->device);
    bool is_fault = (s == FSC_ERROR_CHECK || s == FSC_ERROR_ASSERT) && faults;
    if (s != FSC_OK && !is_fault) return job_fail(j, s);
    *again = is_fault && find_faulty(z, j, q, faulty);
    if (*again) return EXIT_DONE;
    if (!q->record || !q->owner) {
        fprintf(stderr, "%s: the grid is empty, and no program ran; give buffers that have elements\n", tool_name);
        return EXIT_CALL;
    }
    if (!is_recorded(q, q->record->kernel, z->o->programs.len != 0)) return EXIT_CALL;
    VizRun r = {.j = j, .card = &z->card, .recording = q, .code = q->owner, .label = label};
    uint32_t code = code_index(z, &r);
    depend_note(z->o, fsc_compilation_files(r.code));
    text_printf(&z->runs, "%s", z->num_runs++ ? ",\n" : "");
    viz_run(&z->runs, &r, code);
    z->num_faults += (uint32_t)faults;
    for (uint32_t i = 0; i < q->num_programs; i++) z->num_values += q->programs[i].values;
    fsc_finding f;
    for (size_t i = 0; i < faults; i++)
        if (fsc_device_finding(j->device, i, &f) == FSC_OK) {
            job_show(stderr, f.text, strlen(f.text));
            fputc('\n', stderr);
        }
    return EXIT_DONE;
}

static ExitCode record_once(Viz *z, const char *run, Faulty *faulty, bool *again) {
    ToolOptions o;
    Recording q = {0};
    if (!run_options(z->o, run, &o) || !choose_programs(&o, faulty, &q)) return EXIT_CALL;
    Job j = {.o = &o, .grid = {1, 1, 1}, .text = z->text, .length = z->length};
    fsc_status s = fsc_device_open("emu:1", &j.device);
    if (s == FSC_OK) device_stand_for(j.device, &z->card);
    if (s == FSC_OK) s = fsc_device_check(j.device, true);
    if (s == FSC_OK) s = fsc_device_props(j.device, &j.props);
    if (s == FSC_OK) device_record(j.device, &q);
    ExitCode code = s == FSC_OK ? job_make(&j) : tool_fail(s, fsc_last_message());
    if (code == EXIT_DONE) code = launch(z, &j, &q, *run ? run : "as given", faulty, again);
    if (!*again) job_print_log(&j);
    recording_free(&q);
    job_free(&j);
    fsc_device_close(j.device);
    return code;
}

/* Once more where another program than those recorded goes wrong: then that one, too. */
static ExitCode record(Viz *z, const char *run) {
    Faulty faulty = {.is_set = false};
    bool again = false;
    ExitCode code = record_once(z, run, &faulty, &again);
    return again ? record_once(z, run, &faulty, &again) : code;
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

static void put_facts(Text *page, const Viz *z) {
    text_printf(page, "{\"version\": 2, \"tool\": ");
    json_word(page, fsc_version());
    if (z->o->live) text_printf(page, ", \"live\": %u", z->o->live);
    text_printf(page, ", \"file\": ");
    const char *slash = strrchr(z->o->compile.file, '/');
    json_word(page, slash ? slash + 1 : z->o->compile.file);
    text_printf(page, ", \"source\": ");
    json_string(page, z->text, z->length);
    text_printf(page, ",\n\"codes\": [");
    for (uint32_t i = 0; i < z->codes.len; i++) text_printf(page, "%s%s", i ? ",\n" : "", z->codes.at[i]);
    text_printf(page, "],\n\"runs\": [");
    text_write(page, z->runs.at, z->runs.len);
    text_printf(page, "]}");
}

static ExitCode write_page(const Viz *z) {
    Text facts = {0}, page = {0};
    put_facts(&facts, z);
    viz_page(&page, &facts);
    text_free(&facts);
    ExitCode code = file_write(z->o->output, page.at, page.len);
    if (code == EXIT_DONE && strcmp(z->o->output, "-") != 0)
        printf("%s: %u run%s, %" PRIu64 " values, %zu bytes%s\n", z->o->output, z->num_runs,
               z->num_runs == 1 ? "" : "s", z->num_values, page.len,
               z->num_faults ? "; the checks found mistakes, which the page shows" : "");
    text_free(&page);
    return code;
}

/* The table's first of that arch; where it has none, the one of sm_90 with that arch's limits. */
static fsc_props choose_card(const Target *t) {
    const fsc_props *found = card_of_arch(t->name);
    fsc_props card = found ? *found : *card_of_arch("sm_90");
    if (found) return card;
    snprintf(card.arch, sizeof card.arch, "%s", t->name);
    card.shared_per_block_optin = t->max_shared;
    return card;
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

/* A file alone: the words and options of its first case, then the call's own options. */
static bool take_case(ToolOptions *o, const char *text, size_t length) {
    Cases cases = {0};
    const char *file = o->words.at[0], *slash = strrchr(file, '/');
    if (o->words.len > 1) return true;
    if (!cases_read(o->arena, file, text, length, &cases)) return false;
    if (!cases.len) return true;
    ToolOptions c = {.arena = o->arena, .command = COMMAND_RUN, .output = o->output, .live = o->live};
    vec_push(c.arena, &c.words, file);
    if (!options_parse(&c, (int)cases.at[0].words.len, cases.at[0].words.at)) return false;
    c.command = o->command;
    if (!options_add(&c, o->argc, o->argv)) return false;
    c.words.len--; /* the file once more */
    c.folder = slash ? arena_strndup(o->arena, file, (size_t)(slash - file)) : NULL;
    c.compile.color = o->compile.color;
    c.output = o->output;
    *o = c;
    return true;
}

/* The card that is shown, by --arch. */
static bool find_card(Viz *z) {
    ToolOptions *o = z->o;
    if (!o->has_arch) o->compile.arch = target_own("sm_90");
    const Target *target = target_find(o->compile.arch);
    if (target && !target_runs_here(target)) {
        z->card = choose_card(target);
        return true;
    }
    if (target)
        fprintf(stderr, "%s: --arch says which GPU's PTX the page shows, such as sm_90, not %s\n", tool_name,
                o->compile.arch);
    else
        fprintf(stderr, "%s: unknown arch '%s'; known are %s\n", tool_name, o->compile.arch, target_names(o->arena));
    return false;
}

ExitCode command_viz(ToolOptions *o) {
    if (o->words.len == 0 || !o->output) {
        fprintf(stderr, "fsc viz: no %s; 'fsc viz --help' says how to call it\n",
                o->words.len ? "page to write (-o page.html)" : "input file");
        return EXIT_CALL;
    }
    Viz z = {.o = o};
    if (!find_card(&z)) return EXIT_CALL;
    char *text = file_read(o->words.at[0], &z.length);
    if (!text) return EXIT_INPUT;
    z.text = text;
    ExitCode code = take_case(o, text, z.length) && find_card(&z) ? file_claim(o->output, false) : EXIT_INPUT;
    o->compile.file = strcmp(o->words.at[0], "-") == 0 ? "<stdin>" : o->words.at[0];
    o->check = true;
    if (code == EXIT_DONE && !o->runs.len) code = record(&z, "");
    for (uint32_t i = 0; i < o->runs.len && code == EXIT_DONE; i++) code = record(&z, o->runs.at[i]);
    if (code == EXIT_DONE) code = write_page(&z);
    text_free(&z.runs);
    free(text);
    return code;
}
