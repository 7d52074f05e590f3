/* fsc_runtime.h - load, inspect and launch kernels compiled by fsc, on NVIDIA GPUs or on the CPU.
 *
 * Rules that hold for every function:
 * - A function that can fail returns fsc_status. On failure one sentence says what, with the driver's own error name:
 *   in the device it happened on (fsc_device_message), and for the calling thread (fsc_last_message). Out parameters
 *   are written only on success, except where a function says otherwise.
 * - Nothing prints, exits, aborts or installs handlers. No driver on the machine is a status (FSC_NO_DRIVER).
 * - What a _create/_open/_load function gives, the caller releases with its _destroy/_close/_unload; NULL is allowed
 *   there. Strings returned are owned by the library and live as long as the handle they came from.
 * - Names: fsc_ and words in small letters for functions and types, FSC_ and capitals for constants.
 * - Sizes are bytes and 64 bits wide. Strides and extents in shape contracts are elements.
 * - Threads: any function may be called from several threads at once, also on one device, module or kernel, unless its
 *   comment says otherwise; releasing a handle while another thread uses it is the caller's mistake.
 * - CUDA: the context current in the calling thread at fsc_device_open is used, else the device's primary context. Each
 *   call leaves the thread's current context as it found it. No context is ever created or reset.
 */
#ifndef FSC_RUNTIME_H
#define FSC_RUNTIME_H

#include "fsc_types.h"
#include <stdbool.h>
#include <stddef.h>
#if defined(__GNUC__)
#define FSC_API __attribute__((visibility("default")))
#else
#define FSC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version --------------------------------------------------------------------------------------------------------
 * Of this header; the build reads it here. docs/reference/stability.md says what a version may change. */

#define FSC_VERSION_MAJOR  0
#define FSC_VERSION_MINOR  1
#define FSC_VERSION_PATCH  0
#define FSC_VERSION_NUMBER (FSC_VERSION_MAJOR * 10000 + FSC_VERSION_MINOR * 100 + FSC_VERSION_PATCH)
#define FSC_VERSION_TEXT3_(a, b, c) #a "." #b "." #c
#define FSC_VERSION_TEXT_(a, b, c) FSC_VERSION_TEXT3_(a, b, c)
#define FSC_VERSION_STRING FSC_VERSION_TEXT_(FSC_VERSION_MAJOR, FSC_VERSION_MINOR, FSC_VERSION_PATCH)

/* FSC_VERSION_NUMBER of the library that the program runs with. */
FSC_API int fsc_version_number(void);

/* ---- Status ------------------------------------------------------------------------------------------------------ */

/* One row of status.def each: FSC_OK is 0. Values may move between versions: compare with names. */
typedef enum fsc_status {
    FSC_OK = 0,
    FSC_NO_DRIVER,           /* libcuda.so.1 is not there, or has no device it can talk to */
    FSC_NO_DEVICE,           /* no device of that kind or number */
    FSC_NO_VARIANT,          /* no compiled variant fits these arguments: compile one (the JIT does) */
    FSC_ERROR_SOURCE,        /* libfsc: the source has errors */
    FSC_ERROR_USAGE,         /* NULL where a handle must be, an option that does not exist, … */
    FSC_ERROR_ARGUMENT,      /* number, kind, type, range or alignment of a kernel argument */
    FSC_ERROR_CONTRACT,      /* a buffer is smaller than its shape contract says */
    FSC_ERROR_REQUIRE,       /* a `require` condition of the kernel does not hold */
    FSC_ERROR_RULE,          /* the launch rule divides by zero, overflows, or needs what is not known */
    FSC_ERROR_GRID,          /* a grid beyond the limits, or negative */
    FSC_ERROR_RESOURCE,      /* shared memory, threads or registers beyond the device */
    FSC_ERROR_RECORD,        /* the image holds no fsc record, or a damaged one */
    FSC_ERROR_IMAGE,         /* the driver does not accept the PTX or cubin; its log is in the message */
    FSC_ERROR_ARCH,          /* compiled for another architecture than the device's */
    FSC_ERROR_DRIVER_OLD,    /* the driver does not know this PTX version, or lacks a function */
    FSC_ERROR_ENVIRONMENT,   /* something else that the machine lacks */
    FSC_ERROR_MEMORY,        /* host memory */
    FSC_ERROR_DEVICE_MEMORY, /* device memory */
    FSC_ERROR_FAULT,         /* a kernel faulted (illegal address, trap, …); every later call reports it, too */
    FSC_ERROR_ASSERT,        /* with device_debug: an assertion failed; fsc_device_finding has it, but not on a GPU,
                              * where the context is lost as after a fault */
    FSC_ERROR_CHECK,         /* a checked launch found something: fsc_device_finding has all of it */
    FSC_ERROR_DRIVER,        /* any other error of the driver */
    FSC_ERROR_INTERNAL,      /* a bug of fsc */
} fsc_status;

