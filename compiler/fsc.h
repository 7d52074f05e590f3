/* fsc.h - the compiler as a library (libfsc): text in, PTX out; and the JIT, which compiles a source file for the
 * arguments that it is launched with.
 *
 * No call prints, exits or aborts the process; LLVM's own fatal errors come back as diagnostics. Different threads may
 * compile at the same time; one object is used by one thread at a time unless a function says otherwise.
 * What a pointer that must not be NULL is, is looked at: FSC_ERROR_USAGE, and fsc_last_message() says which. An output
 * that a call does not need may be NULL where its comment says so. Nothing here needs a GPU, a CUDA toolkit or Python;
 * only the JIT on device "cuda" needs the driver.
 */
#ifndef FSC_H
#define FSC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fsc_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0" and the LLVM it was built with: "fsc 0.1.0 (LLVM 22.1.8)". Static storage. */
FSC_API const char *fsc_version(void);

/* ---- Compiling --------------------------------------------------------------------------------------------------- */

/* Where the pipeline stops, in its order. */
typedef enum fsc_emit {
    FSC_EMIT_AST,     /* the parsed file */
    FSC_EMIT_TILE,    /* tile IR after the passes that every target shares */
    FSC_EMIT_SIMT,    /* tile IR with a layout for every tile, exchanges and barriers (GPU) */
    FSC_EMIT_THREADS, /* per-thread LLVM IR, device primitives still calls (GPU) */
    FSC_EMIT_LLVM,    /* LLVM IR after the target step and LLVM's passes */
    FSC_EMIT_PTX,     /* text; the default */
    FSC_EMIT_CUBIN,   /* through ptxas, if one is found */
    FSC_EMIT_ASM,     /* assembly of this machine (arch "cpu") */
    FSC_EMIT_REPORT,  /* the variant's record, as text */
} fsc_emit;

/* What fsc_compilation_diagnostics is: for people, or for programs. */
typedef enum fsc_diagnostics_format {
    FSC_DIAGNOSTICS_TEXT,
    FSC_DIAGNOSTICS_JSON,  /* one object, also when there are none: docs/reference/tool.md */
    FSC_DIAGNOSTICS_SARIF, /* a SARIF 2.1.0 log */
} fsc_diagnostics_format;

typedef struct fsc_name_value {
    const char *name, *value;
} fsc_name_value;

