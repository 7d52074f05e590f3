/* codegen.h - from tile IR to machine text: what a target's back end offers, and the table of targets.
 *
 * LLVM is seen in this folder only, and LLVM's C API only through llvm.c's wrapper where it can end the process. What
 * comes in is a Func, what goes out is text or bytes in the compile's arena, or a callable host kernel.
 */
#ifndef FSC_CODEGEN_H
#define FSC_CODEGEN_H

#include "ir/ir.h"
#include "base/target.h"

/* ---- What to generate -------------------------------------------------------------------------------------------- */

/* What a back end can be asked for. */
typedef enum Emit {
    EMIT_THREADS, /* LLVM IR of one thread, its device primitives still calls */
    EMIT_LLVM,    /* LLVM IR behind the target step and LLVM's passes */
    EMIT_ASM,     /* assembly */
    EMIT_PTX,     /* likewise, NVIDIA's */
    EMIT_CUBIN,   /* what an assembler makes of that */
    EMIT_CODE,    /* callable in this process */
} Emit;

/* A set of them: EMITS(ASM) | … */
#define EMITS(e) (1u << EMIT_##e)

typedef struct CodegenOptions {
    Diag *diag;              /* LLVM's own errors come back as diagnostics here */
    Arena *arena;
    const char *cpu;         /* the CPU target: NULL for the host's own, or a name such as "x86-64" */
    int opt_level;           /* 0..3 */
    bool line_info;          /* .loc directives (default on); full debug with -g is the same plus variable names */
    bool fast_math;
    bool verify_each;        /* LLVM's module after each of our steps, not only before LLVM's own */
    bool check;              /* the CPU target: ask before every access (runtime/base/hooks.h, AccessHook) */
    bool count;              /* CPU and emulated threads: count what each line does (count.h) */
    bool record;             /* emulated threads: say which op begins and what it makes (simt/record.c) */
    bool op_lines;           /* line info names ops and registers (fsc.h) */
    const char *file, *directory; /* for line info */
    const char *record_text; /* the variant's record, embedded as fsc_record_KERNEL; may be NULL */
    void (*timer)(void *context, const char *phase, double seconds);
    void *timer_context;
} CodegenOptions;

typedef struct Bytes {
    const char *at; /* NUL-terminated after len, for text */
    size_t len;
} Bytes;

typedef struct HostCode HostCode; /* code in this process; owns the JIT's memory */

typedef struct Generated {
    Bytes text;           /* or bytes */
    HostCode *code;       /* of EMIT_CODE; the caller's */
    size_t scratch_bytes; /* the CPU target: of each running program */
} Generated;

/* One function to generate code for. */
typedef struct CodegenJob {
    const Func *f;
    const Target *t;
    Emit what;
    const CodegenOptions *o;
    Generated *out; /* of EMIT_CODE: its code is there, to be filled */
} CodegenJob;

/* What an assembler made, and its own words; each malloc'd. */
typedef struct Assembled {
    Text binary, report;
    uint32_t registers, spill_bytes; /* of a thread; 0: not said */
} Assembled;

static inline void assembled_free(Assembled *a) {
    text_free(&a->binary);
    text_free(&a->report);
}

/* ---- Targets ----------------------------------------------------------------------------------------------------- */

/* What makes code for a family of targets: a folder of this one, a row of backends.def. */
typedef struct Backend {
    const Target *(*target)(uint32_t i); /* its targets, oldest first; NULL behind the last */
    uint32_t emits;                      /* EMITS(…): what `generate` takes. With EMIT_THREADS,
                                          * functions at STAGE_SIMT, else STAGE_TILE */
    /* False with an error in o->diag. EMIT_CUBIN is not asked of it, but of `assemble`. Runs inside llvm_guard(). */
    bool (*generate)(const CodegenJob *j);
    /* Assembly into machine code by a program beside this one. False: out->report says why not. NULL:
     * there is no such step. */
    bool (*assemble)(const Target *t, Bytes text, int opt_level, Assembled *out);
    /* Does code of a's run on whatever comes before b, a newer one of its targets? NULL: it runs on a alone. */
    bool (*reaches)(const Target *a, const Target *b);
    const char *stands_for;    /* emulated: the target that has its numbers, unless another is named */
    bool has_thread;           /* the kernel's first parameter is the thread, for the target step */
    uint32_t long_thread;      /* instructions of a thread that its assembler takes long for where they spill;
                                * 0: none */
} Backend;

#define BACKEND(name) extern const Backend backend_##name;
#include "codegen/backends.def"
#undef BACKEND

static inline bool target_emits(const Target *t, Emit what) {
    return t->backend->emits >> what & 1;
}

/* Its code runs in this process. */
static inline bool target_runs_here(const Target *t) {
    return target_emits(t, EMIT_CODE);
}

