/* map.c - map_elementwise: a function of scalars, called for each element of tiles.
 *
 * In: a bound Call. Out: what the function returns, as a tile or a tuple of tiles.
 * Method: the function is called once, with the tiles. While it runs, a condition is asked of each element: both arms
 * of a branch run, and each element takes the values of its own (stmt/merge.c); a loop runs until no element goes on
 * (stmt/loop.c). Of `pack` elements that follow one another the first are one tile, the second another, and so on.
 */
#include "check/builtin/builtin.h"

enum { ARG_FUNCTION, ARG_FIRST, ARG_PACK = 11, MOST_TILES = ARG_PACK - ARG_FIRST, MOST_PACK = 32 };

typedef struct Map {
    Checker *c;
    Call *call;
    const Sem *tile[MOST_TILES]; /* of one shape */
    uint32_t count;
    Shape shape;
    int64_t pack;
} Map;

static bool read_pack(Map *m) {
    Call *call = m->call;
    m->pack = 1;
    if (!call->arg[ARG_PACK]) return true;
    if (!sem_want_int(m->c, call->arg[ARG_PACK], call->at[ARG_PACK], "pack", &m->pack)) return false;
    bool is_power = m->pack > 0 && (m->pack & (m->pack - 1)) == 0;
    if (is_power && m->pack <= MOST_PACK && (uint64_t)m->pack <= shape_elements(m->shape)) return true;
    diag(m->c->d, call->at[ARG_PACK], E_MAP_PACK, (long long)m->pack, (unsigned long long)shape_elements(m->shape));
    return false;
}

static bool read_tiles(Map *m) {
    Checker *c = m->c;
    for (uint32_t i = ARG_FIRST; i < ARG_PACK && m->call->arg[i]; i++) {
        const Sem *x = to_run(c, m->call->arg[i], m->call->at[i]);
        if (m->count && !broadcast_shape(c, m->tile[0], x, m->call->at[i], &m->shape)) return false;
        if (!m->count) m->shape = sem_shape(x);
        m->tile[m->count++] = x;
        m->tile[0] = broadcast_to(c, m->tile[0], m->shape); /* has the shape of all so far */
    }
    for (uint32_t i = 1; i < m->count; i++) m->tile[i] = broadcast_to(c, m->tile[i], m->shape);
    return true;
}

/* lib/asm.dsl: the tiles of elements 0, 1, … of each `pack`. */
static const Sem *parts_of(Map *m, const Sem *x) {
    const Sem *in[] = {x, sem_i64(m->c, m->pack)};
    return call_function(m->c, library_function(m->c, "asm", "parted"), in, 2, m->call->span);
}

/* One result out of its parts; NULL after an error. */
static const Sem *united(Map *m, const Sem *const *parts, Shape each) {
    Checker *c = m->c;
    const Sem **tiles = NEW_ARRAY(c->a, const Sem *, (size_t)m->pack);
    for (int64_t i = 0; i < m->pack; i++) {
        if (!sem_is_value(parts[i])) {
            diag(c->d, m->call->span, E_MAP_RESULT, m->call->arg[ARG_FUNCTION]->fn->name, sem_type_text(c, parts[i]));
            return NULL;
        }
        const Sem *x = to_run(c, parts[i], m->call->span);
        if (i > 0 && x->type != tiles[0]->type) x = convert_to(c, x, tiles[0]->type, m->call->span);
        tiles[i] = broadcast_to(c, x, each);
    }
    if (m->pack == 1) return tiles[0];
    const Sem *in[] = {sem_tuple(c, tiles, (uint32_t)m->pack), shape_tuple(c, m->shape)};
    return call_function(c, library_function(c, "asm", "united"), in, 2, m->call->span);
}

static const Sem *results_of(Map *m, const Sem *r, Shape each) {
    Checker *c = m->c;
    uint32_t pack = (uint32_t)m->pack, given = r->kind == SEM_TUPLE ? r->count : 1;
    if (given == 0 || given % pack) {
        diag(c->d, m->call->span, E_MAP_COUNT, m->call->arg[ARG_FUNCTION]->fn->name, given, pack);
        return &sem_error;
    }
    const Sem *const *parts = r->kind == SEM_TUPLE ? r->items : &r;
    const Sem **items = NEW_ARRAY(c->a, const Sem *, given);
    for (uint32_t i = 0; i < given / pack; i++) {
        items[i] = united(m, parts + (size_t)i * pack, each);
        if (!items[i] || sem_is_error(items[i])) return &sem_error;
    }
    return given == pack ? items[0] : sem_tuple(c, items, given / pack);
}

/* Whether the function may be called with so many. */
static bool takes(Map *m, const Node *fn, uint32_t count) {
    uint32_t most = fn->list.len;
    if (function_takes(fn, count)) return true;
    diag(m->c->d, m->call->span, E_MAP_ARGUMENTS, fn->name, most, most == 1 ? "" : "s", count);
    diag_note(m->c->d, fn->span, "it is defined here");
    return false;
}

const Sem *builtin_map(Checker *c, Call *call) {
    Map m = {.c = c, .call = call};
    const Sem *fn = call->arg[ARG_FUNCTION];
    if (fn->kind != SEM_FUNCTION) {
        diag(c->d, call->at[ARG_FUNCTION], E_MAP_FUNCTION, sem_type_text(c, fn));
        diag_note(c->d, call->at[ARG_FUNCTION], "define it in the file, under @jit");
        return &sem_error;
    }
    if (!read_tiles(&m) || !read_pack(&m)) return &sem_error;
    if (!takes(&m, fn->fn, m.count * (uint32_t)m.pack)) return &sem_error;
    const Sem **args = NEW_ARRAY(c->a, const Sem *, m.count * (size_t)m.pack);
    for (uint32_t i = 0; i < m.count; i++) {
        const Sem *parts = m.pack > 1 ? parts_of(&m, m.tile[i]) : m.tile[i];
        if (sem_is_error(parts)) return parts;
        for (uint32_t k = 0; k < m.pack; k++)
            args[i * (uint32_t)m.pack + k] = m.pack > 1 ? parts->items[k] : parts;
    }
    Shape each = sem_shape(args[0]);
    const Shape *outside = c->by_element;
    c->by_element = each.rank ? &each : outside;
    const Sem *r = call_function(c, fn, args, m.count * (uint32_t)m.pack, call->span);
    c->by_element = outside;
    return sem_is_error(r) ? r : results_of(&m, r, each);
}
