/* simt_test.c - the way to the GPU, played through: what all threads together store is what the tile program stores.
 *
 * In: seeded random functions with loads along any axis, reductions, broadcasts, moves, loops and branches. Out: the
 * same behind the whole pipeline, run thread by thread and register by register (threads.h), beside the tile program
 * run element by element (machine.h). Planted faults come first.
 */
#include "codegen/codegen.h"
#include "threads.h"

enum { FUNCTIONS = 400, FEW = 100 };

static uint64_t functions = FUNCTIONS; /* `few`: of the quick suite */

static int set_up(void **state) {
    (void)state;
    arena = arena_create();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_destroy(arena);
    return 0;
}

/* ---- The tile program -------------------------------------------------------------------------------------------- */

static void tile_access(Machine *m, const Op *op) {
    bool is_store = op->kind == OP_STORE;
    const Value *ptr = op->args[0], *mask = op->nargs > (is_store ? 2u : 1u) ? op->args[is_store ? 2 : 1] : NULL;
    uint32_t n = elements_of(ptr->type);
    int64_t *r = NEW_ARRAY(m->scratch, int64_t, n);
    for (uint32_t i = 0; i < n; i++) {
        bool in = !mask || element(m, mask, i);
        if (is_store && in) memory_set(m->context, element(m, ptr, i), element(m, op->args[1], i));
        if (!is_store) r[i] = in ? loaded(element(m, ptr, i)) : op->nargs > 2 ? element(m, op->args[2], i) : 0;
    }
    if (!is_store) set_value(m, op->results[0], r);
}

static void run_tiles(const Func *f, int64_t n, Memory *memory) {
    Arena *a = arena_create();
    Machine m = machine_create(f, a);
    m.access = tile_access;
    m.context = memory;
    m.pid = 3;
    const int64_t params[] = {P, Q, n};
    for (uint32_t i = 0; i < f->params.len; i++) set_value(&m, f->body->args.at[i], &params[i]);
    run_block(&m, f->body);
    arena_destroy(a);
}

/* ---- Random functions -------------------------------------------------------------------------------------------- */

typedef struct Writer {
    Random *r;
    Builder b;
    Func *f;
    Shape shape;
    Value *tile[40]; /* i32, of the shape */
    uint32_t n;
    int64_t stored;
} Writer;

static Value *any_tile(Writer *w) {
    return w->tile[random_below(w->r, w->n)];
}

static void have(Writer *w, Value *v) {
    if (w->n < COUNT(w->tile)) w->tile[w->n++] = v;
}

static Value *counts_along(Writer *w, Shape s, uint32_t axis) {
    Value *v = build_arange(&w->b, 0, (int64_t)shape_size(s, axis));
    for (uint32_t d = 0; d < s.rank; d++)
        if (d != axis) v = build_expand(&w->b, v, d);
    return v;
}

/* Offsets that walk the axes in a random order, densely: every element has its own. */
static Value *offsets(Writer *w, Shape s) {
    int64_t stride = 1;
    Value *sum = NULL;
    uint32_t seen = 0;
    while (seen != (1u << s.rank) - 1) {
        uint32_t d = random_below(w->r, s.rank);
        if (seen >> d & 1) continue;
        seen |= 1u << d;
        Value *v = counts_along(w, s, d);
        v = build2(&w->b, OP_MUL, v, build_int(&w->b, v->type, stride));
        v = shape_equal(v->type.shape, s) ? v : build_broadcast(&w->b, v, s);
        sum = sum ? build2(&w->b, OP_ADD, sum, v) : v;
        stride <<= s.log2[d];
    }
    return sum;
}

static Value *pointers(Writer *w, uint32_t param, Value *by) {
    return build2(&w->b, OP_ADDPTR, build_splat(&w->b, w->f->body->args.at[param], by->type.shape), by);
}

static Value *random_mask(Writer *w, Shape s) {
    Value *n = build_splat(&w->b, w->f->body->args.at[2], s), *by = NULL;
    if (random_below(w->r, 3) == 0) return NULL;
    by = counts_along(w, s, random_below(w->r, s.rank));
    by = shape_equal(by->type.shape, s) ? by : build_broadcast(&w->b, by, s);
    return build_compare(&w->b, OP_ICMP, (Pred)(PRED_SLT + random_below(w->r, 4)), by, n);
}

