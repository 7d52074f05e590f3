/* report.c - what findings of the emulator say: where a thread stands, two accesses that nothing orders,
 * what nobody wrote.
 *
 * In: touches and threads. Out: findings. Method: of a conflict the side at the earlier site is named first, of one
 * site that of the lower program and thread, so that it is one finding whichever side came second.
 */
#include "runtime/emu/emu.h"

#include <string.h>

const char *deed_text(Deed d) {
    return d == DEED_READS ? "reads" : d == DEED_WRITES ? "writes" : "changes";
}

/* A program by its number from 1, a thread by its index in the team. */
static Spot spot_of(const Launch *l, uint64_t owner, uint32_t thread, int32_t site, uint64_t address) {
    const RecordLaunch *shape = l->shape;
    uint64_t n = owner - 1, x = (uint64_t)l->blocks[0] / shape->blocks_per_program * shape->programs_per_block;
    Spot s = {.site = site, .other_site = -1, .address = address};
    s.program[0] = (int64_t)(n % x);
    s.program[1] = (int64_t)(n / x % l->blocks[1]);
    s.program[2] = (int64_t)(n / x / l->blocks[1]);
    s.thread = thread % (shape->threads_per_block / shape->programs_per_block * shape->blocks_per_program);
    return s;
}

Spot thread_spot(const Thread *t, int32_t site, uint64_t address) {
    return spot_of(t->block->team->launch, thread_owner(t), thread_index(t), site, address);
}

static bool is_first(const Touch *a, const Touch *b, const uint64_t owners[2]) {
    if (a->site != b->site) return a->site < b->site;
    return owners[0] != owners[1] ? owners[0] < owners[1] : a->thread <= b->thread;
}

void report_conflict(const Launch *l, FindingKind kind, const Touch *now, const Touch *old, const uint64_t owners[2],
                     uint64_t address, const char *what) {
    bool is_now = is_first(now, old, owners);
    const Touch *a = is_now ? now : old, *b = is_now ? old : now;
    Spot spot = spot_of(l, owners[!is_now], a->thread, a->site, address);
    Spot other = spot_of(l, owners[is_now], b->thread, b->site, address);
    spot.other_site = b->site;
    const char *here = deed_text((Deed)a->deed), *there = deed_text((Deed)b->deed);
    if (kind == FINDING_RACE)
        finding_add(l->findings, kind, &spot, "%s %s, unordered with program (%lld, %lld, %lld), which %s it", here,
                    what, (long long)other.program[0], (long long)other.program[1], (long long)other.program[2], there);
    else if (kind == FINDING_COLLISION)
        finding_add(l->findings, kind, &spot, "%s %s, to which thread %lld %s another value in the same store", here,
                    what, (long long)other.thread, there);
    else
        finding_add(l->findings, kind, &spot, "%s %s, with no barrier between it and thread %lld, which %s it", here,
                    what, (long long)other.thread, there);
}

/* The site of the first store through the parameter; -1: not known. */
static int32_t store_site(const Launch *l, uint32_t param) {
    const Record *r = l->regions.record;
    const fsc_host_code *code = &l->call->variant->module->code;
    for (uint32_t i = 0; i < r->num_accesses; i++) {
        const RecordAccess *a = &r->accesses[i];
        if (!a->is_store || a->param != (int32_t)param || !a->line) continue;
        for (size_t k = 0; k < code->num_sites; k++)
            if (code->sites[k].line == a->line && code->sites[k].col == a->col) return (int32_t)k;
    }
    return -1;
}

void report_unwritten(const Launch *l, uint32_t param, uint64_t missing, uint64_t all, const char *first) {
    const char *name = l->regions.record->params[param].name;
    Spot spot = {.site = store_site(l, param), .other_site = -1, .thread = -1};
    finding_add(l->findings, FINDING_UNWRITTEN, &spot,
                "no program wrote %llu of the %llu elements of %s, the first %s[%s]", (unsigned long long)missing,
                (unsigned long long)all, name, name, first);
}

/* ---- Meetings that can never be ---------------------------------------------------------------------------------- */

static const char *whom(ThreadState where) {
    switch (where) {
    case THREAD_AT_WARP: return "its warp";
    case THREAD_AT_GROUP: return "its four warps";
    case THREAD_AT_BLOCK: return "its block";
    default: return "its program";
    }
}

/* A thread of the same group that is not at this meeting. */
static const Thread *absent(const Thread *t) {
    const Team *team = t->block->team;
    uint32_t first = 0, n = team->threads_per_block;
    uint32_t few = t->state == THREAD_AT_WARP ? WARP : t->state == THREAD_AT_GROUP ? GROUP : 0;
    if (few) first = t->head.tid / few * few, n = first + few < n ? first + few : n;
    for (uint32_t k = 0; k < team->num_blocks; k++) {
        const Block *b = t->state == THREAD_AT_CLUSTER ? &team->blocks[k] : t->block;
        for (uint32_t i = first; i < n; i++)
            if ((b->threads[i].state != t->state || b->threads[i].call != t->call) && !thread_is_beyond(&b->threads[i]))
                return &b->threads[i];
    }
    return NULL;
}

/* The first thread that waits for one that will not come. */
void report_divergence(const Team *t) {
    for (uint32_t i = 0; i < t->num_blocks; i++) {
        for (uint32_t k = 0; k < t->threads_per_block; k++) {
            const Thread *thread = &t->blocks[i].threads[k], *other;
            if (thread->state == THREAD_ENDED) continue;
            if (thread->state == THREAD_AT_COUNT) {
                Spot spot = thread_spot(thread, thread->site, 0);
                finding_add(t->launch->findings, FINDING_DIVERGENT, &spot,
                            "waits for bytes that nobody stores, or of which no thread of its block says how many");
                return;
            }
            if (!(other = absent(thread))) continue;
            bool is_end = other->state == THREAD_ENDED;
            Spot spot = thread_spot(thread, thread->site, 0);
            spot.other_site = is_end ? -1 : other->site;
            finding_add(t->launch->findings, FINDING_DIVERGENT, &spot,
                        "waits at a %s for all of %s, and thread %lld %s",
                        thread->is_barrier ? "barrier" : "shuffle or exchange", whom(thread->state),
                        (long long)thread_spot(other, -1, 0).thread, is_end ? "has ended" : "waits for something else");
            return;
        }
    }
}
