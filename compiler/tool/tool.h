/* tool.h - the command line tool: options, and one function a command. Only this folder prints.
 *
 * Exit codes: 0 done, 1 the input is wrong, 2 the call is wrong, 3 the environment lacks something, 70 a bug of fsc.
 */
#ifndef FSC_TOOL_H
#define FSC_TOOL_H

#include "base/base.h"
#include "fsc.h"

typedef enum ExitCode { EXIT_DONE = 0, EXIT_INPUT = 1, EXIT_CALL = 2, EXIT_ENVIRONMENT = 3, EXIT_BUG = 70 } ExitCode;

/* Which command an option belongs to: the flags of options.def. */
typedef enum Command { COMMAND_COMPILE = 1, COMMAND_RUN = 2, COMMAND_INFO = 4, COMMAND_DEVICES = 8, COMMAND_BENCH = 16,
               COMMAND_CACHE = 32, COMMAND_PROFILE = 64, COMMAND_VIZ = 128,
               COMMAND_FMT = 256, COMMAND_LSP = 512, COMMAND_TEST = 1024, COMMAND_TUNE = 2048,
               COMMAND_EXPLORE = 4096 } Command;

/* Kernels with all that a program needs to launch them, in one file: of no single compile. */
typedef enum Package { PACKAGE_NONE, PACKAGE_OBJECT, PACKAGE_C } Package;

typedef struct ToolOptions {
    Arena *arena;
    Command command;
    fsc_compile_options compile;
    VEC(fsc_name_value) defines, types, expects; /* expects: of run, NAME and what it should be */
    VEC(const char *) prints; /* of run: names */
    double rtol, atol;
    bool has_rtol, has_atol;
    int argc; /* what was parsed last */
    char **argv;
    const char *folder; /* where the paths of words begin; NULL: the current one */
    VEC(const char *) words; /* what is no option: FILE, then NAME=VALUE… of run */
    VEC(const char *) axes;  /* of bench */
    const char *dtype_list, *warps_list, *svg; /* of bench and tune; NULL: not given */
    const char *stages_list, *key_list;        /* of tune */
    VEC(const char *) runs, programs; /* of viz: words of each run; X[,Y[,Z]] of each program that is recorded */
    uint32_t port, live;     /* of explore: 0: any that is free; the number of its page, 0: a file */
    uint32_t limit;          /* of viz: values a program; 0: not given */
    const char *output;      /* NULL: named after the file */
    Package package;         /* --emit=object, c */
    const char *header;      /* NULL: none */
    VEC(const char *) variants; /* NAME=LO..HI, NAME=A,B */
    const char *depend_file; /* NULL: beside the output */
    VEC(const char *) imported; /* files that compiles read beside the source */
    bool depend;             /* -MD */
    const char *explain;     /* a code of a diagnostic */
    const char *completion;  /* for this shell */
    const char *man;         /* of this command, or fsc */
    const char *device, *grid, *gpu;
    const char *measured, *against, *page; /* of profile: a GPU; an earlier one's JSON (of bench: CSV); FILE of --html.
                                             * NULL: none */
    uint32_t warmup, repeat;
    bool has_warmup, has_repeat; /* were given */
    uint32_t registers, shared; /* --registers, --shared of info */
    bool has_registers, has_shared;
    bool has_arch; /* --arch was given */
    bool check, coverage, fix, readable, again;
    bool csv, roof; /* of bench */
    bool json, time_report, help, version, list_builtins, list_passes, list_kernels;
} ToolOptions;

extern const char *tool_name; /* "fsc run": what messages begin with, once options_parse has begun */

/* False after printing what is wrong with the call to stderr. */
bool options_parse(ToolOptions *o, int argc, char **argv);
bool options_add(ToolOptions *o, int argc, char **argv); /* further ones, over those that it has */
void options_help(Command command);
const char *command_examples(Command command); /* calls to copy, a line each; "": none */
/* "fp16", however -T or -D spell the type of that name; NULL: they do not say it. */
const char *option_dtype(const ToolOptions *o, const char *name);

