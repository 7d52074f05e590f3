/* layout_test.c - layouts and their algebra: shapes, linear maps, owners, vectors, live registers, constructors, text.
 *
 * In: seeded random layouts of every rank (random_layout.h) and cases worked out by hand.
 * Each property is compared with brute force over all owners of a layout; a few checks are first shown a wrong layout.
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

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

static void test_shape(void **state) {
    (void)state;
    Shape s = shape_make(3, (const uint8_t[]){2, 0, 4});
    assert_int_equal(shape_elements(s), 64);
    assert_int_equal(shape_size(s, 0), 4);
    assert_int_equal(shape_offset(s, 0), 4);
    assert_int_equal(shape_field(s, 0), 0x30);
    assert_int_equal(shape_field(s, 1), 0);
    assert_int_equal(shape_field(s, 2), 0xf);
    assert_int_equal(shape_flat(s, (const uint32_t[]){3, 0, 5}), 53);
    assert_true(shape_equal(shape_remove(s, 1), shape_make(2, (const uint8_t[]){2, 4})));
    assert_true(shape_equal(shape_insert(shape_row(4), 0), shape_make(2, (const uint8_t[]){0, 4})));
    assert_true(shape_equal(shape_insert(shape_row(4), 1), shape_make(2, (const uint8_t[]){4, 0})));
    assert_true(shape_equal(shape_collapse(s, 2), shape_make(3, (const uint8_t[]){2, 0, 0})));
    assert_true(shape_equal(shape_permute(s, (const uint8_t[]){2, 0, 1}), shape_make(3, (const uint8_t[]){4, 2, 0})));
    assert_true(shape_broadcasts(shape_make(2, (const uint8_t[]){0, 4}), shape_make(2, (const uint8_t[]){3, 4})));
    assert_false(shape_broadcasts(shape_make(2, (const uint8_t[]){1, 4}), shape_make(2, (const uint8_t[]){3, 4})));
    assert_false(shape_broadcasts(shape_row(4), shape_make(2, (const uint8_t[]){3, 4})));
    assert_int_equal(shape_field(shape_row(31), 0), 0x7fffffff);
    assert_int_equal(shape_elements(shape_scalar()), 1);
    assert_true(shape_equal(shape_scalar(), shape_make(0, NULL)));
}

static void test_shape_random(void **state) {
    (void)state;
    Random r = {1};
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        Shape s = random_shape(&r), from = s;
        for (uint32_t i = 0; i < s.rank; i++)
            if (random_below(&r, 2)) from = shape_collapse(from, i);
        assert_true(shape_broadcasts(from, s));
        uint32_t flat = random_below(&r, 1u << shape_log2(s)), coords[SHAPE_RANK], kept[SHAPE_RANK];
        for (uint32_t i = 0; i < s.rank; i++) {
            coords[i] = shape_coord(s, flat, i);
            kept[i] = from.log2[i] ? coords[i] : 0;
            assert_int_equal(coords[i], coord_of(s, flat, i));
        }
        assert_int_equal(shape_flat(s, coords), flat);
        assert_int_equal(shape_project(s, from, flat), shape_flat(from, kept));
    }
}

/* ---- Linear maps ------------------------------------------------------------------------------------------------- */

static Linear random_linear(Random *r, uint32_t in, uint32_t out) {
    Linear m = {.in = (uint8_t)in, .out = (uint8_t)out};
    for (uint32_t i = 0; i < in; i++) m.column[i] = out ? random_bits(r) >> (64 - out) : 0;
    return m;
}

static bool linear_equal(const Linear *a, const Linear *b) {
    return a->in == b->in && a->out == b->out && memcmp(a->column, b->column, sizeof a->column) == 0;
}

