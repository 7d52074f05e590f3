/* told.h - which line of a tuning file a launch takes. */
#ifndef FSC_TOLD_H
#define FSC_TOLD_H

#include "base/base.h"
#include "runtime/record/record.h"

/* NULL: there is no such file. */
const char *tuned_told(Arena *a, const Record *r, const RuleEnv *env);

#endif
