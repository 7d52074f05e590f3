/* readable.c - `--readable`: PTX for people and for Compiler Explorer.
 *
 * In: PTX as it is launched, and the source. Out: the same instructions without the record, without the backend's own
 * comments and labels, and with each source line as a comment where code of another line begins. `.loc` and `.file`
 * stay: they say which line an instruction is of. Without its record it is for reading, not for launching.
 */
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

static bool starts(const char *line, size_t n, const char *with) {
    size_t length = strlen(with);
    return n >= length && memcmp(line, with, length) == 0;
}

static bool holds(const char *line, size_t n, const char *words) {
    const char *found = strstr(line, words);
    return found && found < line + n;
}

/* What only the driver or LLVM reads. */
static bool is_clutter(const char *line, size_t n, bool has_debug) {
    if (holds(line, n, " fsc_record_") || starts(line, n, "\t// begin inline asm") ||
        starts(line, n, "\t// end inline asm") || starts(line, n, "//"))
        return true;
    return !has_debug && (starts(line, n, "$L__tmp") || starts(line, n, "$L__func_") || holds(line, n, ".section"));
}

/* The number of the source among the `.file` lines; 0: it has none. */
static unsigned long file_number(const char *ptx, const char *file) {
    for (const char *p = strstr(ptx, ".file\t"); p; p = strstr(p, ".file\t")) {
        char *end;
        unsigned long number = strtoul(p += 6, &end, 10);
        size_t n = strcspn(end, "\n"), length = strlen(file);
        if (n > length && memcmp(end + n - 1 - length, file, length) == 0) return number;
    }
    return 0;
}

static void put_source_line(Text *out, const char *source, unsigned long line) {
    for (; line > 1 && *source; source++) line -= *source == '\n';
    source += strspn(source, " \t");
    size_t n = strcspn(source, "\r\n");
    if (n) text_printf(out, "\t// "), text_visible(out, source, n), text_printf(out, "\n");
}

void ptx_readable(const char *ptx, const char *file, const char *source, bool has_debug, Text *out) {
    unsigned long ours = file_number(ptx, file), shown = 0;
    bool was_blank = true;
    for (const char *p = ptx, *next; *p; p = next) {
        size_t n = strcspn(p, "\n");
        next = p + n + (p[n] == '\n');
        if (is_clutter(p, n, has_debug) || (n == 0 && was_blank)) continue;
        char *end = NULL;
        unsigned long of = starts(p, n, "\t.loc\t") ? strtoul(p + 6, &end, 10) : 0;
        unsigned long line = end ? strtoul(end, NULL, 10) : 0;
        if (of && of == ours && line && line != shown) put_source_line(out, source, shown = line);
        text_write(out, p, n);
        text_printf(out, "\n");
        was_blank = n == 0;
    }
}
