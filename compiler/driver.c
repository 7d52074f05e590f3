/* driver.c - the pipeline: text → AST → tile IR → passes → machine text, in one straight function.
 *
 * In: source text and fsc_compile_options. Out: an fsc_compilation with whatever was reached; emit says where to stop.
 * A bug() anywhere below comes back here and becomes FSC_ERROR_INTERNAL; LLVM's own failures come back as diagnostics.
 */
#include "driver.h"

#include "passes/passes.h"
#include "runtime/base/number.h"
#include "runtime/base/process.h"
#include "runtime/device/status.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if !defined FSC_VERSION || !defined FSC_LLVM_VERSION
#error "FSC_VERSION and FSC_LLVM_VERSION come from CMake"
#endif

const char *fsc_version(void) { return "fsc " FSC_VERSION " (LLVM " FSC_LLVM_VERSION ")"; }

/* ---- Time report ------------------------------------------------------------------------------------------------- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void add_time(void *context, const char *phase, double seconds) {
    char ms[40];
    text_printf(context, "%-24s %s ms\n", phase, number_format(ms, sizeof ms, "%9.3f", seconds * 1e3));
}

/* ---- The steps --------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *s, const char *ending) {
    size_t n = strlen(s), m = strlen(ending);
    return n >= m && strcmp(s + n - m, ending) == 0;
}

/* Where the pipeline may stop: what that needs of a back end, and what is asked of it. */
static const struct {
    const char *name;
    uint32_t needs;
    Emit what;
} emits[] = {
    [FSC_EMIT_TILE] = {"tile", 0, 0},
    [FSC_EMIT_SIMT] = {"simt", EMITS(THREADS), 0},
    [FSC_EMIT_THREADS] = {"threads", EMITS(THREADS), EMIT_THREADS},
    [FSC_EMIT_LLVM] = {"llvm", EMITS(LLVM), EMIT_LLVM},
    [FSC_EMIT_PTX] = {"ptx", EMITS(PTX), EMIT_PTX},
    [FSC_EMIT_CUBIN] = {"cubin", EMITS(CUBIN), EMIT_PTX},
    [FSC_EMIT_ASM] = {"asm", EMITS(ASM), EMIT_ASM},
    [FSC_EMIT_REPORT] = {"report", 0, 0},
};

/* "tile, llvm, asm or report": what the target has. */
static const char *emit_list(Arena *a, const Target *t) {
    const char *list = "";
    for (uint32_t i = FSC_EMIT_TILE; i < COUNT(emits); i++) {
        const char *between = i == FSC_EMIT_TILE ? "" : i + 1 == COUNT(emits) ? " or " : ", ";
        if (!(emits[i].needs & ~t->backend->emits)) list = arena_printf(a, "%s%s%s", list, between, emits[i].name);
    }
    return list;
}

/* The options that can be wrong without a look at the source. */
static fsc_status check_options(fsc_compilation *c, const fsc_compile_options *o) {
    Span nowhere = {0, 0};
    c->target = target_choose(o->arch, o->device ? o->device->arch : NULL, &c->emulated);
    if (!c->target) {
        diag(c->diag, nowhere, E_UNKNOWN_ARCH, o->arch);
        diag_note(c->diag, nowhere, "known are %s, cpu and emu", target_names(c->arena));
    } else if (emits[o->emit].needs & ~c->target->backend->emits) {
        diag(c->diag, nowhere, E_EMIT, o->arch, emit_list(c->arena, c->target));
    }
    if (o->print_after && strcmp(o->print_after, "all") != 0 && strcmp(o->print_after, "changed") != 0 &&
        !pass_exists(o->print_after)) {
        uint32_t n = 0;
        const char *const *names = pass_names(&n);
        Text list = {0};
        for (uint32_t i = 0; i < n; i++) text_printf(&list, ", %s", names[i]);
        diag(c->diag, nowhere, E_UNKNOWN_PASS, o->print_after);
        diag_note(c->diag, nowhere, "the passes are all%s", list.at);
        text_free(&list);
    }
    if (o->passes) (void)passes_known(c->diag, o->passes);
    return diag_errors(c->diag) ? FSC_ERROR_USAGE : FSC_OK;
}

/* A GPU's code is that of one thread. */
static bool has_threads(const fsc_compilation *c) {
    return target_emits(c->target, EMIT_THREADS);
}

static const NameValue *pairs(Arena *a, const fsc_name_value *from, size_t n) {
    NameValue *to = NEW_ARRAY(a, NameValue, n ? n : 1);
    for (size_t i = 0; i < n; i++) to[i] = (NameValue){from[i].name, from[i].value};
    return to;
}

/* The target whose rows of a tuning file count: a card's, whether or not code is for it alone; code on emulated threads
 * is that of the card that they stand for. */
