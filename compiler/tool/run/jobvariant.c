/* jobvariant.c - the options under which a compile gives the variant that the job's launch has on a card.
 *
 * In: a job, a card. Out: the options of that compile, the arguments being the job's own.
 */
#include "tool/run/job.h"
#include "variant.h"

bool job_variant_options(const Job *j, const fsc_props *card, fsc_compile_options *o) {
    const Record *r = fsc_jit_interface(j->jit);
    Arena *a = j->o->arena;
    Specialisation made = {.values = NEW_ARRAY(a, RuleBinding, r->num_params),
                           .facts = NEW_ARRAY(a, SpecFact, r->num_params)};
    Specialiser s;
    char why[384];
    const SpecGiven given = variant_given(o, r, NEW_ARRAY(a, const char *, r->num_params));
    if (!specialiser_open(&s, r, card, &given)) bug("out of memory for the variant of %s", r->kernel);
    bool ok = specialise(&s, j->has_grid ? j->grid : NULL, j->args, &made, why, sizeof why);
    if (ok)
        *o = variant_options(a, o, r, card, &made);
    else
        fprintf(stderr, "%s: on %s: %s\n", tool_name, card->name, why);
    specialiser_close(&s);
    return ok;
}
