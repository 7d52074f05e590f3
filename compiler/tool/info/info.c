/* info.c - `fsc info FILE`: the warm-up report - what a kernel needs, and how it will occupy a GPU.
 *
 * In: a file, a GPU (--gpu's row of published properties, the driver's device, or a card of the arch), and the scalars
 * that the launch rule wants (NAME=VALUE). Out: text or JSON.
 * Where the numbers come from: needs.h.
 */
#include "base/schema.h"
#include "driver.h"
#include "tool/info/needs.h"
#include "tool/info/tiles.h"
#include "tool/run/bind.h"
#include "tool/run/told.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct Report {
    ToolOptions *o;
    Record *record;
    Needs needs;
    Tiles tiles;
    int64_t grid[3];
    bool has_grid;
    uint64_t waves;
    double last_fill;
    const char *tuned;   /* which line of a tuning file; NULL: there is no such file */
    const char *no_grid; /* why there is no grid, when there is none */
} Report;

/* ---- Grid -------------------------------------------------------------------------------------------------------- */

static RuleStatus occupancy_of(void *context, int64_t *programs) {
    const Report *r = context;
    *programs = r->needs.occupancy.blocks_per_sm;
    return RULE_OK;
}

/* Is every NAME=NUMBER word about a parameter? */
static bool check_words(const Report *r) {
    for (size_t k = 0; k < r->o->compile.num_known; k++) {
        const char *name = r->o->compile.known[k].name;
        bool found = false;
        for (uint32_t i = 0; i < r->record->num_params; i++) found |= strcmp(r->record->params[i].name, name) == 0;
        if (!found) return complain_parameter(r->record, name);
    }
    return true;
}

static bool find_grid(Report *r) {
    const Record *record = r->record;
    RuleBinding *values = NEW_ARRAY(r->o->arena, RuleBinding, record->num_params);
    for (uint32_t i = 0; i < record->num_params; i++) {
        values[i].name = record->params[i].name;
        const RecordParam *p = &record->params[i];
        values[i].known = p->kind != RECORD_POINTER && p->value[0] && record_value(p, &values[i].value);
        for (size_t k = 0; k < r->o->compile.num_known; k++) {
            if (strcmp(r->o->compile.known[k].name, values[i].name) != 0) continue;
            (void)number_bind(&values[i], r->o->compile.known[k].value);
        }
    }
    RuleEnv env = {.values = values,
                   .num_values = record->num_params,
                   .num_sms = r->needs.gpu.sms,
                   .max_shared = r->needs.gpu.shared_per_block_optin,
                   .num_regs = r->needs.gpu.registers_per_sm,
                   .warp_size = r->needs.gpu.warp_size,
                   .occupancy = occupancy_of,
                   .context = r};
    char err[256];
    r->tuned = tuned_told(r->o->arena, record, &env);
    for (int i = 0; i < 3; i++) r->grid[i] = 1;
    if (r->o->grid) {
        r->has_grid = driver_grid(r->o->arena, r->o->grid, record, &env, r->grid, err, sizeof err);
        if (!r->has_grid) fprintf(stderr, "fsc info: --grid %s: %s\n", r->o->grid, err);
        return r->has_grid;
    }
    r->has_grid = record->num_grid > 0;
    r->no_grid = "no launch rule";
    for (uint32_t i = 0; i < record->num_grid && r->has_grid; i++) {
        RuleStatus s = rule_eval_int(record->grid[i], &env, &r->grid[i], err, sizeof err);
        r->has_grid = s == RULE_OK;
        if (s == RULE_UNBOUND) r->no_grid = arena_printf(r->o->arena, "depends on %s: give %s=NUMBER", err, err);
        else if (s != RULE_OK) r->no_grid = arena_printf(r->o->arena, "%s", err);
    }
    return true;
}

/* ---- Text and JSON ----------------------------------------------------------------------------------------------- */

