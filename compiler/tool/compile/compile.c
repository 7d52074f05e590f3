/* compile.c - `fsc FILE`: one compile, its output to a file.
 *
 * The output is named after the input, with the ending of what was asked for; text to look at (ast, tile, …) goes to
 * standard output unless -o says else.
 */
#include "driver.h"
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ExitCode exit_code(fsc_status s) {
    int code = fsc_status_exit_code(s);
    return code == 1   ? EXIT_INPUT
           : code == 2 ? EXIT_CALL
           : code == 3 ? EXIT_ENVIRONMENT
           : code == 0 ? EXIT_DONE
                       : EXIT_BUG;
}

/* README.md, data.npy: names that a kernel's source seldom has. */
static bool is_named_otherwise(const char *file) {
    const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
    return dot && strcmp(dot, ".dsl") != 0 && strcmp(dot, ".py") != 0 && strcmp(dot, ".ir") != 0;
}

ExitCode compile_finish(ToolOptions *o, const fsc_compilation *c, fsc_status s) {
    if (!c) {
        fprintf(stderr, "fsc: out of memory\n");
        return EXIT_ENVIRONMENT;
    }
    fputs(fsc_compilation_dumps(c), stderr);
    fputs(fsc_compilation_diagnostics(c), stderr);
    if (exit_code(s) == EXIT_INPUT && o->compile.diagnostics == FSC_DIAGNOSTICS_TEXT &&
        is_named_otherwise(o->compile.file))
        fprintf(stderr, "fsc: '%s' was read as a kernel's source; kernels are in .dsl, .py or .ir files\n",
                o->compile.file);
    if (o->time_report) fputs(fsc_compilation_times(c), stderr);
    depend_note(o, fsc_compilation_files(c));
    return exit_code(s);
}

bool arch_resolve(ToolOptions *o) {
    if (!o->compile.arch || strcmp(o->compile.arch, "native") != 0) return true;
    fsc_device *device = NULL;
    fsc_props props;
    fsc_status s = fsc_device_open("cuda", &device);
    if (s == FSC_OK) s = fsc_device_props(device, &props);
    if (s != FSC_OK) {
        fprintf(stderr, "fsc: --arch=native asks the driver, but %s; name an arch such as sm_90\n", fsc_last_message());
        fsc_device_close(device);
        return false;
    }
    o->compile.arch = arena_printf(o->arena, "%s", target_own(props.arch));
    fsc_device_close(device);
    return true;
}

/* softmax.dsl → softmax.ptx in the current folder's terms: beside the input. */
static const char *output_name(const ToolOptions *o, const char *file) {
    static const char *const endings[] = {[FSC_EMIT_PTX] = ".ptx", [FSC_EMIT_CUBIN] = ".cubin"};
    if (o->output) return o->output;
    fsc_emit e = o->compile.emit;
    if (strcmp(file, "-") == 0 || (e != FSC_EMIT_PTX && e != FSC_EMIT_CUBIN)) return "-";
    const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
    size_t stem = dot && (!slash || dot > slash + 1) ? (size_t)(dot - file) : strlen(file);
    return arena_printf(o->arena, "%.*s%s", (int)stem, file, endings[e]);
}

static bool refuse(const char *sentence) {
    fprintf(stderr, "fsc: %s\n", sentence);
    return false;
}

/* Options that make sense together only. */
static bool check_together(const ToolOptions *o, const char *file) {
    if (o->package && !o->output)
        return refuse(o->package == PACKAGE_C ? "--emit=c needs -o FILE.c" : "--emit=object needs -o FILE.o");
    if (o->readable && (o->package || o->compile.emit != FSC_EMIT_PTX)) return refuse("--readable is for PTX");
    if (!o->package && o->header) return refuse("--header belongs to --emit=object or --emit=c");
    if (!o->package && o->variants.len) return refuse("--variants belongs to --emit=object or --emit=c");
    if (!o->package && strchr(o->compile.arch, ','))
        return refuse("several architectures in --arch are for --emit=object or --emit=c");
    if (o->fix && strcmp(file, "-") == 0) return refuse("--fix writes FILE back, which standard input is not");
    if (o->depend_file && !o->depend) return refuse("-MF says where -MD writes: give -MD, too");
    if (o->depend && !o->depend_file && strcmp(output_name(o, file), "-") == 0)
        return refuse("-MD needs -MF FILE where the output has no name");
    return true;
}

