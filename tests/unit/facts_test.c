/* facts_test.c - facts against brute force: every value of a function, in every iteration, must be as its fact says.
 *
 * In: seeded random index expressions over tiles of rank 1 and 2, and loops written as text.
 * An interpreter runs the function element by element for many parameter values and holds each element against the fact
 * of its value. The check is first shown wrong facts, and some facts are asked for exactly, since "nothing is known" is
 * never false.
 */
#include "machine.h"

enum { FUNCTIONS = 3000, RUNS = 10, STEPS = 24 };

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

/* ---- One value against its fact ---------------------------------------------------------------------------------- */

/* The element `by` further along axis d. */
static uint32_t moved(Type t, uint32_t flat, uint32_t d, int64_t by) {
    return t.shape.rank ? flat + (uint32_t)(by * (int64_t)(UINT64_C(1) << shape_offset(t.shape, d))) : flat;
}

static const char *wrong_at(const Fact *f, Type t, const int64_t *v, uint32_t flat, uint32_t d) {
    uint32_t at = t.shape.rank ? shape_coord(t.shape, flat, d) : 0;
    uint32_t step = at % f->contiguous[d];
    if (t.dtype == DT_I1) {
        bool rises = step && v[flat] && !v[moved(t, flat, d, -1)];
        if (f->prefix[d] && rises) return "prefix";
    } else {
        int64_t start = v[moved(t, flat, d, -(int64_t)step)];
        if (v[flat] != wrapped(t, (uint64_t)start + (uint64_t)unit_of(t) * step)) return "contiguous";
        if (step == 0 && ((uint64_t)v[flat] & (f->divisible[d] - 1)) != 0) return "divisible";
    }
    if (v[flat] != v[moved(t, flat, d, -(int64_t)(at % f->constant[d]))]) return "constant";
    return NULL;
}

/* NULL, or the part of the fact that is not true of v. */
static const char *wrong_part(const Fact *f, Type t, const int64_t *v) {
    for (uint32_t i = 0; i < elements_of(t); i++) {
        if (dtype_kind(t.dtype) == KIND_INT && (v[i] < f->lo || v[i] > f->hi)) return "range";
        for (uint32_t d = 0; d < (t.shape.rank ? t.shape.rank : 1u); d++) {
            const char *wrong = wrong_at(f, t, v, i, d);
            if (wrong) return wrong;
        }
    }
    return NULL;
}

/* ---- Functions run, every value held against its fact ------------------------------------------------------------ */

static void check_fact(const Machine *m, const Value *v, const int64_t *elements) {
    if (dtype_kind(v->type.dtype) == KIND_FLOAT) return;
    const char *wrong = wrong_part(fact_of(m->context, v), v->type, elements);
    if (!wrong) return;
    Text text = {0};
    func_print(m->f, &text);
    print_error("%s of %%%u (%s) is wrong in\n%s", wrong, v->id, v->def ? op_info[v->def->kind].name : "argument",
                text.at);
    text_free(&text);
    fail();
}

/* Runs f for random parameters that keep their promises. `small`: for loops that should end soon. */
static void run_function(const Func *f, Random *r, bool small) {
    Arena *scratch = arena_create();
    Machine m = machine_create(f, scratch);
    m.seen = check_fact;
    m.context = facts_compute(f, scratch);
    for (int run = 0; run < RUNS; run++) {
        m.pid = random_below(r, 3) ? (int64_t)random_below(r, 100) : INT32_MAX - (int64_t)random_below(r, 3);
        for (uint32_t i = 0; i < f->params.len; i++) {
            int64_t x = random_argument(r, f, i, small);
            set_value(&m, f->body->args.at[i], &x);
        }
        run_block(&m, f->body);
    }
    arena_destroy(scratch);
}

/* As another shape of as many elements. */
static Shape random_shape(Random *r, Shape s) {
    uint8_t log2[SHAPE_RANK] = {0};
    uint32_t rank = 1 + random_below(r, 4);
    for (uint32_t i = 0; i < shape_log2(s); i++) log2[random_below(r, rank)]++;
    return shape_make(rank, log2);
}

