/* prims_test.c - device primitives with hundreds of operands, through both target steps;
 * what each makes of matrix instructions.
 *
 * In: modules built by hand: a tuple of 128 values twice and a few more operands, as a tensor instruction has them.
 * Out: inline PTX, and code of this machine that hands the words to the emulator's call and takes them back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "codegen/emu/emu.h"
#include "codegen/hostcode.h"
#include "codegen/nvptx/asm.h"
#include "layout/mma.h"
#include "runtime/base/hooks.h"

enum { MANY = 128 };

static Arena *arena;
static CodegenOptions options;

static int set_up(void **state) {
    (void)state;
    arena = arena_create();
    options = (CodegenOptions){.arena = arena, .diag = diag_create(arena, 10)};
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_destroy(arena);
    return 0;
}

/* A function under construction, its parameters the builder's business. */
static LLVMValueRef begin(Llvm *m, LLVMTypeRef *params, unsigned n) {
    LLVMValueRef f = LLVMAddFunction(m->module, "k", LLVMFunctionType(m->none, params, n, 0));
    LLVMPositionBuilderAtEnd(m->at, LLVMAppendBasicBlockInContext(m->context, f, ""));
    return f;
}

/* ---- Inline PTX -------------------------------------------------------------------------------------------------- */

static Bytes emitted;

/* 128 results tied to 128 operands, and three more operands: each result is its operand plus the three. */
static void emit_statement(void *context) {
    (void)context;
    Llvm *m = llvm_create(&options, "test", (Span){0, 0});
    LLVMValueRef k = begin(m, (LLVMTypeRef[]){m->ptr}, 1);
    LLVMSetFunctionCallConv(k, 71);
    Nvptx n = {.m = m};
    Asm s = asm_begin(&n);
    asm_results(&s, tuple_type(m, m->f32, MANY), "f");
    V from = LLVMGetParam(k, 0);
    for (uint32_t i = 0; i < MANY; i++) {
        char tie[8];
        V at = LLVMBuildGEP2(m->at, m->f32, from, (V[]){llvm_int(m->i64, i)}, 1, "");
        snprintf(tie, sizeof tie, "%u", i);
        assert_int_equal(asm_operand(&s, LLVMBuildLoad2(m->at, m->f32, at, ""), tie), MANY + i);
    }
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t last = asm_operand(&s, llvm_real(m->f32, i + 0.5), "f");
        for (uint32_t k2 = 0; k2 < MANY; k2++) {
            asm_number(&s, "add.f32 ", k2, ", ");
            asm_number(&s, "", k2, ", ");
            asm_number(&s, "", last, "; ");
        }
    }
    assert_int_equal(s.operands.len, MANY + 3);
    const V *results = tuple_values(m, asm_build(&n, &s));
    for (uint32_t i = 0; i < MANY; i++)
        LLVMBuildStore(m->at, results[i], LLVMBuildGEP2(m->at, m->f32, from, (V[]){llvm_int(m->i64, i)}, 1, ""));
    LLVMBuildRetVoid(m->at);
    llvm_verify(m, "in the test");
    LLVMTargetMachineRef machine = nvptx_machine("sm_80", 0, 2);
    llvm_set_machine(m, machine);
    assert_true(llvm_emit(m, machine, LLVMAssemblyFile, &emitted));
    llvm_machine_give(machine, 2);
    llvm_destroy(m);
}

static uint32_t count_of(const char *text, const char *what) {
    uint32_t n = 0;
    for (; (text = strstr(text, what)) != NULL; text += strlen(what)) n++;
    return n;
}

static void test_long_statement(void **state) {
    (void)state;
    assert_true(llvm_guard(&options, (Span){0, 0}, emit_statement, NULL));
    assert_int_equal(count_of(emitted.at, "add.f32"), 3 * MANY);
}

/* ---- The emulator ------------------------------------------------------------------------------------------------ */

