/* layout_move_test.c - layouts that meet: conversions and broadcasting, each proved by moving data.
 *
 * In: seeded random pairs of layouts (random_layout.h).
 * A plan is carried out on arrays of values as a code generator would (registers, shuffles, candidates);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convert),      cmocka_unit_test(test_convert_can_fail),
        cmocka_unit_test(test_convert_case), cmocka_unit_test(test_project),
        cmocka_unit_test(test_slice),        cmocka_unit_test(test_project_can_fail),
    };
    return cmocka_run_group_tests_name("layout moves", tests, set_up, tear_down);
}