static void test_linear_compose(void **state) {
    (void)state;
    Random r = {2};
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        uint32_t a = random_below(&r, 65), b = random_below(&r, 65), c = random_below(&r, 65), d = random_below(&r, 65);
        Linear f = random_linear(&r, c, d), g = random_linear(&r, b, c), h = random_linear(&r, a, b);
        Linear fg = linear_compose(&f, &g), gh = linear_compose(&g, &h);
        Linear left = linear_compose(&fg, &h), right = linear_compose(&f, &gh);
        assert_true(linear_equal(&left, &right));
        Linear one = linear_identity(d), same = linear_compose(&one, &f);
        assert_true(linear_equal(&same, &f));
        uint64_t x = random_bits(&r), y = random_bits(&r);
        assert_true(linear_apply(&left, x) == linear_apply(&f, linear_apply(&g, linear_apply(&h, x))));
        assert_true(linear_apply(&left, x ^ y) == (linear_apply(&left, x) ^ linear_apply(&left, y)));
    }
}

/* Rank, free columns, solutions and least elements against the list of all 2^in values. */
static void check_linear(const Linear *m) {
    uint32_t count[256] = {0}, image = 0, least = 256;
    uint64_t free = linear_free(m), x, y0 = 5 & ((1u << m->out) - 1);
    for (uint64_t i = 0; i < 1u << m->in; i++) {
        uint64_t y = linear_apply(m, i);
        if (count[y] == 0) image++;
        if ((i & free) == 0) count[y] += 1000;
        count[y]++;
        if ((y ^ y0) < least) least = (uint32_t)(y ^ y0);
    }
    assert_int_equal(1u << linear_rank(m), image);
    assert_true(linear_least(m, y0) == least);
    for (uint64_t y = 0; y < 1u << m->out; y++) {
        bool found = linear_solve(m, y, &x);
        assert_true(found == (count[y] != 0));
        if (!found) continue;
        assert_int_equal(count[y] / 1000, 1); /* the solutions without free bits are unique */
        assert_true(linear_apply(m, x) == y && (x & free) == 0);
    }
    Linear right;
    bool onto = linear_invert(m, &right);
    assert_true(onto == (image == 1u << m->out));
    if (!onto) return;
    Linear identity = linear_identity(m->out), product = linear_compose(m, &right);
    assert_true(linear_equal(&identity, &product));
}

static void test_linear_solve(void **state) {
    (void)state;
    Random r = {3};
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        Linear m = random_linear(&r, random_below(&r, 10), random_below(&r, 9));
        for (uint32_t i = 0; i < m.in; i++)
            if (random_below(&r, 4) == 0) m.column[i] = 0;
        check_linear(&m);
    }
}

/* ---- Owners ------------------------------------------------------------------------------------------------------ */

/* Is each element of `t` held by exactly one of the owners without free bits? */
static bool owned_once(const Table *t, uint32_t elements, uint64_t free) {
    uint32_t count[1u << MAX_TILE] = {0};
    for (uint32_t o = 0; o < t->owners; o++)
        if ((o & free) == 0) count[t->element[o]]++;
    for (uint32_t e = 0; e < elements; e++)
        if (count[e] != 1) return false;
    return true;
}

static void test_owners(void **state) {
    (void)state;
    Random r = {4};
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        const Layout *l = random_layout(&r, layouts);
        Table t = table_make(l);
        uint32_t elements = 1u << shape_log2(l->shape);
        uint64_t free = 0;
        require(layout_is_surjective(l), l, "not surjective");
        require(layout_registers(l) == t.registers, l, "registers");
        Owner f = {{0}};
        for (InDim d = 0; d < IN_COUNT; d++) f.at[d] = layout_free(l, d);
        free = layout_pack(l, f);
        require(owned_once(&t, elements, free), l, "an element without its one canonical owner");
        Linear right;
        require(layout_invert(l, &right), l, "no inverse");
        for (uint32_t o = 0; o < t.owners; o++) {
            Owner owner = layout_unpack(l, o);
            uint32_t element = layout_apply(l, owner);
            require(layout_pack(l, owner) == o && element == t.element[o], l, "apply");
            uint64_t canonical = linear_apply(&right, element);
            require(t.element[canonical] == element, l, "apply after invert");
            require((o & free) != 0 || canonical == o, l, "invert after apply, on a canonical owner");
            require(layout_pack(l, layout_owner(l, element)) == canonical, l, "owner");
        }
    }
}