/* "FSC_NO_DRIVER"; "there is no CUDA driver on this machine". Static; never NULL. */
FSC_API const char *fsc_status_name(fsc_status s);
FSC_API const char *fsc_status_text(fsc_status s);
/* The tool's exit code: 0 done, 1 input, 2 call, 3 environment, 70 bug. */
FSC_API int fsc_status_exit_code(fsc_status s);
/* The message of the calling thread's last call that failed; "" before the first. Valid until the thread's next failing
 * call. Successful calls leave it alone. */
FSC_API const char *fsc_last_message(void);

/* ---- Element types ----------------------------------------------------------------------------------------------- */

typedef enum fsc_dtype {
    FSC_DTYPE_NONE, /* not said */
    FSC_I1,         /* one byte, 0 or 1 */
    FSC_I8, FSC_I16, FSC_I32, FSC_I64,
    FSC_U8, FSC_U16, FSC_U32, FSC_U64,
    FSC_FP8E4NV, FSC_FP8E5, FSC_FP16, FSC_BF16, FSC_FP32, FSC_FP64,
} fsc_dtype;
FSC_API const char *fsc_dtype_name(fsc_dtype t);    /* "fp32"; "" for what is none */
FSC_API fsc_dtype fsc_dtype_find(const char *name); /* FSC_DTYPE_NONE: no such type */
FSC_API uint32_t fsc_dtype_size(fsc_dtype t);       /* bytes of one element, 0 for none */

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

typedef enum fsc_device_kind {
    FSC_CPU,  /* kernels as loops over tiles, in SIMD vectors */
    FSC_CUDA, /* NVIDIA GPUs, through the driver */
    FSC_EMU,  /* the GPU's per-thread code on emulated threads of this machine: for tests, not for speed */
} fsc_device_kind;

/* Of a device, or of a card in the table of published properties (there what a running machine alone knows is 0). */
typedef struct fsc_props {
    fsc_device_kind kind;
    int ordinal;                        /* of the driver; 0 for the CPU */
    char name[80];                      /* "NVIDIA H200"; "cpu"; "emu" */
    char arch[16];                      /* "sm_90"; "cpu"; "emu" */
    uint32_t sms;                       /* multiprocessors; CPU and emulator: threads of the pool */
    uint32_t registers_per_sm;          /* of 32 bits */
    uint32_t registers_per_block;       /* most that one block can have */
    uint32_t shared_per_sm;             /* bytes */
    uint32_t shared_per_block;          /* bytes, without opt-in */
    uint32_t shared_per_block_optin;    /* bytes, the most there is */
    uint32_t shared_reserved_per_block; /* bytes that the system takes of every block (0 before sm_80) */
    uint32_t max_threads_per_sm, max_threads_per_block, max_blocks_per_sm, warp_size;
    uint64_t l2_bytes, memory_bytes;
    uint64_t bandwidth; /* of device memory, bytes per second: published, or from clock and bus width; 0: unknown */
    uint32_t clock_khz; /* highest clock of the multiprocessors; 0: unknown */
    uint32_t driver_version; /* CUDA version that the driver supports: 13000 is 13.0 */
} fsc_props;

