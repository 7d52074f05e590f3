/* code.h - code on a device: modules, variants, kernels, and the call that a launch is. Nothing here is public. */
#ifndef FSC_CODE_H
#define FSC_CODE_H

#include "runtime/base/arch.h"
#include "runtime/base/arg.h"
#include "runtime/device/device.h"
#include "runtime/record/specialise.h"

/* ---- module.c ---------------------------------------------------------------------------------------------------- */

struct fsc_module {
    fsc_device *device;
    atomic_uint users;
    Record **records; /* one a kernel */
    size_t num_records;
    void *own; /* of the device's kind: the loaded image */
    const void *image; /* still to be loaded: borrowed; NULL: loaded, or of the host */
    size_t image_size;
    fsc_host_code code;     /* CPU and emulator; else zero */
    bool maps;              /* of the JIT: compiled for launches that may read tensor maps (SpecLaunch.maps) */
    atomic_uint program_ns; /* CPU: what a program took in the last grid; 0: not known */
};

void module_share(fsc_module *m);
void module_release(fsc_module *m);
/* As fsc_module_load, in two steps: the records are read and checked now, the driver gets the image with the second
 * call. The image stays the caller's and must be there until then. The second under the device's lock `loading`. */
fsc_status module_load_later(fsc_device *d, const void *image, size_t size, fsc_module **out);
fsc_status module_load_now(fsc_module *m);
bool module_is_loaded(const fsc_module *m);
/* fsc_module_load of an image of one kernel, with its record's text beside it instead of searched in it. */
fsc_status module_load_known(fsc_device *d, const void *image, size_t size, const char *record, size_t length,
                             fsc_module **out);
typedef enum ImageKind { IMAGE_TEXT, IMAGE_ELF, IMAGE_FATBIN, IMAGE_UNKNOWN } ImageKind;

ImageKind image_kind(const void *image, size_t size);
/* sm_90a → 90, 'a'. False for "cpu" and the like. */
bool arch_read(const char *arch, unsigned *number, char *suffix);
/* Code for a card of this arch, or for that very card: sm_90 or sm_90a of sm_90. */
bool arch_is_of(const char *arch, const char *card);
/* PTX runs on its arch and newer ones, machine code on its major version from its minor on, 'a' on its very arch. */
bool arch_fits(const char *target, const char *device, bool is_text);

/* ---- residency.c ------------------------------------------------------------------------------------------------- */

/* How many blocks on a multiprocessor the assembler is worth asking for, where its code has so many registers; 0: it is
 * not. */
uint32_t residency_wanted(const fsc_props *p, const RecordLaunch *l, uint32_t registers);
/* Is the answer to be kept that so many blocks were asked for? Bytes that a thread spills. */
bool residency_pays(uint32_t blocks, uint32_t spilled_before, uint32_t spilled);
/* The PTX with that question: malloc'd, a NUL behind it. NULL: it bounds no kernel's threads, or no memory. */
char *residency_ask(const char *ptx, size_t n, uint32_t blocks, size_t *length);

/* ---- map.c: tensor maps, which the entries of some variants take ------------------------------------------------- */

/* What a map of a call says beside its box, which the record has; zeros beyond its dimensions. */
struct MapSizes {
    uint64_t base;                 /* address */
    int64_t extents[RECORD_BOXES]; /* elements, the fastest dimension first */
    int64_t strides[RECORD_BOXES]; /* elements; from map_fits on bytes; of the fastest one element */
};

/* What the device reads: of its own kind. */
struct TensorMap {
    _Alignas(64) unsigned char bytes[128];
};

typedef struct VariantMap VariantMap;

/* ---- kernel.c ---------------------------------------------------------------------------------------------------- */

typedef struct Quick Quick; /* quick.h */

struct Variant {
    fsc_module *module;
    const Record *record;
    Slot *slots; /* in the order of the call */
    uint32_t num_slots;
    uint32_t assumptions;   /* how many of its parameters are assumed divisible or 1, or have a map:
                             * which variant is the closest */
    RuleBinding *constants; /* per parameter: names, and the values of constexprs */
    Quick *quick;           /* NULL: launches take the long way */
    VariantMap *maps;       /* of the record; NULL: it has none */
    void *functions;        /* of the device's kind: what its launches call; NULL until it is ready;
                             * freed with the variant */
    atomic_bool ready;      /* its code is on the device */
    const char **names;     /* of the parameters, for messages */
    atomic_llong programs_per_sm; /* 0: not asked yet */
};

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

