/* fuzz.h - what the fuzzers share: the options of an input, its front half, the checks of a function's text.
 *
 * An input is a source as a user would write it. The first lines with RUN: in them say how it is compiled, as they do
 * in the lit cases, so that every case of the tests is a seed as it stands.
 */
#ifndef FSC_FUZZ_H
#define FSC_FUZZ_H

#include "check/check.h"
#include "fsc.h"

enum { FUZZ_WORDS = 16, FUZZ_TEXT = 512 };

/* The options of one RUN: line. Strings point into `text`. */
typedef struct FuzzOptions {
    const char *kernel, *signature, *arch;
    NameValue defines[FUZZ_WORDS], types[FUZZ_WORDS];
    uint32_t num_defines, num_types, config, num_warps, num_stages;
    char text[FUZZ_TEXT];
} FuzzOptions;

/* The RUN: line for this kernel: one that names it, else the first that names none. NULL kernel: the first of all. */
void fuzz_options(const uint8_t *data, size_t size, const char *kernel, FuzzOptions *o);
SyntaxMode fuzz_mode(const uint8_t *data, size_t size);

/* A number that only depends on the input: what chooses between targets. */
uint32_t fuzz_hash(const uint8_t *data, size_t size);

/* Scan, parse, and check each of the first kernels, its interface as well; what passes is verified and its text read
 * back. True: at least one kernel passed; the name of that kernel goes into `name`. */
bool fuzz_front(const uint8_t *data, size_t size, char name[64]);

/* Verifies, prints, reads back and prints again, without and with places; aborts where that is not the same text. */
void fuzz_round_trip(const Func *f);

/* What libFuzzer calls; its own header is C++'s. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size,
                                 uint8_t *out, size_t most, unsigned seed);
const char *__asan_default_options(void);

#endif
