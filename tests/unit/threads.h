/* threads.h - stage SIMT run thread by thread: registers, lanes and warps as the layouts say, shared memory, barriers.
 *
 * In: a function behind the whole pipeline. Out: what its threads store, or what is wrong with it.
 * All threads go in step, op by op. Shared memory remembers who touched each byte since the last barrier, so a missing
 * barrier is found whatever the order; vectors and masks of every access are held against what it claims. Elements in
 * global memory are i32; what is loaded is a function of the address.
 */
#ifndef THREADS_H
#define THREADS_H

#include "threads_memory.h"

/* ---- The threads ------------------------------------------------------------------------------------------------- */

typedef struct Byte {   /* of shared memory */
    int64_t value;      /* of the element that begins here */
    int writer, reader; /* since the last barrier */
    bool known;
} Byte;

typedef struct Grid {
    const Func *f;
    Arena *a;
    int64_t **of; /* by value id: [thread][register] */
    uint32_t threads;
    Byte *shared;
    Memory *memory;
    const char *wrong;
    const Value *table_of; /* whose elements `table` finds: by warp and flat index, 1 + lane * registers + register */
    uint32_t *table;
} Grid;

static inline uint32_t registers_of(const Value *v) {
    return value_is_tile(v) ? layout_registers(v->type.layout) : 1;
}

static inline int64_t *at(const Grid *g, const Value *v, uint32_t thread, uint32_t reg) {
    uint32_t n = registers_of(v);
    return &g->of[v->id][thread * n + (n == 1 ? 0 : reg)];
}

static inline Owner owner_of(uint32_t thread, uint32_t reg) {
    return (Owner){{reg, thread & 31, thread >> 5, 0}};
}

static inline void complain(Grid *g, const char *why) {
    if (!g->wrong) g->wrong = why;
}

static inline void make(Grid *g, const Value *v) {
    g->of[v->id] = NEW_ARRAY(g->a, int64_t, g->threads * registers_of(v));
}

static inline uint32_t flat_of(const Value *v, uint32_t thread, uint32_t reg) {
    return value_is_tile(v) ? layout_apply(v->type.layout, owner_of(thread, reg)) : 0;
}

/* Is this the one that stores the element? */
static inline bool is_canonical(const Value *v, uint32_t thread, uint32_t reg) {
    if (!value_is_tile(v)) return thread == 0;
    const Layout *l = v->type.layout;
    Owner o = owner_of(thread, reg);
    for (InDim d = 0; d < IN_COUNT; d++)
        if (o.at[d] & layout_free(l, d)) return false;
    return true;
}

static inline int64_t pure_element(Grid *g, const Op *op, uint32_t thread, uint32_t reg) {
    const Value *v = op->results[0];
    int64_t args[3] = {0}, r = 0;
    switch (op->kind) {
    case OP_CONST: return op->attr.bits;
    case OP_ARANGE: return op->attr.start + flat_of(v, thread, reg);
    case OP_ROTATED:
        return op->attr.start +
               ((flat_of(v, thread, reg) - *at(g, op->args[0], thread, 0)) & (op->attr.end - op->attr.start - 1));
    case OP_MOVED: return op->attr.start + flat_of(v, thread, reg) - *at(g, op->args[0], thread, 0);
    case OP_PID: return 3;
    case OP_NPROG: return 7;
    case OP_SPLAT: return *at(g, op->args[0], thread, 0);
    case OP_EXPAND: return *at(g, op->args[0], thread, reg);
    default: break;
    }
    for (uint32_t i = 0; i < op->nargs; i++) args[i] = *at(g, op->args[i], thread, reg);
    if (op->kind == OP_ADDPTR) return args[0] + 4 * args[1];
    assert_true(op_evaluate(op, args, &r));
    return r;
}

/* reshape and its kin: the thread must have each element already, in some register. */
static inline int64_t kept_element(Grid *g, const Op *op, uint32_t thread, uint32_t reg) {
    const Value *from;
    uint32_t wanted = moved_from(op, flat_of(op->results[0], thread, reg), &from);
    for (uint32_t r = 0; r < registers_of(from); r++)
        if (flat_of(from, thread, r) == wanted) return *at(g, from, thread, r);
    complain(g, "an element would leave its thread");
    return 0;
}

