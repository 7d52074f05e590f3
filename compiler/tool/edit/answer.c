/* answer.c - what `fsc lsp` says of a document: messages and their fixes, values under the cursor, vector widths.
 *
 * In: the compilations of the document. Out: JSON of the protocol.
 * Method: a value is found by its source name, the nearest before the cursor; else by the smallest op around it. Its
 * type, layout and bytes a lane are those of the tile IR behind the passes.
 */
#include "tool/edit/answer.h"

#include "ir/build.h"

#include <string.h>

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

static void put_range_of(const Document *d, const Json *m, Text *out) {
    uint32_t line = json_count(m, "line"), end_line = json_count(m, "end_line");
    size_t begin = line ? document_place(d, line, json_count(m, "column")) : 0;
    size_t end = end_line ? document_place(d, end_line, json_count(m, "end_column")) : begin;
    document_range(d, begin, end, out);
}

static bool is_of_document(const Document *d, const Json *m) {
    return strcmp(json_text(m, "file"), d->path) == 0;
}

/* The protocol's numbers; parameters without types are no mistake while a file is being written. */
static int severity_of(const Json *m) {
    const char *word = json_text(m, "severity");
    if (strcmp(json_text(m, "code"), "E0502") == 0 || strcmp(word, "note") == 0) return 3;
    return strcmp(word, "error") == 0 ? 1 : strcmp(word, "warning") == 0 ? 2 : 4;
}

static void put_message(const Document *d, const Json *m, Text *out) {
    Text words = {0};
    text_printf(&words, "%s", json_text(m, "message"));
    text_printf(out, "{\"range\": ");
    put_range_of(d, m, out);
    text_printf(out, ", \"severity\": %d, \"code\": ", severity_of(m));
    text_json(out, json_text(m, "code"));
    text_printf(out, ", \"source\": \"fsc\", \"relatedInformation\": [");
    bool is_first = true;
    for (const Json *n = json_at(m, "notes")->first; n; n = n->next) {
        bool is_here = json_count(n, "line") == json_count(m, "line") &&
                       json_count(n, "column") == json_count(m, "column");
        if (is_here || !is_of_document(d, n)) {
            text_printf(&words, "\n%s", json_text(n, "message"));
            continue;
        }
        text_printf(out, "%s{\"location\": {\"uri\": ", is_first ? "" : ", ");
        text_json(out, d->uri);
        text_printf(out, ", \"range\": ");
        put_range_of(d, n, out);
        text_printf(out, "}, \"message\": ");
        text_json(out, json_text(n, "message"));
        text_printf(out, "}");
        is_first = false;
    }
    text_printf(out, "], \"message\": ");
    text_json(out, words.at);
    text_printf(out, "}");
    text_free(&words);
}

void answer_diagnostics(const Document *d, Text *out) {
    text_printf(out, "{\"uri\": ");
    text_json(out, d->uri);
    text_printf(out, ", \"diagnostics\": [");
    bool is_first = true;
    for (uint32_t i = 0; i < d->found.len; i++) {
        const Json *m = d->found.at[i];
        if (json_count(m, "line") && !is_of_document(d, m)) continue;
        text_printf(out, "%s", is_first ? "" : ", ");
        put_message(d, m, out);
        is_first = false;
    }
    text_printf(out, "]}");
}

static void put_action(const Document *d, const Json *fix, Text *out) {
    Text title = {0};
    const char *text = json_text(fix, "text");
    text_printf(&title, "write %s", text);
    text_printf(out, "{\"title\": ");
    text_json(out, title.at);
    text_printf(out, ", \"kind\": \"quickfix\", \"edit\": {\"changes\": {");
    text_json(out, d->uri);
    text_printf(out, ": [{\"range\": ");
    put_range_of(d, fix, out);
    text_printf(out, ", \"newText\": ");
    text_json(out, text);
    text_printf(out, "}]}}}");
    text_free(&title);
}

void answer_actions(const Document *d, const Json *params, Text *out) {
    size_t from = document_offset(d, json_at(params, "range.start"));
    size_t to = document_offset(d, json_at(params, "range.end"));
    bool is_first = true;
    text_printf(out, "[");
    for (uint32_t i = 0; i < d->found.len; i++) {
        const Json *head = d->found.at[i];
        size_t begin = document_place(d, json_count(head, "line"), json_count(head, "column"));
        size_t end = document_place(d, json_count(head, "end_line"), json_count(head, "end_column"));
        if (end < from || begin > to) continue;
        for (const Json *m = head; m; m = m == head ? json_at(head, "notes")->first : m->next) {
            if (json_at(m, "fix")->kind != JSON_OBJECT) continue;
            text_printf(out, "%s", is_first ? "" : ", ");
            put_action(d, json_at(m, "fix"), out);
            is_first = false;
        }
    }
    text_printf(out, "]");
}

