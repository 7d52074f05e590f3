/* advise.c - what would make a counted launch faster, by how much at most.
 *
 * In: a Profile. Out: p->advice, the dearest first.
 * Method: a launch keeps six parts of the card busy, each as if alone (Part); it takes at least as long as the
 * busiest. Each row of advice.def looks at a line, a buffer or the whole, and says how much less some part would have
 * to do. What the busiest part loses by that is the most that may be gained: 0 where another part binds. Rates of a
 * multiprocessor: CUDA C++ Programming Guide; 64 bytes a clock between it and the L2: published microbenchmarks.
 */
#include "tool/profile/profile.h"

#include "runtime/base/arch.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *const part_names[PARTS] = {"memory", "the way to the L2", "issuing instructions",
                                              "the special-function unit", "shared memory",
                                              "matrix instructions"};

const struct AdviceRow advice_rows[] = {
#define ADVICE(name, title, why, mend) {#name, title, why, mend},
#include "tool/profile/advice.def"
#undef ADVICE
};

_Static_assert(COUNT(advice_rows) <= MOST_ADVICE, "a row has at most one finding");

enum {
    SECTOR = 32,            /* bytes */
    VECTOR = 16,            /* bytes that a lane moves at once, at most */
    SECTORS_PER_CLOCK = 2,  /* between a multiprocessor and the L2 */
    ACCESS_INSTRUCTIONS = 3, /* of an access: itself, its address, its mask */
    EXACT_INSTRUCTIONS = 8, /* of a division or root that is rounded correctly, beyond an approximated one */
    MANY_LANES = 8,         /* fewer in a request: its program has few elements to store */
    MANY_ROUNDS = 4,        /* of a loop */
    REDUCTION = 24,         /* shuffles of a few of them; a sort or a change of layout has more */
    /* clocks until there are, in round figures: a load from memory, a shuffle's word, all at a barrier */
    LOAD_CLOCKS = 500,
    SHUFFLE_CLOCKS = 25,
    BARRIER_CLOCKS = 30,
};

/* Seconds that n pieces of work take, of which every multiprocessor does `rate` a clock. */
static double seconds(const Profile *p, double n, double rate) {
    return n / (rate * p->rates->sms * (double)p->rates->clock_khz * 1e3);
}

static double sectors(const Profile *p, double n) {
    return seconds(p, n, SECTORS_PER_CLOCK);
}

static double issue(const Profile *p, double warps) {
    return seconds(p, warps, SCHEDULERS);
}

static double most(const double *parts) {
    double found = 0;
    for (int i = 0; i < PARTS; i++)
        if (parts[i] > found) found = parts[i];
    return found;
}

void profile_line_parts(const Profile *p, const fsc_line_counts *l, double parts[PARTS]) {
    uint64_t moved = 0, wavefronts = 0;
    for (int k = FSC_LOAD; k <= FSC_ATOMIC; k++) moved += l->traffic[k].units;
    for (int k = FSC_SHARED_LOAD; k <= FSC_SHARED_STORE; k++) wavefronts += l->traffic[k].units;
    parts[PART_MEMORY] = 0;
    parts[PART_SECTORS] = sectors(p, (double)moved);
    parts[PART_ISSUE] = issue(p, (double)l->counts[COUNT_INSTRUCTIONS] / p->rates->warp_size);
    parts[PART_SPECIAL] = seconds(p, (double)special_functions(l), SPECIAL_PER_CLOCK);
    parts[PART_SHARED] = seconds(p, (double)wavefronts, 1);
    parts[PART_MATRIX] = seconds(p, (double)l->counts[COUNT_MATRIX_WORK], matrix_per_clock(p->rates));
}

double profile_line_seconds(const Profile *p, const fsc_line_counts *l) {
    double parts[PARTS];
    profile_line_parts(p, l, parts);
    return most(parts);
}

