/* ir_verify_test.c - the verifier against planted faults: each is one change to a sound function, and must be found
 * with the right complaint.
 *
 * In: one small function per fault. Out: the verifier's word on it, before (sound) and after (not).
 */
#include "ir_sample.h"

typedef struct Victim {
    Sample s;
    Op *add, *loop, *branch, *test, *load; /* test: the while */
    Value *tile;                           /* of fp32 */
    const Layout *layout;                  /* another one for the tile */
} Victim;

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

static Victim victim_create(Stage stage) {
    Victim v = {.s = sample_create(arena, names, stage)};
    Sample *s = &v.s;
    v.add = build2(&s->b, OP_ADD, s->n, s->n)->def;
    Value *p = sample_pointers(s);
    v.load = build_load(&s->b, p, NULL, NULL, sample_memory(s))->def;
    v.tile = v.load->results[0];
    sample_for(s);
    sample_while(s);
    sample_if(s, 2);
    op_build(&s->b, OP_RETURN, NULL, 0, (Attr){0}, s->n->type);
    for (Op *op = s->f->body->first; op; op = op->next) {
        if (op->kind == OP_FOR && !v.loop) v.loop = op;
        if (op->kind == OP_WHILE && !v.test) v.test = op;
        if (op->kind == OP_IF && !v.branch) v.branch = op;
    }
    v.layout = sample_layout(s, s->row, 0);
    return v;
}

static Builder inside(Victim *v, Op *op, uint32_t region) {
    Builder b = builder_before(v->s.f, op->regions[region]->last);
    return b;
}

/* ---- Faults ------------------------------------------------------------------------------------------------------ */

static void value_number_twice(Victim *v) {
    v->add->results[0]->id = v->tile->id;
}

static void value_number_beyond(Victim *v) {
    v->add->results[0]->id = v->s.f->next_value;
}

static void op_number_twice(Victim *v) {
    v->add->id = v->load->id;
}

static void op_in_wrong_block(Victim *v) {
    v->add->parent = v->loop->regions[0];
}

static void op_without_prev(Victim *v) {
    v->load->prev = NULL;
}

static void block_without_last(Victim *v) {
    v->loop->regions[0]->last = v->loop->regions[0]->first;
}

static void region_of_other(Victim *v) {
    v->loop->regions[0]->owner = v->branch;
}

static void result_of_other(Victim *v) {
    v->add->results[0]->def = v->load;
}

static void argument_of_other(Victim *v) {
    v->loop->regions[0]->args.at[1]->block = v->s.f->body;
}

static void argument_misplaced(Victim *v) {
    v->loop->regions[0]->args.at[1]->index = 0;
}

static void operand_missing(Victim *v) {
    v->add->args[0] = NULL;
}

static void operand_below(Victim *v) {
    op_set_arg(v->s.f, v->add, 0, v->branch->results[1]);
}

static void operand_inside(Victim *v) {
    Builder b = inside(v, v->loop, 0);
    Value *hidden = build2(&b, OP_MUL, v->s.n, v->s.n);
    b = builder_before(v->s.f, v->s.f->body->last);
    build2(&b, OP_ADD, hidden, hidden);
}

static void operand_of_other_arm(Victim *v) {
    Builder b = inside(v, v->branch, 0);
    Value *x = build2(&b, OP_FADD, v->s.x, v->s.x);
    op_set_arg(v->s.f, v->branch->regions[1]->last, 0, x);
}

static void operand_without_use(Victim *v) {
    v->add->args[1] = v->loop->args[1];
}

static void use_of_erased(Victim *v) {
    v->s.n->uses->op = v->branch;
}

static void use_lost(Victim *v) {
    v->s.n->uses = v->s.n->uses->next;
}

static void use_index(Victim *v) {
    v->add->slots[1]->index = 0;
}

static void use_too_many(Victim *v) {
    Op *extra = NEW(arena, Op);
    *extra = *v->add;
    extra->args = NULL;
    extra->nargs = extra->cap = 0;
    op_add_arg(v->s.f, extra, v->tile); /* an op that stands nowhere but in the list of uses */
    extra->parent = v->s.f->body;
}

static void uses_in_a_ring(Victim *v) {
    Use *last = v->s.n->uses;
    while (last->next) last = last->next;
    last->next = v->s.n->uses;
}

static void result_type(Victim *v) {
    v->add->results[0]->type = v->s.m->type;
}

static void operand_type(Victim *v) {
    op_set_arg(v->s.f, v->add, 0, v->s.m);
}

