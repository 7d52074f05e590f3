/* processor.h - what the code of a CPU is for: this machine's processor, or one that --cpu names. */
#ifndef FSC_CODEGEN_PROCESSOR_H
#define FSC_CODEGEN_PROCESSOR_H

#include "base/base.h"
#include "runtime/base/level.h"

typedef struct Processor {
    CpuFamily family;
    CpuLevel level;                        /* what of it can be asked for at run time */
    const char *triple, *cpu, *features; /* as LLVM has them */
    uint32_t sve_bytes;                 /* of the SVE registers that code may count on; 0: none */
    bool is_native;                     /* of this machine's kind: its code runs here */
} Processor;

/* By name, NULL: this machine's own; false: unknown, or of a kind that this LLVM has no code for. Any thread. */
bool processor_find(const char *name, Processor *out);
Processor processor_any(const Processor *like); /* the least of that kind; NULL: of this machine's */
bool processor_has(const Processor *p, const char *word); /* one of LLVM's features, such as "+avx" */
const char *processor_levels(Arena *a); /* their names: "x86-64, …" */
const char *processor_names(Arena *a);  /* what --cpu takes, as half a sentence */
/* So that LLVM knows this machine; any number of times. */
void processor_register(void);

#endif