void profile_weigh(Profile *p, const fsc_props *card) {
    p->rates = card;
    profile_line_parts(p, &p->all, p->parts);
    p->parts[PART_MEMORY] = (double)(p->read_once + p->written_once) / (double)card->bandwidth;
    p->least_seconds = most(p->parts);
    for (int i = 0; i < PARTS; i++)
        if (p->parts[i] == p->least_seconds) p->binds = part_names[i];
}

static Advice *advice_of(Profile *p, AdviceKind kind) {
    for (size_t i = 0; i < p->num_advice; i++)
        if (p->advice[i].kind == kind) return &p->advice[i];
    return &p->advice[p->num_advice++]; /* one a row of the table */
}

/* Puts down that a line (0: the whole) costs a part `less` seconds more than it must. */
__attribute__((format(printf, 6, 7))) static void advise(Profile *p, AdviceKind kind, uint32_t line, Part part,
                                                         double less, const char *format, ...) {
    Advice *x = advice_of(p, kind);
    x->kind = kind;
    x->part = part;
    x->cost += less;
    if (line && x->num_lines < ADVICE_LINES) x->lines[x->num_lines++] = line;
    if (less < x->worst) return;
    x->worst = less;
    va_list values;
    va_start(values, format);
    vsnprintf(x->text, sizeof x->text, format, values);
    va_end(values);
}

/* ---- Of a line --------------------------------------------------------------------------------------------------- */

static void scattered(Profile *p, const fsc_line_counts *l) {
    for (int k = FSC_LOAD; k <= FSC_STORE; k++) {
        const fsc_traffic *t = &l->traffic[k];
        double needed = (double)t->bytes / SECTOR, n = (double)t->requests;
        if (!n || (double)t->units < 1.9 * needed || t->lanes < MANY_LANES * t->requests) continue;
        advise(p, ADVICE_scattered, l->line, PART_SECTORS, sectors(p, (double)t->units - needed),
               "%s: %.2f sectors a request, where %.2f hold what it asks for", traffic_names[k], (double)t->units / n,
               needed / n);
    }
}

static void few_lanes(Profile *p, const fsc_line_counts *l) {
    for (int k = FSC_LOAD; k <= FSC_STORE; k++) {
        const fsc_traffic *t = &l->traffic[k];
        double needed = (double)t->bytes / SECTOR;
        if (!t->requests || t->lanes >= MANY_LANES * t->requests || (double)t->units < 1.9 * needed) continue;
        advise(p, ADVICE_few_lanes, l->line, PART_SECTORS, sectors(p, (double)t->units - needed),
               "%s: %.1f lanes a request, %.0f bytes moved for each byte asked", traffic_names[k],
               (double)t->lanes / (double)t->requests, (double)t->units / needed);
    }
}

/* What the compiler remarks of a line, from its colon on; "": nothing of these codes. */
static const char *reason(const Profile *p, uint32_t line, const char *code, const char *other) {
    for (uint32_t i = 0; i < p->remarks.len; i++) {
        const Remark *r = &p->remarks.at[i];
        if (r->line != line || (strcmp(r->code, code) != 0 && strcmp(r->code, other) != 0)) continue;
        const char *colon = strchr(r->text, ':');
        return colon ? colon : "";
    }
    return "";
}

static void narrow(Profile *p, const fsc_line_counts *l) {
    for (int k = FSC_LOAD; k <= FSC_STORE; k++) {
        const fsc_traffic *t = &l->traffic[k];
        bool is_dense = (double)t->units * SECTOR < 1.9 * (double)t->bytes;
        if (!t->requests || t->wide >= VECTOR || !is_dense || t->requests * VECTOR < 8 * p->counts.blocks * t->wide)
            continue;
        double fewer = (double)t->requests * (1 - (double)t->wide / VECTOR);
        advise(p, ADVICE_narrow, l->line, PART_ISSUE, issue(p, ACCESS_INSTRUCTIONS * fewer),
               "%s: %" PRIu64 " requests of %u bytes a lane; of 16 there would be %.0f%s", traffic_names[k],
               t->requests, t->wide, (double)t->requests - fewer, reason(p, l->line, "R0101", "R0106"));
    }
}

