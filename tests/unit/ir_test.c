/* ir_test.c - the IR as a data structure and as text: every op and random functions built, verified, printed, read
 * back; uses kept right under change; copies; the reader on broken text.
 *
 * In: samples of every op, seeded random functions, damaged text.
 * What is printed reads back and prints the same; nothing that is not a function gets through or ends the process.
 */
#include "ir_random.h"

static Arena *arena;
static Strings *names;

static int set_up(void **state) {
    (void)state;
    arena = arena_create();
    names = strings_create(arena);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_destroy(arena);
    return 0;
}

static void require_sound(const Func *f, const char *what) {
    Text why = {0};
    if (!func_verify(f, &why)) {
        func_print(f, &why);
        fail_msg("%s: %s", what, why.at);
    }
    text_free(&why);
}

static Func *read_text(const char *text, size_t n, Text *errors) {
    Diag *d = diag_create(arena, 20);
    Func *f = func_read(arena, names, d, diag_add_source(d, "test.ir", text, n));
    diag_print(d, errors, false);
    assert_true((f == NULL) == (diag_errors(d) > 0));
    return f;
}

/* Text alone would not show what the printer leaves out: everything that the text carries is compared. */
static bool same_op(const Op *a, const Op *b, bool spans);

static bool same_values(Value *const *a, Value *const *b, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        Type s = a[i]->type, t = b[i]->type;
        bool layouts = s.layout && t.layout ? memcmp(s.layout, t.layout, sizeof *s.layout) == 0 : s.layout == t.layout;
        s.layout = t.layout = NULL;
        if (!layouts || !type_equal(s, t) || a[i]->index != b[i]->index || !a[i]->def != !b[i]->def) return false;
    }
    return true;
}

static bool same_block(const Block *a, const Block *b, bool spans) {
    if (a->args.len != b->args.len || !same_values(a->args.at, b->args.at, a->args.len)) return false;
    const Op *x = a->first, *y = b->first;
    for (; x && y; x = x->next, y = y->next)
        if (!same_op(x, y, spans)) return false;
    return !x && !y;
}

static bool same_attr(const Attr *a, const Attr *b, bool spans) {
    const MemAttr *m = &a->mem, *n = &b->mem;
    const LoopAttr *l = &a->loop, *k = &b->loop;
    bool same = a->bits == b->bits && a->start == b->start && a->end == b->end && a->buffer == b->buffer;
    same &=
        a->axis == b->axis && a->perm == b->perm && a->half == b->half && a->flip == b->flip && a->flags == b->flags;
    same &= a->pending == b->pending && a->pred == b->pred && a->round == b->round && a->accuracy == b->accuracy;
    same &= a->scope == b->scope && a->combine == b->combine && a->shown == b->shown;
    same &= a->is_scattered == b->is_scattered;
    return same && a->is_prefetch == b->is_prefetch && a->is_begin == b->is_begin && m->cache == n->cache &&
           m->evict == n->evict && m->is_volatile == n->is_volatile && m->align_log2 == n->align_log2 &&
           m->vec_log2 == n->vec_log2 && m->mask_kind == n->mask_kind && m->is_rotated == n->is_rotated &&
           (!spans || m->site == n->site) && l->num_stages == k->num_stages && l->unroll_factor == k->unroll_factor &&
           l->flatten == k->flatten && l->disable_licm == k->disable_licm;
}

static bool same_op(const Op *a, const Op *b, bool spans) {
    if (a->kind != b->kind || a->nargs != b->nargs || a->nresults != b->nresults || a->nregions != b->nregions)
        return false;
    if (!same_attr(&a->attr, &b->attr, spans) ||
        (spans && (a->span.begin != b->span.begin || a->span.end != b->span.end)))
        return false;
    if (!same_values(a->args, b->args, a->nargs) || !same_values(a->results, b->results, a->nresults)) return false;
    for (uint32_t i = 0; i < a->nregions; i++)
        if (!same_block(a->regions[i], b->regions[i], spans)) return false;
    return true;
}

