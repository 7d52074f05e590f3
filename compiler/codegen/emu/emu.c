/* emu.c - backend_emu: the per-thread module on this machine.
 *
 * In: a Func at STAGE_SIMT. Out: code whose entry is one thread, or text.
 * Method: build without the features that take a GPU's instructions (plain LLVM), lower the primitives to calls, emit
 * without optimisation and link. All of it under llvm_guard().
 */
#include "codegen/emu/emu.h"
#include "codegen/hostcode.h"

/* Code runs a few times only, so it is emitted the quick way, which keeps values on the stack, 8 bytes each at most:
 * those of more instructions than this would not leave half of a fiber's stack (runtime/emu/team.c). */
enum { MOST_INSTRUCTIONS = 1 << 17, MOST_IN_BLOCK = 1 << 10 };

/* What is counted is what LLVM's passes leave, with the pipeline of nvptx/emit.c: closer to what a GPU runs. */
static const char counted_pipeline[] = "function(early-cse,instcombine<no-verify-fixpoint;max-iterations=1>,early-cse)";

static bool count(Llvm *m, LLVMTargetMachineRef machine, LLVMValueRef kernel, Counting *counting) {
    if (!llvm_run_passes(m, machine, counted_pipeline)) return false;
    count_blocks(m, kernel, counting);
    return true;
}

/* The type that a choice of t's is made in: 32 or 64 bits, or what t is already. */
static LLVMTypeRef choice_type(const Llvm *m, LLVMTypeRef t) {
    switch (LLVMGetTypeKind(t)) {
    case LLVMHalfTypeKind: return m->i16;
    case LLVMFloatTypeKind: return m->i32;
    case LLVMDoubleTypeKind: return m->i64;
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(t) < 16 ? m->i32 : t;
    default: return t;
    }
}

static LLVMValueRef recast(Llvm *m, LLVMValueRef x, LLVMTypeRef t) {
    LLVMTypeKind from = LLVMGetTypeKind(LLVMTypeOf(x)), to = LLVMGetTypeKind(t);
    return from == LLVMIntegerTypeKind && to == LLVMIntegerTypeKind ? LLVMBuildIntCast2(m->at, x, t, false, "")
                                                                   : LLVMBuildBitCast(m->at, x, t, "");
}

/* A choice of floats or bytes is a branch in code emitted the quick way, and LLVM moves the rest of the block behind
 * each of them: the square of the block's length. Of integers it is an instruction. */
static void choose_integers(Llvm *m, LLVMValueRef kernel) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef at = LLVMGetFirstInstruction(b), next = NULL; at; at = next) {
            next = LLVMGetNextInstruction(at);
            LLVMTypeRef t = LLVMTypeOf(at), as = choice_type(m, t);
            if (LLVMGetInstructionOpcode(at) != LLVMSelect || as == t) continue;
            LLVMPositionBuilderBefore(m->at, at);
            LLVMValueRef x = recast(m, LLVMGetOperand(at, 1), as), y = recast(m, LLVMGetOperand(at, 2), as);
            LLVMReplaceAllUsesWith(at, recast(m, LLVMBuildSelect(m->at, LLVMGetOperand(at, 0), x, y, ""), t));
            LLVMInstructionEraseFromParent(at);
        }
    }
}

/* What stands nowhere, to the end of a block. */
static void put_into(Llvm *m, LLVMValueRef x, LLVMBasicBlockRef b) {
    LLVMMetadataRef place = LLVMInstructionGetDebugLoc(x);
    LLVMPositionBuilderAtEnd(m->at, b);
    LLVMInsertIntoBuilder(m->at, x);
    LLVMInstructionSetDebugLoc(x, place);
}

/* Before `at`: what leads moves to a block of its own, and whoever came to b comes there. The phis behind b name its
 * end, which stays: LLVM would change them, too, if b had its end meanwhile. */
static void cut_before(Llvm *m, LLVMBasicBlockRef b, LLVMValueRef at) {
    LLVMBasicBlockRef head = LLVMInsertBasicBlockInContext(m->context, b, "");
    LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
    LLVMInstructionRemoveFromParent(end);
    LLVMReplaceAllUsesWith(LLVMBasicBlockAsValue(b), LLVMBasicBlockAsValue(head));
    put_into(m, end, b);
    for (LLVMValueRef x = LLVMGetFirstInstruction(b); x != at; x = LLVMGetFirstInstruction(b)) {
        LLVMInstructionRemoveFromParent(x);
        put_into(m, x, head);
    }
    LLVMPositionBuilderAtEnd(m->at, head);
    LLVMBuildBr(m->at, b);
}

