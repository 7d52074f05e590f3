/* steps.c - the recorded programs of a run as facts, step by step.
 *
 * In: a recording. Out: one object of JSON a program.
 * Method: events of a program are brought together by step, which all its threads go through in one order. The
 * registers of a value become its elements (by the layout); the i-th exchange of each thread in a step becomes one
 * event with an entry for each thread. An array of equal elements is written as one.
 */
#include "tool/viz/viz.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values ------------------------------------------------------------------------------------------------------ */

typedef struct Steps {
    const VizRun *run;
    const RecordedProgram *p;
    const RecordedEvent **at; /* by step, then thread, then time */
    const Value **values;     /* by number */
    Arena *scratch;           /* of one program */
    Text *out;
} Steps;

static int compare(const void *x, const void *y) {
    const RecordedEvent *a = *(const RecordedEvent *const *)x, *b = *(const RecordedEvent *const *)y;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* The element that the register of this thread holds. */
static uint32_t element_of(const Layout *l, uint32_t thread, uint32_t reg) {
    Owner o = {{reg, 0, 0, 0}};
    for (int d = IN_LANE; d < IN_COUNT; d++) {
        o.at[d] = thread & ((1u << l->bits[d]) - 1);
        thread >>= l->bits[d];
    }
    return layout_apply(l, o);
}

/* The buffer that an address lies in, or before which it lies; -1: none. */
static int32_t buffer_of(const Job *j, uint64_t address, uint64_t *offset) {
    int32_t found = -1;
    uint64_t nearest = UINT64_MAX;
    for (uint32_t i = 0; i < j->bounds.interface->num_params; i++) {
        uint64_t begin = (uintptr_t)j->buffers[i], bytes = j->bounds.at[i].array.bytes;
        uint64_t away = address < begin ? begin - address : address < begin + bytes ? 0 : address - begin - bytes;
        if (!begin || away >= nearest) continue;
        nearest = away;
        found = (int32_t)i;
        *offset = begin;
    }
    return found;
}

static bool all_equal(const char *array, size_t n, size_t bytes) {
    for (size_t i = 1; i < n; i++)
        if (memcmp(array, array + i * bytes, bytes) != 0) return false;
    return true;
}

/* The registers of one value in one step, first to last of the events that tell it. */
static void put_value(Steps *s, const Value *v, const RecordedEvent *const *events, size_t n, bool first) {
    DType d = v->type.dtype;
    size_t count = value_is_tile(v) ? shape_elements(v->type.shape) : 1, bytes = viz_pack_bytes(viz_pack(d));
    char *array = NEW_ARRAY(s->scratch, char, count * bytes);
    uint64_t base = 0;
    int32_t param = d == DT_PTR && n ? buffer_of(s->run->j, events[0]->data[0], &base) : -1;
    for (size_t i = 0; i < count && viz_pack(d) == VIZ_F32; i++) ((float *)array)[i] = __builtin_nanf("");
    for (size_t i = 0; i < n; i++) {
        const RecordedEvent *e = events[i];
        if (e->kind != RECORDED_VALUE || e->what != (int32_t)v->id) continue;
        uint32_t element = e->address == NO_REGISTER ? 0 : element_of(v->type.layout, e->thread, (uint32_t)e->address);
        viz_put(array, element, d, (int64_t)(e->data[0] - base));
    }
    text_printf(s->out, "%s[%u, ", first ? "" : ", ", v->id);
    json_bytes(s->out, array, (all_equal(array, count, bytes) ? 1 : count) * bytes);
    text_printf(s->out, d == DT_PTR ? ", %d]" : "]", param);
}

static void put_values(Steps *s, const RecordedEvent *const *events, size_t n) {
    text_printf(s->out, ", \"v\": [");
    bool first = true;
    for (size_t i = 0; i < n && events[i]->thread == events[0]->thread; i++) {
        if (events[i]->kind != RECORDED_VALUE) continue;
        bool is_again = i && events[i - 1]->kind == RECORDED_VALUE && events[i - 1]->what == events[i]->what;
        const Value *v = s->values[events[i]->what];
        if (is_again || !v) continue;
        put_value(s, v, events + i, n - i, first);
        first = false;
    }
    text_printf(s->out, "]");
}

/* ---- Exchanges and accesses -------------------------------------------------------------------------------------- */

static const char *const kind_names[] = {
    [RECORDED_LOAD] = "load",
    [RECORDED_STORE] = "store",
    [RECORDED_ATOMIC] = "atomic",
    [RECORDED_SHARED_LOAD] = "shared load",
    [RECORDED_SHARED_STORE] = "shared store",
    [RECORDED_SHARED_COPY] = "shared copy",
    [RECORDED_CLUSTER_STORE] = "cluster store",
    [RECORDED_WORD_STORE] = "word store",
    [RECORDED_WORD_LOAD] = "word load",
    [RECORDED_SHUFFLE_XOR] = "shuffle xor",
    [RECORDED_SHUFFLE_LANE] = "shuffle lane",
    [RECORDED_BARRIER] = "barrier",
};

static bool is_exchange(const RecordedEvent *e) {
    return e->kind != RECORDED_STEP && e->kind != RECORDED_VALUE;
}

/* One exchange of each thread. */
typedef struct Together {
    const RecordedEvent *any;
    const RecordedEvent **of; /* by thread; NULL: this thread was not there */
    size_t *next;             /* by thread: where its events go on */
} Together;

static void together_begin(const Steps *s, const RecordedEvent *const *events, size_t n, Together *t) {
    uint32_t threads = s->p->threads;
    t->of = NEW_ARRAY(s->scratch, const RecordedEvent *, threads);
    t->next = NEW_ARRAY(s->scratch, size_t, threads);
    for (uint32_t i = 0; i < threads; i++) t->next[i] = n;
    for (size_t i = n; i-- > 0;) t->next[events[i]->thread] = i;
}

static bool is_alike(const RecordedEvent *a, const RecordedEvent *b) {
    return a->kind == b->kind && a->bytes == b->bytes && (a->kind != RECORDED_SHARED_COPY || a->what == b->what);
}

/* The next exchange of each thread, of those that are alike; false: no thread has one more. */
static bool gather(const Steps *s, const RecordedEvent *const *events, size_t n, Together *t) {
    t->any = NULL;
    for (uint32_t i = 0; i < s->p->threads; i++) {
        size_t at = t->next[i];
        while (at < n && events[at]->thread == i && !is_exchange(events[at])) at++;
        bool has = at < n && events[at]->thread == i;
        t->of[i] = has ? events[at] : NULL;
        t->next[i] = at + has;
        if (has && (!t->any || (!t->any->is_active && events[at]->is_active))) t->any = events[at];
    }
    for (uint32_t i = 0; i < s->p->threads; i++) {
        if (!t->of[i] || is_alike(t->of[i], t->any)) continue;
        t->of[i] = NULL;
        t->next[i]--;
    }
    return t->any != NULL;
}

/* Addresses by thread (-1: takes no part), and the words of an exchange that has some. */
static void put_threads(Steps *s, const Together *t) {
    uint32_t threads = s->p->threads, words = t->any->kind < RECORDED_SHARED_LOAD    ? 0
                                              : t->any->kind >= RECORDED_SHUFFLE_XOR ? 1
                                                                                     : (t->any->bytes + 3u) / 4;
    bool has_address = t->any->kind < RECORDED_SHUFFLE_XOR;
    int64_t *address = NEW_ARRAY(s->scratch, int64_t, threads);
    uint32_t *data = NEW_ARRAY(s->scratch, uint32_t, threads * words + 1);
    for (uint32_t i = 0; i < threads; i++) {
        const RecordedEvent *e = t->of[i];
        address[i] = e && e->is_active ? (int64_t)e->address : -1;
        if (e && words) memcpy(&data[(size_t)i * words], e->data, (size_t)4 * words);
    }
    if (has_address) {
        text_printf(s->out, ", \"a\": ");
        json_offsets(s->out, address, threads);
    }
    if (words) {
        text_printf(s->out, ", \"d\": ");
        json_bytes(s->out, data, (size_t)threads * words * sizeof *data);
    }
}

static void put_exchanges(Steps *s, const RecordedEvent *const *events, size_t n) {
    Together t = {.any = NULL};
    together_begin(s, events, n, &t);
    text_printf(s->out, ", \"e\": [");
    for (bool first = true; gather(s, events, n, &t); first = false) {
        text_printf(s->out, "%s{\"k\": \"%s\", \"w\": %d, \"b\": %u", first ? "" : ", ", kind_names[t.any->kind],
                    t.any->what, t.any->bytes);
        if (t.any->kind != RECORDED_BARRIER) put_threads(s, &t);
        text_printf(s->out, "}");
    }
    text_printf(s->out, "]");
}

/* ---- Programs ---------------------------------------------------------------------------------------------------- */

static void put_step(Steps *s, const RecordedEvent *const *events, size_t n, bool first) {
    int32_t op = -1;
    for (size_t i = 0; i < n && op < 0; i++)
        if (events[i]->kind == RECORDED_STEP) op = events[i]->what;
    text_printf(s->out, "%s{\"o\": %d", first ? "" : ",\n", op);
    put_values(s, events, n);
    put_exchanges(s, events, n);
    text_printf(s->out, "}");
}

static void put_program(Steps *s) {
    const RecordedProgram *p = s->p;
    s->scratch = arena_create();
    s->at = NEW_ARRAY(s->scratch, const RecordedEvent *, p->n + 1);
    for (size_t i = 0; i < p->n; i++) s->at[i] = &p->events[i];
    qsort(s->at, p->n, sizeof *s->at, compare);
    text_printf(s->out,
                "{\"at\": [%" PRId64 ", %" PRId64 ", %" PRId64 "], \"threads\": %u, \"values\": %" PRIu64
                ", \"steps\": [\n",
                p->at[0], p->at[1], p->at[2], p->threads, p->values);
    for (size_t i = 0, next = 0; i < p->n; i = next) {
        while (next < p->n && s->at[next]->step == s->at[i]->step) next++;
        put_step(s, s->at + i, next - i, i == 0);
    }
    text_printf(s->out, "]}");
    arena_destroy(s->scratch);
}

static void find_values(const Block *b, const Value **values) {
    for (uint32_t i = 0; i < b->args.len; i++) values[b->args.at[i]->id] = b->args.at[i];
    for (const Op *op = b->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->nresults; i++) values[op->results[i]->id] = op->results[i];
        for (uint32_t i = 0; i < op->nregions; i++) find_values(op->regions[i], values);
    }
}

void viz_programs(Text *out, const VizRun *r) {
    const Func *f = r->code->func;
    Steps s = {.run = r, .out = out, .values = NEW_ARRAY(r->j->o->arena, const Value *, f->next_value + 1)};
    find_values(f->body, s.values);
    text_printf(out, "[");
    bool first = true;
    for (uint32_t i = 0; i < r->recording->num_programs; i++) {
        s.p = &r->recording->programs[i];
        if (!s.p->has_run) continue;
        text_printf(out, "%s", first ? "\n" : ",\n");
        put_program(&s);
        first = false;
    }
    text_printf(out, "]");
}