/* "tile 1024   1024 elements = 64 threads x 16, 13 of the 16 live" */
static void print_tile(const Tile *t) {
    Text shape = {0};
    shape_print(t->shape, &shape);
    printf("  tile %-17s %" PRIu64 " elements", shape.at ? shape.at : "1", t->elements);
    if (t->copies > 1) printf(" x %u copies", t->copies);
    printf(" = %u threads x %u", t->threads, t->per_thread);
    if (t->live && t->live < t->per_thread) printf(", %u of the %u live", t->live, t->per_thread);
    printf("\n");
    text_free(&shape);
}

static void print_text(const Report *r) {
    const Record *k = r->record;
    const RecordLaunch *l = &k->launches[0];
    printf("kernel %s for %s\n", k->kernel, k->target);
    for (uint32_t i = 0; i < k->num_params; i++) {
        static const char *const origins[] = {"-D", "--signature", "launch rule", "default", "config", "tuned"};
        if (k->params[i].kind == RECORD_CONSTEXPR)
            printf("  %-22s %s (%s)\n", k->params[i].name, k->params[i].value, origins[k->params[i].origin]);
        if (k->params[i].most) printf("  %-22s %u to %u\n", k->params[i].name, k->params[i].least, k->params[i].most);
        else if (k->params[i].least) printf("  %-22s at least %u\n", k->params[i].name, k->params[i].least);
    }
    if (k->config) printf("  %-22s %s\n", "config", k->config);
    if (r->tuned) printf("  %-22s %s\n", "tuned", r->tuned);
    uint32_t threads = r->needs.threads / l->programs_per_block * l->blocks_per_program;
    uint32_t warp = r->needs.gpu.warp_size;
    if (threads < warp) printf("  %-22s %u (%u programs a warp)\n", "threads per program", threads, warp / threads);
    else printf("  %-22s %u (%u threads)\n", "warps per program", threads / warp, threads);
    if (l->blocks_per_program > 1)
        printf("  %-22s %u (%s)\n", "blocks per program", l->blocks_per_program,
               l->scope == SCOPE_GRID ? "they meet through global memory" : "a cluster");
    if (l->scope == SCOPE_GRID) printf("  %-22s %u at most, all on the GPU at once\n", "programs", l->most_programs);
    if (l->overlaps) printf("  %-22s before the launches ahead end, for which gdc_wait waits\n", "may begin");
    if (r->needs.registers == r->needs.registers_high) {
        printf("  %-22s %u (%s)\n", "registers per thread", r->needs.registers, r->needs.registers_from);
    } else {
        printf("  %-22s %u to %u (%s)\n", "registers per thread", r->needs.registers, r->needs.registers_high,
               r->needs.registers_from);
    }
    if (strcmp(r->needs.registers_from, "driver") == 0 || strcmp(r->needs.registers_from, "ptxas") == 0)
        printf("  %-22s %u bytes per thread\n", "spills", r->needs.spill_bytes);
    printf("  %-22s %u bytes per block\n", "shared memory", r->needs.shared);
    for (uint32_t i = 0; i < k->num_accesses; i++) {
        const RecordAccess *a = &k->accesses[i];
        printf("  %-22s %s:%u:%u %u bytes of %s%s%s\n", a->is_store ? "store" : "load", k->file, a->line, a->col,
               a->vector_bytes, a->dtype, a->param >= 0 ? ", " : "", a->param >= 0 ? k->params[a->param].name : "");
    }
    for (uint32_t i = 0; i < r->tiles.len; i++) print_tile(&r->tiles.at[i]);
    printf("on %s, %u SMs\n", r->needs.gpu.name, r->needs.gpu.sms);
    printf("  %-22s %u (limited by %s), %.0f %% of the threads\n", "blocks per SM", r->needs.occupancy.blocks_per_sm,
           fsc_limit_name(r->needs.occupancy.limit), r->needs.occupancy.fill * 100);
    printf("  %-22s %" PRIu64 " programs\n", "persistent grid",
           r->needs.occupancy.resident_blocks * l->programs_per_block / l->blocks_per_program);
    if (!r->has_grid) {
        printf("  %-22s %s\n", "grid", r->no_grid);
        return;
    }
    printf("  %-22s %" PRId64 " x %" PRId64 " x %" PRId64 "\n", "grid", r->grid[0], r->grid[1], r->grid[2]);
    printf("  %-22s %" PRIu64 ", the last %.0f %% full\n", "waves", r->waves, r->last_fill * 100);
}