static Value *random_trans(Maker *k, Value *v) {
    uint8_t perm[SHAPE_RANK] = {0, 1, 2, 3, 4, 5, 6};
    for (uint32_t i = v->type.shape.rank; i > 1; i--) {
        uint32_t j = random_below(k->r, i);
        uint8_t t = perm[i - 1];
        perm[i - 1] = perm[j];
        perm[j] = t;
    }
    return build_trans(&k->b, v, perm);
}

/* Elements change their places, and what comes out has the shape again; all that lies between is looked at, too. */
static Value *random_move(Maker *k, Value *x, Value *y) {
    x = random_trans(k, build_reshape(&k->b, x, random_shape(k->r, k->shape)));
    y = random_trans(k, build_reshape(&k->b, y, x->type.shape));
    if (shape_equal(x->type.shape, y->type.shape) && random_below(k->r, 2)) {
        Value *both = random_trans(k, build_join(&k->b, x, y));
        Shape halves = shape_join_halves(shape_row(shape_log2(k->shape)));
        x = build_split(&k->b, build_reshape(&k->b, both, halves), random_below(k->r, 2));
    }
    return build_reshape(&k->b, x, k->shape);
}

static Value *random_gather(Maker *k, Value *v) {
    Value *index = pick(k, DT_I32, true);
    return index ? build_gather(&k->b, v, index, random_below(k->r, k->shape.rank)) : NULL;
}

static Value *random_step(Maker *k) {
    bool is_tile = random_below(k->r, 4) != 0;
    DType d = random_below(k->r, 3) ? DT_I32 : DT_I64;
    Value *x = pick(k, d, is_tile), *y = pick(k, d, is_tile), *c = pick(k, DT_I1, is_tile),
          *e = pick(k, DT_I1, is_tile);
    Value *s = pick(k, d, false), *p = pick(k, DT_PTR, is_tile);
    switch (random_below(k->r, 12)) {
    case 11: {
        DType moved_type = random_below(k->r, 3) ? d : random_below(k->r, 2) ? DT_PTR : DT_I1;
        Value *v = pick(k, moved_type, true), *w = pick(k, moved_type, true);
        if (v && random_below(k->r, 3) == 0) return random_gather(k, v);
        return v && w && type_equal(v->type, w->type) ? random_move(k, v, w) : NULL;
    }
    case 0: return random_arange(k);
    case 1: return s ? build_splat(&k->b, s, k->shape) : NULL;
    case 2:
        if (c && random_below(k->r, 4) == 0)
            return build1_to(&k->b, random_below(k->r, 2) ? OP_SEXT : OP_ZEXT, c, type_of(k, d, is_tile));
        return d == DT_I32 && x
                   ? build1_to(&k->b, random_below(k->r, 2) ? OP_SEXT : OP_ZEXT, x, type_of(k, DT_I64, is_tile))
                   : NULL;
    case 3: return d == DT_I64 && x ? build1_to(&k->b, OP_TRUNC, x, type_of(k, DT_I32, is_tile)) : NULL;
    case 4:
    case 5: return x && y ? build_compare(&k->b, OP_ICMP, (Pred)random_below(k->r, PRED_UGE + 1), x, y) : NULL;
    case 6: return c && x && y ? build3(&k->b, OP_SELECT, c, x, y) : NULL;
    case 7:
        return c && e ? build2(&k->b,
                               random_below(k->r, 2)   ? OP_AND
                               : random_below(k->r, 2) ? OP_OR
                                                       : OP_XOR,
                               c, e)
                      : NULL;
    case 8: return p && x ? build2(&k->b, OP_ADDPTR, p, x) : NULL;
    default: return random_binary(k, d, is_tile);
    }
}

