/* layout_move_test.c - layouts that meet: conversions, broadcasting, reductions, each proved by moving data.
 *
 * In: seeded random pairs of layouts (random_layout.h).
 * A plan is carried out on arrays of values as a code generator would (registers, shuffles, candidates, butterflies);
 * every owner's result is compared with the tile. Distances are compared with a search over all owners. Each simulation
 * is also shown a damaged plan, which it must refuse.
 */
#include "random_layout.h"

static Arena *arena;
static Layouts *layouts;

static int set_up(void **state) {
    (void)state;
    arena = arena_create();
    layouts = layouts_create(arena);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_destroy(arena);
    return 0;
}

/* ---- Conversions ------------------------------------------------------------------------------------------------- */

/* A layout over the same threads whose owner o holds what the owner o ^ (something within `reach`) holds in l. */
static const Layout *random_neighbour(Random *r, const Layout *l, uint32_t reach) {
    Layout near = *l;
    for (uint32_t tries = 0; tries < 20; tries++) {
        for (uint32_t moves = random_below(r, 6) + 1; moves > 0; moves--) {
            InDim d = (InDim)random_below(r, reach + 1), e = (InDim)random_below(r, IN_COUNT);
            if (near.bits[d] == 0 || near.bits[e] == 0) continue;
            uint32_t *a = &near.basis[d][random_below(r, near.bits[d])],
                     *b = &near.basis[e][random_below(r, near.bits[e])];
            if (a == b) continue;
            if (random_below(r, 2)) {
                *b ^= *a;
            } else if (e <= reach) {
                uint32_t swapped = *a;
                *a = *b;
                *b = swapped;
            }
        }
        if (layout_is_surjective(&near)) return layout_intern(layouts, &near);
        near = *l;
    }
    return l;
}

static const Layout *random_partner(Random *r, const Layout *l) {
    uint32_t reach = random_below(r, IN_COUNT + 2);
    if (reach < IN_COUNT) return random_neighbour(r, l, reach);
    uint8_t bits[IN_COUNT];
    uint32_t total = 0, threads;
    memcpy(bits, l->bits, sizeof bits);
    for (InDim d = 0; d < IN_COUNT; d++) total += bits[d];
    threads = total - bits[IN_REGISTER];
    uint32_t tile = shape_log2(l->shape), least = tile > threads ? tile - threads : 0;
    bits[IN_REGISTER] = (uint8_t)(least + random_below(r, MAX_OWNERS - threads - least + 1));
    Layout other = random_layout_of(r, l->shape, bits);
    return layout_intern(layouts, &other);
}

/* The nearest dimension over which every owner of `need` finds its element in `from`; need[o] is an element. */
static ConvertKind nearest_kind(const Layout *from, const Table *have, const Table *need) {
    uint32_t unit = have->registers, owners = have->owners;
    for (InDim d = IN_REGISTER; d < IN_COUNT; d++) {
        static bool held[1u << (MAX_TILE + MAX_OWNERS)];
        uint32_t groups = owners / unit, per_group = need->owners / groups;
        memset(held, 0, (size_t)groups << MAX_TILE);
        for (uint32_t o = 0; o < owners; o++) held[o / unit << MAX_TILE | have->element[o]] = true;
        bool all = true;
        for (uint32_t o = 0; o < need->owners && all; o++) all = held[o / per_group << MAX_TILE | need->element[o]];
        if (all) return (ConvertKind)(CONVERT_REGISTERS + d);
        if (d + 1 < IN_COUNT) unit <<= from->bits[d + 1];
    }
    fail();
    return CONVERT_CLUSTER;
}

/* Does every destination owner's source hold its element, and is it no farther away than `kind` says? */
static bool moves_right(const ConvertPlan *plan, const Table *have, const Layout *to, const Table *need) {
    for (uint32_t o = 0; o < need->owners; o++) {
        Owner there = layout_unpack(to, o), from = convert_source(plan, there);
        if (layout_pack(plan->from, from) >= have->owners) return false;
        if (have->element[layout_pack(plan->from, from)] != need->element[o]) return false;
        for (InDim d = IN_LANE; d < IN_COUNT; d++)
            if (plan->kind < (ConvertKind)(CONVERT_REGISTERS + d) && from.at[d] != there.at[d]) return false;
    }
    return true;
}