static void print_tiles(const Report *r) {
    printf("  \"tiles\": [");
    for (uint32_t i = 0; i < r->tiles.len; i++) {
        const Tile *t = &r->tiles.at[i];
        printf("%s\n    {\"shape\": [", i ? "," : "");
        for (uint32_t d = 0; d < t->shape.rank; d++) printf("%s%" PRIu64, d ? ", " : "", shape_size(t->shape, d));
        printf("], \"elements\": %" PRIu64
               ", \"threads\": %u, \"elements_per_thread\": %u, \"copies\": %u, \"live_per_thread\": ",
               t->elements, t->threads, t->per_thread, t->copies);
        if (t->live) printf("%u}", t->live);
        else printf("null}");
    }
    printf("\n  ],\n");
}

static void print_json(const Report *r) {
    const Record *k = r->record;
    const RecordLaunch *l = &k->launches[0];
    printf("{\n  \"schema_version\": %d,\n  \"kernel\": \"%s\",\n  \"arch\": \"%s\",\n  \"threads_per_block\": %u,\n  "
           "\"programs_per_block\": %u,\n  \"blocks_per_program\": %u,\n  \"together\": %s,\n"
           "  \"overlaps\": %s,\n"
           "  \"registers\": %u,\n  \"registers_high\": %u,\n  \"registers_from\": \"%s\",\n  \"spill_bytes\": %u,\n"
           "  \"shared_bytes\": %u,\n  \"constexpr\": {",
           SCHEMA_INFO, k->kernel, k->target, r->needs.threads, l->programs_per_block, l->blocks_per_program,
           l->most_programs ? arena_printf(r->o->arena, "%u", l->most_programs) : "null",
           l->overlaps ? "true" : "false", r->needs.registers,
           r->needs.registers_high, r->needs.registers_from, r->needs.spill_bytes, r->needs.shared);
    bool first = true;
    for (uint32_t i = 0; i < k->num_params; i++) {
        if (k->params[i].kind != RECORD_CONSTEXPR) continue;
        Text value = {0};
        text_json(&value, k->params[i].value);
        printf("%s\"%s\": %s", first ? "" : ", ", k->params[i].name, value.at);
        text_free(&value);
        first = false;
    }
    printf("},\n  \"bounds\": {");
    first = true;
    for (uint32_t i = 0; i < k->num_params; i++) {
        const RecordParam *p = &k->params[i];
        if (!p->least && !p->most) continue;
        printf("%s\"%s\": [%u, %s]", first ? "" : ", ", p->name, p->least,
               p->most ? arena_printf(r->o->arena, "%u", p->most) : "null");
        first = false;
    }
    printf("},\n");
    if (k->config) printf("  \"config\": \"%s\",\n", k->config);
    if (r->tuned) printf("  \"tuned\": \"%s\",\n", r->tuned);
    print_tiles(r);
    printf("  \"accesses\": [");
    for (uint32_t i = 0; i < k->num_accesses; i++) {
        const RecordAccess *a = &k->accesses[i];
        printf("%s\n    {\"kind\": \"%s\", \"line\": %u, \"column\": %u, \"vector_bytes\": %u, \"dtype\": \"%s\", "
               "\"param\": \"%s\"}",
               i ? "," : "", a->is_store ? "store" : "load", a->line, a->col, a->vector_bytes, a->dtype,
               a->param >= 0 ? k->params[a->param].name : "");
    }
    printf("\n  ],\n  \"gpu\": \"%s\",\n  \"sms\": %u,\n  \"blocks_per_sm\": %u,\n  \"limit\": \"%s\",\n"
           "  \"persistent_programs\": %" PRIu64,
           r->needs.gpu.name, r->needs.gpu.sms, r->needs.occupancy.blocks_per_sm,
           fsc_limit_name(r->needs.occupancy.limit),
           r->needs.occupancy.resident_blocks * l->programs_per_block / l->blocks_per_program);
    if (r->has_grid)
        printf(",\n  \"grid\": [%" PRId64 ", %" PRId64 ", %" PRId64 "],\n  \"waves\": %" PRIu64
               ",\n  \"last_wave_fill\": %.4f",
               r->grid[0], r->grid[1], r->grid[2], r->waves, r->last_fill);
    printf("\n}\n");
}