/* broadcast and convert_layout: each element from where the plan says, which must be near enough. */
static inline void run_moved(Grid *g, const Op *op) {
    const Value *from = op->args[0], *v = op->results[0];
    ConvertPlan plan;
    if (op->kind == OP_BROADCAST)
        convert_broadcast(from->type.layout, v->type.layout, &plan);
    else
        convert_plan(from->type.layout, v->type.layout, &plan);
    if (plan.kind > CONVERT_SHUFFLE) complain(g, "a conversion crosses warps");
    for (uint32_t t = 0; t < g->threads; t++) {
        for (uint32_t r = 0; r < registers_of(v); r++) {
            Owner o = convert_source(&plan, owner_of(t, r));
            *at(g, v, t, r) = *at(g, from, o.at[IN_LANE] | o.at[IN_WARP] << 5, o.at[IN_REGISTER]);
        }
    }
}

/* From the same warp. */
static inline void run_flip(Grid *g, const Op *op) {
    const Value *from = op->args[0], *v = op->results[0];
    for (uint32_t t = 0; t < g->threads; t++) {
        for (uint32_t r = 0; r < registers_of(v); r++) {
            uint32_t wanted = flat_of(v, t, r) ^ op->attr.flip, seen = 0;
            for (uint32_t i = 0; i < 32 * registers_of(from); i++) {
                uint32_t there = (t & ~31u) | i % 32;
                if (flat_of(from, there, i / 32) != wanted) continue;
                *at(g, v, t, r) = *at(g, from, there, i / 32);
                seen++;
            }
            if (!seen) complain(g, "a flip crosses warps");
        }
    }
}

/* Brute force: combine each element once, over the owners in this warp that agree with the result's element. */
/* Which register it would be if nothing had been scattered. */
static inline uint32_t gathered_register(const Grid *g, const Op *op, uint32_t thread, uint32_t reg) {
    if (!op->attr.is_scattered) return reg;
    const Layout *l = layout_partial(g->f->layouts, op->args[0]->type.layout, op->attr.axis);
    uint32_t flat = flat_of(op->results[0], thread, reg);
    for (uint32_t r = 0; r < layout_registers(l); r++)
        if (layout_apply(l, owner_of(thread, r)) == flat) return r;
    fail_msg("a scattered element was not the thread's");
    return 0;
}

static inline void run_reduce(Grid *g, const Op *op) {
    const Value *from = op->args[0], *v = op->results[0];
    ReducePlan plan = layout_reduce_plan(from->type.layout, op->attr.axis);
    Op step = {.kind = op->attr.combine,
               .results = op->results,
               .args = (Value *[]){op->results[0], op->results[0]},
               .nargs = 2,
               .nresults = 1};
    for (uint32_t t = 0; t < g->threads; t++) {
        for (uint32_t r = 0; r < registers_of(v); r++) {
            uint32_t base = 0, k = 0, gathered = gathered_register(g, op, t, r);
            for (uint32_t bit = 0; bit < 32; bit++)
                if (plan.keep >> bit & 1) base |= (gathered >> k++ & 1) << bit;
            bool first = true;
            for (uint32_t m = plan.combine[IN_REGISTER], s = m;; s = (s - 1) & m) {
                for (uint32_t lm = plan.combine[IN_LANE], l = lm;; l = (l - 1) & lm) {
                    int64_t x = *at(g, from, t ^ l, base ^ s), pair[2] = {*at(g, v, t, r), x};
                    if (first)
                        *at(g, v, t, r) = x;
                    else
                        assert_true(op_evaluate(&step, pair, at(g, v, t, r)));
                    first = false;
                    if (!l) break;
                }
                if (!s) break;
            }
        }
    }
}

/* The register of the partial results that stands for the same register bits but those along the axis. */
static inline void run_broadcast_warp(Grid *g, const Op *op) {
    const Value *from = op->args[0], *v = op->results[0];
    ReducePlan plan = layout_reduce_plan(v->type.layout, op->attr.axis);
    for (uint32_t r = 0; r < registers_of(v); r++) {
        uint32_t k = 0, n = 0;
        for (uint32_t bit = 0; bit < 32; bit++)
            if (plan.keep_partial >> bit & 1) k |= (r >> bit & 1) << n++;
        for (uint32_t t = 0; t < g->threads; t++) *at(g, v, t, r) = *at(g, from, t, k);
    }
}

