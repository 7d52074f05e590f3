/* options.c - reads the command line into ToolOptions, and prints --help; both from options.def.
 *
 * In: argv after the command word. Out: ToolOptions, or a sentence on stderr that says what is wrong and what to do.
 */
#include "tool/tool.h"

#include "check/check.h"
#include "runtime/base/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { C = COMMAND_COMPILE, R = COMMAND_RUN, I = COMMAND_INFO, D = COMMAND_DEVICES, B = COMMAND_BENCH,
       K = COMMAND_CACHE, P = COMMAND_PROFILE, V = COMMAND_VIZ, F = COMMAND_FMT, L = COMMAND_LSP, T = COMMAND_TEST,
       U = COMMAND_TUNE, E = COMMAND_EXPLORE };

typedef enum OptionKind {
#define OPTION(e, ...) OPTION_##e,
#include "tool/options.def"
#undef OPTION
} OptionKind;

typedef ToolOption OptionRow;

static const OptionRow rows[] = {
#define OPTION(e, letter, name, argument, commands, help) {OPTION_##e, letter, name, argument, commands, help},
#include "tool/options.def"
#undef OPTION
};

static const char *command_name(Command c) {
    switch (c) {
    case COMMAND_COMPILE: return "fsc";
    case COMMAND_RUN: return "fsc run";
    case COMMAND_INFO: return "fsc info";
    case COMMAND_DEVICES: return "fsc devices";
    case COMMAND_BENCH: return "fsc bench";
    case COMMAND_TUNE: return "fsc tune";
    case COMMAND_CACHE: return "fsc cache";
    case COMMAND_PROFILE: return "fsc profile";
    case COMMAND_VIZ: return "fsc viz";
    case COMMAND_EXPLORE: return "fsc explore";
    case COMMAND_FMT: return "fsc fmt";
    case COMMAND_LSP: return "fsc lsp";
    case COMMAND_TEST: return "fsc test";
    }
    return "fsc";
}

const char *tool_name = "fsc";

static bool complain(const ToolOptions *o, const char *fmt, ...) PRINTF_LIKE(2, 3);
static bool complain(const ToolOptions *o, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "%s: ", command_name(o->command));
    vfprintf(stderr, fmt, args);
    fprintf(stderr, "\n");
    va_end(args);
    return false;
}

const char *command_suggest(const char *word) {
    static const char *const names[] = {"run", "info", "devices", "bench", "tune", "cache", "profile", "viz", "explore",
                                        "fmt", "lsp",  "test"};
    return nearest_name(word, names, COUNT(names));
}

static bool unknown_option(const ToolOptions *o, const char *name) {
    const char *names[COUNT(rows)];
    uint32_t n = 0;
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].commands & (int)o->command) names[n++] = rows[i].name;
    const char *meant = nearest_name(name, names, n);
    if (meant) return complain(o, "unknown option '--%s'; did you mean '--%s'?", name, meant);
    return complain(o, "unknown option '--%s'; '%s --help' lists them", name, command_name(o->command));
}

static bool read_count(const ToolOptions *o, const OptionRow *row, const char *text, uint32_t max, uint32_t *out) {
    char *end = NULL;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || n > max)
        return complain(o, "--%s takes a whole number from 0 to %u, not '%s'", row->name, max, text);
    *out = (uint32_t)n;
    return true;
}

static bool read_pair(const ToolOptions *o, const OptionRow *row, const char *text, fsc_name_value *out) {
    const char *eq = strchr(text, '=');
    if (!eq || eq == text || !eq[1]) return complain(o, "--%s takes %s, not '%s'", row->name, row->argument, text);
    out->name = arena_strndup(o->arena, text, (size_t)(eq - text));
    out->value = eq + 1;
    return true;
}

static const struct {
    const char *name;
    fsc_emit emit;
    Package package;
} emits[] = {{"ast", FSC_EMIT_AST, 0},       {"tile", FSC_EMIT_TILE, 0},
             {"simt", FSC_EMIT_SIMT, 0},     {"threads", FSC_EMIT_THREADS, 0},
             {"llvm", FSC_EMIT_LLVM, 0},     {"ptx", FSC_EMIT_PTX, 0},
             {"cubin", FSC_EMIT_CUBIN, 0},   {"asm", FSC_EMIT_ASM, 0},
             {"report", FSC_EMIT_REPORT, 0}, {"object", FSC_EMIT_PTX, PACKAGE_OBJECT},
             {"c", FSC_EMIT_PTX, PACKAGE_C}};

