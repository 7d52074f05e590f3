/* predict.c - what the counts of a launch mean for a card that may not be here.
 *
 * In: counts, and the record of the variant that was launched. Out: blocks, waves, and the least time by each of three parts.
 * Method: the same variant is compiled for the card, for its registers and occupancy. The parts: every sector that is
 * touched, once, at the memory's published rate; an instruction of a warp per clock and scheduler; special functions at
 * their rate. Rates of a multiprocessor: CUDA C++ Programming Guide, throughput of arithmetic instructions.
 */
#include "runtime/internal.h"
#include "tool/profile.h"

#include <stdlib.h>
#include <string.h>

enum {
    WARP_LANES = 32,
    SCHEDULERS = 4,         /* of a multiprocessor, each issues an instruction of a warp per clock */
    SPECIAL_PER_CLOCK = 16, /* results of the special-function units of a multiprocessor */
};

uint64_t special_functions(const FscLineCounts *l) {
    static const Count counts[] = {COUNT_EX2,  COUNT_LG2, COUNT_RCP,       COUNT_RSQRT,
                                   COUNT_SQRT, COUNT_DIV, COUNT_EXACT_DIV, COUNT_EXACT_SQRT};
    uint64_t n = 0;
    for (size_t i = 0; i < COUNT(counts); i++) n += l->counts[counts[i]];
    return n;
}

typedef struct Pairs {
    fsc_name_value *at;
    size_t n;
} Pairs;

static void add(Arena *a, Pairs *to, const char *name, const char *value) {
    to->at[to->n++] = (fsc_name_value){arena_printf(a, "%s", name), arena_printf(a, "%s", value)};
}

static Pairs pairs(const ToolOptions *o, const Record *r) {
    return (Pairs){NEW_ARRAY(o->arena, fsc_name_value, 3 * (size_t)r->num_params + o->compile.num_defines + 1), 0};
}

/* Options under which a compile gives this very variant. */
static void options_of(const Profile *p, ToolOptions *o) {
    const Record *r = p->counts.record, *interface = p->j->bounds.interface;
    Arena *a = o->arena;
    Pairs types = pairs(o, r), defines = pairs(o, r), divisible = pairs(o, r), known = pairs(o, r);
    for (uint32_t i = 0; i < r->num_params; i++) {
        const RecordParam *q = &r->params[i];
        const Bound *b = &p->j->bounds.at[i];
        if (q->kind == RECORD_CONSTEXPR) {
            add(a, q->value_kind == RECORD_DTYPE ? &types : &defines, q->name, q->value);
            continue;
        }
        if (interface->params[i].dtype[0] == '\0')
            add(a, &types, q->name, arena_printf(a, "%s%s", q->kind == RECORD_POINTER ? "*" : "", q->dtype));
        if (q->equals_one || q->divisible % 16 == 0) add(a, &divisible, q->name, q->equals_one ? "1" : "16");
        if (q->least) add(a, &defines, arena_printf(a, "%s>", q->name), arena_printf(a, "%u", q->least));
        if (q->most) add(a, &defines, arena_printf(a, "%s<", q->name), arena_printf(a, "%u", q->most));
        char text[64];
        if (q->kind == RECORD_SCALAR && b->value->known)
            add(a, &known, q->name, rule_value_print(b->value->value, text, sizeof text));
    }
    o->compile.types = types.at, o->compile.num_types = types.n;
    o->compile.defines = defines.at, o->compile.num_defines = defines.n;
    o->compile.divisible = divisible.at, o->compile.num_divisible = divisible.n;
    o->compile.known = known.at, o->compile.num_known = known.n;
    o->compile.signature = NULL; /* the record says it all */
}

static void fill(Profile *p, const RecordLaunch *l) {
    Prediction *c = &p->card;
    const FscDeviceProps *g = &c->needs.gpu;
    double clock = (double)g->clock_khz * 1e3, sms = g->sms;
    c->blocks = (p->counts.programs + l->programs_per_block - 1) / l->programs_per_block * l->blocks_per_program;
    fsc_waves(c->blocks, c->needs.occupancy.resident_blocks, &c->waves, &c->last_fill);
    c->memory = (double)(p->read_once + p->written_once) / (double)g->bandwidth;
    c->issue = (double)p->all.counts[COUNT_INSTRUCTIONS] / WARP_LANES / (SCHEDULERS * sms * clock);
    c->special = (double)special_functions(&p->all) / (SPECIAL_PER_CLOCK * sms * clock);
    p->has_card = true;
}

ExitCode predict(Profile *p) {
    ToolOptions o = *p->j->o;
    if (!needs_gpu(&p->card.needs, &o)) return EXIT_CALL;
    job_variant_options(p->j, p->counts.record, &o);
    o.compile.device = &p->card.needs.gpu;
    o.compile.emit = FSC_EMIT_PTX;
    fsc_compilation *c = NULL;
    fsc_status s = fsc_compile(&o.compile, p->j->text, p->j->length, &c);
    ExitCode code = EXIT_DONE;
    Record *r = NULL;
    if (s == FSC_OK) {
        const char *text = fsc_compilation_record(c);
        r = record_parse(text, strlen(text), NULL, 0);
    }
    if (!r || r->num_launches == 0) {
        code = s == FSC_OK ? EXIT_INPUT : (ExitCode)fsc_status_exit_code(s);
        fprintf(stderr, "%s: the launched variant does not compile for %s\n%s", tool_name, o.compile.arch,
                c ? fsc_compilation_diagnostics(c) : "");
    } else {
        const RecordLaunch l = launch_packed(&r->launches[0], p->counts.programs, p->card.needs.gpu.sms);
        code = needs_find(&p->card.needs, &o, c, &l);
        if (code == EXIT_DONE) fill(p, &l);
    }
    record_free(r);
    fsc_compilation_destroy(c);
    return code;
}
