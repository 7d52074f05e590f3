/* combine.c - reductions and scans by a region, in order along the axis, within a warp.
 *
 * In: reduce_fn, scan and what the exchange pass made of them. Out: the results' slots.
 * Method: the bits of the axis from the lowest up, in levels of register bits and of lane bits. A level combines what
 * its owners hold to one total for the next level, and keeps for each owner the total of those before it. A scan then
 * goes down again: it combines these totals of all levels to one prefix, and the prefix with the elements.
 */
#include "codegen/simt/simt.h"

typedef struct Prefix { /* of n values */
    V *x;    /* NULL: nothing comes before */
    V valid; /* i1: something does; NULL: in every thread */
} Prefix;

typedef struct Level {
    bool is_lanes;
    uint32_t first, count; /* bits of the axis */
    uint32_t mask;         /* of registers */
    Prefix *before;        /* by register, its bits of lower levels being zero */
} Level;

typedef struct Combine {
    Simt *s;
    Arena *a;
    const Op *op;
    const Layout *layout;
    AxisPlan plan;
    uint32_t n, registers, below; /* `below`: register bits of all levels */
    bool reverse;
    Level levels[SHAPE_BITS];
    uint32_t num_levels;
    V **total;   /* by register: n values */
    V **element; /* by register: the operands */
    V **run;     /* by register: combined within the lowest level, if that is of registers */
} Combine;

static Combine begin(Simt *s, const Op *op) {
    Combine c = {.s = s, .a = s->m->o->arena, .op = op, .layout = op->args[0]->type.layout, .n = combine_width(op)};
    c.plan = layout_axis_plan(c.layout, op->attr.axis);
    if (!c.plan.ordered) bug("%s: the layout does not hold the axis in order", op_info[op->kind].name);
    c.registers = layout_registers(c.layout);
    c.reverse = op->attr.flags & COMBINE_REVERSE;
    return c;
}

static V *values(const Combine *c) {
    return NEW_ARRAY(c->a, V, c->n);
}

/* The region with a and b as its arguments. */
static V *combine(Combine *c, V *a, V *b) {
    Simt *s = c->s;
    const Block *region = c->op->regions[0];
    uint32_t site = s->op_site;
    for (uint32_t i = 0; i < 2 * c->n; i++) {
        Tile t = tile_create(s, 1);
        t.at[0].base = i < c->n ? a[i] : b[i - c->n];
        s->values[region->args.at[i]->id] = t;
    }
    bool records = s->records;
    s->records = false; /* of single elements, in the midst of an op */
    simt_block(s, region);
    s->records = records;
    simt_at_op(s, c->op);
    s->op_site = site;
    V *r = values(c);
    for (uint32_t i = 0; i < c->n; i++) r[i] = tile_slot(s, tile_of(s, region->last->args[i]), 0);
    return r;
}

static V *choose(Combine *c, V condition, V *yes, V *no) {
    V *r = values(c);
    for (uint32_t i = 0; i < c->n; i++) r[i] = LLVMBuildSelect(c->s->m->at, condition, yes[i], no[i], "");
    return r;
}

static Prefix join(Combine *c, Prefix first, Prefix then) {
    if (!first.x) return then;
    if (!then.x) return first;
    Prefix r = {combine(c, first.x, then.x), NULL};
    if (then.valid) r.x = choose(c, then.valid, r.x, first.x);
    if (first.valid) r.x = choose(c, first.valid, r.x, then.x);
    if (first.valid && then.valid) r.valid = LLVMBuildOr(c->s->m->at, first.valid, then.valid, "");
    return r;
}

/* ---- Up: the levels ---------------------------------------------------------------------------------------------- */

static void find_levels(Combine *c, uint32_t end) {
    for (uint32_t k = 0; k < end; k++) {
        bool is_lanes = c->plan.dim[k] == IN_LANE;
        if (c->plan.dim[k] > IN_LANE) bug("%s: warps were left implicit", op_info[c->op->kind].name);
        if (!c->num_levels || c->levels[c->num_levels - 1].is_lanes != is_lanes)
            c->levels[c->num_levels++] = (Level){.is_lanes = is_lanes, .first = k};
        Level *l = &c->levels[c->num_levels - 1];
        l->count++;
        if (!is_lanes) l->mask |= UINT32_C(1) << c->plan.bit[k];
    }
}