const char *emit_names(Arena *a, const char *between, const char *last) {
    const char *names = "";
    for (size_t i = 0; i < COUNT(emits); i++)
        names = arena_printf(a, "%s%s%s", names, i == 0 ? "" : i + 1 == COUNT(emits) ? last : between, emits[i].name);
    return names;
}

static bool read_emit(ToolOptions *o, const char *text) {
    for (size_t i = 0; i < COUNT(emits); i++) {
        if (strcmp(emits[i].name, text) != 0) continue;
        o->compile.emit = emits[i].emit;
        o->package = emits[i].package;
        return true;
    }
    return complain(o, "--emit takes %s, not '%s'", emit_names(o->arena, ", ", " or "), text);
}

static bool read_color(ToolOptions *o, const char *text) {
    if (strcmp(text, "always") == 0) {
        o->compile.color = true;
    } else if (strcmp(text, "never") == 0) {
        o->compile.color = false;
    } else if (strcmp(text, "auto") != 0) {
        return complain(o, "--color takes auto, always or never, not '%s'", text);
    }
    return true;
}

static bool read_format(ToolOptions *o, const char *text) {
    static const char *const names[] = {"text", "json", "sarif"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(names[i], text) != 0) continue;
        o->compile.diagnostics = (fsc_diagnostics_format)i;
        return true;
    }
    return complain(o, "--diagnostics-format takes text, json or sarif, not '%s'", text);
}

/* --print: names, one after the other. */
static bool read_names(ToolOptions *o, const char *text) {
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, ",");
        if (n == 0) return complain(o, "--print takes names of buffers, not '%s'", text);
        vec_push(o->arena, &o->prints, arena_strndup(o->arena, at, n));
        at += n + (at[n] == ',');
    }
    return *text || complain(o, "--print takes names of buffers: --print=y");
}

static bool read_expect(ToolOptions *o, const char *text) {
    const char *colon = strchr(text, ':'), *what = colon ? colon + 1 + strspn(colon + 1, " ") : "";
    if (!colon || colon == text || !*what)
        return complain(o, "--expect takes NAME:WHAT, such as y:ref.npy or 'y:exp(x)', not '%s'", text);
    fsc_name_value e = {arena_strndup(o->arena, text, (size_t)(colon - text)), what};
    vec_push(o->arena, &o->expects, e);
    return true;
}

static bool read_tolerance(const ToolOptions *o, const OptionRow *row, const char *text, double *out) {
    if (number_read(text, strlen(text), out) && *out >= 0) return true;
    return complain(o, "--%s takes a number such as 1e-5, not '%s'", row->name, text);
}