static uint32_t plan_part(const ConvertPlan *plan, Owner o, InDim first, InDim last, InDim of) {
    uint32_t sum = 0;
    for (InDim d = first; d <= last; d++)
        for (uint32_t i = 0; i < LAYOUT_BITS; i++)
            if (o.at[d] >> i & 1) sum ^= plan->source[d][i].at[of];
    return sum;
}

/* Carries out a plan within warps as generated code does: the source lane is a constant of the register and a
 * function of the thread; each candidate register is shuffled whole, and the thread selects. */
static bool shuffles_right(const ConvertPlan *plan, const Table *have, const Layout *to, const Table *need) {
    for (uint32_t o = 0; o < need->owners; o++) {
        Owner there = layout_unpack(to, o), source = there;
        source.at[IN_LANE] = plan_part(plan, there, IN_REGISTER, IN_REGISTER, IN_LANE) ^
                             plan_part(plan, there, IN_LANE, IN_CTA, IN_LANE);
        uint32_t constant = plan_part(plan, there, IN_REGISTER, IN_REGISTER, IN_REGISTER);
        uint32_t wanted = constant ^ plan_part(plan, there, IN_LANE, IN_CTA, IN_REGISTER);
        uint32_t hits = 0;
        for (uint32_t k = 0; k < 1u << plan->nselect; k++) {
            source.at[IN_REGISTER] = constant;
            for (uint32_t i = 0; i < plan->nselect; i++)
                if (k >> i & 1) source.at[IN_REGISTER] ^= plan->select[i];
            if (source.at[IN_REGISTER] != wanted) continue;
            hits++;
            if (have->element[layout_pack(plan->from, source)] != need->element[o]) return false;
        }
        if (hits != 1) return false;
    }
    return true;
}

static void test_convert(void **state) {
    (void)state;
    Random r = {21};
    uint32_t seen[CONVERT_CLUSTER + 1] = {0}, selects = 0;
    for (uint32_t n = 0; n < 2 * LAYOUTS; n++) {
        const Layout *from = random_layout(&r, layouts), *to = random_partner(&r, from);
        Table have = table_make(from), need = table_make(to);
        ConvertPlan plan;
        convert_plan(from, to, &plan);
        ConvertKind kind = from == to ? CONVERT_NONE : nearest_kind(from, &have, &need);
        require(plan.kind == kind && convert_kind(from, to) == kind, to, "kind of conversion");
        require(moves_right(&plan, &have, to, &need), to, "conversion");
        if (kind <= CONVERT_SHUFFLE) require(shuffles_right(&plan, &have, to, &need), to, "conversion by shuffles");
        seen[kind]++;
        selects += plan.nselect > 0;
    }
    for (ConvertKind k = CONVERT_NONE; k <= CONVERT_CLUSTER; k++) assert_true(seen[k] > 200);
    assert_true(selects > 200);
}

static void test_convert_can_fail(void **state) {
    (void)state;
    Layout from = {.shape = shape_row(5), .bits = {2, 3}, .basis = {{1, 2}, {4, 8, 16}}};
    Layout to = {.shape = shape_row(5), .bits = {2, 3}, .basis = {{1, 4}, {2, 8, 16}}};
    Table have = table_make(&from), need = table_make(&to);
    ConvertPlan plan, bad;
    convert_plan(&from, &to, &plan);
    assert_int_equal(plan.kind, CONVERT_SHUFFLE);
    assert_true(moves_right(&plan, &have, &to, &need) && shuffles_right(&plan, &have, &to, &need));
    bad = plan;
    bad.source[IN_LANE][1].at[IN_REGISTER] ^= 1;
    assert_false(moves_right(&bad, &have, &to, &need));
    assert_false(shuffles_right(&bad, &have, &to, &need));
    bad = plan;
    bad.kind = CONVERT_REGISTERS;
    assert_false(moves_right(&bad, &have, &to, &need));
    bad = plan;
    bad.nselect = 0;
    assert_false(shuffles_right(&bad, &have, &to, &need));
}

