/* text.c - a profile for people: the source, and below each line what it did.
 *
 * In: a Profile. Out: text on standard output; docs/how-to/profiling.md says what the words mean.
 */
#include "tool/profile/profile.h"

#include "runtime/base/arch.h"

#include <inttypes.h>
#include <string.h>

static double ratio(double x, double y) {
    return y > 0 ? x / y : 0;
}

/* ---- One line ---------------------------------------------------------------------------------------------------- */

static void print_traffic(const fsc_traffic *t, fsc_traffic_kind k) {
    if (!t->requests && !t->idle) return;
    printf("      |     %s: %" PRIu64 " request%s", traffic_names[k], t->requests, t->requests == 1 ? "" : "s");
    if (t->narrow == t->wide)
        printf(" of %u bytes a lane", t->wide);
    else
        printf(" of %u to %u bytes a lane", t->narrow, t->wide);
    if (k <= FSC_ATOMIC)
        printf(", %.2f sectors each: %" PRIu64 " bytes asked, %" PRIu64 " moved",
               ratio((double)t->units, (double)t->requests), t->bytes, 32 * t->units);
    else if (k == FSC_CLUSTER_STORE)
        printf(": %" PRIu64 " bytes", t->bytes);
    else
        printf(": %" PRIu64 " bytes in %" PRIu64 " wavefronts, %" PRIu64 " of them for conflicts of banks", t->bytes,
               t->units, t->units - t->least);
    if (t->idle) printf("; %" PRIu64 " of %" PRIu64 " lanes predicated off", t->idle, t->idle + t->lanes);
    printf("\n");
}

/* Barriers of blocks and clusters as often as a block came to them,
 * shuffles and barriers of warps as often as a warp did. */
static void print_meetings(const Profile *p, const fsc_line_counts *l) {
    static const struct {
        Count count;
        const char *what, *of;
        bool of_block;
    } rows[] = {{COUNT_SHUFFLE, "shuffle", "of a warp", false},
                {COUNT_WARP_BARRIER, "barrier", "of a warp", false},
                {COUNT_BLOCK_BARRIER, "barrier", "of a block", true},
                {COUNT_CLUSTER_BARRIER, "barrier", "of a cluster, by each block", true}};
    bool first = true;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint64_t n = l->counts[rows[i].count];
        if (!n) continue;
        double all = ratio((double)n, rows[i].of_block ? p->counts.threads_per_block : ARCH_WARP);
        printf("%s%.10g %s%s %s", first ? "      |     " : ", ", all, rows[i].what, all == 1 ? "" : "s", rows[i].of);
        first = false;
    }
    if (!first) printf("\n");
}

/* Of blocks that meet through global memory. */
static void print_words(const fsc_line_counts *l, const char *head) {
    uint64_t read = l->counts[COUNT_WORD_LOAD], written = l->counts[COUNT_WORD_STORE];
    if (!read && !written) return;
    printf("%s%" PRIu64 " written, %" PRIu64 " read, of 8 bytes each\n", head, written, read);
}

/* Of warps. */
static void print_matrix(const Profile *p, const fsc_line_counts *l) {
    uint64_t n = l->counts[COUNT_MATRIX_INSTRS];
    if (!n) return;
    printf("      |     %" PRIu64 " matrix instructions of a warp: %.3f operations an element\n", n / ARCH_WARP,
           ratio((double)l->counts[COUNT_MATRIX_FLOPS], (double)p->elements));
}

static void print_special(const Profile *p, const fsc_line_counts *l) {
    bool first = true;
    for (size_t i = COUNT_EX2; i <= COUNT_EXACT_SQRT; i++) {
        if (!l->counts[i]) continue;
        printf("%s%s %.3f", first ? "      |     special functions an element: " : ", ", fsc_count_name(i),
               ratio((double)l->counts[i], (double)p->elements));
        first = false;
    }
    if (!first) printf("\n");
}

static void print_faults(const Profile *p, uint32_t line) {
    fsc_finding f;
    for (size_t i = 0; i < fsc_device_findings(p->j->device); i++) {
        if (fsc_device_finding(p->j->device, i, &f) != FSC_OK || f.line != line ||
            strcmp(f.file, p->counts.record->file) != 0)
            continue;
        printf("      |     fault: %s, %" PRIu64 " time%s, first by program (%" PRId64 ", %" PRId64 ", %" PRId64 ")\n",
               f.kind, f.count, f.count == 1 ? "" : "s", f.program[0], f.program[1], f.program[2]);
    }
}

