/* jit.c - backend_host, the CPU target: a callable kernel through ORC, or LLVM IR and assembly as text.
 *
 * In: a Func at STAGE_TILE. Out: HostCode, or text.
 * Method: the module is optimised and emitted as an object in memory by this folder's own wrapper, and ORC links the
 * object into the process.
 */
#include "codegen/host/host.h"

#include <string.h>

#include "codegen/hostcode.h"
#include "runtime/base/arch.h"

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

/* Is `word` among the words between commas? */
static bool is_among(const char *words, const char *word) {
    size_t n = strlen(word);
    for (const char *at = words; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == '\0')) return true;
    return false;
}

static void ask_machine(Host *h, LLVMTargetMachineRef machine) {
    static const struct {
        const char *word; /* LLVM's */
        uint64_t features;
        uint32_t vector_bytes;
    } rows[] = {{"+avx", 0, 32},
                {"+f16c", FEATURES(FP16), 0},
                {"+fma", FEATURES(FMA), 0},
                {"+avx512vl", 0, HOST_REGISTER},
                {"+avx512fp16", FEATURES(FMA16), 0},
                {"+avx512bf16", FEATURES(DOT_BF16), 0}};
    char *all = LLVMGetTargetMachineFeatureString(machine);
    h->math.features = FEATURES(CHOOSE);
    h->vector_bytes = 16;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!is_among(all, rows[i].word)) continue;
        h->math.features |= rows[i].features;
        if (rows[i].vector_bytes) h->vector_bytes = rows[i].vector_bytes;
    }
    if (h->vector_bytes == HOST_REGISTER) {
        h->math.scale = host_scale;
        h->math.fraction = host_fraction;
        h->math.minmax = host_minmax;
    }
    h->width = h->vector_bytes < HOST_REGISTER ? HOST_WIDTH / 2 : HOST_WIDTH;
    LLVMDisposeMessage(all);
}

static bool build(const CodegenJob *j, Llvm *m, LLVMTargetMachineRef machine) {
    const CodegenOptions *o = j->o;
    Counting counting = {0};
    double start = llvm_clock();
    Host h = {.m = m, .f = j->f, .arena = arena_create()};
    h.math.m = m;
    ask_machine(&h, machine);
    h.facts = facts_compute(j->f, h.arena);
    bool ok = host_kernel(&h);
    if (ok && o->count) count_blocks(m, h.function, &counting);
    j->out->scratch_bytes = h.scratch_bytes;
    arena_destroy(h.arena);
    if (!ok) return false;
    llvm_verify(m, "the host kernel was built");
    llvm_report_time(o, "host IR", start);

    start = llvm_clock();
    const char *pipeline = pipelines[o->opt_level < 0 ? 0 : o->opt_level > 3 ? 3 : o->opt_level];
    if (*pipeline && !llvm_run_passes(m, machine, pipeline)) return false;
    if (llvm_host_is_x86_64()) host_mend_selection(m);
    llvm_report_time(o, "host LLVM passes", start);
    if (j->what == EMIT_LLVM) {
        j->out->text = llvm_text(m);
        return true;
    }
    start = llvm_clock();
    HostCode *code = j->out->code;
    if (!llvm_emit(m, machine, code ? LLVMObjectFile : LLVMAssemblyFile, &j->out->text)) return false;
    llvm_report_time(o, "host code", start);
    if (!code) return true;
    start = llvm_clock();
    code->entry = (HostKernel *)hostcode_link(code, j->out->text, j->f->name, o, j->f->span);
    code->scratch_bytes = j->out->scratch_bytes;
    llvm_report_time(o, "host link", start);
    if (!code->entry) return false;
    hostcode_set_sites(code, j->f->sites.at, j->f->sites.len);
    return !o->count || hostcode_set_counters(code, &counting, o, j->f->span);
}

static bool generate(const CodegenJob *j) {
    const char *cpu = j->o->cpu;
    LLVMTargetMachineRef machine = llvm_machine_host(cpu, j->o->opt_level);
    if (!machine) {
        diag(j->o->diag, (Span){0, 0}, E_UNKNOWN_CPU, cpu ? cpu : "");
        diag_note(j->o->diag, (Span){0, 0},
                  "without --cpu it is this machine's; names are LLVM's, such as x86-64 or x86-64-v3");
        return false;
    }
    Llvm *m = llvm_create(j->o, j->f->name, j->f->span);
    m->bf16 = m->i16; /* as bfloat it would cross blocks as fp32, with a call back that not every system's libgcc has */
    llvm_set_machine(m, machine);
    bool ok = build(j, m, machine);
    llvm_destroy(m);
    llvm_machine_give(machine, j->o->opt_level);
    return ok;
}

static const Target *cpu_target(uint32_t i) {
    static const Target cpu = {
        .name = "cpu", .backend = &backend_host, .warp_threads = ARCH_WARP, .max_cluster = 1, .max_vector_bytes = 16};
    return i == 0 ? &cpu : NULL;
}

const Backend backend_host = {
    .target = cpu_target,
    .emits = EMITS(LLVM) | EMITS(ASM) | EMITS(CODE),
    .generate = generate,
};
