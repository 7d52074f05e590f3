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

/* What follows from the words of LLVM's features, and of the kind of processor alone. */
static void ask_processor(Host *h) {
    static const struct {
        const char *word;
        uint64_t features;
        uint32_t vector_bytes;
    } rows[] = {{"+avx", 0, 32},
                {"+f16c", FEATURES(FP16), 0},
                {"+fma", FEATURES(FMA), 0},
                {"+avx512vl", 0, HOST_REGISTER},
                {"+avx512fp16", FEATURES(FMA16), 0},
                {"+avx512bf16", FEATURES(DOT_BF16), 0},
                {"+fullfp16", FEATURES(FMA16), 0}};
    const Processor *p = h->processor;
    bool is_arm = p->family == FAMILY_AARCH64;
    h->math.features = is_arm ? FEATURES(FP16) | FEATURES(FMA) | FEATURES(MINMAX_NAN) : FEATURES(CHOOSE);
    if (is_arm) h->math.minmax = host_minmax_arm;
    /* LLVM 22 cannot select bfloat in SVE's registers */
    if (is_arm && !p->sve_bytes && processor_has(p, "+bf16")) h->math.features |= FEATURES(NARROW_BF16);
    h->vector_bytes = p->sve_bytes ? p->sve_bytes : 16;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!processor_has(p, rows[i].word)) continue;
        h->math.features |= rows[i].features;
        if (rows[i].vector_bytes) h->vector_bytes = rows[i].vector_bytes;
    }
    if (processor_has(p, "+avx512vl")) {
        h->math.scale = host_scale;
        h->math.minmax = host_minmax;
        h->math.to_bf16 = host_to_bf16;
        h->math.from_bf16 = host_from_bf16;
        h->math.bf16_lanes = HOST_WIDTH;
    }
    h->width = h->vector_bytes < HOST_REGISTER ? HOST_WIDTH / 2 : HOST_WIDTH;
}

static bool build(const CodegenJob *j, Llvm *m, const Processor *p, LLVMTargetMachineRef machine) {
    const CodegenOptions *o = j->o;
    Counting counting = {0};
    double start = llvm_clock();
    Host h = {.m = m, .processor = p, .f = j->f, .arena = arena_create()};
    h.math.m = m;
    ask_processor(&h);
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
    if (p->family == FAMILY_X86_64) host_mend_selection(m);
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

static bool find_processor(const CodegenJob *j, Processor *p) {
    const char *cpu = j->o->cpu;
    if (!processor_find(cpu, p)) {
        const char *more = cpu && strchr(cpu, ',') ? "; several are for --emit=object alone" : "";
        diag(j->o->diag, (Span){0, 0}, E_UNKNOWN_CPU, cpu ? cpu : "");
        diag_note(j->o->diag, (Span){0, 0},
                  "without --cpu it is this machine's; %s%s", processor_names(j->o->arena), more);
        return false;
    }
    if ((p->is_native && level_is_here(p->level)) || j->what != EMIT_CODE) return true;
    diag(j->o->diag, (Span){0, 0}, E_FOREIGN_CPU, cpu);
    return false;
}

static bool generate(const CodegenJob *j) {
    Processor p;
    if (!find_processor(j, &p)) return false;
    LLVMTargetMachineRef machine = llvm_machine_of(&p, j->o->opt_level);
    Llvm *m = llvm_create(j->o, j->f->name, j->f->span);
    m->bf16 = m->i16; /* as bfloat it would cross blocks as fp32, with a call back that not every system's libgcc has */
    llvm_set_machine(m, machine);
    bool ok = build(j, m, &p, machine);
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