/* The region for one thread, of plain ops. */
static inline void run_region_of(Grid *g, const Op *op, uint32_t t, int64_t *so_far, const int64_t *x, uint32_t n) {
    const Block *region = op->regions[0];
    for (uint32_t i = 0; i < 2 * n; i++) {
        if (!g->of[region->args.at[i]->id]) make(g, region->args.at[i]);
        *at(g, region->args.at[i], t, 0) = i < n ? so_far[i] : x[i - n];
    }
    for (const Op *in = region->first; in != region->last; in = in->next) {
        if (!g->of[in->results[0]->id]) make(g, in->results[0]);
        *at(g, in->results[0], t, 0) = pure_element(g, in, t, 0);
    }
    for (uint32_t i = 0; i < n; i++) so_far[i] = *at(g, region->last->args[i], t, 0);
}

/* Element `flat` of x, whose layout v has, as a thread of this warp holds it: in v's table. */
static inline int64_t element_like(Grid *g, const Value *x, const Value *v, uint32_t warp, uint32_t flat) {
    uint32_t size = elements_of(v->type), n = registers_of(v);
    if (g->table_of != v) {
        g->table_of = v;
        g->table = NEW_ARRAY(g->a, uint32_t, g->threads / 32 * size);
        for (uint32_t t = 0; t < g->threads; t++)
            for (uint32_t r = 0; r < n; r++) g->table[t / 32 * size + flat_of(v, t, r)] = (t % 32) * n + r + 1;
    }
    uint32_t holder = g->table[warp * size + flat];
    if (holder) return *at(g, x, warp * 32 + (holder - 1) / n, (holder - 1) % n);
    complain(g, "a warp combines what it does not hold");
    return 0;
}

/* The elements first … last along the axis (in steps of `step`) of the line through `flat`, in the same warp. */
static inline void combine_line(Grid *g, const Op *op, uint32_t t, uint32_t flat, uint32_t first, uint32_t last,
                                int64_t *sum) {
    Shape s = op->args[0]->type.shape;
    uint32_t axis = op->attr.axis, low = shape_offset(s, axis), n = op->nargs;
    int64_t x[8];
    if (n > COUNT(x)) fail_msg("%u values at once", n);
    for (uint32_t c = first;; c = first <= last ? c + 1 : c - 1) {
        uint32_t at_flat = (flat & ~shape_field(s, axis)) | c << low;
        for (uint32_t k = 0; k < n; k++) /* the operands have one layout */
            (c == first ? sum : x)[k] = element_like(g, op->args[k], op->args[0], t / 32, at_flat);
        if (c != first) run_region_of(g, op, t, sum, x, n);
        if (c == last) return;
    }
}

/* reduce_fn, scan, and the same within runs: what the definition says, element by element. */
static inline void run_combine_of(Grid *g, const Op *op) {
    const Layout *l = op->args[0]->type.layout;
    uint32_t axis = op->attr.axis, n = op->nargs, low = shape_offset(l->shape, axis);
    AxisPlan plan = layout_axis_plan(l, axis);
    bool in_runs = op->kind == OP_REDUCEFNWARP || op->kind == OP_SCANWARP, reverse = op->attr.flags & COMBINE_REVERSE;
    bool is_scan = op->kind == OP_SCAN || op->kind == OP_SCANWARP;
    uint32_t size = 1u << (in_runs ? plan.within : plan.bits);
    int64_t *sum = NEW_ARRAY(g->a, int64_t, n);
    if (!in_runs && plan.within < plan.bits) complain(g, "a scan or reduction crosses warps");
    for (uint32_t t = 0; t < g->threads; t++) {
        for (uint32_t r = 0; r < registers_of(op->args[0]) && is_scan; r++) {
            uint32_t flat = flat_of(op->args[0], t, r), c = shape_coord(l->shape, flat, axis);
            uint32_t first = reverse ? c | (size - 1) : c & ~(size - 1), last = c;
            bool exclusive = op->attr.flags & COMBINE_EXCLUSIVE && first != last;
            combine_line(g, op, t, flat, first, exclusive ? (reverse ? last + 1 : last - 1) : last, sum);
            for (uint32_t k = 0; k < n; k++) *at(g, op->results[k], t, r) = sum[k];
        }
        for (uint32_t r = 0; r < registers_of(op->results[op->nresults - 1]) && op->kind != OP_SCAN; r++) {
            const Value *v = op->results[op->nresults - 1];
            uint32_t to = flat_of(v, t, r), run = in_runs ? shape_coord(v->type.shape, to, axis) : 0;
            uint32_t bits = plan.bits - (in_runs ? plan.within : plan.bits); /* of the axis in the result */
            uint32_t flat = (to & ((1u << low) - 1)) | (uint32_t)((uint64_t)to >> (low + bits) << (low + plan.bits));
            uint32_t begin = run * size, end = begin + size - 1;
            combine_line(g, op, t, flat, reverse ? end : begin, reverse ? begin : end, sum);
            for (uint32_t k = 0; k < n; k++) *at(g, op->results[is_scan ? n + k : k], t, r) = sum[k];
        }
    }
}