static void test_owners_can_fail(void **state) {
    (void)state;
    const Layout *l = layout_blocked(layouts, shape_row(6), NULL, 2, 3, 1, 0);
    Layout broken = *l;
    broken.basis[IN_LANE][1] = broken.basis[IN_LANE][0];
    Table good = table_make(l), bad = table_make(&broken);
    assert_true(owned_once(&good, 64, 0));
    assert_false(owned_once(&bad, 64, 0));
    assert_false(layout_is_surjective(&broken));
    Linear right;
    assert_false(layout_invert(&broken, &right));
}

static void test_intern(void **state) {
    (void)state;
    Random r = {5};
    VEC(const Layout *) all = {0};
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        const Layout *l = random_layout(&r, layouts);
        vec_push(arena, &all, l);
        Layout copy = *l, other = *l;
        assert_ptr_equal(layout_intern(layouts, &copy), l);
        other.bits[IN_CTA]++;
        assert_ptr_not_equal(layout_intern(layouts, &other), l);
    }
    for (uint32_t n = 0; n < all.len; n++) {
        Layout copy = *all.at[n];
        assert_ptr_equal(layout_intern(layouts, &copy), all.at[n]);
    }
}

static void test_algebra(void **state) {
    (void)state;
    const Layout *l = layout_blocked(layouts, shape_row(7), NULL, 2, 5, 0, 0);
    Layout replicated = *l;
    replicated.bits[IN_WARP] = 2;
    assert_int_equal(layout_free(&replicated, IN_WARP), 3);
    assert_int_equal(layout_free(&replicated, IN_LANE), 0);
    replicated.basis[IN_WARP][0] = 4 ^ 1; /* lane 0 and register 0 together */
    assert_int_equal(layout_free(&replicated, IN_WARP), 3);
    assert_true(layout_same_threads(l, layout_blocked(layouts, shape_row(3), NULL, 0, 5, 0, 0)));
    assert_false(layout_same_threads(l, &replicated));
}

/* ---- Vectors and live registers ---------------------------------------------------------------------------------- */

static bool is_vector(const Layout *l, const Table *t, uint32_t dim, uint32_t v) {
    if (1u << v > t->registers) return false;
    uint32_t step = 1u << shape_offset(l->shape, dim);
    for (uint32_t o = 0; o < t->owners; o++) {
        uint32_t first = t->element[o >> v << v], k = o & ((1u << v) - 1);
        if (coord_of(l->shape, first, dim) % (1u << v) != 0 || t->element[o] != first + k * step) return false;
    }
    return true;
}

/* Does every thread hold the whole aligned run of 2^v elements around each of its elements? */
static bool is_run(const Layout *l, const Table *t, uint32_t dim, uint32_t v) {
    uint32_t step = 1u << shape_offset(l->shape, dim);
    for (uint32_t thread = 0; thread < t->threads; thread++) {
        const uint32_t *element = t->element + thread * t->registers;
        bool held[1u << MAX_TILE] = {false};
        for (uint32_t k = 0; k < t->registers; k++) held[element[k]] = true;
        for (uint32_t k = 0; k < t->registers; k++) {
            uint32_t first = element[k] - coord_of(l->shape, element[k], dim) % (1u << v) * step;
            for (uint32_t j = 0; j < 1u << v; j++)
                if (!held[first + j * step]) return false;
        }
    }
    return true;
}