/* From 4 consecutive elements a lane to 1: lane bits 0 and 1 become registers, two candidates times two. */
static void test_convert_case(void **state) {
    (void)state;
    const Layout *from = layout_blocked(layouts, shape_row(7), NULL, 2, 5, 0, 0);
    const Layout *to = layout_blocked(layouts, shape_row(7), NULL, 0, 5, 0, 0);
    ConvertPlan plan;
    convert_plan(from, to, &plan);
    assert_int_equal(plan.kind, CONVERT_SHUFFLE);
    assert_string_equal(convert_name(plan.kind), "shuffle");
    assert_int_equal(plan.nselect, 2);
    assert_int_equal(plan.source[IN_LANE][0].at[IN_REGISTER], 1);
    assert_int_equal(plan.source[IN_LANE][0].at[IN_LANE], 0);
    assert_int_equal(plan.source[IN_LANE][4].at[IN_LANE], 4);
    assert_int_equal(plan.source[IN_REGISTER][0].at[IN_LANE], 8);
    const Layout *warps = layout_blocked(layouts, shape_row(7), NULL, 0, 5, 2, 0);
    const Layout *vectors = layout_blocked(layouts, shape_row(7), NULL, 2, 5, 2, 0);
    assert_int_equal(convert_kind(warps, vectors), CONVERT_SHARED);  /* each warp has 32 elements, needs all 128 */
    assert_int_equal(convert_kind(vectors, warps), CONVERT_SHUFFLE); /* every warp has all */

    /* A register that only repeats another is still its own source where both layouts have it. */
    Layout twice = {.shape = shape_row(1), .bits = {2, 1}, .basis = {{1, 1}, {0}}}, swapped = twice;
    swapped.basis[IN_LANE][0] = 1;
    convert_plan(&twice, &swapped, &plan);
    assert_int_equal(plan.source[IN_REGISTER][1].at[IN_REGISTER], 2);
}

/* ---- Broadcasting ------------------------------------------------------------------------------------------------ */

static Shape random_source(Random *r, Shape s) {
    for (uint32_t i = 0; i < s.rank; i++)
        if (random_below(r, 2)) s = shape_collapse(s, i);
    return s;
}

/* The table of what each owner in l needs of a tile of shape `from`. */
static Table table_projected(const Layout *l, Shape from) {
    Table t = table_make(l);
    for (uint32_t o = 0; o < t.owners; o++) {
        uint32_t flat = 0;
        for (uint32_t i = 0; i < from.rank; i++)
            flat = flat << from.log2[i] | (from.log2[i] ? coord_of(l->shape, t.element[o], i) : 0);
        t.element[o] = flat;
    }
    return t;
}

/* Does each thread hold exactly the elements that the same thread needs, each once? */
static bool holds_exactly(const Table *have, const Table *need) {
    if (have->threads != need->threads) return false;
    for (uint32_t thread = 0; thread < have->threads; thread++) {
        uint32_t count[1u << MAX_TILE] = {0};
        for (uint32_t k = 0; k < need->registers; k++) count[need->element[thread * need->registers + k]] = 1;
        for (uint32_t k = 0; k < have->registers; k++)
            if (count[have->element[thread * have->registers + k]]++ != 1) return false;
        for (uint32_t e = 0; e < 1u << MAX_TILE; e++)
            if (count[e] == 1) return false;
    }
    return true;
}