/* The register bits of the level's owner that comes at `position`. */
static uint32_t register_at(const Combine *c, const Level *l, uint32_t position) {
    uint32_t r = 0;
    if (c->reverse) position = ~position;
    for (uint32_t i = 0; i < l->count; i++)
        if (position >> i & 1) r |= UINT32_C(1) << c->plan.bit[l->first + i];
    return r;
}

static void join_registers(Combine *c, Level *l, uint32_t base, bool keep_runs) {
    uint32_t reg = base | register_at(c, l, 0);
    V *run = c->total[reg];
    if (keep_runs) c->run[reg] = run;
    for (uint32_t i = 1; i < UINT32_C(1) << l->count; i++) {
        reg = base | register_at(c, l, i);
        l->before[reg].x = run;
        run = combine(c, run, c->total[reg]);
        if (keep_runs) c->run[reg] = run;
    }
    c->total[base] = run;
}

/* Is this lane's half the later one, along the axis bit? */
static V is_later(Combine *c, uint32_t lane_bit) {
    ThreadMap map = {0};
    map.thread[lane_bit] = 1;
    LLVMIntPredicate p = c->reverse ? LLVMIntEQ : LLVMIntNE;
    return LLVMBuildICmp(c->s->m->at, p, simt_map(c->s, &map), simt_i32(c->s, 0), "");
}

static void join_lanes(Combine *c, Level *l, uint32_t reg, bool is_scan) {
    Simt *s = c->s;
    Prefix before = {NULL, NULL};
    V *total = c->total[reg];
    for (uint32_t i = 0; i < l->count; i++) {
        uint32_t bit = c->plan.bit[l->first + i];
        V later = is_later(c, bit), *other = values(c);
        for (uint32_t k = 0; k < c->n; k++) {
            V mask = simt_i32(s, UINT32_C(1) << bit);
            other[k] = simt_shuffle(s, PRIM_SHFL_BFLY, c->op->args[k]->type.dtype, total[k], mask);
        }
        if (is_scan && !before.x) {
            before = (Prefix){other, later};
        } else if (is_scan) {
            Prefix nearer = join(c, (Prefix){other, NULL}, before);
            before.x = choose(c, later, nearer.x, before.x);
            before.valid = LLVMBuildOr(s->m->at, before.valid, later, "");
        }
        total = combine(c, choose(c, later, other, total), choose(c, later, total, other));
    }
    c->total[reg] = total;
    l->before[reg] = before;
}

/* Afterwards total[r] is that of all that the levels join, r's bits of them being zero. */
static void go_up(Combine *c, uint32_t end, bool is_scan) {
    find_levels(c, end);
    c->total = NEW_ARRAY(c->a, V *, c->registers);
    c->element = NEW_ARRAY(c->a, V *, c->registers);
    c->run = NEW_ARRAY(c->a, V *, c->registers);
    for (uint32_t r = 0; r < c->registers; r++) {
        c->total[r] = c->element[r] = values(c);
        for (uint32_t k = 0; k < c->n; k++) c->element[r][k] = tile_slot(c->s, tile_of(c->s, c->op->args[k]), r);
    }
    for (uint32_t i = 0; i < c->num_levels; i++) {
        Level *l = &c->levels[i];
        l->before = NEW_ARRAY(c->a, Prefix, c->registers);
        for (uint32_t r = 0; r < c->registers; r++) {
            if (r & (c->below | l->mask)) continue;
            if (l->is_lanes) join_lanes(c, l, r, is_scan);
            else join_registers(c, l, r, is_scan && i == 0);
        }
        c->below |= l->mask;
    }
}

/* ---- Down: prefixes ---------------------------------------------------------------------------------------------- */

/* What comes before each register, of the levels from the highest down to `lowest`. */
static Prefix *go_down(Combine *c, uint32_t lowest) {
    Prefix *before = NEW_ARRAY(c->a, Prefix, c->registers);
    uint32_t below = c->below;
    for (uint32_t i = c->num_levels; i-- > lowest;) {
        const Level *l = &c->levels[i];
        below &= ~l->mask;
        for (uint32_t r = c->registers; r-- > 0;)
            if (!(r & below)) before[r] = join(c, before[r & ~l->mask], l->before[r]);
    }
    return before;
}

