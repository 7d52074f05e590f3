/* steps_test.c - steps of addresses: random sums and products keep their values, and rows take no product each.
 *
 * In: functions of a block and two behind it, over parameters with known values. Out: each stored integer before and
 * behind the pass. A flag (nsw, nuw, disjoint, nneg) is set only where it holds for these values, so nothing is poison.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "codegen/nvptx/nvptx.h"

enum { PARAMS = 5, MOST = 96 };

typedef struct Known {
    V value;
    uint64_t bits; /* as many as its type has */
} Known;

typedef struct Test {
    CodegenOptions o;
    Llvm *m;
    V function;
    Known at[4 * MOST];
    uint32_t len;
    uint64_t random;
} Test;

static uint32_t draw(Test *t, uint32_t below) {
    t->random = t->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(t->random >> 33) % below;
}

static uint64_t narrowed(V x, uint64_t bits, Llvm *m) {
    return LLVMTypeOf(x) == m->i32 ? (uint32_t)bits : bits;
}

static uint64_t value_of(const Test *t, V x) {
    if (LLVMIsAConstantInt(x)) return narrowed(x, (uint64_t)LLVMConstIntGetSExtValue(x), t->m);
    for (uint32_t i = 0; i < t->len; i++)
        if (t->at[i].value == x) return t->at[i].bits;
    fail_msg("an operand stands behind its use");
    return 0;
}

static void know(Test *t, V x, uint64_t bits) {
    assert_true(t->len < COUNT(t->at));
    t->at[t->len++] = (Known){x, narrowed(x, bits, t->m)};
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static uint64_t computed(const Test *t, V at) {
    uint64_t x = value_of(t, LLVMGetOperand(at, 0));
    uint64_t y = LLVMGetNumOperands(at) == 2 ? value_of(t, LLVMGetOperand(at, 1)) : 0;
    switch (LLVMGetInstructionOpcode(at)) {
    case LLVMAdd: return x + y;
    case LLVMOr: return x | y;
    case LLVMMul: return x * y;
    case LLVMShl: return x << y;
    case LLVMZExt: return x;
    case LLVMSExt: return (uint64_t)(int32_t)x;
    default: fail_msg("an operation that the test does not make"); return 0;
    }
}

static Test begin(uint64_t seed) {
    Arena *a = arena_create();
    Test t = {.o = {.arena = a, .diag = diag_create(a, 10)}, .random = seed};
    t.m = llvm_create(&t.o, "steps", (Span){0, 0});
    LLVMTypeRef types[PARAMS + 1] = {t.m->i64, t.m->i64, t.m->i64, t.m->i32, t.m->i32, t.m->ptr};
    t.function = LLVMAddFunction(t.m->module, "f", LLVMFunctionType(t.m->none, types, PARAMS + 1, 0));
    LLVMPositionBuilderAtEnd(t.m->at, LLVMAppendBasicBlockInContext(t.m->context, t.function, "entry"));
    for (unsigned i = 0; i < PARAMS; i++)
        know(&t, LLVMGetParam(t.function, i), draw(&t, 4) ? draw(&t, 1000) : UINT64_C(0) - draw(&t, 16));
    return t;
}

static void end(Test *t) {
    llvm_destroy(t->m);
    arena_destroy(t->o.arena);
}

static void keep(const Test *t, V x) {
    LLVMBuildStore(t->m->at, x, LLVMGetParam(t->function, PARAMS));
}

/* By a call, as accesses take their addresses. */
static void pass(const Test *t, V x) {
    LLVMTypeRef type = LLVMFunctionType(t->m->none, &t->m->i64, 1, 0);
    V callee = LLVMGetNamedFunction(t->m->module, "access");
    if (!callee) callee = LLVMAddFunction(t->m->module, "access", type);
    LLVMBuildCall2(t->m->at, type, callee, &x, 1, "");
}

/* What is stored, in order. */
static uint32_t stored(Test *t, uint64_t *out) {
    uint32_t n = 0;
    t->len = PARAMS;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(t->function); b; b = LLVMGetNextBasicBlock(b)) {
        for (V at = LLVMGetFirstInstruction(b); at; at = LLVMGetNextInstruction(at)) {
            if (LLVMIsATerminatorInst(at) || LLVMIsAICmpInst(at)) continue;
            if (LLVMIsAStoreInst(at) || LLVMIsACallInst(at)) out[n++] = value_of(t, LLVMGetOperand(at, 0));
            else know(t, at, computed(t, at));
        }
    }
    return n;
}

/* What is stored stays as it was. */
static void take_steps(Test *t) {
    uint64_t before[MOST], behind[MOST];
    uint32_t n = stored(t, before);
    nvptx_take_steps(t->m, t->function);
    llvm_verify(t->m, "behind the steps");
    assert_int_equal(stored(t, behind), n);
    assert_memory_equal(before, behind, n * sizeof *before);
}

