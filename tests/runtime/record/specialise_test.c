/* specialise_test.c - what a launch specialises by: types, alignment, whole vectors, ranges of lengths,
 * few programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "runtime/record/specialise.h"

enum { Y, X, ROWS, N, BLOCK, T, MORE, PARAMS = MORE + 2 };

/* def k(y: *T, x: *T, rows: i32, n, BLOCK = next_power_of_2(n), T: dtype = fp32), grid (rows,),
 * on 132 multiprocessors. */
typedef struct Fixture {
    Record *record;
    fsc_props device;
    const char *given[PARAMS];
    SpecGiven options;
    fsc_arg args[4];
    RuleBinding values[PARAMS];
    SpecFact facts[PARAMS];
    Specialisation out;
} Fixture;

static Fixture make(const char *rule) {
    Fixture f = {.record = record_create("k"),
                 .device = {.kind = FSC_CUDA, .arch = "sm_90", .sms = 132, .warp_size = 32}};
    record_add_param(f.record, RECORD_POINTER, "y", "T");
    record_add_param(f.record, RECORD_POINTER, "x", "T");
    record_add_param(f.record, RECORD_SCALAR, "rows", "i32");
    record_add_param(f.record, RECORD_SCALAR, "n", "");
    record_add_constexpr(f.record, "BLOCK", RECORD_INT, "", RECORD_DEFAULT, rule);
    record_add_constexpr(f.record, "T", RECORD_DTYPE, "fp32", RECORD_DEFAULT, NULL);
    record_add_grid(f.record, "$2");
    f.args[Y] = fsc_pointer((void *)0x1000, 0, FSC_FP32);
    f.args[X] = fsc_pointer((void *)0x2004, 0, FSC_FP32);
    f.args[ROWS] = fsc_int(1000);
    f.args[N] = fsc_int(1000);
    return f;
}

static bool run(Fixture *f, const int64_t *grid) {
    Specialiser s;
    char err[384];
    f->out.values = f->values;
    f->out.facts = f->facts;
    f->options.values = f->given;
    assert_true(specialiser_open(&s, f->record, &f->device, &f->options));
    bool ok = specialise(&s, grid, f->args, &f->out, err, sizeof err);
    specialiser_close(&s);
    return ok;
}

static bool has_range(const Fixture *f, uint32_t param, uint32_t least, uint32_t most) {
    return f->facts[param].range.least == least && f->facts[param].range.most == most;
}

static void types_alignment_and_vectors(void **state) {
    (void)state;
    Fixture f = make("$3 npow2");
    assert_true(run(&f, NULL));
    assert_true(f.facts[Y].divisible == 16 && f.facts[X].divisible == 0);
    assert_true(f.facts[Y].dtype == FSC_DTYPE_NONE && f.facts[N].dtype == FSC_I32 && f.facts[T].dtype == FSC_FP32);
    assert_true(f.out.launch.units[0] == 4 && f.facts[N].divisible == 4 && f.facts[ROWS].divisible == 4);
    f.args[Y].dtype = f.args[X].dtype = FSC_BF16;
    f.args[N] = fsc_int(1004);
    assert_true(run(&f, NULL));
    assert_true(f.facts[T].dtype == FSC_BF16 && f.out.launch.units[0] == 8 && f.facts[N].divisible == 0 &&
                f.facts[ROWS].divisible == 8);
    f.args[Y].dtype = f.args[X].dtype = FSC_DTYPE_NONE; /* not said: by the dtype parameter */
    assert_true(run(&f, NULL));
    assert_true(f.facts[T].dtype == FSC_DTYPE_NONE && f.out.launch.units[0] == 4);
    f.given[T] = "fp16";
    assert_true(run(&f, NULL) && f.out.launch.units[0] == 8);
    f.args[N] = fsc_int((int64_t)1 << 40);
    f.args[ROWS] = fsc_int(1);
    assert_true(run(&f, NULL));
    assert_true(f.facts[N].dtype == FSC_I64 && f.facts[ROWS].equals_one && !f.facts[ROWS].divisible);
    f.args[N] = (fsc_arg){.kind = FSC_ARG_MISSING};
    assert_true(run(&f, NULL) && !f.values[N].known && !f.facts[N].divisible && f.facts[N].dtype == FSC_DTYPE_NONE);
    record_free(f.record);
}

/* Each array is asked for its own elements: 16 bytes of them are a vector. Arrays that share an integer are asked
 * together. */