static Func *random_function(Random *r) {
    Func *f = func_create(arena, strings_create(arena), "random", (Span){0, 0});
    Maker k = {.r = r, .b = builder_at_end(f, f->body)};
    k.shape = random_below(r, 2)
                  ? shape_row(3 + random_below(r, 4))
                  : shape_make(2, (const uint8_t[]){(uint8_t)random_below(r, 4), (uint8_t)random_below(r, 5)});
    static const DType types[] = {DT_PTR, DT_I32, DT_I32, DT_I32, DT_I64};
    for (uint32_t i = 0; i < COUNT(types); i++) {
        Type t = types[i] == DT_PTR ? type_pointer(random_below(r, 2) ? DT_FP32 : DT_FP16) : type_scalar(types[i]);
        Param p = {.name = "p", .divisible = 1u << random_below(r, 6), .is_nonnegative = t.dtype != DT_PTR && i % 2};
        if (t.dtype != DT_PTR && random_below(r, 3) == 0) {
            p.least = p.divisible * random_below(r, 3);
            p.most = p.least + p.divisible * (1 + random_below(r, 20));
        }
        keep(&k, func_add_param(f, t, p));
    }
    keep(&k, build0(&k.b, OP_PID, (Attr){0}, type_scalar(DT_I32)));
    keep(&k, build_splat(&k.b, k.pool[0], k.shape));
    /* What addresses are made of, so that chains of it are not left to chance. */
    for (int i = 0; i < 3; i++) {
        Value *counts = random_arange(&k), *base = build_splat(&k.b, k.pool[1 + random_below(r, 3)], k.shape);
        keep(&k, counts);
        keep(&k, build2(&k.b, OP_ADD, counts, base));
        keep(&k, build2(&k.b, OP_SDIV, counts, build_int(&k.b, counts->type, INT64_C(1) << random_below(r, 4))));
    }
    for (int i = 0; i < STEPS; i++) {
        Value *v = random_step(&k);
        if (v) keep(&k, v);
    }
    op_build(&k.b, OP_RETURN, NULL, 0, (Attr){0}, type_scalar(DT_I1));
    return f;
}

