/* specialise.h - what a launch specialises code by. Not public.
 *
 * The one answer for all who compile or choose a variant: the JIT and its short way, `fsc info`, `fsc profile`, `fsc
 * viz`, and objects, whose variants are those of representative launches. In: a kernel's interface, a device, what
 * options say already; then arguments, or what is known of them. Out: of each parameter its value and what code takes
 * for granted.
 */
#ifndef FSC_SPECIALISE_H
#define FSC_SPECIALISE_H

#include "runtime/fsc_runtime.h"
#include "runtime/record/bucket.h"
#include "runtime/record/record.h"

enum {
    SPEC_ALIGNED = 16, /* bytes, of a pointer */
    SPEC_GROUPS = 8,   /* of arrays and integers; group 0 is that of all */
    SPEC_OUTER = 255,  /* of an integer that no vector hangs on */
    SPEC_NO_CHOICE = -1 /* no constexpr parameter chooses the grid */
};

/* What is compiled in, and may come from a launch rule. */
typedef enum SpecCompiled { SPEC_NUM_WARPS, SPEC_NUM_STAGES, SPEC_NUM_CTAS, SPEC_COMPILED } SpecCompiled;

/* What the options of a compile say already; borrowed. */
typedef struct SpecGiven {
    const char *const
        *values; /* by parameter: a constexpr's or a scalar's value, an element type's name; NULL: not given */
    bool compiled[SPEC_COMPILED];
} SpecGiven;

/* A scalar that a constexpr parameter may be the next power of two of: a row's length and its tile. */
typedef struct SpecRow {
    uint32_t length, tile;
} SpecRow;

/* An interface on a device, made ready. Does not change: threads share it. */
typedef struct Specialiser {
    const Record *interface; /* borrowed, as the device and what is given */
    const fsc_props *device;
    SpecGiven given;
    uint32_t *arguments; /* the parameter of each argument */
    uint8_t *groups;     /* by parameter: arrays, and the integers that say where their rows begin and end */
    SpecRow *rows;
    uint32_t num_arguments, num_rows;
    bool takes_maps; /* the device reads tensor maps; who knows that none can be made sets it false */
    bool may_be_few;   /* programs: their number is that of one argument alone, … */
    uint32_t programs; /* … this one … */
    int64_t choice;    /* … where this constexpr parameter is 0; or SPEC_NO_CHOICE */
} Specialiser;

bool specialiser_open(Specialiser *s, const Record *interface, const fsc_props *device,
                      const SpecGiven *given); /* false: out of memory */
void specialiser_close(Specialiser *s);        /* a zeroed one, too */
/* Vectors hang on strides and on the innermost extents; without any contract on integers, who knows on which. */
bool specialise_matters(const Record *interface, uint32_t index);

/* Of all arguments together. */
typedef struct SpecLaunch {
    uint8_t units[SPEC_GROUPS]; /* by group: the sum of its arrays' different bucket_unit()s */
    Bucket few;    /* programs, where they are few and their rows long: the range of their number; most 0: not */
    bool maps;     /* code may read arrays through tensor maps */
} SpecLaunch;

/* What code takes for granted of a run-time parameter; zeroed: nothing. */
typedef struct SpecFact {
    fsc_dtype dtype;    /* of a type that the source leaves open; NONE: it does not, or nothing is known */
    bool is_pointer;    /* to elements of that type */
    uint32_t divisible; /* a multiple of it; 0: nothing */
    bool equals_one;
    Bucket range; /* most 0: any value */
} SpecFact;

/* An argument where there is no array yet: aligned as every allocation is, and equal to no other index's. */
static inline fsc_arg specialise_pointer(uint32_t index) {
    enum { PAGE = 4096 };
    return fsc_pointer((void *)((uintptr_t)PAGE * (index + 1)), 0, FSC_DTYPE_NONE);
}

/* All that a launch says; the arrays are the caller's, one entry a parameter of the interface. */
typedef struct Specialisation {
    RuleBinding *values; /* known: of arguments, constexpr parameters and dtype parameters */
    SpecFact *facts;
    SpecLaunch launch;
    RuleBinding compiled[SPEC_COMPILED]; /* known where a launch rule says it */
} Specialisation;

/* grid: an explicit one; NULL: the launch rule's. An argument of which nothing is known is FSC_ARG_MISSING.
 * False with a sentence where a launch rule has no value for these arguments. What it cannot know yet stays unknown. */
bool specialise(const Specialiser *s, const int64_t *grid, const fsc_arg *args, Specialisation *out, char *err,
                size_t size);

/* One run-time parameter of a variant, made ready for the launch. */
typedef struct Slot {
    uint32_t param; /* index into Record.params */
    fsc_dtype dtype; /* of the scalar, of the pointee */
} Slot;

/* A compiled variant, as far as launches are compared with it. */
typedef struct SpecVariant {
    const Record *record;
    const Slot *slots; /* in the order of the call */
    uint32_t num_slots;
    const RuleBinding *constants; /* per parameter: names, and the values of constexprs */
    bool maps;                    /* it was compiled for SpecLaunch.maps */
} SpecVariant;

/* Whether a variant that fits takes for granted just what this launch says, no less: it is the one that the JIT would
 * compile. Allocates nothing, and is fast. */
bool specialise_is(const Specialiser *s, const SpecVariant *v, const int64_t *grid, const fsc_arg *args);

#endif