/* Where the quick way cannot make an instruction, all of the block in front of it becomes one graph, and ordering that
 * takes the square of its length or more: 4096 elements in a warp took a minute. */
static void shorten_blocks(Llvm *m, LLVMValueRef kernel) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b; b = LLVMGetNextBasicBlock(b)) {
        uint32_t before = 0;
        for (LLVMValueRef at = LLVMGetFirstInstruction(b); at; at = LLVMGetNextInstruction(at)) {
            if (before++ < MOST_IN_BLOCK || LLVMIsAPHINode(at)) continue;
            cut_before(m, b, at);
            before = 1;
        }
    }
}

static bool fits(const CodegenJob *j, LLVMValueRef kernel) {
    if (llvm_instructions(kernel) <= MOST_INSTRUCTIONS) return true;
    diag(j->o->diag, j->f->span, E_THREAD_SIZE, MOST_INSTRUCTIONS);
    diag_note(j->o->diag, j->f->span, "take more warps than num_warps = %u, or smaller tiles in a loop",
              j->f->num_warps);
    return false;
}

static bool emit(const CodegenJob *j, Llvm *m, LLVMTargetMachineRef machine) {
    const CodegenOptions *o = j->o;
    double since = llvm_clock();
    Counting counting = {0};
    LLVMValueRef kernel = simt_build(m, j->f, j->t);
    if (!kernel) return false;
    llvm_verify(m, "after building the emulated kernel");
    if (j->what == EMIT_THREADS) {
        j->out->text = llvm_text(m);
        return true;
    }
    if (o->count && !count(m, machine, kernel, &counting)) return false;
    emu_lower(m, kernel);
    choose_integers(m, kernel);
    shorten_blocks(m, kernel);
    llvm_verify(m, "after the emulator's target step");
    llvm_report_time(o, "emu IR", since);
    if (j->what == EMIT_LLVM) {
        j->out->text = llvm_text(m);
        return true;
    }
    since = llvm_clock();
    HostCode *code = j->out->code;
    if (!fits(j, kernel) || !llvm_emit(m, machine, code ? LLVMObjectFile : LLVMAssemblyFile, &j->out->text))
        return false;
    llvm_report_time(o, "emu code", since);
    if (!code) return true;
    code->thread = (EmuKernel *)hostcode_link(code, j->out->text, EMU_ENTRY, o, j->f->span);
    hostcode_set_sites(code, m->sites.at, m->sites.len);
    return code->thread != NULL && (!o->count || hostcode_set_counters(code, &counting, o, j->f->span));
}

static bool generate(const CodegenJob *j) {
    CodegenOptions o = *j->o;
    o.line_info = o.count; /* places are sites */
    Processor here;
    (void)processor_find(NULL, &here);
    LLVMTargetMachineRef machine = llvm_machine_of(&here, 0);
    Llvm *m = llvm_create(&o, j->f->name, j->f->span);
    m->bf16 = m->i16; /* as on the CPU: bfloat would need calls that not every system's libgcc has */
    llvm_set_machine(m, machine);
    bool done = emit(j, m, machine);
    llvm_destroy(m);
    llvm_machine_give(machine, 0);
    return done;
}

static const Target *emu_target(uint32_t i) {
    static const Target emu = {.name = "emu",
                               .backend = &backend_emu,
                               .features = FEATURES(COPIES) | FEATURES(PAIRS) | FEATURES(CLUSTERS) | FEATURES(FMA) |
                                           FEATURES(MMA) | FEATURES(MMA_WIDE) | FEATURES(MMA_FP8) | FEATURES(STMATRIX) |
                                           FEATURES(WGMMA) | FEATURES(BULK)};
    return i == 0 ? &emu : NULL;
}

const Backend backend_emu = {
    .target = emu_target,
    .emits = EMITS(THREADS) | EMITS(LLVM) | EMITS(ASM) | EMITS(CODE),
    .generate = generate,
    .stands_for = "sm_90",
    .has_thread = true,
};
