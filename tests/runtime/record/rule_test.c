/* rule_test.c - launch-rule code: values as Python has them, errors as sentences, printing back as an expression. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/fsc_runtime.h"
#include "runtime/record/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static RuleStatus blocks(void *context, int64_t *programs) {
    *programs = *(int *)context;
    return *programs ? RULE_OK : RULE_UNBOUND;
}

static int resident = 4;

static RuleEnv make_env(void) {
    static RuleBinding values[6];
    values[0] = (RuleBinding){"n_rows", true, rule_int(4096)};
    values[1] = (RuleBinding){"n_cols", true, rule_int(781)};
    values[2] = (RuleBinding){"eps", true, rule_float(0.5)};
    values[3] = (RuleBinding){"later", false, rule_int(0)};
    values[4] = (RuleBinding){"big", true, rule_int(INT64_MAX)};
    values[5] = (RuleBinding){"T", rule_dtype("bf16", 4, &values[5].value), {.is_dtype = true, .i = FSC_BF16}};
    return (RuleEnv){.values = values,
                     .num_values = 6,
                     .num_sms = 108,
                     .max_shared = 166912,
                     .occupancy = blocks,
                     .context = &resident};
}

static void integers(void **state) {
    (void)state;
    static const struct {
        const char *code;
        int64_t value;
    } cases[] = {
        {"12", 12},
        {"-9223372036854775808", INT64_MIN},
        {" \t$0\n", 4096},
        {"$1 npow2", 1024},
        {"$1 8 cdiv", 98},
        {"$0 num_sms occupancy * min", 432},
        {"$1 neg", -781},
        {"7 2 //", 3},
        {"-7 2 //", -4},
        {"7 -2 //", -4},
        {"-7 -2 //", 3},
        {"-7 2 %", 1},
        {"7 -2 %", -1},
        {"-8 2 %", 0},
        {"-9223372036854775808 -1 %", 0},
        {"-7 2 cdiv", -3},
        {"7 2 cdiv", 4},
        {"7 -2 cdiv", -3},
        {"-7 -2 cdiv", 4},
        {"0 npow2", 1},
        {"-5 npow2", 1},
        {"1 npow2", 1},
        {"2 npow2", 2},
        {"3 npow2", 4},
        {"4611686018427387904 npow2", INT64_C(4611686018427387904)},
        {"1 2 <", 1},
        {"2 2 <=", 1},
        {"1 2 >", 0},
        {"2 2 >=", 1},
        {"2 2 ==", 1},
        {"2 2 !=", 0},
        {"2 2.0 ==", 1},
        {"9007199254740993 9007199254740992.0 ==", 0},
        {"9007199254740993 9007199254740992.0 >", 1},
        {"9223372036854775807 9223372036854775808.0 <", 1},
        {"inf $4 >", 1},
        {"nan 1 <", 0},
        {"nan 1 !=", 1},
        {"0 5 and", 0},
        {"3 5 and", 5},
        {"0 5 or", 5},
        {"3 5 or", 3},
        {"3 not", 0},
        {"0 not", 1},
        {"max_shared 200000 > 4 2 sel", 2},
        {"max_shared 100000 > 4 2 sel", 4},
        {"3 9 max", 9},
        {"3 9 min", 3},
        {"0 $3 and", 0}, /* what is not needed may be unknown */
        {"1 $3 or", 1},
        {"1 7 $3 sel", 7},
        {"0 1 0 // 7 sel", 7}, /* … or divide by zero */
        {"$1 0 == 1 0 // and 5 or", 5},
        {"$5 bf16 ==", 1},
        {"$5 fp16 ==", 0},
        {"$5 fp16 !=", 1},
        {"$5 fp16 == $5 bf16 == or", 1},
        {"$5 fp32 == 8 16 sel", 16},
        {"$5 bits 8 //", 2},
        {"i1 bits", 1},
        {"fp8e5 bits", 8},
        {"fp64 bits u64 bits ==", 1},
        {"$0 5 > $5 fp32 sel bf16 ==", 1}, /* a type may be chosen */
        {"$5 not", 0},
    };
    RuleEnv env = make_env();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t v = -77;
        char err[200] = "";
        RuleStatus s = rule_eval_int(cases[i].code, &env, &v, err, sizeof err);
        if (s != RULE_OK || v != cases[i].value)
            fail_msg("%s: status %d, value %" PRId64 ", %s", cases[i].code, s, v, err);
    }
}

