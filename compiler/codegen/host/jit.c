/* jit.c - the CPU target's ends: a callable kernel through ORC, or LLVM IR and assembly as text.
 *
 * In: a Func at STAGE_TILE. Out: HostCode, or text.
 * Method: the module is optimised and emitted as an object in memory by this folder's own wrapper, and ORC links the
 * object into the process. All of it runs inside llvm_guard, so that a fatal error of LLVM's is a diagnostic.
 */
#include "codegen/host/host.h"

#include <string.h>

#include "codegen/hostcode.h"

/* Chunks are vectors already: what is left for LLVM is to clean up, hoist and select. */
static const char *const pipelines[] = {
    "",
    "function(instcombine<no-verify-fixpoint>,early-cse)",
    "function(instcombine<no-verify-fixpoint>,early-cse<memssa>,loop-mssa(licm),simplifycfg,instcombine<no-verify-"
    "fixpoint>)",
    ("function(instcombine<no-verify-fixpoint>,early-cse<memssa>,loop-mssa(licm),simplifycfg,instcombine<no-verify-"
     "fixpoint>,"
     "gvn,dse)"),
};

typedef struct Work {
    const Func *f;
    const char *cpu;
    const CodegenOptions *o;
    bool to_code;  /* else text */
    HostEmit what; /* of text */
    Bytes *out;
    HostCode *code;
    size_t scratch_bytes;
    Counting counting;
    bool ok;
} Work;

static bool has_feature(LLVMTargetMachineRef machine, const char *feature) {
    char *all = LLVMGetTargetMachineFeatureString(machine);
    bool found = strstr(all, feature) != NULL;
    LLVMDisposeMessage(all);
    return found;
}

static bool build(Work *w, Llvm *m, LLVMTargetMachineRef machine) {
    const CodegenOptions *o = w->o;
    double start = llvm_clock();
    Host h = {.m = m, .f = w->f, .arena = arena_create()};
    h.math = (Math){.m = m,
                    .native_fp16 = has_feature(machine, "+f16c"),
                    .native_fma16 = has_feature(machine, "+avx512fp16"),
                    .native_fma = has_feature(machine, "+fma")};
    h.vector_bytes = has_feature(machine, "+avx512f") ? 64 : has_feature(machine, "+avx") ? 32 : 16;
    h.facts = facts_compute(w->f, h.arena);
    bool ok = host_kernel(&h);
    if (ok && o->count) count_blocks(m, h.function, &w->counting);
    w->scratch_bytes = h.scratch_bytes;
    arena_destroy(h.arena);
    if (!ok) return false;
    llvm_verify(m, "the host kernel was built");
    llvm_report_time(o, "host IR", start);

    start = llvm_clock();
    const char *pipeline = pipelines[o->opt_level < 0 ? 0 : o->opt_level > 3 ? 3 : o->opt_level];
    if (*pipeline && !llvm_run_passes(m, machine, pipeline)) return false;
    llvm_report_time(o, "host LLVM passes", start);
    if (!w->to_code && w->what == HOST_LLVM) {
        *w->out = llvm_text(m);
        return true;
    }
    start = llvm_clock();
    Bytes emitted = {0};
    if (!llvm_emit(m, machine, w->to_code ? LLVMObjectFile : LLVMAssemblyFile, &emitted)) return false;
    llvm_report_time(o, "host code", start);
    if (!w->to_code) {
        *w->out = emitted;
        return true;
    }
    start = llvm_clock();
    w->code->entry = (HostKernel *)hostcode_link(w->code, emitted, w->f->name, o, w->f->span);
    llvm_report_time(o, "host link", start);
    if (!w->code->entry) return false;
    return !o->count || hostcode_set_counters(w->code, &w->counting, o, w->f->span);
}

/* Names are known for x86-64; elsewhere LLVM has the word. */
static bool is_known_processor(const char *name) {
    static const char *const names[] = {
#define PROCESSOR(text) text,
#include "codegen/host/processors.def"
#undef PROCESSOR
    };
    char *triple = LLVMGetDefaultTargetTriple();
    bool found = strncmp(triple, "x86_64", 6) != 0;
    LLVMDisposeMessage(triple);
    for (size_t i = 0; i < COUNT(names) && !found; i++) found = strcmp(names[i], name) == 0;
    return found;
}

static void work(void *context) {
    Work *w = context;
    LLVMTargetMachineRef machine = NULL;
    if (!w->cpu || is_known_processor(w->cpu)) machine = llvm_machine_host(w->cpu, w->o->opt_level);
    if (!machine) {
        diag(w->o->diag, (Span){0, 0}, E_UNKNOWN_CPU, w->cpu ? w->cpu : "");
        diag_note(w->o->diag, (Span){0, 0},
                  "without --cpu it is this machine's; names are LLVM's, such as x86-64 or x86-64-v3");
        return;
    }
    Llvm *m = llvm_create(w->o, w->f->name, w->f->span);
    m->bf16 = m->i16; /* as bfloat it would cross blocks as fp32, with a call back that not every system's libgcc has */
    hostcode_target(m, machine);
    w->ok = build(w, m, machine);
    llvm_destroy(m);
    LLVMDisposeTargetMachine(machine);
}

HostCode *codegen_host_jit(const Func *f, const char *cpu, const CodegenOptions *o) {
    HostCode *code = hostcode_create();
    Work w = {.f = f, .cpu = cpu, .o = o, .to_code = true, .code = code};
    if (llvm_guard(o, f->span, work, &w) && w.ok) {
        code->scratch_bytes = w.scratch_bytes;
        hostcode_set_sites(code, f->sites.at, f->sites.len);
        return code;
    }
    hostcode_destroy(code);
    return NULL;
}

bool codegen_host_text(const Func *f, const char *cpu, HostEmit what, const CodegenOptions *o, Bytes *out,
                       size_t *scratch) {
    Work w = {.f = f, .cpu = cpu, .o = o, .what = what, .out = out};
    bool ok = llvm_guard(o, f->span, work, &w) && w.ok;
    if (scratch) *scratch = w.scratch_bytes;
    return ok;
}