static inline void run_apply(Grid *g, const Op *op) {
    uint32_t n = op->nargs / 2, axis = op->attr.axis;
    const Layout *l = op->args[0]->type.layout;
    Shape s = l->shape, runs = op->args[n]->type.shape;
    uint32_t within = layout_axis_plan(l, axis).within, most = (uint32_t)shape_size(runs, axis) - 1;
    int64_t *sum = NEW_ARRAY(g->a, int64_t, n), *x = NEW_ARRAY(g->a, int64_t, n);
    for (uint32_t t = 0; t < g->threads; t++) {
        for (uint32_t r = 0; r < registers_of(op->args[0]); r++) {
            uint32_t coords[SHAPE_RANK], flat = flat_of(op->args[0], t, r);
            for (uint32_t d = 0; d < s.rank; d++) coords[d] = shape_coord(s, flat, d) >> (d == axis ? within : 0);
            bool has_before = coords[axis] != (op->attr.flags & COMBINE_REVERSE ? most : 0);
            for (uint32_t k = 0; k < n; k++) {
                x[k] = *at(g, op->args[k], t, r);
                sum[k] =
                    has_before ? element_like(g, op->args[n + k], op->args[n], t / 32, shape_flat(runs, coords)) : x[k];
            }
            if (has_before) run_region_of(g, op, t, sum, x, n);
            for (uint32_t k = 0; k < n; k++) *at(g, op->results[k], t, r) = sum[k];
        }
    }
}

/* ---- Memory of the threads --------------------------------------------------------------------------------------- */

static inline bool masked_in(const Grid *g, const Value *mask, uint32_t t, uint32_t r) {
    return !mask || *at(g, mask, t, r);
}

/* What the access claims of each vector of registers. */
static inline void check_vectors(Grid *g, const Op *op, const Value *mask) {
    const MemAttr *m = &op->attr.mem;
    uint32_t n = 1u << m->vec_log2, registers = registers_of(op->args[0]);
    if (mask && m->mask_kind == MASK_NONE) complain(g, "a mask of no kind");
    for (uint32_t t = 0; t < g->threads; t++) {
        for (uint32_t r = 0; r < registers; r++) {
            uint32_t first = r & ~(n - 1);
            int64_t start = *at(g, op->args[0], t, first);
            bool one = masked_in(g, mask, t, first), here = masked_in(g, mask, t, r);
            if (*at(g, op->args[0], t, r) != start + 4 * (int64_t)(r - first))
                complain(g, "a vector is not consecutive");
            if (start & ((INT64_C(1) << m->align_log2) - 1)) complain(g, "an access is not aligned as it says");
            if (m->mask_kind == MASK_UNIFORM && here != one) complain(g, "a uniform mask cuts a vector");
            if (m->mask_kind == MASK_PREFIX && r != first && here && !masked_in(g, mask, t, r - 1))
                complain(g, "a mask is no prefix");
        }
    }
}

static inline void run_load(Grid *g, const Op *op) {
    const Value *v = op->results[0], *mask = op->nargs > 1 ? op->args[1] : NULL;
    check_vectors(g, op, mask);
    for (uint32_t t = 0; t < g->threads; t++) {
        for (uint32_t r = 0; r < registers_of(v); r++) {
            int64_t other = op->nargs > 2 ? *at(g, op->args[2], t, r) : 0;
            *at(g, v, t, r) = masked_in(g, mask, t, r) ? loaded(*at(g, op->args[0], t, r)) : other;
        }
    }
}

