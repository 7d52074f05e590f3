/* ir_fold_test.c - constants and identities: op_evaluate against a reference of its own, op_fold against op_evaluate,
 * and whole random expressions before and after folding.
 *
 * In: seeded random bits of every type, the special values among them. Out: bit-equal results, any NaN equal to any.
 */
#include "ir_reference.h"

static Arena *arena;
static Strings *names;

static int set_up(void **state) {
    (void)state;
    arena = arena_create();
    names = strings_create(arena);
    rng = (Random){2024};
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_destroy(arena);
    return 0;
}

/* ---- Every elementwise op on random constants -------------------------------------------------------------------- */

static void collect(void *context, Op *op) {
    VEC(Op *) *ops = context;
    if (op_class(op->kind) == CLASS_ELEMENT) vec_push(arena, ops, op);
}

static void describe(const Func *f, const Op *op, const int64_t *a, int64_t got, int64_t want) {
    Text t = {0};
    op_print(f, op, &t);
    fail_msg("%s on 0x%llx 0x%llx 0x%llx gives 0x%llx, not 0x%llx", t.at, (unsigned long long)a[0],
             (unsigned long long)a[1], (unsigned long long)a[2], (unsigned long long)got, (unsigned long long)want);
}

static void check_constants(Func *f, Op *op) {
    int64_t a[3] = {0}, want = 0, got = 0, folded = 0;
    DType to = op->results[0]->type.dtype;
    for (uint32_t i = 0; i < op->nargs; i++) a[i] = random_constant(op->args[i]->type.dtype);
    if (op->kind == OP_ADDPTR) a[0] &= INT64_C(0xffffffffff), a[1] &= INT64_C(0x7fffffff);
    bool known = reference(op, a, &want);
    if (op_evaluate(op, a, &got) != known) describe(f, op, a, -1, -1);
    if (known && !same_bits(to, got, want)) describe(f, op, a, got, want);
    Builder b = builder_before(f, op);
    for (uint32_t i = 0; i < op->nargs; i++)
        op_set_arg(f, op, i, build0(&b, OP_CONST, (Attr){.bits = a[i]}, op->args[i]->type));
    Value *v = op_fold(&b, op);
    if (known &&
        (!v || !type_equal(v->type, op->results[0]->type) || !value_const(v, &folded) || !same_bits(to, folded, want)))
        describe(f, op, a, v ? folded : -1, want);
}

static void test_constants(void **state) {
    (void)state;
    uint32_t checked = 0;
    for (uint32_t k = 0; k < OP_COUNT; k++) {
        bool has_dtypes = k == OP_BITCAST || k == OP_ICMP || k == OP_FCMP;
        Func *f = sample_of(arena, names, (OpKind)k,
                            STAGE_TILE == (Stage)sample_is_simt((OpKind)k) ? STAGE_TILE : STAGE_SIMT);
        VEC(Op *) ops = {0};
        func_walk(f, collect, &ops);
        uint32_t rounds = ops.len ? 1 + (has_dtypes ? 6000 : 3000) / ops.len : 0;
        for (uint32_t i = 0; i < ops.len; i++)
            for (uint32_t n = 0; n < rounds; n++, checked++) check_constants(f, ops.at[i]);
        tear_down(NULL);
        arena = arena_create();
        names = strings_create(arena);
    }
    assert_in_range(checked, 100000, 1000000);
}

/* ---- The algebra of the table ------------------------------------------------------------------------------------ */

static int64_t value_of_two(const Op *op, int64_t a, int64_t b) {
    int64_t r = 0;
    if (!op_evaluate(op, (int64_t[]){a, b}, &r)) fail_msg("no value of %s", op_info[op->kind].name);
    return r;
}

