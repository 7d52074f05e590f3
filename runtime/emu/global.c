/* global.c - accesses of global memory, and their shadow.
 *
 * In: addresses. Out: the bytes, and findings: beside the launch's buffers, misaligned, races between programs and
 * between threads, elements of one store that differ at one address, output elements that nobody wrote. Method: a cell
 * per element of the smallest type that the kernel accesses, in pages that exist once touched, each with a lock under
 * which the access itself happens, too.
 */
#include "runtime/emu/emu.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_LOG2 = 10, PAGE_BYTES = 1 << PAGE_LOG2 }; /* aligned accesses never lie in two */

typedef struct Page {
    atomic_flag lock;
    Cell cells[];
} Page;

struct Shadow {
    const Regions *regions;
    uint32_t granule;        /* bytes of a cell */
    uint64_t *first;         /* per region: its first page */
    _Atomic(Page *) *pages;
    uint64_t limit;          /* bytes of all pages */
    atomic_ullong bytes;
};

/* One access of one thread. */
typedef struct Visit {
    Thread *t;
    uint64_t address;
    uint64_t *data;
    EmuAccess a;
    bool is_store; /* may it write? */
    const EmuAtomic *atomic; /* NULL: a load or a store */
    int32_t site;
} Visit;

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

static uint32_t smallest_element(const Record *r) {
    uint32_t least = 8;
    for (uint32_t i = 0; i < r->num_accesses; i++) {
        uint32_t size = fsc_dtype_size(fsc_dtype_find(r->accesses[i].dtype));
        if (size < least) least = size;
    }
    return least ? least : 1;
}

static uint64_t pages_of(const Region *r) {
    return r->end > r->begin ? ((r->end - 1) >> PAGE_LOG2) - (r->begin >> PAGE_LOG2) + 1 : 0;
}

Shadow *shadow_create(const Regions *r, uint64_t limit) {
    Shadow *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    uint64_t n = 0;
    s->limit = limit;
    s->regions = r;
    s->granule = smallest_element(r->record);
    s->first = calloc((size_t)r->n + 1, sizeof *s->first);
    for (uint32_t i = 0; s->first && i < r->n; i++) n += pages_of(&r->at[i]), s->first[i + 1] = n;
    s->pages = s->first ? calloc(n + 1, sizeof *s->pages) : NULL;
    if (s->pages) return s;
    free(s->first);
    free(s);
    return NULL;
}

static void page_free(const Shadow *s, Page *page) {
    for (uint32_t i = 0; page && i < PAGE_BYTES / s->granule; i++) snapshot_drop(page->cells[i].shown);
    free(page);
}

void shadow_destroy(Shadow *s) {
    if (!s) return;
    for (uint64_t i = 0; i < s->first[s->regions->n]; i++) page_free(s, atomic_load(&s->pages[i]));
    free(s->pages);
    free(s->first);
    free(s);
}

static _Atomic(Page *) *page_slot(const Shadow *s, const Region *r, uint64_t address) {
    return &s->pages[s->first[r - s->regions->at] + (address >> PAGE_LOG2) - (r->begin >> PAGE_LOG2)];
}

bool shadow_is_full(const Shadow *s) {
    return atomic_load(&s->bytes) > s->limit;
}

/* The page, made at its first touch; NULL: out of memory, or the shadow is full. */
static Page *page_get(Shadow *s, const Region *r, uint64_t address) {
    _Atomic(Page *) *slot = page_slot(s, r, address);
    Page *page = atomic_load_explicit(slot, memory_order_acquire), *made;
    if (page) return page;
    size_t bytes = sizeof *made + PAGE_BYTES / s->granule * sizeof(Cell);
    made = atomic_fetch_add(&s->bytes, bytes) + bytes > s->limit ? NULL : calloc(1, bytes);
    if (!made || atomic_compare_exchange_strong(slot, &page, made)) return made;
    free(made);
    atomic_fetch_sub(&s->bytes, bytes);
    return page;
}

static Cell *cell_of(const Shadow *s, Page *page, uint64_t address) {
    return &page->cells[address % PAGE_BYTES / s->granule];
}

/* ---- One access -------------------------------------------------------------------------------------------------- */

static void copy(uint64_t address, uint64_t *data, EmuAccess a, bool is_store) {
    unsigned char *at = (unsigned char *)(uintptr_t)address;
    for (uint32_t i = 0; i < a.words; i++, at += a.bytes) {
        if (is_store) {
            memcpy(at, &data[i], a.bytes);
        } else {
            data[i] = 0;
            memcpy(&data[i], at, a.bytes);
        }
    }
}

/* "x[17]": the element of the first parameter that names the buffer. */
static const char *element_name(const Launch *l, const Region *r, uint64_t address, char *out, size_t size) {
    const RecordParam *p = &l->regions.record->params[r->param];
    uint32_t bytes = fsc_dtype_size(fsc_dtype_find(p->dtype));
    snprintf(out, size, "%s[%llu]", p->name, (unsigned long long)((address - r->begin) / (bytes ? bytes : 1)));
    return out;
}