static bool apply(ToolOptions *o, const OptionRow *row, const char *text) {
    fsc_compile_options *c = &o->compile;
    fsc_name_value pair;
    uint32_t n = 0;
    switch ((OptionKind)row->kind) {
    case OPTION_OUTPUT: o->output = text; return true;
    case OPTION_EMIT: return read_emit(o, text);
    case OPTION_ARCH:
        c->arch = text;
        o->has_arch = true;
        return true;
    case OPTION_CPU: c->cpu = text; return true;
    case OPTION_HEADER: o->header = text; return true;
    case OPTION_VARIANTS:
    case OPTION_TRIED: vec_push(o->arena, &o->variants, text); return true;
    case OPTION_DEPEND: o->depend = true; return true;
    case OPTION_DEPEND_FILE: o->depend_file = text; return true;
    case OPTION_CHECK:
    case OPTION_CHECK_STYLE: o->check = true; return true;
    case OPTION_COVERAGE: o->coverage = true; return true;
    case OPTION_DEFINE:
        if (!read_pair(o, row, text, &pair)) return false;
        vec_push(o->arena, &o->defines, pair);
        return true;
    case OPTION_TYPE:
        if (!read_pair(o, row, text, &pair)) return false;
        vec_push(o->arena, &o->types, pair);
        return true;
    case OPTION_SIGNATURE: c->signature = text; return true;
    case OPTION_KERNEL: c->kernel = text; return true;
    case OPTION_INCLUDE:
        c->include = c->include ? arena_printf(o->arena, "%s:%s", c->include, text) : text;
        return true;
    case OPTION_NUM_WARPS:
        if (!read_count(o, row, text, 32, &c->num_warps)) return false;
        if (c->num_warps == 0 || (c->num_warps & (c->num_warps - 1)))
            return complain(o, "--num-warps takes 1, 2, 4, 8, 16 or 32, not '%s'", text);
        return true;
    case OPTION_WARPS_LIST:
    case OPTION_WARPS_TRIED: o->warps_list = text; return true;
    case OPTION_STAGES_TRIED: o->stages_list = text; return true;
    case OPTION_KEY: o->key_list = text; return true;
    case OPTION_AGAIN: o->again = true; return true;
    case OPTION_TUNED: c->tuned = text; return true;
    case OPTION_TABLE: o->output = text; return true;
    case OPTION_AXIS: vec_push(o->arena, &o->axes, text); return true;
    case OPTION_DTYPE: o->dtype_list = text; return true;
    case OPTION_SVG: o->svg = text; return true;
    case OPTION_CONFIG:
        if (!read_count(o, row, text, 1000000, &c->config)) return false;
        return c->config || complain(o, "--config counts from 1");
    case OPTION_NUM_STAGES: return read_count(o, row, text, 16, &c->num_stages);
    case OPTION_NUM_CTAS:
        c->split = strncmp(text, "grid:", 5) == 0;
        return read_count(o, row, c->split ? text + 5 : text, c->split ? MOST_GRID : 16, &c->num_ctas);
    case OPTION_OPT:
        if (!read_count(o, row, text, 3, &n)) return false;
        c->opt_level = (int)n;
        return true;
    case OPTION_DEBUG: c->debug = true; return true;
    case OPTION_DEVICE_DEBUG: c->device_debug = true; return true;
    case OPTION_FAST_MATH: c->fast_math = true; return true;
    case OPTION_OVERLAP: c->overlap = true; return true;
    case OPTION_PRINT_AFTER: c->print_after = text; return true;
    case OPTION_PRINT_CHANGED: c->print_after = "changed"; return true;
    case OPTION_LIST_KERNELS: o->list_kernels = true; return true;
    case OPTION_LIST_PASSES: o->list_passes = true; return true;
    case OPTION_CSV: o->csv = true; return true;
    case OPTION_ROOF: o->roof = true; return true;
    case OPTION_PASSES: c->passes = text; return true;
    case OPTION_VERIFY_EACH: c->verify_each = true; return true;
    case OPTION_LAYOUT: c->print_layouts = true; return true;
    case OPTION_TIME_REPORT: o->time_report = c->no_cache = true; return true;
    case OPTION_NO_CACHE: c->no_cache = true; return true;
    case OPTION_COLOR: return read_color(o, text);
    case OPTION_DIAGNOSTICS: return read_format(o, text);
    case OPTION_READABLE: o->readable = true; return true;
    case OPTION_FIX: o->fix = true; return true;
    case OPTION_REMARKS:
        c->remarks = true;
        return strcmp(text, "perf") == 0 || complain(o, "--remarks takes perf, not '%s'", text);
    case OPTION_ERROR_LIMIT: return read_count(o, row, text, 1000000, &c->error_limit);
    case OPTION_PRINT: return read_names(o, text);
    case OPTION_EXPECT: return read_expect(o, text);
    case OPTION_RTOL: o->has_rtol = true; return read_tolerance(o, row, text, &o->rtol);
    case OPTION_ATOL: o->has_atol = true; return read_tolerance(o, row, text, &o->atol);
    case OPTION_DEVICES:
    case OPTION_DEVICE:
    case OPTION_EMULATOR: o->device = text; return true;
    case OPTION_GRID: o->grid = text; return true;
    case OPTION_WARMUP: o->has_warmup = true; return read_count(o, row, text, 1000000, &o->warmup);
    case OPTION_REPEAT:
    case OPTION_ROUNDS: o->has_repeat = true; return read_count(o, row, text, 1000000, &o->repeat);
    case OPTION_JSON: o->json = true; return true;
    case OPTION_EARLIER:
    case OPTION_AGAINST: o->against = text; return true;
    case OPTION_HTML: o->page = text; return true;
    case OPTION_GPU: o->gpu = text; return true;
    case OPTION_REGISTERS: o->has_registers = true; return read_count(o, row, text, 255, &o->registers);
    case OPTION_RUN: vec_push(o->arena, &o->runs, text); return true;
    case OPTION_PROGRAM: vec_push(o->arena, &o->programs, text); return true;
    case OPTION_LIMIT: return read_count(o, row, text, 100000000, &o->limit);
    case OPTION_TARGET:
        c->arch = text;
        o->has_arch = true;
        return true;
    case OPTION_PAGE: o->output = text; return true;
    case OPTION_PORT: return read_count(o, row, text, 65535, &o->port);
    case OPTION_SHARED: o->has_shared = true; return read_count(o, row, text, 1 << 20, &o->shared);
    case OPTION_LIST_BUILTINS: o->list_builtins = true; return true;
    case OPTION_EXPLAIN: o->explain = text; return true;
    case OPTION_COMPLETION: o->completion = text; return true;
    case OPTION_MAN: o->man = text; return true;
    case OPTION_HELP: o->help = true; return true;
    case OPTION_VERSION: o->version = true; return true;
    }
    return false;
}