static inline void run_store(Grid *g, const Op *op) {
    const Value *mask = op->nargs > 2 ? op->args[2] : NULL;
    check_vectors(g, op, mask);
    for (uint32_t t = 0; t < g->threads; t++)
        for (uint32_t r = 0; r < registers_of(op->args[1]); r++)
            if (is_canonical(op->args[1], t, r) && masked_in(g, mask, t, r))
                memory_set(g->memory, *at(g, op->args[0], t, r), *at(g, op->args[1], t, r));
}

static inline uint32_t bytes_of(const Value *v) {
    return type_bytes(v->type);
}

/* By asking every place which element it is of. */
static inline uint32_t offset_in(const Buffer *b, uint32_t element) {
    for (uint32_t i = 0; i < shape_elements(b->places->shape); i++)
        if (layout_apply(b->places, (Owner){{i}}) == element) return i;
    return UINT32_MAX;
}

static inline void run_shared(Grid *g, const Op *op) {
    bool is_store = op->kind == OP_SHSTORE;
    const Value *v = is_store ? op->args[0] : op->results[0];
    const Buffer *buffer = &g->f->buffers.at[op->attr.buffer];
    const Value *stage = is_store && op->nargs > 1 ? op->args[1] : NULL;
    if (op->kind == OP_SHLOAD && op->nargs) stage = op->args[0];
    for (uint32_t t = 0; t < g->threads; t++) {
        uint64_t begin = (uint64_t)buffer->offset + (stage ? (uint64_t)*at(g, stage, t, 0) * buffer->bytes : 0);
        for (uint32_t r = 0; r < registers_of(v); r++) {
            if (is_store && !is_canonical(v, t, r)) continue;
            uint32_t flat = flat_of(v, t, r) ^ (op->kind == OP_SHLOAD ? op->attr.flip : 0);
            if (op->kind == OP_SHGATHER)
                flat =
                    gathered_from(v->type.shape, buffer->places->shape, op->attr.axis, flat, *at(g, op->args[0], t, r));
            if (op->kind == OP_SHSLICE) {
                uint32_t coords[SHAPE_RANK];
                for (uint32_t i = 0; i < v->type.shape.rank; i++) coords[i] = shape_coord(v->type.shape, flat, i);
                coords[op->attr.axis] += (uint32_t)*at(g, op->args[0], t, 0);
                flat = shape_flat(buffer->places->shape, coords);
            }
            uint64_t first = begin + (uint64_t)offset_in(buffer, flat) * bytes_of(v);
            if (buffer->offset < 0 || first + bytes_of(v) > g->f->shared_bytes) {
                complain(g, "outside of shared memory");
                continue;
            }
            for (uint32_t i = 0; i < bytes_of(v); i++) {
                Byte *b = &g->shared[first + i];
                if (b->writer != NOBODY && b->writer != (int)t)
                    complain(g, is_store ? "write after write" : "read after write");
                if (is_store && b->reader != NOBODY && b->reader != (int)t) complain(g, "write after read");
                if (is_store)
                    b->writer = (int)t;
                else
                    b->reader = b->reader == NOBODY || b->reader == (int)t ? (int)t : MANY;
                b->known |= is_store;
                if (!b->known) complain(g, "shared memory is read before it is written");
            }
            if (is_store)
                g->shared[first].value = *at(g, v, t, r);
            else
                *at(g, v, t, r) = g->shared[first].value;
        }
    }
}

static inline void run_barrier(Grid *g, const Op *op) {
    if (op->attr.scope < SCOPE_BLOCK && g->threads > 32) return;
    for (uint32_t i = 0; i < g->f->shared_bytes; i++) g->shared[i].writer = g->shared[i].reader = NOBODY;
}

/* ---- Control flow: the same in all threads ----------------------------------------------------------------------- */

static inline void threads_block(Grid *g, const Block *b);

static inline int64_t uniform(Grid *g, const Value *v) {
    for (uint32_t t = 1; t < g->threads; t++)
        if (*at(g, v, t, 0) != *at(g, v, 0, 0)) complain(g, "threads disagree on a scalar that steers");
    return *at(g, v, 0, 0);
}

