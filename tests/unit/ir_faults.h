/* ir_faults.h - faults to plant in a sound function: one change each,
 * which the verifier must find (ir_verify_test.c). */
#ifndef IR_FAULTS_H
#define IR_FAULTS_H

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
    return op_build(&v->s.b, OP_SHSTORE, args, nargs, (Attr){.buffer = v->s.f->buffers.len - 1, .scope = SCOPE_BLOCK},
                    args[0]->type);
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

static void buffer_that_waits(Victim *v) {
    new_buffer(v, false)->stages = 2;
    op_add_arg(v->s.f, store_there(v, DT_FP32, v->s.square, 2), v->s.n);
}

static void buffer_seen_by_all(Victim *v) {
    new_buffer(v, false);
    store_there(v, DT_FP32, v->s.square, 1);
}

/* A round of a counted buffer as sample_counted() has it: begin, store, wait, loads. */
static Op *counted_op(Victim *v, OpKind k) {
    v->s.b = builder_before(v->s.f, v->s.f->body->last);
    Op *op = v->s.b.before->prev;
    sample_counted(&v->s);
    while (op->kind != k) op = op->next;
    return op;
}

static void counted_of_one_block(Victim *v) {
    new_buffer(v, false)->is_counted = true;
}

static void counted_stored_at_home(Victim *v) {
    counted_op(v, OP_SHSTORE)->attr.scope = SCOPE_BLOCK;
}

static void counted_before_begin(Victim *v) {
    op_erase(v->s.f, counted_op(v, OP_BARRIER));
}

static void counted_without_wait(Victim *v) {
    op_erase(v->s.f, counted_op(v, OP_SHWAIT));
}

static void counted_without_store(Victim *v) {
    op_erase(v->s.f, counted_op(v, OP_SHSTORE));
}

static void counted_read_early(Victim *v) {
    Op *load = counted_op(v, OP_SHLOAD);
    op_move_before(load, load->prev->prev);
}

static void counted_of_other_stages(Victim *v) {
    Op *wait = counted_op(v, OP_SHWAIT);
    op_add_arg(v->s.f, wait, v->s.n);
    op_add_arg(v->s.f, wait, v->s.n);
}

static void counted_waits_for_tile(Victim *v) {
    Op *store = counted_op(v, OP_SHSTORE);
    op_add_arg(v->s.f, store, store->args[0]);
}

static void counted_by_nobody(Victim *v) {
    const Op *wait = counted_op(v, OP_SHWAIT);
    v->s.f->buffers.at[wait->attr.buffer].is_counted = false;
}

static void counted_again(Victim *v) {
    v->s.b = inside(v, v->loop, 0);
    sample_counted(&v->s);
    Op *begin = v->loop->regions[0]->last;
    while (begin->kind != OP_BARRIER) begin = begin->prev;
    op_move_before(begin, v->loop);
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

#endif