/* A row of options.def. */
typedef struct ToolOption {
    int kind;
    char letter; /* 0: none */
    const char *name, *argument; /* argument NULL: a switch */
    int commands;
    const char *help;
} ToolOption;

typedef struct CommandHead {
    Command command;
    const char *usage, *what;
} CommandHead;

const ToolOption *option_rows(size_t *n);
const CommandHead *command_heads(size_t *n);
const char *option_spelling(Arena *a, const ToolOption *row); /* "--emit=WHAT" */
const char *command_word(Arena *a, const CommandHead *h);     /* "run"; "" of compile */
const char *emit_names(Arena *a, const char *between, const char *last); /* what --emit takes */
/* The command that was meant by a misspelt word, or NULL. */
const char *command_suggest(const char *word);

/* The path of a word, as the process finds it. */
const char *tool_path(const ToolOptions *o, const char *path);
/* The whole file, or standard input for "-". NULL after printing why not. A NUL follows the text. */
char *file_read(const char *path, size_t *length);
/* This open file is read: no output may take its place. */
void file_input(const char *path, int file);
/* Says early that a file will be written: an input, another output and what cannot be written are refused with a
 * sentence. is_update: the file was read for what is written back. */
ExitCode file_claim(const char *path, bool is_update);
/* Whole or not at all; "-" is standard output. Prints why not. */
ExitCode file_write(const char *path, const char *data, size_t length);
/* The exit code of the process: another one, and a sentence, if standard output has lost anything. */
ExitCode file_finish(ExitCode code);
/* arch "native" → the driver's first device; false after saying that there is none. */
bool arch_resolve(ToolOptions *o);
/* What a compile read beside its source, one file a line: inputs, too. -MD: the rule for the outputs,
 * NULL among them left out. Prints why not. */
void depend_note(ToolOptions *o, const char *files);
const char *depend_name(const ToolOptions *o, const char *output); /* of the rule's file */
ExitCode depend_write(const ToolOptions *o, const char *source, const char *output, const char *also);
/* Prints the diagnostics (and dumps, and times if asked) of a compile; returns the exit code of its status. */
ExitCode compile_finish(ToolOptions *o, const fsc_compilation *c, fsc_status s);

/* info: what a launch with the scalars in o->compile.known implies for the other options. */
void assume_launch(ToolOptions *o, const char *text, size_t length);

/* Prints a completion script, a manual page; EXIT_CALL after saying that there is none. */
ExitCode completion_print(Arena *a, const char *shell);
ExitCode man_print(Arena *a, const char *command);
/* Prints the page of a code; EXIT_CALL after saying that there is none. */
ExitCode explain(const char *code);

/* PTX to read: with the source's lines as comments, without what only the driver reads. */
void ptx_readable(const char *ptx, const char *file, const char *source, bool has_debug, Text *out);

ExitCode command_compile(ToolOptions *o);
/* compile, with o->package */
ExitCode command_package(ToolOptions *o, const char *file, const char *text, size_t length);
ExitCode command_run(ToolOptions *o);
ExitCode command_info(ToolOptions *o);
ExitCode command_devices(ToolOptions *o);
ExitCode command_bench(ToolOptions *o);
ExitCode command_cache(ToolOptions *o);
ExitCode command_profile(ToolOptions *o);
ExitCode command_viz(ToolOptions *o);
ExitCode command_explore(ToolOptions *o);
ExitCode command_tune(ToolOptions *o);
ExitCode command_fmt(ToolOptions *o);
ExitCode command_lsp(ToolOptions *o);
ExitCode command_test(ToolOptions *o);
/* fmt: the text of a .dsl file anew. False: it has errors; they, or warnings, are in `errors`. */
bool format_text(const char *file, const char *text, size_t length, Text *out, Text *errors, bool color);

#endif