static void doubles(void **state) {
    (void)state;
    static const struct {
        const char *code;
        double value;
    } cases[] = {
        {"0.5", 0.5},          {"1e-05", 1e-5},
        {"-2.5e3", -2500},     {"$2 4 *", 2},
        {"1 $2 +", 1.5},       {"1 $2 -", 0.5},
        {"-7.5 2 //", -4},     {"-7.5 2 %", 0.5},
        {"7.5 -2 %", -0.5},    {"7.5 -2 //", -4},
        {"$2 neg", -0.5},      {"$2 3 min", 0.5},
        {"0.5 0.25 max", 0.5}, {"-inf", -(double)INFINITY},
        {"1 0.1 //", 9},       {"1 0.1 %", 0.09999999999999995},
        {"-1 inf //", -1},     {"-0.0 1 //", -0.0},
    };
    RuleEnv env = make_env();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        RuleValue v;
        assert_int_equal(rule_eval(cases[i].code, &env, &v, NULL, 0), RULE_OK);
        bool is_same = v.f == cases[i].value && !signbit(v.f) == !signbit(cases[i].value); /* -0.0 is not 0.0 */
        if (!v.is_float || !is_same) fail_msg("%s gives %.17g", cases[i].code, v.f);
    }
}

static void failures(void **state) {
    (void)state;
    static const struct {
        const char *code;
        RuleStatus status;
        const char *says;
    } cases[] = {
        {"$3 1 +", RULE_UNBOUND, "later"},
        {"$9", RULE_UNBOUND, "$9"},
        {"num_regs", RULE_UNBOUND, "num_regs"},
        {"1 0 //", RULE_DIVISION, "1 // 0 divides by zero"},
        {"1 0 %", RULE_DIVISION, "1 % 0 divides by zero"},
        {"1 0 cdiv", RULE_DIVISION, "cdiv(1, 0) divides by zero"},
        {"1.5 0 //", RULE_DIVISION, "divides by zero"},
        {"$4 1 +", RULE_OVERFLOW, "9223372036854775807 + 1 is beyond 64 bits"},
        {"$4 -2 -", RULE_OVERFLOW, "beyond"},
        {"$4 2 *", RULE_OVERFLOW, "beyond"},
        {"-9223372036854775808 neg", RULE_OVERFLOW, "beyond"},
        {"-9223372036854775808 -1 //", RULE_OVERFLOW, "beyond"},
        {"-9223372036854775808 -1 cdiv", RULE_OVERFLOW, "beyond"},
        {"4611686018427387905 npow2", RULE_OVERFLOW, "next_power_of_2(4611686018427387905) is beyond"},
        {"1.5 npow2", RULE_TYPE, "needs integers"},
        {"1.5 2 cdiv", RULE_TYPE, "needs integers"},
        {"$5 1 +", RULE_TYPE, "bf16 + 1 is no question about a type"},
        {"$5 4 ==", RULE_TYPE, "bf16 == 4 is no question about a type"},
        {"0.5 $5 !=", RULE_TYPE, "0.5 != bf16"},
        {"$5 fp32 <", RULE_TYPE, "bf16 < fp32"},
        {"$5 fp32 max", RULE_TYPE, "max(bf16, fp32)"},
        {"$5 8 cdiv", RULE_TYPE, "cdiv(bf16, 8)"},
        {"$5 neg", RULE_TYPE, "-(bf16)"},
        {"$5 npow2", RULE_TYPE, "next_power_of_2(bf16)"},
        {"$0 bits", RULE_TYPE, "4096.primitive_bitwidth needs a type"},
        {"fp12 bits", RULE_MALFORMED, "'fp12' is no launch-rule operation"},
        {"fp32fp32fp32fp32fp32", RULE_MALFORMED, "no launch-rule operation"},
        {"", RULE_MALFORMED, "leaves 0 values"},
        {"1 2", RULE_MALFORMED, "leaves 2 values"},
        {"1 +", RULE_MALFORMED, "not well formed at '+'"},
        {"1 frobnicate", RULE_MALFORMED, "'frobnicate'"},
        {"99999999999999999999", RULE_MALFORMED, "99999999999999999999"},
        {"$", RULE_MALFORMED, "'$'"},
        {"$-1", RULE_MALFORMED, "'$-1'"},
        {"1.5.2", RULE_MALFORMED, "1.5.2"},
        {"0x10", RULE_MALFORMED, "0x10"},
    };
    RuleEnv env = make_env();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        RuleValue v = {true, 5, 5, false};
        char err[200] = "";
        RuleStatus s = rule_eval(cases[i].code, &env, &v, err, sizeof err);
        if (s != cases[i].status || !strstr(err, cases[i].says))
            fail_msg("'%s': status %d, '%s'", cases[i].code, s, err);
        assert_true(v.is_float && v.i == 5); /* not written */
    }
    resident = 0;
    char err[40];
    int64_t n;
    assert_int_equal(rule_eval_int("occupancy", &env, &n, err, sizeof err), RULE_UNBOUND);
    assert_string_equal(err, "occupancy");
    resident = 4;
    assert_int_equal(rule_eval_int("1.5", &env, &n, err, sizeof err), RULE_TYPE);
    assert_int_equal(rule_eval_int("1e300", &env, &n, err, sizeof err), RULE_TYPE);
    assert_int_equal(rule_eval_int("4.0", &env, &n, err, sizeof err), RULE_OK);
    assert_int_equal(n, 4);
    assert_int_equal(rule_eval_int("$5", &env, &n, err, sizeof err), RULE_TYPE);
    assert_string_equal(err, "bf16 is a type, not an integer");
    RuleEnv nothing = {0};
    assert_int_equal(rule_eval_int("$0", &nothing, &n, err, sizeof err), RULE_UNBOUND);
}

