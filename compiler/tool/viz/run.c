/* run.c - a recorded run as facts: what it was called with, how far its programs reach, what went wrong.
 *
 * In: a job after its launch, the recording. Out: one object of JSON; the programs come from viz/steps.c.
 */
#include "tool/viz/viz.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_ELEMENTS = 16384 /* of a buffer that the page shows */ };

/* ---- The call ---------------------------------------------------------------------------------------------------- */

/* The numbers that the host's copy of a buffer holds. */
static void put_array(Text *out, Job *j, const Array *a, const char *name, DType d) {
    size_t size = a->bytes / a->count;
    char *array = NEW_ARRAY(j->o->arena, char, a->count * viz_pack_bytes(viz_pack(d)));
    for (size_t i = 0; i < a->count; i++) {
        int64_t bits = 0;
        memcpy(&bits, (const char *)a->data + i * size, size);
        if (a->dtype[0] == 'u')
            ((double *)array)[i] = (double)(uint64_t)bits;
        else
            viz_put(array, i, d, bits);
    }
    text_printf(out, ", \"%s\": ", name);
    json_bytes(out, array, a->count * viz_pack_bytes(viz_pack(d)));
}

/* As the launch left them; of what it read and wrote also as it found them. */
static void put_elements(Text *out, Job *j, uint32_t param) {
    const Bound *b = &j->bounds.at[param];
    const Array *a = &b->array;
    DType d;
    if (!a->count || a->count > MOST_ELEMENTS || !dtype_find(a->dtype[0] == 'u' ? "fp64" : a->dtype, &d)) return;
    text_printf(out, ", \"pack\": \"%s\"", dtype_name(d));
    if (b->reads && b->writes) put_array(out, j, a, "before", d);
    if (!b->writes || fsc_memory_read(j->device, a->data, j->buffers[param], a->bytes) == FSC_OK)
        put_array(out, j, a, "data", d);
}

static void put_param(Text *out, Job *j, const Record *r, uint32_t i) {
    const Bound *b = &j->bounds.at[i];
    const RecordParam *q = &r->params[i];
    static const char *const kinds[] = {
        [RECORD_POINTER] = "pointer", [RECORD_SCALAR] = "scalar", [RECORD_CONSTEXPR] = "constexpr"};
    char text[64];
    text_printf(out, "{\"name\": \"%s\", \"kind\": \"%s\"", q->name, kinds[q->kind]);
    if (b->word && b->word->text) {
        text_printf(out, ", \"word\": ");
        json_word(out, b->word->text);
    }
    if (b->array.data) {
        text_printf(out, ", \"dtype\": \"%s\", \"bytes\": %" PRIu64 ", \"shape\": [", b->array.dtype, b->array.bytes);
        for (uint32_t d = 0; d < b->array.rank; d++) text_printf(out, "%s%" PRIu64, d ? ", " : "", b->array.shape[d]);
        text_printf(out, "], \"reads\": %s, \"writes\": %s", b->reads ? "true" : "false", b->writes ? "true" : "false");
        put_elements(out, j, i);
    } else if (q->kind == RECORD_CONSTEXPR) {
        text_printf(out, ", \"value\": ");
        json_word(out, q->value);
    } else if (b->value->known) {
        text_printf(out, ", \"value\": \"%s\"", rule_value_print(b->value->value, text, sizeof text));
    }
    text_printf(out, "}");
}

/* ---- All programs ------------------------------------------------------------------------------------------------ */

/* By program and parameter: first, end and bytes of loads, then of stores. */
static void put_outlines(Text *out, const VizRun *r) {
    const Recording *q = r->recording;
    size_t n = (size_t)q->num_outlines * 2 * q->num_params;
    int64_t *all = NEW_ARRAY(r->j->o->arena, int64_t, 3 * n + 1);
    for (size_t i = 0; i < n; i++) {
        all[3 * i] = (int64_t)q->extents[i].first;
        all[3 * i + 1] = (int64_t)q->extents[i].end;
        all[3 * i + 2] = (int64_t)q->extents[i].bytes;
    }
    text_printf(out, ",\n\"outlines\": ");
    json_offsets(out, all, 3 * n);
}

/* ---- What went wrong --------------------------------------------------------------------------------------------- */

static void put_faults(Text *out, const Job *j) {
    fsc_finding f;
    text_printf(out, ",\n\"faults\": [");
    for (size_t i = 0; i < fsc_device_findings(j->device); i++) {
        if (fsc_device_finding(j->device, i, &f) != FSC_OK) break;
        text_printf(out,
                    "%s{\"kind\": \"%s\", \"line\": %u, \"count\": %" PRIu64 ", \"program\": [%" PRId64 ", %" PRId64
                    ", %" PRId64 "], \"text\": ",
                    i ? ", " : "", f.kind, strcmp(f.file, j->o->compile.file) == 0 ? f.line : 0, f.count, f.program[0],
                    f.program[1], f.program[2]);
        json_word(out, f.text);
        text_printf(out, ", \"advice\": ");
        json_word(out, f.advice);
        text_printf(out, "}");
    }
    text_printf(out, "]");
}

void viz_run(Text *out, const VizRun *r, uint32_t code) {
    const Recording *q = r->recording;
    const RecordLaunch *l = &q->record->launches[0];
    text_printf(out, "{\"label\": ");
    json_word(out, r->label);
    text_printf(out,
                ", \"code\": %u, \"grid\": [%" PRIu64 ", %" PRIu64 ", %" PRIu64
                "], \"packed\": %u, \"blocks\": %u, \"together\": %s,\n\"params\": [",
                code, q->grid[0], q->grid[1], q->grid[2], l->programs_per_block, l->blocks_per_program,
                l->scope == SCOPE_GRID ? "true" : "false");
    for (uint32_t i = 0; i < q->num_params; i++) {
        text_printf(out, "%s", i ? ",\n" : "");
        put_param(out, r->j, q->record, i);
    }
    text_printf(out, "],\n\"outlined\": %" PRIu64, q->num_outlines);
    put_outlines(out, r);
    put_faults(out, r->j);
    text_printf(out, ",\n\"programs\": ");
    viz_programs(out, r);
    text_printf(out, "}");
}
