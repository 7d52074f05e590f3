/* page.c - the templates of tool/viz/page/ filled in. */
#include "tool/viz/page.h"

#include "tool/page.h"

#include <string.h>

#define VIZ_FILE(name, ...) static const unsigned char part_##name[] = {__VA_ARGS__};
#include "tool/vizpage.def"
#undef VIZ_FILE

void viz_page(Text *page, const Text *facts) {
    const PagePart parts[] = {
#define VIZ_FILE(name, ...) {#name, part_##name, sizeof part_##name},
#include "tool/vizpage.def"
#undef VIZ_FILE
        {"facts", facts->at, facts->len}};
    page_fill(page, parts, COUNT(parts));
}

/* Lines between tags: nothing in them is markup or a control character. */
static Text plain(const char *text) {
    Text shown = {0}, out = {0};
    for (const char *at = text, *next; *at; at = next) {
        size_t n = strcspn(at, "\n");
        next = at + n + (at[n] == '\n');
        text_visible(&shown, at, n);
        text_write(&shown, "\n", *next || at[n] ? 1 : 0);
    }
    for (const char *at = shown.at; at && *at; at++) {
        if (strchr("<>&\"", *at)) text_printf(&out, "&#%d;", *at);
        else text_write(&out, at, 1);
    }
    text_free(&shown);
    if (!out.at) text_printf(&out, "%s", "");
    return out;
}

void viz_problem_page(Text *page, const char *file, const char *what, const char *text, uint32_t live) {
    const char *slash = strrchr(file, '/');
    Text name = plain(slash ? slash + 1 : file), said = plain(text), number = {0};
    text_printf(&number, "%u", live);
    const PagePart parts[] = {{"page", part_problem, sizeof part_problem},
                              {"style", part_style, sizeof part_style},
                              {"live", part_live, sizeof part_live},
                              {"file", name.at, name.len},
                              {"what", what, strlen(what)},
                              {"text", said.at, said.len},
                              {"number", number.at, number.len}};
    page_fill(page, parts, COUNT(parts));
    text_free(&name);
    text_free(&said);
    text_free(&number);
}
