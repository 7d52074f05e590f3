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
    ADVICE_LINES = 8,
    PROFILE_KEY = 16
};

#define ADVICE_CARD "h200" /* whose rates advice takes without --gpu */

/* What of a card is busy, as if alone. */
typedef enum Part {
    PART_MEMORY,
    PART_SECTORS,
    PART_ISSUE,
    PART_SPECIAL,
    PART_SHARED,
    PART_MATRIX,
    PARTS,
    /* of no part: what all wait for; what threads wait for while no part is busy */
    PART_WHOLE = PARTS,
    PART_WAITS
} Part;

extern const char *const part_names[PARTS];

typedef enum AdviceKind {
#define ADVICE(name, ...) ADVICE_##name,
#include "tool/profile/advice.def"
#undef ADVICE
} AdviceKind;

typedef struct Advice {
    AdviceKind kind;
    Part part;                    /* of the card, that has less to do */
    uint32_t lines[ADVICE_LINES]; /* the first of those concerned; none: of the whole */
    uint32_t num_lines;
    double cost, gain, worst; /* seconds: of the part, on all lines; that the launch may gain; on the worst line */
    double left;              /* PART_WAITS: what is still waited for without the cost */
    char text[256];           /* the numbers of the worst line */
} Advice;

/* What a GPU counts, as text beside what was predicted. */
typedef struct MeasuredRow {
    const char *name;
    char predicted[48], measured[48];
} MeasuredRow;

typedef struct Measured {
    const char *device;
    double seconds;
    MeasuredRow rows[8];
    uint32_t num_rows; /* 0: nothing was measured */
} Measured;

typedef struct Profile {
    Job *j;
    fsc_counts counts;
    fsc_line_counts all;                /* the sum of the lines */
    uint64_t elements;                  /* of the largest buffer that the kernel accesses */
    uint64_t least_read, least_written; /* bytes of the buffers that it loads, and stores */
    uint64_t read, written;             /* bytes moved for them */
    uint64_t read_once, written_once;   /* bytes of different sectors, for all buffers */
    bool has_card;
    Prediction card;
    VEC(Remark) remarks;
    Advice advice[MOST_ADVICE]; /* the dearest first */
    size_t num_advice;
    const fsc_props *rates;        /* the card that advice is for */
    double parts[PARTS];           /* seconds on it */
    double least_seconds;          /* the most of them, … */
    const char *binds;             /* … and whose they are */
    Measured measured;
    struct Against *against;       /* NULL: compared with nothing */
} Profile;

/* One line of the source in two profiles; NULL: it is in one of them only. */
typedef struct Change {
    const fsc_line_counts *then, *now;
    const char *text;
    double seconds_then, seconds_now; /* of the part that it keeps busiest */
} Change;

typedef struct Against {
    const Profile *now;
    Profile then; /* counts, lines and parts */
    const char *path, *kernel_then;
    const char **texts; /* of its lines */
    VEC(const char *) found_then; /* names of findings */
    VEC(Change) changes;          /* the greatest first */
} Against;

extern const char *const traffic_names[FSC_TRAFFIC_KINDS];

/* predict.c: compiles the launched variant for --gpu's card, or for ADVICE_CARD. The exit code after printing
 * why not. */
ExitCode predict(Profile *p);
uint64_t special_functions(const fsc_line_counts *l); /* what the special-function unit does, in lanes */
double matrix_per_clock(const fsc_props *card);       /* COUNT_MATRIX_WORK that a multiprocessor does a clock */

/* advise.c: fills in the advice; behind predict, where there is a card. */
void profile_advise(Profile *p);
/* Rates, parts, and what binds, from the counts. */
void profile_weigh(Profile *p, const fsc_props *card);
void profile_line_parts(const Profile *p, const fsc_line_counts *l, double parts[PARTS]);
double profile_line_seconds(const Profile *p, const fsc_line_counts *l); /* of the part that it keeps busiest */

/* against.c: fills in `against`; behind advice. The exit code after printing why not. */
ExitCode profile_compare(Profile *p, const char *path);
bool against_came(const Against *x, size_t advice);    /* this finding was not there then */
bool against_went(const Against *x, uint32_t found);   /* that one is not here now */
void against_text(const Against *x);

/* measure.c: the same call on a GPU; behind advice. */
ExitCode profile_measure(Profile *p, const char *device);
extern const struct AdviceRow {
    const char *name, *title, *why, *mend;
} advice_rows[];

const char *profile_line_text(const Profile *p, uint32_t line); /* "" of line 0; in the call's arena */
const char *profile_key(char out[PROFILE_KEY], fsc_traffic_kind k); /* "shared_load": its member in JSON */

void profile_text(const Profile *p);
void profile_json(Text *out, const Profile *p);
ExitCode profile_page(const Profile *p, const char *path); /* html.c */

#endif
