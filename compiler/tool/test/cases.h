/* cases.h - the cases in a source's comments. */
#ifndef FSC_CASES_H
#define FSC_CASES_H

#include "tool/tool.h"

typedef struct Case {
    uint32_t line;    /* of its "# test" */
    const char *name; /* "" if it has none */
    VEC(char *) words; /* as a shell would give them */
    VEC(fsc_name_value) expects;
} Case;

typedef VEC(Case) Cases;

/* False after saying which line is wrong, and what belongs there. */
bool cases_read(Arena *a, const char *file, const char *text, size_t length, Cases *out);

#endif
