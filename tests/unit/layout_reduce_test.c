/* layout_reduce_test.c - plans of reductions over a layout, each proved by combining data.
 *
 * In: seeded random layouts (random_layout.h). A plan is carried out on arrays of values as a code generator would
 * (registers, butterflies); every owner's result is compared with the tile. A damaged plan must be refused.
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

/* What threads make of their registers: owners of one result agree, and all results of a row are its sum. */
static void check_threads(const Layout *l, const ReducePlan *plan, const uint64_t *tile) {
    static uint64_t value[1u << MAX_OWNERS], sum[1u << MAX_OWNERS], part[1u << (MAX_OWNERS + 5)];
    uint64_t got[1u << MAX_TILE] = {0}, want[1u << MAX_TILE];
    uint32_t threads = 0;
    Table t = table_make(l);
    for (uint32_t o = 0; o < t.owners; o++) value[o] = tile[t.element[o]];
    const Layout *own = layout_partial_threads(layouts, l, plan->axis);
    for (InDim d = IN_LANE; d < IN_COUNT; d++)
        for (uint32_t i = 0; i < l->bits[d]; i++) threads += plan->combine[d] >> i & 1;
    require(layout_is_surjective(own) && layout_same_threads(own, l), l, "layout of the threads' results");
    require(threads ? own->shape.log2[plan->axis] == threads : own->shape.rank < l->shape.rank, l,
            "shape of the threads' results");
    reduce_values(l, plan, IN_REGISTER, plan->keep_threads, value, own, sum);
    Table after = table_make(own);
    for (uint32_t o = 0; o < after.owners; o++) part[after.element[o]] = sum[o];
    for (uint32_t o = 0; o < after.owners; o++)
        require(part[after.element[o]] == sum[o], l, "owners of one thread's result differ");
    Shape all = shape_collapse(l->shape, plan->axis), from = threads ? own->shape : all;
    for (uint32_t e = 0; e < 1u << shape_log2(from); e++)
        got[threads ? shape_project(from, all, e) : e] += part[e];
    sum_over_axis(l->shape, plan->axis, tile, want);
    for (uint32_t e = 0; e < 1u << shape_log2(all); e++) require(got[e] == want[e], l, "sum of the threads' results");
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
        check_threads(l, &plan, tile);
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
        cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_reduce_blocked),
        cmocka_unit_test(test_reduce_can_fail),
    };
    return cmocka_run_group_tests_name("layout reductions", tests, set_up, tear_down);
}
