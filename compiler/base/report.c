/* report.c - diagnostics for programs: one JSON object, or a SARIF 2.1.0 log.
 *
 * In: what diag.c collected, by place, each message with its notes. Out: text that any JSON reader takes: what is no
 * UTF-8 in a message becomes U+FFFD.
 */
#include "base/private.h"
#include "base/schema.h"

#include <string.h>

static bool has_notes(const Message *m, const Message *end) {
    return m + 1 < end && m[1].severity == SEV_NOTE;
}

/* ---- JSON: lines and columns as the text has them, from 1, columns in bytes -------------------------------------- */

static void json_message(const Diag *d, const Message *m, Text *out) {
    Place from = diag_place(d, m->span), to = diag_place(d, (Span){m->span.end, m->span.end});
    text_printf(out, "{\"severity\": \"%s\"", severity_name(m->severity));
    if (m->code[0]) text_printf(out, ", \"code\": \"%s\"", m->code);
    text_printf(out, ", \"message\": ");
    text_json(out, m->text);
    if (!from.source) return;
    text_printf(out, ", \"file\": ");
    text_json(out, from.source->name);
    text_printf(out, ", \"line\": %u, \"column\": %u", from.line, from.col);
    if (to.source == from.source) text_printf(out, ", \"end_line\": %u, \"end_column\": %u", to.line, to.col);
    if (!m->fix) return;
    from = diag_place(d, m->fix_at), to = diag_place(d, (Span){m->fix_at.end, m->fix_at.end});
    text_printf(out, ", \"fix\": {\"line\": %u, \"column\": %u, \"end_line\": %u, \"end_column\": %u, \"text\": ",
                from.line, from.col, to.line, to.col);
    text_json(out, m->fix);
    text_printf(out, "}");
}

void diag_print_json(const Diag *d, Text *out) {
    size_t count;
    const Message **heads = diag_heads(d, &count), *end = count ? d->messages.at + d->messages.len : NULL;
    text_printf(out, "{\"schema_version\": %d, \"diagnostics\": [", SCHEMA_DIAGNOSTICS);
    for (size_t i = 0; i < count; i++) {
        text_printf(out, "%s\n  ", i ? "," : "");
        json_message(d, heads[i], out);
        text_printf(out, ", \"notes\": [");
        for (const Message *m = heads[i]; has_notes(m, end); m++) {
            text_printf(out, "%s\n    ", m == heads[i] ? "" : ",");
            json_message(d, m + 1, out);
            text_printf(out, "}");
        }
        text_printf(out, "]}");
    }
    text_printf(out, "%s], \"errors\": %u, \"hidden\": %u}\n", count ? "\n" : "", d->errors - d->repeated,
                d->hidden);
}

/* ---- SARIF: columns in characters -------------------------------------------------------------------------------- */

static uint32_t column(const Place *p) {
    const char *line = p->source->text + p->source->lines.at[p->line - 1];
    uint32_t chars = 1;
    for (uint32_t i = 0, n; i + 1 < p->col; i += n ? n : 1, chars++) n = utf8_length(line + i, p->col - 1 - i);
    return chars;
}

/* A file's name as a URI reference: what is not plain becomes %XX. */
static void put_uri(Text *out, const char *name) {
    text_printf(out, "\"");
    for (; *name; name++) {
        bool is_plain =
            strchr("/._-~", *name) || (*name >= '0' && *name <= '9') || ((*name | 32) >= 'a' && (*name | 32) <= 'z');
        text_printf(out, is_plain ? "%c" : "%%%02X", (unsigned char)*name);
    }
    text_printf(out, "\"");
}

static void sarif_file(const Diag *d, Span span, Text *out) {
    text_printf(out, "\"artifactLocation\": {\"uri\": ");
    put_uri(out, diag_place(d, span).source->name);
    text_printf(out, "}");
}

