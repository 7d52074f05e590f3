/* checks.h - what checked launches share on devices "emu" and "cpu": the buffers that a launch may touch, and the list
 * of what was found. Used from all host threads of a launch at once; the functions lock where they must.
 */
#ifndef FSC_CHECKS_H
#define FSC_CHECKS_H

#include "runtime/device/code.h"

typedef enum FindingKind {
#define FINDING(e, name, meaning, advice) FINDING_##e,
#include "runtime/debug/findings.def"
#undef FINDING
    FINDING_COUNT
} FindingKind;

/* ---- finding.c --------------------------------------------------------------------------------------------------- */

/* Where something was found. */
typedef struct Spot {
    int32_t site;         /* index into the module's sites, -1: none */
    int32_t other_site;   /* of the access it conflicts with, -1: none */
    int64_t program[3];
    int64_t thread;       /* within the block; -1 on the CPU, or where none is meant */
    uint64_t address;     /* of global memory; byte offset in shared memory; 0 where none is meant */
} Spot;

enum { FINDINGS_KEPT = 64 };

Findings *findings_create(void); /* NULL: out of memory */
void findings_destroy(Findings *f);
/* Forgets everything; what follows belongs to `module` (its sites) and its kernel `kernel`. */
void findings_reset(Findings *f, const fsc_module *module, const char *kernel);
/* One more: those of the same kind at the same pair of sites count as one. The text says what happened, as a sentence
 * without place, program or thread, and with `other_site` ends so that the place of the other can follow. */
void finding_add(Findings *f, FindingKind kind, const Spot *spot, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* After the launch: puts them in order. FSC_ERROR_CHECK (FSC_ERROR_ASSERT where one is an
 * assertion) with all of them as the message, FSC_OK if there are none. */
fsc_status findings_status(fsc_device *d);
size_t findings_count(const Findings *f);
void findings_at(const Findings *f, size_t i, fsc_finding *out);

/* ---- debug.c: what kernels print --------------------------------------------------------------------------------- */

/* The lines of a launch, from all of its host threads. They go to standard output when it ends: program after program,
 * each one's prints in the order of the source, and its elements in theirs. */
typedef struct DebugLog DebugLog;

typedef struct DebugLine {
    const int64_t *program;
    uint64_t print;   /* which one of the program's, counted as it runs; 0 where lines come in order */
    uint64_t element;
    uint64_t shape;   /* as hooks.h packs it */
    const char *text, *format;
    uint64_t value;
} DebugLine;

DebugLog *debug_create(const int64_t grid[3]); /* NULL: out of memory */
void debug_add(DebugLog *log, const DebugLine *line);
void debug_end(DebugLog *log); /* writes and frees; NULL is allowed */
/* FINDING_ASSERT at the spot. */
void debug_assertion(Findings *f, const Spot *spot, uint64_t shape, uint64_t element, const char *text);

/* ---- region.c ---------------------------------------------------------------------------------------------------- */

/* One buffer of a launch, or several that overlap. */
typedef struct Region {
    uint64_t begin, end; /* addresses */
    int32_t param;       /* index into Record.params of the first pointer to its beginning */
} Region;

typedef struct Regions {
    const Record *record;
    Region *at; /* by address, disjoint */
    uint32_t n;
} Regions;

/* The buffers of the call: its pointers with their bytes. FSC_ERROR_ARGUMENT: a pointer whose size nobody knows. */
fsc_status regions_create(const Call *c, Regions *out);
void regions_destroy(Regions *r);
/* The region that holds all of the bytes, or NULL. */
const Region *region_find(const Regions *r, uint64_t address, uint64_t bytes);
/* "writes 8 bytes at y[200], beyond the end of y (200 elements of fp32, from 0x… on)". */
void region_explain(const Regions *r, uint64_t address, uint32_t bytes, bool is_store, char *out, size_t size);

#endif
