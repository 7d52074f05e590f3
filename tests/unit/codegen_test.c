/* codegen_test.c - the wrapper of LLVM: it survives what LLVM cannot compile; the tables agree with LLVM.
 *
 * In: modules that LLVM refuses, every target, every row of prims.def.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "codegen/nvptx/nvptx.h"
#include "passes/passes.h"

typedef struct Job {
    CodegenOptions o;
    const char *intrinsic; /* of one fp32 operand; NULL: an empty kernel */
    const char *arch;
    bool done;
    Bytes out;
} Job;

static Job job_create(const char *intrinsic, const char *arch) {
    Arena *a = arena_create();
    Job j = {.o = {.arena = a, .diag = diag_create(a, 10)}, .intrinsic = intrinsic, .arch = arch};
    return j;
}

static void emit_kernel(void *context) {
    Job *j = context;
    Llvm *m = llvm_create(&j->o, "test", (Span){0, 0});
    LLVMTypeRef params[] = {m->ptr};
    LLVMValueRef f = LLVMAddFunction(m->module, "k", LLVMFunctionType(m->none, params, 1, 0));
    LLVMSetFunctionCallConv(f, 71);
    LLVMPositionBuilderAtEnd(m->at, LLVMAppendBasicBlockInContext(m->context, f, ""));
    if (j->intrinsic) {
        LLVMValueRef x = LLVMBuildLoad2(m->at, m->f32, LLVMGetParam(f, 0), "");
        LLVMBuildStore(m->at, llvm_unary(m, j->intrinsic, x), LLVMGetParam(f, 0));
    }
    LLVMBuildRetVoid(m->at);
    LLVMTargetMachineRef machine = nvptx_machine(j->arch, 0, 2);
    llvm_set_machine(m, machine);
    j->done = llvm_emit(m, machine, LLVMAssemblyFile, &j->out);
    llvm_machine_give(machine, 2);
}

static void test_refused_intrinsics(void **state) {
    (void)state;
    static const char *const names[] = {"llvm.exp", "llvm.log2", "llvm.tan"};
    for (size_t i = 0; i < COUNT(names); i++) {
        Job j = job_create(names[i], "sm_80");
        bool came_back = llvm_guard(&j.o, (Span){0, 0}, emit_kernel, &j);
        assert_false(came_back && j.done);
        assert_int_not_equal(diag_errors(j.o.diag), 0);
        Text shown = {0};
        diag_print(j.o.diag, &shown, false);
        assert_non_null(strstr(shown.at, "[E0605]"));
        text_free(&shown);
        arena_destroy(j.o.arena);
    }
    /* And LLVM still works afterwards. */
    Job j = job_create("llvm.sqrt", "sm_80");
    assert_true(llvm_guard(&j.o, (Span){0, 0}, emit_kernel, &j) && j.done);
    assert_int_equal(diag_errors(j.o.diag), 0);
    assert_non_null(strstr(j.out.at, "sqrt.rn.f32"));
    arena_destroy(j.o.arena);
}

/* LLVM knows the arch, and writes the PTX version of its row. */
static void check_nvptx(const Target *t) {
    Job j = job_create(NULL, t->name);
    uint32_t ptx = nvptx_of(t)->ptx;
    char text[64];
    assert_true(llvm_guard(&j.o, (Span){0, 0}, emit_kernel, &j) && j.done);
    snprintf(text, sizeof text, ".version %u.%u\n.target %s\n", ptx / 10, ptx % 10, t->name);
    assert_non_null(strstr(j.out.at, text));
    assert_int_equal(target_has(t, FEATURE_CLUSTERS), t->max_cluster > 1);
    arena_destroy(j.o.arena);
}

static void test_targets(void **state) {
    (void)state;
    const Target *t;
    for (uint32_t i = 0; (t = target_at(i)); i++) {
        assert_ptr_equal(target_find(t->name), t);
        if (target_emits(t, EMIT_PTX)) check_nvptx(t);
        if (t->backend->stands_for) assert_non_null(target_find(t->backend->stands_for));
        assert_int_equal(target_emits(t, EMIT_CUBIN), t->backend->assemble != NULL);
    }
    assert_null(target_find("sm_20"));
    assert_null(target_find("sm_8"));
    assert_null(target_find(""));
}

/* What is emulated has a card's numbers, and of its features those that emulated threads have, too. */
static void test_emulated(void **state) {
    (void)state;
    Target t;
    static const char *const cards[][2] = {
        {NULL, "sm_90"}, {"emu", "sm_90"}, {"cpu", "sm_90"}, {"sm_20", "sm_90"}, {"sm_75", "sm_75"}};
    for (size_t i = 0; i < COUNT(cards); i++) {
        const Target *card = target_find(cards[i][1]);
        assert_ptr_equal(target_choose("emu", cards[i][0], &t), &t);
        assert_string_equal(t.name, "emu");
        assert_ptr_equal(t.backend, target_find("emu")->backend);
        assert_int_equal(t.max_shared, card->max_shared);
        assert_int_equal(t.max_cluster, card->max_cluster);
        assert_int_equal(target_has(&t, FEATURE_COPIES), target_has(card, FEATURE_COPIES));
        assert_false(target_has(&t, FEATURE_FP16));
    }
    assert_ptr_equal(target_choose("sm_80", "sm_90", &t), target_find("sm_80"));
    assert_null(target_choose("sm_20", "sm_90", &t));
}

static uint32_t count_calls(const char *text, const char *name) {
    uint32_t n = 0;
    char call[64];
    snprintf(call, sizeof call, "call i32 @fsc.%s(", name);
    for (; (text = strstr(text, call)); text++) n++;
    return n;
}