/* ---- Random functions -------------------------------------------------------------------------------------------- */

/* Often a parameter or one of the first values, so that much has a base in common. */
static V pick(Test *t, LLVMTypeRef type) {
    for (;;) {
        uint32_t first = draw(t, 3) ? PARAMS : draw(t, 2) ? 4 * PARAMS : t->len;
        V x = t->at[draw(t, first < t->len ? first : t->len)].value;
        if (LLVMTypeOf(x) == type) return x;
    }
}

static V sum(Test *t, V x, V y) {
    V made = LLVMBuildAdd(t->m->at, x, y, "");
    uint64_t a = value_of(t, x), b = value_of(t, y), limit = LLVMTypeOf(x) == t->m->i32 ? UINT32_MAX : UINT64_MAX;
    if (LLVMIsConstant(made) || made == x) return made;
    LLVMSetNUW(made, a <= limit - b);
    LLVMSetNSW(made, a <= limit / 4 && b <= limit / 4);
    return made;
}

static V draw_instruction(Test *t) {
    LLVMBuilderRef at = t->m->at;
    LLVMTypeRef type = draw(t, 3) ? t->m->i64 : t->m->i32;
    V x = pick(t, type), number = llvm_int(type, (int)draw(t, 40) - 8);
    switch (draw(t, 8)) {
    case 0:
    case 1: return sum(t, x, number);
    case 2: return sum(t, x, pick(t, type));
    case 3: return LLVMBuildMul(at, x, draw(t, 4) ? pick(t, type) : number, "");
    case 4: return LLVMBuildShl(at, x, llvm_int(type, draw(t, 5)), "");
    case 5: {
        if (value_of(t, x) & value_of(t, number)) return sum(t, x, number);
        V made = LLVMBuildOr(at, x, number, "");
        if (LLVMIsAInstruction(made) && LLVMGetInstructionOpcode(made) == LLVMOr) LLVMSetIsDisjoint(made, true);
        return made;
    }
    case 6: return LLVMBuildSExt(at, pick(t, t->m->i32), t->m->i64, "");
    default: {
        V narrow = pick(t, t->m->i32), made = LLVMBuildZExt(at, narrow, t->m->i64, "");
        LLVMSetNNeg(made, value_of(t, narrow) <= INT32_MAX);
        return made;
    }
    }
}

static bool is_known(const Test *t, V x) {
    for (uint32_t i = 0; i < t->len; i++)
        if (t->at[i].value == x) return true;
    return false;
}

/* Some values wait until the others are stored, and go in any order. */
static void fill_block(Test *t) {
    V later[MOST];
    uint32_t waiting = 0;
    for (int i = 0; i < MOST / 3; i++) {
        V made = draw_instruction(t);
        if (!LLVMIsAInstruction(made) || is_known(t, made)) continue;
        know(t, made, computed(t, made));
        if (LLVMTypeOf(made) == t->m->i64 && draw(t, 4) == 0) later[waiting++] = made;
        else keep(t, made);
    }
    while (waiting) {
        uint32_t at = draw(t, waiting);
        pass(t, later[at]);
        later[at] = later[--waiting];
    }
}

/* What one of the two blocks behind the first has, the other cannot take. */
static void fill(Test *t) {
    fill_block(t);
    uint32_t first = t->len;
    LLVMBasicBlockRef left = LLVMAppendBasicBlockInContext(t->m->context, t->function, "left");
    LLVMBasicBlockRef right = LLVMAppendBasicBlockInContext(t->m->context, t->function, "right");
    V way = LLVMBuildICmp(t->m->at, LLVMIntEQ, LLVMGetParam(t->function, 0), LLVMGetParam(t->function, 1), "");
    LLVMBuildCondBr(t->m->at, way, left, right);
    for (int i = 0; i < 2; i++) {
        t->len = first;
        LLVMPositionBuilderAtEnd(t->m->at, i ? right : left);
        fill_block(t);
        LLVMBuildRetVoid(t->m->at);
    }
}

static void test_values_stay(void **state) {
    (void)state;
    uint32_t steps = 0;
    for (uint64_t seed = 1; seed <= 8000; seed++) {
        Test t = begin(seed);
        fill(&t);
        uint64_t instructions = llvm_instructions(t.function);
        take_steps(&t);
        steps += llvm_instructions(t.function) > instructions;
        end(&t);
    }
    assert_true(steps > 1000);
}

/* ---- What they are for ------------------------------------------------------------------------------------------- */

