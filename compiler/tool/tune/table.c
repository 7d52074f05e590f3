/* table.c - the tuning file as `fsc tune` rewrites it: its own section anew, all else byte for byte.
 *
 * In: the file as it is, rows. Out: the file. Method: a section goes from its line `kernel NAME on ARCH UNITS` to the
 * next one. The comment behind that line sums up what was asked; rows of the same sum are kept, which is how a run that
 * was interrupted goes on.
 */
#include "runtime/base/digest.h"
#include "tool/tune/tune.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void find_asked(Tune *u) {
    Digest d;
    char hex[DIGEST_HEX + 1];
    digest_begin(&d);
    digest_field(&d, u->text, u->length);
    for (uint32_t i = 0; i < u->candidates.len; i++) digest_text(&d, u->candidates.at[i].text);
    for (uint32_t i = 0; i < u->o->defines.len; i++) {
        digest_text(&d, u->o->defines.at[i].name);
        digest_text(&d, u->o->defines.at[i].value);
    }
    digest_end(&d, hex);
    snprintf(u->table.asked, sizeof u->table.asked, "%.16s", hex);
}

static const char *path_of(Tune *u) {
    const char *file = u->o->words.at[0], *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
    if (u->o->output) return u->o->output;
    bool is_source = dot && (strcmp(dot, ".dsl") == 0 || strcmp(dot, ".py") == 0);
    return is_source ? arena_printf(u->o->arena, "%.*s.tune", (int)(dot - file), file) : NULL;
}

/* The point of a row: what stands before its colon; NULL: it is no row. */
static const char *point_of(Arena *a, const char *line) {
    const char *colon = strchr(line, ':');
    while (*line == ' ') line++;
    return colon && *line != '#' ? arena_strndup(a, line, (size_t)(colon - line)) : NULL;
}

/* Is this the section's first line, whatever the comment behind it? */
static bool is_head(const Table *t, const char *line) {
    size_t n = strlen(t->head);
    return strncmp(line, t->head, n) == 0 && (!line[n] || strchr(" #\t\r", line[n]));
}

static void split(Tune *u, const char *text) {
    Table *t = &u->table;
    Arena *a = u->o->arena;
    bool is_inside = false, is_behind = false, is_kept = false;
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n");
        const char *line = arena_strndup(a, at, n);
        bool begins = strncmp(line, "kernel ", 7) == 0;
        if (begins && is_head(t, line)) {
            is_inside = is_behind = true;
            is_kept = !u->o->again && strstr(line, t->asked);
        } else if (begins) {
            is_inside = false;
        }
        if (is_inside && is_kept && !begins && point_of(a, line)) vec_push(a, &t->rows, line);
        if (!is_inside && is_behind)
            t->after = arena_printf(a, "%s%s\n", t->after, line);
        else if (!is_inside)
            t->before = arena_printf(a, "%s%s\n", t->before, line);
        at += n + (at[n] == '\n');
    }
}

ExitCode table_read(Tune *u) {
    Table *t = &u->table;
    size_t length = 0;
    Arena *a = u->o->arena;
    t->path = path_of(u);
    t->head = arena_printf(a, "kernel %s on %s %u", u->kernel, u->props.arch, u->props.sms);
    t->before = t->after = "";
    find_asked(u);
    if (!t->path) {
        fprintf(stderr, "fsc tune: '%s' has no name to put the result beside; say -o NAME.tune\n", u->o->words.at[0]);
        return EXIT_CALL;
    }
    bool is_there = access(t->path, F_OK) == 0;
    char *text = is_there ? file_read(t->path, &length) : NULL;
    if (is_there && !text) return EXIT_INPUT;
    if (text)
        split(u, text);
    else
        t->before =
            arena_printf(a, "fsc-tune 1\n# Which configuration is fastest, by 'fsc tune': launches of '%s' read it.\n",
                         u->o->words.at[0]);
    free(text);
    return file_claim(t->path, is_there);
}

static const char *find_row(const Table *t, const char *point) {
    size_t n = strlen(point);
    for (uint32_t i = 0; i < t->rows.len; i++)
        if (strncmp(t->rows.at[i], point, n) == 0 && t->rows.at[i][n] == ':') return t->rows.at[i];
    return NULL;
}

bool table_has(const Table *t, const char *point) {
    return find_row(t, point) != NULL;
}

static const char *shown(const Candidate *c) {
    return *c->text ? c->text : "the kernel as it is";
}

ExitCode table_put(Tune *u, const char *point, const Verdict *v) {
    Table *t = &u->table;
    Text out = {0};
    text_printf(&out, "%s:%s%s  # %.4f ms", point, *v->best->text ? " " : "", v->best->text, v->ms);
    if (v->next)
        text_printf(&out, "; %s %s, %.4f ms, slower in %u of %u rounds", v->is_tie ? "a tie with" : "next",
                    shown(v->next), v->next_ms, v->slower, v->rounds);
    const char *row = arena_strndup(u->o->arena, out.at, out.len);
    vec_push(u->o->arena, &t->rows, row);
    out.len = 0;
    text_printf(&out, "%s%s  # asked %s\n", t->before, t->head, t->asked);
    for (uint32_t i = 0; i < t->rows.len; i++) text_printf(&out, "%s\n", t->rows.at[i]);
    text_printf(&out, "%s", t->after);
    ExitCode code = file_write(t->path, out.at, out.len);
    text_free(&out);
    return code;
}