static void deep_stacks(void **state) {
    (void)state;
    RuleEnv env = make_env();
    char code[600] = "", err[100];
    RuleValue v;
    for (int i = 0; i < 64; i++) strcat(code, "1 ");
    for (int i = 0; i < 63; i++) strcat(code, "+ ");
    assert_int_equal(rule_eval(code, &env, &v, err, sizeof err), RULE_OK);
    assert_int_equal(v.i, 64);
    strcpy(code, "");
    for (int i = 0; i < 65; i++) strcat(code, "1 ");
    assert_int_equal(rule_eval(code, &env, &v, err, sizeof err), RULE_MALFORMED);
    assert_false(rule_check(code, 0, err, sizeof err));
    char shown[8];
    rule_print(code, NULL, 0, shown, sizeof shown); /* what cannot be shown is shown raw, and cut off */
    assert_string_equal(shown, "1 1 1 1");
}

/* Python's floor division against arithmetic in 128 bits, on random pairs. */
static void random_division(void **state) {
    (void)state;
    RuleEnv env = {0};
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        int64_t n[2];
        for (int k = 0; k < 2; k++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            n[k] = (int64_t)x >> (x % 60);
        }
        if (n[1] == 0 || (n[0] == INT64_MIN && n[1] == -1)) continue;
        char code[80];
        int64_t q, r, c;
        snprintf(code, sizeof code, "%" PRId64 " %" PRId64 " //", n[0], n[1]);
        assert_int_equal(rule_eval_int(code, &env, &q, NULL, 0), RULE_OK);
        code[strlen(code) - 2] = '%', code[strlen(code) - 1] = ' ';
        assert_int_equal(rule_eval_int(code, &env, &r, NULL, 0), RULE_OK);
        snprintf(code, sizeof code, "%" PRId64 " %" PRId64 " cdiv", n[0], n[1]);
        assert_int_equal(rule_eval_int(code, &env, &c, NULL, 0), RULE_OK);
        __extension__ typedef __int128 Wide;
        assert_true((Wide)q * n[1] + r == n[0]);
        assert_true(r == 0 || (r < 0) == (n[1] < 0));
        assert_true((r < 0 ? -r : r) < (n[1] < 0 ? -n[1] : n[1]) || n[1] == INT64_MIN);
        assert_true(c == q + (r != 0));
    }
}