/* What the columns algebra and neutral claim of the op, on random constants. */
static void check_algebra(const Func *f, const Op *op) {
    const OpInfo *row = &op_info[op->kind];
    DType d = op->results[0]->type.dtype;
    uint32_t half = dtype_bits(d) / 2;
    int64_t a[3], e = row->neutral ? op_neutral(op->kind, d) : 0, low = (INT64_C(1) << half) - 1;
    for (uint32_t i = 0; i < 3; i++) a[i] = random_constant(d);
    int64_t high = int_wrap(d, (int64_t)((uint64_t)a[2] << half)), r = value_of_two(op, a[0], a[1]);
    struct { bool is_claimed; int64_t got, want; } claims[] = {
        {row->neutral, value_of_two(op, e, a[0]), a[0]},
        {row->neutral, value_of_two(op, a[0], e), a[0]},
        {row->algebra & ALGEBRA_I, value_of_two(op, a[0], a[0]), a[0]},
        {row->algebra & ALGEBRA_C, value_of_two(op, a[1], a[0]), r},
        {row->algebra & ALGEBRA_A, value_of_two(op, r, a[2]), value_of_two(op, a[0], value_of_two(op, a[1], a[2]))},
        {row->algebra & ALGEBRA_M, value_of_two(op, a[0] ^ high, a[1]) & low, r & low},
    };
    for (uint32_t i = 0; i < COUNT(claims); i++)
        if (claims[i].is_claimed && !same_bits(d, claims[i].got, claims[i].want))
            describe(f, op, a, claims[i].got, claims[i].want);
}

static void test_algebra(void **state) {
    (void)state;
    uint32_t checked = 0;
    for (uint32_t k = 0; k < OP_COUNT; k++) {
        if (!op_info[k].algebra && !op_info[k].neutral) continue;
        Func *f = sample_of(arena, names, (OpKind)k, STAGE_TILE);
        VEC(Op *) ops = {0};
        func_walk(f, collect, &ops);
        for (uint32_t i = 0; i < ops.len; i++)
            for (uint32_t n = 0; n < 500 && ops.at[i]->kind == (OpKind)k; n++, checked++) check_algebra(f, ops.at[i]);
    }
    assert_in_range(checked, 20000, 1000000);
}

/* ---- Formats ----------------------------------------------------------------------------------------------------- */

static void test_formats(void **state) {
    (void)state;
    static const DType all[] = {DT_FP8E4NV, DT_FP8E5, DT_FP16, DT_BF16};
    for (uint32_t i = 0; i < COUNT(all); i++) {
        for (uint32_t code = 0; code >> dtype_bits(all[i]) == 0; code++) {
            double x = small_value(all[i], code);
            assert_true(isnan(x) ? isnan(float_from_bits(all[i], code)) : x == float_from_bits(all[i], code));
            assert_true(isnan(x) || float_to_bits(all[i], x) == code);
        }
        for (uint32_t n = 0; n < 100000; n++) { /* near and at the middle of two neighbours */
            uint32_t code = random_below(&rng, small_most(all[i]));
            double low = small_value(all[i], code), high = small_value(all[i], code + 1), x = (low + high) / 2;
            if (n % 3 != 0) x = nextafter(x, n % 3 == 1 ? low : high);
            assert_int_equal(float_to_bits(all[i], x), small_round(all[i], x, false));
            assert_int_equal(float_to_bits(all[i], -x), small_round(all[i], -x, false));
        }
    }
    assert_int_equal(float_to_bits(DT_BF16, 3.5e38), 0x7f80);
    assert_int_equal(float_to_bits(DT_FP16, 65519.99), 0x7bff);
    assert_int_equal(float_to_bits(DT_FP16, 65520), 0x7c00);
    assert_int_equal(float_to_bits(DT_FP8E4NV, -1e9), 0xfe);
    assert_int_equal(float_to_bits(DT_FP32, 1e-46), 0);
    assert_int_equal(float_to_bits(DT_FP32, -1e-45), 0x80000001);
}