static void conflicts(Profile *p, const fsc_line_counts *l) {
    uint64_t units = 0, least = 0;
    for (int k = FSC_SHARED_LOAD; k <= FSC_SHARED_STORE; k++)
        units += l->traffic[k].units, least += l->traffic[k].least;
    if (units < least + least / 4 + 1) return;
    advise(p, ADVICE_conflicts, l->line, PART_SHARED, seconds(p, (double)(units - least), 1),
           "%" PRIu64 " wavefronts, where %" PRIu64 " would do", units, least);
}

static void masked(Profile *p, const fsc_line_counts *l) {
    uint64_t idle = 0, lanes = 0;
    for (int k = FSC_LOAD; k <= FSC_STORE; k++) idle += l->traffic[k].idle, lanes += l->traffic[k].lanes;
    uint64_t once = p->counts.blocks * p->counts.threads_per_block; /* an element a thread: a row's result */
    if (idle < lanes || idle + lanes <= once) return;
    double share = (double)idle / (double)(idle + lanes), here = (double)l->counts[COUNT_INSTRUCTIONS];
    advise(p, ADVICE_masked, l->line, PART_ISSUE, share * issue(p, here / p->rates->warp_size),
           "%.0f %% of the lanes are masked off", 100 * share);
}

static void atomics(Profile *p, const fsc_line_counts *l) {
    const fsc_traffic *t = &l->traffic[FSC_ATOMIC];
    if (!t->requests || t->lanes < MANY_LANES * t->requests || t->units * SECTOR > t->bytes) return;
    double together = (double)t->bytes / (double)(t->units * SECTOR);
    if (together < 2) return;
    advise(p, ADVICE_atomics, l->line, PART_SECTORS, sectors(p, (double)t->lanes - (double)t->units),
           "%" PRIu64 " changes in %" PRIu64 " sectors: %.0f lanes want one element at a time", t->lanes, t->units,
           together);
}

static void exact_division(Profile *p, const fsc_line_counts *l) {
    double n = (double)(l->counts[COUNT_EXACT_DIV] + l->counts[COUNT_EXACT_SQRT]);
    if (n < 0.1 * (double)p->elements) return;
    advise(p, ADVICE_exact_division, l->line, PART_ISSUE, issue(p, EXACT_INSTRUCTIONS * n / p->rates->warp_size),
           "%.2f an element", n / (double)p->elements);
}

/* A line that has much of what is busier than memory: of two such lines each is told. */
static bool is_much(const Profile *p, Part part, double here) {
    return p->parts[part] > 1.2 * p->parts[PART_MEMORY] && p->parts[part] > 0.4 * most(p->parts) &&
           here > 0.3 * p->parts[part];
}

static void special(Profile *p, const fsc_line_counts *l) {
    double here = seconds(p, (double)special_functions(l), SPECIAL_PER_CLOCK);
    if (!is_much(p, PART_SPECIAL, here)) return;
    advise(p, ADVICE_special, l->line, PART_SPECIAL, here / 2, "%.2f an element, %.0f %% of all",
           (double)special_functions(l) / (double)p->elements, 100 * here / p->parts[PART_SPECIAL]);
}

static void instructions(Profile *p, const fsc_line_counts *l) {
    double n = (double)l->counts[COUNT_INSTRUCTIONS], here = issue(p, n / p->rates->warp_size);
    if (!is_much(p, PART_ISSUE, here)) return;
    advise(p, ADVICE_instructions, l->line, PART_ISSUE, here / 2, "%.1f an element, %.0f %% of all",
           n / (double)p->elements, 100 * here / p->parts[PART_ISSUE]);
}

/* How often a thread came to a line. */
static double rounds_of(const Profile *p, const fsc_line_counts *l) {
    return p->counts.blocks ? (double)l->runs / ((double)p->counts.blocks * p->counts.threads_per_block) : 0;
}

