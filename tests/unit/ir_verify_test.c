/* ir_verify_test.c - the verifier against planted faults: each is one change to a sound function, and must be found
 * with the right complaint.
 *
 * In: one small function per fault. Out: the verifier's word on it, before (sound) and after (not).
 */
#include "ir_product_faults.h"

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
    FAULT(product_sum_used, SIMT, "while the product that makes it is under way"),
    FAULT(product_left_by_wait, SIMT, "while the product that makes it is under way"),
    FAULT(product_unfenced, SIMT, "no fence shows"),
    FAULT(product_of_number, SIMT, "operand 1 is nothing in shared memory"),
    FAULT(product_place_taken, SIMT, "only a product takes it"),
    FAULT(product_of_flat, SIMT, "no descriptor says"),
    FAULT(product_unaligned, SIMT, "does not begin where its units repeat"),
    FAULT(product_of_other_type, SIMT, "an operand that the instruction does not take"),
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
    FAULT(buffer_that_waits, SIMT, "it waits, and the buffer counts nothing"),
    FAULT(buffer_seen_by_all, TILE, "all threads see at stage tile"),
    FAULT(buffers_alive, SIMT, "share bytes while both are alive"),
    FAULT(counted_of_one_block, SIMT, "a counted buffer that no other block stores to"),
    FAULT(counted_stored_at_home, SIMT, "a counted buffer has no bytes of one block alone"),
    FAULT(counted_before_begin, SIMT, "no barrier says that the other blocks' counts are there"),
    FAULT(counted_without_wait, SIMT, "nobody waits for what is stored"),
    FAULT(counted_without_store, SIMT, "a wait for what this block does not store"),
    FAULT(counted_read_early, SIMT, "no wait for what the other blocks store"),
    FAULT(counted_of_other_stages, SIMT, "a wait for another number of stages"),
    FAULT(counted_waits_for_tile, SIMT, "operand 1 is no number"),
    FAULT(counted_by_nobody, SIMT, "a wait for a buffer that counts nothing"),
    FAULT(counted_again, SIMT, "a round overwrites what other blocks have yet to read"),
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