/* ---- The source -------------------------------------------------------------------------------------------------- */

static const fsc_line_counts *counts_of(const Profile *p, uint32_t line) {
    for (size_t i = 0; i < p->counts.num_lines; i++)
        if (p->counts.lines[i].line == line) return &p->counts.lines[i];
    return NULL;
}

static void print_line(const Profile *p, const fsc_line_counts *l, const char *text, size_t length) {
    if (!l) return;
    printf("%5u | %7.3f | ", l->line, ratio((double)l->counts[COUNT_INSTRUCTIONS], (double)p->elements));
    job_show(stdout, text, length);
    putchar('\n');
    for (int k = 0; k < FSC_TRAFFIC_KINDS; k++) print_traffic(&l->traffic[k], (fsc_traffic_kind)k);
    print_meetings(p, l);
    print_words(l, "      |     words between blocks: ");
    print_matrix(p, l);
    print_special(p, l);
    print_faults(p, l->line);
}

const char *profile_line_text(const Profile *p, uint32_t line) {
    const char *at = p->j->text, *end = at + p->j->length;
    for (uint32_t i = 1; i < line && at; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (at) at++;
    }
    if (!line || !at) return "";
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    return arena_strndup(p->j->o->arena, at, (size_t)((newline ? newline : end) - at));
}