/* "-5", "18446744073709551615", "0.5". Returns out. */
char *arg_print(const fsc_arg *a, char *out, size_t size);

/* ---- check.c: what a launch checks ------------------------------------------------------------------------------- */

enum { CALL_VALUES = 64, CALL_ARGS = 256, GRID_SLOTS = 3, GRID_YZ_MOST = 65535 };

/* One launch being made. Small calls live on the stack, larger ones in `heap`. */
struct Call {
    fsc_kernel *kernel;
    const VariantTable *table;
    Variant *variant;
    const fsc_arg *args;
    size_t nargs;
    int64_t grid[3];
    RuleEnv env;
    fsc_status asked;    /* what the driver said when the rule asked for occupancy() */
    RuleBinding *values; /* per parameter of the variant */
    uint64_t *bits;      /* per argument, then the grid: the values as the kernel reads them */
    void **pointers;     /* to bits, and between arguments and grid to maps */
    void *heap;
    RuleBinding small_values[CALL_VALUES];
    uint64_t small_bits[CALL_ARGS + GRID_SLOTS];
    void *small_pointers[CALL_ARGS + RECORD_MAPS + GRID_SLOTS];
    MapSizes sizes[RECORD_MAPS]; /* of the variant's maps; set where it fits */
    TensorMap maps[RECORD_MAPS];
};

/* Finds the variant, binds, checks everything; `grid` may be NULL. call_end in any case. Where all is well and no
 * watched launch wants them, `env` and `values` stay unset (quick.h). */
fsc_status call_begin(Call *c, fsc_kernel *k, const int64_t *grid, const fsc_arg *args, size_t nargs);
void call_end(Call *c);
/* A call begun, onto the device. An empty grid launches nothing. */
fsc_status call_launch(Call *c, void *stream);
/* From here on the call's values are those of this variant. */
void call_bind(Call *c, Variant *v);
/* Extent and stride (elements) of a dimension of the parameter's shape contract. */
fsc_status call_dim(Call *c, const RecordParam *p, uint32_t dim, int64_t *extent, int64_t *stride);

/* map.c. False: out of memory. */
bool variant_add_maps(Variant *v);
void variant_free_maps(Variant *v);
/* The sizes of this map of the call's variant, with the base alone: extents and strides are to be set. */
MapSizes *map_begin(Call *c, const Variant *v, uint32_t map);
/* Whether the device can make the map of these sizes. Else a sentence in `why`, unless it is NULL. */
bool map_fits(const Variant *v, uint32_t map, MapSizes *s, char *why, size_t size);
/* Whether the maps of the kernel's first variant can be made of these arguments, if it has any (check.c). */
bool kernel_maps_fit(fsc_kernel *k, const fsc_arg *args, size_t nargs);
/* The maps behind the arguments; the device is entered. */
fsc_status call_append_maps(Call *c);

/* ---- shape.c: what the launches of all devices with blocks share ------------------------------------------------- */

enum { WARP = ARCH_WARP, LARGEST_CLUSTER = ARCH_CLUSTER_90 };

/* The launch as this grid takes it: `l`, with fewer programs in a block where the grid is small (launch.c). */
/* on a card with so many multiprocessors */
RecordLaunch launch_packed(const RecordLaunch *l, uint64_t programs, uint32_t sms);
RecordLaunch launch_shape(const Call *c, const RecordLaunch *l);
/* blocks that wait for each other: of so many programs only */
bool launch_takes(const RecordLaunch *l, const int64_t grid[3]);
/* Blocks along x for the programs of the call's grid, or why there are none. */
fsc_status launch_blocks(const Call *c, const RecordLaunch *l, uint32_t *blocks);
/* The grid behind the arguments and maps, or the launch's number, as the entries of `launch_shape` take them. */
void call_append_grid(Call *c);
/* Whether the device can run this variant, this launch of it, at all. */
fsc_status variant_check(const Variant *v);
fsc_status launch_fits(const Variant *v, const RecordLaunch *l);
/* "; softmax.dsl:9 takes most of it": the line that a need comes from, if the record has it. Returns out. */
const char *variant_line(const Variant *v, uint32_t line, const char *does, char *out, size_t size);

/* ---- cover.c ----------------------------------------------------------------------------------------------------- */

/* Why no variant of an object takes this call, and which --variants would: a sentence. False:
 * it is nothing of theirs. */
bool cover_explain(Call *c, char *out, size_t size);

#endif