/* A product on a tie, pushed off it by an addend far below: one rounding sees it, two do not. */
static void test_fma_once(void **state) {
    (void)state;
    Sample s = sample_create(arena, names, STAGE_TILE);
    for (uint32_t i = 0; i < 4; i++) {
        DType d = i & 1 ? DT_BF16 : DT_FP32;
        double ulp = d == DT_BF16 ? 0x1p-7 : 0x1p-23, tiny = i & 2 ? -0x1p-100 : 0x1p-100;
        Value *x = build_float(&s.b, type_scalar(d), 1 + ulp), *y = build_float(&s.b, type_scalar(d), 1.5);
        Value *z = build_float(&s.b, type_scalar(d), tiny), *r = build3(&s.b, OP_FMA, x, y, z);
        double exact = 1.5 + 1.5 * ulp, wanted = tiny > 0 ? 1.5 + 2 * ulp : 1.5 + ulp, got = 0;
        assert_true(exact - (1.5 + ulp) == ulp / 2);
        Value *v = op_fold(&s.b, r->def);
        assert_true(v && value_const_float(v, &got));
        assert_true(got == wanted);
    }
}

/* ---- Identities -------------------------------------------------------------------------------------------------- */

/* Runs straight-line scalar code: bits by value id. Loads and stores aside, every op must have a value. */
static void interpret(const Func *f, int64_t *bits) {
    for (const Op *op = f->body->first; op; op = op->next) {
        int64_t a[3] = {0};
        if (op->nresults != 1) continue;
        for (uint32_t i = 0; i < op->nargs; i++) a[i] = bits[op->args[i]->id];
        if (op->kind == OP_CONST)
            bits[op->results[0]->id] = op->attr.bits;
        else if (!op_evaluate(op, a, &bits[op->results[0]->id]))
            fail_msg("no value of %s", op_info[op->kind].name);
    }
}

static bool fold_once(Func *f) {
    bool changed = false;
    for (Op *op = f->body->first, *next; op; op = next) {
        next = op->next;
        Builder b = builder_before(f, op);
        Value *v = op_fold(&b, op);
        if (!v) continue;
        assert_true(type_equal(v->type, op->results[0]->type));
        value_replace(f, op->results[0], v);
        op_erase(f, op);
        changed = true;
    }
    return changed;
}

static void random_inputs(const Func *f, int64_t *bits) {
    for (uint32_t i = 0; i < f->body->args.len; i++)
        bits[f->body->args.at[i]->id] = random_constant(f->body->args.at[i]->type.dtype);
}

/* Straight-line scalar code over parameters of every type; what is computed last is kept alive by selects' way out. */
static RandomFunc random_code(void) {
    static const DType types[] = {DT_I1, DT_I8, DT_I16, DT_I32, DT_I64, DT_FP16, DT_BF16, DT_FP32, DT_FP64};
    RandomFunc g = {.r = &rng, .s = sample_create(arena, names, STAGE_TILE)};
    for (uint32_t i = 0; i < 2 * COUNT(types); i++)
        pool_add(&g, func_add_param(g.s.f, type_scalar(types[i / 2]), (Param){.divisible = 1}));
    for (uint32_t i = 0; i < 60; i++) random_elementwise(&g, true);
    return g;
}

