/* bind.h - the words of the run command bound to a kernel's parameters. */
#ifndef FSC_BIND_H
#define FSC_BIND_H

#include "runtime/record/fill.h"
#include "tool/run/array.h"

/* What is known of one parameter of the interface. */
typedef struct Bound {
    const RecordParam *param;
    const Word *word; /* NULL: the command line does not name it */
    Array array;      /* pointers; data NULL: none yet */
    Array given;      /* what was there before the launch, of one that it changed and that is compared; else no data */
    bool is_asked;    /* by --print or --expect */
    bool reads, writes; /* by the kernel's accesses; both where they do not tell */
    RuleBinding *value; /* scalars and constexpr; in Bounds.fill */
} Bound;

typedef struct Bounds {
    ToolOptions *o;
    const Record *interface;
    Bound *at; /* one per parameter of the interface */
    Word *words;
    uint32_t num_words;
    Fill fill; /* the values, and where they came from */
    const char *no_access; /* why the source tells no reads and writes, a mistake in it; NULL: it does,
                            * or words bind it later */
    const char *from_stdin; /* whom standard input is read for; NULL: nobody yet */
    bool is_wrong_source;  /* and that is what was said */
} Bounds;

/* The kernel has no parameter of that name: says so, and which it has. Returns false. */
/* The value of NAME=VALUE's text. Rules hold no integer from 2^63 on: it is not known then. False: it is no number. */
bool number_bind(RuleBinding *to, const char *text);
bool complain_parameter(const Record *r, const char *name);
/* Reads the words, loads and makes arrays, and binds scalars from the words and from the shape contracts; `jit` says
 * what the kernel's parameters are and which are read and written. False after printing why not. */
bool bounds_make(Bounds *b, ToolOptions *o, fsc_jit *jit);
void bounds_free(Bounds *b);
/* The values as the rule evaluator wants them. */
RuleEnv bounds_env(const Bounds *b);

#endif