static void write_load(Writer *w) {
    Value *by = offsets(w, w->shape);
    int64_t start = 4 * (int64_t)random_below(w->r, 3) + (random_below(w->r, 4) == 0);
    by = build2(&w->b, OP_ADD, by, build_int(&w->b, by->type, start));
    Value *mask = random_mask(w, w->shape), *other = mask && w->n && random_below(w->r, 2) ? any_tile(w) : NULL;
    have(w, build_load(&w->b, pointers(w, 0, by), mask, other, (MemAttr){0}));
}

static void write_store(Writer *w, Value *v) {
    Value *by = offsets(w, v->type.shape);
    by = build2(&w->b, OP_ADD, by, build_int(&w->b, by->type, 4096 * w->stored++));
    build_store(&w->b, pointers(w, 1, by), v, random_mask(w, v->type.shape), (MemAttr){0});
}

/* Reduced along an axis, sometimes stored so, and broadcast back. */
static void write_reduce(Writer *w) {
    static const OpKind kinds[] = {OP_ADD, OP_SMAX, OP_SMIN, OP_XOR};
    uint32_t axis = random_below(w->r, w->shape.rank);
    Value *v = build_reduce(&w->b, any_tile(w), axis, kinds[random_below(w->r, COUNT(kinds))]);
    if (!value_is_tile(v)) {
        have(w, build_splat(&w->b, v, w->shape));
        return;
    }
    if (random_below(w->r, 3) == 0) write_store(w, v);
    have(w, build_broadcast(&w->b, build_expand(&w->b, v, axis), w->shape));
}

/* Elements change their places: axes swapped and all made one shape again; two tiles joined and parted otherwise. */
static void write_move(Writer *w) {
    Value *x = any_tile(w), *y = any_tile(w);
    uint8_t perm[3] = {0, 1, 2};
    uint32_t a = random_below(w->r, w->shape.rank), z = random_below(w->r, w->shape.rank);
    perm[a] = (uint8_t)z;
    perm[z] = (uint8_t)a;
    if (random_below(w->r, 2)) x = build_trans(&w->b, x, perm);
    if (random_below(w->r, 4) == 0) write_store(w, x);
    x = build_reshape(&w->b, x, w->shape);
    if (random_below(w->r, 2)) {
        Value *both = build_join(&w->b, x, y);
        uint8_t order[4] = {0, 1, 2, 3};
        order[0] = (uint8_t)w->shape.rank;
        order[w->shape.rank] = 0;
        if (random_below(w->r, 2)) both = build_trans(&w->b, both, order);
        both = build_reshape(&w->b, both, shape_join_halves(shape_row(shape_log2(w->shape))));
        y = build_reshape(&w->b, build_split(&w->b, both, 1), w->shape);
        x = build_reshape(&w->b, build_split(&w->b, both, 0), w->shape);
    }
    if (random_below(w->r, 3) == 0) x = build_gather(&w->b, x, y, random_below(w->r, w->shape.rank));
    have(w, random_below(w->r, 2) ? build2(&w->b, OP_SUB, x, y) : x);
}

/* Affine maps compose in order, and two of them do not commute: (a, b), (c, d) → a·c, b·c + d. */
static void write_affine(Writer *w, const Op *op) {
    Value **in = op->regions[0]->args.at;
    Builder b = builder_at_end(w->f, op->regions[0]);
    Value *first = build2(&b, OP_MUL, in[0], in[2]), *second = build2(&b, OP_MUL, in[1], in[2]);
    build_yield(&b, (Value *[]){first, build2(&b, OP_ADD, second, in[3])}, 2);
}

static void write_combine(Writer *w) {
    Value *args[] = {any_tile(w), any_tile(w)};
    bool is_scan = random_below(w->r, 2);
    Attr attr = {.axis = random_below(w->r, w->shape.rank), .flags = random_below(w->r, 2) ? COMBINE_REVERSE : 0};
    Op *op = build_combine(&w->b, is_scan ? OP_SCAN : OP_REDUCEFN, args, 2, attr, NULL);
    write_affine(w, op);
    for (uint32_t i = 0; i < 2; i++) {
        Value *v = op->results[i];
        if (!value_is_tile(v)) v = build_splat(&w->b, v, w->shape);
        else if (!is_scan) v = build_broadcast(&w->b, build_expand(&w->b, v, attr.axis), w->shape);
        have(w, v);
    }
}

