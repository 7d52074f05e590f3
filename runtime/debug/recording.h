/* recording.h - what a recorded launch on emulated threads has done: of some programs every op, value and exchange, of
 * the others how far their accesses reach. `fsc viz` draws it.
 *
 * The owner sets what is wanted, hands it to the device before the code is compiled, and reads it after the launch.
 * Each program's part is written by the one host thread that runs it.
 */
#ifndef FSC_RECORDING_H
#define FSC_RECORDING_H

#include "runtime/device/code.h"

typedef enum RecordedKind {
    RECORDED_STEP,   /* `what`: the op's number */
    RECORDED_VALUE,  /* `what`: the value's number; address: the register (NO_REGISTER: of a scalar,
                      * the first thread's) */
    RECORDED_LOAD, RECORDED_STORE, RECORDED_ATOMIC,  /* of global memory; what: index of the pointer parameter,
                                                      * -1: none */
    RECORDED_SHARED_LOAD, RECORDED_SHARED_STORE,     /* address: byte offset */
    RECORDED_SHARED_COPY,                            /* what a copy brought, at the wait; what: as of LOAD */
    RECORDED_CLUSTER_STORE,                          /* what: the block */
    RECORDED_WORD_STORE, RECORDED_WORD_LOAD,         /* between the blocks of a grid; address: from the program's
                                                      * first word; what: the
                                                      * round; data: the value, and the round above it */
    RECORDED_SHUFFLE_XOR, RECORDED_SHUFFLE_LANE,     /* what: the mask, the lane; data: what the lane shows */
    RECORDED_BARRIER,                                /* what: 0 of the warp, 1 of the block, 2 of the cluster */
} RecordedKind;

typedef struct RecordedEvent {
    uint32_t step;   /* how many ops its thread has begun, from 1; 0: none yet */
    uint32_t thread; /* within the program */
    uint8_t kind;    /* RecordedKind */
    uint8_t bytes;   /* of an access: in all */
    bool is_active;  /* of an access: its predicate */
    int32_t what;
    uint64_t address; /* of global memory: bytes from the buffer's beginning where there is one */
    uint64_t data[2]; /* value; words of an access to shared memory, lowest first */
} RecordedEvent;

/* Of one program. */
typedef struct RecordedProgram {
    int64_t at[3]; /* program_id; wanted; below zero: from the grid's end, until the launch */
    bool has_run;
    uint32_t threads;
    RecordedEvent *events; /* in the order in which they happened; owned */
    size_t n, cap;
    uint64_t values; /* registers told, beyond the limit as well */
} RecordedProgram;

/* Bytes of one buffer that one program loads or stores: from first up to end; 0, 0: none. */
typedef struct RecordedExtent {
    uint64_t first, end, bytes;
} RecordedExtent;

enum { RECORDED_OUTLINES = 4096 }; /* programs at most */

typedef struct Recording {
    RecordedProgram *programs; /* wanted: at */
    uint32_t num_programs;
    uint64_t limit; /* of values, of each program: no more events are kept then */
    /* By program (x first) and parameter of the record: loads, then stores. Owned. */
    RecordedExtent *extents;
    uint32_t num_params;
    uint64_t num_outlines;
    uint64_t grid[3];
    const Record *record;      /* of the variant that ran; with the module */
    const RecordLaunch *shape; /* during the launch only */
    void *owner;               /* fsc_host_code.owner of its code */
} Recording;

/* Launches from here on are recorded there (NULL: no more);
 * kernels that the JIT loads after the call tell what they make. Device "emu" only. */
void device_record(fsc_device *d, Recording *r);
bool device_records(const fsc_device *d);
void recording_free(Recording *r); /* what it owns */

#endif