static V **scanned(Combine *c) {
    bool exclusive = c->op->attr.flags & COMBINE_EXCLUSIVE;
    bool by_runs = !exclusive && c->num_levels && !c->levels[0].is_lanes;
    uint32_t below = by_runs ? c->levels[0].mask : 0;
    Prefix *before = go_down(c, by_runs ? 1 : 0);
    V **r = NEW_ARRAY(c->a, V *, c->registers);
    for (uint32_t i = 0; i < c->registers; i++) {
        Prefix own = {by_runs ? c->run[i] : c->element[i], NULL}, all = before[i & ~below];
        r[i] = !exclusive ? join(c, all, own).x : all.x ? all.x : own.x;
    }
    return r;
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* from[deposit(k, keep)] into the results from `first` on. */
static void set_results(Combine *c, uint32_t first, V **from, uint32_t keep) {
    for (uint32_t k = 0; k < c->n; k++) {
        const Value *v = c->op->results[first + k];
        Tile t = tile_create(c->s, tile_registers(v));
        for (uint32_t r = 0; r < t.n; r++) t.at[r].base = from[deposit(r, keep)][k];
        c->s->values[v->id] = t;
    }
}

void simt_combine(Simt *s, const Op *op) {
    Combine c = begin(s, op);
    bool in_runs = op->kind == OP_REDUCEFNWARP || op->kind == OP_SCANWARP;
    bool is_scan = op->kind == OP_SCAN || op->kind == OP_SCANWARP;
    uint32_t all = c.registers - 1;
    go_up(&c, in_runs ? c.plan.within : c.plan.bits, is_scan);
    if (is_scan) set_results(&c, 0, scanned(&c), all);
    if (in_runs) set_results(&c, is_scan ? c.n : 0, c.total, all & ~c.below);
    if (op->kind == OP_REDUCEFN)
        set_results(&c, 0, c.total, layout_reduce_plan(c.layout, op->attr.axis).keep);
}

/* ---- Runs joined ------------------------------------------------------------------------------------------------- */

static uint32_t all_bases(const Layout *l, InDim first, InDim end) {
    uint32_t r = 0;
    for (InDim d = first; d < end; d++)
        for (uint32_t i = 0; i < l->bits[d]; i++) r |= l->basis[d][i];
    return r;
}

/* Whether anything comes before the run in register `reg` of the layout of runs. */
static bool has_before(Combine *c, const Layout *runs, uint32_t reg, V *valid) {
    uint32_t field = shape_field(runs->shape, c->op->attr.axis);
    uint32_t held = all_bases(runs, IN_REGISTER, IN_LANE) & field, threads = all_bases(runs, IN_LANE, IN_COUNT) & field;
    uint32_t at = layout_register_index(runs, reg) & field;
    *valid = NULL;
    if (at != (c->reverse ? held : 0)) return true;
    if (!threads) return false;
    V thread = LLVMBuildAnd(c->s->m->at, simt_thread_index(c->s, runs), simt_i32(c->s, threads), "");
    *valid = LLVMBuildICmp(c->s->m->at, LLVMIntNE, thread, simt_i32(c->s, c->reverse ? threads : 0), "");
    return true;
}

/* The register of the layout of runs that belongs to register `reg`: its bits within the runs closed up. */
static uint32_t run_register(const Combine *c, uint32_t reg) {
    uint32_t within = 0, r = 0, at = 0;
    for (uint32_t k = 0; k < c->plan.within; k++)
        if (c->plan.dim[k] == IN_REGISTER) within |= UINT32_C(1) << c->plan.bit[k];
    for (uint32_t i = 0; UINT32_C(1) << i < c->registers; i++)
        if (!(within >> i & 1)) r |= (reg >> i & 1) << at++;
    return r;
}

void simt_scan_apply(Simt *s, const Op *op) {
    Combine c = begin(s, op);
    const Layout *runs = op->args[c.n]->type.layout;
    V **results = NEW_ARRAY(c.a, V *, c.registers);
    for (uint32_t r = 0; r < c.registers; r++) {
        uint32_t run = run_register(&c, r);
        V *own = values(&c), *first = values(&c);
        for (uint32_t k = 0; k < c.n; k++) {
            own[k] = tile_slot(s, tile_of(s, op->args[k]), r);
            first[k] = tile_slot(s, tile_of(s, op->args[c.n + k]), run);
        }
        Prefix before = {first, NULL};
        if (!has_before(&c, runs, run, &before.valid)) before.x = NULL;
        results[r] = join(&c, before, (Prefix){own, NULL}).x;
    }
    set_results(&c, 0, results, c.registers - 1);
}