static bool same_func(const Func *f, const Func *g, bool spans) {
    bool same = f->stage == g->stage && f->num_warps == g->num_warps && f->params.len == g->params.len;
    for (uint32_t i = 0; same && i < f->params.len; i++) {
        const Param *p = &f->params.at[i], *q = &g->params.at[i];
        same = p->divisible == q->divisible && p->is_const == q->is_const && p->is_unsigned == q->is_unsigned &&
               p->is_nonnegative == q->is_nonnegative && p->least == q->least && p->most == q->most;
    }
    same &= f->buffers.len == g->buffers.len;
    for (uint32_t i = 0; same && i < f->buffers.len; i++) {
        const Buffer *b = &f->buffers.at[i], *c = &g->buffers.at[i];
        Text x = {0}, y = {0};
        layout_write(b->places, &x);
        layout_write(c->places, &y);
        same = b->dtype == c->dtype && !strcmp(x.at, y.at) && b->stages == c->stages && b->bytes == c->bytes &&
               b->align == c->align && b->offset == c->offset && b->is_private == c->is_private;
        text_free(&x);
        text_free(&y);
    }
    return same && same_block(f->body, g->body, spans);
}

static void require_round_trip(const Func *f, const char *what) {
    void (*const printers[])(const Func *, Text *) = {func_print, func_print_spans};
    require_sound(f, what);
    for (uint32_t i = 0; i < COUNT(printers); i++) {
        Text first = {0}, again = {0}, errors = {0};
        printers[i](f, &first);
        Func *g = read_text(first.at, first.len, &errors);
        if (!g) fail_msg("%s does not read back:\n%s\n%s", what, first.at, errors.at);
        require_sound(g, what);
        if (!same_func(f, g, i == 1)) fail_msg("%s reads back as another function:\n%s", what, first.at);
        printers[i](g, &again);
        if (strcmp(first.at, again.at) != 0) fail_msg("%s changes:\n%s\n%s", what, first.at, again.at);
        text_free(&first);
        text_free(&again);
        text_free(&errors);
    }
}

/* ---- Every op ---------------------------------------------------------------------------------------------------- */

static void find_kind(void *context, Op *op) {
    OpKind *wanted = context;
    if (op->kind == *wanted) *wanted = OP_COUNT;
}

static void test_every_op(void **state) {
    (void)state;
    for (uint32_t k = 0; k < OP_COUNT; k++) {
        if (!sample_is_simt((OpKind)k))
            require_round_trip(sample_of(arena, names, (OpKind)k, STAGE_TILE), op_info[k].name);
        OpKind found;
        bool has_simt = k != OP_SPLAT && k != OP_EXPAND && k != OP_BROADCAST;
        Func *f = sample_of(arena, names, (OpKind)k, has_simt ? STAGE_SIMT : STAGE_TILE);
        require_round_trip(f, op_info[k].name);
        found = (OpKind)k;
        func_walk(f, find_kind, &found);
        assert_int_equal(found, OP_COUNT);
        assert_true(op_find(op_info[k].name, &found) && found == (OpKind)k);
    }
}

static void test_random_round_trip(void **state) {
    (void)state;
    Random r = {77};
    for (uint32_t i = 0; i < 150; i++) require_round_trip(random_func(arena, names, &r), "a random function");
}

