/* html.c - a profile as one page that needs no other file: `fsc profile --html=FILE`.
 *
 * In: a Profile. Out: a page: the template of tool/profile/page/, with the JSON of --json and the source as its facts.
 */
#include "tool/page.h"
#include "tool/profile/profile.h"

#include <string.h>

#define PROFILE_FILE(name, ...) static const unsigned char part_##name[] = {__VA_ARGS__};
#include "tool/profilepage.def"
#undef PROFILE_FILE

/* The profile's object and one more member. No '<' in it, so that it may stand in a page's script: strings alone have
 * some. */
static void put_facts(Text *out, const Profile *p) {
    Text json = {0};
    profile_json(&json, p);
    char *brace = strrchr(json.at, '}');
    json.len = (size_t)(brace - json.at);
    *brace = '\0';
    text_printf(&json, ",\n  \"source\": ");
    text_json(&json, arena_strndup(p->j->o->arena, p->j->text, p->j->length));
    text_printf(&json, "}\n");
    for (const char *at = json.at, *next; *at; at = next) {
        next = at + strcspn(at, "<");
        text_write(out, at, (size_t)(next - at));
        if (*next) text_printf(out, "\\u003c"), next++;
    }
    text_free(&json);
}

ExitCode profile_page(const Profile *p, const char *path) {
    Text facts = {0}, page = {0};
    put_facts(&facts, p);
    const PagePart parts[] = {
#define PROFILE_FILE(name, ...) {#name, part_##name, sizeof part_##name},
#include "tool/profilepage.def"
#undef PROFILE_FILE
        {"facts", facts.at, facts.len}};
    page_fill(&page, parts, COUNT(parts));
    ExitCode code = file_write(path, page.at, page.len);
    text_free(&facts);
    text_free(&page);
    return code;
}
