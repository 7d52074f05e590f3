/* fuzz_check.c - fuzzes scan, parse and check: any bytes end in a sound function or in errors, soon, in little memory.
 *
 * In: an input of libFuzzer. Out: a crash where the front half fails (front.c says what that is).
 * How to run it and what to do with a finding: docs/how-to/hacking.md, "Fuzzing".
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char name[64];
    fuzz_front(data, size, name);
    return 0;
}