/* p + ((row + c) * stride << 1) + column, of which each c is stored; row + c may wrap, or it is said not to. */
static void make_rows(Test *t, V row, bool wraps) {
    LLVMBuilderRef at = t->m->at;
    for (int c = 0; c < 8; c++) {
        V moved = LLVMBuildAdd(at, row, llvm_int(t->m->i32, 4 * c), "");
        LLVMSetNUW(moved, !wraps);
        V product = LLVMBuildMul(at, LLVMBuildZExt(at, moved, t->m->i64, ""), LLVMGetParam(t->function, 1), "");
        V bytes = LLVMBuildShl(at, product, llvm_int(t->m->i64, 1), "");
        V address = LLVMBuildAdd(at, LLVMGetParam(t->function, 0), bytes, "");
        keep(t, LLVMBuildAdd(at, address, LLVMGetParam(t->function, 2), ""));
    }
}

/* Those that something stored needs, directly or not. */
static void count_products(V at, uint32_t *n, V *seen, uint32_t *len) {
    if (!LLVMIsAInstruction(at) || LLVMIsAPHINode(at)) return;
    for (uint32_t i = 0; i < *len; i++)
        if (seen[i] == at) return;
    seen[(*len)++] = at;
    *n += LLVMGetInstructionOpcode(at) == LLVMMul;
    for (int i = 0; i < LLVMGetNumOperands(at); i++) count_products(LLVMGetOperand(at, (unsigned)i), n, seen, len);
}

static uint32_t products(const Test *t) {
    uint32_t n = 0, len = 0;
    V seen[4 * MOST];
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(t->function); b; b = LLVMGetNextBasicBlock(b))
        for (V at = LLVMGetFirstInstruction(b); at; at = LLVMGetNextInstruction(at))
            if (LLVMIsAStoreInst(at)) count_products(at, &n, seen, &len);
    return n;
}

static void test_rows(void **state) {
    (void)state;
    Test t = begin(1);
    make_rows(&t, LLVMGetParam(t.function, 3), false);
    LLVMBuildRetVoid(t.m->at);
    assert_int_equal(products(&t), 8);
    nvptx_take_steps(t.m, t.function);
    assert_int_equal(products(&t), 2); /* the first address, and the distance of all others */
    end(&t);
}

/* As LLVM leaves them: all addresses ahead of the accesses, the last one first. Then each stands at its access, and the
 * distance from one to the next is that of two rows. */
static void test_backwards(void **state) {
    (void)state;
    enum { ROWS = 6 };
    Test t = begin(1);
    V address[ROWS];
    for (int c = ROWS; c-- > 0;) {
        V row = LLVMBuildAdd(t.m->at, LLVMGetParam(t.function, 2), llvm_int(t.m->i64, c), "");
        V product = LLVMBuildMul(t.m->at, row, LLVMGetParam(t.function, 1), "");
        address[c] = LLVMBuildAdd(t.m->at, LLVMGetParam(t.function, 0), product, "");
    }
    for (int c = 0; c < ROWS; c++) pass(&t, address[c]);
    LLVMBuildRetVoid(t.m->at);
    take_steps(&t);
    V last = NULL;
    for (V at = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(t.function)); at; at = LLVMGetNextInstruction(at)) {
        if (!LLVMIsACallInst(at)) continue;
        V taken = LLVMGetOperand(at, 0);
        for (V near = at; near != taken;) { /* what the step stands for may be in between, unused */
            near = LLVMGetPreviousInstruction(near);
            assert_false(LLVMIsACallInst(near));
        }
        if (last) assert_ptr_equal(LLVMGetOperand(taken, 0), last);
        if (last) assert_ptr_equal(LLVMGetOperand(taken, 1), LLVMGetParam(t.function, 1));
        last = taken;
    }
    assert_non_null(last);
    end(&t);
}

/* The zero-extended sum is not the sum of what is extended. */
static void test_wrapping_rows(void **state) {
    (void)state;
    Test t = begin(1);
    t.at[3].bits = UINT32_MAX - 9;
    make_rows(&t, LLVMGetParam(t.function, 3), true);
    LLVMBuildRetVoid(t.m->at);
    take_steps(&t);
    end(&t);
}

/* Rows that go on with the rounds of a loop are left to LLVM. */
static void test_loop(void **state) {
    (void)state;
    Test t = begin(1);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(t.function);
    LLVMBasicBlockRef round = LLVMAppendBasicBlockInContext(t.m->context, t.function, "round");
    LLVMBuildBr(t.m->at, round);
    LLVMPositionBuilderAtEnd(t.m->at, round);
    V row = LLVMBuildPhi(t.m->at, t.m->i32, "");
    make_rows(&t, row, false);
    V values[] = {llvm_int(t.m->i32, 0), LLVMBuildAdd(t.m->at, row, llvm_int(t.m->i32, 1), "")};
    LLVMBasicBlockRef from[] = {entry, round};
    LLVMAddIncoming(row, values, from, 2);
    LLVMBuildBr(t.m->at, round);
    nvptx_take_steps(t.m, t.function);
    assert_int_equal(products(&t), 8);
    end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_stay),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_backwards),
        cmocka_unit_test(test_wrapping_rows),
        cmocka_unit_test(test_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