/* Set up by fsc_compile_options_init, then changed field by field. Strings are borrowed during the call. */
typedef struct fsc_compile_options {
    const char *file;      /* the source's name in messages and line info; a name in .py or .ir selects that input */
    fsc_emit emit;
    const char *arch;      /* "sm_75" … "sm_121" (default "sm_80"), "cpu", or "emu": GPU code for emulated threads */
    const char *cpu;       /* for arch "cpu": LLVM's name of a processor, NULL: this one */
    const char *kernel;    /* entry point, NULL: the only one */
    const char *signature; /* types and values by position, NULL: as the source says */
    /* Constexpr parameters (or scalars to fix) by name; "n<", "n>": at most, at least so much; "N:": the value of one
     * variant among several, which each launch compares with its launch rule. */
    const fsc_name_value *defines;
    size_t num_defines;
    const fsc_name_value *types;   /* dtype parameters (or bare parameters) by name */
    size_t num_types;
    const fsc_name_value *divisible; /* run-time parameters known to be a multiple of 16 ("16") or equal to 1 ("1") */
    size_t num_divisible;
    const fsc_name_value *known; /* of run-time scalars, and addresses: for the launch rule only, never compiled in */
    size_t num_known;
    const fsc_props *device; /* num_sms() and the like of the launch rule; NULL: not known */
    uint32_t config; /* which configuration of @triton.autotune, from 1; 0: the first, if there are any */
    uint32_t num_warps, num_stages, num_ctas; /* 0: from the launch rule, else chosen */
    int opt_level;           /* 0..3; 2 */
    bool debug;              /* -g */
    bool fast_math;
    bool few_programs;       /* no more than the device has multiprocessors: a program may take several for itself */
    bool color;              /* of the diagnostics text */
    fsc_diagnostics_format diagnostics;
    bool remarks;            /* of performance, for a GPU's code */
    bool verify_each;        /* verify and round trip the IR after each pass */
    bool op_lines;           /* PTX's .loc names ops of the tile IR and their registers, not lines of the source: line
                              * (op + 1) * 16 + log2 of how many registers, column 1 + the first (0: all of the op) */
    bool no_maps;            /* launches pass no tensor maps: each thread copies its part of what one could copy in bulk
                              * (sm_90a; set by the JIT where arguments are none of a map) */
    uint32_t error_limit;    /* 20; 0: none */
    bool overlap;            /* a launch may begin before those ahead of it have ended (sm_90 and -O1 on); it waits for
                              * them ahead of its first access, or where the source has gdc_wait */
    const char *print_after; /* pass name, "all", or "changed": what each pass changed, line by line */
    const char *passes;      /* run these instead of the pipeline, comma separated; with - before each: the pipeline
                              * without them. Machine code, LLVM IR and reports need what the pipeline cannot do
                              * without, in its order */
    bool print_layouts;      /* a table of every distinct layout into the dumps */
    bool device_debug;       /* device_print, print, device_assert and assert of the kernel are compiled;
                              * else they cost nothing */
    bool check;              /* arch "cpu": the code asks before every access (set by the JIT on a checked device) */
    bool no_cache;           /* the JIT: neither read variants from disk nor write them there */
    bool count;              /* arch "cpu" and "emu": the code counts what each line does (likewise:
                              * fsc_device_count_lines) */
    bool record;             /* arch "emu": the code tells what each op makes (likewise: on a device that records) */
    bool split;              /* num_ctas blocks of a program are no cluster, but meet through global memory:
                              * any arch, up to 256 */
    uint8_t most_programs;   /* with few_programs: no more than these; 0: than multiprocessors */
    const char *include;     /* folders where imports are looked for, ':' between them; NULL: beside the file only */
    const char *tuned;       /* the file that `fsc tune` wrote; NULL: NAME.tune beside NAME.dsl or NAME.py, if there is
                              * one; "off": none */
    const char *tuned_text;  /* what is in it; NULL: it is read */
} fsc_compile_options;

FSC_API void fsc_compile_options_init(fsc_compile_options *o);

/* One compile and all it produced. */
typedef struct fsc_compilation fsc_compilation;

/* Compiles `length` bytes of text. *out is set also when the source has errors (then the status is FSC_ERROR_SOURCE and
 * the diagnostics say what), and is NULL only when out of memory, or when a pointer is NULL where none may be
 * (FSC_ERROR_USAGE, and fsc_last_message() says which). The caller destroys it.
 * FSC_ERROR_USAGE: an option makes no sense (unknown arch, pass, signature). FSC_ERROR_ENVIRONMENT:
 * cubin without ptxas.
 * FSC_ERROR_INTERNAL: a bug of fsc; the diagnostics hold its message. */
FSC_API fsc_status fsc_compile(const fsc_compile_options *o, const char *source, size_t length, fsc_compilation **out);
FSC_API void fsc_compilation_destroy(fsc_compilation *c);

/* All of these live as long as the compilation, are NUL-terminated and never NULL: "" for no compilation. */
FSC_API const char *fsc_compilation_output(const fsc_compilation *c, size_t *length); /* what emit asked for */
FSC_API const char *fsc_compilation_diagnostics(const fsc_compilation *c);            /* errors, warnings */
FSC_API const char *fsc_compilation_dumps(const fsc_compilation *c);                  /* print_after, print_layouts */
FSC_API const char *fsc_compilation_times(const fsc_compilation *c);                  /* a table: phase, milliseconds */
FSC_API const char *fsc_compilation_record(const fsc_compilation *c); /* the variant's record; "" before it exists */
/* The other files that were read, because names are imported from them: one a line. */
FSC_API const char *fsc_compilation_files(const fsc_compilation *c);
/* Registers per thread by the compiler's own liveness: an interval, not what ptxas will say. 0, 0 for arch "cpu". */
FSC_API void fsc_compilation_registers(const fsc_compilation *c, uint32_t *low, uint32_t *high);