static void write_steps(Writer *w, uint32_t steps, uint32_t depth);

static void write_loop(Writer *w, uint32_t depth) {
    Type t = type_scalar(DT_I32);
    Value *zero = build_int(&w->b, t, 0), *end = build_int(&w->b, t, (int64_t)random_below(w->r, 4)),
          *one = build_int(&w->b, t, 1);
    Value *inits[] = {random_below(w->r, 2) ? any_tile(w) : build_int(&w->b, type_tile(DT_I32, w->shape), 5),
                      any_tile(w)};
    Op *loop = build_for(&w->b, zero, end, one, inits, 2, (LoopAttr){0});
    Writer inner = *w;
    inner.b = builder_at_end(w->f, loop->regions[0]);
    inner.n = 0;
    have(&inner, loop->regions[0]->args.at[1]);
    have(&inner, loop->regions[0]->args.at[2]);
    have(&inner, build_splat(&inner.b, loop->regions[0]->args.at[0], w->shape));
    have(&inner, any_tile(w));
    write_steps(&inner, 4, depth);
    build_yield(&inner.b, (Value *[]){any_tile(&inner), inner.tile[inner.n - 1]}, 2);
    w->stored = inner.stored;
    have(w, loop->results[0]);
    have(w, loop->results[1]);
}

static void write_if(Writer *w, uint32_t depth) {
    Value *n = w->f->body->args.at[2];
    Value *c = build_compare(&w->b, OP_ICMP, PRED_SGT, n, build_int(&w->b, n->type, 20));
    Type t = type_tile(DT_I32, w->shape);
    Op *op = build_if(&w->b, c, &t, 1);
    for (int r = 0; r < 2; r++) {
        Writer inner = *w;
        inner.b = builder_at_end(w->f, op->regions[r]);
        write_steps(&inner, 2, depth);
        build_yield(&inner.b, (Value *[]){inner.tile[inner.n - 1]}, 1);
        w->stored = inner.stored;
    }
    have(w, op->results[0]);
}

static void write_steps(Writer *w, uint32_t steps, uint32_t depth) {
    static const OpKind kinds[] = {OP_ADD, OP_SUB, OP_MUL, OP_SMAX, OP_XOR};
    for (uint32_t i = 0; i < steps; i++) {
        switch (random_below(w->r, 11)) {
        case 8:
        case 9: write_move(w); break;
        case 0:
        case 1: write_load(w); break;
        case 2:
        case 3: write_reduce(w); break;
        case 10: write_combine(w); break;
        case 4: write_store(w, any_tile(w)); break;
        case 5:
            if (depth > 0 && random_below(w->r, 2))
                write_loop(w, depth - 1);
            else if (depth > 0)
                write_if(w, depth - 1);
            break;
        default: have(w, build2(&w->b, kinds[random_below(w->r, COUNT(kinds))], any_tile(w), any_tile(w))); break;
        }
    }
}

static Func *random_function(Random *r) {
    Func *f = func_create(arena, strings_create(arena), "random", (Span){0, 0});
    Writer w = {.r = r, .b = builder_at_end(f, f->body), .f = f};
    uint32_t rank = 1 + random_below(r, 3);
    uint8_t log2[3];
    for (uint32_t d = 0; d < rank; d++)
        log2[d] = (uint8_t)(rank == 1 ? random_below(r, 11) : random_below(r, 12 / rank));
    w.shape = shape_make(rank, log2);
    for (uint32_t i = 0; i < 2; i++)
        func_add_param(f, type_pointer(DT_I32), (Param){.name = i ? "q" : "p", .divisible = 16});
    func_add_param(f, type_scalar(DT_I32), (Param){.name = "n", .divisible = random_below(r, 2) ? 8 : 1});
    f->num_warps = random_below(r, 4) ? 1u << random_below(r, 4) : 0;
    write_load(&w);
    write_steps(&w, 9, 2);
    for (uint32_t i = 0; i < 2; i++) write_store(&w, w.tile[w.n - 1 - random_below(r, w.n < 3 ? w.n : 3)]);
    op_build(&w.b, OP_RETURN, NULL, 0, (Attr){0}, type_scalar(DT_I1));
    return f;
}

/* ---- The tests --------------------------------------------------------------------------------------------------- */

