/* fuzz_ir.c - fuzzes the reader of the IR's text: any bytes end in errors at places, or in a function that the verifier
 * passes and whose text reads back as itself.
 *
 * In: an input of libFuzzer. Out: a crash where that fails.
 * What was read is copied by its text before each check, so one input is read and printed up to five times.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena *a = arena_create();
    Diag *d = diag_create(a, 20);
    Text messages = {0};
    const Source *source = diag_add_source(d, "fuzz.ir", (const char *)data, size);
    Func *f = func_read(a, strings_create(a), d, source);
    if (!f && !diag_errors(d)) bug("no function, and no error");
    if (f && !diag_errors(d)) fuzz_round_trip(f);
    diag_print(d, &messages, false);
    text_free(&messages);
    arena_destroy(a);
    return 0;
}