static void test_exact_text(void **state) {
    (void)state;
    static const char text[] =
        "#l0 = #layout<[256] reg=[1,2,128] lane=[4,8,16,32,64] warp=[0,0] cta=[]>\n"
        "func @scale(%y: *fp32 {divisible = 16}, %x: *fp32 {const}, %n: i32 {unsigned, nonnegative}) stage simt warps "
        "4 shared 64 {\n"
        "  %pid = program_id 0 : i32\n"
        "  %0 = arange 0, 256 : tile<256xi32, #l0>\n"
        "  %1 = splat %x : tile<256x*fp32, #l0>\n"
        "  %2 = addptr %1, %0 : tile<256x*fp32, #l0>\n"
        "  %3 = splat %n : tile<256xi32, #l0>\n"
        "  %mask = icmp slt %0, %3 : tile<256xi1, #l0>\n"
        "  %4 = const -inf : tile<256xfp32, #l0>\n"
        "  %5 = load %2, %mask, %4 {align = 16, vec = 4, mask = prefix, evict = first} : tile<256xfp32, #l0>\n"
        "  %6 = reduce %5 {axis = 0, combine = fmax} : fp32\n"
        "  %c0 = const 0 : i32\n"
        "  %c1 = const 1 : i32\n"
        "  %sum, %7 = for %i = %c0 to %n step %c1 carry (%a = %6, %b = %pid) {stages = 3} : (fp32, i32) {\n"
        "    %8 = fadd %a, %6 : fp32\n"
        "    yield %8, %i\n"
        "  }\n"
        "  %9 = fcmp lt %6, %sum : i1\n"
        "  if %9 {\n"
        "    store %y, %sum {align = 4}\n"
        "    yield\n"
        "  }\n"
        "  %10 = while carry (%k = %n) : (i32) {\n"
        "    %11 = icmp ne %k, %7 : i1\n"
        "    condition %11, %k\n"
        "  } do (%j: i32) {\n"
        "    %12 = sub %j, %c1 : i32\n"
        "    yield %12\n"
        "  }\n"
        "  barrier block\n"
        "  return\n"
        "}\n";
    Text errors = {0}, out = {0};
    Func *f = read_text(text, sizeof text - 1, &errors);
    if (!f) fail_msg("%s", errors.at);
    func_print(f, &out);
    assert_string_equal(out.at, text);
    assert_int_equal(f->sites.len, 2);
    text_free(&out);
    text_free(&errors);
}

/* ---- Change ------------------------------------------------------------------------------------------------------ */

static void test_uses(void **state) {
    (void)state;
    Sample s = sample_create(arena, names, STAGE_TILE);
    Value *one = build_int(&s.b, s.n->type, 1), *two = build_int(&s.b, s.n->type, 2);
    assert_false(value_used(one));
    Value *sum = build2(&s.b, OP_ADD, one, one);
    assert_true(value_used(one) && !value_used_once(one));
    op_set_arg(s.f, sum->def, 0, two);
    assert_true(value_used_once(one) && value_used_once(two));
    Op *branch = build_if(&s.b, build_int(&s.b, type_scalar(DT_I1), 1), &s.n->type, 1);
    for (uint32_t i = 0; i < 2; i++) {
        Builder in = builder_at_end(s.f, branch->regions[i]);
        Value *v = build2(&in, OP_MUL, sum, s.n);
        build_yield(&in, &v, 1);
    }
    op_build(&s.b, OP_RETURN, NULL, 0, (Attr){0}, s.n->type);
    require_sound(s.f, "uses");
    assert_true(block_contains(s.f->body, branch->regions[1]->first) &&
                block_contains(branch->regions[1], branch->regions[1]->first));
    assert_false(block_contains(branch->regions[0], branch->regions[1]->first));
    value_replace(s.f, sum, two);
    assert_false(value_used(sum));
    require_sound(s.f, "value_replace");
    op_erase(s.f, sum->def);
    for (uint32_t i = 0; i < 2; i++) op_remove_arg(s.f, branch->regions[i]->last, 0);
    op_remove_result(s.f, branch, 0);
    require_sound(s.f, "op_remove_result");
    op_erase(s.f, branch);
    assert_false(value_used(s.n) || value_used(two));
    op_move_before(two->def, one->def);
    assert_ptr_equal(s.f->body->first, two->def);
    require_sound(s.f, "op_erase");
}