/* A thread of test_long_call: v[i] = 3 i + tid go in as a and c, four words as b; what comes back is stored. */
static void emit_call(void *context) {
    HostCode *code = context;
    Processor here;
    assert_true(processor_find(NULL, &here));
    LLVMTargetMachineRef machine = llvm_machine_of(&here, 0);
    Llvm *m = llvm_create(&options, "test", (Span){0, 0});
    llvm_set_machine(m, machine);
    LLVMValueRef kernel = begin(m, (LLVMTypeRef[]){m->ptr, m->i64}, 2);
    Simt s = {.m = m};
    V tid = prim_call(&s, PRIM_TID, NULL, 0), a[MANY], c[MANY], b[4];
    for (uint32_t i = 0; i < MANY; i++) {
        a[i] = LLVMBuildAdd(m->at, tid, llvm_int(m->i32, 3 * i), "");
        c[i] = LLVMBuildBitCast(m->at, a[i], m->f32, "");
    }
    for (uint32_t i = 0; i < 4; i++) b[i] = llvm_int(m->i32, -1 - (int64_t)i);
    V args[] = {tuple_make(m, a, MANY), tuple_make(m, b, 4), tuple_make(m, c, MANY), llvm_int(m->i32, MMA_M16N8K16_F16),
                llvm_int(m->i32, 7)};
    const V *results = tuple_values(m, prim_tuple(&s, PRIM_MMA, tuple_type(m, m->f32, MANY), args, 5));
    assert_non_null(LLVMGetNamedFunction(m->module, "fsc.mma.f128.w128.w4.f128"));
    V to = LLVMBuildIntToPtr(m->at, LLVMGetParam(kernel, 1), m->ptr, "");
    for (uint32_t i = 0; i < MANY; i++)
        LLVMBuildStore(m->at, results[i], LLVMBuildGEP2(m->at, m->f32, to, (V[]){llvm_int(m->i64, i)}, 1, ""));
    LLVMBuildRetVoid(m->at);
    llvm_verify(m, "in the test");
    emu_lower(m, kernel);
    llvm_verify(m, "after the emulator's target step");
    assert_null(LLVMGetNamedFunction(m->module, "fsc.mma.f128.w128.w4.f128"));
    Bytes object = {0};
    assert_true(llvm_emit(m, machine, LLVMObjectFile, &object));
    code->thread = (EmuKernel *)hostcode_link(code, object, EMU_ENTRY, &options, (Span){0, 0});
    llvm_destroy(m);
    llvm_machine_give(machine, 0);
}

/* Each word of a, b and c, at its place; each result is c's word turned round. */
static void seen_mma(EmuThread *t, uint64_t *words, uint32_t mma, int32_t site, uint32_t call) {
    EmuMma i = emu_mma_unpack(mma);
    assert_int_equal(site, 7);
    assert_int_equal(call, 0);
    assert_true(i.a == EMU_F16 && i.b == EMU_F16 && i.c == EMU_F32 && i.m == 16 && i.n == 8 && i.k == 16);
    for (uint32_t k = 0; k < MANY; k++) {
        assert_int_equal(words[k], 3 * k + t->tid);
        assert_int_equal(words[MANY + 4 + k], 3 * k + t->tid);
    }
    for (uint32_t k = 0; k < 4; k++) assert_int_equal(words[MANY + k], UINT32_MAX - k);
    for (uint32_t k = 0; k < MANY; k++) words[k] = ~words[MANY + 4 + (MANY - 1 - k)] & UINT32_MAX;
}

static void test_long_call(void **state) {
    (void)state;
    HostCode *code = hostcode_create();
    assert_true(llvm_guard(&options, (Span){0, 0}, emit_call, code));
    assert_non_null(code->thread);
    const EmuCalls calls = {.mma = seen_mma};
    uint32_t results[MANY];
    uint64_t address = (uint64_t)(uintptr_t)results;
    for (uint32_t tid = 0; tid < 70; tid += 23) {
        EmuThread t = {.calls = &calls, .tid = tid, .ntid = 96};
        memset(results, 0, sizeof results);
        code->thread(&t, (const void *const[]){&address});
        for (uint32_t i = 0; i < MANY; i++) assert_int_equal(results[i], ~(3 * (MANY - 1 - i) + tid));
    }
    hostcode_destroy(code);
}

/* ---- Tuples ------------------------------------------------------------------------------------------------------ */

/* What was put in comes out, the last of what was put in one place, and nothing is left behind. */
static void build_tuples(void *context) {
    (void)context;
    Llvm *m = llvm_create(&options, "test", (Span){0, 0});
    LLVMTypeRef pair = tuple_type(m, m->i32, 2);
    LLVMValueRef k = begin(m, (LLVMTypeRef[]){m->i32, m->i32, pair}, 3);
    V x = LLVMGetParam(k, 0), y = LLVMGetParam(k, 1), tuple = tuple_make(m, (V[]){x, y}, 2);
    assert_true(tuple_is(LLVMTypeOf(tuple)) && !tuple_is(m->i32));
    assert_int_equal(tuple_length(LLVMTypeOf(tuple)), 2);
    V other = LLVMBuildInsertValue(m->at, tuple, y, 0, "");
    assert_ptr_equal(tuple_values(m, tuple)[0], x);
    assert_ptr_equal(tuple_values(m, tuple)[1], y);
    assert_ptr_equal(tuple_values(m, other)[0], y);
    assert_non_null(LLVMIsAExtractValueInst(tuple_values(m, LLVMGetParam(k, 2))[1]));
    tuple_drop(tuple); /* another one is made of it */
    assert_ptr_equal(tuple_values(m, other)[1], y);
    tuple_drop(other);
    LLVMBuildRetVoid(m->at);
    llvm_verify(m, "in the test");
    assert_int_equal(llvm_instructions(k), 3); /* two extracted, and the end */
    llvm_destroy(m);
}

static void test_tuples(void **state) {
    (void)state;
    assert_true(llvm_guard(&options, (Span){0, 0}, build_tuples, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_long_statement), cmocka_unit_test(test_long_call),
                                       cmocka_unit_test(test_tuples)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