static void print_source(const Profile *p) {
    const char *at = p->j->text, *end = at + p->j->length;
    printf(" line | instr/e | source, and what it did\n");
    for (uint32_t line = 1; at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        print_line(p, counts_of(p, line), at, (size_t)(stop - at));
        at = stop + 1;
    }
    const fsc_line_counts *other = counts_of(p, 0);
    if (other) print_line(p, other, "(not of a line)", strlen("(not of a line)"));
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static void print_params(const Profile *p) {
    const Bounds *b = &p->j->bounds;
    for (uint32_t i = 0; i < b->interface->num_params && i < p->counts.num_params; i++) {
        const fsc_param_counts *n = &p->counts.params[i];
        double bytes = (double)b->at[i].array.bytes;
        if (!n->read && !n->written && !n->changed) continue;
        printf("  %-22s %" PRIu64 " bytes", b->at[i].param->name, b->at[i].array.bytes);
        if (n->read)
            printf(", read %.3fx (sectors once: %.3fx)", ratio((double)n->read, bytes),
                   ratio((double)n->read_once, bytes));
        if (n->written)
            printf(", written %.3fx (sectors once: %.3fx)", ratio((double)n->written, bytes),
                   ratio((double)n->written_once, bytes));
        if (n->changed)
            printf(", changed by atomics %.3fx (sectors once: %.3fx)", ratio((double)n->changed, bytes),
                   ratio((double)n->written_once, bytes));
        printf("\n");
    }
}

static void print_all(const Profile *p) {
    const fsc_line_counts *a = &p->all;
    printf("  %-22s %" PRIu64 " bytes read, %" PRIu64 " written", "moved", p->read, p->written);
    if (a->traffic[FSC_ATOMIC].units) printf(", %" PRIu64 " by atomics", 32 * a->traffic[FSC_ATOMIC].units);
    printf(": read %.2fx, written %.2fx\n", ratio((double)p->read, (double)p->least_read),
           ratio((double)p->written, (double)p->least_written));
    print_words(a, "  words between blocks   ");
    uint64_t wavefronts = 0, least = 0;
    for (int k = FSC_SHARED_LOAD; k <= FSC_SHARED_STORE; k++)
        wavefronts += a->traffic[k].units, least += a->traffic[k].least;
    printf("  %-22s %" PRIu64 " wavefronts, %" PRIu64 " for conflicts of banks\n", "shared memory", wavefronts,
           wavefronts - least);
    printf("  %-22s %.4g for each block, %.4g shuffles for each warp\n", "barriers",
           ratio((double)(a->counts[COUNT_BLOCK_BARRIER] + a->counts[COUNT_CLUSTER_BARRIER]),
                 (double)p->counts.threads_per_block * (double)p->counts.blocks),
           ratio((double)a->counts[COUNT_SHUFFLE], (double)p->counts.threads_per_block * (double)p->counts.blocks));
    if (a->counts[COUNT_MATRIX_INSTRS])
        printf("  %-22s %.3f operations an element\n", "matrix instructions",
               ratio((double)a->counts[COUNT_MATRIX_FLOPS], (double)p->elements));
    printf("  %-22s %.3f instructions, %.3f special functions, %.3f floating-point operations\n", "an element",
           ratio((double)a->counts[COUNT_INSTRUCTIONS], (double)p->elements),
           ratio((double)special_functions(a), (double)p->elements),
           ratio((double)a->counts[COUNT_FLOPS], (double)p->elements));
}

static void print_card(const Prediction *c) {
    const Needs *n = &c->needs;
    printf("on %s, %u SMs\n", n->gpu.name, n->gpu.sms);
    if (n->registers == n->registers_high)
        printf("  %-22s %u (%s)\n", "registers per thread", n->registers, n->registers_from);
    else
        printf("  %-22s %u to %u (%s)\n", "registers per thread", n->registers, n->registers_high, n->registers_from);
    printf("  %-22s %u (limited by %s), %.0f %% of the threads\n", "blocks per SM", n->occupancy.blocks_per_sm,
           fsc_limit_name(n->occupancy.limit), n->occupancy.fill * 100);
    printf("  %-22s %" PRIu64 " block%s, %" PRIu64 " wave%s, the last %.0f %% full\n", "waves", c->blocks,
           c->blocks == 1 ? "" : "s", c->waves, c->waves == 1 ? "" : "s", c->last_fill * 100);
    const struct {
        const char *name;
        double seconds;
    } parts[] = {{"memory", c->memory},
                 {"instructions", c->issue},
                 {"special functions", c->special},
                 {"matrix instructions", c->matrix}};
    size_t most = 0;
    for (size_t i = 1; i < COUNT(parts); i++)
        if (parts[i].seconds > parts[most].seconds) most = i;
    printf("  %-22s at least %.3f us, by %s", "prediction", parts[most].seconds * 1e6, parts[most].name);
    for (size_t i = 0; i < COUNT(parts); i++)
        if (i < 3 || parts[i].seconds > 0)
            printf("%s%s %.3f us", i ? ", " : " (", parts[i].name, parts[i].seconds * 1e6);
    printf(")\n");
}

static void print_advice(const Profile *p) {
    printf("advice, by what it may gain of the %.3g us that %s takes on %s\n", p->least_seconds * 1e6, p->binds,
           p->rates->name);
    if (!p->num_advice) printf("  nothing found: it moves no more than it has to, in whole vectors\n");
    for (size_t i = 0; i < p->num_advice; i++) {
        const Advice *a = &p->advice[i];
        const struct AdviceRow *row = &advice_rows[a->kind];
        printf("  %zu. ", i + 1);
        printf("%s", row->title);
        if (a->gain > 0) printf(": up to %.3g us", a->gain * 1e6);
        else if (a->cost > 0) printf(": %.3g us, hidden behind %s", a->cost * 1e6, p->binds);
        else printf(": how much is not known");
        for (uint32_t k = 0; k < a->num_lines; k++)
            printf("%s%u", k ? ", " : a->num_lines > 1 ? "; lines " : "; line ", a->lines[k]);
        printf("\n     %s\n     why: %s\n     do: %s\n", a->text, row->why, row->mend);
    }
}

void profile_text(const Profile *p) {
    const fsc_counts *n = &p->counts;
    print_source(p);
    printf("kernel %s, counted on emulated threads\n", n->record->kernel);
    printf("  %-22s %" PRIu64 " in %" PRIu64 " block%s of %u threads\n", "programs", n->programs, n->blocks,
           n->blocks == 1 ? "" : "s", n->threads_per_block);
    print_params(p);
    print_all(p);
    if (p->has_card) print_card(&p->card);
    for (uint32_t i = 0; i < p->measured.num_rows; i++) {
        const MeasuredRow *m = &p->measured.rows[i];
        if (i == 0) printf("measured on %s\n", p->measured.device);
        printf("  %-22s %s (predicted: %s)\n", m->name, m->measured, m->predicted);
    }
    print_advice(p);
    if (p->against) against_text(p->against);
}
