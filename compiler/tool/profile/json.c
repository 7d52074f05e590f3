/* json.c - a profile for programs: one object, in raw counts.
 *
 * In: a Profile. Out: JSON; schema_version grows when a field changes its meaning or goes.
 */
#include "base/schema.h"
#include "tool/profile/profile.h"

#include <inttypes.h>
#include <string.h>

const char *profile_key(char out[PROFILE_KEY], fsc_traffic_kind k) {
    snprintf(out, PROFILE_KEY, "%s", traffic_names[k]);
    for (char *c = out; *c; c++)
        if (*c == ' ') *c = '_';
    return out;
}

static void print_traffic(Text *out, const fsc_traffic *t, fsc_traffic_kind k) {
    bool is_global = k <= FSC_ATOMIC;
    char key[PROFILE_KEY];
    text_printf(out,
                ", \"%s\": {\"requests\": %" PRIu64 ", \"lanes\": %" PRIu64 ", \"idle_lanes\": %" PRIu64
                ", \"bytes\": %" PRIu64 ", \"narrowest\": %u, \"widest\": %u",
                profile_key(key, k), t->requests, t->lanes, t->idle, t->bytes, t->narrow, t->wide);
    if (is_global)
        text_printf(out, ", \"sectors\": %" PRIu64, t->units);
    else
        text_printf(out, ", \"wavefronts\": %" PRIu64 ", \"bank_conflicts\": %" PRIu64, t->units, t->units - t->least);
    text_printf(out, "}");
}

static void print_counts(Text *out, const fsc_line_counts *l) {
    const char *name = NULL;
    for (size_t i = 0; (name = fsc_count_name(i)); i++)
        text_printf(out, "%s\"%s\": %" PRIu64, i ? ", " : "", name, l->counts[i]);
    for (int k = 0; k < FSC_TRAFFIC_KINDS; k++)
        if (l->traffic[k].requests || l->traffic[k].idle) print_traffic(out, &l->traffic[k], (fsc_traffic_kind)k);
}

/* Of each part of the card, in their order; 0 of memory, whose sectors are of no line. */
static void print_seconds(Text *out, const Profile *p, const fsc_line_counts *l) {
    double parts[PARTS];
    profile_line_parts(p, l, parts);
    for (int i = 0; i < PARTS; i++) text_printf(out, "%s%.6g", i ? ", " : ", \"seconds\": [", parts[i]);
    text_printf(out, "]");
}

static void print_params(Text *out, const Profile *p) {
    const Bounds *b = &p->j->bounds;
    bool first = true;
    for (uint32_t i = 0; i < b->interface->num_params && i < p->counts.num_params; i++) {
        const fsc_param_counts *n = &p->counts.params[i];
        if (!b->at[i].array.data) continue;
        text_printf(out,
                    "%s\n    {\"name\": \"%s\", \"bytes\": %" PRIu64 ", \"read\": %" PRIu64 ", \"written\": %" PRIu64
                    ", \"changed\": %" PRIu64 ", \"read_once\": %" PRIu64 ", \"written_once\": %" PRIu64 "}",
                    first ? "" : ",", b->at[i].param->name, b->at[i].array.bytes, n->read, n->written, n->changed,
                    n->read_once, n->written_once);
        first = false;
    }
}

static void print_faults(Text *out, const Profile *p) {
    fsc_finding f;
    for (size_t i = 0; i < fsc_device_findings(p->j->device); i++) {
        if (fsc_device_finding(p->j->device, i, &f) != FSC_OK) return;
        text_printf(out, "%s\n    {\"kind\": \"%s\", \"line\": %u, \"column\": %u, \"count\": %" PRIu64 ", \"text\": ",
                    i ? "," : "", f.kind, f.line, f.col, f.count);
        text_json(out, f.text);
        text_printf(out, "}");
    }
}

static void print_measured(Text *out, const Profile *p) {
    text_printf(out, ",\n  \"measured\": {\"device\": ");
    text_json(out, p->measured.device);
    text_printf(out, ", \"seconds\": %.9g, \"rows\": [", p->measured.seconds);
    for (uint32_t i = 0; i < p->measured.num_rows; i++) {
        const MeasuredRow *m = &p->measured.rows[i];
        text_printf(out, "%s\n    {\"name\": \"%s\", \"predicted\": \"%s\", \"measured\": \"%s\"}", i ? "," : "",
                    m->name, m->predicted, m->measured);
    }
    text_printf(out, "\n  ]}");
}

