/* file.c - reading and writing whole files for the commands.
 *
 * A write goes to a temporary name beside the target and is renamed, so a reader never sees half a file.
 */
#include "tool/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *file_read(const char *path, size_t *length) {
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    struct stat st;
    if (!f) {
        fprintf(stderr, "fsc: cannot open '%s': %s\n", path, strerror(errno));
        return NULL;
    }
    if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode)) {
        fprintf(stderr, "fsc: '%s' is a directory; name a .dsl, .py or .ir file\n", path);
        if (!is_stdin) fclose(f);
        return NULL;
    }
    size_t len = 0, cap = 1 << 16;
    char *text = malloc(cap);
    while (text) {
        len += fread(text + len, 1, cap - len - 1, f);
        if (len + 1 < cap) break;
        cap *= 2;
        char *more = realloc(text, cap);
        if (!more) free(text);
        text = more;
    }
    bool failed = ferror(f) != 0;
    int error = errno;
    if (!is_stdin) fclose(f);
    if (!text || failed) {
        fprintf(stderr, "fsc: cannot read '%s': %s\n", path, text ? strerror(error) : "out of memory");
        free(text);
        return NULL;
    }
    text[len] = '\0';
    *length = len;
    return text;
}

bool file_write(const char *path, const char *data, size_t length) {
    if (strcmp(path, "-") == 0) {
        bool ok = fwrite(data, 1, length, stdout) == length && fflush(stdout) == 0;
        if (!ok) fprintf(stderr, "fsc: cannot write to standard output: %s\n", strerror(errno));
        return ok;
    }
    struct stat st;
    bool special = stat(path, &st) == 0 && !S_ISREG(st.st_mode); /* /dev/null: no rename over it */
    char temporary[4096];
    if (snprintf(temporary, sizeof temporary, special ? "%s" : "%s.tmp%ld", path, (long)getpid()) >=
        (int)sizeof temporary) {
        fprintf(stderr, "fsc: the name of the output file is too long\n");
        return false;
    }
    FILE *f = fopen(temporary, "wb");
    bool ok = f && fwrite(data, 1, length, f) == length;
    if (f) ok &= fclose(f) == 0;
    if (ok && !special) ok = rename(temporary, path) == 0;
    if (!ok) {
        fprintf(stderr, "fsc: cannot write '%s': %s\n", path, strerror(errno));
        if (!special) remove(temporary);
    }
    return ok;
}