static void test_random(void **state) {
    (void)state;
    for (uint32_t n = 0; n < FUNCTIONS; n++) {
        Random r = {n};
        run_function(random_function(&r), &r, false);
    }
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

static const char *const loops[] = {
    "func @for(%p: *fp32 {divisible = 16}, %n: i64, %s: i64 {divisible = 8}) stage tile {\n"
    "  %z = const 0 : i64\n  %k = const 16 : i64\n  %c = arange 0, 16 : tile<16xi32>\n"
    "  %ps = splat %p : tile<16x*fp32>\n  %p0 = addptr %ps, %c : tile<16x*fp32>\n  %ks = splat %k : tile<16xi64>\n"
    "  %r, %q = for %i = %z to %n step %k carry (%a = %p0, %b = %s) : (tile<16x*fp32>, i64) {\n"
    "    %a2 = addptr %a, %ks : tile<16x*fp32>\n    %b2 = add %b, %i : i64\n    %m = mul %i, %b : i64\n"
    "    yield %a2, %b2\n  }\n  return\n}\n",
    "func @down(%n: i32, %s: i32) stage tile {\n"
    "  %t = const -3 : i32\n  %z = const -5 : i32\n"
    "  %r = for %i = %n to %z step %t carry (%a = %s) : (i32) {\n    %x = add %a, %i : i32\n    %y = smax %x, %i : "
    "i32\n"
    "    yield %y\n  }\n  return\n}\n",
    "func @while(%n: i32 {nonnegative}) stage tile {\n"
    "  %z = const 0 : i64\n  %w = sext %n : i64\n  %k = const 8 : i64\n  %yes = const 1 : i1\n  %c = arange 0, 8 : "
    "tile<8xi32>\n"
    "  %r, %g = while carry (%i = %z, %go = %yes) : (i64, i1) {\n    %lt = icmp slt %i, %w : i1\n    %on = and %lt, "
    "%go : i1\n"
    "    condition %on, %i, %go\n  } do (%j: i64, %h: i1) {\n    %d = sub %w, %j : i64\n    %js = splat %j : "
    "tile<8xi64>\n"
    "    %cw = sext %c : tile<8xi64>\n    %e = add %js, %cw : tile<8xi64>\n    %ws = splat %w : tile<8xi64>\n"
    "    %m = icmp slt %e, %ws : tile<8xi1>\n    %j2 = add %j, %k : i64\n    yield %j2, %h\n  }\n  return\n}\n",
    "func @nest(%n: i32 {divisible = 4}, %b: i32) stage tile {\n"
    "  %z = const 0 : i32\n  %one = const 1 : i32\n  %lim = const 20 : i32\n  %v0 = arange 4, 12 : tile<8xi32>\n"
    "  %r = for %i = %z to %lim step %one carry (%v = %v0) : (tile<8xi32>) {\n    %c = icmp sgt %b, %i : i1\n"
    "    %x = if %c : (tile<8xi32>) {\n      %ns = splat %n : tile<8xi32>\n      %va = add %v, %ns : tile<8xi32>\n     "
    " yield %va\n"
    "    } else {\n      %q = for %j = %z to %i step %one carry (%u = %v) : (tile<8xi32>) {\n        %vb = add %u, %u "
    ": tile<8xi32>\n"
    "        yield %vb\n      }\n      yield %q\n    }\n    %h = reduce %x {axis = 0, combine = smax} : i32\n    yield "
    "%x\n  }\n  return\n}\n",
};

static void test_loops(void **state) {
    (void)state;
    for (uint32_t i = 0; i < COUNT(loops); i++) {
        for (uint64_t seed = 0; seed < 40; seed++) {
            Random r = {seed};
            run_function(read_text(loops[i]), &r, true);
        }
    }
}

static const Value *named(const Func *f, const char *name) {
    const Value *found = NULL;
    const Block *todo[16] = {f->body};
    for (uint32_t n = 1; n > 0 && !found;) {
        const Block *b = todo[--n];
        for (uint32_t i = 0; i < b->args.len; i++)
            if (b->args.at[i]->name && strcmp(b->args.at[i]->name, name) == 0) found = b->args.at[i];
        for (const Op *op = b->first; op; op = op->next) {
            for (uint32_t i = 0; i < op->nresults; i++)
                if (op->results[i]->name && strcmp(op->results[i]->name, name) == 0) found = op->results[i];
            for (uint32_t i = 0; i < op->nregions; i++) todo[n++] = op->regions[i];
        }
    }
    if (!found) fail_msg("no %%%s", name);
    return found;
}

static void test_loop_facts(void **state) {
    (void)state;
    const Func *f = read_text(loops[0]);
    const Facts *facts = facts_compute(f, arena);
    const Fact *a = fact_of(facts, named(f, "a")), *i = fact_of(facts, named(f, "i")),
               *b = fact_of(facts, named(f, "b"));
    assert_int_equal(a->contiguous[0], 16);
    assert_int_equal(a->divisible[0], 16);
    assert_int_equal(facts_vector(facts, named(f, "a"), 0, 16), 2);
    assert_int_equal(i->divisible[0], 16);
    assert_int_equal(b->divisible[0], 8);
    f = read_text(loops[2]);
    facts = facts_compute(f, arena);
    const Fact *j = fact_of(facts, named(f, "j")), *d = fact_of(facts, named(f, "d"));
    assert_int_equal(j->lo, 0);
    assert_int_equal(j->hi, INT32_MAX - 1);
    assert_int_equal(d->hi, INT32_MAX);
    assert_int_equal(fact_of(facts, named(f, "m"))->contiguous[0], 8);
    assert_true(fact_of(facts, named(f, "m"))->prefix[0]);
    f = read_text("func @last(%n: i32) stage tile {\n  %z = const 5 : i32\n  %k = const 16 : i32\n"
                  "  %end = const 40 : i32\n  for %i = %z to %end step %k {\n    yield\n  }\n"
                  "  for %j = %z to %n step %k {\n    yield\n  }\n  return\n}\n");
    facts = facts_compute(f, arena);
    assert_int_equal(fact_of(facts, named(f, "i"))->hi, 37);
    assert_int_equal(fact_of(facts, named(f, "j"))->hi, INT32_MAX - 1);
}

/* ---- Exact answers, and wrong ones ------------------------------------------------------------------------------- */

static const char *const masks =
    "func @masks(%p: *fp16 {divisible = 16}, %n: i32, %n8: i32 {divisible = 8}) stage tile {\n"
    "  %c = arange 0, 64 : tile<64xi32>\n  %ps = splat %p : tile<64x*fp16>\n  %a = addptr %ps, %c : tile<64x*fp16>\n"
    "  %ns = splat %n : tile<64xi32>\n  %m = icmp slt %c, %ns : tile<64xi1>\n  %g = icmp sge %c, %ns : tile<64xi1>\n"
    "  %n8s = splat %n8 : tile<64xi32>\n  %m8 = icmp slt %c, %n8s : tile<64xi1>\n  %both = and %m, %m8 : tile<64xi1>\n"
    "  %r = icmp sgt %ns, %c : tile<64xi1>\n  %four = const 4 : tile<64xi32>\n  %q = sdiv %c, %four : tile<64xi32>\n"
    "  %b = addptr %ps, %q : tile<64x*fp16>\n  %s = add %c, %ns : tile<64xi32>\n  %o = addptr %ps, %s : "
    "tile<64x*fp16>\n"
    "  return\n}\n";

static void test_vectors_and_masks(void **state) {
    (void)state;
    const Func *f = read_text(masks);
    const Facts *facts = facts_compute(f, arena);
    assert_int_equal(facts_vector(facts, named(f, "a"), 0, 16), 3);
    assert_int_equal(facts_vector(facts, named(f, "a"), 0, 8), 2);
    assert_int_equal(facts_vector(facts, named(f, "b"), 0, 16), 0);
    assert_int_equal(facts_vector(facts, named(f, "o"), 0, 16), 0);
    assert_int_equal(facts_mask(facts, named(f, "m"), 0, 3), MASK_PREFIX);
    assert_int_equal(facts_mask(facts, named(f, "r"), 0, 3), MASK_PREFIX);
    assert_int_equal(facts_mask(facts, named(f, "both"), 0, 3), MASK_PREFIX);
    assert_int_equal(facts_mask(facts, named(f, "g"), 0, 3), MASK_ANY);
    assert_int_equal(facts_mask(facts, named(f, "g"), 0, 0), MASK_UNIFORM);
    assert_int_equal(facts_mask(facts, named(f, "m8"), 0, 3), MASK_UNIFORM);
    assert_int_equal(facts_mask(facts, named(f, "m8"), 0, 4), MASK_PREFIX);
    assert_int_equal(facts_mask(facts, NULL, 0, 3), MASK_NONE);
    assert_int_equal(fact_of(facts, named(f, "q"))->constant[0], 4);
    assert_int_equal(fact_of(facts, named(f, "q"))->hi, 15);
}

/* The check must catch each way of being wrong. */
static void test_check_catches(void **state) {
    (void)state;
    Type t = type_tile(DT_I32, shape_row(3)), truth = type_tile(DT_I1, shape_row(3));
    int64_t v[] = {8, 9, 10, 11, 24, 25, 26, 27}, mask[] = {1, 1, 0, 0, 1, 0, 0, 0}, same[] = {3, 3, 3, 3, 3, 3, 5, 5};
    Fact f = {.contiguous = {4}, .constant = {1}, .divisible = {8}, .lo = 8, .hi = 27};
    assert_null(wrong_part(&f, t, v));
    Fact g = f;
    g.contiguous[0] = 8;
    assert_string_equal(wrong_part(&g, t, v), "contiguous");
    g = f;
    g.divisible[0] = 16;
    assert_string_equal(wrong_part(&g, t, v), "divisible");
    g = f;
    g.contiguous[0] = 2;
    assert_string_equal(wrong_part(&g, t, v), "divisible");
    g = f;
    g.constant[0] = 2;
    assert_string_equal(wrong_part(&g, t, v), "constant");
    g = f;
    g.hi = 26;
    assert_string_equal(wrong_part(&g, t, v), "range");
    g = (Fact){.contiguous = {1}, .constant = {2}, .divisible = {1}, .lo = 3, .hi = 5};
    assert_null(wrong_part(&g, t, same));
    g.constant[0] = 4;
    assert_string_equal(wrong_part(&g, t, same), "constant");
    g = (Fact){.contiguous = {4}, .constant = {1}, .divisible = {1}, .lo = 0, .hi = 1, .prefix = {true}};
    assert_null(wrong_part(&g, truth, mask));
    g.contiguous[0] = 8;
    assert_string_equal(wrong_part(&g, truth, mask), "prefix");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_check_catches),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_loop_facts),
        cmocka_unit_test(test_vectors_and_masks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