typedef struct fsc_device fsc_device;

/* How many there are (the CPU and the emulator: always 1). FSC_NO_DRIVER and *count = 0 where there is no driver. */
FSC_API fsc_status fsc_device_count(fsc_device_kind kind, int *count);
/* The device of the context that is current in the calling thread, else 0: which one "cuda" opens now. */
FSC_API fsc_status fsc_device_current(int *ordinal);
/* "cuda" (the current context's device, else number 0), "cuda:N", "cpu" and "emu" (all cores), "cpu:N" and "emu:N" (N
 * host threads), or "auto": "cuda" if that opens, else "cpu" (fsc_last_message then says why not "cuda").
 * FSC_NO_DRIVER, FSC_NO_DEVICE, FSC_ERROR_USAGE for another word. */
FSC_API fsc_status fsc_device_open(const char *name, fsc_device **out);
/* After everything made on the device was released. */
FSC_API void fsc_device_close(fsc_device *d);
FSC_API fsc_status fsc_device_props(const fsc_device *d, fsc_props *out);

/* Programs of "cpu" on the application's threads: an executor calls work(task, i) once for each i below n (n is `sms`),
 * on any threads, and returns when all have returned. It must not launch on the device. run NULL: fsc's own threads.
 * Waits for the launch under way; quick grids stay on the launching thread. FSC_ERROR_USAGE for another device. */
typedef void fsc_work(void *task, uint32_t i);
typedef void fsc_executor(void *context, uint32_t n, fsc_work *work, void *task);
FSC_API fsc_status fsc_device_set_executor(fsc_device *d, fsc_executor *run, void *context);
/* The last failure on this device from any thread, "" if none; a copy for the thread, valid until its next call. */
FSC_API const char *fsc_device_message(const fsc_device *d);

/* ---- Checked launches -----------------------------------------------------------------------------------------------
 * On "cpu" and "emu", once switched on: a launch whose programs did wrong gives FSC_ERROR_CHECK with the findings as
 * text. An access beside the launch's buffers is reported and not performed.
 *   cpu  accesses of global memory beside the buffers, by line and program
 *   emu  also misaligned ones; races between programs, and between threads of one program; shared memory: bounds, reads
 *        before any write, races between two barriers; barriers and shuffles that not all threads reach; elements of an
 *        output contract that no program wrote
 * What a launch may touch are the buffers among its arguments, each with its size in bytes. */

typedef struct fsc_finding {
    const char *kind;     /* a name of findings.def: "out-of-bounds", "shared-race", … */
    const char *text;     /* one line: place, program, thread, address, what happened */
    const char *file;     /* of the place in the source; "" where there is none, then line and col are 0 */
    uint32_t line, col;   /* from 1 */
    int64_t program[3];   /* program_id */
    int64_t thread;       /* within the program's block; -1: not of one thread */
    uint64_t address;     /* 0: not of one address */
    uint64_t count;       /* how often this was found at this place; the other fields are the first one's */
    const char *advice;   /* what to do about its kind, one sentence without a full stop */
} fsc_finding;

/* Of kernels that the JIT loads later. FSC_ERROR_USAGE on CUDA devices (NVIDIA's compute-sanitizer is for those). */
FSC_API fsc_status fsc_device_check(fsc_device *d, bool on);
FSC_API bool fsc_device_checks(const fsc_device *d);
/* Of the device's last checked launch; strings live until the next one. */
FSC_API size_t fsc_device_findings(const fsc_device *d);
FSC_API fsc_status fsc_device_finding(const fsc_device *d, size_t index, fsc_finding *out);

/* ---- Counted launches -----------------------------------------------------------------------------------------------
 * On "cpu" and "emu", once switched on for the device: code counts what each source line does;
 * docs/how-to/profiling.md says what the numbers mean.
 *   cpu  how often each line ran
 *   emu  also instructions, accesses of global and shared memory by warps, shuffles, barriers */