static Deed deed(const Visit *v) {
    return v->atomic ? DEED_CHANGES : v->is_store ? DEED_WRITES : DEED_READS;
}

static Touch touch_of(const Visit *v) {
    Block *b = v->t->block;
    bool is_block = v->atomic && v->atomic->is_block;
    return (Touch){.owner = thread_owner(v->t),
                   .thread = thread_index(v->t),
                   .deed = (uint8_t)deed(v),
                   .clock = ++b->team->clock,
                   .warp_time = b->warp_barriers[v->t->head.tid / WARP],
                   .block_time = b->barriers,
                   .cluster_time = b->team->barriers,
                   .site = v->site,
                   .atomic = v->atomic || v->a.is_volatile ? is_block ? TOUCH_ATOMIC_BLOCK : TOUCH_ATOMIC : TOUCH_PLAIN,
                   .publishes = v->atomic ? v->atomic->releases : v->is_store};
}

/* A cell's part of the visit; the bytes have moved already. */
static Conflict visit_cell(const Visit *v, Cell *cell, const Touch *now, bool writes, Touch *with) {
    Team *team = v->t->block->team;
    bool is_alone = team->launch->teams * team->launch->shape->programs_per_block == 1,
         is_foreign = cell->writer.owner && cell->writer.owner != now->owner;
    bool learns = v->atomic ? v->atomic->acquires : v->a.is_volatile && !v->is_store && is_foreign;
    const Touch old = cell->writer;
    Conflict c = cell_touch(cell, v->t, now, writes, v->a.is_volatile, with);
    if (is_alone) return c;
    if (learns) {
        Cell before = {.writer = old, .shown = cell->shown};
        cell_learn(&before, team, now->owner);
    }
    if (writes) cell_publish(cell, team, &old, now);
    return c;
}

static bool move(const Visit *v) { /* true: memory may have changed */
    if (v->atomic) return atomic_perform(v->address, v->data, *v->atomic);
    copy(v->address, v->data, v->a, v->is_store);
    return v->is_store;
}

/* A bit for each cell into which the store puts another value than is there. */
static uint32_t other_cells(const Visit *v, uint32_t granule) {
    unsigned char stored[32];
    uint32_t bytes = (uint32_t)v->a.words * v->a.bytes, others = 0;
    if (!v->is_store || v->atomic) return 0;
    for (uint32_t i = 0; i < v->a.words; i++) memcpy(stored + i * v->a.bytes, &v->data[i], v->a.bytes);
    for (uint32_t i = 0; i < bytes; i += granule)
        if (memcmp((const unsigned char *)(uintptr_t)v->address + i, stored + i, granule)) others |= 1u << i / granule;
    return others;
}

/* Moves the bytes and touches every cell under the page's lock. A compare-and-swap that failed only reads. */
static bool visit_page(const Visit *v, Page *page, const Region *r) {
    const Shadow *s = v->t->block->team->launch->shadow;
    uint32_t bytes = (uint32_t)v->a.words * v->a.bytes;
    Touch now = touch_of(v), with = {0}, first = {0};
    Conflict found = CONFLICT_NONE;
    uint64_t where = v->address;
    while (atomic_flag_test_and_set_explicit(&page->lock, memory_order_acquire)) sched_yield();
    uint32_t others = other_cells(v, s->granule);
    bool changed = move(v), writes = v->atomic && v->atomic->op == EMU_CAS ? changed : v->is_store;
    for (uint64_t at = v->address; at < v->address + bytes; at += s->granule) {
        now.is_other = others >> (at - v->address) / s->granule & 1;
        Conflict c = visit_cell(v, cell_of(s, page, at), &now, writes, &with);
        if (c == CONFLICT_NONE || found != CONFLICT_NONE) continue;
        found = c;
        first = with;
        where = at;
    }
    atomic_flag_clear_explicit(&page->lock, memory_order_release);
    if (found != CONFLICT_NONE) {
        static const FindingKind kinds[] = {[CONFLICT_PROGRAMS] = FINDING_RACE,
                                            [CONFLICT_THREADS] = FINDING_ORDER,
                                            [CONFLICT_ELEMENTS] = FINDING_COLLISION};
        const Launch *l = v->t->block->team->launch;
        char name[96];
        report_conflict(l, kinds[found], &now, &first,
                        (uint64_t[]){now.owner, first.owner}, where, element_name(l, r, where, name, sizeof name));
    }
    return changed;
}

static bool visit_checked(const Visit *v) {
    Launch *l = v->t->block->team->launch;
    uint32_t bytes = (uint32_t)v->a.words * v->a.bytes;
    Spot spot = thread_spot(v->t, v->site, v->address);
    const Region *r = region_find(&l->regions, v->address, bytes);
    if (v->atomic && (!r || v->address % bytes)) v->data[0] = 0;
    if (!r) {
        char text[256];
        region_explain(&l->regions, v->address, bytes, v->is_store, text, sizeof text);
        finding_add(l->findings, FINDING_BOUNDS, &spot, "%s", text);
        return false;
    }
    if (v->address % bytes) {
        char name[96];
        finding_add(l->findings, FINDING_ALIGN, &spot,
                    "%s %u bytes at once from %s on, at an address that is no multiple of %u", deed_text(deed(v)),
                    bytes, element_name(l, r, v->address, name, sizeof name), bytes);
        return false;
    }
    Page *page = page_get(l->shadow, r, v->address);
    if (page) return visit_page(v, page, r);
    atomic_store(&l->out_of_memory, true);
    return false;
}