/* All that will be written, before anything is. */
static ExitCode claim_outputs(const ToolOptions *o, const char *file) {
    const char *name = output_name(o, file);
    ExitCode code = file_claim(name, false);
    if (code == EXIT_DONE && o->header) code = file_claim(o->header, false);
    if (code == EXIT_DONE && o->depend) code = file_claim(depend_name(o, name), false);
    return code;
}

/* --fix: compiles and mends until there is nothing more to mend; then the file is written back. */
static ExitCode fix_source(ToolOptions *o, const char *file, char **text, size_t *length) {
    enum { ROUNDS = 20 };
    uint32_t made = 0;
    for (int i = 0; i < ROUNDS; i++) {
        fsc_compilation *c = NULL;
        Text fixed = {0};
        (void)fsc_compile(&o->compile, *text, *length, &c);
        const Source *s = c ? diag_source(c->diag, 0) : NULL;
        uint32_t more = s ? diag_fixed(c->diag, s, &fixed) : 0;
        fsc_compilation_destroy(c);
        if (!more) {
            text_free(&fixed);
            break;
        }
        made += more;
        free(*text);
        *text = fixed.at;
        *length = fixed.len;
    }
    fprintf(stderr, "fsc: %s: %u fix%s made\n", file, made, made == 1 ? "" : "es");
    return made ? file_write(file, *text, *length) : EXIT_DONE;
}

static ExitCode compile_one(ToolOptions *o, const char *file, const char *text, size_t length) {
    fsc_compilation *c = NULL;
    fsc_status s = fsc_compile(&o->compile, text, length, &c);
    ExitCode code = compile_finish(o, c, s);
    if (code == EXIT_DONE) {
        size_t n = 0;
        const char *out = fsc_compilation_output(c, &n), *name = output_name(o, file);
        Text readable = {0};
        if (o->readable) {
            ptx_readable(out, o->compile.file, text, o->compile.debug, &readable);
            out = readable.at, n = readable.len;
        }
        code = file_write(name, out, n);
        if (code == EXIT_DONE) code = depend_write(o, file, name, NULL);
        text_free(&readable);
    }
    fsc_compilation_destroy(c);
    return code;
}

/* --list-kernels */
static ExitCode list_kernels(ToolOptions *o, const char *text, size_t length) {
    fsc_compilation *c = NULL;
    fsc_status s = fsc_source_kernels(o->compile.file, text, length, &c);
    ExitCode code = compile_finish(o, c, s);
    size_t n = 0;
    if (code == EXIT_DONE) fputs(fsc_compilation_output(c, &n), stdout);
    fsc_compilation_destroy(c);
    return code;
}

/* A first word that looks like no file's name and is none. */
static bool refuse_command(const char *word) {
    if (strpbrk(word, "./-") || access(word, F_OK) == 0) return false;
    const char *meant = command_suggest(word);
    if (meant) fprintf(stderr, "fsc: '%s' is no command; did you mean 'fsc %s'?\n", word, meant);
    else fprintf(stderr, "fsc: '%s' is no command, and no file; 'fsc --help' names the commands\n", word);
    return true;
}

ExitCode command_compile(ToolOptions *o) {
    if (o->words.len && refuse_command(o->words.at[0])) return EXIT_CALL;
    if (o->words.len != 1) {
        fprintf(stderr, o->words.len ? "fsc: one file at a time; the second is '%s'\n" : "fsc: no input file%s\n",
                o->words.len ? o->words.at[1] : "; 'fsc --help' says how to call it");
        return EXIT_CALL;
    }
    const char *file = o->words.at[0];
    if (!check_together(o, file)) return EXIT_CALL;
    if (!o->package && !arch_resolve(o)) return EXIT_ENVIRONMENT;
    size_t length = 0;
    char *text = file_read(file, &length);
    if (!text) return EXIT_INPUT;
    o->compile.file = strcmp(file, "-") == 0 ? "<stdin>" : file;
    if (o->list_kernels) {
        ExitCode listed = list_kernels(o, text, length);
        free(text);
        return listed;
    }
    ExitCode code = claim_outputs(o, file);
    if (code == EXIT_DONE && o->fix) code = file_claim(file, true);
    if (code == EXIT_DONE && o->fix) code = fix_source(o, file, &text, &length);
    if (code == EXIT_DONE)
        code = o->package ? command_package(o, file, text, length) : compile_one(o, file, text, length);
    free(text);
    return code;
}