static void test_project(void **state) {
    (void)state;
    Random r = {22};
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        const Layout *l = random_layout(&r, layouts);
        Shape source = random_source(&r, l->shape);
        const Layout *p = layout_project(layouts, l, source);
        Table have = table_make(p), need = table_projected(l, source);
        require(shape_equal(p->shape, source) && layout_is_surjective(p), p, "projected layout");
        require(layout_same_threads(p, l) && holds_exactly(&have, &need), l, "project");
        ConvertPlan plan;
        convert_broadcast(p, l, &plan);
        require(plan.kind <= CONVERT_REGISTERS && moves_right(&plan, &have, l, &need), l, "broadcast");
        require(plan.nselect == 0, l, "broadcast selects");

        const Layout *far = random_partner(&r, p);
        Table other = table_make(far);
        convert_broadcast(far, l, &plan);
        ConvertKind kind = far == l ? CONVERT_NONE : nearest_kind(far, &other, &need);
        require(plan.kind == kind && moves_right(&plan, &other, l, &need), far, "broadcast from elsewhere");
    }
}

static void test_slice(void **state) {
    (void)state;
    Random r = {23};
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        const Layout *l = random_layout(&r, layouts);
        if (l->shape.rank == 0) continue;
        uint32_t axis = random_below(&r, l->shape.rank);
        const Layout *kept = layout_slice(layouts, l, axis, true), *s = layout_slice(layouts, l, axis, false);
        require(kept == layout_project(layouts, l, shape_collapse(l->shape, axis)), l, "slice with keep_dim");
        require(layout_expand(layouts, s, axis) == kept, l, "expand after slice");
        require(layout_slice(layouts, kept, axis, true) == kept, l, "slice twice");
    }
}

static void test_project_can_fail(void **state) {
    (void)state;
    const Layout *l = layout_blocked(layouts, shape_make(2, (const uint8_t[]){3, 3}), NULL, 1, 3, 0, 0);
    Shape row = shape_collapse(l->shape, 0);
    Table need = table_projected(l, row), all = table_make(layout_blocked(layouts, row, NULL, 3, 0, 0, 0));
    Table right = table_make(layout_project(layouts, l, row));
    assert_true(holds_exactly(&right, &need));
    right.element[0] ^= 1;
    assert_false(holds_exactly(&right, &need));
    assert_false(holds_exactly(&all, &need));
}

/* ---- Reductions -------------------------------------------------------------------------------------------------- */

static uint32_t deposit(uint32_t x, uint32_t mask) {
    uint32_t y = 0;
    for (uint32_t i = 0; i < 32; i++) {
        if (!(mask >> i & 1)) continue;
        y |= (x & 1) << i;
        x >>= 1;
    }
    return y;
}

/* value[o] for each owner of a tile -> sums over plan->combine up to dimension `last`, for owners of `result`. */
static void reduce_values(const Layout *l, const ReducePlan *plan, InDim last, uint32_t keep, const uint64_t *value,
                          const Layout *result, uint64_t *sum) {
    uint32_t owners = 1;
    for (InDim d = 0; d < IN_COUNT; d++) owners <<= result->bits[d];
    for (uint32_t o = 0; o < owners; o++) {
        Owner there = layout_unpack(result, o), from = there;
        uint32_t combine = plan->combine[IN_REGISTER];
        from.at[IN_REGISTER] = deposit(there.at[IN_REGISTER], keep);
        sum[o] = 0;
        for (uint32_t m = combine;; m = (m - 1) & combine) {
            Owner one = from;
            one.at[IN_REGISTER] ^= m;
            sum[o] += value[layout_pack(l, one)];
            if (m == 0) break;
        }
    }
    static uint64_t before[1u << MAX_OWNERS];
    for (InDim d = IN_LANE; d <= last; d++) {
        for (uint32_t i = 0; i < result->bits[d]; i++) {
            if (!(plan->combine[d] >> i & 1)) continue;
            Owner step = {{0}};
            step.at[d] = 1u << i;
            memcpy(before, sum, owners * sizeof *sum);
            for (uint32_t o = 0; o < owners; o++) sum[o] = before[o] + before[o ^ layout_pack(result, step)];
        }
    }
}