static void print_against(Text *out, const Against *x) {
    const char *between = "";
    text_printf(out, ",\n  \"against\": {\"path\": ");
    text_json(out, x->path);
    text_printf(out, ", \"least_seconds\": %.9g, \"went\": [", x->then.least_seconds);
    for (uint32_t i = 0; i < x->found_then.len; i++) {
        if (!against_went(x, i)) continue;
        text_printf(out, "%s", between);
        text_json(out, x->found_then.at[i]);
        between = ", ";
    }
    text_printf(out, "], \"came\": [");
    between = "";
    for (size_t i = 0; i < x->now->num_advice; i++) {
        if (!against_came(x, i)) continue;
        text_printf(out, "%s\"%s\"", between, advice_rows[x->now->advice[i].kind].name);
        between = ", ";
    }
    text_printf(out, "], \"changes\": [");
    for (uint32_t i = 0; i < x->changes.len; i++) {
        const Change *c = &x->changes.at[i];
        text_printf(out,
                    "%s\n    {\"line\": %u, \"line_then\": %u, \"seconds\": %.9g, \"seconds_then\": %.9g, "
                    "\"text\": ",
                    i ? "," : "", c->now ? c->now->line : 0, c->then ? c->then->line : 0, c->seconds_now,
                    c->seconds_then);
        text_json(out, c->text);
        text_printf(out, "}");
    }
    text_printf(out, "\n  ]}");
}

static void print_card(Text *out, const Prediction *c) {
    text_printf(
        out,
        ",\n  \"card\": {\"name\": \"%s\", \"sms\": %u, \"registers\": %u, \"registers_from\": \"%s\", "
        "\"spill_bytes\": %u, "
        "\"blocks_per_sm\": %u, \"blocks\": %" PRIu64 ", \"waves\": %" PRIu64 ", \"last_wave_fill\": %.4f},\n"
        "  \"prediction\": {\"memory_seconds\": %.9g, \"instruction_seconds\": %.9g, \"special_seconds\": %.9g, "
        "\"matrix_seconds\": %.9g}",
        c->needs.gpu.name, c->needs.gpu.sms, c->needs.registers_high, c->needs.registers_from, c->needs.spill_bytes,
        c->needs.occupancy.blocks_per_sm, c->blocks, c->waves, c->last_fill, c->memory, c->issue, c->special,
        c->matrix);
}

static void print_advice(Text *out, const Profile *p) {
    text_printf(out, ",\n  \"advice\": {\"card\": \"%s\", \"least_seconds\": %.9g, \"binds\": \"%s\", \"parts\": [",
                p->rates->name, p->least_seconds, p->binds);
    for (int i = 0; i < PARTS; i++)
        text_printf(out, "%s{\"name\": \"%s\", \"seconds\": %.9g}", i ? ", " : "", part_names[i], p->parts[i]);
    text_printf(out, "], \"findings\": [");
    for (size_t i = 0; i < p->num_advice; i++) {
        const Advice *a = &p->advice[i];
        text_printf(out, "%s\n    {\"name\": \"%s\", \"title\": ", i ? "," : "", advice_rows[a->kind].name);
        text_json(out, advice_rows[a->kind].title);
        text_printf(out, ", \"lines\": [");
        for (uint32_t k = 0; k < a->num_lines; k++) text_printf(out, "%s%u", k ? ", " : "", a->lines[k]);
        text_printf(out, "], \"cost_seconds\": %.9g, \"gain_seconds\": %.9g, \"text\": ", a->cost, a->gain);
        text_json(out, a->text);
        text_printf(out, ", \"why\": ");
        text_json(out, advice_rows[a->kind].why);
        text_printf(out, ", \"mend\": ");
        text_json(out, advice_rows[a->kind].mend);
        text_printf(out, "}");
    }
    text_printf(out, "\n  ]}");
}

void profile_json(Text *out, const Profile *p) {
    const fsc_counts *n = &p->counts;
    text_printf(out, "{\n  \"schema_version\": %d,\n  \"kernel\": \"%s\",\n  \"file\": ", SCHEMA_PROFILE,
                n->record->kernel);
    text_json(out, n->record->file);
    text_printf(out,
                ",\n  \"programs\": %" PRIu64 ",\n  \"all_programs\": %" PRIu64 ",\n  \"blocks\": %" PRIu64
                ",\n  \"threads_per_block\": %u,\n  \"programs_per_block\": %u,\n"
                "  \"blocks_per_program\": %u,\n  \"elements\": %" PRIu64 ",\n  \"least_read\": %" PRIu64
                ",\n  \"least_written\": %" PRIu64 ",\n  \"params\": [",
                n->programs, n->all_programs, n->blocks, n->threads_per_block, n->programs_per_block,
                n->blocks_per_program, p->elements, p->least_read, p->least_written);
    print_params(out, p);
    text_printf(out, "\n  ],\n  \"all\": {");
    print_counts(out, &p->all);
    text_printf(out, "},\n  \"lines\": [");
    for (size_t i = 0; i < n->num_lines; i++) {
        text_printf(out, "%s\n    {\"line\": %u, \"runs\": %" PRIu64 ", ", i ? "," : "", n->lines[i].line,
                    n->lines[i].runs);
        print_counts(out, &n->lines[i]);
        print_seconds(out, p, &n->lines[i]);
        text_printf(out, ", \"text\": ");
        text_json(out, profile_line_text(p, n->lines[i].line));
        text_printf(out, "}");
    }
    text_printf(out, "\n  ],\n  \"faults\": [");
    print_faults(out, p);
    text_printf(out, "\n  ]");
    if (p->has_card) print_card(out, &p->card);
    if (p->measured.num_rows) print_measured(out, p);
    print_advice(out, p);
    if (p->against) print_against(out, p->against);
    text_printf(out, "\n}\n");
}