typedef enum fsc_traffic_kind {
    FSC_LOAD, FSC_STORE, FSC_ATOMIC, /* of global memory */
    FSC_SHARED_LOAD, FSC_SHARED_STORE,
    FSC_CLUSTER_STORE, /* into shared memory of the cluster's blocks */
    FSC_TRAFFIC_KINDS,
} fsc_traffic_kind;

/* Accesses of one kind. A request is one access instruction of one warp with at least one lane that takes part. */
typedef struct fsc_traffic {
    uint64_t requests, lanes; /* lanes that take part, of all requests */
    uint64_t idle;            /* lanes that run the instruction and take no part: predicated off */
    uint64_t bytes;           /* asked for */
    uint64_t units;           /* global memory: sectors of 32 bytes; shared memory: wavefronts */
    uint64_t least;           /* shared memory: wavefronts without a conflict of banks */
    uint32_t narrow, wide; /* the least and the most bytes that one lane asks for at once */
} fsc_traffic;

enum { FSC_COUNTS = 24 };

typedef struct fsc_line_counts {
    uint32_t line; /* in the kernel's file, from 1; 0: of other places */
    uint64_t runs; /* emu: by threads; cpu: by programs and chunks of elements; the most of any of its basic blocks */
    uint64_t counts[FSC_COUNTS]; /* emu: fsc_count_name names them */
    fsc_traffic traffic[FSC_TRAFFIC_KINDS]; /* emu */
} fsc_line_counts;

/* Bytes of 32-byte sectors that requests moved of one pointer parameter's buffer. */
typedef struct fsc_param_counts {
    uint64_t read, written, changed; /* by loads, stores, atomics */
    uint64_t read_once, written_once; /* each sector counted once; atomics do both */
} fsc_param_counts;

typedef struct fsc_counts {
    const fsc_line_counts *lines; /* those that the code has, by number */
    size_t num_lines;
    const fsc_param_counts *params; /* one per parameter of the variant's record */
    size_t num_params;
    const struct fsc_record *record;         /* of the variant */
    uint64_t programs, all_programs, blocks; /* those that began; of the grid; that began */
    uint32_t threads_per_block, programs_per_block, blocks_per_program; /* emu; else 0 */
} fsc_counts;

/* Kernels loaded by the JIT after the call are compiled to count. FSC_ERROR_USAGE on CUDA devices. */
FSC_API fsc_status fsc_device_count_lines(fsc_device *d, bool on);
FSC_API bool fsc_device_counts_lines(const fsc_device *d);
/* Of the last counted launch, up to where it ended; valid until the next or the module ends. FSC_ERROR_USAGE: none. */
FSC_API fsc_status fsc_device_counts(const fsc_device *d, fsc_counts *out);
/* "instructions", "ex2", …: the rows of counts.def; NULL past the end. */
FSC_API const char *fsc_count_name(size_t index);

/* The table of published properties (gpus.def): "a100", "h100", … with any case; NULL if it is not there. Static. */
FSC_API const fsc_props *fsc_gpu_find(const char *name);
/* The rows in order, NULL past the end; *key (may be NULL) is the name fsc_gpu_find knows. */
FSC_API const fsc_props *fsc_gpu_at(size_t index, const char **key);

/* ---- Occupancy ------------------------------------------------------------------------------------------------------
 * A limit is what keeps one more block from fitting. */
typedef enum fsc_limit {
    FSC_LIMIT_NONE, FSC_LIMIT_REGISTERS, FSC_LIMIT_SHARED, FSC_LIMIT_THREADS, FSC_LIMIT_BLOCKS,
} fsc_limit;

typedef struct fsc_residency {
    uint32_t blocks_per_sm;   /* 0: not even one block fits */
    fsc_limit limit;          /* the resource that binds; where several do, the first in the enum's order */
    uint64_t resident_blocks; /* sms × blocks_per_sm: the persistent grid */
    double fill;              /* threads resident / threads possible, 0..1 */
    uint32_t by_registers, by_shared, by_threads, by_blocks; /* blocks per SM if only that counted; or UINT32_MAX */
} fsc_residency;

