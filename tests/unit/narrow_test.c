/* narrow_test.c - index arithmetic before and after the passes: every stored address and truth value stays the same.
 *
 * In: seeded random functions whose addresses and comparisons are sums, products and bounds in 64 bits. Out: the same
 * functions behind `narrow`, and behind all passes of stage TILE; both run for parameters at the ends of their types.
 * The comparison is first shown a function narrowed wrongly.
 */
#include "codegen/codegen.h"
#include "machine.h"

enum { FUNCTIONS = 1200, RUNS = 8, TRACES = 32 };

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

/* ---- Random functions -------------------------------------------------------------------------------------------- */

static Value *wide_value(Maker *k, int depth, bool is_tile);

static Value *wide_leaf(Maker *k, bool is_tile) {
    uint32_t which = random_below(k->r, 4);
    if (which == 0) return build_int(&k->b, type_of(k, DT_I64, is_tile), random_number(k->r));
    if (!is_tile)
        return which == 1 ? k->pool[4]
                          : build1_to(&k->b, OP_SEXT, k->pool[1 + random_below(k->r, 3)], type_scalar(DT_I64));
    if (which == 1) return build_splat(&k->b, wide_value(k, 1, false), k->shape);
    return build1_to(&k->b, OP_SEXT, random_arange(k), type_tile(DT_I64, k->shape));
}

/* A smaller tile, broadcast. */
static Value *wide_row(Maker *k) {
    Shape whole = k->shape;
    k->shape = shape_collapse(whole, random_below(k->r, whole.rank));
    Value *v = wide_value(k, 2, true);
    k->shape = whole;
    return shape_equal(v->type.shape, whole) ? v : build_broadcast(&k->b, v, whole);
}

static Value *wide_value(Maker *k, int depth, bool is_tile) {
    static const OpKind kinds[] = {OP_ADD, OP_ADD, OP_ADD, OP_SUB, OP_SUB, OP_MUL, OP_SMAX, OP_SMIN, OP_AND, OP_XOR};
    if (depth == 0 || random_below(k->r, 6) == 0) return wide_leaf(k, is_tile);
    if (is_tile && k->shape.rank == 2 && random_below(k->r, 6) == 0) return wide_row(k);
    OpKind op = kinds[random_below(k->r, COUNT(kinds))];
    bool by_small = op == OP_MUL && random_below(k->r, 2);
    Value *x = wide_value(k, depth - 1, is_tile);
    Value *y = by_small ? build_int(&k->b, type_of(k, DT_I64, is_tile), (int64_t)random_below(k->r, 40) - 8)
                        : wide_value(k, depth - 1, is_tile);
    return build2(&k->b, op, x, y);
}

/* An address from a chain of offsets, and a comparison of sums, both stored. */
static void random_stores(Maker *k, Value *p, Value *bytes) {
    Value *at = build_splat(&k->b, p, k->shape);
    for (uint32_t links = 1 + random_below(k->r, 3); links > 0; links--)
        at = build2(&k->b, OP_ADDPTR, at, random_below(k->r, 3) ? wide_value(k, 3, true) : random_arange(k));
    build_store(&k->b, at, build_float(&k->b, type_with_dtype(at->type, at->type.pointee), 1), NULL, (MemAttr){0});
    Value *x = wide_value(k, 2, true), *y = wide_value(k, (int)random_below(k->r, 3), true);
    Value *truth = build_compare(&k->b, OP_ICMP, (Pred)random_below(k->r, PRED_ULT), x, y);
    Value *out = build1_to(&k->b, OP_ZEXT, truth, type_tile(DT_I8, k->shape));
    build_store(&k->b, build_splat(&k->b, bytes, k->shape), out, NULL, (MemAttr){0});
}

static Func *random_function(Random *r) {
    static const DType types[] = {DT_PTR, DT_I32, DT_I32, DT_I32, DT_I64, DT_PTR};
    Func *f = func_create(arena, strings_create(arena), "random", (Span){0, 0});
    Maker k = {.r = r, .b = builder_at_end(f, f->body)};
    k.shape =
        random_below(r, 2)
            ? shape_row(3 + random_below(r, 4))
            : shape_make(2, (const uint8_t[]){(uint8_t)(1 + random_below(r, 3)), (uint8_t)(1 + random_below(r, 4))});
    for (uint32_t i = 0; i < COUNT(types); i++) {
        Type t = types[i] != DT_PTR ? type_scalar(types[i])
                                    : type_pointer(i                    ? DT_I8
                                                   : random_below(r, 2) ? DT_FP32
                                                                        : DT_FP16);
        Param p = {.name = "p", .divisible = 1u << random_below(r, 4), .is_nonnegative = t.dtype != DT_PTR && i % 2};
        keep(&k, func_add_param(f, t, p));
    }
    k.pool[1 + random_below(r, 3)] = build0(&k.b, OP_PID, (Attr){0}, type_scalar(DT_I32));
    for (int i = 0; i < 3; i++) random_stores(&k, f->body->args.at[0], f->body->args.at[5]);
    op_build(&k.b, OP_RETURN, NULL, 0, (Attr){0}, type_scalar(DT_I1));
    return f;
}