static Func *lowered(const Func *f, const char *only) {
    Text text = {0};
    func_print(f, &text);
    Func *g = read_text(text.at);
    Target target = *target_find("sm_90");
    target.max_cluster = 1, target.features = 0;
    PassContext c = {.diag = diag_create(arena, 0),
                     .opt_level = 2,
                     .for_gpu = true,
                     .verify_each = true,
                     .only = only,
                     .target = &target};
    if (!passes_run(g, &c)) fail_msg("the passes refuse\n%s", text.at);
    text_free(&text);
    return g;
}

static void compare_one(uint64_t seed) {
    Random r = {seed};
    const Func *f = random_function(&r), *g = lowered(f, NULL);
    const int64_t step = f->params.at[2].divisible;
    for (int64_t n = -step; n < 40; n += 5 * step) {
        Memory *x = NEW(arena, Memory), *y = NEW(arena, Memory);
        run_tiles(f, n, x);
        const char *wrong = run_threads(g, n, y);
        if (!wrong && memory_differs(x, y)) wrong = "other values are stored";
        if (!wrong) continue;
        Text text = {0};
        func_print(f, &text);
        func_print(g, &text);
        print_error("seed %llu, n = %lld: %s\n%s", (unsigned long long)seed, (long long)n, wrong, text.at);
        text_free(&text);
        fail();
    }
}

static void test_random(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < functions; seed++) {
        Arena *whole = arena;
        arena = arena_create();
        compare_one(seed);
        arena_destroy(arena);
        arena = whole;
    }
}

static const char *const rows =
    "func @rows(%p: *i32 {divisible = 16}, %q: *i32 {divisible = 16}, %n: i32) stage tile warps 4 {\n"
    "  %c = arange 0, 1024 : tile<1024xi32>\n  %ps = splat %p : tile<1024x*i32>\n  %a = addptr %ps, %c : "
    "tile<1024x*i32>\n"
    "  %ns = splat %n : tile<1024xi32>\n  %m = icmp slt %c, %ns : tile<1024xi1>\n  %v = load %a, %m : tile<1024xi32>\n"
    "  %s = reduce %v {axis = 0, combine = add} : i32\n  %ss = splat %s : tile<1024xi32>\n  %d = sub %v, %ss : "
    "tile<1024xi32>\n"
    "  %qs = splat %q : tile<1024x*i32>\n  %b = addptr %qs, %c : tile<1024x*i32>\n  store %b, %d, %m\n  return\n}\n";

static void expect_wrong(const Func *g, int64_t n, const char *what) {
    Memory *y = NEW(arena, Memory);
    const char *wrong = run_threads(g, n, y);
    assert_non_null(wrong);
    assert_string_equal(wrong, what);
}

static void spoil(void *context, Op *op) {
    const char *how = context;
    if (strcmp(how, "vector") == 0 && op->kind == OP_LOAD) op->attr.mem.vec_log2 = 4;
    if (strcmp(how, "mask") == 0 && op->kind == OP_STORE) op->attr.mem.mask_kind = MASK_UNIFORM;
    if (strcmp(how, "buffer") == 0 && op->kind == OP_SHLOAD) op->attr.buffer++;
}

static void test_catches(void **state) {
    (void)state;
    const char *without_barrier = "fold,narrow,cse,licm,fma,dce,layout,fold2,cse2,dce2,exchange,shared";
    Memory *x = NEW(arena, Memory), *y = NEW(arena, Memory);
    const Func *f = read_text(rows);
    run_tiles(f, 777, x);
    assert_null(run_threads(lowered(f, NULL), 777, y));
    assert_int_equal(memory_differs(x, y), 0);
    expect_wrong(lowered(f, without_barrier), 777, "read after write");
    Func *g = lowered(f, NULL);
    func_walk(g, spoil, (void *)(uintptr_t) "vector");
    expect_wrong(g, 777, "a vector is not consecutive");
    g = lowered(f, NULL);
    func_walk(g, spoil, (void *)(uintptr_t) "mask");
    expect_wrong(g, 777, "a uniform mask cuts a vector");
    g = lowered(f, NULL);
    Buffer beyond = g->buffers.at[0];
    beyond.offset += 16;
    vec_push(g->arena, &g->buffers, beyond);
    func_walk(g, spoil, (void *)(uintptr_t) "buffer");
    expect_wrong(g, 777, "outside of shared memory");
    memory_set(y, Q, 12345);
    assert_int_equal(memory_differs(x, y), 1);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "few") == 0) functions = FEW;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_catches), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