static void operand_count(Victim *v) {
    op_remove_arg(v->s.f, v->add, 1);
}

static void result_count(Victim *v) {
    v->add->nresults = 0;
}

static void attr_bits(Victim *v) {
    Builder b = builder_before(v->s.f, v->add);
    build_int(&b, type_scalar(DT_I8), 1)->def->attr.bits = 128;
}

static void attr_axis(Victim *v) {
    Builder b = builder_before(v->s.f, v->add);
    build0(&b, OP_PID, (Attr){0}, v->s.n->type)->def->attr.axis = 3;
}

static void attr_pred(Victim *v) {
    Builder b = builder_before(v->s.f, v->add);
    build_compare(&b, OP_FCMP, PRED_EQ, v->s.x, v->s.x)->def->attr.pred = PRED_ULT;
}

static void attr_accuracy(Victim *v) {
    Builder b = builder_before(v->s.f, v->add);
    build1(&b, OP_EXP, v->s.x)->def->attr.accuracy = (Accuracy)3;
}

static void attr_combine(Victim *v) {
    Builder b = builder_after(v->s.f, v->load);
    build_reduce(&b, v->tile, 0, OP_FADD)->def->attr.combine = OP_ADD;
}

static void attr_range(Victim *v) {
    Builder b = builder_before(v->s.f, v->add);
    Attr a = {.start = 0, .end = 256};
    build0(&b, OP_ARANGE, a, sample_tile(&v->s, DT_I32, v->s.row))->def->attr.end = 255;
}

static void attr_policy(Victim *v) {
    v->load->attr.mem.cache = CACHE_CV + 1;
}

static void attr_site(Victim *v) {
    v->load->attr.mem.site = v->s.f->sites.len;
}

static void attr_loop(Victim *v) {
    v->loop->attr.loop.num_stages = -1;
}

static void no_return(Victim *v) {
    op_erase(v->s.f, v->s.f->body->last);
}

static void no_yield(Victim *v) {
    op_erase(v->s.f, v->branch->regions[1]->last);
}

static void two_returns(Victim *v) {
    Builder b = builder_before(v->s.f, v->add);
    op_build(&b, OP_RETURN, NULL, 0, (Attr){0}, v->s.n->type);
}

static void return_in_region(Victim *v) {
    Builder b = inside(v, v->loop, 0);
    Op *yield = b.before;
    op_build(&b, OP_RETURN, NULL, 0, (Attr){0}, v->s.n->type);
    op_erase(v->s.f, yield);
}

static void yield_for_condition(Victim *v) {
    v->test->regions[0]->last->kind = OP_YIELD;
}

static void yield_count(Victim *v) {
    op_remove_arg(v->s.f, v->branch->regions[0]->last, 1);
}

static void yield_type(Victim *v) {
    op_set_arg(v->s.f, v->branch->regions[0]->last, 1, v->s.m);
}

static void carried_type(Victim *v) {
    op_set_arg(v->s.f, v->loop, 3, v->s.n);
}

static void counter_type(Victim *v) {
    v->loop->regions[0]->args.at[0]->type = v->s.m->type;
}

static void condition_type(Victim *v) {
    op_set_arg(v->s.f, v->test->regions[0]->last, 0, v->s.n);
}

static void region_count(Victim *v) {
    v->branch->nregions = 1;
}

static void arm_argument(Victim *v) {
    block_add_arg(v->s.f, v->branch->regions[0], v->s.n->type, NULL);
}

static void tile_layout(Victim *v) {
    v->tile->type.layout = v->layout;
}

static void tile_without_layout(Victim *v) {
    v->tile->type.layout = NULL;
}

static void tile_of_other_threads(Victim *v) {
    Builder b = builder_before(v->s.f, v->add);
    Type t = {
        .dtype = DT_I32, .shape = v->s.row, .layout = layout_blocked(v->s.f->layouts, v->s.row, NULL, 0, 5, 3, 0)};
    build_int(&b, t, 0);
}

static void tile_of_other_shape(Victim *v) {
    Builder b = builder_before(v->s.f, v->add);
    Type t = sample_tile(&v->s, DT_I32, v->s.row);
    build_int(&b, t, 0)->type.layout = sample_layout(&v->s, v->s.square, 0);
}

static void scalar_layout(Victim *v) {
    v->s.n->type.layout = v->layout;
}

static void simt_op(Victim *v) {
    v->add->kind = OP_CONVERT;
}

static void scope_of_one_block(Victim *v) {
    v->s.f->scope = SCOPE_GRID;
}

