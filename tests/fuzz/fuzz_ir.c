/* fuzz_ir.c - fuzzes the reader of the IR's text: any bytes end in errors at places, or in a function that the verifier
 * passes and whose text reads back as itself; and that the passes keep sound, where it is one of stage tile.
 *
 * In: an input of libFuzzer. Out: a crash where that fails.
 * Method: read, print, read back, with and without places; then the pipeline,
 * verified and round-tripped after each pass.
 */
#include "fuzz.h"
#include "codegen/codegen.h"
#include "passes/passes.h"

static void run_passes(Func *f, Diag *d, uint32_t hash) {
    PassContext p = {
        .diag = d,
        .for_gpu = hash & 1,
        .opt_level = hash & 6 ? 2 : 0,
        .verify_each = true,
        .target = target_find("sm_90"),
    };
    passes_run(f, &p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena *a = arena_create();
    Diag *d = diag_create(a, 20);
    Text messages = {0};
    const Source *source = diag_add_source(d, "fuzz.ir", (const char *)data, size);
    Func *f = func_read(a, strings_create(a), d, source);
    if (!f && !diag_errors(d)) bug("no function, and no error");
    if (f && !diag_errors(d)) {
        fuzz_round_trip(f);
        if (f->stage == STAGE_TILE) run_passes(f, d, fuzz_hash(data, size));
    }
    diag_print(d, &messages, false);
    text_free(&messages);
    arena_destroy(a);
    return 0;
}