/* -MD and -MF, which compilers have: long names behind one dash. */
static bool is_short_word(const char *name) {
    return name[0] == 'M';
}

/* One option at argv[*i]; moves *i to its last word. */
static bool read_option(ToolOptions *o, int argc, char **argv, int *i) {
    const char *word = argv[*i], *text = NULL;
    const OptionRow *row = NULL;
    char name[64];
    if (word[1] == '-' || is_short_word(word + 1)) {
        const char *begin = word + 1 + (word[1] == '-');
        size_t n = strcspn(begin, "=");
        snprintf(name, sizeof name, "%.*s", (int)(n < 63 ? n : 63), begin);
        for (size_t k = 0; k < COUNT(rows); k++) {
            bool fits = strcmp(rows[k].name, name) == 0 && (!row || (rows[k].commands & (int)o->command));
            if (fits) row = &rows[k];
        }
        if (begin[n] == '=') text = begin + n + 1;
    } else {
        snprintf(name, sizeof name, "%c", word[1]);
        for (size_t k = 0; k < COUNT(rows); k++) {
            if (rows[k].letter == word[1] && (!row || (rows[k].commands & (int)o->command))) row = &rows[k];
        }
        if (word[2]) text = word + 2;
        if (!row) return complain(o, "unknown option '%s'; '%s --help' lists them", word, command_name(o->command));
    }
    if (!row) return unknown_option(o, name);
    if (!(row->commands & (int)o->command))
        return complain(o, "option '--%s' does not belong to this command; '%s --help' lists those that do", row->name,
                        command_name(o->command));
    if (!row->argument && text) return complain(o, "option '--%s' takes no value", row->name);
    if (row->argument && !text) {
        if (*i + 1 >= argc)
            return complain(o, "option '--%s' needs a value: --%s=%s", row->name, row->name, row->argument);
        text = argv[++*i];
    }
    return apply(o, row, text);
}

bool options_parse(ToolOptions *o, int argc, char **argv) {
    fsc_compile_options_init(&o->compile);
    o->compile.color = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
    o->device = "auto";
    o->warmup = 3;
    o->repeat = 20;
    return options_add(o, argc, argv);
}

bool options_add(ToolOptions *o, int argc, char **argv) {
    bool only_words = false;
    o->argc = argc;
    o->argv = argv;
    tool_name = command_name(o->command);
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        if (only_words || word[0] != '-' || word[1] == '\0') {
            vec_push(o->arena, &o->words, word);
        } else if (strcmp(word, "--") == 0) {
            only_words = true;
        } else if (!read_option(o, argc, argv, &i)) {
            return false;
        }
    }
    o->compile.defines = o->defines.at;
    o->compile.num_defines = o->defines.len;
    o->compile.types = o->types.at;
    o->compile.num_types = o->types.len;
    return true;
}

