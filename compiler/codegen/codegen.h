/* codegen.h - from tile IR to machine text: the GPU path (per-thread LLVM module, target step, NVPTX) and the CPU path.
 *
 * LLVM is seen in this folder only, and LLVM's C API only through llvm.c's wrapper where it can end the process. What
 * comes in is a Func, what goes out is text or bytes in the compile's arena, or a callable host kernel.
 */
#ifndef FSC_CODEGEN_H
#define FSC_CODEGEN_H

#include "ir/ir.h"

/* ---- GPU targets (targets.def: arch, lowest PTX version, limits) ------------------------------------------------- */

typedef struct GpuTarget {
    const char *arch;        /* "sm_80" */
    uint32_t sm;             /* 80 */
    uint32_t ptx;            /* lowest PTX version that knows the arch, times ten: 70 */
    uint32_t max_shared;     /* bytes per block with opt-in */
    uint32_t shared_per_sm;  /* bytes */
    uint32_t max_cluster;    /* blocks; 1: there are no clusters */
} GpuTarget;

const GpuTarget *gpu_target_find(const char *arch); /* NULL: not in the table */
const char *gpu_target_names(Arena *a);             /* "sm_75, sm_80, …" for messages */

/* ---- What to generate -------------------------------------------------------------------------------------------- */

typedef enum Emit { EMIT_SIMT, EMIT_LLVM, EMIT_PTX } GpuEmit;

typedef struct CodegenOptions {
    Diag *diag;              /* LLVM's own errors come back as diagnostics here */
    Arena *arena;
    int opt_level;           /* 0..3 */
    bool line_info;          /* .loc directives (default on); full debug with -g is the same plus variable names */
    bool fast_math;
    bool verify_each;        /* LLVM's module after each of our steps, not only before LLVM's own */
    bool check;              /* the CPU target: ask before every access (runtime/base/hooks.h, AccessHook) */
    bool count;              /* CPU and emulated threads: count what each line does (count.h) */
    bool record;             /* emulated threads: say which op begins and what it makes (simt/record.c) */
    const char *file, *directory; /* for line info */
    const char *record_text; /* the variant's record, embedded as fsc_record_KERNEL; may be NULL */
    void (*timer)(void *context, const char *phase, double seconds);
    void *timer_context;
} CodegenOptions;

typedef struct Bytes {
    const char *at; /* NUL-terminated after len, for text */
    size_t len;
} Bytes;

/* f at STAGE_SIMT → per-thread module before the target step (EMIT_SIMT), LLVM IR after it and LLVM's passes
 * (EMIT_LLVM), or PTX (EMIT_PTX). False with an error in o->diag. */
bool codegen_gpu(const Func *f, const GpuTarget *t, GpuEmit what, const CodegenOptions *o, Bytes *out);

/* ---- CPU target -------------------------------------------------------------------------------------------------- */

/* The signature of a host kernel: args[i] points at the i-th run-time parameter's value (pointers: the pointer itself);
 * pid and nprog are this program's index and the grid; scratch has HostCode.scratch_bytes, aligned to 64. */
typedef void HostKernel(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch);

typedef struct HostCode HostCode; /* owns the JIT's memory */

typedef enum HostEmit { HOST_LLVM, HOST_ASM } HostEmit;

/* f at STAGE_TILE → callable code for this machine. NULL with an error in o->diag. `cpu`: NULL for the host's own, or a
 * name such as "x86-64". */
HostCode *codegen_host_jit(const Func *f, const char *cpu, const CodegenOptions *o);
HostKernel *hostcode_entry(const HostCode *h); /* NULL of emulated threads */
size_t hostcode_scratch(const HostCode *h);
/* What the sites in the code index: Func.sites first. Owned by the code. */
const Span *hostcode_sites(const HostCode *h, size_t *n);
/* Code that counts: its rows (runtime/base/hooks.h) and counters, owned by the code. False: it does not. */
struct CodeLine;
typedef struct HostCounters {
    const struct CodeLine *lines;
    size_t num_lines;
    uint64_t *counters;
    size_t num_counters;
} HostCounters;
bool hostcode_counters(const HostCode *h, HostCounters *out);
void hostcode_destroy(HostCode *h);
/* The code as an object file, and the symbol of its entry: what another process can link.
 * Lives as long as o->arena did. */
Bytes hostcode_object(const HostCode *h, const char **symbol);
/* Such an object, linked into this process; `is_thread` where hostcode_thread is its entry.
 * NULL with an error in o->diag. */
HostCode *hostcode_load(Bytes object, const char *symbol, bool is_thread, size_t scratch_bytes,
                        const CodegenOptions *o);
/* What an object for this machine hangs on: "x86_64-pc-linux-gnu znver3 +avx2,…". `cpu` as in codegen_host_jit. */
const char *codegen_host_machine(Arena *a, const char *cpu);
bool codegen_host_text(const Func *f, const char *cpu, HostEmit what, const CodegenOptions *o, Bytes *out,
                       size_t *scratch); /* of each running program; may be NULL */

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

/* One variant of a kernel for one architecture: runtime/fsc_runtime.h, FscObjectVariant. */
typedef struct ObjectVariant {
    const char *arch;
    Bytes code; /* what goes in as bytes */
    Bytes ir;   /* of the CPU: LLVM IR as text that defines `function`; else empty */
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

/* An object file of this machine's format: tables, code of the CPU, and the functions that hand their arguments to
 * fsc_object_launch. `cpu`: what the IR is compiled for. False with an error in o->diag. */
bool codegen_object(const ObjectKernel *kernels, uint32_t n, const char *cpu, const CodegenOptions *o, Bytes *out);

/* ---- Emulated threads -------------------------------------------------------------------------------------------- */

/* One thread of the block, its primitives calls of an emulator (runtime/base/hooks.h). */
struct EmuThread;
typedef void EmuKernel(struct EmuThread *t, const void *const *args);

/* f at STAGE_SIMT → the per-thread module compiled for this machine; its entry is hostcode_thread.
 * NULL with an error in o->diag. */
HostCode *codegen_emu_jit(const Func *f, const CodegenOptions *o);
EmuKernel *hostcode_thread(const HostCode *h); /* NULL of CPU kernels */
/* The per-thread module before its primitives are lowered, after (LLVM IR), or as assembly of this machine. */
typedef enum EmuEmit { EMU_THREADS, EMU_LLVM, EMU_ASM } EmuEmit;
bool codegen_emu_text(const Func *f, EmuEmit what, const CodegenOptions *o, Bytes *out);

/* An estimate of live 32-bit registers per thread, lowest and highest, from the compiler's own liveness over layouts.
 * True where they are more than a thread has. */
bool codegen_registers(const Func *f, uint32_t *low, uint32_t *high);

#endif