/* Seconds of a block's waiting, so many clocks in each round. Blocks that fit at once wait together. */
static double waits(const Profile *p, double rounds, double clocks) {
    double waves = p->card.waves ? (double)p->card.waves : 1;
    return rounds * clocks * waves / ((double)p->rates->clock_khz * 1e3);
}

static void exchanges(Profile *p, const fsc_line_counts *l) {
    double rounds = rounds_of(p, l), runs = (double)l->runs, shuffles = (double)l->counts[COUNT_SHUFFLE] / runs,
           meetings = (double)l->counts[COUNT_BLOCK_BARRIER] / runs;
    if (rounds < MANY_ROUNDS || shuffles < 1 || shuffles > REDUCTION) return;
    advise(p, ADVICE_exchanges, l->line, PART_WAITS,
           waits(p, rounds - 1, shuffles * SHUFFLE_CLOCKS + meetings * BARRIER_CLOCKS),
           "%.0f rounds of %.0f shuffles, one after the other, and %.3g barrier%s", rounds, shuffles, meetings,
           meetings == 1 ? "" : "s");
}

static void barriers(Profile *p, const fsc_line_counts *l) {
    double rounds = rounds_of(p, l), meetings = (double)l->counts[COUNT_BLOCK_BARRIER] / (double)l->runs;
    bool exchanges = l->counts[COUNT_SHUFFLE] || l->traffic[FSC_SHARED_LOAD].requests ||
                     l->traffic[FSC_SHARED_STORE].requests || l->traffic[FSC_LOAD].requests;
    if (rounds < MANY_ROUNDS || meetings == 0 || exchanges) return;
    advise(p, ADVICE_barriers, l->line, PART_WAITS, waits(p, rounds, meetings * BARRIER_CLOCKS),
           "%.0f barriers of each block", rounds * meetings);
}

/* ---- Of what the compiler remarks -------------------------------------------------------------------------------- */

static const fsc_line_counts *line_of(const Profile *p, uint32_t line) {
    for (size_t i = 0; i < p->counts.num_lines; i++)
        if (p->counts.lines[i].line == line) return &p->counts.lines[i];
    return NULL;
}

static void multiply_adds(Profile *p, const Remark *r) {
    const fsc_line_counts *l = line_of(p, r->line);
    double flops = l ? (double)l->counts[COUNT_FLOPS] : 0;
    double here = issue(p, flops / 2 / p->rates->warp_size), then = seconds(p, 2 * flops, matrix_per_clock(p->rates));
    if (here > then)
        advise(p, ADVICE_multiply_adds, r->line, PART_ISSUE, here - then, "%.3g multiply-adds%s", flops / 2,
               reason(p, r->line, r->code, r->code));
}

static void unstaged(Profile *p, const Remark *r) {
    const fsc_line_counts *l = line_of(p, r->line);
    double rounds = l ? rounds_of(p, l) : 0;
    advise(p, ADVICE_unstaged, r->line, PART_WAITS, waits(p, rounds, LOAD_CLOCKS),
           "%.0f rounds wait for memory, one after the other", rounds);
}

/* Registers of a product are known before ptxas has seen it. */
static void remarked(Profile *p) {
    for (uint32_t i = 0; i < p->remarks.len; i++) {
        const Remark *r = &p->remarks.at[i];
        if (strcmp(r->code, "R0107") == 0) multiply_adds(p, r);
        if (strcmp(r->code, "R0108") == 0) unstaged(p, r);
        if (strcmp(r->code, "R0102") == 0) advise(p, ADVICE_spills, r->line, PART_WHOLE, 0, "%s", r->text);
    }
}

/* ---- Of a buffer, of the whole ----------------------------------------------------------------------------------- */

static void reread(Profile *p) {
    const Bounds *b = &p->j->bounds;
    for (uint32_t i = 0; i < b->interface->num_params && i < p->counts.num_params; i++) {
        const fsc_param_counts *n = &p->counts.params[i];
        if (n->read < n->read_once + n->read_once / 2 || n->read_once * 64 < p->read_once) continue;
        bool is_cached = n->read_once < p->rates->l2_bytes;
        double again = (double)(n->read - n->read_once);
        advise(p, ADVICE_reread, 0, is_cached ? PART_SECTORS : PART_MEMORY,
               is_cached ? sectors(p, again / SECTOR) : again / (double)p->rates->bandwidth,
               "%s is read %.2f times%s", b->at[i].param->name, (double)n->read / (double)n->read_once,
               is_cached ? ", as far as it goes from the L2" : "");
    }
}

