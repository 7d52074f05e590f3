/* viz.h - recorded launches as facts for the page of `fsc viz` (docs/how-to/viz.md, "The facts"). */
#ifndef FSC_VIZ_H
#define FSC_VIZ_H

#include "driver.h"
#include "runtime/base/hooks.h"
#include "runtime/debug/recording.h"
#include "tool/run/job.h"

typedef struct VizRun {
    Job *j;
    const fsc_props *card; /* whose launch it is */
    const Recording *recording;
    const fsc_compilation *code; /* of the variant that ran: its tile IR, with layouts */
    const char *label;
} VizRun;

/* viz/code.c: one object: tile IR with lines, layouts and values; PTX of the same variant for --arch. */
void viz_code(Text *out, const VizRun *r);

/* viz/run.c: one object: parameters, grid, programs step by step, outlines, faults. `code`: the index of its code. */
void viz_run(Text *out, const VizRun *r, uint32_t code);

/* viz/steps.c: the list of its recorded programs. */
void viz_programs(Text *out, const VizRun *r);

/* viz/json.c: pieces of JSON. */
void json_string(Text *out, const char *s,
                 size_t n);               /* quoted; no '<' in it, so that it may stand in a page's script */
void json_word(Text *out, const char *s); /* likewise, up to the NUL */
void json_bytes(Text *out, const void *data, size_t n); /* base64, quoted */
void json_offsets(Text *out, int64_t *at, size_t n); /* as 32 bits where all fit, else as doubles; overwrites them */
/* How elements of a type are packed in the facts: a typed array of JavaScript. */
typedef enum VizPack { VIZ_U8, VIZ_I32, VIZ_F32, VIZ_F64 } VizPack;
VizPack viz_pack(DType d);
size_t viz_pack_bytes(VizPack p);
void viz_put(void *array, size_t index, DType d, int64_t bits); /* of a value of that type, into an array of its pack */

#endif