static void test_vector(void **state) {
    (void)state;
    Random r = {6};
    uint32_t seen[4] = {0};
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        const Layout *l = random_layout(&r, layouts);
        if (random_below(&r, 2) && l->shape.rank) { /* random bases are seldom vectors */
            l = layout_blocked(layouts, l->shape, NULL, random_below(&r, 4), random_below(&r, 4), random_below(&r, 2),
                               0);
            Layout turned = *l;
            uint32_t other = random_below(&r, 1u << shape_log2(l->shape)), i = random_below(&r, 5);
            if (random_below(&r, 2) && i < l->bits[IN_REGISTER]) turned.basis[IN_REGISTER][i] ^= other;
            if (layout_is_surjective(&turned)) l = layout_intern(layouts, &turned);
        }
        Table t = table_make(l);
        for (uint32_t dim = 0; dim < l->shape.rank; dim++) {
            uint32_t widest = 0, run = 0;
            for (uint32_t v = 1; v <= l->shape.log2[dim]; v++) {
                if (is_vector(l, &t, dim, v)) widest = v;
                if (is_run(l, &t, dim, v)) run = v;
            }
            require(layout_vector(l, dim) == widest, l, "vector");
            require(layout_contiguous(l, dim) == run, l, "contiguous");
            seen[widest < 3 ? widest : 3]++;
        }
    }
    for (uint32_t v = 0; v < 4; v++) assert_true(seen[v] > 100);
}

static void test_live(void **state) {
    (void)state;
    Random r = {7};
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        const Layout *l = random_layout(&r, layouts);
        Table t = table_make(l);
        uint32_t elements = 1u << shape_log2(l->shape);
        uint32_t bound = random_below(&r, elements + 2), live = 0;
        for (uint32_t o = 0; o < t.owners; o++)
            if (t.element[o] < bound && o % t.registers >= live) live = o % t.registers + 1;
        require(layout_live(l, bound) == live, l, "live");
        for (uint32_t dim = 0; dim < l->shape.rank; dim++) {
            bool alive[1u << MAX_OWNERS] = {false};
            uint32_t along = random_below(&r, (uint32_t)shape_size(l->shape, dim) + 2);
            live = 0;
            for (uint32_t o = 0; o < t.owners; o++)
                if (coord_of(l->shape, t.element[o], dim) < along) alive[o % t.registers] = true;
            for (uint32_t k = 0; k < t.registers; k++) {
                if (alive[k]) live = k + 1;
                require(layout_register_live(l, k, dim, along) == alive[k], l, "register_live");
            }
            require(layout_live_along(l, dim, along) == live, l, "live_along");
        }
    }
}

/* A row over vectors × threads: whole rounds, and the vector that the bound cuts. */
static void test_live_row(void **state) {
    (void)state;
    for (uint32_t vec = 0; vec <= 3; vec++) {
        const Layout *l = layout_blocked(layouts, shape_row(12), NULL, vec, 5, 2, 0);
        uint32_t round = 128u << vec;
        for (uint32_t bound = 0; bound <= 4096; bound++) {
            uint32_t rest = bound % round, most = 1u << vec;
            uint32_t want = bound / round * most + (rest < most ? rest : most);
            assert_int_equal(layout_live(l, bound), want);
            assert_int_equal(layout_live_along(l, 0, bound), want);
        }
        assert_int_equal(layout_live(l, UINT64_C(1) << 40), layout_registers(l));
    }
}

/* ---- Blocked layouts --------------------------------------------------------------------------------------------- */

/* The place of an element when the dimensions are counted in `order`, the first one fastest. */
static uint32_t place_in_order(Shape s, const uint8_t *order, uint32_t flat) {
    uint32_t place = 0;
    for (uint32_t i = s.rank; i-- > 0;) place = place << s.log2[order[i]] | coord_of(s, flat, order[i]);
    return place;
}