/* Seconds that are lost where only the share `used` of the card works. */
static double lost(const Profile *p, double used) {
    return most(p->parts) * (1 / used - 1);
}

static void whole(Profile *p) {
    const Prediction *c = &p->card;
    if (!p->has_card) return;
    double blocks = (double)c->blocks, sms = p->rates->sms, waves = (double)c->waves;
    if (blocks < sms)
        advise(p, ADVICE_few_programs, 0, PART_WHOLE, lost(p, blocks / sms), "%" PRIu64 " blocks on %u multiprocessors",
               c->blocks, p->rates->sms);
    else if (waves > 1 && waves < 5 && c->last_fill < 0.5)
        advise(p, ADVICE_last_wave, 0, PART_WHOLE, lost(p, (waves - 1 + c->last_fill) / waves),
               "%" PRIu64 " waves, the last %.0f %% full", c->waves, c->last_fill * 100);
    double fill = c->needs.occupancy.fill;
    if (fill < 0.25 && waves > 1) {
        double left = waits(p, 1, LOAD_CLOCKS) / waves * ceil(waves * fill);
        advise(p, ADVICE_occupancy, 0, PART_WAITS, waits(p, 1, LOAD_CLOCKS) - left,
               "%.0f %% of the threads, limited by %s: %.0f waves, each waits for memory", fill * 100,
               fsc_limit_name(c->needs.occupancy.limit), waves);
        advice_of(p, ADVICE_occupancy)->left = left;
    }
    double threads = (double)p->counts.blocks * p->counts.threads_per_block;
    if (c->needs.spill_bytes) /* stored, and loaded back, once at least */
        advise(p, ADVICE_spills, 0, PART_SECTORS, sectors(p, 2 * threads * c->needs.spill_bytes / SECTOR),
               "%u bytes a thread, of %.0f threads", c->needs.spill_bytes, threads);
}

/* The launch takes as long as its busiest part: what that loses is gained. Threads wait while it works. */
static void find_gain(const Profile *p, Advice *x) {
    double parts[PARTS], busiest = most(p->parts);
    memcpy(parts, p->parts, sizeof parts);
    if (x->part < PARTS) parts[x->part] -= x->cost;
    if (x->part < PARTS) x->gain = busiest - most(parts);
    else if (x->part == PART_WHOLE) x->gain = x->cost;
    else x->gain = x->cost + x->left - (busiest > x->left ? busiest : x->left);
    if (x->gain < 0) x->gain = 0;
}

static int dearer(const void *x, const void *y) {
    const Advice *a = x, *b = y;
    if (a->gain != b->gain) return a->gain < b->gain ? 1 : -1;
    if (a->cost != b->cost) return a->cost < b->cost ? 1 : -1;
    return a->kind < b->kind ? -1 : a->kind > b->kind;
}

void profile_advise(Profile *p) {
    static void (*const of_line[])(Profile *, const fsc_line_counts *) = {
        scattered, few_lanes, narrow,       conflicts, masked,  exact_division,
        atomics,   special,   instructions, exchanges, barriers};
    profile_weigh(p, p->has_card ? &p->card.needs.gpu : fsc_gpu_find(ADVICE_CARD));
    for (size_t i = 0; i < p->counts.num_lines; i++)
        for (size_t k = 0; k < COUNT(of_line); k++) of_line[k](p, &p->counts.lines[i]);
    remarked(p);
    reread(p);
    whole(p);
    for (size_t i = 0; i < p->num_advice; i++) find_gain(p, &p->advice[i]);
    qsort(p->advice, p->num_advice, sizeof p->advice[0], dearer);
}