static void test_identities(void **state) {
    (void)state;
    uint32_t shorter = 0;
    for (uint32_t n = 0; n < 3000; n++) {
        RandomFunc g = random_code();
        Func *f = g.s.f;
        Op *ends[64];
        uint32_t count = 0;
        for (uint32_t i = 0; i < g.n && count < 64; i++)
            if (g.pool[i]->def) ends[count++] = build_yield(&g.s.b, &g.pool[i], 1); /* keeps the value in sight */
        op_build(&g.s.b, OP_RETURN, NULL, 0, (Attr){0}, g.s.n->type);
        int64_t *in = NEW_ARRAY(arena, int64_t, f->next_value * 2 + 4096), *before = NEW_ARRAY(arena, int64_t, 8 * 64);
        Random inputs = rng;
        for (uint32_t round = 0; round < 8; round++) {
            random_inputs(f, in);
            interpret(f, in);
            for (uint32_t i = 0; i < count; i++) before[round * 64 + i] = in[ends[i]->args[0]->id];
        }
        uint32_t passes = 0;
        while (fold_once(f)) assert_in_range(++passes, 1, 50);
        shorter += passes > 0;
        Text once = {0}, twice = {0};
        func_print(f, &once);
        assert_false(fold_once(f));
        func_print(f, &twice);
        assert_string_equal(once.at, twice.at); /* nothing left to do, and nothing left behind */
        rng = inputs;
        in = NEW_ARRAY(arena, int64_t, f->next_value);
        for (uint32_t round = 0; round < 8; round++) {
            random_inputs(f, in);
            interpret(f, in);
            for (uint32_t i = 0; i < count; i++) {
                const Value *v = ends[i]->args[0];
                int64_t was = before[round * 64 + i];
                if (!same_bits(v->type.dtype, in[v->id], was))
                    fail_msg("%u: value %u was 0x%llx and is 0x%llx after folding:\n%s", n, i, (unsigned long long)was,
                             (unsigned long long)in[v->id], once.at);
            }
        }
        text_free(&once);
        text_free(&twice);
        if (n % 100 == 99) {
            arena_destroy(arena);
            arena = arena_create();
            names = strings_create(arena);
        }
    }
    assert_in_range(shorter, 2500, 3000);
}

/* ---- One identity at a time -------------------------------------------------------------------------------------- */

/* `%r` of the text, folded until nothing changes, is what `wanted` says: its defining op as text, or a parameter. */
static void require_fold(const char *body, const char *wanted) {
    Text text = {0}, got = {0}, errors = {0};
    static const char layouts[] = "#a = #layout<[128] reg=[1,2] lane=[4,8,16,32,64] warp=[0] cta=[]>\n"
                                  "#b = #layout<[128] reg=[32,64] lane=[1,2,4,8,16] warp=[0] cta=[]>\n";
    text_printf(&text,
                "%sfunc @f(%%n: i32, %%m: i64, %%x: fp32, %%h: fp16, %%d: fp64, %%c: i1, %%p: *fp32, %%b: i8) stage %s "
                "{\n%s  return\n}\n",
                strchr(body, '#') ? layouts : "", strchr(body, '#') ? "simt" : "tile", body);
    Diag *d = diag_create(arena, 20);
    Func *f = func_read(arena, names, d, diag_add_source(d, "fold.ir", text.at, text.len));
    diag_print(d, &errors, false);
    if (!f) fail_msg("%s", errors.at);
    Op *last = f->body->last;
    Builder b = builder_before(f, last);
    Op *keep = build_yield(&b, last->prev->results, 1);
    while (fold_once(f)) continue;
    const Value *v = keep->args[0];
    if (v->def)
        op_print(f, v->def, &got);
    else
        text_printf(&got, "%%%s", v->name);
    bool good = wanted[0] == '%' ? strcmp(got.at, wanted) == 0 : strstr(got.at, wanted) != NULL;
    if (!good) fail_msg("%s folds to %s, not to %s", body, got.at, wanted);
    text_free(&text);
    text_free(&got);
    text_free(&errors);
}