/* Can sums of the bases within the axis field reach all of it? By listing them. */
static bool is_mixed(const Layout *l, uint32_t axis) {
    bool reached[1u << MAX_TILE] = {true};
    uint32_t step = 1u << shape_offset(l->shape, axis), size = (uint32_t)shape_size(l->shape, axis), count = 0;
    for (InDim d = 0; d < IN_COUNT; d++) {
        for (uint32_t i = 0; i < l->bits[d]; i++) {
            uint32_t basis = l->basis[d][i];
            if (coord_of(l->shape, basis, axis) * step != basis) continue;
            bool next[1u << MAX_TILE];
            for (uint32_t k = 0; k < size; k++) next[k] = reached[k] || reached[k ^ basis / step];
            memcpy(reached, next, sizeof next);
        }
    }
    for (uint32_t k = 0; k < size; k++) count += reached[k];
    return count < size;
}

/* The sum over the axis of `tile`, at each element of the sliced shape (axis of size 1). */
static void sum_over_axis(Shape s, uint32_t axis, const uint64_t *tile, uint64_t *want) {
    Shape collapsed = shape_collapse(s, axis);
    memset(want, 0, sizeof(uint64_t) << MAX_TILE);
    for (uint32_t e = 0; e < 1u << shape_log2(s); e++) want[shape_project(s, collapsed, e)] += tile[e];
}

/* Does the plan bring every owner of the result its sum? */
static bool reduces_right(const Layout *l, const ReducePlan *plan, const uint64_t *tile) {
    static uint64_t value[1u << MAX_OWNERS], sum[1u << MAX_OWNERS];
    uint64_t want[1u << MAX_TILE];
    sum_over_axis(l->shape, plan->axis, tile, want);
    Table t = table_make(l);
    for (uint32_t o = 0; o < t.owners; o++) value[o] = tile[t.element[o]];
    const Layout *result = layout_slice(layouts, l, plan->axis, false);
    Table after = table_make(result);
    reduce_values(l, plan, IN_CTA, plan->keep, value, result, sum);
    for (uint32_t o = 0; o < after.owners; o++)
        if (sum[o] != want[after.element[o]]) return false;
    return true;
}

/* Every element still has an owner, and no register is left that a lane could hold. */
static void check_scatter(const Layout *l) {
    const Layout *s = layout_scatter(layouts, l);
    uint32_t spare = 0;
    for (uint32_t i = 0; i < s->bits[IN_LANE]; i++) spare += s->basis[IN_LANE][i] == 0;
    require(layout_is_surjective(s) && layout_same_threads(s, l) && shape_equal(s->shape, l->shape), l,
            "scattered layout");
    require(!spare || !s->bits[IN_REGISTER], l, "a lane is left beside a register");
    require(convert_kind(l, s) <= CONVERT_REGISTERS && convert_kind(s, l) <= CONVERT_SHUFFLE, l,
            "scattering leaves the warp");
}

/* A block writes what it holds where a tile of its own has it, each element to a place of its own,
 * and finds it there in the other layout. */
static void check_own(const Layout *from, const Layout *to) {
    const Layout *own[] = {layout_own(layouts, from), layout_own(layouts, to)};
    static uint32_t memory[1u << MAX_OWNERS];
    Table t = table_make(from), own_t = table_make(own[0]), u = table_make(to), own_u = table_make(own[1]);
    require(shape_equal(own[0]->shape, own[1]->shape), from, "one size of what a block holds");
    uint32_t blocks = 1u << from->bits[IN_CTA], from_block = t.owners / blocks, to_block = u.owners / blocks;
    for (uint32_t block = 0; block < blocks; block++) {
        memset(memory, 0xff, sizeof memory);
        for (uint32_t o = block * from_block; o < (block + 1) * from_block; o++) {
            require(memory[own_t.element[o]] == UINT32_MAX || memory[own_t.element[o]] == t.element[o], from,
                    "two elements in one place");
            memory[own_t.element[o]] = t.element[o];
        }
        for (uint32_t o = block * to_block; o < (block + 1) * to_block; o++)
            require(memory[own_u.element[o]] == u.element[o], from, "not where the block left it");
    }
}

