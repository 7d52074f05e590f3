/* told.c - which line of a tuning file a launch takes, and why none, as a sentence for people.
 *
 * In: a record, what is known of the arguments. Out: "softmax.tune:4"; or why it is none.
 */
#include "tool/run/told.h"

#include <stdlib.h>

const char *tuned_told(Arena *a, const Record *r, const RuleEnv *env) {
    int64_t line = 0;
    char why[128];
    if (!r->tuned_line) return NULL;
    RuleStatus s = rule_eval_int(r->tuned_line, env, &line, why, sizeof why);
    if (s == RULE_UNBOUND) return arena_printf(a, "%s decides once %s is known", r->tuned_file, why);
    if (s != RULE_OK) return arena_printf(a, "%s: %s", r->tuned_file, why);
    if (line > 0) return arena_printf(a, "%s:%lld", r->tuned_file, (long long)line);
    if (line == 0) return arena_printf(a, "no line of %s holds here", r->tuned_file);
    if (line == atoi(RECORD_TUNED_OPTIONS)) return arena_printf(a, "by options, not by %s", r->tuned_file);
    return arena_printf(a, "%s has nothing for this target", r->tuned_file);
}