const char *option_dtype(const ToolOptions *o, const char *name) {
    for (uint32_t i = 0; i < o->types.len; i++)
        if (strcmp(o->types.at[i].name, name) == 0) return dtype_canonical(o->types.at[i].value);
    for (uint32_t i = 0; i < o->defines.len; i++)
        if (strcmp(o->defines.at[i].name, name) == 0) return dtype_canonical(o->defines.at[i].value);
    return NULL;
}

static const CommandHead heads[] = {
    {COMMAND_COMPILE, "fsc [options] FILE",
     "Compiles a kernel to PTX: softmax.dsl becomes softmax.ptx. FILE is a .dsl file, a Triton .py file,\n"
     "tile IR (.ir), or - for standard input.\n\nCommands: fsc run, fsc test, fsc bench, fsc tune, fsc profile, "
     "fsc viz, fsc explore, fsc info, fsc devices, fsc cache, fsc fmt, fsc lsp; each has its own --help."},
    {COMMAND_RUN, "fsc run [options] FILE NAME=VALUE…",
     "Compiles and launches a kernel, and prints time and GB/s.\n"
     "A buffer is random:SEED:fp32[1823,781], zeros:fp32[…], steps:STEP:i32[…] (0, STEP, 2 STEP, and so on),\n"
     "in.npy to be read, or out.npy:fp32[…] to be written (out.npy alone where the kernel's shape contract tells\n"
     "the shape). A scalar is a number; what the contract tells may be left out."},
    {COMMAND_TEST, "fsc test [options] FILE…",
     "Runs the cases that are written in a kernel's comments on every device that is here, a line for each.\n"
     "A case is '# test NAME: WORDS', words and options as fsc run takes them; below it stand its expectations,\n"
     "'# expect BUFFER: WHAT', as of fsc run --expect. A line that ends in \\ goes on in the next.\n"
     "Buffers that a case leaves out are made from the kernel's shape contracts."},
    {COMMAND_BENCH, "fsc bench [options] FILE --axis NAME=LO..HI:STEP NAME=VALUE…",
     "Time and GB/s of a kernel over sizes, types and warps: the median of launches, each with a cold L2 cache.\n"
     "Words are those of fsc run; an axis's name in them stands for its number, as in x=random:0:fp32[4096,N].\n"
     "Buffers that are left out are made from the kernel's shape contracts."},
    {COMMAND_TUNE, "fsc tune [options] FILE [--axis NAME=LO..HI:STEP] [NAME=VALUE…]",
     "Times the configurations of a kernel for each point of the axes, and writes which is fastest to FILE's "
     "NAME.tune.\n"
     "Every launch reads that file. Configurations are those of @autotune, of --variants, --num-warps, --num-stages.\n"
     "Words are those of fsc bench. What was interrupted goes on where it was; a point that is measured is kept."},
    {COMMAND_PROFILE, "fsc profile [options] FILE NAME=VALUE…",
     "What each line of a kernel does, counted on emulated GPU threads: bytes and sectors of global memory, shared "
     "memory\n"
     "and its bank conflicts, shuffles, barriers, special functions, instructions. Nothing is timed, and no GPU is "
     "needed.\n"
     "Words are those of fsc run. With --gpu also the waves on that card, and a prediction of its time."},
    {COMMAND_VIZ, "fsc viz [options] FILE NAME=VALUE… -o page.html",
     "One page that plays a kernel: source, tile IR and PTX side by side, the numbers in its tiles and who holds them, "
     "reductions\n"
     "step by step, the grid of programs. It is recorded on emulated GPU threads and needs no other file, no network "
     "and no GPU.\n"
     "Words are those of fsc run; each --run is one more recording, with what differs. Without words they are those\n"
     "of the first case in the file's comments (fsc test)."},
    {COMMAND_EXPLORE, "fsc explore [options] FILE [NAME=VALUE…]",
     "The page of fsc viz in a browser, made anew whenever FILE or what it imports changes; errors are\n"
     "shown there, too.\n"
     "It prints an address, which only this machine and those who know it can open; Ctrl-C ends it.\n"
     "Words are those of fsc viz."},
    {COMMAND_INFO, "fsc info [options] FILE [NAME=VALUE…]",
     "Reports what a kernel needs and how it will occupy a GPU: warps, registers, spills, shared memory, vector\n"
     "widths, blocks per multiprocessor and what limits them, the persistent grid and waves."},
    {COMMAND_DEVICES, "fsc devices [--json]", "Lists the devices that fsc can run on."},
    {COMMAND_CACHE, "fsc cache [options] path|list|stat|clear",
     "The variants that fsc run, fsc bench and the library keep on disk: where, which, how many; or removes them all.\n"
     "The folder is $FSC_CACHE_DIR (off: none), $XDG_CACHE_HOME/fsc or ~/.cache/fsc, and must be its user's alone;\n"
     "$FSC_CACHE_SIZE is what it may hold (default 512M): the longest unused go first."},
    {COMMAND_FMT, "fsc fmt [options] FILE…",
     "Brings .dsl files into the house style and writes them back: four blanks a level, blanks around operators,\n"
     "lines in brackets below what stands behind the bracket. Lines end where they ended; comments stay.\n"
     "- is standard input, and its text goes to standard output."},
    {COMMAND_LSP, "fsc lsp",
     "A language server on standard input and output, for editors: errors while typing with their fixes, types,\n"
     "shapes and layouts under the cursor, vector widths at loads and stores, definitions, completion, signatures."},
};

