/* json.c - a profile for programs: one object, in raw counts.
 *
 * In: a Profile. Out: JSON on standard output; schema_version grows when a field changes its meaning or goes.
 */
#include "base/schema.h"
#include "tool/profile/profile.h"

#include <inttypes.h>
#include <string.h>

static void print_string(const char *s) {
    putchar('"');
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            printf("\\%c", *s);
        else if ((unsigned char)*s < ' ')
            printf("\\u%04x", (unsigned)*s);
        else
            putchar(*s);
    }
    putchar('"');
}

static void print_traffic(const FscTraffic *t, FscTrafficKind k) {
    bool is_global = k <= FSC_ATOMIC;
    printf(", \"");
    for (const char *s = traffic_names[k]; *s; s++) putchar(*s == ' ' ? '_' : *s);
    printf("\": {\"requests\": %" PRIu64 ", \"lanes\": %" PRIu64 ", \"idle_lanes\": %" PRIu64 ", \"bytes\": %" PRIu64
           ", \"narrowest\": %u, \"widest\": %u",
           t->requests, t->lanes, t->idle, t->bytes, t->narrow, t->wide);
    if (is_global)
        printf(", \"sectors\": %" PRIu64, t->units);
    else
        printf(", \"wavefronts\": %" PRIu64 ", \"bank_conflicts\": %" PRIu64, t->units, t->units - t->least);
    printf("}");
}

static void print_counts(const FscLineCounts *l) {
    const char *name = NULL;
    for (size_t i = 0; (name = fsc_count_name(i)); i++) printf("%s\"%s\": %" PRIu64, i ? ", " : "", name, l->counts[i]);
    for (int k = 0; k < FSC_TRAFFIC_KINDS; k++)
        if (l->traffic[k].requests || l->traffic[k].idle) print_traffic(&l->traffic[k], (FscTrafficKind)k);
}

static void print_params(const Profile *p) {
    const Bounds *b = &p->j->bounds;
    bool first = true;
    for (uint32_t i = 0; i < b->interface->num_params && i < p->counts.num_params; i++) {
        const FscParamCounts *n = &p->counts.params[i];
        if (!b->at[i].array.data) continue;
        printf("%s\n    {\"name\": \"%s\", \"bytes\": %" PRIu64 ", \"read\": %" PRIu64 ", \"written\": %" PRIu64
               ", \"changed\": %" PRIu64 ", \"read_once\": %" PRIu64 ", \"written_once\": %" PRIu64 "}",
               first ? "" : ",", b->at[i].param->name, b->at[i].array.bytes, n->read, n->written, n->changed,
               n->read_once, n->written_once);
        first = false;
    }
}

static void print_faults(const Profile *p) {
    FscFinding f;
    for (size_t i = 0; i < fsc_device_findings(p->j->device); i++) {
        if (fsc_device_finding(p->j->device, i, &f) != FSC_OK) return;
        printf("%s\n    {\"kind\": \"%s\", \"line\": %u, \"column\": %u, \"count\": %" PRIu64 ", \"text\": ",
               i ? "," : "", f.kind, f.line, f.col, f.count);
        print_string(f.text);
        printf("}");
    }
}

static void print_card(const Prediction *c) {
    printf(",\n  \"card\": {\"name\": \"%s\", \"sms\": %u, \"registers\": %u, \"registers_from\": \"%s\", "
           "\"spill_bytes\": %u, "
           "\"blocks_per_sm\": %u, \"blocks\": %" PRIu64 ", \"waves\": %" PRIu64 ", \"last_wave_fill\": %.4f},\n"
           "  \"prediction\": {\"memory_seconds\": %.9g, \"instruction_seconds\": %.9g, \"special_seconds\": %.9g, "
           "\"matrix_seconds\": %.9g}",
           c->needs.gpu.name, c->needs.gpu.sms, c->needs.registers_high, c->needs.registers_from, c->needs.spill_bytes,
           c->needs.occupancy.blocks_per_sm, c->blocks, c->waves, c->last_fill, c->memory, c->issue, c->special,
           c->matrix);
}

static void print_advice(const Profile *p) {
    printf(",\n  \"advice\": {\"card\": \"%s\", \"least_seconds\": %.9g, \"binds\": \"%s\", \"findings\": [",
           p->advice_card, p->least_seconds, p->binds);
    for (size_t i = 0; i < p->num_advice; i++) {
        const Advice *a = &p->advice[i];
        printf("%s\n    {\"name\": \"%s\", \"lines\": [", i ? "," : "", advice_rows[a->kind].name);
        for (uint32_t k = 0; k < a->num_lines; k++) printf("%s%u", k ? ", " : "", a->lines[k]);
        printf("], \"cost_seconds\": %.9g, \"gain_seconds\": %.9g, \"text\": ", a->cost, a->gain);
        print_string(a->text);
        printf(", \"why\": ");
        print_string(advice_rows[a->kind].why);
        printf(", \"mend\": ");
        print_string(advice_rows[a->kind].mend);
        printf("}");
    }
    printf("\n  ]}");
}

void profile_json(const Profile *p) {
    const FscCounts *n = &p->counts;
    printf("{\n  \"schema_version\": %d,\n  \"kernel\": \"%s\",\n  \"file\": ", SCHEMA_PROFILE, n->record->kernel);
    print_string(n->record->file);
    printf(",\n  \"programs\": %" PRIu64 ",\n  \"blocks\": %" PRIu64
           ",\n  \"threads_per_block\": %u,\n  \"programs_per_block\": %u,\n"
           "  \"blocks_per_program\": %u,\n  \"elements\": %" PRIu64 ",\n  \"least_read\": %" PRIu64
           ",\n  \"least_written\": %" PRIu64 ",\n  \"params\": [",
           n->programs, n->blocks, n->threads_per_block, n->programs_per_block, n->blocks_per_program, p->elements,
           p->least_read, p->least_written);
    print_params(p);
    printf("\n  ],\n  \"all\": {");
    print_counts(&p->all);
    printf("},\n  \"lines\": [");
    for (size_t i = 0; i < n->num_lines; i++) {
        printf("%s\n    {\"line\": %u, \"runs\": %" PRIu64 ", ", i ? "," : "", n->lines[i].line, n->lines[i].runs);
        print_counts(&n->lines[i]);
        printf("}");
    }
    printf("\n  ],\n  \"faults\": [");
    print_faults(p);
    printf("\n  ]");
    if (p->has_card) print_card(&p->card);
    print_advice(p);
    printf("\n}\n");
}
