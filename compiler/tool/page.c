/* page.c - a page from its template. In: parts by name. Out: text. */
#include "tool/page.h"

#include <string.h>

static const PagePart *find_part(const PagePart *parts, size_t n, const char *name, size_t length) {
    for (size_t i = 0; i < n; i++)
        if (strlen(parts[i].name) == length && strncmp(name, parts[i].name, length) == 0) return &parts[i];
    bug("a page's template has no part %.*s", (int)length, name);
}

void page_fill(Text *out, const PagePart *parts, size_t n) {
    const PagePart *template = find_part(parts, n, "page", strlen("page"));
    Text marks = {0};
    text_write(&marks, template->bytes, template->size);
    const char *at = marks.at;
    for (const char *open; (open = strstr(at, "{{")) != NULL;) {
        const char *name = open + 2, *close = strstr(name, "}}");
        if (!close) bug("a mark of a page's template does not end");
        const PagePart *part = find_part(parts, n, name, (size_t)(close - name));
        text_write(out, at, (size_t)(open - at));
        text_write(out, part->bytes, part->size);
        at = close + 2;
    }
    text_printf(out, "%s", at);
    text_free(&marks);
}