void answer_format(const Document *d, const Json *params, Text *out) {
    Text text = {0}, errors = {0};
    (void)params;
    if (format_text(d->path, d->text, d->length, &text, &errors, false)) {
        text_printf(out, "[{\"range\": ");
        document_range(d, 0, d->length, out);
        text_printf(out, ", \"newText\": ");
        text_json(out, text.at ? text.at : "");
        text_printf(out, "}]");
    } else {
        text_printf(out, "null");
    }
    text_free(&text);
    text_free(&errors);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

typedef struct Search {
    const fsc_compilation *c;
    const char *name; /* NULL: the smallest op around the place */
    uint32_t at;
    const Value *found;
    uint32_t rank; /* of what was found: less is better */
} Search;

static void look(void *context, Op *op) {
    Search *s = context;
    const Source *source = diag_place(s->c->diag, op->span).source;
    if (!source || source != diag_source(s->c->diag, 0)) return;
    for (uint32_t i = 0; i < op->nresults; i++) {
        const Value *v = op->results[i];
        uint32_t begin = op->span.begin, end = op->span.end, rank;
        if (s->name) {
            if (!v->name || strcmp(v->name, s->name) != 0) continue;
            rank = begin <= s->at ? s->at - begin : UINT32_MAX;
        } else {
            if (s->at < begin || s->at > end) continue;
            rank = end - begin;
        }
        if (s->found && rank >= s->rank) continue;
        s->found = v;
        s->rank = rank;
    }
}

/* "tile<1024xfp32>", its place on the threads, and the bytes of a lane. */
static void put_value(const Value *v, Text *out) {
    Type plain = v->type;
    plain.layout = NULL;
    type_print(plain, out);
    const Layout *l = v->type.layout;
    if (!l) return;
    uint32_t threads = 1, each = layout_registers(l);
    for (int i = IN_LANE; i < IN_COUNT; i++) threads <<= l->bits[i];
    uint32_t bytes = each * type_bytes(type_scalar(v->type.dtype));
    text_printf(out, "\n%" PRIu64 " elements on %u threads: %u a lane, %u bytes\n", shape_elements(l->shape), threads,
                each, bytes);
    layout_write(l, out);
}

static const RecordParam *find_param(const fsc_compilation *c, const char *name) {
    for (uint32_t i = 0; c->record && i < c->record->num_params; i++)
        if (strcmp(c->record->params[i].name, name) == 0) return &c->record->params[i];
    return NULL;
}

/* What the name, or the expression, is in this kernel; `is_inside`: the place is in its own function. */
static bool describe_in(const fsc_compilation *c, const char *name, size_t offset, bool is_inside, Text *out) {
    const RecordParam *p = *name ? find_param(c, name) : NULL;
    if (p && p->kind == RECORD_CONSTEXPR) {
        text_printf(out, "%s = %s", name, p->value);
        return true;
    }
    if (p && is_inside) {
        text_printf(out, "%s: %s%s%s", name, p->kind == RECORD_POINTER ? "*" : "", p->is_const ? "const " : "",
                    p->dtype);
        return true;
    }
    Search s = {.c = c, .name = *name ? name : NULL, .at = diag_source(c->diag, 0)->base + (uint32_t)offset};
    func_walk(c->func, look, &s);
    if (!s.found) return false;
    if (*name) text_printf(out, "%s: ", name);
    put_value(s.found, out);
    return true;
}

/* First by the kernel around the place, then by those that may call its function. A kernel that never compiled has the
 * values up to its errors, without layouts. False: nothing is known. */
static bool describe(const Document *d, const char *name, size_t offset, Text *out) {
    const Node *fn = names_function_at(d, offset);
    const Analysis *all[] = {&d->good, &d->now};
    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < COUNT(all); i++)
            for (uint32_t k = 0; k < all[i]->count; k++) {
                const fsc_compilation *c = all[i]->kernels[k];
                bool is_inside = c->func && fn && strcmp(c->func->name, fn->name) == 0;
                if (c->func && is_inside != others && describe_in(c, name, offset, is_inside, out)) return true;
            }
    return false;
}

void answer_hover(const Document *d, const Json *params, Text *out) {
    size_t begin, end, offset = document_offset(d, json_at(params, "position"));
    bool is_word = document_word(d, offset, &begin, &end);
    char name[128] = "";
    Text code = {0}, value = {0}, all = {0};
    if (is_word) snprintf(name, sizeof name, "%.*s", (int)(end - begin), d->text + begin);
    bool is_local = is_word && names_definition(d, name, begin).end;
    bool has_form = is_word && names_signature(d, name, &code);
    if (has_form) text_printf(&code, "\n");
    /* a call says what comes of it; a name that is none, what it holds */
    bool has_value = describe(d, has_form && !is_local ? "" : name, begin, &value);
    if (has_value) text_printf(&code, "%s", value.at);
    if (!code.len) {
        text_printf(out, "null");
    } else {
        text_printf(&all, "```\n%s\n```", code.at);
        text_printf(out, "{\"contents\": {\"kind\": \"markdown\", \"value\": ");
        text_json(out, all.at);
        text_printf(out, "}, \"range\": ");
        document_range(d, begin, end, out);
        text_printf(out, "}");
    }
    text_free(&code);
    text_free(&value);
    text_free(&all);
}

/* ---- Vector widths ----------------------------------------------------------------------------------------------- */

void answer_hints(const Document *d, const Json *params, Text *out) {
    size_t from = document_offset(d, json_at(params, "range.start"));
    size_t to = document_offset(d, json_at(params, "range.end"));
    bool is_first = true;
    text_printf(out, "[");
    for (uint32_t k = 0; k < d->good.count && !d->now.count; k++) {
        const Record *r = d->good.kernels[k]->record;
        for (uint32_t i = 0; r && i < r->num_accesses; i++) {
            const RecordAccess *a = &r->accesses[i];
            size_t begin, end, at = document_place(d, a->line, a->col);
            if (!a->line || at < from || at > to || !document_word(d, at, &begin, &end)) continue;
            text_printf(out, "%s{\"position\": ", is_first ? "" : ", ");
            document_position(d, end, out);
            text_printf(out, ", \"label\": \"%u bytes\", \"paddingLeft\": true, \"tooltip\": \"%s by vectors of %u "
                             "bytes of %s, for buffers and sizes that are multiples of 16\"}",
                        a->vector_bytes, a->is_store ? "stored" : "loaded", a->vector_bytes, a->dtype);
            is_first = false;
        }
    }
    text_printf(out, "]");
}