FSC_API const char *fsc_limit_name(fsc_limit l); /* "registers" … */
/* From properties alone. `registers` per thread, `threads` per block, `shared` bytes per block (static + dynamic).
 * Rules (CUDA C++ Programming Guide, compute capabilities; NVIDIA's occupancy calculator):
 *   registers of a warp are allocated in units of 256; warps of a block count in multiples of 4;
 *   shared bytes of a block are rounded up to 128 (256 on sm_7x) after the reserved bytes were added.
 * FSC_ERROR_USAGE: threads is 0 or a property is 0 (the CPU has none of this). */
FSC_API fsc_status fsc_occupancy(const fsc_props *p, uint32_t registers, uint32_t threads, uint32_t shared,
                                 fsc_residency *out);
/* waves = ceil(blocks / resident); *fill of the last one in 0..1 (1 where it is full). 0 and 0 for no blocks. */
FSC_API void fsc_waves(uint64_t blocks, uint64_t resident, uint64_t *waves, double *fill);

/* ---- Memory ---------------------------------------------------------------------------------------------------------
 * A buffer is a plain pointer: device memory (a CUdeviceptr) on CUDA, host memory on the CPU; at least 256-byte
 * aligned. Memory of the caller's own (cuMemAlloc, torch, …) is as good. Copies and fills have ended when they return,
 * and come after what was queued on the default stream; wait for other streams first (fsc_stream_wait). */

FSC_API fsc_status fsc_memory_alloc(fsc_device *d, uint64_t bytes, void **out); /* of 0 bytes: NULL */
FSC_API fsc_status fsc_memory_free(fsc_device *d, void *buffer);
FSC_API fsc_status fsc_memory_write(fsc_device *d, void *buffer, const void *host, uint64_t bytes);
FSC_API fsc_status fsc_memory_read(fsc_device *d, void *host, const void *buffer, uint64_t bytes);
FSC_API fsc_status fsc_memory_fill(fsc_device *d, void *buffer, uint8_t byte, uint64_t bytes);

/* ---- Streams and time -----------------------------------------------------------------------------------------------
 * A stream is a CUstream as void *; NULL is the default stream; the CPU runs everything at once and ignores it. */

FSC_API fsc_status fsc_stream_create(fsc_device *d, void **out); /* of the CPU: NULL */
FSC_API fsc_status fsc_stream_destroy(fsc_device *d, void *stream);
FSC_API fsc_status fsc_stream_wait(fsc_device *d, void *stream); /* FSC_ERROR_FAULT: an earlier kernel had a fault */
FSC_API fsc_status fsc_device_wait(fsc_device *d); /* all streams of the context */

typedef struct fsc_event fsc_event; /* a point in a stream, with its time; one thread at a time */
FSC_API fsc_status fsc_event_create(fsc_device *d, fsc_event **out);
FSC_API void fsc_event_destroy(fsc_event *e);
FSC_API fsc_status fsc_event_record(fsc_event *e, void *stream);
FSC_API fsc_status fsc_event_elapsed(fsc_event *start, fsc_event *end, double *milliseconds); /* waits for end */

/* ---- Modules ----------------------------------------------------------------------------------------------------- */

struct fsc_record; /* record.h: parameters, contracts, launch rule of one compiled variant */
typedef struct fsc_module fsc_module;

/* PTX text (the driver compiles it), a cubin or a fatbin, told apart by its first bytes; copied. For CUDA devices.
 * FSC_ERROR_RECORD, FSC_ERROR_ARCH, FSC_ERROR_DRIVER_OLD, FSC_ERROR_IMAGE (the message has the driver's log). */
FSC_API fsc_status fsc_module_load(fsc_device *d, const void *image, size_t size, fsc_module **out);