static void each_array_its_own(void **state) {
    (void)state;
    Fixture f = make("$3 npow2");
    record_add_param(f.record, RECORD_POINTER, "scale", "fp32");
    record_add_dim(f.record, Y, "$3", "1");
    record_add_dim(f.record, X, "$2", "$3");
    record_add_dim(f.record, X, "$3", "1");
    f.args[Y].dtype = FSC_I8;
    f.args[X].dtype = FSC_FP16;
    static const uint32_t lengths[][2] = {{1024, 16}, {1000, 8}, {1004, 0}, {1001, 0}, {8, 0}};
    fsc_arg args[5] = {f.args[0], f.args[1], f.args[2], f.args[3], fsc_pointer((void *)0x1000, 0, FSC_DTYPE_NONE)};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        Specialiser s;
        SpecFact facts[PARAMS + 1];
        RuleBinding values[PARAMS + 1];
        Specialisation out = {.values = values, .facts = facts};
        const char *given[PARAMS + 1] = {0};
        const SpecGiven options = {.values = given};
        char err[384];
        args[N] = fsc_int(lengths[i][0]);
        assert_true(specialiser_open(&s, f.record, &f.device, &options));
        assert_true(specialise(&s, NULL, args, &out, err, sizeof err));
        assert_int_equal(facts[N].divisible, lengths[i][1]);
        assert_int_equal(facts[ROWS].divisible, 0); /* rows lie one behind the other: no vector hangs on their number */
        specialiser_close(&s);
    }
    record_free(f.record);
}

/* Of two launches of one JIT the second had the first one's code: the value was not part of the key. */
static void rules_ask_for_what_comes_later(void **state) {
    (void)state;
    Fixture f = make("$6 256 128 sel");
    record_add_constexpr(f.record, "WIDE", RECORD_BOOL, "", RECORD_DEFAULT, "$7 512 >");
    record_add_constexpr(f.record, "SIZE", RECORD_INT, "", RECORD_DEFAULT, "$3 2 *");
    for (int64_t n = 200; n <= 300; n += 100) {
        f.args[N] = fsc_int(n);
        assert_true(run(&f, NULL) && f.values[BLOCK].known && f.values[MORE].known);
        assert_int_equal(f.values[BLOCK].value.i, n > 256 ? 256 : 128);
    }
    record_free(f.record);
}

static void ranges_by_the_rule(void **state) {
    (void)state;
    Fixture f = make("$3 npow2");
    f.args[N] = fsc_int(1001);
    assert_true(run(&f, NULL) && has_range(&f, N, 513, 1008) && has_range(&f, ROWS, 0, 0));
    f.given[BLOCK] = "2048"; /* by hand: not what the rule says */
    assert_true(run(&f, NULL) && has_range(&f, N, 0, 0));
    f.given[BLOCK] = "1024";
    assert_true(run(&f, NULL) && has_range(&f, N, 513, 1008));
    f.given[BLOCK] = NULL;
    f.given[N] = "1001"; /* an option says it: nothing to know */
    assert_true(run(&f, NULL) && has_range(&f, N, 0, 0));
    f.given[N] = NULL;
    f.device.kind = FSC_CPU;
    assert_true(run(&f, NULL) && has_range(&f, N, 0, 0));
    f.device.kind = FSC_EMU;
    static const int64_t none[] = {INT64_MIN, -5, 0, 1, (int64_t)1 << 40};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        f.args[N] = fsc_int(none[i]);
        assert_true(run(&f, NULL) && has_range(&f, N, 0, 0));
    }
    f.args[N] = fsc_int(INT64_MAX);
    assert_false(run(&f, NULL)); /* there is no such power */
    f.args[N] = fsc_float(1000.0);
    assert_false(run(&f, NULL));
    f.given[BLOCK] = "1024";
    assert_true(run(&f, NULL) && has_range(&f, N, 0, 0) && f.facts[N].dtype == FSC_FP32);
    record_free(f.record);
}

/* No more programs than multiprocessors, long rows: where the grid is an argument alone,
 * and no explicit one is larger. */
static void few_programs(void **state) {
    (void)state;
    static const int64_t within[3] = {1, 1, 1}, beyond[3] = {5, 1, 1}, plane[3] = {2, 2, 1};
    Fixture f = make("$3 npow2");
    f.args[N] = fsc_int(1 << 16);
    f.args[ROWS] = fsc_int(3);
    assert_true(run(&f, NULL) && has_range(&f, ROWS, 3, 4) && f.out.launch.few.most == 4);
    assert_true(run(&f, within) && has_range(&f, ROWS, 3, 4));
    assert_true(run(&f, beyond) && has_range(&f, ROWS, 0, 0) && f.out.launch.few.most == 0);
    assert_true(run(&f, plane) && has_range(&f, ROWS, 0, 0));
    f.options.compiled[SPEC_NUM_CTAS] = true;
    assert_true(run(&f, NULL) && has_range(&f, ROWS, 0, 0));
    f.options.compiled[SPEC_NUM_CTAS] = false;
    f.args[ROWS] = fsc_int(132);
    assert_true(run(&f, NULL) && has_range(&f, ROWS, 9, 132));
    f.args[ROWS] = fsc_int(133);
    assert_true(run(&f, NULL) && has_range(&f, ROWS, 0, 0));
    f.args[N] = fsc_int(8192);
    f.args[ROWS] = fsc_int(3);
    assert_true(run(&f, NULL) && has_range(&f, ROWS, 0, 0));
    f.args[N] = fsc_int(1 << 16);
    record_add_grid(f.record, "1"); /* two axes: not looked into */
    assert_true(run(&f, NULL) && has_range(&f, ROWS, 0, 0));
    record_free(f.record);
}

