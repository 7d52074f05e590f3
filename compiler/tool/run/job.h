/* job.h - one kernel with its arguments on a device, ready to be launched and timed. */
#ifndef FSC_JOB_H
#define FSC_JOB_H

#include "tool/run/bind.h"
#include "tool/run/flush.h"

typedef struct Job {
    ToolOptions *o;
    Bounds bounds;
    fsc_device *device;
    fsc_props props;
    fsc_jit *front; /* the file as its options alone have it: the interface that words are bound to */
    fsc_jit *jit;   /* with the constexpr parameters and types that words fixed */
    fsc_arg *args;
    void **buffers; /* device memory, one per parameter of the interface, NULL for scalars */
    uint32_t nargs;
    int64_t grid[3];
    bool has_grid;
    const char *text; /* of the file */
    size_t length;
    const Bounds *like; /* NULL, or what another job was given: arrays of the same name take it */
} Job;

/* Compiles the text, binds the words of the options, sends arrays to the device. Wants o, device, props, text and
 * length; what else is in *j is zero. The exit code after printing why not; job_free in any case. */
ExitCode job_make(Job *j);
/* The two halves of it: all but j->jit, which may be several; then, with j->jit, the grid. */
ExitCode job_open(Job *j);
ExitCode job_grid(Job *j);
fsc_status job_launch(Job *j);
/* Parameter i's buffer back to the host, where one that is compared keeps what it was given. */
ExitCode job_fetch(Job *j, uint32_t i);
/* Launches warmup times, and repeat times for as many milliseconds, which come back in order, fastest first.
 * flush: NULL for none before each. */
fsc_status job_time(Job *j, uint32_t warmup, uint32_t repeat, const Flush *flush, double *times);
uint64_t job_bytes(const Job *j); /* of each buffer, read once and written once, as the kernel does */
/* Prints text of a source, which a terminal must not take for its own commands. */
void job_show(FILE *f, const char *text, size_t n);
/* Prints why a launch failed, findings and their places among it. */
ExitCode job_fail(const Job *j, fsc_status s);
/* What the compiles had to say besides errors: dumps and warnings; the times only if asked for. */
void job_print_log(const Job *j);
/* jobvariant.c: changes o, a copy of the job's options, so that a compile gives the very variant that the job's launch
 * has on this card, which is borrowed. False after printing why there is none. */
bool job_variant_options(const Job *j, const fsc_props *card, fsc_compile_options *o);
/* coverage.c: of the last launch, on a device that counts: the source; as one more field of an object in JSON. */
void coverage_text(const Job *j);
void coverage_json(const fsc_counts *c);
void job_free(Job *j); /* all but the device */

/* Prints the message of a failed call of the library. */
ExitCode tool_fail(fsc_status s, const char *message);

#endif