/* One program of a kernel on the host. args[i] points at the value of the i-th run-time parameter (a pointer parameter:
 * at the pointer), pid is this program's index, nprog the grid, scratch the module's scratch_bytes (64-byte aligned,
 * own to this program while it runs, contents undefined). From several threads at once; `sfence` orders its stores. */
typedef void fsc_host_entry(const void *const *args, const int64_t *pid, const int64_t *nprog, void *scratch);

/* One thread of a kernel on device "emu": hooks.h says what a thread is to the code. */
struct fsc_emu_thread;
typedef void fsc_thread_entry(struct fsc_emu_thread *t, const void *const *args);

/* A place in a source: what findings name. */
typedef struct fsc_site {
    const char *file;
    uint32_t line, col;
} fsc_site;

/* Compiled code in this process. */
typedef struct fsc_host_code {
    fsc_host_entry *entry;    /* device "cpu" */
    fsc_thread_entry *thread; /* device "emu" */
    size_t scratch_bytes;   /* cpu */
    bool checked;           /* cpu: the code asks before every access (hooks.h) */
    bool debugs;            /* cpu: it prints and asserts (hooks.h, DebugHook) */
    const fsc_site *sites;  /* what the sites in the code index; borrowed until destroy */
    size_t num_sites;
    /* Code that counts: its counters and what they mean (hooks.h); borrowed likewise. NULL: it does not. */
    uint64_t *counters;
    size_t num_counters;
    const struct fsc_code_line *lines;
    size_t num_lines;
    void *owner; /* when the last user of the module is gone, destroy(owner) is called once; destroy may be NULL */
    void (*destroy)(void *owner);
} fsc_host_code;

/* A kernel of host code on a CPU or emulator device. Record and struct are copied. On failure destroy is not called. */
FSC_API fsc_status fsc_module_host(fsc_device *d, const struct fsc_record *record, const fsc_host_code *code,
                                   fsc_module **out);
/* Kernels made of the module stay usable: they share it. */
FSC_API void fsc_module_unload(fsc_module *m);

FSC_API size_t fsc_module_kernels(const fsc_module *m);
FSC_API const char *fsc_module_kernel_name(const fsc_module *m, size_t index);     /* NULL past the end */
FSC_API const struct fsc_record *fsc_module_record(const fsc_module *m, size_t index); /* NULL past the end */
/* The record of an image without a device: its text, malloc'd (the caller frees), NULL if there is none at `index`. */
FSC_API char *fsc_image_record(const void *image, size_t size, size_t index);

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

typedef struct fsc_kernel fsc_kernel;

/* A kernel with the module's variant of that name (NULL: its only one). FSC_ERROR_USAGE: none such, or which one? */
FSC_API fsc_status fsc_kernel_create(fsc_module *m, const char *name, fsc_kernel **out);
/* One more compiled variant of the same kernel (same device, same parameter names). A launch takes the variant that
 * assumes most among those whose assumptions hold: element types, divisibility, equal to 1, constexpr values by the
 * launch rule. */
FSC_API fsc_status fsc_kernel_add_variant(fsc_kernel *k, fsc_module *m, const char *name);
FSC_API void fsc_kernel_destroy(fsc_kernel *k);
FSC_API size_t fsc_kernel_variants(const fsc_kernel *k);
FSC_API const struct fsc_record *fsc_kernel_record(const fsc_kernel *k, size_t variant); /* NULL past the end */
FSC_API fsc_device *fsc_kernel_device(const fsc_kernel *k);

/* What `fsc info` shows; of the CPU only threads and resident_programs mean something. */
typedef struct fsc_kernel_report {
    uint32_t threads_per_block, registers;
    uint32_t spill_bytes;                   /* local memory per thread */
    uint32_t shared_static, shared_dynamic; /* bytes per block */
    uint32_t max_threads_per_block;         /* that this kernel could be launched with */
    uint32_t blocks_per_sm;                 /* the driver's occupancy call */
    fsc_limit limit;
    uint64_t resident_blocks;   /* sms × blocks_per_sm */
    uint64_t resident_programs; /* the persistent grid: resident blocks × programs per block / blocks per program */
    uint32_t ptx_version, binary_version; /* 70 is 7.0; 90 is sm_90 */
} fsc_kernel_report;

