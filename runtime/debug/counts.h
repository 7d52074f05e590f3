/* counts.h - what the last counted launch of a device did, per source line.
 * Used under the device's turn of launches. */
#ifndef FSC_COUNTS_H
#define FSC_COUNTS_H

#include "runtime/device/code.h"

/* The accesses that went through one site. */
typedef struct Tally {
    fsc_traffic traffic[FSC_TRAFFIC_KINDS];
    uint64_t words_read, words_written; /* between the blocks of a grid */
} Tally;

/* Zeroes the code's counters and forgets the launch before; what follows belongs to the call.
 * Out of memory is a status. */
fsc_status counts_begin(Call *c);
/* Room that a launch adds to: by site, the last of all is of accesses without one; and by parameter of the record. */
Tally *counts_tallies(Counts *n);
size_t counts_num_tallies(const Counts *n);
fsc_param_counts *counts_params(Counts *n);
void traffic_add(fsc_traffic *to, const fsc_traffic *from);
/* After the launch, however it ended: counters and tallies become lines. `shape` NULL: of the CPU.
 * programs: those that began; more than there are stands for all. */
void counts_end(Call *c, const RecordLaunch *shape, uint64_t programs, uint64_t blocks);
void counts_destroy(Counts *n); /* NULL is allowed */

#endif
