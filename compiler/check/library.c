/* library.c - the standard library: functions in kernel language that the compiler carries (lib/, one .dsl an area).
 *
 * In: the name of a function and its file. Out: the function, ready to be inlined.
 * Method: a file is parsed when the first of its functions is called; a kernel that calls none pays nothing. Its
 * functions see each other and the builtins, never the user's names.
 */
#include "check/sema.h"

#include <string.h>

#define LIB_FILE(name, ...) static const unsigned char text_##name[] = {__VA_ARGS__};
#include "check/lib.def"
#undef LIB_FILE

typedef struct LibraryFile {
    const char *name, *path;
    const unsigned char *text;
    size_t length;
} LibraryFile;

static const LibraryFile files[] = {
#define LIB_FILE(name, ...) {#name, "lib/" #name ".dsl", text_##name, sizeof text_##name},
#include "check/lib.def"
#undef LIB_FILE
};

static FileScope *read_file(Checker *c, const LibraryFile *file) {
    uint32_t errors = diag_errors(c->d);
    const Source *source = diag_add_library(c->d, file->path, (const char *)file->text, file->length);
    const Module *m = syntax_parse(c->a, c->s, c->d, source, SYNTAX_DSL);
    if (diag_errors(c->d) != errors) bug("%s does not parse", file->path);
    FileScope *scope = scope_of_file(c, m);
    scope->is_library = true;
    return scope;
}

/* A function's parameters as a call names them; "=" after those that have a default. */
static void print_parameters(const Node *fn, Text *out) {
    for (uint32_t i = 0; i < fn->list.len; i++) {
        const Node *p = fn->list.at[i];
        text_printf(out, "%s%s%s", i ? ", " : "", p->name, p->b ? "=" : "");
    }
}

void library_parameters(Arena *a, const char *file, const char *name, Text *out) {
    Strings *s = strings_create(a);
    Diag *d = diag_create(a, 1);
    for (size_t i = 0; i < COUNT(files); i++) {
        if (strcmp(files[i].name, file) != 0) continue;
        const Source *source = diag_add_source(d, files[i].path, (const char *)files[i].text, files[i].length);
        const Module *m = syntax_parse(a, s, d, source, SYNTAX_DSL);
        for (uint32_t k = 0; k < m->items.len; k++) {
            const Node *n = m->items.at[k];
            if (n->kind == NODE_FUNCTION && strcmp(n->name, name) == 0) print_parameters(n, out);
        }
    }
}

const Sem *library_find(Checker *c, const char *file, const char *name) {
    size_t i = 0;
    while (i < COUNT(files) && strcmp(files[i].name, file) != 0) i++;
    if (i == COUNT(files)) bug("the library has no file %s", file);
    if (!c->library) c->library = NEW_ARRAY(c->a, FileScope *, COUNT(files));
    if (!c->library[i]) c->library[i] = read_file(c, &files[i]);
    FileScope *here = c->file;
    c->file = c->library[i];
    const Sem *s = scope_global(c, str_intern0(c->s, name), (Span){0, 0});
    c->file = here;
    return s && s->kind == SEM_FUNCTION ? s : NULL;
}

const Sem *library_function(Checker *c, const char *file, const char *name) {
    const Sem *s = library_find(c, file, name);
    if (!s) bug("lib/%s.dsl has no function %s", file, name);
    return s;
}
