/* processor.c - the processors that code of a CPU is for, in LLVM's words.
 *
 * In: a name of --cpu, or none. Out: a Processor, and LLVM's machine for it.
 * Method: this machine is asked once: a processor tells of itself slowly, most of all to a virtual machine. Names are
 * those of processors.def; where this machine is of another kind than these, LLVM has the word.
 */
#include "codegen/processor.h"

#include "codegen/codegen.h"

#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <pthread.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char *host_triple, *host_cpu, *host_features;
static CpuFamily host_family;

/* The kinds of which LLVM was built with a code generator (cmake/llvm.cmake). */
static void register_all(void) {
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
#ifdef FSC_LLVM_X86
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
#endif
#ifdef FSC_LLVM_AARCH64
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
#endif
}

static bool starts_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void find_host(void) {
    register_all();
    host_triple = LLVMGetDefaultTargetTriple();
    host_cpu = LLVMGetHostCPUName();
    host_features = LLVMGetHostCPUFeatures();
    host_family = starts_with(host_triple, "x86_64")                                          ? FAMILY_X86_64
                  : starts_with(host_triple, "aarch64") || starts_with(host_triple, "arm64") ? FAMILY_AARCH64
                                                                                             : FAMILY_OTHER;
}

void processor_register(void) {
    pthread_once(&once, find_host);
}

/* What code is emitted for; NULL: LLVM has no code generator for such processors. */
static const char *triple_of(CpuFamily family) {
    if (family == host_family) return host_triple;
#ifdef FSC_LLVM_X86
    if (family == FAMILY_X86_64) return "x86_64-unknown-linux-gnu";
#endif
#ifdef FSC_LLVM_AARCH64
    if (family == FAMILY_AARCH64) return "aarch64-unknown-linux-gnu";
#endif
    return NULL;
}

static Processor named(CpuLevel level, const char *cpu, const char *features) {
    CpuFamily family = level == LEVEL_NONE ? FAMILY_X86_64 : level_info[level].family;
    bool is_sve = level == LEVEL_SVE256 || level == LEVEL_SVE512;
    return (Processor){.family = family,
                       .level = level,
                       .triple = triple_of(family),
                       .cpu = cpu,
                       .features = features,
                       .sve_bytes = is_sve ? level_info[level].vector_bytes : 0,
                       .is_native = family == host_family};
}

/* Registers of SVE of which there is no level are as good as none. */
static Processor native(void) {
    CpuLevel level = LEVEL_SVE512;
    while (level >= LEVEL_SVE256 && !level_is_here(level)) level--;
    if (level < LEVEL_SVE256) level = LEVEL_NONE;
    return (Processor){.family = host_family,
                       .level = level,
                       .triple = host_triple,
                       .cpu = host_cpu,
                       .features = host_features,
                       .sve_bytes = level == LEVEL_NONE ? 0 : level_info[level].vector_bytes,
                       .is_native = true};
}

bool processor_find(const char *name, Processor *out) {
    static const struct {
        const char *name;
        CpuLevel level;
        const char *cpu, *features;
    } rows[] = {
#define PROCESSOR(name, level, features) {name, LEVEL_##level, name, features},
#define AT_LEVEL(level, cpu, features) {NULL, LEVEL_##level, cpu, features},
#include "codegen/processors.def"
#undef PROCESSOR
#undef AT_LEVEL
    };
    processor_register();
    if (!name || strcmp(name, "native") == 0) {
        *out = native();
        return true;
    }
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *own = rows[i].name ? rows[i].name : level_info[rows[i].level].name;
        if (strcmp(own, name) != 0) continue;
        *out = named(rows[i].level, rows[i].cpu, rows[i].features);
        return out->triple != NULL;
    }
    *out = native();
    out->cpu = name;
    out->features = "";
    return host_family == FAMILY_OTHER;
}

Processor processor_any(const Processor *like) {
    processor_register();
    CpuFamily family = like ? like->family : host_family;
    if (family == FAMILY_X86_64) return named(LEVEL_X86_64, "x86-64", "");
    if (family == FAMILY_AARCH64) return named(LEVEL_ARM, "generic", "");
    Processor p = native();
    p.cpu = "generic";
    p.features = "";
    return p;
}

bool processor_has(const Processor *p, const char *word) {
    size_t n = strlen(word);
    for (const char *at = p->features; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, word, n) == 0 && (at[n] == ',' || at[n] == '\0')) return true;
    return false;
}

const char *processor_levels(Arena *a) {
    const char *names = level_info[0].name;
    for (size_t i = 1; i < LEVEL_NONE; i++) names = arena_printf(a, "%s, %s", names, level_info[i].name);
    return names;
}

const char *processor_names(Arena *a) {
    return arena_printf(a, "names are LLVM's, such as znver4 or neoverse-v2, and %s", processor_levels(a));
}

const char *codegen_host_machine(Arena *a, const char *cpu) {
    Processor p;
    if (!processor_find(cpu, &p)) return "";
    return arena_printf(a, "%s %s %s %u", p.triple, p.cpu, p.features, p.sve_bytes);
}
