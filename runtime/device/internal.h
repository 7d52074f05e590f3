/* internal.h - what the files of the runtime share: the handles' insides, failing with a message, the driver table, the
 * pool of host threads. Nothing here is public.
 */
#ifndef FSC_INTERNAL_H
#define FSC_INTERNAL_H

#include "runtime/cuda/cuda_abi.h"
#include "runtime/fsc_runtime.h"
#include "runtime/record/record.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MESSAGE_SIZE = 2048 };

/* ---- status.c: failing. Both return s. d may be NULL. ------------------------------------------------------------ */

fsc_status status_fail(const fsc_device *d, fsc_status s, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
fsc_status status_memory(const fsc_device *d); /* out of host memory */
/* More words behind those in text, as far as they fit into size. */
void text_append(char *text, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* ---- driver.c: the driver's functions, found once a process ------------------------------------------------------ */

typedef struct DriverTable {
#define CUDA(name, symbol, need, parameters) CUresult(*name) parameters;
#include "runtime/cuda/cuda_api.def"
#undef CUDA
} DriverTable;

extern DriverTable cuda; /* filled after driver_load() gave FSC_OK */

/* Loads the driver on the first call; later ones give the same answer. FSC_NO_DRIVER, FSC_ERROR_DRIVER_OLD. */
fsc_status driver_load(void);
fsc_status driver_state(void); /* the same without a message */
bool driver_is_loaded(void);   /* whether one of the two was called, and found it: starts nothing */
/* Whether this process was forked from the one that loaded the driver: no call of the driver may be made then. */
bool driver_is_parents(void);
/* A call of the driver, which in a forked process is CUDA_ERROR_NOT_INITIALIZED. */
#define CU_CALL(name, ...) (driver_is_parents() ? (CUresult)CUDA_ERROR_NOT_INITIALIZED : cuda.name(__VA_ARGS__))
/* FSC_OK for CUDA_SUCCESS; else the status for r, with a message that names the call and the driver's error. An error
 * that kills the context is kept in d. */
fsc_status driver_check(fsc_device *d, CUresult r, const char *call);
/* cuda.name(…) checked. */
#define CU(d, name, ...) driver_check((d), CU_CALL(name, __VA_ARGS__), #name)
/* The same, about a kernel, whose name (NULL: none) the message tells. */
fsc_status driver_check_for(fsc_device *d, CUresult r, const char *call, const char *kernel);
#define CU_FOR(d, kernel, name, ...) driver_check_for((d), CU_CALL(name, __VA_ARGS__), #name, (kernel))
/* Of a call whose failure is nobody's to hear, as in a release:
 * an error that kills the context is kept in d all the same. */
void driver_note(fsc_device *d, CUresult r, const char *call);
#define CU_QUIET(d, name, ...) driver_note((d), CU_CALL(name, __VA_ARGS__), #name)
enum { ERROR_SIZE = 256 };
/* "CUDA_ERROR_INVALID_PTX (a PTX JIT compilation failed)". Returns out. */
char *driver_error(CUresult r, char *out, size_t size);
fsc_status driver_status(CUresult r); /* without a message */
const char *driver_advice(CUresult r); /* what the user can do: a clause */

/* ---- device.c ---------------------------------------------------------------------------------------------------- */

typedef struct Pool Pool;
typedef struct Emulator Emulator;
typedef struct Findings Findings;
typedef struct Counts Counts;

struct fsc_device {
    FscDeviceProps props;
    CUdevice cu;
    CUcontext context;
    bool retained;        /* the primary context is ours to release */
    Pool *pool;           /* of the CPU */
    Emulator *emulator;   /* of "emu" */
    char card_arch[16];   /* likewise: of the card that it stands for; "": none */
    Findings *findings;   /* of checked launches; NULL on CUDA */
    pthread_mutex_t loading; /* of code that is loaded when it is first needed */
    Counts *counts;       /* of counted launches; NULL before the first */
    atomic_bool checked, counted;
    struct Recording *recording; /* of launches on the emulator, the owner's; NULL: none (recording.h) */
    pthread_mutex_t turn; /* of launches that share the findings (of the emulator: the counts, too): one at a time */
    pthread_mutex_t counting; /* of launches of the CPU that share the counts; taken before `turn` */
    atomic_int fault;     /* the CUresult that killed the context, or 0 */
    pthread_mutex_t lock; /* of what follows */
    struct Allocation *allocations; /* of host devices: what fsc_memory_alloc gave */
    char message[MESSAGE_SIZE];
    char fault_message[512];
};

/* Makes the device's context current for this thread if it is not; *pushed says whether device_leave must pop it.
 * Reports the fault of an earlier kernel (FSC_ERROR_FAULT). */
fsc_status device_enter(fsc_device *d, bool *pushed);
void device_leave(fsc_device *d, bool pushed);
/* Device "emu": its programs get what they would get on the card, and the JIT compiles the card's variants for it,
 * from here on. */
void device_stand_for(fsc_device *d, const FscDeviceProps *card);
bool device_is_host(const fsc_device *d); /* "cpu" or "emu": memory is the host's, launches end before they return */

/* ---- pool.c: programs of a kernel over host threads -------------------------------------------------------------- */

Pool *pool_create(uint32_t threads); /* NULL: out of memory; threads start with the first grid that needs them */
void pool_destroy(Pool *p);
/* Runs entry for every program of the grid; returns when all are done. One grid at a time: others wait. The caller
 * holds forks. False: out of memory for scratch. */
bool pool_run(Pool *p, FscHostEntry *entry, const void *const *args, const int64_t grid[3], size_t scratch_bytes,
              atomic_ullong *limit); /* programs from *limit on do not begin; NULL: all do */
uint32_t pool_cores(void);

/* ---- memory.c ---------------------------------------------------------------------------------------------------- */

/* Bytes from the address to the end of the allocation of this host device that it lies in; 0: in none. */
uint64_t memory_left(fsc_device *d, uint64_t address);
void memory_forget(fsc_device *d); /* frees the list of allocations, not the buffers */

/* ---- module.c ---------------------------------------------------------------------------------------------------- */

struct fsc_module {
    fsc_device *device;
    atomic_uint users;
    Record **records; /* one a kernel */
    size_t num_records;
    CUmodule cu;
    const void *image; /* still to be loaded: borrowed; NULL: loaded, or of the host */
    size_t image_size;
    FscHostCode code; /* CPU and emulator; else zero */
};

void module_share(fsc_module *m);
void module_release(fsc_module *m);
/* As fsc_module_load, in two steps: the records are read and checked now, the driver gets the image with the second
 * call. The image stays the caller's and must be there until then. The second under the device's lock `loading`. */
fsc_status module_load_later(fsc_device *d, const void *image, size_t size, fsc_module **out);
fsc_status module_load_now(fsc_module *m);
bool module_is_loaded(const fsc_module *m);
/* sm_90a → 90, 'a'. False for "cpu" and the like. */
bool arch_read(const char *arch, unsigned *number, char *suffix);
/* PTX runs on its arch and newer ones, machine code on its major version from its minor on, 'a' on its very arch. */
bool arch_fits(const char *target, const char *device, bool is_text);

/* ---- kernel.c ---------------------------------------------------------------------------------------------------- */

/* One run-time parameter of a variant, made ready for the launch. */
typedef struct Slot {
    uint32_t param; /* index into Record.params */
    FscDType dtype; /* of the scalar, of the pointee */
} Slot;

typedef struct Quick Quick; /* quick.h */

typedef struct Variant {
    fsc_module *module;
    const Record *record;
    Slot *slots; /* in the order of the call */
    uint32_t num_slots;
    uint32_t assumptions;   /* how many of its parameters are assumed divisible or 1: which variant is the closest */
    RuleBinding *constants; /* per parameter: names, and the values of constexprs */
    Quick *quick;           /* NULL: launches take the long way */
    CUfunction *functions;  /* one a launch; NULL until it is ready */
    atomic_bool ready;      /* its code is on the device */
    const char **names;     /* of the parameters, for messages */
    atomic_llong programs_per_sm; /* 0: not asked yet */
} Variant;

/* A kernel's variants at one time: a table is replaced, never changed, and stays with its variants until the kernel's
 * end, so that launches read it without a lock. */
typedef struct VariantTable {
    struct VariantTable *older; /* what this one replaced */
    size_t count;
    Variant **closest; /* the same ones, those that assume most first */
    Variant *at[];     /* in the order of fsc_kernel_add_variant */
} VariantTable;

struct fsc_kernel {
    fsc_device *device;
    bool is_object;       /* of an object (object.c): what no variant covers is explained by --variants */
    pthread_mutex_t lock; /* of those that add variants */
    _Atomic(VariantTable *) table; /* NULL: none yet */
};

static inline const VariantTable *kernel_table(const fsc_kernel *k) {
    return atomic_load_explicit(&((fsc_kernel *)(uintptr_t)k)->table, memory_order_acquire);
}

/* Loads the variant's code if that was left for later; once, whoever asks. */
fsc_status variant_ready(Variant *v);
/* blocks per SM × programs per block / blocks per program; 1 on the CPU. */
fsc_status variant_programs_per_sm(Variant *v, int64_t *programs);

/* ---- Numbers among the arguments --------------------------------------------------------------------------------- */

static inline bool arg_is_beyond(const FscArg *a) { /* an integer above INT64_MAX */
    return a->kind == FSC_ARG_UNSIGNED && a->u.natural > INT64_MAX;
}
static inline bool arg_is_int(const FscArg *a) { /* u.integer holds it, of either kind */
    return a->kind == FSC_ARG_INT || (a->kind == FSC_ARG_UNSIGNED && !arg_is_beyond(a));
}
static inline double arg_real(const FscArg *a) { /* of any number */
    return a->kind == FSC_ARG_FLOAT ? a->u.real : arg_is_int(a) ? (double)a->u.integer : (double)a->u.natural;
}
/* "-5", "18446744073709551615", "0.5". Returns out. */
char *arg_print(const FscArg *a, char *out, size_t size);

/* ---- check.c: what a launch checks ------------------------------------------------------------------------------- */

enum { CALL_VALUES = 64, CALL_ARGS = 256, GRID_SLOTS = 3, GRID_YZ_MOST = 65535 };

/* One launch being made. Small calls live on the stack, larger ones in `heap`. */
typedef struct Call {
    fsc_kernel *kernel;
    const VariantTable *table;
    Variant *variant;
    const FscArg *args;
    size_t nargs;
    int64_t grid[3];
    RuleEnv env;
    fsc_status asked;    /* what the driver said when the rule asked for occupancy() */
    RuleBinding *values; /* per parameter of the variant */
    uint64_t *bits;      /* per argument, then the grid: the values as the kernel reads them */
    void **pointers;     /* to bits */
    void *heap;
    RuleBinding small_values[CALL_VALUES];
    uint64_t small_bits[CALL_ARGS + GRID_SLOTS];
    void *small_pointers[CALL_ARGS + GRID_SLOTS];
} Call;

/* Finds the variant, binds, checks everything; `grid` may be NULL. call_end in any case. Where all is well and no
 * watched launch wants them, `env` and `values` stay unset (quick.h). */
fsc_status call_begin(Call *c, fsc_kernel *k, const int64_t *grid, const FscArg *args, size_t nargs);
void call_end(Call *c);
/* A call begun, onto the device. An empty grid launches nothing. */
fsc_status call_launch(Call *c, void *stream);
/* The launch as this grid takes it: `l`, with fewer programs in a block where the grid is small (launch.c). */
/* on a card with so many multiprocessors */
RecordLaunch launch_packed(const RecordLaunch *l, uint64_t programs, uint32_t sms);
RecordLaunch launch_shape(const Call *c, const RecordLaunch *l);
/* blocks that wait for each other: of so many programs only */
bool launch_takes(const RecordLaunch *l, const int64_t grid[3]);
/* From here on the call's values are those of this variant. */
void call_bind(Call *c, Variant *v);
/* Extent and stride (elements) of a dimension of the parameter's shape contract. */
fsc_status call_dim(Call *c, const RecordParam *p, uint32_t dim, int64_t *extent, int64_t *stride);

/* ---- cover.c ----------------------------------------------------------------------------------------------------- */

/* Why no variant of an object takes this call, and which --variants would: a sentence. False:
 * it is nothing of theirs. */
bool cover_explain(Call *c, char *out, size_t size);

#endif