static bool visit(const Visit *v) {
    return v->t->block->team->launch->checked ? visit_checked(v) : move(v);
}

/* A store follows: is it another op than the last, or the same in another turn of the loops? */
static void begin_store(Thread *t, int32_t site) {
    if (t->store_site == site && t->store_turns == t->head.turns) return;
    t->store_site = site;
    t->store_turns = t->head.turns;
    t->store_begins = t->block->team->clock + 1;
}

void global_access(Thread *t, uint64_t address, uint64_t *data, EmuAccess a, bool is_store, int32_t site) {
    Visit v = {t, address, data, a, is_store, NULL, site};
    if (a.is_volatile) {
        t->site = site;
        thread_spin(t);
    }
    if (is_store) {
        begin_store(t, site);
        team_progress(t->block->team);
    }
    visit(&v);
}

void global_atomic(Thread *t, uint64_t address, uint64_t *data, EmuAtomic a, int32_t site) {
    Visit v = {t, address, data, {.words = 1, .bytes = a.bytes}, true, &a, site};
    t->site = site;
    if (t->is_idle) thread_spin(t);
    else thread_pause(t);
    t->is_idle = !visit(&v);
    if (!t->is_idle) team_progress(t->block->team);
}

/* ---- Outputs ----------------------------------------------------------------------------------------------------- */

enum { MOST_DIMS = 8 };

/* A pointer that the kernel stores through and never loads through, as far as the compiler could tell. */
static bool is_output(const Record *r, uint32_t param) {
    bool stores = false;
    for (uint32_t i = 0; i < r->num_accesses; i++) {
        const RecordAccess *a = &r->accesses[i];
        if (!a->is_store && (a->param < 0 || (uint32_t)a->param == param)) return false;
        stores |= a->is_store && a->param >= 0 && (uint32_t)a->param == param;
    }
    return stores && r->params[param].num_dims > 0 && r->params[param].num_dims <= MOST_DIMS;
}

static bool is_written(const Shadow *s, uint64_t address, uint32_t bytes) {
    const Region *r = region_find(s->regions, address, bytes);
    Page *page = r ? atomic_load(page_slot(s, r, address)) : NULL;
    return !r || (page && cell_of(s, page, address)->writer.owner != 0);
}

typedef struct Walk {
    int64_t extent[MOST_DIMS], stride[MOST_DIMS], index[MOST_DIMS], first[MOST_DIMS];
    uint32_t dims;
    uint64_t all, missing;
} Walk;

static bool walk_next(Walk *w) {
    for (uint32_t d = w->dims; d-- > 0;) {
        if (++w->index[d] < w->extent[d]) return true;
        w->index[d] = 0;
    }
    return false;
}

static void walk_elements(Walk *w, const Shadow *s, uint64_t base, uint32_t bytes) {
    for (uint32_t d = 0; d < w->dims; d++)
        if (w->extent[d] <= 0) return;
    do {
        int64_t element = 0;
        w->all++;
        for (uint32_t d = 0; d < w->dims; d++) element += w->index[d] * w->stride[d];
        if (is_written(s, base + (uint64_t)element * bytes, bytes)) continue;
        if (w->missing++ == 0) memcpy(w->first, w->index, sizeof w->first);
    } while (walk_next(w));
}

static void report_missing(const Launch *l, uint32_t param, const Walk *w) {
    char index[160] = "";
    size_t n = 0;
    for (uint32_t d = 0; d < w->dims && n < sizeof index; d++)
        n += (size_t)snprintf(index + n, sizeof index - n, "%s%lld", d ? ", " : "", (long long)w->first[d]);
    if (w->missing) report_unwritten(l, param, w->missing, w->all, index);
}

fsc_status global_unwritten(Launch *l) {
    Call *c = l->call;
    const Record *r = l->regions.record;
    for (uint32_t i = 0; i < c->variant->num_slots; i++) {
        uint32_t param = c->variant->slots[i].param;
        const RecordParam *p = &r->params[param];
        Walk w = {.dims = p->num_dims};
        if (p->kind != RECORD_POINTER || !is_output(r, param)) continue;
        for (uint32_t d = 0; d < w.dims; d++) {
            fsc_status s = call_dim(c, p, d, &w.extent[d], &w.stride[d]);
            if (s != FSC_OK) return s;
        }
        walk_elements(&w, l->shadow, c->bits[i], fsc_dtype_size(c->variant->slots[i].dtype));
        report_missing(l, param, &w);
    }
    return FSC_OK;
}
