/* emit.c - backend_nvptx: from a Func at STAGE_SIMT to per-thread LLVM IR or PTX.
 *
 * In: the Func, the target, what to stop at. Out: text in the compile's arena.
 * Method: build, lower, a short LLVM pipeline (the tile IR was optimised before; what is left is local), emit.
 */
#include <string.h>

#include "codegen/nvptx/nvptx.h"

/* Local simplification only: no inlining to do, loops are as the source has them, ptxas schedules and allocates. LLVM's
 * back end begins with early-cse, so that what instcombine leaves twice needs no run of it here. */
static const char pipeline[] = "function(early-cse,instcombine<no-verify-fixpoint;max-iterations=1>)";
/* Of programs whose blocks meet through global memory: the number of the round is a variable. */
static const char grid_pipeline[] = "function(mem2reg,early-cse,instcombine<no-verify-fixpoint;max-iterations=1>)";

/* |x| of 16 bits as the smaller of x and -x, unsigned: LLVM's passes make abs.s16 of every other form, and ptxas (13.0,
 * seen on sm_90) takes its result for non-negative, which that of -32768 is not. */
static void replace_abs16(Llvm *m) {
    LLVMValueRef abs = LLVMGetNamedFunction(m->module, "llvm.abs.i16");
    for (LLVMUseRef use = abs ? LLVMGetFirstUse(abs) : NULL; use; use = LLVMGetFirstUse(abs)) {
        LLVMValueRef call = LLVMGetUser(use), x = LLVMGetOperand(call, 0);
        LLVMPositionBuilderBefore(m->at, call);
        LLVMValueRef less = LLVMBuildSub(m->at, llvm_int(m->i16, 0), x, "");
        LLVMReplaceAllUsesWith(call, llvm_binary(m, "llvm.umin", x, less));
        LLVMInstructionEraseFromParent(call);
    }
}

/* x - y and x * y of 8 and 16 bits, for the same reason: in 32 bits, out of LLVM's sight, which would narrow them again
 * (and makes a negative of the product with a negative power of two). */
static LLVMValueRef compute_in_32(Llvm *m, LLVMValueRef at) {
#define IN_32(OP) "{ .reg .b32 x, y; cvt.u32.u16 x, $1; cvt.u32.u16 y, $2; " OP ".s32 x, x, y; cvt.u16.u32 $0, x; }"
    const char *text = LLVMGetInstructionOpcode(at) == LLVMSub ? IN_32("sub") : IN_32("mul.lo");
#undef IN_32
    LLVMTypeRef half[] = {m->i16, m->i16}, type = LLVMFunctionType(m->i16, half, 2, false);
    LLVMValueRef callee =
        LLVMGetInlineAsm(type, text, strlen(text), "=h,h,h", 6, false, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef args[2];
    for (unsigned i = 0; i < 2; i++) args[i] = LLVMBuildZExtOrBitCast(m->at, LLVMGetOperand(at, i), m->i16, "");
    return LLVMBuildTruncOrBitCast(m->at, LLVMBuildCall2(m->at, type, callee, args, 2, ""), LLVMTypeOf(at), "");
}

/* A signed division in 32 bits, since LLVM makes negatives of some. */
static LLVMValueRef divide_in_32(Llvm *m, LLVMValueRef at) {
    LLVMValueRef x = LLVMBuildSExt(m->at, LLVMGetOperand(at, 0), m->i32, "");
    LLVMValueRef y = LLVMBuildSExt(m->at, LLVMGetOperand(at, 1), m->i32, "");
    return LLVMBuildTrunc(m->at, LLVMBuildBinOp(m->at, LLVMGetInstructionOpcode(at), x, y, ""), LLVMTypeOf(at), "");
}

static void replace_signed16(Llvm *m, LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef at = LLVMGetFirstInstruction(b), next = NULL; at; at = next) {
            next = LLVMGetNextInstruction(at);
            LLVMOpcode op = LLVMGetInstructionOpcode(at);
            bool is_narrow = LLVMTypeOf(at) == m->i16 || LLVMTypeOf(at) == m->i8;
            bool divides = op == LLVMSDiv || op == LLVMSRem;
            if (!is_narrow || !(divides || op == LLVMSub || op == LLVMMul)) continue;
            LLVMPositionBuilderBefore(m->at, at);
            LLVMReplaceAllUsesWith(at, divides ? divide_in_32(m, at) : compute_in_32(m, at));
            LLVMInstructionEraseFromParent(at);
        }
    }
}

/* The machine for what the kernel needs; NULL after an error. */
static LLVMTargetMachineRef lower_and_optimise(const CodegenJob *j, Llvm *m, LLVMValueRef kernel) {
    double since = llvm_clock();
    Nvptx n = {.m = m, .f = j->f, .t = j->t};
    if (!nvptx_lower(&n, kernel)) return NULL;
    LLVMTargetMachineRef machine = nvptx_machine(j->t->name, n.ptx > nvptx_of(j->t)->ptx ? n.ptx : 0, j->o->opt_level);
    llvm_set_machine(m, machine);
    if (j->o->verify_each) llvm_verify(m, "after the target step");
    llvm_report_time(j->o, "lower", since);
    since = llvm_clock();
    if (j->o->opt_level > 0 && !llvm_run_passes(m, machine, j->f->scope == SCOPE_GRID ? grid_pipeline : pipeline))
        return NULL;
    replace_abs16(m);
    replace_signed16(m, kernel);
    if (j->o->opt_level > 0) nvptx_take_steps(m, kernel);
    llvm_report_time(j->o, "llvm-passes", since);
    return machine;
}

static bool emit(const CodegenJob *j, Llvm *m) {
    double since = llvm_clock();
    LLVMValueRef kernel = simt_build(m, j->f, j->t);
    if (!kernel) return false;
    if (j->o->verify_each || j->what == EMIT_THREADS) llvm_verify(m, "after building the kernel");
    llvm_report_time(j->o, "simt", since);
    if (j->what == EMIT_THREADS) {
        j->out->text = llvm_text(m);
        return true;
    }
    LLVMTargetMachineRef machine = lower_and_optimise(j, m, kernel);
    if (!machine) return false;
    since = llvm_clock();
    bool done = true;
    if (j->what == EMIT_LLVM) j->out->text = llvm_text(m);
    else done = llvm_emit(m, machine, LLVMAssemblyFile, &j->out->text);
    llvm_report_time(j->o, "llvm-emit", since);
    llvm_machine_give(machine, j->o->opt_level);
    return done;
}

static bool generate(const CodegenJob *j) {
    Llvm *m = llvm_create(j->o, j->f->name, j->f->span);
    bool done = emit(j, m);
    llvm_destroy(m);
    return done;
}

const Backend backend_nvptx = {
    .target = nvptx_target,
    .emits = EMITS(THREADS) | EMITS(LLVM) | EMITS(PTX) | EMITS(CUBIN),
    .generate = generate,
    .assemble = ptxas_run,
    .reaches = nvptx_reaches,
    .long_thread = 12000, /* ptxas takes 14 s for 13,000, a minute for 29,000 */
};