const CommandHead *command_heads(size_t *n) {
    *n = COUNT(heads);
    return heads;
}

const char *command_word(Arena *a, const CommandHead *h) {
    const char *word = strchr(h->usage, ' ') + 1;
    return *word == '[' ? "" : arena_strndup(a, word, strcspn(word, " "));
}

const ToolOption *option_rows(size_t *n) {
    *n = COUNT(rows);
    return rows;
}

const char *option_spelling(Arena *a, const ToolOption *row) {
    bool is_short = is_short_word(row->name);
    const char *before = is_short ? "-" : "--", *between = is_short ? " " : "=";
    return arena_printf(a, "%s%s%s%s", before, row->name, row->argument ? between : "",
                        row->argument ? row->argument : "");
}

/* Where a group of rows begins: headings of --help. */
static const struct {
    OptionKind first;
    const char *title;
} groups[] = {
    {OPTION_OUTPUT, "output and target"}, {OPTION_DEFINE, "the kernel and its parameters"},
    {OPTION_NUM_WARPS, "code"},           {OPTION_PRINT_AFTER, "a look inside"},
    {OPTION_COLOR, "messages"},           {OPTION_PRINT, "results"},
    {OPTION_DEVICES, "the launch"},       {OPTION_AXIS, "what is measured"},
    {OPTION_JSON, "the report"},          {OPTION_LIST_BUILTINS, "help"},
};

static const char *group_of(const OptionRow *row) {
    const char *title = "";
    for (size_t i = 0; i < COUNT(groups); i++)
        if ((int)groups[i].first <= row->kind) title = groups[i].title;
    return title;
}

void options_help(Command command) {
    Arena *a = arena_create();
    for (size_t i = 0; i < COUNT(heads); i++) {
        if (heads[i].command == command) printf("usage: %s\n\n%s\n", heads[i].usage, heads[i].what);
    }
    const char *group = "", *lines = command_examples(command);
    if (*lines) printf("\nexamples:\n");
    for (; *lines; lines += strcspn(lines, "\n") + 1) printf("  %.*s\n", (int)strcspn(lines, "\n"), lines);
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!(rows[i].commands & (int)command)) continue;
        if (strcmp(group, group_of(&rows[i])) != 0) printf("\n%s:\n", group_of(&rows[i]));
        group = group_of(&rows[i]);
        const char *letter = rows[i].letter ? arena_printf(a, "-%c, ", rows[i].letter) : "    ";
        printf("  %-32s %s\n", arena_printf(a, "%s%s", letter, option_spelling(a, &rows[i])), rows[i].help);
    }
    arena_destroy(a);
    printf("\nExit status: 0 done, 1 the input is wrong, 2 the call is wrong, 3 the environment lacks something, 70 a "
           "bug.\n");
}
