/* jit.h - what the files of the JIT share: the handle, what a launch's arguments say, a variant on disk.
 * Part of libfsc. */
#ifndef FSC_JIT_H
#define FSC_JIT_H

#include "driver.h"
#include "runtime/cache/cache.h"
#include "variant.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct JitVariant {
    char *key; /* Binding.key */
    fsc_kernel *kernel; /* NULL: a thread is making it */
} JitVariant;

struct fsc_jit {
    pthread_mutex_t lock; /* of the variants, counts, messages and log;
                           * the rest does not change once the handle is there */
    pthread_cond_t made;  /* a variant, or the making of it has failed */
    fsc_device *device;
    fsc_props props;
    fsc_props card; /* what variants are made for: props, with the arch of the card that an emulator stands for */
    char *source, *file;
    size_t length;
    fsc_compile_options options;
    fsc_compilation *front; /* the parsed file: owns what the interface's compile needed; NULL: it came from disk */
    Record *interface;
    JitVariant *variants;
    size_t num_variants, cap;
    _Atomic(fsc_kernel *) all; /* every variant in one handle: what launches read without the lock; NULL: none yet */
    _Atomic(struct Variant *) last; /* of `all`: what the last launch found */
    bool is_steady; /* nothing but types, alignment, ranges and constexpr values specialises (jit/quick.c) */
    Specialiser specialiser;
    const char **given; /* per parameter: what the options say */
    Cache cache;  /* closed: none */
    Digest basis; /* of the key on disk: all that does not change from variant to variant */
    fsc_variant_counts counts;
    struct JitMessage *messages; /* one a thread that a call has failed in */
    Text log;
    RuleBinding *fixed;  /* per parameter: constexpr values that no launch changes (jit/call.c) */
    fsc_param *shown;    /* per parameter; NULL: nobody has asked */
    Record *accesses;    /* of a variant for this machine; NULL: not compiled, or it does not */
    Text no_accesses;    /* why it does not */
    Arena *arena;        /* of what is shown; NULL: nothing */
    bool is_usable;      /* made without an error */
};

/* The calling thread's message of the handle, and its last one; returns s. Takes the lock, as does the next. */
fsc_status jit_fail(fsc_jit *j, fsc_status s, const char *text);
/* FSC_ERROR_USAGE for NULL, and for what a failed create or open left. */
fsc_status jit_check(const fsc_jit *j, const char *call);
/* The same, and for arguments that are NULL though there are some. */
fsc_status jit_check_arguments(fsc_jit *j, const char *call, const void *args, size_t nargs);
/* counts one more (NULL: nothing), adds the text to the log */
void jit_note(fsc_jit *j, uint32_t *counter, const char *text);

/* ---- jit/bind.c: from arguments to a variant --------------------------------------------------------------------- */

enum { JIT_PARAMS = 256 };

/* What one launch says about every parameter of the interface. */
typedef struct Binding {
    Specialisation special; /* of what follows */
    RuleBinding values[JIT_PARAMS];
    SpecFact facts[JIT_PARAMS];
    bool checked; /* the CPU's code asks before each access */
    bool counted; /* code counts what each line does: not kept on disk */
    bool recorded; /* code tells what each op makes: likewise */
    bool without_maps; /* those of the code that may have some cannot be made of these arguments */
    Text key;     /* all that specialises, as text; never empty */
    Arena *arena;
} Binding;

bool jit_bind_open(fsc_jit *j); /* false: out of memory */
/* grid: an explicit one; NULL: the launch rule's. */
fsc_status jit_bind(fsc_jit *j, Binding *b, const int64_t *grid, const fsc_arg *args, size_t nargs);
/* The compile of this variant: the caller's own choices first, then what the arguments say. */
fsc_compile_options jit_options(const fsc_jit *j, const Binding *b);

/* ---- jit/quick.c: launches of variants that are there ------------------------------------------------------------ */

void jit_quick_open(fsc_jit *j);
void jit_quick_add(fsc_jit *j, fsc_kernel *kernel); /* of one variant */
/* Launches, if the very variant that these arguments call for is there and all is well; false: the long way. */
bool jit_quick_launch(fsc_jit *j, const int64_t *grid, const fsc_arg *args, size_t nargs, void *stream, fsc_status *s);

/* ---- jit/call.c: launches of arrays ------------------------------------------------------------------------------ */

bool jit_call_open(fsc_jit *j); /* false: out of memory */

/* ---- jit/load.c: code onto the device ---------------------------------------------------------------------------- */

/* Of a compile. On success host code owns c, else the caller still does. */
fsc_status jit_load(fsc_jit *j, const Binding *b, fsc_compilation *c, fsc_module **module);
/* Of an entry of the cache. */
fsc_status jit_load_entry(fsc_jit *j, const Binding *b, const CacheEntry *e, fsc_module **module);
/* CPU and emulator: entry, scratch and sites as the text that jit_load_entry reads. */
bool jit_describe_host(const fsc_compilation *c, Text *out);

/* ---- jit/disk.c: variants on disk -------------------------------------------------------------------------------- */

/* Opens the folder, unless the options want none, and sums up what every key has in common. */
void disk_open(fsc_jit *j);
/* The kernel's interface, where the file is so long that reading it takes longer than an entry; NULL: none.
 * The caller frees. */
Record *disk_interface(fsc_jit *j);
void disk_keep_interface(fsc_jit *j);
/* The variant from disk, without a compile; *out stays as it is where there is none that loads. */
void disk_find(fsc_jit *j, const Binding *b, fsc_kernel **out);
void disk_keep(fsc_jit *j, const Binding *b, const fsc_compilation *c, fsc_kernel *kernel);

#endif
