/* tuned.c - where the tuning file of a source is, and what is in it.
 *
 * In: the options of a compile. Out: the file's text, which check/kernel/tuned.c turns into launch rules.
 * Method: softmax.tune lies beside softmax.dsl. A source without a name of its own, such as standard input, has none.
 */
#include "driver.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 4 << 20 };

/* Beside the source; NULL: it has no such name. */
static const char *name_beside(Arena *a, const char *file) {
    const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
    bool is_source = dot && (strcmp(dot, ".dsl") == 0 || strcmp(dot, ".py") == 0);
    return is_source ? arena_printf(a, "%.*s.tune", (int)(dot - file), file) : NULL;
}

const char *tuned_text(Arena *a, const fsc_compile_options *o, const char **file, const char **why) {
    bool is_named = o->tuned && *o->tuned;
    struct stat s;
    *why = NULL;
    *file = is_named ? o->tuned : name_beside(a, o->file);
    if (o->tuned_text) return *file ? o->tuned_text : NULL;
    if (!*file || (is_named && strcmp(o->tuned, "off") == 0)) return NULL;
    FILE *f = fopen(*file, "rb");
    bool is_file = f && fstat(fileno(f), &s) == 0 && S_ISREG(s.st_mode) && s.st_size <= MOST_BYTES;
    Text text = {0};
    char chunk[4096];
    for (size_t n; is_file && (n = fread(chunk, 1, sizeof chunk, f)) > 0;) text_write(&text, chunk, n);
    if (!is_file && is_named) *why = f ? "it is no file of text" : strerror(errno);
    if (f) fclose(f);
    const char *out = is_file ? arena_strndup(a, text.at ? text.at : "", text.len) : NULL;
    text_free(&text);
    return out;
}