/* The path of ptxas: $FSC_PTXAS, then PATH, then CUDA_HOME and the usual place of a toolkit, then NVIDIA's Python wheel
 * beside the build. NULL if there is none. Static storage, found once. */
FSC_API const char *fsc_find_ptxas(void);

/* ---- JIT --------------------------------------------------------------------------------------------------------- */

/* A source file on a device: each launch compiles the variant its arguments call for, once, and keeps it, also on disk
 * (docs/how-to/runtime.md): the next process loads it. fsc_jit_prepare, fsc_jit_launch and fsc_jit_counts may be called
 * from several threads at once; a variant that several want first is made once. Then fsc_last_message() is each
 * thread's own message. */
typedef struct fsc_jit fsc_jit;

/* Borrows `device` (it must outlive the handle) and copies the text. `o` may be NULL; its arch is replaced by the
 * device's. Code with instructions of the card's own, such as products on compute capability 9.0, is for that card
 * alone (sm_90a); with the arch "sm_90" there, it is portable. The emulator takes "sm_90a" by name. Errors of the
 * source appear here as far as they do not depend on arguments, else at the launch. *out is set also on failure:
 * fsc_jit_message(*out) says why, and the caller destroys it; every other call on it is FSC_ERROR_USAGE. Without a
 * source or o->file, too. */
FSC_API fsc_status fsc_jit_create(fsc_device *device, const char *source, size_t length, const fsc_compile_options *o,
                                  fsc_jit **out);
FSC_API void fsc_jit_destroy(fsc_jit *j);
/* The message of the calling thread's last call that failed on this handle (diagnostics of a compile included), "" if
 * none has. It lives until that thread's next failure, and no longer than the handle. */
FSC_API const char *fsc_jit_message(const fsc_jit *j);

/* Of all compiles so far: IR dumps that were asked for, warnings, and the table of times.
 * Not while another thread launches. */
FSC_API const char *fsc_jit_log(const fsc_jit *j);
/* The variant that these arguments call for: compiled if it is new, loaded, and not launched. The kernel belongs to the
 * handle; args are the run-time parameters in the kernel's order, as in fsc_launch. What specialises a variant: element
 * types of the buffers, addresses and integers divisible by 16, integers equal to 1, the constexpr values that the
 * launch rule yields, and on GPUs the range that an integer falls into where such a value is its next power of two (60
 * variants over 1 … 16384); never the other values, and never the grid. */
FSC_API fsc_status fsc_jit_prepare(fsc_jit *j, const fsc_arg *args, size_t nargs, fsc_kernel **out);
/* fsc_jit_prepare, then fsc_launch with the same checks. */
FSC_API fsc_status fsc_jit_launch(fsc_jit *j, const int64_t grid[3], const fsc_arg *args, size_t nargs, void *stream);
/* The same for those who debug: fsc_launch_checked of the variant, and names,
 * kinds and types are looked at before it is compiled. */
FSC_API fsc_status fsc_jit_launch_checked(fsc_jit *j, const int64_t grid[3], const fsc_named_arg *args, size_t nargs,
                                          void *stream);
/* How the handle came by its variants so far. */
typedef struct fsc_variant_counts {
    uint32_t compiled;  /* by the compiler, those that failed included */
    uint32_t from_disk; /* loaded from the cache */
} fsc_variant_counts;
FSC_API void fsc_jit_counts(const fsc_jit *j, fsc_variant_counts *out);
/* The kernel's parameters before any specialisation: contracts, launch rule, constexpr defaults. A parameter whose type
 * the source leaves open has the dtype "" or the name of the dtype parameter that decides it. */
FSC_API const struct fsc_record *fsc_jit_interface(const fsc_jit *j);

/* ---- For other languages --------------------------------------------------------------------------------------------
 * What the Python package is made of (docs/how-to/python.md): no struct of options, and arrays as their owners describe
 * them. */

