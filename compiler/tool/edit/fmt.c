/* fmt.c - `fsc fmt FILE…`: .dsl files in the house style, written back where that changes them.
 *
 * In: files; - is standard input, whose text goes to standard output. Out: files; with --check nothing but the names
 * of those that would change, and status 1 if there are any.
 */
#include "tool/tool.h"

#include "syntax/ast.h"

#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *name, const char *ending) {
    size_t n = strlen(name), m = strlen(ending);
    return n >= m && strcmp(name + n - m, ending) == 0;
}

bool format_text(const char *file, const char *text, size_t length, Text *out, Text *errors, bool color) {
    Arena *a = arena_create();
    Diag *d = diag_create(a, 20);
    const Source *source = diag_add_source(d, file, text, length);
    bool ok = syntax_format(a, strings_create(a), d, source, out);
    diag_print(d, errors, color);
    arena_destroy(a);
    return ok;
}

static ExitCode format_file(ToolOptions *o, const char *file) {
    bool is_input = strcmp(file, "-") == 0;
    if (!is_input && !ends_with(file, ".dsl")) {
        fprintf(stderr, "fsc fmt: '%s' is no .dsl file; Python has formatters of its own\n", file);
        return EXIT_CALL;
    }
    size_t length = 0;
    char *text = file_read(file, &length);
    if (!text) return EXIT_INPUT;
    Text out = {0}, errors = {0};
    ExitCode code = EXIT_DONE;
    bool ok = format_text(is_input ? "<stdin>" : file, text, length, &out, &errors, o->compile.color);
    bool changes = out.len != length || (length && memcmp(out.at, text, length) != 0);
    if (errors.at) fputs(errors.at, stderr);
    if (!ok) {
        code = EXIT_INPUT;
    } else if (o->check) {
        if (changes) printf("%s\n", file);
        code = changes ? EXIT_INPUT : EXIT_DONE;
    } else if (changes || is_input) {
        code = is_input ? EXIT_DONE : file_claim(file, true);
        if (code == EXIT_DONE) code = file_write(file, out.at ? out.at : "", out.len);
    }
    text_free(&out);
    text_free(&errors);
    free(text);
    return code;
}

ExitCode command_fmt(ToolOptions *o) {
    ExitCode worst = EXIT_DONE;
    if (!o->words.len) {
        fprintf(stderr, "fsc fmt: no file; 'fsc fmt --help' says how to call it\n");
        return EXIT_CALL;
    }
    for (uint32_t i = 0; i < o->words.len; i++) {
        ExitCode code = format_file(o, o->words.at[i]);
        if (code > worst) worst = code;
    }
    return worst;
}
