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
    double memory, issue, special, matrix;
} Prediction;

/* What a compile with -Rperf says of the variant. */
typedef struct Remark {
    const char *code, *text; /* "R0107"; … */
    uint32_t line;
} Remark;

enum {
    SCHEDULERS = 4,         /* of a multiprocessor, each issues an instruction of a warp per clock */
    SPECIAL_PER_CLOCK = 16, /* results of the special-function units of a multiprocessor */
    MOST_ADVICE = 24,
    ADVICE_LINES = 8
};

#define ADVICE_CARD "h200" /* whose rates advice takes without --gpu */

typedef enum AdviceKind {
#define ADVICE(name, ...) ADVICE_##name,
#include "tool/profile/advice.def"
#undef ADVICE
} AdviceKind;

typedef struct Advice {
    AdviceKind kind;
    uint32_t part;                /* of the card, that has less to do: advise.c */
    uint32_t lines[ADVICE_LINES]; /* the first of those concerned; none: of the whole */
    uint32_t num_lines;
    double cost, gain, worst; /* seconds: of the part, on all lines; that the launch may gain; on the worst line */
    char text[256];           /* the numbers of the worst line */
} Advice;

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
    VEC(Remark) remarks;
    Advice advice[MOST_ADVICE]; /* the dearest first */
    size_t num_advice;
    const char *advice_card, *binds; /* whose rates; what the launch waits for at least: least_seconds */
    double least_seconds;
} Profile;

extern const char *const traffic_names[FSC_TRAFFIC_KINDS];

/* predict.c: compiles the launched variant for --gpu's card, or for ADVICE_CARD. The exit code after printing
 * why not. */
ExitCode predict(Profile *p);
uint64_t special_functions(const FscLineCounts *l); /* what the special-function unit does, in lanes */
double matrix_per_clock(const FscDeviceProps *card); /* COUNT_MATRIX_WORK that a multiprocessor does a clock */

/* advise.c: fills in the advice; behind predict, where there is a card. */
void profile_advise(Profile *p);
extern const struct AdviceRow {
    const char *name, *title, *why, *mend;
} advice_rows[];

void profile_text(const Profile *p);
void profile_json(const Profile *p);

#endif
