/* driver.h - the pipeline as libfsc's own parts see it (the JIT and the tool's report): what one compile has made. */
#ifndef FSC_DRIVER_H
#define FSC_DRIVER_H

#include "check/check.h"
#include "codegen/codegen.h"
#include "fsc.h"

struct fsc_compilation {
    Arena *arena;
    Strings *strings;
    Diag *diag;
    Module *module;   /* NULL before parsing, and for .ir input */
    const Target *target; /* what code is for; NULL for an unknown one */
    Target emulated;      /* it may be this */
    Func *func;       /* NULL before checking */
    Record *record;   /* owned by the arena's life; NULL before checking and for .ir input */
    HostCode *host;   /* arch "cpu" or "emu" when driver_compile was asked for it; owned */
    Text output, diagnostics, dumps, times, record_text, files;
    bool seeks_files; /* what it made hangs on other files, or on there being none */
    uint32_t registers_low, registers_high;
    size_t scratch_bytes; /* arch "cpu", as text: of each running program */
};

/* Whether a caller's options are whole: no NULL where there must be none, no value outside its enum.
 * `call` begins the sentence. */
fsc_status options_check(const char *call, const fsc_compile_options *o);
bool pairs_are_whole(const fsc_name_value *pairs, size_t n); /* none of them NULL */

/* What is in the tuning file that these options mean, and its name; NULL: there is none. Every compile, the JIT and the
 * tool ask here. *why: the named file cannot be read; else NULL. */
const char *tuned_text(Arena *a, const fsc_compile_options *o, const char **file, const char **why);

/* fsc_compile, and with `want_host` what is wanted is in memory: the callable kernel in c->host (arch "cpu" or "emu"),
 * or the parsed file, not printed (emit AST). */
fsc_status driver_compile(const fsc_compile_options *o, const char *source, size_t length, bool want_host,
                          fsc_compilation **out);

/* Machine code of PTX that holds a record, or what the assembler says (assembly.c). */
bool assemble_best(const Target *t, Bytes ptx, int opt_level, Assembled *out);
const fsc_props *card_of_arch(const char *arch); /* the table's first of that arch; NULL: none */

/* The record's second half, and its text (outcome.c). */
void driver_finish_record(fsc_compilation *c, const fsc_compile_options *o, bool threads);

/* Parses only, and reads the kernel's interface (check_interface) into *interface, which the caller frees; *out owns
 * the parsed file and is set also on failure. */
fsc_status driver_interface(const fsc_compile_options *o, const char *source, size_t length, fsc_compilation **out,
                            Record **interface);

/* --grid: one to three expressions over the interface's parameters, separated by commas.
 * False with a sentence in err. */
bool driver_grid(Arena *a, const char *text, const Record *interface, const RuleEnv *env, int64_t grid[3], char *err,
                 size_t errsize);

#endif