static void test_carried(void **state) {
    (void)state;
    Func *f = sample_of(arena, names, OP_FOR, STAGE_TILE);
    Op *loop = f->body->first;
    while (loop->kind != OP_FOR) loop = loop->next;
    Block *body = loop->regions[0];
    op_remove_arg(f, body->last, 1);
    op_remove_arg(f, loop, 4);
    block_remove_arg(f, body, 2);
    op_remove_result(f, loop, 1);
    require_round_trip(f, "a loop with one carried value less");
    Value *x = body->args.at[1];
    op_add_arg(f, loop, loop->args[3]);
    op_add_arg(f, body->last, block_add_arg(f, body, x->type, "extra"));
    op_remove_arg(f, loop, 4);
    Text why = {0};
    assert_false(func_verify(f, &why)); /* now the loop takes one more than it gets */
    text_free(&why);
}

/* A constant with very many uses: every step must not walk them. */
static void test_many_uses(void **state) {
    (void)state;
    enum { USES = 60000 };
    Sample s = sample_create(arena, names, STAGE_TILE);
    Value *one = build_int(&s.b, s.n->type, 1), *two = build_int(&s.b, s.n->type, 2);
    Value **sums = NEW_ARRAY(arena, Value *, USES);
    for (uint32_t i = 0; i < USES; i++) sums[i] = build2(&s.b, OP_ADD, s.n, one);
    op_build(&s.b, OP_RETURN, NULL, 0, (Attr){0}, s.n->type);
    for (uint32_t i = 0; i < USES; i++) op_set_arg(s.f, sums[i]->def, 1, two);
    require_sound(s.f, "many uses");
    for (uint32_t i = 0; i < USES; i++) op_erase(s.f, sums[i]->def);
    assert_false(value_used(one) || value_used(two) || value_used(s.n));
}

static void test_clone(void **state) {
    (void)state;
    Random r = {5};
    for (uint32_t i = 0; i < 80; i++) {
        Func *f = random_func(arena, names, &r);
        Text before = {0}, after = {0};
        func_print(f, &before);
        Builder b = builder_before(f, f->body->last);
        ValueMap map = valuemap_create(f);
        Op *last = f->body->last->prev, *first = f->body->first;
        for (Op *op = first; op; op = op == last ? NULL : op->next) op_clone(&b, op, &map);
        require_round_trip(f, "a function with its copy");
        for (Op *op = f->body->last->prev; op != last; op = f->body->last->prev) op_erase(f, op);
        require_sound(f, "the copy erased");
        func_print(f, &after);
        assert_string_equal(before.at, after.at);
        text_free(&before);
        text_free(&after);
    }
}

/* A copy over operands in another layout has that layout. */
static void test_clone_layout(void **state) {
    (void)state;
    Sample s = sample_create(arena, names, STAGE_SIMT);
    Value *x = sample_value(&s, sample_tile(&s, DT_FP32, s.row)), *y = build2(&s.b, OP_FADD, x, x);
    Type t = x->type;
    t.layout = sample_layout(&s, s.row, 0);
    Value *other = build1_to(&s.b, OP_CONVERT, x, t);
    ValueMap map = valuemap_create(s.f);
    valuemap_set(s.f, &map, x, other);
    op_clone(&s.b, y->def, &map);
    assert_ptr_equal(valuemap_get(&map, y)->type.layout, t.layout);
    op_build(&s.b, OP_RETURN, NULL, 0, (Attr){0}, s.n->type);
    require_sound(s.f, "clone");
}

/* ---- Broken text ------------------------------------------------------------------------------------------------- */