/* Loads the variant's code onto the device without launching and reports (its last launch, where it has several).
 * FSC_ERROR_RESOURCE: it cannot run on this device, and the message says why. */
FSC_API fsc_status fsc_kernel_warmup(fsc_kernel *k, size_t variant, fsc_kernel_report *out);

typedef enum fsc_arg_kind {
    FSC_ARG_POINTER, /* u.pointer; bytes: the buffer's size from there, 0: unknown (not checked against the contract) */
    FSC_ARG_INT,     /* u.integer; converted to the parameter's type, an error if it does not fit */
    FSC_ARG_FLOAT,   /* u.real; rounded to the parameter's type; an error for an integer parameter */
    FSC_ARG_MISSING, /* to be filled in by fsc_jit_call; no other call takes it */
    FSC_ARG_UNSIGNED, /* u.natural; as FSC_ARG_INT; from 2^63 on launch rules do not know it */
} fsc_arg_kind;

typedef struct fsc_arg {
    fsc_arg_kind kind;
    fsc_dtype dtype; /* pointers: element type if known, FSC_DTYPE_NONE: not checked; ignored for numbers */
    uint64_t bytes;
    union {
        const void *pointer;
        int64_t integer;
        double real;
        uint64_t natural;
    } u;
} fsc_arg;

enum { FSC_RANK_MAX = 8 };
/* What lies behind a pointer, as its owner says it. */
typedef struct fsc_array {
    uint32_t rank; /* elements, slowest dimension first; the first `rank` ones count */
    int64_t shape[FSC_RANK_MAX], strides[FSC_RANK_MAX];
} fsc_array;

static inline fsc_arg fsc_pointer(const void *p, uint64_t bytes, fsc_dtype dtype) {
    fsc_arg a = {FSC_ARG_POINTER, dtype, bytes, {p}};
    return a;
}
static inline fsc_arg fsc_int(int64_t i) {
    fsc_arg a = {FSC_ARG_INT, FSC_DTYPE_NONE, 0, {NULL}};
    a.u.integer = i;
    return a;
}
static inline fsc_arg fsc_uint(uint64_t i) {
    fsc_arg a = {i <= INT64_MAX ? FSC_ARG_INT : FSC_ARG_UNSIGNED, FSC_DTYPE_NONE, 0, {NULL}};
    a.u.natural = i;
    return a;
}
static inline fsc_arg fsc_float(double x) {
    fsc_arg a = {FSC_ARG_FLOAT, FSC_DTYPE_NONE, 0, {NULL}};
    a.u.real = x;
    return a;
}

/* Launches: args are the run-time parameters (pointers and scalars) in the kernel's order; grid is the number of
 * programs along x, y, z, or NULL: the kernel's launch rule. Returns when the launch is queued (the CPU: when done).
 * Checked before anything runs, each with a message that names parameter, value and what was wanted: number and kind of
 * the arguments, alignment and equal-to-1 as the variant assumes, constexpr values against the rule, `require`
 * conditions, buffer sizes against the shape contract (NULL holds nothing), the grid (x <= 2^31 - 1, y and z <= 65535).
 * A grid with a 0 is success, and launches nothing. A launch that is right takes no lock and allocates nothing, up to
 * 256 arguments; it is fit for a stream that is being captured into a graph. */
FSC_API fsc_status fsc_launch(fsc_kernel *k, const int64_t grid[3], const fsc_arg *args, size_t nargs, void *stream);
/* An argument, and the name that the caller has for its parameter; NULL: not compared. A number's dtype says which type
 * the caller takes the parameter for, FSC_DTYPE_NONE: not compared. */