static const char *tuned_arch(const fsc_compilation *c, const fsc_compile_options *o) {
    const Target *card = o->device ? target_find(o->device->arch) : NULL, *t = c->target;
    if (t->backend->stands_for)
        t = card && !target_runs_here(card) ? card : target_find(t->backend->stands_for);
    return t->portable ? t->portable : t->name;
}

static CheckOptions check_options_of(fsc_compilation *c, const fsc_compile_options *o) {
    const fsc_props *d = o->device;
    return (CheckOptions){
        .kernel = o->kernel,
        .signature = o->signature,
        .defines = pairs(c->arena, o->defines, o->num_defines),
        .types = pairs(c->arena, o->types, o->num_types),
        .divisible = pairs(c->arena, o->divisible, o->num_divisible),
        .num_defines = (uint32_t)o->num_defines,
        .num_types = (uint32_t)o->num_types,
        .num_divisible = (uint32_t)o->num_divisible,
        .config = o->config,
        .num_warps = o->num_warps,
        .num_stages = o->num_stages,
        .num_ctas = o->num_ctas,
        .reaches_grid = o->split,
        .known = pairs(c->arena, o->known, o->num_known),
        .num_known = (uint32_t)o->num_known,
        .device_debug = o->device_debug,
        .include = o->include,
        .tuned = {.arch = tuned_arch(c, o)},
        .seeks_files = &c->seeks_files,
        .remarks = o->remarks && has_threads(c),
        .num_sms = d ? d->sms : 0,
        .max_shared = d ? d->shared_per_block_optin : 0,
        .num_regs = d ? d->registers_per_sm : 0,
        .warp_size = d ? d->warp_size : c->target->warp_threads,
    };
}

/* The options with the tuning file that they mean. False after saying that it cannot be read. */
static bool find_tuned(fsc_compilation *c, CheckOptions *k, const fsc_compile_options *o) {
    const char *why = NULL;
    k->tuned.text = tuned_text(c->arena, o, &k->tuned.file, &why);
    if (why) diag(c->diag, (Span){0, 0}, E_TUNED_FILE, k->tuned.file, why);
    return !why;
}

static Kernel *check_source(fsc_compilation *c, const fsc_compile_options *o) {
    CheckOptions k = check_options_of(c, o);
    if (!find_tuned(c, &k, o)) return NULL;
    return check_kernel(c->arena, c->strings, c->diag, c->module, &k);
}

/* How many blocks a program may have that are all on the device at once, beside those of the other programs. */
static uint32_t grid_blocks(const fsc_compile_options *o) {
    uint32_t sms = o->few_programs && o->device ? o->device->sms : 0, blocks = 1;
    while (o->most_programs && blocks * 2 <= sms / o->most_programs) blocks *= 2;
    return blocks;
}

/* Clusters of 16, a block to a multiprocessor: of an H200's 132 they fill seven eighths at a time
 * (docs/lab/few-rows.md). */
static bool clusters_wait(const fsc_compilation *c, const fsc_compile_options *o) {
    uint32_t sms = o->few_programs && o->device ? o->device->sms : 0, cluster = c->target->max_cluster;
    return cluster == 16 && o->most_programs * cluster > sms - sms / 8;
}

static bool run_passes(fsc_compilation *c, const fsc_compile_options *o, bool to_simt) {
    PassContext p = {
        .diag = c->diag,
        .for_gpu = to_simt,
        .to_code = o->emit != FSC_EMIT_TILE && o->emit != FSC_EMIT_SIMT,
        .opt_level = o->opt_level,
        .verify_each = o->verify_each,
        .print_after = o->print_after,
        .only = o->passes,
        .dumps = &c->dumps,
        .timer = add_time,
        .timer_context = &c->times,
        .target = c->target,
        .few_programs = o->few_programs,
        .overlap = o->overlap,
        .maps = !o->no_maps,
        .grid_blocks = grid_blocks(o),
        .clusters_wait = clusters_wait(c, o),
        .most_programs = o->most_programs,
        .remarks = o->remarks && to_simt,
    };
    return passes_run(c->func, &p);
}

/* Every distinct layout of the function, as tables. */
static void print_layout(void *context, Op *op) {
    fsc_compilation *c = context;
    for (uint32_t i = 0; i < op->nresults; i++) {
        const Value *v = op->results[i];
        if (!v->type.layout) continue;
        Place p = diag_place(c->diag, op->span);
        text_printf(&c->dumps, "%s", op_info[op->kind].name);
        if (p.source) text_printf(&c->dumps, " at %s:%u:%u", p.source->name, p.line, p.col);
        text_printf(&c->dumps, ": ");
        type_print(v->type, &c->dumps);
        text_printf(&c->dumps, "\n");
        layout_print(v->type.layout, &c->dumps);
    }
}