static inline void hand_on(Grid *g, Value *const *to, Value *const *from, uint32_t n) {
    int64_t **values = NEW_ARRAY(g->a, int64_t *, n + 1);
    for (uint32_t i = 0; i < n; i++) values[i] = g->of[from[i]->id];
    for (uint32_t i = 0; i < n; i++) {
        make(g, to[i]);
        memcpy(g->of[to[i]->id], values[i], g->threads * registers_of(to[i]) * sizeof(int64_t));
    }
}

static inline void threads_for(Grid *g, const Op *op) {
    const Block *body = op->regions[0];
    int64_t iv = uniform(g, op->args[0]), hi = uniform(g, op->args[1]), step = uniform(g, op->args[2]);
    hand_on(g, body->args.at + 1, op->args + 3, op->nresults);
    for (; step > 0 ? iv < hi : iv > hi; iv += step) {
        make(g, body->args.at[0]);
        for (uint32_t t = 0; t < g->threads; t++) *at(g, body->args.at[0], t, 0) = iv;
        threads_block(g, body);
        hand_on(g, body->args.at + 1, body->last->args, op->nresults);
    }
    hand_on(g, op->results, body->args.at + 1, op->nresults);
}

static inline void threads_op(Grid *g, const Op *op) {
    bool makes = !op->nregions || op_is_combine(op->kind);
    for (uint32_t i = 0; i < op->nresults && makes; i++) make(g, op->results[i]);
    switch (op->kind) {
    case OP_FOR: threads_for(g, op); return;
    case OP_IF: {
        const Block *arm = op->regions[uniform(g, op->args[0]) ? 0 : 1];
        threads_block(g, arm);
        hand_on(g, op->results, arm->last->args, op->nresults);
        return;
    }
    case OP_BROADCAST:
    case OP_CONVERT: run_moved(g, op); return;
    case OP_FLIP: run_flip(g, op); return;
    case OP_REDUCE: complain(g, "a reduce was left"); return;
    case OP_GATHER: complain(g, "a gather was left"); return;
    case OP_REDUCEWARP: run_reduce(g, op); return;
    case OP_SPREADWARP: run_broadcast_warp(g, op); return;
    case OP_REDUCEFN:
    case OP_REDUCEFNWARP:
    case OP_SCAN:
    case OP_SCANWARP: run_combine_of(g, op); return;
    case OP_SCANAPPLY: run_apply(g, op); return;
    case OP_LOAD: run_load(g, op); return;
    case OP_STORE: run_store(g, op); return;
    case OP_SHSTORE:
    case OP_SHGATHER:
    case OP_SHSLICE:
    case OP_SHLOAD: run_shared(g, op); return;
    case OP_BARRIER: run_barrier(g, op); return;
    case OP_PRINT:
    case OP_ASSERT:
    case OP_YIELD:
    case OP_RETURN: return;
    default: break;
    }
    for (uint32_t t = 0; t < g->threads; t++)
        for (uint32_t r = 0; r < registers_of(op->results[0]); r++)
            *at(g, op->results[0], t, r) = is_move(op->kind) ? kept_element(g, op, t, r) : pure_element(g, op, t, r);
}

static inline void threads_block(Grid *g, const Block *b) {
    for (const Op *op = b->first; op; op = op->next) threads_op(g, op);
}

/* NULL, or what is wrong; what is stored goes to `memory`. */
static const char *run_threads(const Func *f, int64_t n, Memory *memory) {
    Arena *a = arena_create();
    Grid g = {.f = f, .a = a, .threads = f->threads_per_program, .memory = memory};
    g.of = NEW_ARRAY(a, int64_t *, f->next_value + 1);
    g.shared = NEW_ARRAY(a, Byte, f->shared_bytes + 1);
    for (uint32_t i = 0; i < f->shared_bytes; i++) g.shared[i].writer = g.shared[i].reader = NOBODY;
    const int64_t params[] = {P, Q, n};
    for (uint32_t i = 0; i < f->params.len; i++) {
        make(&g, f->body->args.at[i]);
        for (uint32_t t = 0; t < g.threads; t++) *at(&g, f->body->args.at[i], t, 0) = params[i];
    }
    threads_block(&g, f->body);
    arena_destroy(a);
    return g.wrong;
}

#endif