static void blocks_of_no_scope(Victim *v) {
    v->s.f->blocks_per_program = 4;
}

static void barrier_of(Victim *v, Scope blocks, Attr a) {
    Builder b = inside(v, v->loop, 0);
    sample_scope(&v->s, blocks);
    op_build(&b, OP_BARRIER, NULL, 0, a, v->s.n->type);
}

static void barrier_too_wide(Victim *v) {
    barrier_of(v, SCOPE_CLUSTER, (Attr){.scope = SCOPE_GRID});
}

static void barrier_of_no_cluster(Victim *v) {
    barrier_of(v, SCOPE_GRID, (Attr){.scope = SCOPE_CLUSTER});
}

static void begin_of_grid(Victim *v) {
    barrier_of(v, SCOPE_GRID, (Attr){.scope = SCOPE_GRID, .is_begin = true});
}

static void store_to(Victim *v, Scope scope) {
    Builder b = inside(v, v->loop, 0);
    op_build(&b, OP_SHSTORE, &v->s.n, 1, (Attr){.scope = scope}, v->s.n->type);
}

static void store_to_warp(Victim *v) {
    store_to(v, SCOPE_WARP);
}

static void store_to_grid(Victim *v) {
    store_to(v, SCOPE_GRID);
}

static void param_missing(Victim *v) {
    v->s.f->params.len--;
}

static void param_divisible(Victim *v) {
    v->s.f->params.at[0].divisible = 0;
}

static void param_tile(Victim *v) {
    v->s.f->body->args.at[3]->type.shape = v->s.row;
}

static void no_programs(Victim *v) {
    v->s.f->programs_per_block = 0;
}

static void kind_beyond(Victim *v) {
    v->add->kind = OP_COUNT;
}

/* ---- Buffers ----------------------------------------------------------------------------------------------------- */

static Buffer *new_buffer(Victim *v, bool is_private) {
    uint32_t i = sample_buffer(&v->s, DT_FP32, is_private, 2, 1);
    v->s.b = builder_before(v->s.f, v->s.f->body->last);
    return &v->s.f->buffers.at[i];
}

/* Into the last buffer. */
static Op *store_there(Victim *v, DType d, Shape s, uint32_t nargs) {
    Value *args[] = {sample_value(&v->s, sample_tile(&v->s, d, s)), v->s.n};
    return op_build(&v->s.b, OP_SHSTORE, args, nargs, (Attr){.buffer = v->s.f->buffers.len - 1, .scope = SCOPE_BLOCK}, args[0]->type);
}

static void buffer_places_of_threads(Victim *v) {
    new_buffer(v, false)->places = sample_layout(&v->s, v->s.square, 2);
}

static void buffer_bytes_cut(Victim *v) {
    new_buffer(v, false)->bytes /= 2;
}

static void buffer_private_bytes_cut(Victim *v) {
    new_buffer(v, true)->bytes -= 4;
}

static void buffer_unaligned(Victim *v) {
    new_buffer(v, false)->offset = 8;
}

static void buffer_beyond(Victim *v) {
    v->s.f->shared_bytes = 1024;
    new_buffer(v, false)->offset = 512;
}

static void buffer_unknown(Victim *v) {
    new_buffer(v, false);
    store_there(v, DT_FP32, v->s.square, 1)->attr.buffer++;
}

static void buffer_of_other_type(Victim *v) {
    new_buffer(v, false);
    store_there(v, DT_I32, v->s.square, 1);
}

static void buffer_of_other_size(Victim *v) {
    new_buffer(v, false);
    store_there(v, DT_FP32, shape_row(7), 1);
}

static void buffer_of_other_registers(Victim *v) {
    new_buffer(v, true);
    store_there(v, DT_FP32, shape_row(12), 1);
}

static void buffer_stage_missing(Victim *v) {
    new_buffer(v, false)->stages = 2;
    store_there(v, DT_FP32, v->s.square, 1);
}

static void buffer_stage_too_many(Victim *v) {
    new_buffer(v, false);
    store_there(v, DT_FP32, v->s.square, 2);
}

static void buffer_seen_by_all(Victim *v) {
    new_buffer(v, false);
    store_there(v, DT_FP32, v->s.square, 1);
}

/* Both are stored before the first one is loaded. */
static void buffers_alive(Victim *v) {
    for (uint32_t i = 0; i < 2; i++) {
        new_buffer(v, false)->offset = 16 * i;
        store_there(v, DT_FP32, v->s.square, 1);
    }
    build0(&v->s.b, OP_SHLOAD, (Attr){.buffer = v->s.f->buffers.len - 2}, sample_tile(&v->s, DT_FP32, v->s.square));
}