/* The round of a block's own warps: of the same partial results the sums of each block. False where it cannot be. */
static bool check_meet(const Layout *l, const Layout *partial, const ReducePlan *plan, const uint64_t *memory) {
    static uint64_t value[1u << (MAX_OWNERS + 5)], sum[1u << MAX_OWNERS];
    const Layout *meet = layout_meet(layouts, partial, plan->axis);
    if (!meet) return false;
    require(layout_is_surjective(meet) && layout_same_threads(meet, l), l, "layout in which a block's warps meet");
    require(!memcmp(meet->basis[IN_CTA], partial->basis[IN_CTA], sizeof meet->basis[IN_CTA]), l,
            "blocks keep their own");
    ReducePlan round = layout_reduce_plan(meet, plan->axis);
    require(!round.mixed && !round.combine[IN_WARP], l, "the round of a block leaves the warp");
    require(round.combine[IN_CTA] == plan->combine[IN_CTA], l, "the round of a block loses blocks");
    check_own(partial, meet);
    Linear elements = layout_linear(meet);
    for (uint32_t o = 0; o < 1u << elements.in; o++) value[o] = memory[linear_apply(&elements, o)];
    const Layout *met = layout_partial(layouts, meet, plan->axis);
    reduce_values(meet, &round, IN_LANE, round.keep_partial, value, met, sum);
    uint64_t got[1u << MAX_TILE], want[1u << MAX_TILE];
    Table after = table_make(met);
    Shape all = shape_collapse(partial->shape, plan->axis);
    uint32_t blocks = met->shape.rank < partial->shape.rank ? 0 : met->shape.log2[plan->axis];
    Shape by_block = all;
    by_block.log2[plan->axis] = (uint8_t)blocks;
    memset(got, 0, sizeof got);
    memset(want, 0, sizeof want);
    for (uint32_t o = 0; o < after.owners; o++) got[after.element[o]] = sum[o];
    for (uint32_t o = 0; o < after.owners; o++)
        require(got[after.element[o]] == sum[o], l, "owners of one block's sum differ");
    uint64_t totals[1u << MAX_TILE] = {0};
    for (uint32_t e = 0; e < 1u << shape_log2(partial->shape); e++)
        want[shape_project(partial->shape, all, e)] += memory[e];
    for (uint32_t e = 0; e < 1u << shape_log2(by_block); e++) totals[shape_project(by_block, all, e)] += got[e];
    for (uint32_t e = 0; e < 1u << shape_log2(all); e++) require(totals[e] == want[e], l, "sums of the blocks");
    return true;
}

static uint32_t meetings;

/* In two rounds: within warps, through memory in the order of layout_partial, and within warps again. */
static void check_two_rounds(const Layout *l, const ReducePlan *plan, const uint64_t *tile) {
    static uint64_t value[1u << MAX_OWNERS], sum[1u << MAX_OWNERS], first[1u << (MAX_OWNERS + 5)];
    static uint64_t memory[1u << (MAX_TILE + 5)];
    uint64_t want[1u << MAX_TILE];
    uint32_t axis = plan->axis, parts = 0;
    Table t = table_make(l);
    for (uint32_t o = 0; o < t.owners; o++) value[o] = tile[t.element[o]];
    const Layout *partial = layout_partial(layouts, l, axis), *result = layout_slice(layouts, l, axis, false);
    for (InDim d = IN_WARP; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l->bits[d]; i++) parts += plan->combine[d] >> i & 1;
    reduce_values(l, plan, IN_LANE, plan->keep_partial, value, partial, sum);
    Table after = table_make(partial);
    require(layout_is_surjective(partial) && layout_same_threads(partial, l), l, "partial layout");
    for (uint32_t o = 0; o < after.owners; o++) memory[after.element[o]] = sum[o];
    for (uint32_t o = 0; o < after.owners; o++)
        require(memory[after.element[o]] == sum[o], l, "owners of one partial result differ");
    if (parts == 0) {
        require(partial == result, l, "partial without warps");
        return;
    }
    require(partial->shape.log2[axis] == parts, l, "shape of the partial results");
    check_scatter(partial);
    check_scatter(result);
    meetings += check_meet(l, partial, plan, memory);
    const Layout *spread = layout_spread(layouts, result, axis, parts);
    require(shape_equal(spread->shape, partial->shape), l, "shape of the second round");
    require(layout_slice(layouts, spread, axis, false) == result, l, "slice after spread");
    ReducePlan second = layout_reduce_plan(spread, axis);
    require(!second.mixed && !second.combine[IN_WARP] && !second.combine[IN_CTA], l, "second round leaves the warp");
    Linear elements = layout_linear(spread);
    for (uint32_t o = 0; o < 1u << elements.in; o++) first[o] = memory[linear_apply(&elements, o)];
    reduce_values(spread, &second, IN_LANE, second.keep, first, result, sum);
    sum_over_axis(l->shape, axis, tile, want);
    after = table_make(result);
    for (uint32_t o = 0; o < after.owners; o++) require(sum[o] == want[after.element[o]], l, "second round");
}