static void printing(void **state) {
    (void)state;
    static const char *const names[] = {"n_rows", "n_cols", "eps", "later"};
    static const struct {
        const char *code, *shown;
    } cases[] = {
        {"$0 num_sms occupancy * min", "min(n_rows, num_sms() * occupancy())"},
        {"$0 1 + 2 *", "(n_rows + 1) * 2"},
        {"$0 1 2 * +", "n_rows + 1 * 2"},
        {"1 2 3 - -", "1 - (2 - 3)"},
        {"1 2 - 3 -", "1 - 2 - 3"},
        {"max_shared 200000 > 4 2 sel", "4 if max_shared() > 200000 else 2"},
        {"$0 $1 0 > and not", "not (n_rows and n_cols > 0)"},
        {"$0 $1 or 3 and", "(n_rows or n_cols) and 3"},
        {"$1 npow2 neg", "-next_power_of_2(n_cols)"},
        {"1 0 sel", "1 0 sel"},
        {"$7 0.5 *", "$7 * 0.5"},
        {"1 2 < 3 ==", "(1 < 2) == 3"},
        {"1 2 3 sel 4 +", "(2 if 1 else 3) + 4"},
        {"$3 fp16 == $3 bf16 == or 8 16 sel", "8 if later == fp16 or later == bf16 else 16"},
        {"$0 $3 bits 8 // *", "n_rows * (later.primitive_bitwidth // 8)"},
        {"$0 $3 fp32 sel bits", "(later if n_rows else fp32).primitive_bitwidth"},
    };
    char out[100];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rule_print(cases[i].code, names, 4, out, sizeof out);
        assert_string_equal(out, cases[i].shown);
    }
    rule_print("$0 num_sms occupancy * min", names, 4, out, 6);
    assert_string_equal(out, "min(n");
    assert_true(rule_uses("$0 $12 +", 12));
    assert_false(rule_uses("$0 $12 +", 1));
    assert_string_equal(rule_value_print(rule_float(0.1), out, sizeof out), "0.1");
    assert_string_equal(rule_value_print(rule_float(1), out, sizeof out), "1.0");
    assert_string_equal(rule_value_print(rule_float(1e300), out, sizeof out), "1e+300");
    assert_string_equal(rule_value_print(rule_float(-(double)INFINITY), out, sizeof out), "-inf");
    RuleValue t;
    assert_true(rule_dtype("u16", 3, &t) && !rule_dtype("u17", 3, &t) && !rule_dtype("", 0, &t));
    assert_true(rule_dtype("u16 fp16", 3, &t) && t.is_dtype && !rule_is_int(t));
    assert_string_equal(rule_value_print(t, out, sizeof out), "u16");
    assert_string_equal(rule_value_print(rule_int(INT64_MIN), out, sizeof out), "-9223372036854775808");
}

static void checking(void **state) {
    (void)state;
    char err[100];
    assert_true(rule_check("$0 $1 min", 2, NULL, 0));
    assert_false(rule_check("$0 $2 min", 2, err, sizeof err));
    assert_non_null(strstr(err, "'$2' is beyond the 2 parameters"));
    assert_false(rule_check("", 2, err, sizeof err));
    assert_false(rule_check("1 min", 2, err, sizeof err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),    cmocka_unit_test(doubles),         cmocka_unit_test(failures),
        cmocka_unit_test(deep_stacks), cmocka_unit_test(random_division), cmocka_unit_test(printing),
        cmocka_unit_test(checking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