static void buffers_of_other_threads(Victim *v) {
    for (uint32_t i = 0; i < 2; i++) {
        new_buffer(v, i)->offset = 0;
        store_there(v, DT_FP32, i ? v->s.row : v->s.square, 1);
    }
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

typedef struct Fault {
    const char *name;
    void (*plant)(Victim *v);
    Stage stage;
    const char *complaint; /* a part of it */
} Fault;

#define FAULT(name, stage, complaint)                                                                                  \
    { #name, name, STAGE_##stage, complaint }

static const Fault faults[] = {
    FAULT(value_number_twice, TILE, "is taken"),
    FAULT(value_number_beyond, TILE, "out of range"),
    FAULT(op_number_twice, TILE, "is taken"),
    FAULT(op_in_wrong_block, TILE, "does not know its block"),
    FAULT(op_without_prev, TILE, "not linked both ways"),
    FAULT(block_without_last, TILE, "does not know its last op"),
    FAULT(region_of_other, TILE, "a region does not know its op"),
    FAULT(result_of_other, TILE, "result 0 does not know its op"),
    FAULT(argument_of_other, TILE, "argument 1 does not know its block"),
    FAULT(argument_misplaced, TILE, "argument 1 does not know its block"),
    FAULT(operand_missing, TILE, "a use of a value that is none of its operands"),
    FAULT(operand_below, TILE, "is not defined above"),
    FAULT(operand_inside, TILE, "is not defined above"),
    FAULT(operand_of_other_arm, TILE, "is not defined above"),
    FAULT(operand_without_use, TILE, "a use of a value"),
    FAULT(use_of_erased, TILE, "a use of a value"),
    FAULT(use_lost, TILE, "a use of a value"),
    FAULT(use_index, TILE, "a use of a value"),
    FAULT(use_too_many, TILE, "more uses than operands"),
    FAULT(uses_in_a_ring, TILE, "a use of a value"),
    FAULT(result_type, TILE, "the result has the wrong type"),
    FAULT(operand_type, TILE, "operands 0 and 1 have different types"),
    FAULT(operand_count, TILE, "1 operands, not 2"),
    FAULT(result_count, TILE, "0 results, not 1"),
    FAULT(attr_bits, TILE, "bits 128 of no i8"),
    FAULT(attr_axis, TILE, "axis 3 where there are 3"),
    FAULT(attr_pred, TILE, "no such predicate"),
    FAULT(attr_combine, TILE, "combining fp32 by add"),
    FAULT(attr_accuracy, TILE, "no such accuracy: 3"),
    FAULT(attr_range, TILE, "no power of two"),
    FAULT(attr_policy, TILE, "no such policy"),
    FAULT(attr_site, TILE, "no such site"),
    FAULT(attr_loop, TILE, "a negative loop option"),
    FAULT(no_return, TILE, "does not end in return"),
    FAULT(no_yield, TILE, "does not end in yield"),
    FAULT(two_returns, TILE, "something follows"),
    FAULT(return_in_region, TILE, "does not end in yield: return"),
    FAULT(yield_for_condition, TILE, "does not end in condition"),
    FAULT(yield_count, TILE, "1 values are passed on where 2 are taken"),
    FAULT(yield_type, TILE, "value 1 passed on has the wrong type"),
    FAULT(carried_type, TILE, "value 0 passed on has the wrong type"),
    FAULT(counter_type, TILE, "no counter of the bounds' type"),
    FAULT(condition_type, TILE, "no scalar i1"),
    FAULT(region_count, TILE, "1 regions, not 2"),
    FAULT(arm_argument, TILE, "an arm with arguments"),
    FAULT(tile_layout, TILE, "the result has the wrong type"),
    FAULT(tile_layout, SIMT, "the result has the wrong type"),
    FAULT(tile_without_layout, SIMT, "the result has the wrong type"),
    FAULT(tile_of_other_threads, SIMT, "layouts of different threads"),
    FAULT(tile_of_other_shape, SIMT, "a layout of another shape"),
    FAULT(scalar_layout, TILE, "a layout at stage tile"),
    FAULT(scalar_layout, SIMT, "a layout of another shape"),
    FAULT(simt_op, TILE, "an op of stage simt at stage tile"),
    FAULT(scope_of_one_block, SIMT, "programs of 1 blocks and scope 3"),
    FAULT(blocks_of_no_scope, SIMT, "programs of 4 blocks and scope 1"),
    FAULT(barrier_too_wide, SIMT, "the blocks of a program form no such scope: barrier grid"),
    FAULT(barrier_of_no_cluster, SIMT, "the blocks of a program form no such scope: barrier cluster"),
    FAULT(begin_of_grid, SIMT, "only the blocks of a cluster wait for each other to begin"),
    FAULT(store_to_warp, SIMT, "a warp has no shared memory of its own"),
    FAULT(store_to_grid, SIMT, "the blocks of a program form no such scope: shared_store"),
    FAULT(param_missing, TILE, "arguments and"),
    FAULT(param_divisible, TILE, "divisible by 0"),
    FAULT(param_tile, TILE, "parameter 3 is a tile"),
    FAULT(no_programs, TILE, "no programs"),
    FAULT(kind_beyond, TILE, "an op of kind"),
    FAULT(buffer_places_of_threads, SIMT, "whose places are not one for each element"),
    FAULT(buffer_bytes_cut, SIMT, "whose bytes are not those of its elements"),
    FAULT(buffer_private_bytes_cut, SIMT, "whose bytes are not those of its elements"),
    FAULT(buffer_unaligned, SIMT, "a buffer that is not aligned"),
    FAULT(buffer_beyond, SIMT, "beyond the function's shared memory"),
    FAULT(buffer_unknown, SIMT, "no such buffer"),
    FAULT(buffer_of_other_type, SIMT, "the buffer has other elements"),
    FAULT(buffer_of_other_size, SIMT, "another number of elements"),
    FAULT(buffer_of_other_registers, SIMT, "another number of registers"),
    FAULT(buffer_stage_missing, SIMT, "no stage of a buffer that has more"),
    FAULT(buffer_stage_too_many, SIMT, "a stage of a buffer that has one"),
    FAULT(buffer_seen_by_all, TILE, "all threads see at stage tile"),
    FAULT(buffers_alive, SIMT, "share bytes while both are alive"),
    FAULT(buffers_of_other_threads, SIMT, "share bytes of different threads"),
};

static void test_faults(void **state) {
    (void)state;
    for (uint32_t i = 0; i < COUNT(faults); i++) {
        Text why = {0};
        Victim v = victim_create(faults[i].stage);
        if (!func_verify(v.s.f, &why)) fail_msg("%s: unsound before: %s", faults[i].name, why.at);
        faults[i].plant(&v);
        if (func_verify(v.s.f, &why)) fail_msg("%s was not found", faults[i].name);
        if (!strstr(why.at, faults[i].complaint) || !strstr(why.at, "@sample"))
            fail_msg("%s gives: %s", faults[i].name, why.at);
        text_free(&why);
    }
}

/* Misuse of the builders ends in bug(), which the test takes as an exception. */
static jmp_buf landing;
static char message[256];

static void land(void *context, const char *text) {
    (void)context;
    snprintf(message, sizeof message, "%s", text);
    longjmp(landing, 1);
}

static void build_mixed(Victim *v) {
    build2(&v->s.b, OP_ADD, v->s.n, v->s.m);
}

static void build_loop_by_hand(Victim *v) {
    op_build(&v->s.b, OP_FOR, v->loop->args, v->loop->nargs, (Attr){0}, v->s.n->type);
}

static void build_fp8_sum(Victim *v) {
    Value *x = build_float(&v->s.b, type_scalar(DT_FP8E4NV), 1);
    build2(&v->s.b, OP_FADD, x, x);
}

static void erase_used(Victim *v) {
    op_erase(v->s.f, v->load);
    op_erase(v->s.f, v->s.f->body->first->next);
}

static void test_misuse(void **state) {
    (void)state;
    void (*const cases[])(Victim *) = {build_mixed, build_loop_by_hand, build_fp8_sum, erase_used};
    const char *wanted[] = {"operands 0 and 1", "has its own builder", "no float of at least 16 bits", "has uses"};
    bug_set_handler(land, NULL);
    for (volatile uint32_t i = 0; i < COUNT(cases); i++) {
        Victim v = victim_create(STAGE_TILE);
        if (setjmp(landing) == 0) {
            cases[i](&v);
            bug_set_handler(NULL, NULL);
            fail_msg("misuse %u went through", i);
        }
        if (!strstr(message, wanted[i])) fail_msg("misuse %u gives: %s", i, message);
    }
    bug_set_handler(NULL, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults), cmocka_unit_test(test_misuse)};
    return cmocka_run_group_tests_name("ir verify", tests, set_up, tear_down);
}