static void test_reader_errors(void **state) {
    (void)state;
    static const struct {
        const char *line, *wanted; /* a line of the body, and what the error says */
    } cases[] = {
        {"%a = nothing %n : i32", "test.ir:2:6: error: there is no op 'nothing'"},
        {"%a = add %n : i32", "'add': 1 operands, not 2"},
        {"%a = add %n, %x : i32", "operands 0 and 1 have different types"},
        {"%a = add %n, %n : i64", "the result of this 'add' is i32"},
        {"%a = add %n, %zz : i32", "test.ir:2:14: error: %zz is not defined above"},
        {"%n = add %n, %n : i32", "%n is defined twice"},
        {"%a = const 300 : i8", "'300' is no integer that fits the type"},
        {"%a = const 1.5 : i32", "no integer"},
        {"%a = const abc : fp32", "no float"},
        {"%a = const inf : fp8e4nv", "no float"},
        {"%a = const 1 : tile<3xi32>", "powers of two"},
        {"%a = const 1 : tile<4294967296xi32>", "2^31 elements"},
        {"%a = const 1 : tile<2x2x2x2x2x2x2x2xi32>", "at most 7 dimensions"},
        {"%a = const 1 : i33", "'i33' is no element type"},
        {"%a = const 1 : tile<4xi32, #l9>", "the layout #l9 is not defined"},
        {"%a = const 1 : tile<4xi32, #layout<[4] reg=[1]>", "a layout has the parts"},
        {"%a = const 1 : tile<4xi32, #layout<[8] reg=[1,2,4] lane=[] warp=[] cta=[]>>", "another shape"},
        {"%a = const 1 : tile<4xi32, #layout<[4] reg=[1,2] lane=[] warp=[] cta=[]>>", "a layout at stage tile"},
        {"%a = arange 0, 3 : tile<4xi32>", "no power of two"},
        {"%a = icmp lt %n, %n : i1", "'lt' is none of: eq, ne, slt"},
        {"%a = load %p {align = 3} : fp32", "a power of two"},
        {"%a = load %p {color = 3} : fp32", "no attribute 'color'"},
        {"%a = load %p {volatile : fp32", "expected '}'"},
        {"add %n, %n", "'add' has 1 results, not 0"},
        {"%a, %b = add %n, %n : (i32, i32)", "'add' has 1 results, not 2"},
        {"%a = add %n, %n", "1 results and 0 types"},
        {"%a = add %n, %n : i32 garbage", "expected the line's end"},
        {"%a = reduce %n {axis = 0, combine = fmax} : i32", "axis 0 where there are 0"},
        {"%a = reduce_warp %n {axis = 0, combine = fmax} : i32", "axis 0 where there are 0"},
        {"barrier device", "'device' is none of: warp, block, cluster, grid"},
        {"for %i = %n to %n step %x {", "different types"},
        {"for %i = %n to %n {", "expected 'step'"},
        {"if %n {", "no scalar i1"},
        {"while {", "expected 'do' here"},
        {"yield", "it ends a block, and something follows: yield"},
        {"return", "it ends a block, and something follows"},
        {"}", "expected nothing behind the function"},
        {"\x01", "expected an op here"},
    };
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        Text text = {0}, errors = {0};
        text_printf(&text, "func @f(%%n: i32, %%x: fp32, %%p: *fp32) stage tile {\n%s\nreturn\n}\n", cases[i].line);
        Func *f = read_text(text.at, text.len, &errors);
        if (f || !strstr(errors.at, cases[i].wanted))
            fail_msg("'%s' gives: %s", cases[i].line, f ? "a function" : errors.at);
        text_free(&text);
        text_free(&errors);
    }
}

static void test_reader_goes_on(void **state) {
    (void)state;
    static const char text[] =
        "func @f(%n: i32) stage tile {\n  %a = bad %n : i32\n  %b = add %a, %n : i32 # no second error\n"
        "  %c = worse %n : i32\n  return\n}\n";
    Diag *d = diag_create(arena, 20);
    assert_null(func_read(arena, names, d, diag_add_source(d, "test.ir", text, sizeof text - 1)));
    assert_int_equal(diag_errors(d), 2);
}