/* ---- The command ------------------------------------------------------------------------------------------------- */

static ExitCode report_on(Report *r, const fsc_compilation *c) {
    const char *text = fsc_compilation_record(c);
    char err[256];
    r->record = record_parse(text, strlen(text), err, sizeof err);
    if (!r->record || r->record->num_launches == 0) {
        fprintf(stderr, "fsc info: the file has no kernel record (tile IR has none); give a .dsl or .py file\n");
        return EXIT_INPUT;
    }
    if (!check_words(r)) return EXIT_CALL;
    const RecordLaunch *l = &r->record->launches[0];
    ExitCode code = needs_find(&r->needs, r->o, c, l);
    if (code != EXIT_DONE) return code;
    r->tiles = tiles_of(c, r->o->arena);
    if (!find_grid(r)) return EXIT_CALL;
    if (r->has_grid) {
        uint64_t programs = (uint64_t)(r->grid[0] * r->grid[1] * r->grid[2]);
        uint64_t blocks = (programs + l->programs_per_block - 1) / l->programs_per_block * l->blocks_per_program;
        fsc_waves(blocks, r->needs.occupancy.resident_blocks, &r->waves, &r->last_fill);
    }
    if (r->o->json) print_json(r);
    else print_text(r);
    return EXIT_DONE;
}

/* NAME=VALUE words: scalars that the launch rule wants; constexprs among them become -D (assume.c). */
static bool read_words(ToolOptions *o) {
    fsc_name_value *known = NEW_ARRAY(o->arena, fsc_name_value, o->words.len);
    for (uint32_t i = 1; i < o->words.len; i++) {
        const char *word = o->words.at[i], *eq = strchr(word, '=');
        RuleBinding number;
        if (!eq || eq == word || !number_bind(&number, eq + 1)) {
            fprintf(stderr, "fsc info: '%s' is no NAME=NUMBER\n", word);
            return false;
        }
        known[i - 1] = (fsc_name_value){arena_strndup(o->arena, word, (size_t)(eq - word)), eq + 1};
    }
    o->compile.known = known;
    o->compile.num_known = o->words.len - 1;
    return true;
}

ExitCode command_info(ToolOptions *o) {
    if (o->words.len == 0) {
        fprintf(stderr, "fsc info: no input file; 'fsc info --help' says how to call it\n");
        return EXIT_CALL;
    }
    Report r = {.o = o};
    if (!read_words(o)) return EXIT_CALL;
    if (!arch_resolve(o)) return EXIT_ENVIRONMENT;
    const Target *t = o->has_arch ? target_find(o->compile.arch) : NULL;
    if (t && target_runs_here(t)) {
        fprintf(stderr, "fsc info: the %s has no occupancy; take an arch such as sm_90, or --gpu\n",
                t->backend->stands_for ? "emulator" : "CPU");
        return EXIT_CALL;
    }
    size_t length = 0;
    char *text = file_read(o->words.at[0], &length);
    if (!text) return EXIT_INPUT;
    o->compile.file = strcmp(o->words.at[0], "-") == 0 ? "<stdin>" : o->words.at[0];
    ExitCode code = EXIT_CALL;
    if (needs_gpu(&r.needs, o)) {
        o->compile.device = &r.needs.gpu;
        assume_launch(o, text, length);
        fsc_compilation *c = NULL;
        fsc_status s = fsc_compile(&o->compile, text, length, &c);
        code = compile_finish(o, c, s);
        if (code == EXIT_DONE) code = report_on(&r, c);
        fsc_compilation_destroy(c);
    }
    record_free(r.record);
    free(text);
    return code;
}