/* The sum of a row by one warp takes a shuffle for each bit of a lane, whatever the width of the target's warps. */
static void test_warp_width(void **state) {
    (void)state;
    static const char text[] = "func @sum(%y: *fp32, %x: *fp32) stage tile warps 1 {\n"
                               "  %i = arange 0, 1024 : tile<1024xi32>\n"
                               "  %xs = splat %x : tile<1024x*fp32>\n"
                               "  %xa = addptr %xs, %i : tile<1024x*fp32>\n"
                               "  %v = load %xa {align = 4} : tile<1024xfp32>\n"
                               "  %s = reduce %v {axis = 0, combine = fadd} : fp32\n"
                               "  store %y, %s {align = 4}\n"
                               "  return\n}\n";
    for (uint32_t log2 = 4; log2 <= 6; log2++) {
        Arena *a = arena_create();
        CodegenOptions o = {.arena = a, .diag = diag_create(a, 10), .opt_level = 2};
        Target t = *target_find("sm_90");
        t.warp_threads = 1u << log2;
        Func *f = func_read(a, strings_create(a), o.diag, diag_add_source(o.diag, "sum.ir", text, strlen(text)));
        PassContext c = {.diag = o.diag, .target = &t, .for_gpu = true, .to_code = true, .opt_level = 2};
        Generated out;
        assert_true(f && passes_run(f, &c));
        assert_int_equal(f->threads_per_program, t.warp_threads);
        assert_true(codegen(f, &t, EMIT_THREADS, &o, &out));
        assert_int_equal(count_calls(out.text.at, "shfl.bfly"), log2);
        arena_destroy(a);
    }
}

/* A machine given back serves the next compile of its kind, and of no other; its code is the same. */
static void test_machines(void **state) {
    (void)state;
    LLVMTargetMachineRef first = nvptx_machine("sm_80", 72, 2), second = nvptx_machine("sm_80", 72, 2);
    assert_ptr_not_equal(first, second);
    llvm_machine_give(first, 2);
    LLVMTargetMachineRef others[] = {nvptx_machine("sm_86", 72, 2), nvptx_machine("sm_80", 73, 2),
                                     nvptx_machine("sm_80", 72, 0)};
    static const int levels[] = {2, 2, 0};
    for (size_t i = 0; i < COUNT(others); i++) assert_ptr_not_equal(others[i], first);
    assert_ptr_equal(nvptx_machine("sm_80", 72, 2), first);
    llvm_machine_give(first, 2);
    llvm_machine_give(second, 2);
    llvm_machine_give(NULL, 2);
    for (size_t i = 0; i < COUNT(others); i++) llvm_machine_give(others[i], levels[i]);

    LLVMTargetMachineRef many[12]; /* more than are kept */
    for (size_t i = 0; i < COUNT(many); i++) many[i] = nvptx_machine("sm_89", 0, 2);
    for (size_t i = 0; i < COUNT(many); i++) llvm_machine_give(many[i], 2);

    Job a = job_create("llvm.sqrt", "sm_75"), b = job_create("llvm.sqrt", "sm_75");
    assert_true(llvm_guard(&a.o, (Span){0, 0}, emit_kernel, &a) && a.done);
    assert_true(llvm_guard(&b.o, (Span){0, 0}, emit_kernel, &b) && b.done);
    assert_string_equal(a.out.at, b.out.at);
    arena_destroy(a.o.arena);
    arena_destroy(b.o.arena);
}

static void test_primitives(void **state) {
    (void)state;
    for (uint32_t i = 0; i < PRIM_COUNT; i++) {
        char name[64];
        Prim p = PRIM_COUNT;
        Access a = {9, 9};
        bool moves = strchr(prim_info[i].result, 'A') || strchr(prim_info[i].operands, 'A');
        bool has_tuple = strchr(prim_info[i].result, 'T') || strchr(prim_info[i].operands, 'T');
        snprintf(name, sizeof name, "fsc.%s%s", prim_info[i].name, moves ? ".v4.b32" : has_tuple ? ".f4.w128" : "");
        assert_true(prim_find(name, &p, &a));
        assert_int_equal(p, i);
        assert_int_equal(a.words, moves ? 4 : 0);
        assert_int_equal(a.bits, moves ? 32 : 0);
    }
    Prim p;
    Access a;
    assert_false(prim_find("llvm.fma.f32", &p, &a));
}

static void test_policy(void **state) {
    (void)state;
    for (uint8_t cache = CACHE_DEFAULT; cache <= CACHE_CV; cache++)
        for (uint8_t evict = EVICT_DEFAULT; evict <= EVICT_LAST; evict++)
            for (int v = 0; v < 2; v++) {
                MemAttr m = {.cache = cache, .evict = evict, .is_volatile = v};
                MemAttr back = policy_unpack(policy_pack(&m));
                assert_true(back.cache == cache && back.evict == evict && back.is_volatile == (v != 0));
            }
}

static void test_accesses(void **state) {
    (void)state;
    static const struct {
        uint32_t bytes, elements, words, bits;
    } rows[] = {{1, 1, 1, 8},  {1, 2, 1, 16}, {1, 16, 4, 32}, {2, 1, 1, 16}, {2, 8, 4, 32},
                {4, 1, 1, 32}, {4, 4, 4, 32}, {8, 1, 1, 64},  {8, 2, 2, 64}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        Access a = access_of(rows[i].bytes, rows[i].elements);
        assert_int_equal(a.words, rows[i].words);
        assert_int_equal(a.bits, rows[i].bits);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_intrinsics), cmocka_unit_test(test_targets),
        cmocka_unit_test(test_primitives),         cmocka_unit_test(test_policy),
        cmocka_unit_test(test_accesses),           cmocka_unit_test(test_machines),
        cmocka_unit_test(test_emulated),           cmocka_unit_test(test_warp_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