typedef struct fsc_named_arg {
    const char *name;
    fsc_arg arg;
} fsc_named_arg;
static inline fsc_named_arg fsc_named(const char *name, fsc_arg arg) {
    fsc_named_arg a = {name, arg};
    return a;
}

/* fsc_launch for those who debug: slower, and it returns when the launch has ended, so that a fault is this launch's (a
 * stream that is being captured is FSC_ERROR_USAGE). Refused with the kernel's signature in the message are, beyond
 * what fsc_launch refuses: a wrong number of arguments, a name at the wrong place or of no parameter, another kind or
 * type (FSC_ERROR_ARGUMENT); NULL for a pointer that the kernel goes through; on a GPU, an address that is none of its
 * memory. A launch that fails later says with which arguments. Those are in the order of the call, never reordered. */
FSC_API fsc_status fsc_launch_checked(fsc_kernel *k, const int64_t grid[3], const fsc_named_arg *args, size_t nargs,
                                      void *stream);
/* The grid that the launch rule gives (z, y = 1 where the rule has fewer), with the same checks, launching nothing;
 * *variant (may be NULL) is the variant that a launch would take. */
FSC_API fsc_status fsc_launch_grid(fsc_kernel *k, const fsc_arg *args, size_t nargs, int64_t grid[3], size_t *variant);

/* ---- Objects: kernels compiled ahead of time ------------------------------------------------------------------------
 * `fsc --emit=object` and `--emit=c` make a function per kernel, `fsc_status softmax(fsc_stream stream, float *y, …)`,
 * and a table of its variants, `softmax_object`. The function only hands its arguments to fsc_object_launch
 * (docs/how-to/embedding.md). */

/* A CUstream, NULL: the default stream. It runs in the calling thread's current context, else in the primary context of
 * device number 0. NULL is the CPU where there is no driver or GPU, or where the object has a CPU version only;
 * FSC_STREAM_CPU always is. */
typedef void *fsc_stream;
#define FSC_STREAM_CPU ((fsc_stream)(intptr_t)-1)

enum { FSC_OBJECT_ABI = 1 }; /* of the two structs below */
/* One variant for one architecture. */
typedef struct fsc_object_variant {
    const char *arch; /* "sm_80"; "cpu", or "cpu x86-64-v3": what the processor must have */
    const void *code; /* PTX or a cubin, with its record inside; of the CPU: the record's text */
    uint64_t size;
    fsc_host_entry *entry;  /* of the CPU; else NULL */
    uint64_t scratch_bytes; /* of the CPU */
    uint64_t number;        /* entries of one number are one variant for several architectures */
} fsc_object_variant;

typedef struct fsc_object {
    uint64_t abi;
    const char *kernel;
    const fsc_object_variant *variants; /* GPUs' first */
    uint64_t num_variants;
    void *loaded; /* the runtime's own; NULL at first */
} fsc_object;

/* Launches the variant that fits: values[i] points at the i-th run-time argument, of the C type that the parameter has
 * in the generated header (a float for every floating-point scalar but fp64, a uint8_t for i1). grid: NULL, or of a
 * kernel without a launch rule the programs. Checked as fsc_launch is; FSC_ERROR_ARCH also where the CPU version is
 * given a GPU's memory; FSC_NO_VARIANT says which --variants would cover the call. Takes the newest cubin that fits the
 * device, else PTX, which the driver compiles. A variant is loaded when it is first launched, once a context, whichever
 * threads ask; from then on nothing is locked but the kernel's table for reading. */
FSC_API fsc_status fsc_object_launch(fsc_object *o, fsc_stream stream, const int64_t grid[3],
                                     const void *const *values);
/* Loads every variant for where this stream runs: before a graph's capture, say. The status is the first failure's. */
FSC_API fsc_status fsc_object_load(fsc_object *o, fsc_stream stream);
/* Unloads it everywhere, before its contexts are destroyed or its code leaves the process; no launch meanwhile. */
FSC_API void fsc_object_unload(fsc_object *o);

#ifdef __cplusplus
}
#endif

#endif