static uint32_t least_of(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static void test_blocked(void **state) {
    (void)state;
    Random r = {8};
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        Shape s = random_shape(&r);
        uint32_t dims[SHAPE_RANK] = {0, 1, 2, 3, 4, 5, 6}, all = shape_log2(s);
        uint8_t order[SHAPE_RANK];
        random_shuffle(&r, dims, s.rank);
        for (uint32_t i = 0; i < SHAPE_RANK; i++) order[i] = (uint8_t)dims[i];
        uint32_t asked = random_below(&r, 4), lanes = random_below(&r, 6), warps = random_below(&r, 3);
        const Layout *l = layout_blocked(layouts, s, order, asked, lanes, warps, random_below(&r, 2));
        uint32_t vec = s.rank ? least_of(asked, s.log2[order[0]]) : 0;
        vec = least_of(vec, all > lanes ? all - lanes : 0);
        uint32_t lane_bits = least_of(lanes, all - vec), warp_bits = least_of(warps, all - vec - lane_bits);
        uint32_t cta_bits = least_of(l->bits[IN_CTA], all - vec - lane_bits - warp_bits);
        Table t = table_make(l);
        require(t.registers == 1u << (all - lane_bits - warp_bits - cta_bits), l, "registers of a blocked layout");
        for (uint32_t o = 0; o < t.owners; o++) {
            /* The number ctas:warps:lanes:vector counts the elements, the upper registers above it. */
            Owner owner = layout_unpack(l, o);
            uint32_t reg = owner.at[IN_REGISTER], shift = vec, place = reg & ((1u << vec) - 1);
            place |= (owner.at[IN_LANE] & ((1u << lane_bits) - 1)) << shift;
            place |= (owner.at[IN_WARP] & ((1u << warp_bits) - 1)) << (shift += lane_bits);
            place |= (owner.at[IN_CTA] & ((1u << cta_bits) - 1)) << (shift += warp_bits);
            place |= reg >> vec << (shift + cta_bits);
            require(place_in_order(s, order, t.element[o]) == place, l, "place of a blocked element");
        }
        if (s.rank) require(layout_vector(l, order[0]) >= vec, l, "vector of a blocked layout");
    }
}

static void test_blocked_cases(void **state) {
    (void)state;
    static const struct {
        uint8_t rank, log2[2];
        uint32_t vec, lanes, warps, ctas;
        const char *want;
    } cases[] = {
        {1, {10}, 2, 5, 2, 0, "#layout<[1024] reg=[1,2,512] lane=[4,8,16,32,64] warp=[128,256] cta=[]>"},
        {1, {10}, 2, 5, 0, 0, "#layout<[1024] reg=[1,2,128,256,512] lane=[4,8,16,32,64] warp=[] cta=[]>"},
        {1, {6}, 2, 5, 0, 0, "#layout<[64] reg=[1] lane=[2,4,8,16,32] warp=[] cta=[]>"},
        {1, {4}, 2, 5, 1, 0, "#layout<[16] reg=[] lane=[1,2,4,8,0] warp=[0] cta=[]>"},
        {1, {10}, 2, 5, 1, 1, "#layout<[1024] reg=[1,2,512] lane=[4,8,16,32,64] warp=[128] cta=[256]>"},
        {2, {3, 4}, 3, 5, 0, 0, "#layout<[8x16] reg=[1,2] lane=[4,8,16,32,64] warp=[] cta=[]>"},
        {2, {5, 1}, 2, 5, 0, 0, "#layout<[32x2] reg=[1] lane=[2,4,8,16,32] warp=[] cta=[]>"},
        {0, {0}, 2, 2, 1, 0, "#layout<[] reg=[] lane=[0,0] warp=[0] cta=[]>"},
        {1,
         {20},
         2,
         5,
         5,
         0,
         "#layout<[1048576] reg=[1,2,4096,8192,16384,32768,65536,131072,262144,524288] lane=[4,8,16,32,64] "
         "warp=[128,256,512,1024,2048] cta=[]>"},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        Shape s = shape_make(cases[i].rank, cases[i].log2);
        const Layout *l = layout_blocked(layouts, s, NULL, cases[i].vec, cases[i].lanes, cases[i].warps, cases[i].ctas);
        Text t = {0};
        layout_write(l, &t);
        assert_string_equal(t.at, cases[i].want);
        text_free(&t);
    }
}

/* ---- Views: nothing moves ---------------------------------------------------------------------------------------- */

