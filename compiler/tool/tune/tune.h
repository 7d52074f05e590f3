/* tune.h - `fsc tune`: the configurations that are tried, how one point is measured, the file that comes of it. */
#ifndef FSC_TUNE_H
#define FSC_TUNE_H

#include "tool/run/sweep.h"

/* What a launch may be told. */
typedef struct Candidate {
    VEC(fsc_name_value) defines;
    uint32_t compiled[3]; /* num_warps, num_stages, num_ctas; 0: not said */
    const char *text;     /* "BLOCK=512 num_warps=4"; "": the kernel as it is by itself */
} Candidate;

typedef VEC(Candidate) Candidates;

/* The file, as its own section's rows and what is around them. */
typedef struct Table {
    const char *path, *head; /* head: the section's line, "kernel softmax on cpu 2" */
    const char *before, *after;
    char asked[17]; /* sums up the source and what is tried: rows of another sum are measured anew */
    VEC(const char *) rows;
} Table;

typedef struct Tune {
    ToolOptions *o;
    Sweep sweep;
    const char *text, *kernel;
    size_t length;
    fsc_device *device;
    fsc_props props;
    Flush flush;
    Candidates candidates;
    Names key;
    Table table;
    uint32_t done, points;
} Tune;

/* candidates.c: those of @autotune, times what the options name. Prints why there is nothing to try. */
ExitCode candidates_find(Tune *u);
/* Names of the key of @autotune. */
ExitCode candidates_key(Tune *u);

/* measure.c: what one point's launches took. */
typedef struct Verdict {
    const Candidate *best, *next; /* best NULL: stopped before there was one; next NULL: no other ran */
    double ms, next_ms, first_ms; /* medians; of the first candidate, 0: it does not run */
    uint32_t slower, rounds;      /* rounds in which next was slower */
    bool is_tie;                  /* the difference is no more than noise */
} Verdict;

/* The base has its arguments on the device. Prints what was left out, and why; EXIT_INPUT where nothing runs. */
ExitCode point_measure(const Tune *u, Job *base, const char *point, Verdict *out);
/* One line that the next takes the place of, where somebody watches. */
void progress(const Tune *u, const char *point, const char *what);

/* table.c */
ExitCode table_read(Tune *u);
bool table_has(const Table *t, const char *point);
/* Puts the row there, and writes the file. */
ExitCode table_put(Tune *u, const char *point, const Verdict *v);

#endif