/* ---- What a function stores -------------------------------------------------------------------------------------- */

typedef struct Trace {
    const int64_t *at[TRACES];
    uint32_t n[TRACES], len;
} Trace;

static void note_value(Trace *t, const Machine *m, const Value *v) {
    assert_true(t->len < TRACES);
    t->at[t->len] = m->of[v->id];
    t->n[t->len++] = elements_of(v->type);
}

static Trace trace_of(const Func *f, const int64_t *params, int64_t pid, Arena *scratch) {
    Trace t = {.len = 0};
    Machine m = machine_create(f, scratch);
    m.pid = pid;
    for (uint32_t i = 0; i < f->params.len; i++) set_value(&m, f->body->args.at[i], &params[i]);
    for (const Op *op = f->body->first; op; op = op->next) {
        run_op(&m, op);
        if (op->kind != OP_STORE) continue;
        note_value(&t, &m, op->args[0]);
        if (dtype_kind(op->args[1]->type.dtype) == KIND_INT) note_value(&t, &m, op->args[1]);
    }
    return t;
}

static bool same_stores(const Func *f, const Func *g, const int64_t *params, int64_t pid) {
    Arena *scratch = arena_create();
    Trace x = trace_of(f, params, pid, scratch), y = trace_of(g, params, pid, scratch);
    bool same = x.len == y.len;
    for (uint32_t i = 0; i < x.len && same; i++)
        same = x.n[i] == y.n[i] && memcmp(x.at[i], y.at[i], x.n[i] * sizeof(int64_t)) == 0;
    arena_destroy(scratch);
    return same;
}

static Func *copy_behind(const Func *f, const char *passes) {
    Text text = {0};
    func_print(f, &text);
    Func *g = read_text(text.at);
    PassContext c = {.diag = diag_create(arena, 0),
                     .opt_level = 2,
                     .verify_each = true,
                     .only = passes,
                     .target = target_find("sm_75")};
    assert_true(passes_run(g, &c));
    text_free(&text);
    return g;
}

static void compare_many(const char *passes, uint64_t seed) {
    for (uint64_t n = 0; n < FUNCTIONS; n++) {
        Random r = {seed + n * 77};
        Arena *whole = arena;
        arena = arena_create();
        const Func *f = random_function(&r), *g = copy_behind(f, passes);
        for (int run = 0; run < RUNS; run++) {
            int64_t params[8],
                pid = random_below(&r, 2) ? random_below(&r, 50) : INT32_MAX - (int64_t)random_below(&r, 2);
            for (uint32_t i = 0; i < f->params.len; i++) params[i] = random_argument(&r, f, i, random_below(&r, 2));
            if (same_stores(f, g, params, pid)) continue;
            Text text = {0};
            func_print(f, &text);
            func_print(g, &text);
            print_error("seed %llu behind %s:\n%s", (unsigned long long)r.state, passes, text.at);
            text_free(&text);
            fail();
        }
        arena_destroy(arena);
        arena = whole;
    }
}

/* ---- The tests --------------------------------------------------------------------------------------------------- */

static void test_narrow(void **state) {
    (void)state;
    compare_many("narrow", 5);
}

static void test_all(void **state) {
    (void)state;
    compare_many("fold,narrow,cse,licm,fma,dce", 7);
}

/* 2^31 elements past the pointer: 32-bit arithmetic that wraps must be told apart, and only where it wraps. */
static void test_comparison_catches(void **state) {
    (void)state;
    Func *f = read_text("func @f(%p: *i8, %n: i32) stage tile {\n  %w = sext %n : i64\n  %k = const 65536 : i64\n  %m "
                        "= mul %w, %k : i64\n"
                        "  %a = addptr %p, %m : *i8\n  %x = const 1 : i8\n  store %a, %x\n  return\n}\n");
    Func *g = read_text("func @g(%p: *i8, %n: i32) stage tile {\n  %k = const 65536 : i32\n  %m = mul %n, %k : i32\n"
                        "  %a = addptr %p, %m : *i8\n  %x = const 1 : i8\n  store %a, %x\n  return\n}\n");
    assert_true(same_stores(f, g, (const int64_t[]){4096, 32767}, 0));
    assert_false(same_stores(f, g, (const int64_t[]){4096, 32768}, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comparison_catches),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
