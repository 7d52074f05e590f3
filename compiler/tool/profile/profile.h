/* profile.h - one counted launch, as `fsc profile` shows it. */
#ifndef FSC_PROFILE_H
#define FSC_PROFILE_H

#include "runtime/base/hooks.h"
#include "tool/info/needs.h"
#include "tool/run/job.h"

/* What the counts mean for a card. Times are in seconds, and the least that each of its parts would need alone. */
typedef struct Prediction {
    Needs needs;
    uint64_t blocks, waves;
    double last_fill;
    double memory, issue, special;
} Prediction;

typedef struct Profile {
    Job *j;
    FscCounts counts;
    FscLineCounts all;                  /* the sum of the lines */
    uint64_t elements;                  /* of the largest buffer that the kernel accesses */
    uint64_t least_read, least_written; /* bytes of the buffers that it loads, and stores */
    uint64_t read, written;             /* bytes moved for them */
    uint64_t read_once, written_once;   /* bytes of different sectors, for all buffers */
    bool has_card;
    Prediction card;
} Profile;

extern const char *const traffic_names[FSC_TRAFFIC_KINDS];

/* predict.c: compiles the launched variant for --gpu's card. The exit code after printing why not. */
ExitCode predict(Profile *p);
uint64_t special_functions(const FscLineCounts *l); /* what the special-function unit does, in lanes */

void profile_text(const Profile *p);
void profile_json(const Profile *p);

#endif