static CodegenOptions codegen_options(fsc_compilation *c, const fsc_compile_options *o) {
    return (CodegenOptions){
        .diag = c->diag,
        .arena = c->arena,
        .opt_level = o->opt_level,
        .line_info = true,
        .verify_each = o->verify_each,
        .fast_math = o->fast_math,
        .check = o->check,
        .count = o->count,
        .record = o->record,
        .op_lines = o->op_lines,
        .cpu = o->cpu,
        .file = o->file,
        .directory = ".",
        .record_text = c->record_text.at,
        .timer = add_time,
        .timer_context = &c->times,
    };
}

static fsc_status errors(const fsc_compilation *c) {
    return diag_errors(c->diag) ? FSC_ERROR_SOURCE : FSC_OK;
}

/* Assembly into c->output; what its assembler says is a remark or the error. */
static fsc_status assemble(fsc_compilation *c, const fsc_compile_options *o, Bytes text) {
    Assembled a = {0};
    bool done = assemble_best(c->target, text, o->opt_level, &a);
    if (!done) diag(c->diag, (Span){0, 0}, E_PTXAS, a.report.at ? a.report.at : "ptxas failed");
    else if (o->remarks && a.spill_bytes) diag(c->diag, c->func->span, R_SPILL, a.spill_bytes);
    if (done) text_write(&c->output, a.binary.at, a.binary.len);
    assembled_free(&a);
    return done ? FSC_OK : FSC_ERROR_ENVIRONMENT;
}

static fsc_status generate(fsc_compilation *c, const fsc_compile_options *o, bool want_host) {
    CodegenOptions g = codegen_options(c, o);
    Generated out = {0};
    if (!target_runs_here(c->target))
        (void)codegen_registers(c->func, c->target, &c->registers_low, &c->registers_high);
    if (!codegen(c->func, c->target, want_host ? EMIT_CODE : emits[o->emit].what, &g, &out)) return errors(c);
    c->host = out.code;
    c->scratch_bytes = out.scratch_bytes;
    if (o->emit == FSC_EMIT_CUBIN) return assemble(c, o, out.text);
    if (!want_host) text_write(&c->output, out.text.at, out.text.len);
    return FSC_OK;
}

/* After errors: those without a place are about the options. */
static fsc_status blame(const fsc_compilation *c) {
    uint32_t next = 0;
    bool about_source = false;
    for (Span at; diag_next_error(c->diag, &next, &at);) about_source |= at.end != 0;
    return about_source ? FSC_ERROR_SOURCE : FSC_ERROR_USAGE;
}

/* IR from a file may hold what only comes about on the way to a GPU. */
static void note_gpu_op(void *context, Op *op) {
    const Op **found = context;
    OpKind k = op->kind;
    if (!*found && (op_is_shared(k) || k == OP_REDUCEWARP || k == OP_SPREADWARP)) *found = op;
}

static bool suits_cpu(fsc_compilation *c, const fsc_compile_options *o) {
    const Op *found = NULL;
    func_walk(c->func, note_gpu_op, &found);
    if (!found && c->func->stage == STAGE_TILE) return true;
    diag(c->diag, (Span){0, 0}, E_IR_CPU, o->file, found ? op_info[found->kind].name : "stage simt");
    return false;
}

static fsc_status compile(fsc_compilation *c, const fsc_compile_options *o, const char *text, size_t length,
                          bool want_host) {
    fsc_status s = check_options(c, o);
    if (s != FSC_OK) return s;

    double start = now();
    const Source *source = diag_add_source(c->diag, o->file, text, length);
    if (ends_with(o->file, ".ir")) {
        c->func = func_read(c->arena, c->strings, c->diag, source);
    } else {
        c->module = syntax_parse(c->arena, c->strings, c->diag, source,
                                 ends_with(o->file, ".py") ? SYNTAX_PYTHON : SYNTAX_DSL);
        add_time(&c->times, "parse", now() - start);
        if (o->emit == FSC_EMIT_AST) {
            if (diag_errors(c->diag) || ((!want_host || !c->module->items.len) && !syntax_report(c->module, c->diag)))
                return FSC_ERROR_SOURCE;
            if (!want_host) ast_print(c->module, &c->output);
            return FSC_OK;
        }
        start = now();
        Kernel *k = check_source(c, o);
        c->func = k ? k->func : NULL;
        c->record = k ? k->record : NULL;
        add_time(&c->times, "check", now() - start);
    }
    if (diag_errors(c->diag) || !c->func) return blame(c);

    start = now();
    lint_function(c->func, c->record, c->diag);
    add_time(&c->times, "lint", now() - start);
    bool to_simt = has_threads(c) && o->emit != FSC_EMIT_TILE && c->func->stage == STAGE_TILE;
    if (!run_passes(c, o, to_simt)) return blame(c);
    if (o->remarks && to_simt && c->func->stage == STAGE_SIMT) remark_function(c->func, c->target, c->diag);
    c->target = target_least(c->target, func_features(c->func)); /* without a card's own instructions it is portable */
    if (o->print_layouts) func_walk(c->func, print_layout, c);
    if (o->emit == FSC_EMIT_TILE || o->emit == FSC_EMIT_SIMT) {
        func_print(c->func, &c->output);
        return FSC_OK;
    }
    driver_finish_record(c, o, has_threads(c));
    if (o->emit == FSC_EMIT_REPORT) {
        if (c->record_text.len) text_write(&c->output, c->record_text.at, c->record_text.len);
        return FSC_OK;
    }
    return has_threads(c) || suits_cpu(c, o) ? generate(c, o, want_host) : blame(c);
}