static void test_reduce(void **state) {
    (void)state;
    Random r = {24};
    uint32_t plans = 0, mixed = 0;
    for (uint32_t n = 0; n < 2 * LAYOUTS; n++) {
        const Layout *l = random_layout(&r, layouts);
        if (l->shape.rank == 0) continue;
        uint64_t tile[1u << MAX_TILE];
        for (uint32_t e = 0; e < COUNT(tile); e++) tile[e] = random_bits(&r);
        uint32_t axis = random_below(&r, l->shape.rank);
        ReducePlan plan = layout_reduce_plan(l, axis);
        require(plan.axis == axis && plan.mixed == is_mixed(l, axis), l, "mixed");
        mixed += plan.mixed;
        if (plan.mixed) continue;
        plans += l->shape.log2[axis] > 0;
        require(reduces_right(l, &plan, tile), l, "reduce");
        check_two_rounds(l, &plan, tile);
    }
    assert_true(plans > 4000 && mixed > 200 && meetings > 1000);
}

/* Blocked layouts, and slices and expansions of them, are never mixed: what the compiler makes can be reduced. */
static void test_reduce_blocked(void **state) {
    (void)state;
    Random r = {25};
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        Shape s = random_shape(&r);
        const Layout *l = layout_blocked(layouts, s, NULL, random_below(&r, 4), random_below(&r, 6),
                                         random_below(&r, 3), random_below(&r, 2));
        while (l->shape.rank > 0) {
            uint32_t axis = random_below(&r, l->shape.rank);
            for (uint32_t i = 0; i < l->shape.rank; i++)
                require(!layout_reduce_plan(l, i).mixed, l, "a blocked layout is mixed");
            l = layout_slice(layouts, l, axis, false);
        }
    }
}

static void test_reduce_can_fail(void **state) {
    (void)state;
    const Layout *l = layout_blocked(layouts, shape_make(2, (const uint8_t[]){2, 5}), NULL, 1, 3, 1, 0);
    uint64_t tile[1u << MAX_TILE];
    for (uint32_t e = 0; e < COUNT(tile); e++) tile[e] = e * e;
    ReducePlan plan = layout_reduce_plan(l, 1), bad = plan;
    assert_int_equal(plan.combine[IN_REGISTER], 1);
    assert_int_equal(plan.combine[IN_LANE], 7);
    assert_int_equal(plan.combine[IN_WARP], 1);
    assert_int_equal(plan.keep, 6);
    assert_true(reduces_right(l, &plan, tile));
    bad.combine[IN_LANE] = 6;
    assert_false(reduces_right(l, &bad, tile));
    bad = plan;
    bad.keep = 3;
    assert_false(reduces_right(l, &bad, tile));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convert),         cmocka_unit_test(test_convert_can_fail),
        cmocka_unit_test(test_convert_case),    cmocka_unit_test(test_project),
        cmocka_unit_test(test_slice),           cmocka_unit_test(test_project_can_fail),
        cmocka_unit_test(test_reduce),          cmocka_unit_test(test_reduce_blocked),
        cmocka_unit_test(test_reduce_can_fail),
    };
    return cmocka_run_group_tests_name("layout moves", tests, set_up, tear_down);
}