static void sarif_region(const Diag *d, Span span, Text *out) {
    Place from = diag_place(d, span), to = diag_place(d, (Span){span.end, span.end});
    text_printf(out, "{\"startLine\": %u, \"startColumn\": %u", from.line, column(&from));
    if (to.source == from.source) text_printf(out, ", \"endLine\": %u, \"endColumn\": %u", to.line, column(&to));
    text_printf(out, "}");
}

static void sarif_location(const Diag *d, const Message *m, Text *out) {
    if (!diag_place(d, m->span).source) return;
    text_printf(out, "\"physicalLocation\": {");
    sarif_file(d, m->span, out);
    text_printf(out, ", \"region\": ");
    sarif_region(d, m->span, out);
    text_printf(out, "}");
}

/* Of a message and its notes. */
static void sarif_fixes(const Diag *d, const Message *head, const Message *end, Text *out) {
    bool any = false;
    for (const Message *m = head; m == head || (m < end && m->severity == SEV_NOTE); m++) {
        if (!m->fix) continue;
        text_printf(out, "%s{\"description\": {\"text\": ", any ? ", " : ", \"fixes\": [");
        text_json(out, m->text);
        text_printf(out, "}, \"artifactChanges\": [{");
        sarif_file(d, m->fix_at, out);
        text_printf(out, ", \"replacements\": [{\"deletedRegion\": ");
        sarif_region(d, m->fix_at, out);
        text_printf(out, ", \"insertedContent\": {\"text\": ");
        text_json(out, m->fix);
        text_printf(out, "}}]}]}");
        any = true;
    }
    text_printf(out, any ? "]" : "");
}

static void sarif_result(const Diag *d, const Message *head, const Message *end, Text *out) {
    const char *level = head->severity == SEV_REMARK ? "note" : severity_name(head->severity);
    text_printf(out, "{\"ruleId\": \"%s\", \"level\": \"%s\", \"message\": {\"text\": ", head->code, level);
    text_json(out, head->text);
    text_printf(out, "}, \"locations\": [");
    if (diag_place(d, head->span).source) {
        text_printf(out, "{");
        sarif_location(d, head, out);
        text_printf(out, "}");
    }
    text_printf(out, "], \"relatedLocations\": [");
    for (const Message *m = head; has_notes(m, end); m++) {
        text_printf(out, "%s\n      {\"id\": %d, \"message\": {\"text\": ", m == head ? "" : ",", (int)(m - head) + 1);
        text_json(out, m[1].text);
        text_printf(out, "}%s", diag_place(d, m[1].span).source ? ", " : "");
        sarif_location(d, m + 1, out);
        text_printf(out, "}");
    }
    text_printf(out, "]");
    sarif_fixes(d, head, end, out);
    text_printf(out, "}");
}

/* The codes that occur, each once. */
static void sarif_rules(const Message *const *heads, size_t count, Text *out) {
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        bool seen = false;
        for (size_t j = 0; j < i; j++) seen |= strcmp(heads[i]->code, heads[j]->code) == 0;
        if (seen) continue;
        text_printf(out, "%s{\"id\": \"%s\", \"help\": {\"text\": \"fsc --explain %s\"}}", first ? "" : ", ",
                    heads[i]->code, heads[i]->code);
        first = false;
    }
}

void diag_print_sarif(const Diag *d, Text *out) {
    size_t count;
    const Message **heads = diag_heads(d, &count), *end = count ? d->messages.at + d->messages.len : NULL;
    text_printf(
        out, "{\"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", \"version\": \"2.1.0\", \"runs\": [{\n"
             "  \"tool\": {\"driver\": {\"name\": \"fsc\", \"version\": \"" FSC_VERSION "\", \"rules\": [");
    sarif_rules(heads, count, out);
    text_printf(out, "]}},\n  \"columnKind\": \"unicodeCodePoints\",\n  \"results\": [");
    for (size_t i = 0; i < count; i++) {
        text_printf(out, "%s\n    ", i ? "," : "");
        sarif_result(d, heads[i], end, out);
    }
    text_printf(out, "%s]\n}]}\n", count ? "\n  " : "");
}