/* ---- Entry ------------------------------------------------------------------------------------------------------- */

static void print_diagnostics(fsc_compilation *c, const fsc_compile_options *o) {
    switch (o->diagnostics) {
    case FSC_DIAGNOSTICS_TEXT: diag_print(c->diag, &c->diagnostics, o->color); break;
    case FSC_DIAGNOSTICS_JSON: diag_print_json(c->diag, &c->diagnostics); break;
    case FSC_DIAGNOSTICS_SARIF: diag_print_sarif(c->diag, &c->diagnostics); break;
    }
}

/* Beside the first, which the caller gave. */
static void list_files(fsc_compilation *c) {
    const Source *s;
    for (uint32_t i = 1; (s = diag_source(c->diag, i)); i++) {
        if (!s->is_library) text_printf(&c->files, "%s\n", s->name);
    }
}

typedef struct Landing {
    jmp_buf place;
    char message[512];
} Landing;

static void land(void *context, const char *message) {
    Landing *l = context;
    snprintf(l->message, sizeof l->message, "%s", message);
    longjmp(l->place, 1);
}

fsc_status driver_compile(const fsc_compile_options *o, const char *source, size_t length, bool want_host,
                          fsc_compilation **out) {
    HOLD_FORKS;
    OWN_FLOATS;
    if (!out) return status_fail(NULL, FSC_ERROR_USAGE, "fsc_compile: no place for the result");
    *out = NULL;
    fsc_status s = options_check("fsc_compile", o);
    if (s != FSC_OK) return s;
    if (!source && length)
        return status_fail(NULL, FSC_ERROR_USAGE, "fsc_compile: the source is NULL, and %zu bytes long", length);
    fsc_compilation *c = calloc(1, sizeof *c);
    *out = c;
    if (!c) return status_memory(NULL);
    c->arena = arena_create();
    c->strings = strings_create(c->arena);
    c->diag = diag_create(c->arena, o->error_limit);

    Landing landing;
    if (setjmp(landing.place) == 0) {
        bug_set_handler(land, &landing);
        s = compile(c, o, source, length, want_host);
        list_files(c);
        if (s == FSC_OK && diag_errors(c->diag)) s = FSC_ERROR_SOURCE;
        print_diagnostics(c, o);
    } else {
        s = FSC_ERROR_INTERNAL;
        text_printf(&c->diagnostics, "fsc: internal error: %s\nThis is a bug in fsc, not in %s.\n", landing.message,
                    o->file);
    }
    bug_set_handler(NULL, NULL);
    return s;
}

fsc_status driver_interface(const fsc_compile_options *o, const char *source, size_t length, fsc_compilation **out,
                            Record **interface) {
    HOLD_FORKS;
    OWN_FLOATS;
    fsc_compile_options front = *o;
    front.emit = FSC_EMIT_AST;
    *interface = NULL;
    fsc_status s = driver_compile(&front, source, length, true, out);
    if (s != FSC_OK) return s;
    fsc_compilation *c = *out;
    if (!c->module) {
        diag(c->diag, (Span){0, 0}, E_IR_INTERFACE, o->file);
        c->diagnostics.len = 0;
        print_diagnostics(c, o);
        return FSC_ERROR_SOURCE;
    }
    Landing landing;
    if (setjmp(landing.place) == 0) {
        bug_set_handler(land, &landing);
        CheckOptions k = check_options_of(c, o);
        if (find_tuned(c, &k, o)) *interface = check_interface(c->arena, c->strings, c->diag, c->module, &k);
        s = *interface && !diag_errors(c->diag) ? FSC_OK : blame(c);
        c->diagnostics.len = 0;
        print_diagnostics(c, o);
    } else {
        s = FSC_ERROR_INTERNAL;
        text_printf(&c->diagnostics, "fsc: internal error: %s\n", landing.message);
    }
    bug_set_handler(NULL, NULL);
    return s;
}

fsc_status fsc_compile(const fsc_compile_options *o, const char *source, size_t length, fsc_compilation **out) {
    return driver_compile(o, source, length, false, out);
}
