/* needs.h - what compiled code takes of a GPU. */
#ifndef FSC_NEEDS_H
#define FSC_NEEDS_H

#include "runtime/record/record.h"
#include "tool/tool.h"

typedef struct Needs {
    fsc_props gpu;
    uint32_t threads, shared;           /* of a block */
    uint32_t registers, registers_high; /* equal unless estimated */
    uint32_t spill_bytes;
    const char *registers_from;
    fsc_residency occupancy;
} Needs;

/* Sets gpu, and the arch of the options unless one was given. False after printing that there is no such card. */
bool needs_gpu(Needs *r, ToolOptions *o);
/* Everything else, for the launch `l` of the compilation. The exit code after printing why not. */
ExitCode needs_find(Needs *r, const ToolOptions *o, const fsc_compilation *c, const RecordLaunch *l);
#endif
