/* package.h - kernels with all that a program needs to launch them: every variant compiled, as an object or as C.
 *
 * package.c compiles, package_c.c writes C and headers, variants.c reads --variants,
 * launches.c says what variants there are.
 */
#ifndef FSC_PACKAGE_H
#define FSC_PACKAGE_H

#include "driver.h"
#include "tool/tool.h"
#include "variant.h"

/* PTX on its way to a cubin. */
typedef struct Assembly {
    const char *arch;
    Bytes ptx;
    uint32_t kernel, variant; /* whose code it becomes */
    Assembled made;           /* owned */
    bool done;
} Assembly;

typedef struct PackageKernel {
    const char *name;     /* of the kernel */
    const char *function; /* of the C function: the same, or with a "_" where C or C++ have the name */
    const char *symbol;   /* of the table */
    Record *interface;    /* owned */
    Record *record;       /* of the first variant; owned */
    bool *writes;         /* per parameter: a variant may store through it */
    VEC(ObjectVariant) variants; /* GPUs' first */
} PackageKernel;

typedef struct PackageJob {
    ToolOptions *o;
    VEC(PackageKernel) kernels;
    VEC(const char *) archs; /* of GPUs, each once, oldest first */
    VEC(Assembly) assemblies;
    bool cpu;
    VEC(const char *) cpus; /* what the CPU's code is for, one version each; NULL: this processor */
    const char *source; /* the text */
    size_t length;
    VEC(const char *) said; /* diagnostics that were printed: variants would repeat them */
} PackageJob;

/* ---- variants.c -------------------------------------------------------------------------------------------------- */

/* One constexpr parameter with its values. */
typedef struct VariantAxis {
    const char *name;
    VEC(const char *) values;
} VariantAxis;

/* From NAME=LO..HI (each power of two in that range) or NAME=A,B. False after printing why not. */
bool variant_axis_parse(Arena *a, const char *text, VariantAxis *out);
const RecordParam *variant_axis_param(const VariantAxis *axis, const Record *interface); /* NULL: the kernel has none */
/* Whether the kernel's launch rule can choose between the values. False after printing why not. */
bool variant_axis_check(const VariantAxis *axis, const RecordParam *p, const char *kernel);

/* ---- launches.c -------------------------------------------------------------------------------------------------- */

/* What a variant takes for granted; the number is the same for every arch, and below LAUNCHES. */
typedef struct PackageLaunch {
    Specialisation special;
    uint64_t number;
} PackageLaunch;

typedef VEC(PackageLaunch) PackageLaunches;

enum { LAUNCHES = 1 << 12 };

/* Of a GPU's arch; the last takes nothing for granted. `card` is set to what they were made for, sms 0:
 * no card is known. */
PackageLaunches package_launches(Arena *a, const fsc_compile_options *o, const Record *interface, const char *arch,
                                 fsc_props *card);

/* ---- assemble.c -------------------------------------------------------------------------------------------------- */

void assemble_all(Assembly *at, uint32_t count, int opt_level);

/* ---- package_c.c ------------------------------------------------------------------------------------------------- */

void package_header(const PackageJob *j, Text *out);
void package_c(const PackageJob *j, Text *out);
/* The name, or with "_" behind it where it is a word of C or C++, or the C library has it. */
const char *package_function(Arena *a, const char *name);
ObjectParam package_param(const RecordParam *p); /* how it is passed */

#endif