static void test_views(void **state) {
    (void)state;
    Random r = {9};
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        const Layout *l = random_layout(&r, layouts);
        Table t = table_make(l);
        uint32_t rank = l->shape.rank, dims[SHAPE_RANK] = {0, 1, 2, 3, 4, 5, 6};
        if (rank < SHAPE_RANK) {
            const Layout *e = layout_expand(layouts, l, random_below(&r, rank + 1));
            Table wide = table_make(e);
            require(e->shape.rank == rank + 1 && wide.owners == t.owners, l, "expand");
            require(memcmp(wide.element, t.element, t.owners * sizeof t.element[0]) == 0, l, "expand moves elements");
            require(layout_reshape(layouts, e, l->shape) == l, l, "reshape after expand");
        }
        random_shuffle(&r, dims, rank);
        uint8_t perm[SHAPE_RANK], back[SHAPE_RANK];
        for (uint32_t i = 0; i < rank; i++) perm[i] = (uint8_t)dims[i];
        for (uint32_t i = 0; i < rank; i++) back[perm[i]] = (uint8_t)i;
        const Layout *p = layout_transpose(layouts, l, perm);
        Table turned = table_make(p);
        for (uint32_t o = 0; o < t.owners; o++)
            for (uint32_t i = 0; i < rank; i++)
                require(coord_of(p->shape, turned.element[o], i) == coord_of(l->shape, t.element[o], perm[i]), l,
                        "transpose");
        require(layout_transpose(layouts, p, back) == l, l, "transpose back");
    }
}

/* Every owner's two registers hold the halves of what its register held; splitting gives it back, in whatever order the
 * registers stand; sorting gives each thread what it had. */
static void test_halves(void **state) {
    (void)state;
    Random r = {10};
    uint32_t refused = 0;
    for (uint32_t n = 0; n < LAYOUTS; n++) {
        const Layout *l = random_layout(&r, layouts);
        if (l->shape.rank == 0 || l->shape.rank == SHAPE_RANK) continue;
        Table t = table_make(l);
        const Layout *j = layout_join(layouts, l);
        require(j->shape.rank == l->shape.rank + 1u && j->shape.log2[l->shape.rank] == 1, l, "the shape of halves");
        for (uint32_t o = 0; o < t.owners; o++) {
            Owner half = layout_unpack(l, o);
            half.at[IN_REGISTER] *= 2;
            require(layout_apply(j, half) == 2 * t.element[o], l, "join, first half");
            half.at[IN_REGISTER]++;
            require(layout_apply(j, half) == 2 * t.element[o] + 1, l, "join, second half");
        }
        uint32_t bit = 99, axis = random_below(&r, j->shape.rank);
        require(layout_split(layouts, j, &bit) == l && bit == 0, l, "split after join");
        const Layout *s = layout_sort(layouts, j, axis);
        require(convert_kind(j, s) <= CONVERT_REGISTERS, l, "sorting crosses threads");
        require(layout_is_surjective(s) && layout_sort(layouts, s, axis) == s, l, "sorting twice");
        const Layout *again = layout_split(layouts, s, &bit);
        require(again && s->basis[IN_REGISTER][bit] == 1, l, "split after sorting");
        require(convert_kind(l, again) <= CONVERT_REGISTERS, l, "split after sorting moves elements");
        Layout lane = *j;
        if (!lane.bits[IN_LANE]) continue;
        lane.basis[IN_LANE][0] ^= 1;
        require(!layout_split(layouts, layout_intern(layouts, &lane), NULL), l, "split along a lane");
        refused++;
    }
    assert_true(refused > LAYOUTS / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape),          cmocka_unit_test(test_shape_random),
        cmocka_unit_test(test_linear_compose), cmocka_unit_test(test_linear_solve),
        cmocka_unit_test(test_owners),         cmocka_unit_test(test_owners_can_fail),
        cmocka_unit_test(test_intern),         cmocka_unit_test(test_algebra),
        cmocka_unit_test(test_vector),         cmocka_unit_test(test_live),
        cmocka_unit_test(test_live_row),       cmocka_unit_test(test_blocked),
        cmocka_unit_test(test_blocked_cases),  cmocka_unit_test(test_views),
        cmocka_unit_test(test_halves),
    };
    return cmocka_run_group_tests_name("layout", tests, set_up, tear_down);
}
