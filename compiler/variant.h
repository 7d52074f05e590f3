/* variant.h - a specialisation (runtime/record/specialise.h) as the options of a compile,
 * and what options say as its input. */
#ifndef FSC_VARIANT_H
#define FSC_VARIANT_H

#include "base/base.h"
#include "fsc.h"
#include "runtime/record/specialise.h"

/* What the options say of the interface's parameters; values are by parameter, and the caller's room. */
SpecGiven variant_given(const fsc_compile_options *o, const Record *interface, const char **values);
/* The compile of the variant: the options' own choices first, then what the launch says. `device` is borrowed. */
fsc_compile_options variant_options(Arena *a, const fsc_compile_options *o, const Record *interface,
                                    const fsc_props *device, const Specialisation *s);
/* What specialises, as text that no other variant has; never empty. */
void variant_key(const Record *interface, const fsc_props *device, const Specialisation *s, Text *out);

#endif