static void test_cases(void **state) {
    (void)state;
    require_fold("%z = const -0.0 : fp32\n%r = fadd %x, %z : fp32\n", "%x");
    require_fold("%z = const 0.0 : fp32\n%r = fadd %x, %z : fp32\n", "fadd"); /* -0 + 0 is 0 */
    require_fold("%z = const 0.0 : fp32\n%r = fsub %x, %z : fp32\n", "%x");
    require_fold("%z = const -0.0 : fp32\n%r = fsub %x, %z : fp32\n", "fsub");
    require_fold("%z = const 0.0 : fp32\n%r = fmul %x, %z : fp32\n", "fmul"); /* NaN, infinity, -1 */
    require_fold("%r = fsub %x, %x : fp32\n", "fsub");                        /* NaN, infinity */
    require_fold("%z = const 8.0 : fp32\n%r = fdiv %x, %z : fp32\n", "fmul %x");
    require_fold("%z = const 3.0 : fp32\n%r = fdiv %x, %z : fp32\n", "fdiv");
    require_fold("%z = const 0x1 : fp32\n%r = fdiv %x, %z : fp32\n", "fdiv");        /* its reciprocal is infinite */
    require_fold("%z = const 0x7f000000 : fp32\n%r = fdiv %x, %z : fp32\n", "fdiv"); /* its reciprocal is subnormal */
    require_fold("%z = const 65536.0 : fp64\n%r = fdiv %d, %z : fp64\n", "fmul %d");
    require_fold("%r = fcmp eq %x, %x : i1\n", "fcmp eq");
    require_fold("%r = fcmp lt %x, %x : i1\n", "const false");
    require_fold("%z = const -inf : fp32\n%r = fmax %x, %z : fp32\n", "fmax"); /* -inf where x is NaN */
    require_fold("%z = const -inf : fp32\n%r = fmax_nan %x, %z : fp32\n", "%x");
    require_fold("%z = const inf : fp32\n%r = fmax %x, %z : fp32\n", "const inf");
    require_fold("%z = const nan : fp32\n%r = fmin %z, %x : fp32\n", "%x");
    require_fold("%r = sub %n, %n : i32\n", "const 0 : i32");
    require_fold("%z = const 0 : i32\n%r = sdiv %n, %z : i32\n", "const 0");
    require_fold("%z = const 0 : i32\n%r = urem %n, %z : i32\n", "%n");
    require_fold("%z = const 5 : i32\n%a = add %n, %z : i32\n%r = add %z, %a : i32\n", "add %n");
    require_fold("%t = const true : i1\n%a = xor %c, %t : i1\n%r = xor %a, %t : i1\n", "%c");
    require_fold("%t = const true : i1\n%r = and %c, %t : i1\n", "%c");
    require_fold("%z = const 32 : i32\n%r = shl %n, %z : i32\n", "const 0");
    require_fold("%z = const 32 : i32\n%r = ashr %n, %z : i32\n", "ashr");
    require_fold("%a = sext %b : i32\n%r = sext %a : i64\n", "sext %b : i64");
    require_fold("%a = zext %b : i32\n%r = sext %a : i64\n", "zext %b : i64");
    require_fold("%a = sext %n : i64\n%r = trunc %a : i32\n", "%n");
    require_fold("%a = sext %b : i64\n%r = trunc %a : i16\n", "sext %b : i16");
    require_fold("%a = zext %n : i64\n%r = trunc %a : i16\n", "trunc %n : i16");
    require_fold("%a = sext %n : i64\n%z = const 100 : i64\n%r = icmp slt %a, %z : i1\n", "icmp slt %n");
    require_fold("%a = sext %n : i64\n%z = const 100 : i64\n%r = icmp slt %z, %a : i1\n", "icmp sgt %n");
    require_fold("%a = sext %n : i64\n%z = const 4294967296 : i64\n%r = icmp slt %a, %z : i1\n", "const true");
    require_fold("%a = sext %n : i64\n%z = const -4294967296 : i64\n%r = icmp slt %a, %z : i1\n", "const false");
    require_fold("%a = zext %n : i64\n%z = const 4000000000 : i64\n%r = icmp slt %a, %z : i1\n", "icmp ult %n");
    require_fold("%a = zext %n : i64\n%z = const -1 : i64\n%r = icmp sgt %a, %z : i1\n", "const true");
    require_fold("%a = zext %n : i64\n%z = const -1 : i64\n%r = icmp ult %a, %z : i1\n", "const true");
    require_fold("%a = sext %n : i64\n%z = const -1 : i64\n%r = icmp ult %a, %z : i1\n", "icmp ult %n");
    require_fold("%a = zext %c : i32\n%z = const 0 : i32\n%r = icmp ne %a, %z : i1\n", "%c");
    require_fold("%a = sext %c : i32\n%z = const -1 : i32\n%r = icmp slt %a, %z : i1\n",
                 "icmp slt %a"); /* i1 has no signed order */
    require_fold("%a = sext %c : i32\n%z = const -1 : i32\n%r = icmp eq %a, %z : i1\n", "%c");
    require_fold("%z = const -2147483648 : i32\n%r = smax %n, %z : i32\n", "%n");
    require_fold("%z = const -1 : i32\n%r = umin %z, %n : i32\n", "%n");
    require_fold("%z = const 0 : i32\n%r = umin %z, %n : i32\n", "const 0");
    require_fold("%z = const 5 : i32\n%a = smin %n, %z : i32\n%y = const 3 : i32\n%r = smin %a, %y : i32\n", "smin %n");
    require_fold("%a = sext %n : i64\n%e = sext %n : i64\n%r = icmp ule %a, %e : i1\n", "const true");
    require_fold("%r = icmp sle %n, %n : i1\n", "const true");
    require_fold("%r = select %c, %n, %n : i32\n", "%n");
    require_fold("%t = const true : i1\n%f = const false : i1\n%r = select %c, %t, %f : i1\n", "%c");
    require_fold("%z = const 0 : i64\n%r = addptr %p, %z : *fp32\n", "%p");
    require_fold("%a = fpext %h : fp32\n%r = fptrunc %a : fp16\n", "%h");
    require_fold("%a = fpext %h : fp64\n%r = fptrunc %a : fp32\n", "fpext %h : fp32");
    require_fold("%a = fpext %h : fp32\n%r = fptrunc %a : bf16\n", "fptrunc");
    require_fold("%a = fneg %x : fp32\n%r = fabs %a : fp32\n", "fabs %x");
    require_fold("%a = bitcast %x : i32\n%r = bitcast %a : fp32\n", "%x");
    require_fold("%r = if %c : (i32) {\n yield %n\n} else {\n yield %n\n}\n", "%n");
    require_fold("%z = const 1 : i32\n%r = if %c : (i32) {\n yield %n\n} else {\n yield %z\n}\n", "select %c, %n");
    require_fold("%r = if %c : (i32) {\n store %p, %x\n yield %n\n} else {\n yield %n\n}\n",
                 "if %c"); /* the store stays */
    require_fold(
        "%z = const 2.0 : fp32\n%s = splat %z : tile<128xfp32>\n%e = expand_dims %s {axis = 0} : tile<1x128xfp32>\n"
        "%r = broadcast %e : tile<4x128xfp32>\n",
        "const 2.0 : tile<4x128xfp32>");
    require_fold("%s = splat %x : tile<128xfp32>\n%r = expand_dims %s {axis = 1} : tile<128x1xfp32>\n",
                 "splat %x : tile<128x1xfp32>");
    require_fold("%a = const 1 : tile<128xi32, #a>\n%r = convert_layout %a : tile<128xi32, #b>\n",
                 "const 1 : tile<128xi32, #layout<[128] reg=[32,64]");
    require_fold("%a = splat %n : tile<128xi32, #a>\n%e = add %a, %a : tile<128xi32, #a>\n%g = convert_layout %e : "
                 "tile<128xi32, #b>\n"
                 "%r = convert_layout %g : tile<128xi32, #a>\n",
                 "add");
    require_fold("%a = arange 0, 128 : tile<128xi32, #a>\n%r = convert_layout %a : tile<128xi32, #b>\n",
                 "arange 0, 128 : tile<128xi32, #layout<[128] reg=[32,64]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants),  cmocka_unit_test(test_formats), cmocka_unit_test(test_fma_once),
        cmocka_unit_test(test_identities), cmocka_unit_test(test_cases),   cmocka_unit_test(test_algebra),
    };
    return cmocka_run_group_tests_name("ir fold", tests, set_up, tear_down);
}