/* A constexpr that chooses the grid: only where it is 0 are the programs counted by the argument. */
static void few_programs_by_choice(void **state) {
    (void)state;
    static const struct {
        const char *grid;
        bool counts; /* where MORE is 0 */
    } grids[] = {{"$6 7 $2 sel", true},   {"$6 $3 $2 sel", true},    {"$6 7 1 + $2 sel", false},
                 {"$6 $2 7 sel", false},  {"$6 7 $2 sel 1 +", false}, {"$3 7 $2 sel", false},
                 {"$60 7 $2 sel", false}, {"$6 7 $60 sel", false}};
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        for (int choice = 0; choice < 2; choice++) {
            Fixture f = make("$3 npow2");
            record_add_constexpr(f.record, "MORE", RECORD_INT, choice ? "1" : "0", RECORD_DEFAULT, NULL);
            f.record->grid[0] = grids[i].grid;
            f.args[N] = fsc_int(1 << 16);
            f.args[ROWS] = fsc_int(3);
            assert_true(run(&f, NULL));
            bool is_few = f.out.launch.few.most == 4;
            assert_int_equal(is_few, grids[i].counts && !choice);
            assert_true(has_range(&f, ROWS, is_few ? 3 : 0, is_few ? 4 : 0));
            record_free(f.record);
        }
    }
}

/* An address is known, so that a rule may compare arrays. */
static void arrays_are_compared(void **state) {
    (void)state;
    Fixture f = make("$0 $1 ==");
    assert_true(run(&f, NULL) && f.values[BLOCK].known && f.values[BLOCK].value.i == 0);
    f.args[X] = f.args[Y];
    assert_true(run(&f, NULL) && f.values[BLOCK].known && f.values[BLOCK].value.i == 1);
    f.args[X] = (fsc_arg){.kind = FSC_ARG_MISSING};
    assert_true(run(&f, NULL) && !f.values[BLOCK].known);
    record_free(f.record);
}

/* On devices that read maps. */
static void maps_of_devices(void **state) {
    (void)state;
    static const struct {
        fsc_device_kind kind;
        const char *arch;
        bool maps;
    } devices[] = {{FSC_CUDA, "sm_90", true},  {FSC_CUDA, "sm_90a", true}, {FSC_CUDA, "sm_100", true},
                   {FSC_CUDA, "sm_89", false}, {FSC_EMU, "emu", true},     {FSC_EMU, "sm_80", false},
                   {FSC_EMU, "sm_90a", true},  {FSC_CPU, "cpu", false}};
    Fixture f = make("$3 npow2");
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        f.device.kind = devices[i].kind;
        snprintf(f.device.arch, sizeof f.device.arch, "%s", devices[i].arch);
        assert_true(run(&f, NULL));
        assert_int_equal(f.out.launch.maps, devices[i].maps);
    }
    record_free(f.record);
}

/* A variant that was compiled for maps is not that of a launch that may have none, nor the other way round. */
static void maps_tell_variants_apart(void **state) {
    (void)state;
    Fixture f = make("$3 npow2");
    Specialiser s;
    f.record->params[Y].dtype = f.record->params[X].dtype = "fp32";
    f.record->params[N].dtype = "i32";
    f.args[X] = f.args[Y];
    f.options.values = f.given;
    f.args[ROWS] = f.args[N] = fsc_int(1001);
    assert_true(run(&f, NULL));
    assert_true(specialiser_open(&s, f.record, &f.device, &f.options));
    for (uint32_t i = Y; i <= N; i++) {
        f.record->params[i].divisible = f.facts[i].divisible ? f.facts[i].divisible : 1;
        f.record->params[i].least = f.facts[i].range.least;
        f.record->params[i].most = f.facts[i].range.most;
    }
    const Slot slots[] = {{Y, FSC_FP32}, {X, FSC_FP32}, {ROWS, FSC_I32}, {N, FSC_I32}};
    for (int maps = 0; maps < 2; maps++) {
        const SpecVariant v = {f.record, slots, 4, f.values, maps};
        assert_int_equal(specialise_is(&s, &v, NULL, f.args), maps);
    }
    specialiser_close(&s);
    record_free(f.record);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_alignment_and_vectors),
        cmocka_unit_test(each_array_its_own),
        cmocka_unit_test(rules_ask_for_what_comes_later),
        cmocka_unit_test(ranges_by_the_rule),
        cmocka_unit_test(few_programs),
        cmocka_unit_test(few_programs_by_choice),
        cmocka_unit_test(arrays_are_compared),
        cmocka_unit_test(maps_of_devices),
        cmocka_unit_test(maps_tell_variants_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