/* The names of a file's entry points, in order: on success fsc_compilation_output(*out) has one a line.
 * As fsc_compile. */
FSC_API fsc_status fsc_source_kernels(const char *file, const char *source, size_t length, fsc_compilation **out);
/* The same of all functions that fsc_jit_open takes as its kernel:
 * those that others call and those inside of host functions, too. */
FSC_API fsc_status fsc_source_functions(const char *file, const char *source, size_t length, fsc_compilation **out);

/* fsc_jit_create with everything as text. A setting's name is a constexpr or dtype parameter of the kernel, a parameter
 * whose type is open (its value is a type), or an option of jit/option.def: "num_warps", "fast_math" … (where both are,
 * the parameter). kernel: NULL for the only one. FSC_ERROR_USAGE: no such name, or no such value; the message says what
 * there is. */
FSC_API fsc_status fsc_jit_open(fsc_device *device, const char *file, const char *source, size_t length,
                                const char *kernel, const fsc_name_value *settings, size_t num_settings, fsc_jit **out);

typedef enum fsc_param_kind {
    FSC_PARAM_POINTER,
    FSC_PARAM_SCALAR,
    FSC_PARAM_OPEN,      /* the source says no type: a pointer or a scalar, as the argument is */
    FSC_PARAM_CONSTEXPR, /* these two are no arguments of a launch */
    FSC_PARAM_DTYPE,
} fsc_param_kind;

/* One parameter of the kernel, in the source's order. */
typedef struct fsc_param {
    fsc_param_kind kind;
    const char *name;
    const char *dtype; /* "fp32", of a pointer its elements'; the dtype parameter that decides it;
                        * "" where it is open, or none */
    const char *text;  /* as the source has it, about: "x: *T[n_rows:x_stride, n_cols]", "eps: fp32 = 1e-05" */
    bool is_optional;  /* it has a default or a rule, or a contract names it, so that fsc_jit_call may do without */
} fsc_param;

FSC_API const char *fsc_jit_kernel(const fsc_jit *j); /* its name */
/* FSC_ERROR_USAGE past the end. Strings live as long as the handle. */
FSC_API fsc_status fsc_jit_param(fsc_jit *j, size_t index, fsc_param *out);
/* Whether the kernel loads from and stores to what this parameter points at (atomics do both). Found by a compile for
 * this machine, once; where that does not tell, both are true but for what is a pointer to const. FSC_ERROR_SOURCE: as
 * its settings are, the kernel does not compile; *reads and *writes are set also then. */
FSC_API fsc_status fsc_jit_access(fsc_jit *j, size_t index, bool *reads, bool *writes);

/* An argument, and for a pointer what lies behind it: array.rank above FSC_RANK_MAX: not known. */
typedef struct fsc_value {
    fsc_arg arg; /* FSC_ARG_MISSING: to be filled in; bytes of 0 are found from the array */
    fsc_array array;
} fsc_value;

/* fsc_jit_launch of arrays. A missing scalar is what a shape contract says that an array's sizes or strides are, else
 * its default. Two that contradict, a stride that the contract does not allow, an argument that nothing says are
 * FSC_ERROR_ARGUMENT; then as fsc_jit_launch. Takes no lock and allocates nothing where that does not. */
FSC_API fsc_status fsc_jit_call(fsc_jit *j, const int64_t grid[3], const fsc_value *values, size_t num_values,
                                void *stream);

/* What a launch of these arrays would compile, as far as `emit`, and as fsc_compile gives it: for the device, or for
 * `arch`, whose card need not be there ("sm_90"; NULL: the device's own). Nothing is loaded, launched or kept. */
FSC_API fsc_status fsc_jit_inspect(fsc_jit *j, const char *arch, fsc_emit emit, const fsc_value *values,
                                   size_t num_values, fsc_compilation **out);

/* The variant that a launch of these arrays takes, compiled and loaded, and what fsc_kernel_warmup says of it. */
FSC_API fsc_status fsc_jit_report(fsc_jit *j, const fsc_value *values, size_t num_values, fsc_kernel_report *out);

#ifdef __cplusplus
}
#endif

#endif
