/* count.h - code that counts how often each of its basic blocks ran. */
#ifndef FSC_CODEGEN_COUNT_H
#define FSC_CODEGEN_COUNT_H

#include "codegen/llvm.h"
#include "runtime/base/hooks.h"

/* The array of counters in the module, one word a block. */
#define COUNTERS "fsc_counters"

typedef struct Counting {
    VEC(CodeLine) lines;
    uint32_t blocks;
} Counting;

/* Every block of the function adds one to its counter. The rows of *out, in o->arena, say what the blocks hold of which
 * line, so the module was built with line info, which is dropped here; primitives are counted as such where they are
 * not yet lowered. */
void count_blocks(Llvm *m, LLVMValueRef function, Counting *out);

#endif