/* The i-th of all, a family after the other; NULL behind the last. */
const Target *target_at(uint32_t i);
/* The row of that name, NULL: there is none. */
const Target *target_find(const char *name);
/* "sm_75, sm_80, …": those that are no part of this machine. */
const char *target_names(Arena *a);
/* The row that has a card of this arch's own features, too: sm_90a of sm_90. Itself where there is none. */
const char *target_own(const char *arch);
/* The row, or the portable one if these features are all that code needs of those beyond it. */
const Target *target_least(const Target *t, uint64_t features);
/* The row `arch`, NULL: there is none. An emulated one becomes *emulated: it has what `card` has,
 * a target's name or NULL. */
const Target *target_choose(const char *arch, const char *card, Target *emulated);

/* The path of NVIDIA's assembler, found once; NULL where there is none. */
const char *ptxas_find(void);

/* Code for the target, by its back end. False with an error in o->diag; then out->code is NULL. */
bool codegen(const Func *f, const Target *t, Emit what, const CodegenOptions *o, Generated *out);

/* ---- Code in this process ---------------------------------------------------------------------------------------- */

/* The signature of a host kernel: args[i] points at the i-th run-time parameter's value (pointers: the pointer itself);
 * pid and nprog are this program's index and the grid; scratch has HostCode.scratch_bytes, aligned to 64. */
typedef void HostKernel(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch);

/* One thread of the block, its primitives calls of an emulator (runtime/base/hooks.h). */
struct fsc_emu_thread;
typedef void EmuKernel(struct fsc_emu_thread *t, const void *const *args);

/* Of code that counts (runtime/base/hooks.h); both NULL: it does not. */
struct fsc_code_line;
typedef struct HostCounters {
    const struct fsc_code_line *lines;
    size_t num_lines;
    uint64_t *counters;
    size_t num_counters;
} HostCounters;

/* All of it is the code's own, but for the object, which lives as long as CodegenOptions.arena did. */
struct HostCode {
    struct LLVMOrcOpaqueLLJIT *jit;
    Bytes object;       /* what was linked, and another process can link */
    const char *symbol; /* its entry */
    HostKernel *entry;  /* NULL of emulated threads */
    EmuKernel *thread;  /* NULL of CPU kernels */
    size_t scratch_bytes;
    Span *sites; /* what the sites in the code index: Func.sites first */
    size_t num_sites;
    HostCounters counters;
};

void hostcode_destroy(HostCode *h);
/* An object of such code, linked into this process; `is_thread`: of an emulated thread. NULL: an error in o->diag. */
HostCode *hostcode_load(Bytes object, const char *symbol, bool is_thread, size_t scratch_bytes,
                        const CodegenOptions *o);
/* What an object for this machine hangs on: "x86_64-pc-linux-gnu znver3 +avx2,…". `cpu` as in CodegenOptions. */
const char *codegen_host_machine(Arena *a, const char *cpu);

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

/* One variant of a kernel for one architecture: runtime/fsc_runtime.h, fsc_object_variant. */
typedef struct ObjectVariant {
    const char *arch;
    Bytes code; /* what goes in as bytes */
    Bytes ir;   /* of the CPU: LLVM IR as text that defines `function`; else empty */
    const char *cpu; /* what the IR was made for, as CodegenOptions.cpu */
    uint64_t scratch_bytes, number;
} ObjectVariant;

/* How a parameter of such a function is passed. */
typedef enum ObjectParam {
    OBJECT_POINTER,
    OBJECT_I8,
    OBJECT_I16,
    OBJECT_I32,
    OBJECT_I64,
    OBJECT_F32,
    OBJECT_F64
} ObjectParam;

typedef struct ObjectKernel {
    const char *name;     /* of the kernel, and of the function in its IR */
    const char *function; /* that the object shows */
    const char *symbol;   /* of the table */
    const ObjectVariant *variants;
    const ObjectParam *params; /* of the function, behind the stream (and the grid) */
    uint32_t num_variants, num_params;
    bool takes_grid; /* there is no launch rule */
} ObjectKernel;

enum { OBJECT_ABI = 1 }; /* FSC_OBJECT_ABI */

/* An object file for processors of the kind of `cpu`: tables, code of the CPU, and the functions that hand their
 * arguments to fsc_object_launch. False with an error in o->diag. */
bool codegen_object(const ObjectKernel *kernels, uint32_t n, const char *cpu, const CodegenOptions *o, Bytes *out);

/* An estimate of live 32-bit registers per thread, lowest and highest, from the compiler's own liveness over layouts.
 * True where they are more than a thread of the target has. */
bool codegen_registers(const Func *f, const Target *t, uint32_t *low, uint32_t *high);

#endif