static void test_reader_comments(void **state) {
    (void)state;
    static const char text[] =
        "# RUN: something\n#layout of the file\n\n  # more\nfunc @f(%n: i32) stage tile { # here\n\n# CHECK: x\n"
        "  %7 = add %n, %n : i32 # there\n  if %t { # then\n}\n";
    static const char good[] = "# RUN: something\n\n  # more\nfunc @f(%n: i32) stage tile { # here\n\n# CHECK: x\n"
                               "  %7 = add %n, %n : i32 # there\r\n\treturn\n  # end\n}\n# the end";
    Text errors = {0}, out = {0};
    assert_null(read_text(text, sizeof text - 1, &errors));
    text_free(&errors);
    Func *f = read_text(good, sizeof good - 1, &errors);
    if (!f) fail_msg("%s", errors.at);
    func_print(f, &out);
    assert_string_equal(out.at, "func @f(%n: i32) stage tile {\n  %0 = add %n, %n : i32\n  return\n}\n");
    text_free(&out);
    text_free(&errors);
}

/* Text with bytes changed, lost, doubled: a function or errors, and the process goes on. */
static void test_reader_damaged(void **state) {
    (void)state;
    Random r = {123};
    uint32_t read = 0;
    for (uint32_t i = 0; i < 1500; i++) {
        OpKind k = (OpKind)random_below(&r, OP_COUNT);
        bool simt = k != OP_SPLAT && k != OP_EXPAND && k != OP_BROADCAST && random_below(&r, 2);
        Func *f = i & 1 ? random_func(arena, names, &r)
                        : sample_of(arena, names, k, simt || sample_is_simt(k) ? STAGE_SIMT : STAGE_TILE);
        Text t = {0}, errors = {0};
        (i & 2 ? func_print : func_print_spans)(f, &t);
        for (uint32_t n = random_below(&r, 4); n > 0 && t.len > 1; n--) {
            uint32_t at = random_below(&r, (uint32_t)t.len - 1), from = random_below(&r, (uint32_t)t.len - 1);
            uint32_t size = random_below(&r, 1 + (uint32_t)t.len - (at > from ? at : from));
            if (random_below(&r, 2))
                t.at[at] = (char)random_bits(&r);
            else if (random_below(&r, 4))
                memmove(t.at + at, t.at + from, size < 20 ? size : 20);
            else
                t.len = at;
        }
        char *copy = arena_strndup(arena, t.at, t.len); /* exact size: reading behind it is seen */
        Func *g = read_text(copy, t.len, &errors);
        if (g) require_round_trip(g, "what was read from damaged text");
        read += g != NULL;
        text_free(&t);
        text_free(&errors);
        if (i % 200 == 199) {
            tear_down(NULL);
            set_up(NULL);
        }
    }
    assert_in_range(read, 200, 1300);
}

static void test_reader_nested(void **state) {
    (void)state;
    Text t = {0}, errors = {0};
    text_printf(&t, "func @f(%%c: i1) stage tile {\n");
    for (uint32_t i = 0; i < 100000; i++) text_printf(&t, "if %%c {\n");
    assert_null(read_text(t.at, t.len, &errors));
    assert_non_null(strstr(errors.at, "nested deeper than"));
    text_free(&t);
    text_free(&errors);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_op),        cmocka_unit_test(test_random_round_trip),
        cmocka_unit_test(test_exact_text),      cmocka_unit_test(test_uses),
        cmocka_unit_test(test_carried),         cmocka_unit_test(test_many_uses),
        cmocka_unit_test(test_clone),           cmocka_unit_test(test_clone_layout),
        cmocka_unit_test(test_reader_errors),   cmocka_unit_test(test_reader_goes_on),
        cmocka_unit_test(test_reader_comments), cmocka_unit_test(test_reader_damaged),
        cmocka_unit_test(test_reader_nested),
    };
    return cmocka_run_group_tests_name("ir", tests, set_up, tear_down);
}
